-- program.lua - torch.export.export: records a call of a module (onnx/export/record.lua), writes its
-- operations as nodes (operators.lua) of a graph (graph.lua), and loads the program that PyTorch's
-- schema 8.20 describes.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local graphs = require 'torch.export.write.graph'
local json = require 'torch.files.json_text'
local operators = require 'torch.export.write.operators'
local programs = require 'torch.export.program'
local record = require 'torch.onnx.export.record'
local recordings_of = require 'torch.onnx.export.recordings'
local tree = require 'torch.export.write.tree'

local CALLER = 'torch.export.export'
local SCHEMA = { major = 8, minor = 20 } -- fixed: the form of programs of PyTorch 2.13
local OPSET, PYTORCH = 10, '2.13.0' -- fixed: the ones that PyTorch 2.13 writes

-- ---- inputs -------------------------------------------------------------------------------------

-- The names of the arguments of forward, as far as it names them.
local function argument_names(module, n)
  local names, forward = {}, module.forward
  for i = 1, n do names[i] = debug.getlocal(forward, i + 1) or n == 1 and 'x' or ('args_%d'):format(i - 1) end
  return names
end

-- The name of a leaf: the keys of its path; positions count from 0, as in PyTorch.
local function leaf_name(path)
  local parts = {}
  for i, key in ipairs(path) do parts[i] = math.type(key) == 'integer' and ('%d'):format(key - 1) or key end
  return table.concat(parts, '_')
end

-- The tensors in a value, in the order of the tree.
local function flatten(x, list)
  local leaves = {}
  tree.value(x, leaves)
  for _, leaf in ipairs(leaves) do
    if torch.is_tensor(leaf.value) then list[#list + 1] = leaf.value end
  end
  return list
end

-- The arguments of a call (given_names: of args): { args = packed list, kwargs =, leaves =, spec =, names = of arguments }.
local function call_of(module, args, kwargs, given_names)
  if torch.is_tensor(args) then args = { args } end
  args = table.move(args, 1, args.n or #args, 1, { n = args.n or #args })
  local names, leaves = given_names or argument_names(module, args.n), {}
  local spec = tree.spec('builtins.tuple', 'null', { tree.tuple(args, leaves, names), tree.dict(kwargs, leaves) })
  local all = table.move(names, 1, args.n, 1, {})
  local by_name = {}
  for name in pairs(kwargs) do by_name[#by_name + 1] = name end
  table.sort(by_name)
  table.move(by_name, 1, #by_name, #all + 1, all)
  if next(kwargs) then
    args.n = args.n + 1
    args[args.n] = kwargs
  end
  return { args = args, leaves = leaves, spec = spec, names = all }
end

-- The dynamic sizes: { { name =, position = of a tensor, axis = } ... }.
local function dynamic_sizes(shapes, inputs)
  local sizes, known = {}, {}
  for i, input in ipairs(inputs) do
    known[input.name] = true
    local dims = {}
    for dim, given in pairs(shapes[input.name] or {}) do
      if type(given) == 'string' then dims[dim] = given else dims[given] = ('%s_%s'):format(input.name, tostring(given)) end
    end
    for dim = 1, input.tensor.ndim do
      if dims[dim] then sizes[#sizes + 1], dims[dim] = { name = dims[dim], position = i, axis = dim }, nil end
    end
    local dim = next(dims)
    if dim then fail("%s: dynamic_shapes: dim %s of input '%s', which has %d (they count from 1)", CALLER, tostring(dim), input.name, input.tensor.ndim) end
  end
  for name in pairs(shapes) do
    if not known[name] then
      local names = {}
      for i, input in ipairs(inputs) do names[i] = input.name end
      fail("%s: dynamic_shapes names '%s', which is no input; the inputs are %s", CALLER, tostring(name), table.concat(names, ', '))
    end
  end
  return sizes
end

-- ---- recording ----------------------------------------------------------------------------------

-- Restores parameters, buffers and the state of random numbers, which a call may change.
local function keeping_state(module)
  local saved, random = {}, torch.get_rng_state()
  for _, list in ipairs { module:parameters(), module:buffers() } do
    for _, tensor in ipairs(list) do table.insert(saved, { tensor = tensor, before = tensor:detach():clone(), version = torch._C.version_of(tensor) }) end
  end
  return setmetatable({}, { __close = function()
    torch.set_rng_state(random)
    torch.no_grad(function()
      for _, entry in ipairs(saved) do
        if torch._C.version_of(entry.tensor) ~= entry.version then entry.tensor:copy_(entry.before) end
      end
    end)
  end })
end

-- A copy of an input, which may be changed in place.
local function copied(tensor)
  local copy = tensor:detach():clone()
  return tensor.requires_grad and copy:requires_grad_():clone() or copy
end

local function record_call(module, call, names, shapes)
  local form = { caller = CALLER, in_place = true, flatten = flatten }
  local function recorded(tensors)
    local copies = {}
    if not tensors then
      tensors = {}
      for i = 1, call.args.n do flatten(call.args[i], tensors) end
    end
    for i, tensor in ipairs(tensors) do copies[i] = copied(tensor) end
    local args, at = { n = call.args.n }, { 0 }
    for i = 1, args.n do args[i] = tree.replaced(call.args[i], copies, at) end
    local _ <close> = keeping_state(module)
    return record.record(module, args, names, form)
  end
  return recordings_of(recorded, function(inputs) return dynamic_sizes(shapes, inputs) end, CALLER)
end

-- ---- the program --------------------------------------------------------------------------------

local constant_kinds = { integer = 'as_int', float = 'as_float', boolean = 'as_bool', string = 'as_string', ['nil'] = 'as_none' }
local function constant(value)
  local kind = constant_kinds[math.type(value) or type(value)]
  return { [kind] = value == nil and true or value }
end

-- Names parameters and buffers. Returns their specs, and the tensors by name.
local function add_state(graph, module, recording)
  local specs, tensors, persistent = {}, {}, module:state_dict()
  for _, value in ipairs(recording.values) do
    if value.kind == 'parameter' then
      value.name_in_graph = graph:define(value, 'p_' .. value.name)
      table.insert(specs, { parameter = { arg = { name = value.name_in_graph }, parameter_name = value.name } })
      tensors[value.name] = value.tensor
    elseif value.kind == 'buffer' then
      value.name_in_graph = graph:define(value, 'b_' .. value.name)
      table.insert(specs, { buffer = { arg = { name = value.name_in_graph }, buffer_name = value.name, persistent = persistent[value.name] ~= nil } })
      tensors[value.name] = value.tensor
    end
  end
  return specs, tensors
end

-- Names the inputs and returns their specs.
local function add_inputs(graph, call, recording)
  local specs, at = {}, 0
  for _, leaf in ipairs(call.leaves) do
    if torch.is_tensor(leaf.value) then
      at = at + 1
      local value = recording.inputs[at]
      value.name_in_graph = graph:define(value, value.name)
      table.insert(specs, { user_input = { arg = { as_tensor = { name = value.name_in_graph } } } })
    else
      table.insert(specs, { constant_input = { name = graph:fresh(leaf_name(leaf.path)), value = constant(leaf.value) } })
    end
  end
  return specs
end

-- The results as arguments, and their tree.
local function outputs_of(graph, recording)
  local leaves, outputs, at = {}, {}, 0
  local is_one = recording.results.n == 1
  local spec = is_one and tree.value(recording.results[1], leaves) or tree.tuple(recording.results, leaves)
  graph.call = { op = 'a result', where = 'the module' }
  for i, leaf in ipairs(leaves) do
    if torch.is_tensor(leaf.value) then
      at = at + 1
      outputs[i] = { as_tensor = { name = graph:name(recording.outputs[at]) } }
    else
      outputs[i] = constant(leaf.value)
    end
  end
  return outputs, spec
end

-- Operators that write to their arguments, although their names do not end in '_'.
local writes = { ['torch.ops.aten.batch_norm.default'] = true, ['torch.ops.aten.instance_norm.default'] = true }

local function add_names(x, names)
  for key, value in pairs(x) do
    if type(value) == 'table' then add_names(value, names)
    elseif key == 'name' or key == 'as_name' then names[value] = true end
  end
end

-- The nodes that results or writes need.
local function needed(nodes, outputs)
  local used, kept = {}, {}
  add_names(outputs, used)
  for i = #nodes, 1, -1 do
    local node, names = nodes[i], {}
    add_names(node.outputs, names)
    local is_needed = node.target:find '_%.%w+$' ~= nil or writes[node.target]
    for name in pairs(names) do is_needed = is_needed or used[name] end
    if is_needed then
      for _, input in ipairs(node.inputs) do add_names(input.arg, used) end
      kept[#kept + 1] = node
    end
  end
  local list = json.list {}
  for i = #kept, 1, -1 do list[#list + 1] = kept[i] end
  return list
end

local function ranges_of(sizes)
  local ranges = {}
  for _, size in ipairs(sizes) do ranges[size.symbol] = { min_val = 1, max_val = json.null } end
  return ranges
end

-- The inputs of the graph: the arguments of the specs.
local function graph_inputs(specs)
  local inputs = json.list {}
  for i, spec in ipairs(specs) do
    local _, entry = next(spec)
    local arg = entry.arg or entry.value
    inputs[i] = arg.name and { as_tensor = arg } or arg
  end
  return inputs
end

local function program_of(graph, specs, outputs, call, out_spec)
  local output_specs = json.list {}
  for i, output in ipairs(outputs) do output_specs[i] = { user_output = { arg = output } } end
  local entry = { fqn = '', signature = { inputs = json.list {}, outputs = json.list {}, in_spec = tree.text(call.spec), out_spec = tree.text(out_spec),
    forward_arg_names = json.list(call.names) } }
  return { graph_module = {
    graph = { inputs = graph_inputs(specs), outputs = json.list(outputs), nodes = needed(graph.nodes, outputs), tensor_values = graph.values, sym_int_values = graph.sym_ints,
      sym_bool_values = {}, sym_float_values = {}, custom_obj_values = {}, is_single_tensor_return = false },
    signature = { input_specs = json.list(specs), output_specs = output_specs }, module_call_graph = json.list { entry }, metadata = {}, treespec_namedtuple_fields = {} },
    opset_version = { aten = OPSET }, range_constraints = ranges_of(graph.sizes), schema_version = SCHEMA, verifiers = json.list { 'TRAINING' }, torch_version = PYTORCH,
    guards_code = json.list {} }
end

--- As torch.export.export. given_names: of the inputs, by default the ones of forward.
return function(module, args, kwargs, options, given_names)
  local call, names = call_of(module, args, kwargs or {}, given_names), {}
  for _, leaf in ipairs(call.leaves) do
    if torch.is_tensor(leaf.value) then names[#names + 1] = leaf_name(leaf.path) end
  end
  local recordings, sizes = record_call(module, call, names, options.dynamic_shapes or {})
  for i, size in ipairs(sizes) do size.symbol = ('s%d'):format(i - 1) end
  local graph, first = graphs.new(recordings, sizes), recordings[1]
  graph.call = { op = 'an input', where = 'the module' }
  local specs, tensors = add_state(graph, module, first)
  local inputs = add_inputs(graph, call, first)
  for i = 1, #first.calls do operators.write(graph, i) end
  local outputs, out_spec = outputs_of(graph, first)
  for _, one in ipairs(graph.constants) do
    table.insert(specs, { tensor_constant = { arg = { name = one.name }, tensor_constant_name = one.target } })
    tensors[one.target] = one.tensor
  end
  table.move(inputs, 1, #inputs, #specs + 1, specs)
  return programs.build(json.encode(program_of(graph, specs, outputs, call, out_spec)), tensors)
end
