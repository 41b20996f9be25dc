-- model.lua - the nn.Module of an ONNX file (torch.onnx.load): its parameters and buffers, and
-- calls of its graph.
--
-- A name in the file such as 'encoder.0.weight' becomes a tensor 'weight' of a module '0' in a
-- module 'encoder', as in the program that wrote it. If this is impossible (the name of a method,
-- or of both a module and a tensor), dots are replaced.

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local graphs = require 'torch.onnx.graph'
local kinds = require 'torch.support.argument_kinds'
local messages = require 'torch.onnx.messages'
local nn = require 'torch.nn'
local ordered_dict = require 'torch.support.ordered_dict'
local parts = require 'torch.support.module_tree'
local run = require 'torch.onnx.run'
local tensors = require 'torch.onnx.tensors'
local values = require 'torch.onnx.values'
local wire = require 'torch.onnx.wire'

local M = {}

local Part = nn.Module:extend 'ONNXPart'
local Model = nn.Module:extend 'ONNXModel'

-- ---- parameters and buffers ---------------------------------------------------------------------

-- Stores the constants of a graph and of its bodies; unnamed ones are not part of the state and get
-- the next number. Statistics of a batch norm are buffers.
local function keep(model, graph, count)
  for _, constant in ipairs(graph.constants) do
    if not constant.name then count.unnamed = count.unnamed + 1 end
    local at, key = parts.place(model, Part, constant.name or ('constant_%d'):format(count.unnamed))
    if constant.learned and not graph.statistics[constant.slot] then at:register_parameter(key, nn.Parameter(constant.value))
    else at:register_buffer(key, constant.value, constant.name ~= nil) end
    constant.fields, constant.key, constant.value = class.fields(at), key, nil
  end
  for _, node in ipairs(graph.nodes) do
    for _, body in pairs(node.attributes) do
      if type(body) == 'table' and body.captures then keep(model, body, count) end
    end
  end
end

-- ---- calls --------------------------------------------------------------------------------------

local function check_input(input, value)
  local form = input.type and input.type.tensor_type
  if not form then return end
  if not torch.is_tensor(value) then fail("input '%s' must be a Tensor, not %s", input.name, kinds.described(value)) end
  local dtype = tensors.dtypes[form.elem_type]
  if value.dtype ~= dtype then fail("input '%s' has elements of %s, but the model expects %s", input.name, tostring(value.dtype), tostring(dtype)) end
  local sizes = form.shape and form.shape.dim
  if not sizes then return end
  local fits = #sizes == value:dim()
  -- Negative sizes are unknown.
  local function known(size) return size.dim_value and size.dim_value >= 0 and size.dim_value or nil end
  for i, size in ipairs(sizes) do fits = fits and (not known(size) or known(size) == value:size(i)) end
  if fits then return end
  local wanted = {}
  for i, size in ipairs(sizes) do wanted[i] = known(size) and ('%d'):format(size.dim_value) or size.dim_param or '?' end
  fail("input '%s' has the shape [%s], but the model expects [%s]", input.name, table.concat(value.shape, ', '), table.concat(wanted, ', '))
end

-- The frame of a call, with its arguments in it.
local function new_frame(model, graph, ...)
  local frame, n, first = {}, select('#', ...), ...
  local by_name = n == 1 and (kinds.is_named(first) and next(first) ~= nil or ordered_dict.is(first)) and first
  for _, constant in ipairs(graph.constants) do frame[constant.slot] = constant.fields[constant.key] end
  if by_name then
    local known = {}
    for _, input in ipairs(model.inputs) do known[input.name] = true end
    for name in pairs(by_name) do
      if not known[name] then
        local names = {}
        for i, input in ipairs(model.inputs) do names[i] = input.name end
        fail("the model has no input '%s'; it has: %s", name, table.concat(names, ', '))
      end
    end
  elseif n > #model.inputs then
    fail('the model expects %d inputs, but got %d', #model.inputs, n)
  end
  for i, input in ipairs(model.inputs) do
    local value
    if by_name then value = by_name[input.name] else value = (select(i, ...)) end
    if value ~= nil then
      check_input(input, value)
      frame[input.slot] = value
    elseif input.type and input.type.optional_type then
      frame[input.slot] = values.NONE
    elseif not input.default then
      fail("the model's input '%s' is missing", input.name)
    end
  end
  return frame
end

local function compute(model, ...)
  local graph = model._graph
  local frame, at = new_frame(model, graph, ...), {}
  local ok, message = pcall(run.nodes, graph, frame, at)
  if ok then return graph, frame end
  if type(message) ~= 'string' or not at.node then error(message, 0) end
  fail('%s: %s', at.node.where, (message:gsub('^%[?[^%s:]*%]?:%d+: ', '')))
end

local function given(value)
  if value == values.NONE then return nil end
  return value
end

local function results(graph, frame, i)
  if i > #graph.outputs then return end
  return given(frame[graph.outputs[i].slot]), results(graph, frame, i + 1)
end

-- The model's outputs, in the order of the file.
function Model:forward(...)
  local graph, frame = compute(self, ...)
  return results(graph, frame, 1)
end

--- The model's outputs by name, for inputs by name (or position).
function Model:run(...)
  local graph, frame = compute(self, ...)
  local outputs = {}
  for _, output in ipairs(graph.outputs) do outputs[output.name] = given(frame[output.slot]) end
  return outputs
end

function Model:extra_repr()
  local function names(list)
    local texts = {}
    for i, value in ipairs(list) do texts[i] = value.name end
    return table.concat(texts, ', ')
  end
  return ('inputs=(%s), outputs=(%s), nodes=%d'):format(names(self.inputs), names(self.outputs), #self._graph.nodes)
end

-- ---- loading ------------------------------------------------------------------------------------

-- The model of a reader's file.
local function read_model(reader, path)
  if reader.size >= 4 and reader:bytes(0, 4) == 'PK\3\4' then
    reader:fail(0, "a zip archive, no ONNX model: torch.load reads PyTorch's files and NumPy's; torch.onnx.export in Python makes a model")
  end
  reader.others = reader.file and {} -- a file in memory has no folder
  local _ <close> = setmetatable({}, { __close = function()
    for _, other in pairs(reader.others or {}) do other:close() end
  end })
  local graph = graphs.build(reader, reader:message(messages.Model, 0, reader.size))
  local model = Model()
  local fields = class.fields(model)
  fields._graph, fields.inputs, fields.outputs = graph, {}, graph.outputs
  for _, input in ipairs(graph.inputs) do
    -- Files of the first versions list every initializer as an input, too.
    if not input.default or (graph.ir_version or 0) >= 4 then table.insert(fields.inputs, input) end
  end
  for _, input in ipairs(fields.inputs) do
    local form = input.type and input.type.tensor_type
    if form then tensors.dtype(form.elem_type, ("%s: input '%s'"):format(path, input.name)) end
  end
  keep(model, graph, { unnamed = 0 })
  return model:eval()
end

--- As torch.onnx.load. is_bytes: path is the content of a file. given: tensors by name, for initializers
-- without elements.
function M.load(path, max_memory, is_bytes, given)
  local reader <close> = is_bytes and wire.of_string(path, wire.MEMORY) or wire.open(path)
  reader.tensors = given
  reader.grows = not max_memory -- the limit grows with each file of external data
  return torch._C.within_budget(reader.size, max_memory, read_model, reader, reader.path)
end

return M
