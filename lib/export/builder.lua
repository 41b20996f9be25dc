-- builder.lua - the nodes of a program of torch.export, in the form that onnx/run.lua executes: slots
-- of values, functions that read arguments, graphs in nodes.

local archives = require 'torch.export.archive'
local control = require 'torch.export.control'
local custom = require 'torch.export.custom'
local effects = require 'torch.export.effects'
local kinds = require 'torch.export.kinds'
local operators = require 'torch.export.operators'
local optimize = require 'torch.onnx.optimize'
local resolve = require 'torch.export.resolve'
local torch = require 'torch'

local dtypes, Null, field, present = archives.dtypes, archives.Null, archives.field, archives.present

-- ---- arguments ----------------------------------------------------------------------------------

local Builder = {}
Builder.__index = Builder

-- Adds the names in arguments to a set; graphs in arguments have their own names.
local function add_names(x, names)
  for key, value in pairs(x) do
    if type(value) == 'table' then
      if key ~= 'as_graph' then add_names(value, names) end
    elseif key == 'name' or key == 'as_name' then
      names[value] = true
    end
  end
end

--- A builder of one graph, from its JSON and the JSON of its results. outer: the builder of the graph
-- around it.
function Builder.new(archive, graph, results, outer)
  local used = {}
  for _, node in ipairs(field(archive, graph, 'nodes', 'table')) do add_names(field(archive, node, 'inputs', 'table'), used) end
  add_names(results, used)
  return setmetatable({ archive = archive, slots = {}, size = 0, nodes = {}, constants = {}, used = used, missing = outer and outer.missing or {} }, Builder)
end

function Builder:slot(name)
  if type(name) ~= 'string' then self.archive:fail 'its program is damaged: a value without a name' end
  if not self.slots[name] then
    self.size = self.size + 1
    self.slots[name] = self.size
  end
  return self.slots[name]
end

-- Adds the value of this name to the node's inputs; returns a function that selects it from the
-- values of the inputs. A reader returns such a function, and true if its result is constant.
function Builder:read(node, name)
  if not self.slots[name] then self.archive:fail("%s: its input '%s' is made by no node before it", node.where, tostring(name)) end
  node.inputs[#node.inputs + 1] = self.slots[name]
  local at = #node.inputs
  return function(...) return (select(at, ...)) end
end

local function constant(value) return function() return value end, true end

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
  local values, n, all_constant = {}, 0, true
  for i, x in ipairs(list) do
    local value, is_constant = each(x)
    values[i], n, all_constant = value, i, all_constant and is_constant
  end
  local read = all_of(values, n)
  if all_constant then return constant(read()) end
  return read
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
  as_ints = function(_, _, x) return 'list', constant(x) end,
  as_floats = function(_, _, x)
    local list = {}
    for i, value in ipairs(x) do list[i] = float_of(value) end
    return 'list', constant(list)
  end,
  as_bools = function(_, _, x) return 'list', constant(x) end, as_strings = function(_, _, x) return 'list', constant(x) end,
  as_sym_floats = function(self, node, x)
    return 'list', self:list_of(node, x, function(value) return value.as_float and constant(float_of(value.as_float)) or self:read(node, value.as_name) end)
  end,
  as_complex = function(_, _, x) return 'float', constant(torch.complex(float_of(x.real), float_of(x.imag))) end,
  as_sym_int = function(self, node, x) return 'integer', self:size_of(node, x) end,
  as_sym_float = function(self, node, x)
    if x.as_float then return 'float', constant(float_of(x.as_float)) end
    return 'float', self:read(node, x.as_name)
  end,
  as_sym_ints = function(self, node, x) return 'list', self:list_of(node, x, function(size) return self:size_of(node, size) end) end,
  as_scalar_type = function(self, node, x)
    if not dtypes[x] then self.archive:fail('%s: elements of type %s, which ltensor does not have', node.where, tostring(x)) end
    return 'dtype', constant(dtypes[x])
  end,
  as_sym_bool = function(self, node, x)
    if x.as_bool ~= nil and x.as_bool ~= Null then return 'bool', constant(x.as_bool) end
    return 'bool', self:read(node, x.as_name)
  end,
  as_operator = function(_, _, x) return 'operator', constant(x) end,
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
      local kind, read, is_constant = reader(self, node, value)
      return { name = name, kind = kind, value = read, is_constant = is_constant, at = kind == 'tensor' and #node.inputs or nil }
    end
  end
  self.archive:fail("%s: its argument '%s' is a %s, which ltensor does not support", node.where, name, tostring(next(given)))
end

-- ---- nodes --------------------------------------------------------------------------------------

local function numbers(fn, arguments)
  return function(_, ...)
    local a, b, c = arguments[1], arguments[2], arguments[3]
    return fn(a.value(...), b and b.value(...), c and c.value(...))
  end
end

-- The slots of a node's results: 0 for one that the program does not use.
function Builder:outputs(node, outputs)
  local function add(name) node.outputs[#node.outputs + 1] = self.used[name] and self:slot(name) or 0 end
  for _, output in ipairs(outputs) do
    local one = present(output.as_tensor) or present(output.as_sym_int) or present(output.as_sym_float) or present(output.as_sym_bool)
    if one then add(one.name or one.as_name)
    elseif present(output.as_tensors) then
      node.spreads = true
      for _, tensor in ipairs(output.as_tensors) do add(tensor.name) end
    elseif present(output.as_optional_tensors) then
      node.spreads = true
      for _, tensor in ipairs(output.as_optional_tensors) do
        if present(tensor.as_tensor) then add(tensor.as_tensor.name) else node.outputs[#node.outputs + 1] = 0 end
      end
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

-- Reports all operators that are missing.
function Builder:check_missing()
  local first = self.missing[1]
  if not first then return end
  local others, seen = {}, { [first.target] = true }
  for _, entry in ipairs(self.missing) do
    if not seen[entry.target] then others[#others + 1], seen[entry.target] = ("'%s' (%s)"):format(entry.target, entry.reason), true end
  end
  self.archive:fail('%s: %s%s', first.where, first.reason, #others > 0 and '; the program also needs ' .. table.concat(others, ', ') or '')
end

local ATEN = '^torch%.ops%.aten%.([%w_]+)%.[%w_]+$'
local NO_OPERATOR = 'an operator that ltensor does not have'

-- The function of an operator's values, or nil and the reason.
local function operator_call(target, arguments, wants)
  local op = target:match(ATEN)
  if op then return resolve.call(op, arguments, wants) end
  return custom.call(target, arguments)
end

-- The function of a node from its target, or nil and the reason.
function Builder:function_of(node, arguments)
  local target = node.op
  local higher = target:match '^torch%.ops%.higher_order%.([%w_]+)$'
  if control.operators[higher] then
    local problem = control.problem(higher, arguments)
    node.takes_frame = true
    return not problem and control_call(control.operators[higher], arguments), problem
  end
  local number = target:match '^_operator%.(%w+)$' or target:match '^math%.(%w+)$' or target:match '^torch%.sym_(%w+)$'
    or target:match '^torch%._sym_(%w+)$' or target:match '^builtins%.(%w+)$'
  if number then
    node.makes = 'number'
    return operators.numbers[number] and numbers(operators.numbers[number], arguments), NO_OPERATOR
  end
  if not target:find '^torch%.ops%.' then return nil, NO_OPERATOR end
  local wants = {}
  for i, slot in ipairs(node.outputs) do wants[i] = slot ~= 0 end
  local plain, reason
  if effects[higher] then plain, reason = effects[higher](operator_call, arguments, wants)
  else plain, reason = operator_call(target, arguments, wants) end
  return plain and function(_, ...) return plain(...) end, reason or NO_OPERATOR
end

function Builder:add(proto)
  local target = field(self.archive, proto, 'target', 'string')
  local node = { op = target, where = ("node '%s' (%s)"):format(tostring(present(proto.name) or '?'), target), inputs = {}, outputs = {}, attributes = {} }
  if operators.none[target:match(ATEN)] then return end
  local arguments = {}
  for i, input in ipairs(field(self.archive, proto, 'inputs', 'table')) do arguments[i] = self:argument(node, input) end
  self:outputs(node, field(self.archive, proto, 'outputs', 'table'))
  local call, reason = self:function_of(node, arguments)
  if not call then
    self.missing[#self.missing + 1] = { target = target, where = node.where, reason = reason }
    return
  end
  node.fn = node.spreads and not node.takes_frame and function(...)
    local list, second = call(...)
    if torch.is_tensor(list) then return list, second end
    return table.unpack(list, 1, #node.outputs)
  end or call
  -- A node that only writes to its input has no output; an unused slot keeps the form of a node.
  if #node.outputs == 0 then node.outputs[1] = 0 end
  local op = target:match(ATEN)
  if op and not target:find '%.[%w_]*out$' then kinds.describe(node, op, arguments) else node.has_effect = not node.makes or nil end
  self.nodes[#self.nodes + 1] = node
end

-- A graph inside of a node. How deep they are nested is bounded by the reader of JSON.
function Builder:body(proto, where)
  local inner = Builder.new(self.archive, proto, field(self.archive, proto, 'outputs', 'table'), self)
  local graph = { nodes = inner.nodes, constants = {}, captures = {}, inputs = {}, outputs = {}, known = {} }
  local function name_of(value)
    local one = present(value.as_tensor) or present(value.as_sym_int) or present(value.as_sym_float) or present(value.as_sym_bool)
    return one and (one.name or one.as_name) or self.archive:fail('%s: a graph of values that are neither tensors nor numbers', where)
  end
  for i, input in ipairs(field(self.archive, proto, 'inputs', 'table')) do graph.inputs[i] = { slot = inner:slot(name_of(input)) } end
  graph.fixed = inner.size
  for _, node in ipairs(field(self.archive, proto, 'nodes', 'table')) do inner:add(node) end
  for i, output in ipairs(field(self.archive, proto, 'outputs', 'table')) do
    local name = name_of(output)
    local slot = inner.slots[name] or self.archive:fail("%s: its result '%s' is made by no node", where, tostring(name))
    graph.outputs[i] = { slot = slot }
  end
  optimize(graph)
  return graph
end

return Builder
