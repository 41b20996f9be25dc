-- weights.lua - reads the values of a language model's parameters from a file.
--
-- source: a file with the methods info, stored, tensor and _fail, and its tensors by name in
-- `entries`: torch.lm.gguf or checkpoint.lua. locate(name): the tensor of a parameter, its first row
-- (from 0) or nil, and its form in the file: nil, 'transposed' or 'minus one'.

local torch = require 'torch'
local class = require 'torch.support.class'
local quantized = require 'torch.lm.quantized'
local nn = torch.nn

local M = {}

--- A module; with config.uninitialized its parameters get their values later.
function M.new(config, kind, ...)
  if config.uninitialized then return nn.utils.skip_init(kind, ...) end
  return kind(...)
end

-- Replaces the layer of a weight by one with the quantized weight and the layer's bias.
local function put_quantized(parent, last, weight, scheme)
  local old = parent[last]
  parent[last] = (nn.Embedding:is_instance(old) and quantized.Embedding or quantized.Linear)(weight, scheme, old.bias)
end

local function check_shape(self, tensor, shape, expected, first, transposed)
  local rows = shape[transposed and #shape or 1] or 0
  local fits = #shape == #expected and (first and first + expected[1] <= rows or rows == expected[1])
  if fits and #shape == 2 then fits = shape[transposed and 1 or 2] == expected[2] end
  if fits then return end
  self.source:_fail("tensor '%s' has the shape [%s], the configuration requires %s[%s]", tensor, table.concat(shape, ', '),
    first and ('rows from %d of '):format(first) or '', table.concat(expected, ', '))
end

local Reader = class.Object:extend 'WeightReader'

--- dtype: of the parameters; nil: quantized weights as the file has them, mapped, and the others in
--- float32.
function Reader:init(source, locate, dtype)
  self.source, self.locate, self.dtype, self.used = source, locate, dtype, {}
end

--- Reads the values of all parameters of a module; its own path is `prefix`.
function Reader:fill(module, prefix)
  local names, source, dtype = {}, self.source, self.dtype
  for name in module:named_parameters('', true, false) do names[#names + 1] = name end
  for _, name in ipairs(names) do
    local parameter = module:get_parameter(name)
    local expected = parameter.shape
    local tensor, first, form = self.locate(prefix .. name)
    local transposed, shape = form == 'transposed', source:info(tensor)
    self.used[tensor] = true
    check_shape(self, tensor, shape, expected, first, transposed)
    local stored, format = source:stored(tensor)
    local quantizes = type(format) == 'string'
    if quantizes and dtype then stored, quantizes = source:tensor(tensor, dtype), false end
    if transposed and #shape == 2 then stored = stored:t() end
    if first then stored = stored:narrow(1, first + 1, expected[1]) end
    if quantizes then
      local path, last = name:match '^(.-)%.?([^.]+)%.weight$'
      put_quantized(path == '' and module or module:get_submodule(path), last, stored, format)
    else
      stored = stored:to(dtype or torch.float32)
      parameter.data = form == 'minus one' and stored + 1 or stored:contiguous()
    end
  end
end

--- Raises an error for tensors that no parameter has: the model would differ from the file's.
--- ignores(name): whether a tensor may be unused.
function Reader:finish(ignores)
  local unused = {}
  for name in pairs(self.source.entries) do
    if not self.used[name] and not ignores(name) then unused[#unused + 1] = name end
  end
  table.sort(unused)
  if unused[1] then self.source:_fail("tensor '%s' belongs to no parameter of this family of models (%d such tensors)", unused[1], #unused) end
end

--- A net without gradients, with the weights of a file. names: functions locate(source, config) and
--- ignores(name); Net(config), to which the layers Layer(config, i) are appended.
function M.load(source, names, config, dtype, Net, Layer)
  local reader = Reader(source, names.locate(source, config), dtype)
  config.uninitialized = true
  local net = Net(config)
  reader:fill(net, '')
  for i = 1, config.layers do
    local layer = Layer(config, i)
    reader:fill(layer, ('layers.%d.'):format(i - 1))
    net.layers:append(layer)
  end
  config.uninitialized = nil
  reader:finish(names.ignores)
  return net:requires_grad_(false)
end

return M
