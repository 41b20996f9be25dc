-- lora_files.lua - adapters (lora.lua) in files of Hugging Face's library PEFT: adapter_config.json, and the
-- matrices in adapter_model.safetensors with names such as
-- base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local folder_names = require 'torch.lm.models.folder'
local json_string = require 'torch.files.json_string'
local llama = require 'torch.lm.llama'
local nn = require 'torch.nn'
local outside = require 'torch.files.outside'
local plain_number = require 'torch.files.plain_number'
local quantized = require 'torch.lm.quantized'
local whole_file = require 'torch.files.whole_file'

local M = {}

local MAX_CONFIG = 1 << 20 -- bytes

function M.is_linear(module) return nn.Linear:is_instance(module) or quantized.Linear:is_instance(module) end

-- ---- names and order of rows --------------------------------------------------------------------

-- The configuration of a net of torch.lm; nil: another net.
local function decoder_config(net) return llama.Decoder:is_instance(net) and net.config or nil end

-- The path of a linear layer in Hugging Face's model; nil: it is a part of another one there. Other
-- nets keep their paths.
local function path_in_file(net, path)
  local config = decoder_config(net)
  if not config then return path end
  if path == 'output' then return 'lm_head' end
  local tensor, first, form = folder_names.locate({ entries = {} }, config)(path .. '.weight')
  return not first and not form and tensor:gsub('%.weight$', '') or nil
end

-- The number of heads of a layer in which a GGUF file orders the rows by rotary pairs, while
-- Hugging Face's model has the first elements of all pairs, then the second ones. nil: same order.
local function reordered_heads(net, path)
  local config = decoder_config(net)
  if not config or config.rope_halves then return nil end
  return path:find '%.q_proj$' and config.heads or path:find '%.k_proj$' and config.kv_heads or nil
end

local function halves_from_pairs(matrix, heads) return matrix:unflatten(1, { heads, -1, 2 }):transpose(2, 3):flatten(1, 3) end
local function pairs_from_halves(matrix, heads) return matrix:unflatten(1, { heads, 2, -1 }):transpose(2, 3):flatten(1, 3) end

-- ---- saving -------------------------------------------------------------------------------------

-- The last names of the layers if PEFT finds exactly these layers by them, else their paths.
local function target_modules(net, paths)
  local adapted, last, names, full, exact = {}, {}, {}, {}, true
  for i, path in ipairs(paths) do
    adapted[path], full[i] = true, path_in_file(net, path)
    local name = full[i]:match '[^.]*$'
    if not last[name] then last[name], names[#names + 1] = true, name end
  end
  for path, module in net:named_modules() do
    if M.is_linear(module) and not path:find '%.lora_[AB]$' and not adapted[path:gsub('%.base_layer$', '')] then
      exact = exact and not last[(path_in_file(net, path) or ''):match '[^.]*$']
    end
  end
  return exact and names or full
end

local function list_text(list)
  local quoted = {}
  for i, name in ipairs(list) do quoted[i] = json_string(name) end
  return '[' .. table.concat(quoted, ', ') .. ']'
end

--- Writes the files. paths: the layers with adapters; state: the matrices by name.
function M.save(folder, net, config, paths, state)
  for _, path in ipairs(paths) do
    if not path_in_file(net, path) then fail("save_pretrained(): '%s' is a part of another layer in Hugging Face's model, or transposed there", path) end
  end
  outside.make_folder(folder)
  local names, tensors = {}, {}
  for name, matrix in pairs(state) do
    local path, part = name:match '^(.*)%.(lora_[AB])%.weight$'
    local heads = part == 'lora_B' and reordered_heads(net, path)
    names[#names + 1] = ('base_model.model.%s.%s.weight'):format(path_in_file(net, path), part)
    tensors[#tensors + 1] = (heads and halves_from_pairs(matrix, heads) or matrix):contiguous()
  end
  torch._C.save_safetensors(folder .. '/adapter_model.safetensors', names, tensors, { format = 'pt' })
  outside.write_file(folder .. '/adapter_config.json', ([[
{
  "base_model_name_or_path": null,
  "bias": "none",
  "fan_in_fan_out": false,
  "inference_mode": true,
  "init_lora_weights": true,
  "lora_alpha": %s,
  "lora_dropout": %s,
  "peft_type": "LORA",
  "r": %d,
  "target_modules": %s,
  "task_type": %s,
  "use_rslora": %s
}
]]):format(plain_number('%.17g', config.lora_alpha), plain_number('%.17g', config.lora_dropout), config.r, list_text(target_modules(net, paths)),
    decoder_config(net) and '"CAUSAL_LM"' or 'null', tostring(config.use_rslora)))
end

-- ---- loading ------------------------------------------------------------------------------------

local function read_config(path)
  local value, reason = whole_file.json_object(path, MAX_CONFIG)
  if not value then fail('from_pretrained(): %s has no JSON object%s', path, reason) end
  return value
end

-- Kinds of adapters that are computed in another way, with their values in ordinary ones.
local ordinary = { peft_type = 'LORA', bias = 'none', fan_in_fan_out = false, use_dora = false, lora_bias = false, use_qalora = false }
local absent = { 'modules_to_save', 'layer_replication', 'megatron_config', 'target_parameters', 'trainable_token_indices', 'alora_invocation_tokens' }

local function check_config(path, data)
  local function refuse(name, expected)
    fail("from_pretrained(): %s has %s = %s, expected %s: ltensor computes ordinary LoRA adapters", path, name, tostring(data[name]), tostring(expected))
  end
  for name, value in pairs(ordinary) do
    if data[name] ~= nil and data[name] ~= value then refuse(name, value) end
  end
  for _, name in ipairs(absent) do
    if data[name] then refuse(name, 'null') end
  end
  for _, name in ipairs { 'rank_pattern', 'alpha_pattern' } do
    if data[name] and (type(data[name]) ~= 'table' or next(data[name])) then refuse(name, 'an empty object') end
  end
  local function number(name, default, least, integer)
    local value = data[name]
    if value == nil then value = default end
    local valid = type(value) == 'number' and value >= least and value < math.huge and (not integer or math.type(value) == 'integer')
    if not valid then refuse(name, integer and 'a positive integer' or 'a number') end
    return value
  end
  return { r = number('r', 8, 1, true), lora_alpha = number('lora_alpha', 8, 0), lora_dropout = number('lora_dropout', 0, 0), use_rslora = data.use_rslora == true }
end

--- The arguments of lora() in a folder, and the matrices by name.
function M.load(folder, net)
  local config = check_config(folder .. '/adapter_config.json', read_config(folder .. '/adapter_config.json'))
  local paths = {}
  for path, module in net:named_modules() do
    local full = M.is_linear(module) and path_in_file(net, path)
    if full then paths['base_model.model.' .. full] = path end
  end
  local file = folder .. '/adapter_model.safetensors'
  local names, list = torch._C.load_safetensors(file)
  local state, targets, seen = {}, {}, {}
  for i, name in ipairs(names) do
    local layer, part = name:match '^(.*)%.(lora_[AB])%.weight$'
    local path = layer and paths[layer]
    if not path then fail("from_pretrained(): %s has the tensor '%s', for which the net has no layer", file, name) end
    local heads = part == 'lora_B' and reordered_heads(net, path)
    if heads and (list[i]:dim() ~= 2 or list[i]:size(1) % (2 * heads) ~= 0) then
      fail("from_pretrained(): %s: '%s' has the shape %s, expected %d heads of an even size", file, name, tostring(list[i].shape), heads)
    end
    state[('%s.%s.weight'):format(path, part)] = heads and pairs_from_halves(list[i], heads) or list[i]
    if not seen[path] then seen[path], targets[#targets + 1] = true, path end
  end
  config.target_modules = targets
  return config, state
end

return M
