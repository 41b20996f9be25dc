-- llama.lua - decoder-only language models of the Llama family: RMSNorm, rotary embedding, grouped
-- query attention and a gated MLP. The configuration and the weights come from a GGUF file.

local torch = require 'torch'
local attend = require 'torch.lm.attention'
local quantized = require 'torch.lm.quantized'
local nn = torch.nn
local F = nn.functional

-- ---- rotary embedding ---------------------------------------------------------------------------

-- The cosines and sines of positions [n], each [n, width / 2]: the angle of pair i is
-- position * base ^ (-2 i / width).
local function rotations(config, positions, device)
  local width = config.rope_dim
  local rates = torch.arange(0, width, 2, { dtype = torch.float64 }) / width
  local angles = torch.outer(positions, config.rope_base ^ -rates)
  return angles:cos():float():to(device), angles:sin():float():to(device)
end

-- Rotates the pairs of the last dimension of x [heads, n, width]: adjacent elements, or, in models
-- that store them so ('halves'), element i and element i + width / 2.
local function rotate(x, cos, sin, halves)
  if halves then
    local a, b = table.unpack(x:chunk(2, -1))
    return torch.cat({ a * cos - b * sin, a * sin + b * cos }, -1):to(x.dtype)
  end
  local pairs_of = x:unflatten(-1, { -1, 2 })
  local a, b = pairs_of:select(-1, 1), pairs_of:select(-1, 2)
  return torch.stack({ a * cos - b * sin, a * sin + b * cos }, -1):flatten(-2):to(x.dtype)
end

-- ---- layers -------------------------------------------------------------------------------------

-- A layer; with config.uninitialized its parameters get their values later.
local function new(config, class, ...)
  if config.uninitialized then return nn.utils.skip_init(class, ...) end
  return class(...)
end

local Attention = nn.Module:extend 'LlamaAttention'

function Attention:init(config)
  self.config = config
  self.q_proj = new(config, nn.Linear, config.dim, config.heads * config.head_dim, { bias = config.qkv_bias })
  self.k_proj = new(config, nn.Linear, config.dim, config.kv_heads * config.head_dim, { bias = config.qkv_bias })
  self.v_proj = new(config, nn.Linear, config.dim, config.kv_heads * config.head_dim, { bias = config.qkv_bias })
  self.o_proj = new(config, nn.Linear, config.heads * config.head_dim, config.dim, { bias = false })
end

-- x: [n, dim]. cache: a layer of a cache (cache.lua), with the keys and values of earlier positions;
-- nil: there are none.
function Attention:forward(x, cos, sin, cache)
  local config, n = self.config, x:size(1)
  local function by_heads(y, heads) return y:view(n, heads, config.head_dim):transpose(1, 2) end
  local q = rotate(by_heads(self.q_proj(x), config.heads), cos, sin, config.rope_halves)
  local k = rotate(by_heads(self.k_proj(x), config.kv_heads), cos, sin, config.rope_halves)
  local v = by_heads(self.v_proj(x), config.kv_heads)
  local y
  if cache then y = cache:attend(q, k, v) else y = attend(q, k, v, 0) end
  return self.o_proj(y:transpose(1, 2):reshape(n, -1))
end

local MLP = nn.Module:extend 'LlamaMLP'

function MLP:init(config)
  self.gate_proj = new(config, nn.Linear, config.dim, config.hidden, { bias = false })
  self.up_proj = new(config, nn.Linear, config.dim, config.hidden, { bias = false })
  self.down_proj = new(config, nn.Linear, config.hidden, config.dim, { bias = false })
end

function MLP:forward(x) return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x)) end

local Layer = nn.Module:extend 'LlamaLayer'

function Layer:init(config)
  self.input_norm = new(config, nn.RMSNorm, config.dim, { eps = config.norm_eps })
  self.attention = Attention(config)
  self.post_norm = new(config, nn.RMSNorm, config.dim, { eps = config.norm_eps })
  self.mlp = MLP(config)
end

function Layer:forward(x, cos, sin, cache)
  x = x + self.attention(self.input_norm(x), cos, sin, cache)
  return x + self.mlp(self.post_norm(x))
end

-- ---- the model ----------------------------------------------------------------------------------

local Llama = nn.Module:extend 'Llama'

function Llama:init(config)
  self.config = config
  self.embedding = new(config, nn.Embedding, config.vocab_size, config.dim)
  self.layers = nn.ModuleList()
  for _ = 1, config.layers do self.layers:append(Layer(config)) end
  self.norm = new(config, nn.RMSNorm, config.dim, { eps = config.norm_eps })
  self.output = new(config, nn.Linear, config.dim, config.vocab_size, { bias = false })
  if config.tied then self.output.weight = self.embedding.weight end
end

--- The logits [n, vocab_size] of the token after each of `tokens`, ids from 0 [n] (int64). cache:
--- the earlier tokens, to which these are added (cache.lua). last: only the logits after the last
--- token of each text of the cache, [texts, vocab_size].
function Llama:forward(tokens, cache, last)
  local n = tokens:size(1)
  local positions = cache and cache:positions(n) or torch.arange(0, n, { dtype = torch.float64 })
  local cos, sin = rotations(self.config, positions, tokens.device)
  local x = self.embedding(tokens + 1)
  for i, layer in ipairs(self.layers) do x = layer(x, cos, sin, cache and cache.layers[i]) end
  if cache then cache:advance(n) end
  if last then x = cache:last(x) end
  return self.output(self.norm(x))
end

-- ---- from GGUF files ----------------------------------------------------------------------------

-- The families whose layers are these: whether rotary pairs are halves, and whether q, k and v have
-- a bias. GGUF files of Llama models store pairs as adjacent elements.
local families = { llama = {}, qwen2 = { halves = true, bias = true } }

local function configuration(file)
  local data, family = file.metadata, file.metadata['general.architecture']
  local known = families[family] or file:_fail("a model of the architecture '%s'; ltensor runs llama and qwen2", tostring(family))
  local function number(name, default)
    local value = data[family .. '.' .. name]
    if value == nil then value = default end
    if type(value) ~= 'number' or value <= 0 then file:_fail('%s.%s is %s', family, name, tostring(value)) end
    return value
  end
  local dim, heads = number 'embedding_length', number 'attention.head_count'
  local head_dim = number('attention.key_length', dim // heads)
  return {
    vocab_size = (file:info 'token_embd.weight')[1], dim = dim, layers = number 'block_count', heads = heads, kv_heads = number('attention.head_count_kv', heads),
    head_dim = head_dim, hidden = number 'feed_forward_length', context = number 'context_length', norm_eps = number 'attention.layer_norm_rms_epsilon',
    rope_base = number('rope.freq_base', 10000.0), rope_dim = number('rope.dimension_count', head_dim), rope_halves = known.halves, qkv_bias = known.bias or false,
    tied = file.entries['output.weight'] == nil,
  }
end

-- The names of tensors in a GGUF file, by the names of parameters.
local outer = { ['embedding.weight'] = 'token_embd.weight', ['norm.weight'] = 'output_norm.weight', ['output.weight'] = 'output.weight' }
local inner = {
  ['input_norm'] = 'attn_norm', ['post_norm'] = 'ffn_norm', ['attention.q_proj'] = 'attn_q', ['attention.k_proj'] = 'attn_k', ['attention.v_proj'] = 'attn_v',
  ['attention.o_proj'] = 'attn_output', ['mlp.gate_proj'] = 'ffn_gate', ['mlp.up_proj'] = 'ffn_up', ['mlp.down_proj'] = 'ffn_down',
}

local function name_in_file(name)
  local layer, path, part = name:match '^layers%.(%d+)%.(.*)%.(%a+)$'
  return outer[name] or ('blk.%d.%s.%s'):format(tonumber(layer), inner[path], part)
end

local function check_shape(file, name, shape, expected)
  for i = 1, math.max(#shape, #expected) do
    if shape[i] ~= expected[i] then
      file:_fail("tensor '%s' has the shape [%s], the configuration requires [%s]", name, table.concat(shape, ', '), table.concat(expected, ', '))
    end
  end
end

-- Replaces the layer of a weight by one with the quantized weight.
local function put_quantized(net, name, weight, scheme)
  local path, last = name:match '^(.-)%.?([^.]+)%.weight$'
  local parent = path == '' and net or net:get_submodule(path)
  parent[last] = (last == 'embedding' and quantized.Embedding or quantized.Linear)(weight, scheme)
end

local M = {}

--- A model with the weights of a GGUF file: in a dtype, or with dtype nil as the file has them,
--- quantized weights mapped and the others in float32.
function M.from_gguf(file, dtype)
  local config = configuration(file)
  config.uninitialized = true
  local net = Llama(config)
  local names = {}
  for name in net:named_parameters() do names[#names + 1] = name end
  if config.tied then names[#names + 1] = 'output.weight' end
  for _, name in ipairs(names) do
    local source = name_in_file(config.tied and name == 'output.weight' and 'embedding.weight' or name)
    local parameter = net:get_parameter(name)
    check_shape(file, source, (file:info(source)), { table.unpack(parameter.shape) })
    local stored, format = file:stored(source)
    if not dtype and type(format) == 'string' then put_quantized(net, name, stored, format)
    else parameter.data = file:tensor(source, dtype) end
  end
  return net:requires_grad_(false)
end

return M
