-- tensorboard_graph.lua - a module's operations as TensorFlow's GraphDef, which TensorBoard draws:
-- a call of the module is recorded as for ONNX; its inputs, parameters, operations and outputs
-- become nodes, named by paths of modules.

local torch = require 'torch'
local fields = require 'torch.files.protobuf'
local kinds = require 'torch.support.argument_kinds'
local record = require 'torch.onnx.export.record'

local integer, text = fields.integer, fields.text

local PRODUCER = 22 -- the version of GraphDef that this is

-- Entry of the map of attributes.
local function attribute(name, value) return text(5, text(1, name) .. text(2, value)) end

local function shape_attribute(shape)
  local dims = {}
  for i, size in ipairs(shape) do dims[i] = text(2, integer(1, size)) end
  return attribute('_output_shapes', text(1, text(7, table.concat(dims))))
end

local function node(name, op, inputs, shape, more)
  local parts = { text(1, name), text(2, op) }
  for _, input in ipairs(inputs) do parts[#parts + 1] = text(3, input) end
  if shape then parts[#parts + 1] = shape_attribute(shape) end
  if more and more ~= '' then parts[#parts + 1] = attribute('attr', text(2, more)) end
  return text(1, table.concat(parts))
end

-- 'Net/layers.0' for '0.weight' or for a recording's name of a module, 'layers.0 (Linear)'.
local function scope(root, path) return path == '' and root or ('%s/%s'):format(root, (path:gsub('%.', '/'))) end

-- Splits the arguments of a call into values and others.
local function arguments_of(args, values, plain)
  for i = 1, args.n or #args do
    local x = args[i]
    if record.is_value(x) then values[#values + 1] = x
    elseif type(x) == 'table' and getmetatable(x) == nil then
      arguments_of(x, values, plain)
      for name, entry in pairs(x) do
        if type(name) == 'string' and name ~= 'n' then
          if record.is_value(entry) then values[#values + 1] = entry else plain[#plain + 1] = ('%s=%s'):format(name, tostring(entry)) end
        end
      end
    elseif x ~= nil then plain[#plain + 1] = tostring(x) end
  end
  return values, plain
end

--- The bytes of the GraphDef of module(inputs...); inputs: a tensor, or a table of the arguments.
return function(module, inputs)
  kinds.check('add_graph', 'model', module, 'Module')
  if torch.is_tensor(inputs) then inputs = { inputs } end
  kinds.check('add_graph', 'input_to_model', inputs, 'table')
  local names = {}
  for i in ipairs(record.flatten(inputs, {})) do names[i] = 'input_' .. i end
  local recording, root = record.record(module, inputs, names, { caller = 'add_graph' }), torch.type(module)
  local nodes, name_of, counts = {}, {}, {}

  local function named(value)
    if name_of[value] then return name_of[value] end
    local name, op = ('constants/%d'):format(value.id), 'prim::Constant'
    if value.kind == 'parameter' or value.kind == 'buffer' then name, op = scope(root, value.name), value.kind == 'buffer' and 'Buffer' or 'Parameter' end
    name_of[value] = name
    nodes[#nodes + 1] = node(name, op, {}, value.shape)
    return name
  end

  for i, value in ipairs(recording.inputs) do
    name_of[value] = 'input/' .. names[i]
    nodes[#nodes + 1] = node(name_of[value], 'IO Node', {}, value.shape)
  end
  for _, call in ipairs(recording.calls) do
    local path = call.where:match '^(.-) %(' or ''
    local base = ('%s/%s'):format(scope(root, path == 'the module' and '' or path), call.op)
    counts[base] = (counts[base] or 0) + 1
    local name = counts[base] > 1 and ('%s_%d'):format(base, counts[base]) or base
    local values, plain = arguments_of(call.args, {}, {})
    local from = {}
    for i, value in ipairs(values) do from[i] = named(value) end
    for i, value in pairs(call.results) do name_of[value] = i == 1 and name or ('%s:%d'):format(name, i - 1) end
    nodes[#nodes + 1] = node(name, 'aten::' .. call.op, from, call.results[1] and call.results[1].shape, table.concat(plain, ', '))
  end
  for i, value in ipairs(recording.outputs) do
    nodes[#nodes + 1] = node('output/output_' .. i, 'IO Node', { named(value) }, value.shape)
  end
  return table.concat(nodes) .. text(4, integer(1, PRODUCER))
end
