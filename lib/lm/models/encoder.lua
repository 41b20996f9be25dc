-- encoder.lua - BERT-type encoders (Devlin et al., 2019), which turn all tokens of a text into vectors
-- at once: BERT, MiniLM and RoBERTa, from folders of Hugging Face and GGUF files.
--
-- A configuration is a table: vocab_size, dim, layers, heads, hidden, context, types: sizes; norm_eps;
-- activation: function; first_position: of the first token, from 0.

local torch = require 'torch'
local build = require 'torch.lm.models.build'
local weights = require 'torch.lm.models.weights'
local nn = torch.nn
local F = nn.functional

-- ---- modules ------------------------------------------------------------------------------------

local function linear(config, inputs, outputs) return weights.new(config, nn.Linear, inputs, outputs) end
local function norm(config) return weights.new(config, nn.LayerNorm, config.dim, { eps = config.norm_eps }) end

local Layer = nn.Module:extend 'EncoderLayer'

function Layer:init(config)
  self.config = config
  for _, name in ipairs { 'q_proj', 'k_proj', 'v_proj', 'o_proj' } do self[name] = linear(config, config.dim, config.dim) end
  self.attention_norm = norm(config)
  self.up_proj, self.down_proj = linear(config, config.dim, config.hidden), linear(config, config.hidden, config.dim)
  self.output_norm = norm(config)
end

-- x: [texts, n, dim]. mask: [texts, 1, 1, n], true for tokens that are read; nil: all.
function Layer:forward(x, mask)
  local function by_heads(y) return y:unflatten(-1, { self.config.heads, -1 }):transpose(2, 3) end
  local q, k, v = by_heads(self.q_proj(x)), by_heads(self.k_proj(x)), by_heads(self.v_proj(x))
  local y = F.scaled_dot_product_attention(q, k, v, { attn_mask = mask })
  x = self.attention_norm(x + self.o_proj(y:transpose(2, 3):flatten(-2)))
  return self.output_norm(x + self.down_proj(self.config.activation(self.up_proj(x))))
end

local Encoder = nn.Module:extend 'Encoder'

function Encoder:init(config)
  self.config = config
  self.embedding = weights.new(config, nn.Embedding, config.vocab_size, config.dim)
  self.positions = weights.new(config, nn.Embedding, config.context + config.first_position, config.dim)
  self.types = weights.new(config, nn.Embedding, config.types, config.dim)
  self.norm = norm(config)
  self.layers = nn.ModuleList()
  for _ = 1, config.uninitialized and 0 or config.layers do self.layers:append(Layer(config)) end
end

--- The vectors [texts, n, dim] of tokens, ids from 0 [texts, n] (int64). mask: bool [texts, n], false
--- for tokens after the end of a text; nil: there are none.
function Encoder:forward(tokens, mask)
  local n, first = tokens:size(2), self.config.first_position + 1
  local positions = self.positions(torch.arange(first, first + n, { device = tokens.device }))
  local kind = self.types(torch.ones(1, { dtype = torch.int64, device = tokens.device }))
  local x = self.norm(self.embedding(tokens + 1) + positions + kind)
  local visible = mask and mask:unsqueeze(2):unsqueeze(2)
  for _, layer in ipairs(self.layers) do x = layer(x, visible) end
  return x
end

-- ---- folders of Hugging Face --------------------------------------------------------------------

local folder = {}

local outer = { embedding = 'embeddings.word_embeddings', positions = 'embeddings.position_embeddings', types = 'embeddings.token_type_embeddings', norm = 'embeddings.LayerNorm' }
local inner = {
  q_proj = 'attention.self.query', k_proj = 'attention.self.key', v_proj = 'attention.self.value', o_proj = 'attention.output.dense',
  attention_norm = 'attention.output.LayerNorm', up_proj = 'intermediate.dense', down_proj = 'output.dense', output_norm = 'output.LayerNorm',
}
local families = { bert = true, roberta = true, ['xlm-roberta'] = true, camembert = true }
local activations = { gelu = F.gelu, relu = F.relu, gelu_new = function(x) return F.gelu(x, { approximate = 'tanh' }) end }

function folder.configuration(source)
  local data = source.config
  local function read(name, real) return build.number(source, name, data[name], real) end
  local config = {
    vocab_size = read 'vocab_size', dim = read 'hidden_size', layers = read 'num_hidden_layers', heads = read 'num_attention_heads',
    hidden = read 'intermediate_size', context = read 'max_position_embeddings', types = read 'type_vocab_size', norm_eps = read('layer_norm_eps', true),
    first_position = 0, activation = activations[data.hidden_act],
  }
  if not config.activation then source:_fail("the activation '%s', which ltensor does not support in encoders", tostring(data.hidden_act)) end
  if (data.position_embedding_type or 'absolute') ~= 'absolute' then
    source:_fail("position embeddings of the type '%s', which ltensor does not support", tostring(data.position_embedding_type))
  end
  if data.model_type ~= 'bert' then
    local padding = data.pad_token_id or 1
    if math.type(padding) ~= 'integer' or padding < 0 or padding > config.context - 2 then
      source:_fail('pad_token_id is %s, expected an integer from 0 to %d', tostring(padding), config.context - 2)
    end
    config.first_position = padding + 1
    config.context = config.context - config.first_position
  end
  return config
end

function folder.locate(source)
  local prefix = ''
  for _, name in ipairs { 'bert.', 'roberta.' } do
    if source.entries[name .. 'embeddings.word_embeddings.weight'] then prefix = name end
  end
  return function(name)
    local layer, path, part = name:match '^layers%.(%d+)%.(.*)%.(%a+)$'
    if layer then return ('%sencoder.layer.%s.%s.%s'):format(prefix, layer, inner[path], part) end
    path, part = name:match '^(.*)%.(%a+)$'
    return prefix .. outer[path] .. '.' .. part
  end
end

-- Parts for other tasks: the vector of a whole text, and predictions of tokens.
function folder.ignores(name) return name:find 'pooler%.' or name:find 'position_ids$' or name:find '^cls%.' or name:find '^lm_head%.' end

-- ---- GGUF files ---------------------------------------------------------------------------------

local gguf = {}

local gguf_outer = { embedding = 'token_embd', positions = 'position_embd', types = 'token_types', norm = 'token_embd_norm' }
local gguf_inner = {
  q_proj = 'attn_q', k_proj = 'attn_k', v_proj = 'attn_v', o_proj = 'attn_output', attention_norm = 'attn_output_norm', up_proj = 'ffn_up',
  down_proj = 'ffn_down', output_norm = 'layer_output_norm',
}

function gguf.configuration(file)
  local data = file.metadata
  local function read(name, real) return build.number(file, 'bert.' .. name, data['bert.' .. name], real) end
  return {
    vocab_size = build.number(file, 'the vocabulary', file:info('token_embd.weight')[1]), dim = read 'embedding_length', layers = read 'block_count',
    heads = read 'attention.head_count', hidden = read 'feed_forward_length', context = read 'context_length',
    types = build.number(file, 'the number of types', file:info('token_types.weight')[1]), norm_eps = read('attention.layer_norm_epsilon', true),
    first_position = 0, activation = F.gelu,
  }
end

function gguf.locate()
  return function(name)
    local layer, path, part = name:match '^layers%.(%d+)%.(.*)%.(%a+)$'
    if layer then return ('blk.%s.%s.%s'):format(layer, gguf_inner[path], part) end
    path, part = name:match '^(.*)%.(%a+)$'
    return gguf_outer[path] .. '.' .. part
  end
end

function gguf.ignores() return false end

-- ---- loading ------------------------------------------------------------------------------------

local M = { Encoder = Encoder }

--- Whether a family of Hugging Face consists of such encoders.
function M.is_family(name) return families[name] or false end

--- An encoder with the weights of a file: a GGUF file, or a folder (checkpoint.lua).
function M.load(source, dtype)
  local names = source.metadata and gguf or folder
  local config = names.configuration(source)
  if config.dim % config.heads ~= 0 then source:_fail('a dimension of %d, no multiple of %d heads', config.dim, config.heads) end
  return weights.load(source, names, config, dtype, Encoder, Layer)
end

return M
