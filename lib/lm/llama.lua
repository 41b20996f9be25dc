-- llama.lua - decoder-only language models, driven by a configuration: the families Llama (SmolLM2,
-- Mistral), Qwen2, Qwen3, Gemma 1 to 3, Phi, Phi-3 and GPT-2. models/gguf.lua and models/folder.lua
-- build the configuration from files and name their tensors.
--
-- A configuration is a table:
-- - vocab_size, dim, layers, heads, kv_heads, head_dim, hidden, context: sizes.
-- - norm: 'rms' or 'layer'; norm_eps; qk_norm: queries and keys are normalized per head; post_norms: so are the outputs of
--   attention and MLP.
-- - ropes: list of rotary embeddings (models/rotary.lua); empty: positions are learned. rope_of: by layer, its position in the
--   list.
-- - windows: by layer, the number of last tokens that attention reads; false: all.
-- - activation; gated: whether the MLP has a gate; parallel: attention and MLP read the same input.
-- - qkv_bias, o_bias, mlp_bias, output_bias: whether there are biases. tied: the output has the weight of the embedding.
-- - embedding_scale, attention_scale, attention_cap, logit_cap: numbers, or nil.

local torch = require 'torch'
local attend = require 'torch.lm.attention'
local gguf_names = require 'torch.lm.models.gguf'
local rotary = require 'torch.lm.models.rotary'
local weights = require 'torch.lm.models.weights'
local nn = torch.nn
local F = nn.functional

-- ---- layers -------------------------------------------------------------------------------------

local function linear(config, inputs, outputs, bias) return weights.new(config, nn.Linear, inputs, outputs, { bias = bias or false }) end

local function norm(config, width) return weights.new(config, config.norm == 'layer' and nn.LayerNorm or nn.RMSNorm, width, { eps = config.norm_eps }) end

local Attention = nn.Module:extend 'DecoderAttention'

function Attention:init(config, window)
  self.config = config
  if window or config.attention_cap or config.attention_scale then
    self.how = { window = window or nil, cap = config.attention_cap, scale = config.attention_scale }
  end
  self.q_proj = linear(config, config.dim, config.heads * config.head_dim, config.qkv_bias)
  self.k_proj = linear(config, config.dim, config.kv_heads * config.head_dim, config.qkv_bias)
  self.v_proj = linear(config, config.dim, config.kv_heads * config.head_dim, config.qkv_bias)
  self.o_proj = linear(config, config.heads * config.head_dim, config.dim, config.o_bias)
  if config.qk_norm then self.q_norm, self.k_norm = norm(config, config.head_dim), norm(config, config.head_dim) end
end

-- x: [..., n, dim]. cos, sin: of the rotary embedding; nil: none. cache: a layer of a cache
-- (cache.lua), with the keys and values of earlier positions, for x of two dimensions; nil: there
-- are none.
function Attention:forward(x, cos, sin, cache)
  local config = self.config
  local function by_heads(y, heads) return y:unflatten(-1, { heads, config.head_dim }):transpose(-2, -3) end
  local q, k, v = by_heads(self.q_proj(x), config.heads), by_heads(self.k_proj(x), config.kv_heads), by_heads(self.v_proj(x), config.kv_heads)
  if self.q_norm then q, k = self.q_norm(q), self.k_norm(k) end
  if cos then
    local halves = config.rope_halves
    q, k = rotary.rotate(q, cos, sin, halves), rotary.rotate(k, cos, sin, halves)
  end
  local y
  if cache then y = cache:attend(q, k, v, self.how) else y = attend(q, k, v, 0, self.how) end
  return self.o_proj(y:transpose(-2, -3):flatten(-2))
end

local activations = { silu = F.silu, relu = F.relu, gelu = F.gelu, gelu_tanh = function(x) return F.gelu(x, { approximate = 'tanh' }) end }

local MLP = nn.Module:extend 'DecoderMLP'

function MLP:init(config)
  self.activation = config.activation
  if config.gated then self.gate_proj = linear(config, config.dim, config.hidden, config.mlp_bias) end
  self.up_proj = linear(config, config.dim, config.hidden, config.mlp_bias)
  self.down_proj = linear(config, config.hidden, config.dim, config.mlp_bias)
end

function MLP:forward(x)
  local f = activations[self.activation]
  if not self.gate_proj then return self.down_proj(f(self.up_proj(x))) end
  return self.down_proj(f(self.gate_proj(x)) * self.up_proj(x))
end

local Layer = nn.Module:extend 'DecoderLayer'

function Layer:init(config, i)
  self.attention_norm = norm(config, config.dim)
  self.attention = Attention(config, config.windows[i])
  if not config.parallel then self.mlp_norm = norm(config, config.dim) end
  self.mlp = MLP(config)
  if config.post_norms then self.attention_post_norm, self.mlp_post_norm = norm(config, config.dim), norm(config, config.dim) end
end

function Layer:forward(x, cos, sin, cache)
  local h = self.attention_norm(x)
  local attended = self.attention(h, cos, sin, cache)
  if not self.mlp_norm then return x + attended + self.mlp(h) end
  if not self.attention_post_norm then
    x = x + attended
    return x + self.mlp(self.mlp_norm(x))
  end
  x = x + self.attention_post_norm(attended)
  return x + self.mlp_post_norm(self.mlp(self.mlp_norm(x)))
end

-- ---- the model ----------------------------------------------------------------------------------

local Decoder = nn.Module:extend 'Decoder'

-- With config.uninitialized, the caller appends the layers.
function Decoder:init(config)
  self.config = config
  self.embedding = weights.new(config, nn.Embedding, config.vocab_size, config.dim)
  if #config.ropes == 0 then self.positions = weights.new(config, nn.Embedding, config.context, config.dim) end
  self.layers = nn.ModuleList()
  for i = 1, config.uninitialized and 0 or config.layers do self.layers:append(Layer(config, i)) end
  self.norm = norm(config, config.dim)
  self.output = linear(config, config.dim, config.vocab_size, config.output_bias)
  if config.tied then self.output.weight = self.embedding.weight end
end

-- The output of a layer. With net.gradient_checkpointing, its intermediate results are not stored but
-- computed again in backward.
local function run(self, layer, ...)
  if self.gradient_checkpointing and torch.is_grad_enabled() then return torch.utils.checkpoint(layer, ...) end
  return layer(...)
end

--- The logits [..., n, vocab_size] of the token after each of `tokens`, ids from 0 [..., n] (int64).
--- cache: the earlier tokens, to which these are added, for tokens of one dimension (cache.lua). last:
--- only the logits after the last token of each text of the cache, [texts, vocab_size].
function Decoder:forward(tokens, cache, last)
  local config, n = self.config, tokens:size(-1)
  local positions = cache and cache:positions(n) or torch.arange(0, n, { dtype = torch.float64 })
  local rotations = {}
  for i, rope in ipairs(config.ropes) do rotations[i] = table.pack(rotary.rotations(rope, positions, tokens.device, config.rope_halves)) end
  local x = self.embedding(tokens + 1)
  if config.embedding_scale then x = x * config.embedding_scale end
  if self.positions then x = x + self.positions((positions + 1):long():to(tokens.device)) end
  for i, layer in ipairs(self.layers) do
    local cos, sin = table.unpack(rotations[config.rope_of[i]] or {})
    x = run(self, layer, x, cos, sin, cache and cache.layers[i])
  end
  if cache then cache:advance(n) end
  if last then x = cache:last(x) end
  local logits = self.output(self.norm(x))
  return config.logit_cap and (logits / config.logit_cap):tanh() * config.logit_cap or logits
end

-- ---- weights ------------------------------------------------------------------------------------

local M = { Decoder = Decoder }

--- A model with the weights of a file: in a dtype, or with dtype nil quantized weights as the file
--- has them, mapped, and the others in float32. source: torch.lm.gguf or models/checkpoint.lua;
--- names: models/gguf.lua or models/folder.lua.
function M.load(source, names, dtype)
  return weights.load(source, names, names.configuration(source), dtype, Decoder, Layer)
end

--- The same from a GGUF file.
function M.from_gguf(file, dtype) return M.load(file, gguf_names, dtype) end

return M
