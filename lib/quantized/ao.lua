-- ao.lua - torch.ao.quantization: quantizes the weights of a net. With gradients, the
-- error is that of the weights; without, inputs are rounded to 8 bits, too (lib/lm/quantized.lua).
--
--   torch.ao.quantization.quantize_(net, 'int8')

--[=[ arguments
model: Net with linear layers and embeddings.
config: `'int8'` (blocks q8_0), `'int4'` (q4_0), or a scheme of `torch.quantize_blocks` such as `'q4_k'`.
filter_fn: Function of a module and its path that returns whether its weight is quantized; nil: all linear layers and embeddings.
qconfig_spec: List of classes, `{nn.Linear}`, whose modules are quantized.
dtype: `torch.int8`.
inplace: Whether the net itself is changed instead of a copy.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local QuantizedTensor = require 'torch.quantized.tensor'
local nn = torch.nn

local schemes = { int8 = 'q8_0', int4 = 'q4_0' }

local function suits(module, path)
  if nn.Embedding:is_instance(module) and module.max_norm then
    fail("quantize_(): '%s' has max_norm, which changes its weights; exclude it by filter_fn", path)
  end
  return nn.Linear:is_instance(module) or nn.Embedding:is_instance(module)
end

-- The modules to replace: { {path, module}, ... }. Each is checked before any is replaced.
local function places(model, scheme, filter)
  local list = {}
  local function visit(parent, prefix)
    for name, child in parent:_named_places() do
      local path = prefix .. name
      if filter(child, path) and suits(child, path) then
        local ok, message = pcall(torch.quantize_blocks, child.weight:detach():narrow(1, 1, 0), scheme)
        if not ok then fail("quantize_(): '%s': %s; or exclude the module by filter_fn", path, (tostring(message):gsub('^.-quantize_blocks%(%): ', ''))) end
        list[#list + 1] = { path, child }
      else
        visit(child, path .. '.')
      end
    end
  end
  model:_check_finite()
  visit(model, '')
  return list
end

-- Replaces the linear layers and embeddings in a net by ones with quantized weights, in place.
-- Modules and weights that occur twice remain shared.
local function quantize_(model, config, filter)
  local layers = require 'torch.lm.quantized'
  local scheme = schemes[config] or config
  if suits(model, '') then fail('quantize_(): the net is itself a %s, which cannot be replaced in place; put it into an nn.Sequential', torch.type(model)) end
  local weights, replaced = {}, {}
  for _, place in ipairs(places(model, scheme, filter or function() return true end)) do
    local path, module = table.unpack(place)
    local weight = module.weight
    weights[weight] = weights[weight] or QuantizedTensor.quantize(weight, scheme).packed
    replaced[module] = replaced[module] or
      (nn.Embedding:is_instance(module) and layers.Embedding or layers.Linear)(weights[weight], scheme, module.bias):train(module.training)
    model:set_submodule(path, replaced[module])
  end
end

-- A copy of a net whose modules of some classes have weights of 8 bits.
local function quantize_dynamic(model, classes, dtype, inplace)
  if dtype and dtype ~= torch.int8 then fail('quantize_dynamic(): dtype %s, expected torch.int8; quantize_() has other formats', tostring(dtype)) end
  if not inplace then model = model:deepcopy() end
  quantize_(model, 'int8', function(module)
    for _, class in ipairs(classes or { nn.Linear }) do
      if class:is_instance(module) then return true end
    end
    return false
  end)
  return model
end

local quantization = { quantize_ = quantize_, quantize_dynamic = quantize_dynamic }

return { quantization = declare.functions(quantization, [[
  quantize_(any model, string config, any? filter_fn)
  quantize_dynamic(any model, table? qconfig_spec, dtype? dtype, boolean inplace=false)
]]) }
