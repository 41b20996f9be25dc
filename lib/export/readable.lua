-- readable.lua - the graph of a program of torch.export as text, one line a node, with the names of
-- its text of JSON; and the signature of its inputs and results.

local archives = require 'torch.export.archive'

local M = {}

local short = { float16 = 'f16', float32 = 'f32', float64 = 'f64', bfloat16 = 'bf16', int8 = 'i8', int16 = 'i16', int32 = 'i32', int64 = 'i64', uint8 = 'u8', bool = 'b8',
  complex64 = 'c64', complex128 = 'c128' }

local function size_text(size)
  if size.as_int then return ('%d'):format(size.as_int) end
  local text = tostring(size.as_expr and size.as_expr.expr_str)
  return (text:gsub("Symbol%('([%w_]+)'[^()]*%)", '%1'))
end

-- ': f32[2, 3]' of a value.
local function type_text(graph, name)
  local meta = graph.tensor_values[name]
  if not meta then return '' end
  local sizes = {}
  for i, size in ipairs(meta.sizes) do sizes[i] = size_text(size) end
  local dtype = tostring(archives.dtypes[meta.dtype]):gsub('^torch%.', '')
  return (': %s[%s]'):format(short[dtype] or dtype, table.concat(sizes, ', '))
end

local argument_text

local function list_text(list)
  local parts = {}
  for i, x in ipairs(list) do parts[i] = type(x) == 'table' and (x.name or argument_text(x)) or tostring(x) end
  return ('[%s]'):format(table.concat(parts, ', '))
end

function argument_text(argument)
  local kind, value
  for key, entry in pairs(argument) do
    if entry ~= archives.Null then kind, value = key, entry end
  end
  if kind == nil or kind == 'as_none' then return 'nil' end
  if kind == 'as_scalar_type' then return tostring(archives.dtypes[value]) end
  if kind == 'as_string' then return ("'%s'"):format(value) end
  if kind == 'as_graph' or kind == 'as_device' then return kind == 'as_graph' and value.name or value.type end
  if type(value) ~= 'table' then return tostring(value) end
  if value[1] ~= nil or next(value) == nil then return list_text(value) end
  return value.name or value.as_name or argument_text(value)
end

local function node_text(graph, node)
  local inputs, outputs = {}, {}
  for i, input in ipairs(node.inputs) do
    inputs[i] = (input.kind == 2 and input.name .. ' = ' or '') .. argument_text(input.arg)
  end
  for _, output in ipairs(node.outputs) do
    local one = output.as_tensor or output.as_sym_int
    for _, value in ipairs(output.as_tensors or { one }) do
      local name = value.name or value.as_name
      outputs[#outputs + 1] = name .. type_text(graph, name)
    end
  end
  local result = #outputs > 0 and table.concat(outputs, ', ') .. ' = ' or ''
  return ('    %s%s(%s)'):format(result, node.target, table.concat(inputs, ', '))
end

local function names_of(graph, list)
  local names = {}
  for i, argument in ipairs(list) do
    local text = argument_text(argument)
    names[i] = text .. type_text(graph, text)
  end
  return table.concat(names, ', ')
end

--- The graph of a program's text.
function M.graph(text)
  local graph = archives.parsed({ fail = error }, 'the program', text).graph_module.graph
  local lines = { ('forward(%s)'):format(names_of(graph, graph.inputs)) }
  for _, node in ipairs(graph.nodes) do lines[#lines + 1] = node_text(graph, node) end
  local outputs = {}
  for i, output in ipairs(graph.outputs) do outputs[i] = argument_text(output) end
  lines[#lines + 1] = ('    return %s'):format(table.concat(outputs, ', '))
  return table.concat(lines, '\n')
end

--- The signature of a program: names of PyTorch's ExportGraphSignature.
function M.signature(signature)
  local result = { parameters = {}, buffers = {}, non_persistent_buffers = {}, lifted_tensor_constants = {}, user_inputs = {}, user_outputs = {},
    inputs_to_parameters = {}, inputs_to_buffers = {}, inputs_to_lifted_tensor_constants = {}, buffers_to_mutate = {}, user_inputs_to_mutate = {} }
  local function add(list, name, by_input, argument)
    table.insert(result[list], name)
    result[by_input][argument.name] = name
  end
  for _, spec in ipairs(signature.input_specs) do
    local kind, entry = next(spec)
    if kind == 'parameter' then add('parameters', entry.parameter_name, 'inputs_to_parameters', entry.arg)
    elseif kind == 'buffer' then
      add('buffers', entry.buffer_name, 'inputs_to_buffers', entry.arg)
      if entry.persistent == false then table.insert(result.non_persistent_buffers, entry.buffer_name) end
    elseif kind == 'tensor_constant' then add('lifted_tensor_constants', entry.tensor_constant_name, 'inputs_to_lifted_tensor_constants', entry.arg)
    elseif kind == 'user_input' then table.insert(result.user_inputs, argument_text(entry.arg)) end
  end
  for _, spec in ipairs(signature.output_specs) do
    local kind, entry = next(spec)
    if kind == 'user_output' then table.insert(result.user_outputs, argument_text(entry.arg))
    elseif kind == 'buffer_mutation' then result.buffers_to_mutate[entry.arg.name] = entry.buffer_name
    elseif kind == 'user_input_mutation' then result.user_inputs_to_mutate[entry.arg.name] = entry.user_input_name end
  end
  return result
end

return M
