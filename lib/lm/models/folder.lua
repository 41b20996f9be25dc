-- folder.lua - the configuration of a decoder-only model from a folder of Hugging Face's library
-- transformers (config.json), and the names of its tensors there.

local build = require 'torch.lm.models.build'
local rotary = require 'torch.lm.models.rotary'

local M = {}

local types = { gemma3_text = 'gemma3' }

-- The names of tensors by the names of modules, by family; those of Llama are common.
local outer = { embedding = 'model.embed_tokens', norm = 'model.norm', output = 'lm_head' }
local inner = {
  ['attention_norm'] = 'input_layernorm', ['mlp_norm'] = 'post_attention_layernorm', ['attention.q_proj'] = 'self_attn.q_proj',
  ['attention.k_proj'] = 'self_attn.k_proj', ['attention.v_proj'] = 'self_attn.v_proj', ['attention.o_proj'] = 'self_attn.o_proj',
  ['attention.q_norm'] = 'self_attn.q_norm', ['attention.k_norm'] = 'self_attn.k_norm', ['mlp.gate_proj'] = 'mlp.gate_proj', ['mlp.up_proj'] = 'mlp.up_proj',
  ['mlp.down_proj'] = 'mlp.down_proj',
}
local gemma = { ['attention_post_norm'] = 'post_attention_layernorm', ['mlp_norm'] = 'pre_feedforward_layernorm', ['mlp_post_norm'] = 'post_feedforward_layernorm' }
local differing = {
  gemma2 = gemma, gemma3 = gemma,
  phi = { norm = 'model.final_layernorm', ['attention.o_proj'] = 'self_attn.dense', ['mlp.up_proj'] = 'mlp.fc1', ['mlp.down_proj'] = 'mlp.fc2' },
  gpt2 = { embedding = 'transformer.wte', positions = 'transformer.wpe', norm = 'transformer.ln_f', ['attention_norm'] = 'ln_1', ['mlp_norm'] = 'ln_2',
    ['attention.o_proj'] = 'attn.c_proj', ['mlp.up_proj'] = 'mlp.c_fc', ['mlp.down_proj'] = 'mlp.c_proj' },
}
local layers = { gpt2 = 'transformer.h.%d.%s.%s' }

-- Matrices in one tensor, the first of them at row 0; sizes in configurations.
local fused = {
  phi3 = { qkv = 'self_attn.qkv_proj', mlp = 'mlp.gate_up_proj' },
  gpt2 = { qkv = 'attn.c_attn' },
}

-- ---- configurations -----------------------------------------------------------------------------

-- The rotary embedding of the settings rope_theta, rope_type and others.
local function rope_of(folder, config, settings, base, partial)
  partial = build.number(folder, 'partial_rotary_factor', settings.partial_rotary_factor or partial or 1, true)
  if partial > 1 then folder:_fail('partial_rotary_factor is %s, expected at most 1', tostring(partial)) end
  local dim = math.floor(config.head_dim * partial)
  local rope = { base = build.number(folder, 'rope_theta', settings.rope_theta or base or 10000.0, true), dim = dim }
  local kind = settings.rope_type or settings.type or 'default'
  local function read(name) return build.number(folder, name, settings[name], true) end
  if kind == 'linear' then rope.factor = read 'factor'
  elseif kind == 'llama3' then
    local low, high = read 'low_freq_factor', read 'high_freq_factor'
    if high <= low then folder:_fail('high_freq_factor is %s, expected more than low_freq_factor, %s', tostring(high), tostring(low)) end
    rope.divisors = rotary.llama3_divisors(rope.base, dim, read 'factor', low, high, read 'original_max_position_embeddings')
  elseif kind ~= 'default' then
    folder:_fail("rotary embeddings of the type '%s', which ltensor does not compute; it computes default, linear and llama3", tostring(kind))
  end
  return rope
end

local function ropes(folder, config, data, traits)
  if traits.learned then return {} end
  local settings = data.rope_parameters or data.rope_scaling or {}
  if type(settings) ~= 'table' then folder:_fail('rope_scaling is %s, expected an object', tostring(settings)) end
  if type(settings.full_attention) == 'table' and type(settings.sliding_attention) == 'table' then
    return { rope_of(folder, config, settings.full_attention), rope_of(folder, config, settings.sliding_attention) }
  end
  local rope = rope_of(folder, config, settings, data.rope_theta or traits.pattern == 6 and 1e6, data.partial_rotary_factor)
  return traits.pattern == 6 and { rope, rope_of(folder, config, {}, data.rope_local_base_freq) } or { rope }
end

-- By layer, whether it has a window; nil: as all models of the family.
local function window_of(folder, config, data, family)
  if type(data.layer_types) == 'table' then
    local list = {}
    for i = 1, config.layers do list[i] = data.layer_types[i] == 'sliding_attention' end
    return list
  end
  if family ~= 'qwen2' and family ~= 'qwen3' or not data.use_sliding_window then return nil end
  local list, first = {}, data.max_window_layers or config.layers
  if type(first) ~= 'number' then folder:_fail('max_window_layers is %s, expected an integer', tostring(first)) end
  for i = 1, config.layers do list[i] = i > first end
  return list
end

local activations = { silu = 'silu', swish = 'silu', relu = 'relu', gelu = 'gelu', gelu_new = 'gelu_tanh', gelu_pytorch_tanh = 'gelu_tanh', gelu_fast = 'gelu_tanh' }

local function activation(folder, data, family)
  local name = data.hidden_activation or data.hidden_act or data.activation_function
  if name == nil or family == 'gemma' then return nil end -- of the family
  return activations[name] or folder:_fail("the activation '%s', which ltensor does not support", tostring(name))
end

--- The configuration. folder: a Folder (checkpoint.lua).
function M.configuration(folder)
  local data = folder.config
  local family = types[data.model_type] or data.model_type
  local traits = build.family(folder, family)
  local function read(name, default, real)
    local value = data[name]
    if value == nil then value = default end
    return build.number(folder, name, value, real)
  end
  local function optional(name) return data[name] and read(name, nil, true) end
  if data.qk_layernorm or data.scale_attn_by_inverse_layer_idx then folder:_fail 'qk_layernorm or scale_attn_by_inverse_layer_idx, which ltensor does not compute' end
  local old = family == 'gpt2'
  local dim, heads = read(old and 'n_embd' or 'hidden_size'), read(old and 'n_head' or 'num_attention_heads')
  local config = {
    family = family, vocab_size = read 'vocab_size', dim = dim, layers = read(old and 'n_layer' or 'num_hidden_layers'), heads = heads,
    kv_heads = read('num_key_value_heads', heads), head_dim = read('head_dim', dim // heads),
    hidden = old and read('n_inner', 4 * dim) or read 'intermediate_size', context = read(old and 'n_positions' or 'max_position_embeddings'),
    norm_eps = old and read('layer_norm_epsilon', 1e-5, true) or read(traits.norm == 'layer' and 'layer_norm_eps' or 'rms_norm_eps', nil, true), rope_halves = true,
    activation = activation(folder, data, family), attention_cap = optional 'attn_logit_softcapping', logit_cap = optional 'final_logit_softcapping',
  }
  local scale = optional 'query_pre_attn_scalar'
  config.attention_scale = scale and scale ^ -0.5 or nil
  local function has(name) return folder.entries[name] ~= nil end
  config.tied = not has 'lm_head.weight'
  local locate = M.locate(folder, config)
  config.qkv_bias, config.o_bias = has((locate 'layers.0.attention.q_proj.bias')), has((locate 'layers.0.attention.o_proj.bias'))
  config.mlp_bias, config.output_bias = has((locate 'layers.0.mlp.down_proj.bias')), has 'lm_head.bias'
  config.ropes = ropes(folder, config, data, traits)
  local options = { window = data.sliding_window and data.use_sliding_window ~= false and read 'sliding_window' or nil, tensors = folder.count }
  options.window_of = window_of(folder, config, data, family)
  return build.complete(folder, config, traits, options)
end

-- ---- names --------------------------------------------------------------------------------------

--- A function that returns, for the name of a parameter, its tensor, in a tensor of several matrices
--- its first row, and its form: 'transposed' for GPT-2, 'minus one' for the norms of Gemma.
function M.locate(folder, config)
  local names, parts, format = differing[config.family] or {}, fused[config.family] or {}, layers[config.family] or 'model.layers.%d.%s.%s'
  local q, kv = config.heads * config.head_dim, config.kv_heads * config.head_dim
  local rows = { ['attention.q_proj'] = 0, ['attention.k_proj'] = q, ['attention.v_proj'] = q + kv, ['mlp.gate_proj'] = 0, ['mlp.up_proj'] = config.hidden }
  -- old files of GPT-2 have the names without the model's
  local bare = config.family == 'gpt2' and folder.entries['wte.weight'] ~= nil
  return function(name)
    local layer, path, part = name:match '^layers%.(%d+)%.(.*)%.(%a+)$'
    if not layer then path, part = name:match '^(.*)%.(%a+)$' end
    if path == 'output' and config.tied then path = 'embedding' end
    local full, first
    if layer then
      local group = path:find '^attention%.[qkv]_proj' and parts.qkv or path:find '^mlp%.[gu]' and parts.mlp
      if group then first = rows[path] end
      full = format:format(tonumber(layer), group or names[path] or inner[path], part)
    else
      full = (names[path] or outer[path]) .. '.' .. part
    end
    if bare then full = full:gsub('^transformer%.', '') end
    local form
    if config.family == 'gpt2' and layer and path:find '_proj' then form = 'transposed'
    elseif config.family:find '^gemma' and path:find 'norm$' then form = 'minus one' end
    return full, first, form
  end
end

--- Whether a tensor may be unused: masks and rates that old files have, and a tied output.
function M.ignores(name) return name:find 'rotary_emb%.inv_freq$' or name:find 'attn%.bias$' or name:find 'attn%.masked_bias$' end

return M
