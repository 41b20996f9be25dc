-- gguf.lua - the configuration of a decoder-only model from the metadata of a GGUF file, and the
-- names of its tensors there. Keys and names are those of llama.cpp (gguf-py/gguf/constants.py).

local build = require 'torch.lm.models.build'

local M = {}

local architectures = { phi2 = 'phi' }

-- The names of tensors by the names of modules.
local outer = { embedding = 'token_embd', positions = 'position_embd', norm = 'output_norm', output = 'output' }
local inner = {
  ['attention_norm'] = 'attn_norm', ['mlp_norm'] = 'ffn_norm', ['attention_post_norm'] = 'post_attention_norm', ['mlp_post_norm'] = 'post_ffw_norm',
  ['attention.q_proj'] = 'attn_q', ['attention.k_proj'] = 'attn_k', ['attention.v_proj'] = 'attn_v', ['attention.o_proj'] = 'attn_output',
  ['attention.q_norm'] = 'attn_q_norm', ['attention.k_norm'] = 'attn_k_norm',
  ['mlp.gate_proj'] = 'ffn_gate', ['mlp.up_proj'] = 'ffn_up', ['mlp.down_proj'] = 'ffn_down',
}

-- The rotary embeddings: of all layers, and for Gemma 3 of those with a window.
local function ropes(file, family, config, traits, read)
  if traits.learned then return {} end
  local dim = read('rope.dimension_count', config.head_dim)
  local rope = { base = read('rope.freq_base', traits.pattern == 6 and 1e6 or 10000.0, true), dim = dim }
  local scaling = file.metadata[family .. '.rope.scaling.type']
  if scaling == 'linear' then rope.factor = read('rope.scaling.factor', nil, true)
  elseif (scaling and scaling ~= 'none') or file.entries['rope_factors_long.weight'] then
    file:_fail("rotary embeddings with the scaling '%s', which ltensor does not compute", tostring(scaling or 'longrope'))
  end
  if file.entries['rope_freqs.weight'] then
    local shape = file:info 'rope_freqs.weight'
    if #shape ~= 1 or 2 * shape[1] ~= dim then file:_fail("tensor 'rope_freqs.weight' has the shape [%s], the configuration requires [%d]", table.concat(shape, ', '), dim // 2) end
    rope.divisors = file:tensor('rope_freqs.weight', require('torch').float64)
  end
  return traits.pattern == 6 and { rope, { base = 10000.0, dim = dim } } or { rope }
end

-- The factor of scores where it is not head_dim ^ -0.5: in Gemma models of 27 billion parameters.
local function attention_scale(config, traits)
  local large = traits.pattern == 2 and config.layers == 46 or traits.pattern == 6 and config.layers == 62
  return large and (config.dim / config.heads) ^ -0.5 or nil
end

--- The configuration.
function M.configuration(file)
  local data, family = file.metadata, file.metadata['general.architecture']
  local traits = build.family(file, architectures[family] or family)
  local function read(name, default, real)
    local value = data[family .. '.' .. name]
    if value == nil then value = default end
    return build.number(file, family .. '.' .. name, value, real)
  end
  local function optional(name, real) return data[family .. '.' .. name] and read(name, nil, real) end
  local dim, heads = read 'embedding_length', read 'attention.head_count'
  local config = {
    vocab_size = build.number(file, 'the vocabulary', file:info('token_embd.weight')[1]), dim = dim, layers = read 'block_count', heads = heads,
    kv_heads = read('attention.head_count_kv', heads), head_dim = read('attention.key_length', dim // heads), hidden = read 'feed_forward_length',
    context = read 'context_length', norm_eps = read(traits.norm == 'layer' and 'attention.layer_norm_epsilon' or 'attention.layer_norm_rms_epsilon', nil, true),
    family = architectures[family] or family, rope_halves = family ~= 'llama', tied = file.entries['output.weight'] == nil,
    attention_cap = optional('attn_logit_softcapping', true), logit_cap = optional('final_logit_softcapping', true),
  }
  local function has(name) return file.entries[name] ~= nil end
  config.qkv_bias, config.o_bias = has 'blk.0.attn_q.bias' or has 'blk.0.attn_qkv.bias', has 'blk.0.attn_output.bias'
  config.mlp_bias, config.output_bias = has 'blk.0.ffn_down.bias', has 'output.bias'
  config.ropes = ropes(file, family, config, traits, read)
  config.attention_scale = attention_scale(config, traits)
  return build.complete(file, config, traits, { window = traits.pattern and optional 'attention.sliding_window', tensors = #file:names() })
end

--- A function that returns, for the name of a parameter, its tensor and in a tensor of several
--- matrices its first row.
function M.locate(file, config)
  local q, kv = config.heads * config.head_dim, config.kv_heads * config.head_dim
  local fused = {}
  if file.entries['blk.0.attn_qkv.weight'] then
    fused['attention.q_proj'], fused['attention.k_proj'], fused['attention.v_proj'] = { 'attn_qkv', 0 }, { 'attn_qkv', q }, { 'attn_qkv', q + kv }
  end
  if config.gated and not file.entries['blk.0.ffn_gate.weight'] then
    fused['mlp.gate_proj'], fused['mlp.up_proj'] = { 'ffn_up', 0 }, { 'ffn_up', config.hidden }
  end
  return function(name)
    local layer, path, part = name:match '^layers%.(%d+)%.(.*)%.(%a+)$'
    if not layer then
      path, part = name:match '^(.*)%.(%a+)$'
      if config.tied and path == 'output' then path = 'embedding' end
      return outer[path] .. '.' .. part
    end
    local source, first = inner[path], nil
    if fused[path] then source, first = table.unpack(fused[path]) end
    return ('blk.%d.%s.%s'):format(tonumber(layer), source, part), first
  end
end

--- Whether a tensor may be unused: it is read with the configuration.
function M.ignores(name) return name == 'rope_freqs.weight' end

return M
