-- generate.lua - a loaded program (torch.export.load, torch.onnx.load) as C source: records a call
-- of the program (onnx/export/record.lua), writes its operations as statements, plans their memory,
-- and writes the text.

local torch = require 'torch'
local Builder = require 'torch.c_source.builder'
local class = require 'torch.support.class'
local ops = require 'torch.c_source.ops'
local places = require 'torch.c_source.places'
local record = require 'torch.onnx.export.record'
local tensors = require 'torch.onnx.tensors'
local text = require 'torch.c_source.text'

local M = {}

local CALLER = 'ltensor build' -- in messages of the recorder

-- ---- sample inputs ------------------------------------------------------------------------------

-- The dtype, sizes (-1: any) and names of sizes of an input of either kind of program.
local function form_of(input)
  if input.sizes then return input.dtype, input.sizes, input.symbols end
  local form = input.type and input.type.tensor_type
  if not form or not form.shape then return nil end
  local sizes, symbols = {}, {}
  for i, dim in ipairs(form.shape.dim) do
    sizes[i], symbols[i] = dim.dim_value and dim.dim_value >= 0 and dim.dim_value or -1, dim.dim_param
  end
  return tensors.dtypes[form.elem_type], sizes, symbols
end

-- A tensor for an input. sizes: the numbers of named sizes.
local function sample(input, sizes)
  local dtype, shape, symbols = form_of(input)
  if input.is_number or not dtype then error(("input '%s' is no tensor with known sizes"):format(input.name), 0) end
  if not places.type_of(dtype) then error(("input '%s' has elements of %s; float32, float64, int32, int64, bool and uint8 are supported"):format(input.name, tostring(dtype)), 0) end
  local known = {}
  for i, size in ipairs(shape) do
    local symbol = symbols[i]
    known[i] = size >= 0 and size or symbol and sizes[symbol]
    if not known[i] then
      error(("size %d of input '%s' varies; choose it by --size %s=N"):format(i, input.name, symbol or 'NAME'), 0)
    end
  end
  if not dtype.is_floating_point then return torch.zeros(known, { dtype = dtype }) end
  -- Different elements: an inverse of equal ones fails.
  return (torch.arange(places.numel(known), { dtype = torch.float32 }) % 7 / 8 + 0.1):view(known):to(dtype)
end

-- ---- names of nodes -----------------------------------------------------------------------------

-- Stores the node that makes each result while a program runs. Returns { [tensor] = { [version] = node } } and a
-- function that ends this.
local function follow_nodes(module)
  local made, functions = setmetatable({}, { __mode = 'k' }), {}
  for _, node in ipairs(module._graph.nodes) do
    local fn = node.fn
    functions[node] = fn
    node.fn = function(...)
      local results = table.pack(fn(...))
      for i = 1, results.n do
        if torch.is_tensor(results[i]) then
          local by_version, version = made[results[i]] or {}, torch._C.version_of(results[i])
          made[results[i]], by_version[version] = by_version, by_version[version] or node
        end
      end
      return table.unpack(results, 1, results.n)
    end
  end
  return made, function()
    for node, fn in pairs(functions) do node.fn = fn end
  end
end

-- Sets the node of each call: the one that made its result, or the next result.
local function name_calls(recording, made)
  local node
  for i = #recording.calls, 1, -1 do
    local call = recording.calls[i]
    for _, value in pairs(call.results) do
      local by_version = made[value.tensor]
      node = by_version and by_version[value.version] or node
    end
    if node then
      local name = node.where:match "^node '(.*)' %(" or node.name
      local shape = {}
      for k, size in ipairs((call.results[1] or {}).shape or {}) do shape[k] = ('%d'):format(size) end
      call.where, call.operator, call.node = name, node.op, ('%s: %s [%s]'):format(name:gsub('%*/', ''), node.op, table.concat(shape, ', '))
    end
  end
end

local function record_program(module, sizes)
  local args, names = {}, {}
  for i, input in ipairs(module.inputs) do args[i], names[i] = sample(input, sizes), input.name end
  local made, restore = follow_nodes(module)
  local fields = class.fields(module)
  local tree = fields.out_tree
  fields.out_tree = nil -- the results as a flat list
  local ok, recording = pcall(record.record, module, args, names, { caller = CALLER })
  fields.out_tree = tree
  restore()
  if not ok then error((tostring(recording):gsub('^.-' .. CALLER .. ': ', '')), 0) end
  for _, value in ipairs(recording.values) do
    local is_state = value.kind == 'parameter' or value.kind == 'buffer'
    if is_state and torch._C.version_of(value.tensor) ~= value.version then error(("the program changes '%s'; C source has no state"):format(value.name), 0) end
  end
  name_calls(recording, made)
  return recording
end

-- ---- results ------------------------------------------------------------------------------------

local function identifier(prefix, name, used)
  local base = prefix .. name:gsub('[^%w]', '_')
  local result, count = base, 1
  while used[result] do
    count = count + 1
    result = ('%s_%d'):format(base, count)
  end
  used[result] = true
  return result
end

-- Makes the buffer of each result an output, or copies the result to one.
local function write_outputs(b, recording, module, used)
  for i, value in ipairs(recording.outputs) do
    local place, shape = b:place(value), table.move(value.shape, 1, #value.shape, 1, {})
    local name = identifier('out_', module.outputs[i] and module.outputs[i].name or ('%d'):format(i), used)
    local buffer = place.buffer
    if buffer.kind == 'arena' and places.is_dense(place) and place.offset == 0 and buffer.numel == places.numel(shape) then
      buffer.kind, buffer.name = 'output', name
      b.outputs[i] = place
    else
      b.outputs[i] = b:new_place(shape, value.dtype)
      b.outputs[i].buffer.kind, b.outputs[i].buffer.name = 'output', name
      b:copy(place, b.outputs[i])
    end
  end
end

--- The text of a source and its header for a program, and a function that writes the weights to a
-- file. options: { name = prefix of its names in C, header = file name, weights = true if they are
-- no part of the source, sizes = numbers of named sizes }. An error names the node and the operator.
function M.generate(module, options)
  local changed = module.changes and module.changes[1]
  if changed then error(("the program changes '%s'; C source has no state"):format(changed.name), 0) end
  local recording = record_program(module, options.sizes or {})
  local b, used = Builder.new(), {}
  b.inputs, b.outputs = {}, {}
  for i, value in ipairs(recording.inputs) do
    local shape = table.move(value.shape, 1, #value.shape, 1, {})
    b.inputs[i] = places.new({ kind = 'input', numel = places.numel(shape), dtype = value.dtype, name = identifier('in_', value.name, used) }, shape, value.dtype)
    b.of_value[value] = b.inputs[i]
  end
  ops.write(b, recording)
  write_outputs(b, recording, module, used)
  local source, header = text.texts(b, options)
  return source, header, function(file) text.write_weights(b, file) end
end

return M
