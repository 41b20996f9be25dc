-- export.lua - torch.onnx.export: records a call of a module (export/record.lua), writes its
-- operations as nodes (export/ops/) of a graph (export/graph.lua), and the graph to a file
-- (export/file.lua).

local torch = require 'torch'
local arguments = require 'torch.onnx.export.arguments'
local fail = require 'torch.support.fail'
local file = require 'torch.onnx.export.file'
local graphs = require 'torch.onnx.export.graph'
local kinds = require 'torch.support.argument_kinds'
local messages = require 'torch.onnx.messages'
local operators = require 'torch.onnx.export.operators'
local record = require 'torch.onnx.export.record'
local recordings_of = require 'torch.onnx.export.recordings'
local symbols = require 'torch.onnx.export.symbols'
local tensors = require 'torch.onnx.tensors'
local versions = require 'torch.onnx.export.versions'

local OLDEST, NEWEST, DEFAULT = versions.OLDEST, 23, 18 -- operator set versions
local FORM = { caller = 'torch.onnx.export' } -- of the recordings

-- ---- options ------------------------------------------------------------------------------------

local function check_names(what, names, n)
  if names == nil then return {} end
  if #names > n then fail('torch.onnx.export: %s has %d names for %d tensors', what, #names, n) end
  local seen = {}
  for _, name in ipairs(names) do
    if type(name) ~= 'string' or name == '' then fail('torch.onnx.export: %s must be a list of names', what) end
    if seen[name] then fail("torch.onnx.export: %s has '%s' twice", what, name) end
    seen[name] = true
  end
  return names
end

-- The dynamic sizes of inputs: { { name =, input = position, axis = } ... }.
local function dynamic_sizes(axes, inputs, output_names)
  local sizes, position, outputs = {}, {}, {}
  for i, input in ipairs(inputs) do position[input.name] = i end
  for _, name in ipairs(output_names) do outputs[name] = true end
  local names = {}
  for name in pairs(axes or {}) do names[#names + 1] = name end
  table.sort(names, function(a, b) return (position[a] or 0) < (position[b] or 0) end)
  for _, name in ipairs(names) do
    local i = position[name]
    if not i and not outputs[name] then fail("torch.onnx.export: dynamic_axes names '%s', which is no input or output", tostring(name)) end
    local dims = {}
    for dim, given in pairs(i and axes[name] or {}) do
      if type(given) == 'string' then dims[dim] = given else dims[given] = ('%s_%s'):format(name, tostring(given)) end
    end
    for dim = 1, i and inputs[i].tensor.ndim or 0 do
      if dims[dim] then
        sizes[#sizes + 1] = { name = dims[dim], position = i, axis = dim }
        dims[dim] = nil
      end
    end
    local dim = next(dims)
    if dim then fail("torch.onnx.export: dynamic_axes: dim %s of input '%s', which has %d (they count from 1)", tostring(dim), name, inputs[i].tensor.ndim) end
  end
  return sizes
end

-- The arguments with other tensors.
local function replaced(args, new, at)
  local copy = { n = args.n }
  for key, value in pairs(args) do
    if key ~= 'n' then copy[key] = type(value) == 'table' and {} or value end
  end
  for i, value in ipairs(args) do
    if torch.is_tensor(value) then
      at[1] = at[1] + 1
      copy[i] = new[at[1]]
    elseif type(value) == 'table' then
      copy[i] = replaced(value, new, at)
    end
  end
  return copy
end

-- ---- writing ------------------------------------------------------------------------------------

local function refuse_transform(call)
  if not call.op:find '^_?fft_' and not call.op:find '^i?stft$' then return end
  fail('torch.onnx.export: a Fourier transform (torch.fft, torch.stft) in %s: ltensor cannot export it; compute it before the module', call.where)
end

-- The arguments of the i-th call by name, merged over all recordings.
local function bound_call(graph, recordings, i)
  local call, list = recordings[1].calls[i], {}
  graph.call = call
  for k, recording in ipairs(recordings) do
    local other = recording.calls[i]
    if other.op ~= call.op then
      fail("torch.onnx.export: '%s' in %s is '%s' where the sizes of the inputs differ", call.op, call.where, other.op)
    end
    list[k] = operators.reads_raw[other.op] and other.args or arguments.bind(other)
    if not list[k] then refuse_transform(call) end
    if not list[k] then graph:fail 'the form of its arguments is not supported' end
  end
  return symbols.merge(list, function() graph:fail 'its arguments differ where the sizes of the inputs do, by more than a size' end)
end

local function write_call(graph, recordings, i)
  local call = recordings[1].calls[i]
  local args = bound_call(graph, recordings, i)
  local first = call.results[1]
  if first and not first.varies and not first.learned and not operators.draws(args.op or call.op) then
    local fixed = true
    for _, value in pairs(call.results) do
      for _, size in ipairs(graph:shape(value)) do fixed = fixed and not symbols.is_symbol(size) end
      fixed = fixed and torch._C.version_of(value.tensor) == value.version and not symbols.any(args)
    end
    if fixed then -- a constant: it depends on no input or parameter
      for _, value in pairs(call.results) do value.constant = value.tensor end
      for k = 2, #recordings do
        for _, value in pairs(recordings[k].calls[i].results) do value.constant = value.tensor end
      end
      return
    end
  end
  local write = operators.find(args.op or call.op, call.in_nn)
  if not write then refuse_transform(call) end
  if not write then graph:fail 'ONNX has no equivalent' end
  local names = table.pack(write(graph, args, call))
  if type(names[1]) == 'table' then names = names[1] end
  for j, value in pairs(call.results) do value.name_in_file = names[j] end
end

-- The nodes that the outputs depend on, and their initializers.
local function needed(graph, outputs)
  local used, nodes, initializers = {}, {}, {}
  for _, name in ipairs(outputs) do used[name] = true end
  for i = #graph.nodes, 1, -1 do
    local node = graph.nodes[i]
    local wanted = false
    for _, name in ipairs(node.output) do wanted = wanted or used[name] end
    if wanted then
      for _, name in ipairs(node.input) do used[name] = true end
      table.insert(nodes, 1, node)
    end
  end
  for _, initializer in ipairs(graph.initializers) do
    if used[initializer.name] then table.insert(initializers, initializer) end
  end
  return nodes, initializers
end

-- Adds an Identity for each output, with the output's name.
local function name_outputs(graph, outputs, names)
  local final = {}
  for i, value in ipairs(outputs) do
    graph.call = { op = 'output', where = 'the module' }
    local wanted = names[i] or ('output_%d'):format(i)
    if graph.names[wanted] then fail("torch.onnx.export: the output's name '%s' is that of another value", wanted) end
    graph.names[wanted] = true
    local node = { op_type = 'Identity', input = { graph:name(value) }, output = { wanted }, attributes = {} }
    table.insert(graph.nodes, node)
    final[i] = wanted
  end
  return final
end

local function value_info(name, dtype, shape, symbolic)
  local dims = {}
  for d, size in ipairs(shape) do dims[d] = symbols.is_symbol(size) and { dim_param = symbolic(size) } or { dim_value = size } end
  return { name = name, type = { tensor_type = { elem_type = tensors.code(dtype), shape = { dim = dims } } } }
end

local function attribute(name, value)
  if torch.is_tensor(value) then return { name = name, type = 4, t = { dims = value.shape, data_type = tensors.code(value.dtype), raw_data = value } } end
  if math.type(value) == 'integer' then return { name = name, type = 2, i = value } end
  if math.type(value) == 'float' then return { name = name, type = 1, f = value } end
  if type(value) == 'string' then return { name = name, type = 3, s = value } end
  if type(value[1]) == 'string' then return { name = name, type = 8, strings = value } end
  if math.type(value[1]) == 'float' then return { name = name, type = 6, floats = value } end
  return { name = name, type = 7, ints = value }
end

local function node_message(node, i)
  local attributes, names = {}, {}
  for name in pairs(node.attributes) do names[#names + 1] = name end
  table.sort(names)
  for j, name in ipairs(names) do attributes[j] = attribute(name, node.attributes[name]) end
  local path = node.where and node.where:match '^(.-) %('
  return { input = node.input, output = node.output, op_type = node.op_type, attribute = attributes,
    name = ('%s%s_%d'):format(path and path ~= 'the module' and path:gsub('%.', '/') .. '/' or '', node.op_type, i) }
end

local function model_message(graph, recording, outputs, opset)
  local message = { node = {}, initializer = {}, input = {}, output = {}, name = 'main' }
  local nodes, initializers = needed(graph, outputs)
  for i, node in ipairs(nodes) do message.node[i] = node_message(node, i) end
  for i, entry in ipairs(initializers) do
    message.initializer[i] = { name = entry.name, dims = entry.tensor.shape, data_type = tensors.code(entry.tensor.dtype), raw_data = entry.tensor }
  end
  local function symbolic(size)
    for _, one in ipairs(graph.sizes) do
      local same = true
      for k, value in ipairs(one.values) do same = same and value == size.values[k] end
      if same then return one.name end
    end
    return graph:fresh 'size'
  end
  for i, input in ipairs(recording.inputs) do message.input[i] = value_info(input.name, input.dtype, graph:shape(input), symbolic) end
  for i, output in ipairs(recording.outputs) do message.output[i] = value_info(outputs[i], output.dtype, graph:shape(output), symbolic) end
  return { ir_version = versions.format_of(opset), producer_name = 'ltensor', graph = message, opset_import = { { domain = '', version = opset } } }
end

-- ---- the call -----------------------------------------------------------------------------------

return function(module, args, path, options)
  local opset = options.opset_version or DEFAULT
  if opset < OLDEST or opset > NEWEST then fail('torch.onnx.export: opset_version %d; ltensor writes %d to %d', opset, OLDEST, NEWEST) end
  if torch.is_tensor(args) then args = { args } end
  kinds.check('torch.onnx.export', 'args', args, 'table')
  local given = record.flatten(args, {})
  local names = check_names('input_names', options.input_names, #given)
  local all = {}
  for i, tensor in ipairs(given) do
    all[i] = names[i] or ('input_%d'):format(i)
    if not tensors.code(tensor.dtype) then fail("torch.onnx.export: input '%s' has elements of %s, which ONNX does not have", all[i], tostring(tensor.dtype)) end
  end
  local axes, output_names = options.dynamic_axes or options.dynamic_shapes, options.output_names or {}
  local training = {}
  for _, child in ipairs(module:modules()) do training[child] = child.training end
  module:eval()
  local _ <close> = setmetatable({}, { __close = function()
    for child, mode in pairs(training) do child.training = mode end
  end })
  local function sizes_of(inputs) return dynamic_sizes(axes, inputs, output_names) end
  local function call(tensors_of) return record.record(module, tensors_of and replaced(args, tensors_of, { 0 }) or args, all, FORM) end
  local recordings, sizes = recordings_of(call, sizes_of, FORM.caller)
  check_names('output_names', options.output_names, #recordings[1].outputs)
  local graph = graphs.new(recordings, sizes, opset)
  for _, input in ipairs(recordings[1].inputs) do
    graph.names[input.name], graph.dtypes[input.name], input.name_in_file = true, input.dtype, input.name
  end
  for i = 1, #recordings[1].calls do write_call(graph, recordings, i) end
  local outputs = name_outputs(graph, recordings[1].outputs, output_names)
  file.write(messages.Model, model_message(graph, recordings[1], outputs, opset), path)
end
