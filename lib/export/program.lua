-- program.lua - the nn.Module of a .pt2 file: its archive, tensors and nodes, in the form that
-- onnx/run.lua executes.
--
-- models/<name>.json in the archive is the program, a list of nodes that name operators of PyTorch
-- as targets.

local torch = require 'torch'
local archives = require 'torch.export.archive'
local class = require 'torch.support.class'
local control = require 'torch.export.control'
local declared = require 'torch.export.declared'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local nn = require 'torch.nn'
local operators = require 'torch.export.operators'
local parts = require 'torch.support.module_tree'
local run = require 'torch.onnx.run'
local zip = require 'torch.files.zip'

local dtypes, Null, json_of, field, present, read_tensors =
  archives.dtypes, archives.Null, archives.json_of, archives.field, archives.present, archives.read_tensors

local M = {}

local Part = nn.Module:extend 'ProgramPart'
local Program = nn.Module:extend 'ExportedProgram'

-- ---- arguments ----------------------------------------------------------------------------------

local Builder = {}
Builder.__index = Builder

function Builder:slot(name)
  if type(name) ~= 'string' then self.archive:fail 'its program is damaged: a value without a name' end
  if not self.slots[name] then
    self.size = self.size + 1
    self.slots[name] = self.size
  end
  return self.slots[name]
end

-- Adds the value of this name to the node's inputs; returns a function that selects it from the
-- values of the inputs.
function Builder:read(node, name)
  if not self.slots[name] then self.archive:fail("%s: its input '%s' is made by no node before it", node.where, tostring(name)) end
  node.inputs[#node.inputs + 1] = self.slots[name]
  local at = #node.inputs
  return function(...) return (select(at, ...)) end
end

local function constant(value) return function() return value end end

-- A list of functions as a function of a list.
local function all_of(list, n)
  return function(...)
    local result = {}
    for i = 1, n do
      if list[i] then result[i] = list[i](...) end
    end
    return result
  end
end

-- A size: a number, or the name of a symbolic size.
function Builder:size_of(node, x)
  if type(x) == 'number' then return constant(x) end
  if type(x) ~= 'table' then self.archive:fail('%s: a size that is no number', node.where) end
  if x.as_int then return constant(x.as_int) end
  return self:read(node, x.as_name)
end

function Builder:list_of(node, list, each)
  local values, n = {}, 0
  for i, x in ipairs(list) do values[i], n = each(x), i end
  return all_of(values, n)
end

-- JSON has no numbers for these.
local no_numbers = { Infinity = math.huge, ['-Infinity'] = -math.huge, NaN = 0 / 0 }
local function float_of(x) return no_numbers[x] or x end

local readers = {
  as_none = function() return 'none', constant(nil) end,
  as_tensor = function(self, node, x) return 'tensor', self:read(node, x.name) end,
  as_tensors = function(self, node, x) return 'tensors', self:list_of(node, x, function(t) return self:read(node, t.name) end) end,
  as_optional_tensor = function(self, node, x)
    if not x.as_tensor then return 'none', constant(nil) end
    return 'tensor', self:read(node, x.as_tensor.name)
  end,
  as_optional_tensors = function(self, node, x)
    return 'tensors', self:list_of(node, x, function(t) return t.as_tensor and self:read(node, t.as_tensor.name) or false end)
  end,
  as_int = function(_, _, x) return 'integer', constant(x) end, as_float = function(_, _, x) return 'float', constant(float_of(x)) end,
  as_bool = function(_, _, x) return 'bool', constant(x) end, as_string = function(_, _, x) return 'string', constant(x) end,
  as_ints = function(_, _, x) return 'list', constant(x) end, as_floats = function(_, _, x) return 'list', constant(x) end,
  as_sym_int = function(self, node, x) return 'integer', self:size_of(node, x) end,
  as_sym_float = function(self, node, x) return 'float', x.as_float and constant(float_of(x.as_float)) or self:read(node, x.as_name) end,
  as_sym_ints = function(self, node, x) return 'list', self:list_of(node, x, function(size) return self:size_of(node, size) end) end,
  as_scalar_type = function(self, node, x)
    if not dtypes[x] then self.archive:fail('%s: elements of type %s, which ltensor does not have', node.where, tostring(x)) end
    return 'dtype', constant(dtypes[x])
  end,
  as_sym_bool = function(self, node, x)
    if x.as_bool ~= nil and x.as_bool ~= Null then return 'bool', constant(x.as_bool) end
    return 'bool', self:read(node, x.as_name)
  end,
  as_graph = function(self, node, x) return 'graph', constant(self:body(field(self.archive, x, 'graph', 'table'), node.where)) end,
  as_memory_format = function() return 'none', constant(nil) end, as_layout = function() return 'none', constant(nil) end,
  as_device = function() return 'none', constant(nil) end, -- a program runs on the device of its inputs
}

function Builder:argument(node, input)
  local name, given = field(self.archive, input, 'name', 'string'), field(self.archive, input, 'arg', 'table')
  for key, reader in pairs(readers) do
    local value = given[key]
    if value ~= nil and value ~= Null then
      if type(value) ~= 'table' and (key:find 'tensor' or key:find 's$' and key ~= 'as_bools') then
        self.archive:fail("%s: a damaged argument '%s'", node.where, name)
      end
      local kind, read = reader(self, node, value)
      return { name = name, kind = kind, value = read }
    end
  end
  self.archive:fail("%s: its argument '%s' is a %s, which ltensor does not support", node.where, name, tostring(next(given)))
end

-- ---- nodes --------------------------------------------------------------------------------------

-- An operator defined here, with named arguments.
local function by_name(fn, arguments)
  return function(_, ...)
    local given = {}
    for _, argument in ipairs(arguments) do given[argument.name] = argument.value(...) end
    return fn(given)
  end
end

local function numbers(fn, arguments)
  return function(_, ...)
    local a, b = arguments[1], arguments[2]
    return fn(a.value(...), b and b.value(...))
  end
end

function Builder:outputs(node, outputs)
  local function add(name) node.outputs[#node.outputs + 1] = self:slot(name) end
  for _, output in ipairs(outputs) do
    local one = present(output.as_tensor) or present(output.as_sym_int) or present(output.as_sym_float) or present(output.as_sym_bool)
    if one then add(one.name or one.as_name)
    elseif present(output.as_tensors) then
      node.spreads = true
      for _, tensor in ipairs(output.as_tensors) do add(tensor.name) end
    elseif not present(output.as_none) then
      self.archive:fail('%s: a result that is neither a tensor nor a number', node.where)
    end
  end
end

-- A node that takes graphs as arguments.
local function control_call(fn, arguments)
  return function(_, frame, ...)
    local given = {}
    for i, argument in ipairs(arguments) do given[i] = argument.value(...) end
    return fn(frame, table.unpack(given, 1, #arguments))
  end
end

function Builder:add(proto)
  local target = field(self.archive, proto, 'target', 'string')
  local node = { op = target, where = ("node '%s' (%s)"):format(tostring(proto.name), target), inputs = {}, outputs = {}, attributes = {} }
  local op = target:match '^torch%.ops%.aten%.([%w_]+)%.[%w_]+$'
  local number, control_name = target:match '^_operator%.(%w+)$', target:match '^torch%.ops%.higher_order%.([%w_]+)$'
  local control_op = control.operators[control_name]
  if not op and not number and not control_op then self.archive:fail('%s: an operator that ltensor does not have', node.where) end
  if op and operators.none[op] then return end
  local arguments = {}
  for i, input in ipairs(field(self.archive, proto, 'inputs', 'table')) do arguments[i] = self:argument(node, input) end
  local call, reason
  if control_op then
    reason = control.problem(control_name, arguments)
    call, node.takes_frame = not reason and control_call(control_op, arguments), true
  elseif number then
    call = operators.numbers[number] and numbers(operators.numbers[number], arguments)
  elseif operators.named[op] then
    call = by_name(operators.named[op], arguments)
  else
    call, reason = declared.call(op, arguments)
    local plain = call
    call = plain and function(_, ...) return plain(...) end
  end
  if not call then self.archive:fail('%s: %s', node.where, reason or 'an operator that ltensor does not have') end
  self:outputs(node, field(self.archive, proto, 'outputs', 'table'))
  node.fn = node.spreads and not control_op and function(...) return table.unpack(call(...)) end or call
  -- A node that only writes to its input has no output; an unused slot keeps the form of a node.
  if #node.outputs == 0 then node.outputs[1] = 0 end
  self.nodes[#self.nodes + 1] = node
end

-- Where each value is read last.
local function mark_done(graph, keeps)
  local seen = {}
  for i = #graph.nodes, 1, -1 do
    local node = graph.nodes[i]
    node.done, node.own_done = {}, {}
    for _, list in ipairs { node.inputs, node.outputs } do
      for _, slot in ipairs(list) do
        if slot ~= 0 and not seen[slot] and not keeps[slot] then node.done[#node.done + 1] = slot end
        seen[slot] = true
      end
    end
  end
end

-- A graph inside of a node. How deep they are nested is bounded by the reader of JSON.
function Builder:body(proto, where)
  local inner = setmetatable({ archive = self.archive, slots = {}, size = 0, nodes = {}, constants = {} }, Builder)
  local graph, keeps = { nodes = inner.nodes, constants = {}, captures = {}, inputs = {}, outputs = {} }, {}
  local function name_of(value)
    local one = present(value.as_tensor) or present(value.as_sym_int) or present(value.as_sym_float) or present(value.as_sym_bool)
    return one and (one.name or one.as_name) or self.archive:fail('%s: a graph of values that are neither tensors nor numbers', where)
  end
  for i, input in ipairs(field(self.archive, proto, 'inputs', 'table')) do graph.inputs[i] = { slot = inner:slot(name_of(input)) } end
  for _, node in ipairs(field(self.archive, proto, 'nodes', 'table')) do inner:add(node) end
  for i, output in ipairs(field(self.archive, proto, 'outputs', 'table')) do
    local name = name_of(output)
    local slot = inner.slots[name] or self.archive:fail("%s: its result '%s' is made by no node", where, tostring(name))
    graph.outputs[i], keeps[slot] = { slot = slot }, true
  end
  mark_done(graph, keeps)
  return graph
end

-- ---- the module ---------------------------------------------------------------------------------

-- Sets the dtype and the sizes (-1: any) that the program declares for an input or output.
local function describe(value, declared)
  local meta = type(declared) == 'table' and declared[value.name]
  if type(meta) ~= 'table' or type(meta.sizes) ~= 'table' then return value end
  value.dtype, value.sizes = archives.dtypes[meta.dtype], {}
  for i, size in ipairs(meta.sizes) do value.sizes[i] = type(size) == 'table' and math.tointeger(size.as_int) or -1 end
  return value
end

local function signature_of(self, model, signature, tensors)
  local fields = class.fields(model)
  local function keep(name, value, is_parameter, persistent, slot)
    if not value then self.archive:fail("no tensor '%s'", name) end
    local at, key = parts.place(model, Part, name)
    if is_parameter then at:register_parameter(key, nn.Parameter(value, { requires_grad = value.dtype.is_floating_point or value.dtype.is_complex }))
    else at:register_buffer(key, value, persistent) end
    self.constants[#self.constants + 1] = { name = name, slot = slot, fields = class.fields(at), key = key }
  end
  for _, spec in ipairs(field(self.archive, signature, 'input_specs', 'table')) do
    if spec.parameter then
      local name = field(self.archive, spec.parameter, 'parameter_name', 'string')
      keep(name, tensors[name], true, nil, self:slot(field(self.archive, spec.parameter, 'arg', 'table').name))
    elseif spec.buffer then
      local name = field(self.archive, spec.buffer, 'buffer_name', 'string')
      keep(name, tensors[name], false, spec.buffer.persistent ~= false, self:slot(field(self.archive, spec.buffer, 'arg', 'table').name))
    elseif spec.tensor_constant then
      local name = field(self.archive, spec.tensor_constant, 'tensor_constant_name', 'string')
      keep(name, tensors[name], false, false, self:slot(field(self.archive, spec.tensor_constant, 'arg', 'table').name))
    elseif spec.user_input then
      local argument = field(self.archive, spec.user_input, 'arg', 'table').as_tensor
      if not argument or argument == Null then self.archive:fail 'an input that is no tensor: export the program with tensors alone' end
      table.insert(fields.inputs, { name = argument.name, slot = self:slot(argument.name) })
    elseif not spec.constant_input then
      self.archive:fail('an input of the kind %s, which ltensor does not support', tostring(next(spec)))
    end
  end
  for _, spec in ipairs(field(self.archive, signature, 'output_specs', 'table')) do
    local argument = spec.user_output and field(self.archive, spec.user_output, 'arg', 'table')
    if spec.buffer_mutation then
      local name = field(self.archive, spec.buffer_mutation, 'buffer_name', 'string')
      table.insert(fields.changes, { name = name, made = field(self.archive, spec.buffer_mutation, 'arg', 'table').name })
    elseif not argument then
      self.archive:fail('a result of the kind %s, which ltensor does not support', tostring(next(spec)))
    elseif present(argument.as_tensor) then
      table.insert(fields.outputs, { name = argument.as_tensor.name })
    elseif not present(argument.as_none) then
      self.archive:fail 'a result that is no tensor'
    end
  end
end

local function frame_of(model, ...)
  local frame, n, first = {}, select('#', ...), ...
  local named = n == 1 and kinds.is_named(first) and next(first) ~= nil and first
  if not named and n ~= #model.inputs then fail('the program expects %d inputs, but got %d', #model.inputs, n) end
  local known = {}
  for i, input in ipairs(model.inputs) do
    local value
    if named then value = named[input.name] else value = (select(i, ...)) end
    if not torch.is_tensor(value) then fail("the program's input '%s' must be a Tensor, not %s", input.name, kinds.described(value)) end
    frame[input.slot], known[input.name] = value, true
  end
  for name in pairs(named or {}) do
    if not known[name] then fail("the program has no input '%s'", name) end
  end
  for _, value in ipairs(model._graph.constants) do frame[value.slot] = value.fields[value.key] end
  return frame
end

local function results(frame, outputs, i)
  if i > #outputs then return end
  return frame[outputs[i].slot], results(frame, outputs, i + 1)
end

-- The program's results, in their order.
function Program:forward(...)
  local frame, at = frame_of(self, ...), {}
  local ok, message = pcall(run.nodes, self._graph, frame, at)
  if not ok then
    if type(message) ~= 'string' or not at.node then error(message, 0) end
    fail('%s: %s', at.node.where, (message:gsub('^%[?[^%s:]*%]?:%d+: ', '')))
  end
  for _, change in ipairs(self.changes) do
    torch.no_grad(function() change.fields[change.key]:copy_(frame[change.slot]) end)
  end
  return results(frame, self.outputs, 1)
end

function Program:extra_repr()
  local names = {}
  for i, input in ipairs(self.inputs) do names[i] = input.name end
  return ('inputs=(%s), nodes=%d'):format(table.concat(names, ', '), #self._graph.nodes)
end

local function read_program(archive)
  local entry, root, name
  for _, candidate in ipairs(archive.entries) do
    local before, found = candidate.name:match '^(.-)models/([^/]*)%.json$'
    if before and not entry then entry, root, name = candidate, before, found end
  end
  if not entry then archive:fail 'no archive of torch.export as PyTorch 2.8 and later write it: it has no models/NAME.json. torch.export.save of a newer PyTorch writes one' end
  local order = archive.by_name[root .. 'byteorder']
  if order and archive:text(order, 100) ~= 'little' then archive:fail 'tensors in another order of bytes than little' end
  local program = json_of(archive, entry)
  local tensors = read_tensors(archive, root, name, 'weights')
  for key, value in pairs(read_tensors(archive, root, name, 'constants')) do tensors[key] = value end
  local module = field(archive, program, 'graph_module', 'table')
  local self = setmetatable({ archive = archive, slots = {}, size = 0, nodes = {}, constants = {} }, Builder)
  local model = Program()
  local fields = class.fields(model)
  fields.inputs, fields.outputs, fields.changes = {}, {}, {}
  signature_of(self, model, field(archive, module, 'signature', 'table'), tensors)
  local graph = field(archive, module, 'graph', 'table')
  for _, list in ipairs { fields.inputs, fields.outputs } do
    for _, value in ipairs(list) do describe(value, graph.tensor_values) end
  end
  for _, proto in ipairs(field(archive, graph, 'nodes', 'table')) do self:add(proto) end
  fields._graph = { nodes = self.nodes, constants = self.constants, size = self.size }
  local keeps = {}
  for _, list in ipairs { fields.outputs, fields.changes } do
    for _, value in ipairs(list) do
      value.slot = self.slots[value.made or value.name] or archive:fail("its result '%s' is made by no node", tostring(value.name))
      keeps[value.slot] = true
    end
  end
  for _, value in ipairs(self.constants) do keeps[value.slot] = true end
  for _, change in ipairs(fields.changes) do
    for _, value in ipairs(self.constants) do
      if value.name == change.name then change.fields, change.key = value.fields, value.key end
    end
  end
  mark_done(fields._graph, keeps)
  return model:eval()
end

--- As torch.export.load. given: tensors by name, for the ones without an entry.
function M.load(path, max_memory, _, given)
  local archive <close> = zip.open(path)
  archive.tensors = given
  return torch._C.within_budget(archive.size, max_memory, read_program, archive)
end

return M
