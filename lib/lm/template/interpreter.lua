-- interpreter.lua - runs the tree of a template (parser.lua). Templates come from files of models and
-- are untrusted: they reach the given values and functions only, change none of them, and their work,
-- output and depth are limited.

local fail = require 'torch.lm.template.fail'
local operations = require 'torch.lm.template.operations'
local values = require 'torch.lm.template.values'

-- fixed: limits. Templates of models take less than 100,000 steps.
local MAX_STEPS = 3000000
local MAX_TEXT = 64 << 20 -- bytes of a text and of the output
local MAX_CALLS = 50      -- of macros in macros
local MAX_RANGE = 100000  -- as in Jinja's sandbox

local kind, text, truth = values.kind, values.text, values.truth

local State = {}
State.__index = State

--- Counts steps.
function State:work(n)
  self.steps = self.steps + n
  if self.steps > MAX_STEPS then fail(self.line, 'more than %d steps', MAX_STEPS) end
end

--- Checks the size of a text that will be made.
function State:size(n)
  if n > MAX_TEXT then fail(self.line, 'a text of more than %d bytes', MAX_TEXT) end
  self:work(1 + n // 64)
end

function State:size_of(result)
  self:size(#result)
  return result
end

-- ---- names --------------------------------------------------------------------------------------

local function lookup(scope, name)
  while scope do
    local value = scope.names[name]
    if value ~= nil then return value end
    scope = scope.parent
  end
  return values.undefined(name)
end

local function inner(scope) return { names = {}, parent = scope } end

-- ---- expressions --------------------------------------------------------------------------------

local evaluators = {}

function State:evaluate(node, scope)
  self.steps, self.line = self.steps + 1, node.line
  if self.steps > MAX_STEPS then fail(self.line, 'more than %d steps', MAX_STEPS) end
  return evaluators[node.kind](self, node, scope)
end

function evaluators.constant(_, node) return node.value end
function evaluators.none() return values.none end
function evaluators.variable(_, node, scope) return lookup(scope, node.name) end

function evaluators.list(self, node, scope)
  local list = {}
  for i, item in ipairs(node.items) do list[i] = self:evaluate(item, scope) end
  return values.list(list, node.tuple)
end

function evaluators.dict(self, node, scope)
  local dict = values.dict()
  for _, item in ipairs(node.items) do
    local key = self:evaluate(item[1], scope)
    if type(key) ~= 'string' and type(key) ~= 'number' then fail(node.line, 'a dict with a key that is a %s, expected a text', kind(key)) end
    values.put(dict, key, self:evaluate(item[2], scope))
  end
  return dict
end

evaluators['and'] = function(self, node, scope)
  local left = self:evaluate(node.left, scope)
  if not truth(left) then return left end
  return self:evaluate(node.right, scope)
end
evaluators['or'] = function(self, node, scope)
  local left = self:evaluate(node.left, scope)
  if truth(left) then return left end
  return self:evaluate(node.right, scope)
end
evaluators['not'] = function(self, node, scope) return not truth(self:evaluate(node.value, scope)) end

function evaluators.choice(self, node, scope)
  if truth(self:evaluate(node.condition, scope)) then return self:evaluate(node.value, scope) end
  return node.other and self:evaluate(node.other, scope) or values.undefined 'an if without else'
end

local comparisons = {
  ['=='] = function(a, b) return values.equal(a, b) end, ['!='] = function(a, b) return not values.equal(a, b) end,
  ['<'] = values.less, ['>'] = function(a, b, line) return values.less(b, a, line) end,
  ['<='] = function(a, b, line) return not values.less(b, a, line) end, ['>='] = function(a, b, line) return not values.less(a, b, line) end,
  ['in'] = function(a, b, line) return values.contains(b, a, line) end, ['not in'] = function(a, b, line) return not values.contains(b, a, line) end,
}

function evaluators.compare(self, node, scope)
  local left = self:evaluate(node.value, scope)
  for _, link in ipairs(node.chain) do
    local right = self:evaluate(link[2], scope)
    self:work((type(right) == 'string' and #right or kind(right) == 'list' and right.n or 0) // 8)
    if not comparisons[link[1]](left, right, node.line) then return false end
    left = right
  end
  return true
end

-- A number of a bounded integer result; Python's integers have no bound.
local function exact(self, result, estimate)
  if math.type(result) == 'integer' and math.abs(estimate) >= 2 ^ 63 then fail(self.line, 'an integer beyond 64 bits') end
  return result
end

local arithmetic = {
  ['+'] = function(self, a, b) return exact(self, a + b, a + 0.0 + b) end,
  ['-'] = function(self, a, b) return exact(self, a - b, a + 0.0 - b) end,
  ['*'] = function(self, a, b) return exact(self, a * b, (a + 0.0) * b) end,
  ['/'] = function(_, a, b) return a / b end, ['//'] = function(_, a, b) return a // b end, ['%'] = function(_, a, b) return a % b end,
  ['**'] = function(self, a, b)
    if math.type(a) ~= 'integer' or math.type(b) ~= 'integer' or b < 0 then return (a + 0.0) ^ b end
    if (a + 0.0) ^ b >= 2 ^ 53 or (a + 0.0) ^ b <= -2 ^ 53 then fail(self.line, 'a power beyond 53 bits') end
    return math.tointeger((a + 0.0) ^ b)
  end,
}

local function joined(a, b)
  local list = { n = a.n + b.n, tuple = a.tuple }
  table.move(a, 1, a.n, 1, list)
  table.move(b, 1, b.n, a.n + 1, list)
  return values.list(list, a.tuple)
end

function evaluators.binary(self, node, scope)
  local a, b, operator = self:evaluate(node.left, scope), self:evaluate(node.right, scope), node.operator
  self.line = node.line
  if operator == '~' then
    a, b = text(a), text(b)
    self:size(#a + #b)
    return a .. b
  end
  if type(a) == 'number' and type(b) == 'number' then
    if b == 0 and (operator == '/' or operator == '//' or operator == '%') then fail(node.line, 'a division by 0') end
    return arithmetic[operator](self, a, b)
  end
  if operator == '+' and type(a) == 'string' and type(b) == 'string' then
    self:size(#a + #b)
    return a .. b
  end
  if operator == '+' and kind(a) == 'list' and kind(b) == 'list' and not a.tuple == not b.tuple then
    self:work(a.n + b.n)
    return joined(a, b)
  end
  if operator == '*' and type(a) == 'string' and math.type(b) == 'integer' then
    self:size(math.min(math.max(b, 0), MAX_TEXT + 1) * math.max(#a, 1))
    return a:rep(b)
  end
  local function name(value) return kind(value) == 'undefined' and ("'%s', which is not set"):format(value.name) or 'a ' .. kind(value) end
  fail(node.line, '%s %s %s, which ltensor does not support', name(a), operator, name(b))
end

function evaluators.negative(self, node, scope)
  local value = self:evaluate(node.value, scope)
  if type(value) ~= 'number' then fail(node.line, '- of a %s, expected a number', kind(value)) end
  return -value
end

-- ---- fields, items and calls --------------------------------------------------------------------

-- The method of a value as a function, or nil.
local function method_of(value, name)
  local methods = operations.methods[kind(value)]
  local method = methods and methods[name]
  if not method then return nil end
  return { kind = 'function', name = name, call = function(state, list, named)
    if #named > 0 then fail(state.line, '%s() with names of arguments, which ltensor does not support', name) end
    return method(state, value, table.unpack(list, 1, list.n))
  end }
end

-- The item of a list, text or dict, or nil.
local function item_of(value, key)
  if kind(value) == 'dict' then
    if type(key) == 'string' or type(key) == 'number' then return value.map[key] end
  elseif math.type(key) == 'integer' and kind(value) == 'list' then
    return value[key < 0 and value.n + key + 1 or key + 1]
  elseif math.type(key) == 'integer' and type(value) == 'string' then
    local n = utf8.len(value)
    local at = key < 0 and n + key + 1 or key + 1
    if at >= 1 and at <= n then return values.characters(value, at, at) end
  end
  return nil
end

local function check_set(self, value, key)
  if kind(value) == 'undefined' then fail(self.line, "'%s' is not set, so that it has no '%s'", value.name, text(key)) end
end

local function attribute(self, value, name)
  check_set(self, value, name)
  if kind(value) == 'object' then
    local field = value.fields[name]
    return field == nil and values.undefined(name) or field
  end
  local result = method_of(value, name)
  if result == nil and kind(value) == 'dict' then result = value.map[name] end
  return result == nil and values.undefined(name) or result
end

--- The field of an element by the name that filters have: 'a', 'a.b' or a number.
function State:field(value, name)
  if type(name) ~= 'string' then
    local item = item_of(value, name)
    return item == nil and values.undefined(text(name)) or item
  end
  for part in name:gmatch '[^.]+' do
    local index = part:find '^%d+$' and math.tointeger(tonumber(part))
    local item = item_of(value, index or part)
    value = item == nil and values.undefined(part) or item
  end
  return value
end

function evaluators.attribute(self, node, scope)
  local value = self:evaluate(node.value, scope)
  self.line = node.line
  return attribute(self, value, node.name)
end

function evaluators.item(self, node, scope)
  local value, key = self:evaluate(node.value, scope), self:evaluate(node.key, scope)
  self.line = node.line
  check_set(self, value, key)
  if type(value) == 'string' then self:work(#value // 64) end
  local item = item_of(value, key)
  if item == nil and type(key) == 'string' then return attribute(self, value, key) end
  return item == nil and values.undefined(text(key)) or item
end

-- The positions of a slice, as Python's: from, to (from 1) and step.
local function slice_bounds(self, bounds, n)
  for i = 1, 3 do
    if bounds[i] ~= nil and bounds[i] ~= values.none and math.type(bounds[i]) ~= 'integer' then fail(self.line, 'a slice with a %s, expected integers', kind(bounds[i])) end
  end
  local function at(i) return bounds[i] ~= values.none and bounds[i] or nil end
  local step = at(3) or 1
  if step == 0 then fail(self.line, 'a slice with step 0') end
  local function clamped(value, low, high)
    if value < 0 then value = value + n end
    return math.max(low, math.min(high, value))
  end
  if step > 0 then return clamped(at(1) or 0, 0, n) + 1, clamped(at(2) or n, 0, n), step end
  return (at(1) and clamped(at(1), -1, n - 1) or n - 1) + 1, (at(2) and clamped(at(2), -1, n - 1) or -1) + 2, step
end

function evaluators.slice(self, node, scope)
  local value, bounds = self:evaluate(node.value, scope), {}
  for i = 1, 3 do
    if node.bounds[i] then bounds[i] = self:evaluate(node.bounds[i], scope) end
  end
  self.line = node.line
  if type(value) == 'string' then
    local n = utf8.len(value)
    self:work(n // 8)
    local from, to, step = slice_bounds(self, bounds, n)
    if step == 1 then return values.characters(value, from, to) end
    local characters, result = operations.elements(self, value), {}
    for i = from, to, step do result[#result + 1] = characters[i] end
    return table.concat(result)
  end
  if kind(value) ~= 'list' then fail(node.line, 'a slice of a %s, expected a list or text', kind(value)) end
  local from, to, step = slice_bounds(self, bounds, value.n)
  local result = {}
  for i = from, to, step do result[#result + 1] = value[i] end
  self:work(#result)
  return values.list(result, value.tuple)
end

-- The values of arguments: a list with n, and a list of { name, value }.
local function arguments(self, node, scope)
  local list, named = { n = #node.list }, {}
  for i, expression in ipairs(node.list) do list[i] = self:evaluate(expression, scope) end
  for i, entry in ipairs(node.named or {}) do named[i] = { entry[1], self:evaluate(entry[2], scope) } end
  return list, named
end

function evaluators.call(self, node, scope)
  local callee = self:evaluate(node.value, scope)
  if kind(callee) ~= 'function' then
    local name = node.value.name or 'value'
    fail(node.line, "a call of '%s', which %s", name, kind(callee) == 'undefined' and 'is not set, or which ltensor does not support' or 'is a ' .. kind(callee))
  end
  local list, named = arguments(self, node, scope)
  self.line = node.line
  return callee.call(self, list, named)
end

function evaluators.test(self, node, scope)
  local test = operations.tests[node.name] or fail(node.line, "the test '%s', which ltensor does not support", node.name)
  local value, list = self:evaluate(node.value, scope), arguments(self, node, scope)
  self.line = node.line
  return test(self, value, table.unpack(list, 1, list.n))
end

function evaluators.filter(self, node, scope)
  local filter = operations.filters[node.name] or fail(node.line, "the filter '%s', which ltensor does not support", node.name)
  local value = self:evaluate(node.value, scope)
  local list, named = arguments(self, node, scope)
  self.line = node.line
  if node.name == 'map' and named[1] then
    local field = named[1][1] == 'attribute' and not named[2] and named[1][2] or fail(node.line, "map with the argument '%s', expected attribute", named[1][1])
    local items, result = operations.elements(self, value), {}
    for i = 1, items.n do result[i] = self:field(items[i], field) end
    self:work(items.n)
    return values.list(result)
  end
  local names = operations.parameters[node.name] or {}
  for _, entry in ipairs(named) do
    local position
    for i, name in ipairs(names) do position = name == entry[1] and i or position end
    if not position then fail(node.line, "the filter '%s' with the argument '%s', which ltensor does not support", node.name, entry[1]) end
    list[position], list.n = entry[2], math.max(list.n, position)
  end
  return filter(self, value, table.unpack(list, 1, list.n))
end

-- ---- statements ---------------------------------------------------------------------------------

local executors = {}

-- Runs nodes. Returns 'break' or 'continue' if one ends the body of a loop.
function State:run(nodes, scope)
  for _, node in ipairs(nodes) do
    self:work(1)
    local signal = executors[node.kind](self, node, scope)
    if signal then return signal end
  end
end

function State:write(part)
  self.written = self.written + #part
  self:size(self.written > MAX_TEXT and self.written or #part)
  self.output[#self.output + 1] = part
end

-- The output of a function.
local function captured(self, f)
  local output = self.output
  self.output = {}
  f()
  local result = table.concat(self.output)
  self.output = output
  return result
end

function executors.text(self, node) self:write(node.value) end
function executors.output(self, node, scope) self:write(text(self:evaluate(node.value, scope))) end
function executors.block(self, node, scope) return self:run(node.body, scope) end
executors['break'] = function() return 'break' end
executors['continue'] = function() return 'continue' end

executors['if'] = function(self, node, scope)
  for _, case in ipairs(node.cases) do
    if truth(self:evaluate(case[1], scope)) then return self:run(case[2], scope) end
  end
  if node.other then return self:run(node.other, scope) end
end

local function assign(self, targets, value, scope)
  if #targets > 1 then
    local items = operations.elements(self, value)
    if items.n ~= #targets then fail(self.line, '%d values for %d names', items.n, #targets) end
    for i, target in ipairs(targets) do assign(self, { target }, items[i], scope) end
    return
  end
  local target = targets[1]
  if type(target) == 'string' then
    scope.names[target] = value
    return
  end
  local object = lookup(scope, target[1])
  if kind(object) ~= 'object' or not object.writable then fail(self.line, "an assignment to a field of '%s', expected a namespace", target[1]) end
  object.fields[target[2]] = value
end

function executors.set(self, node, scope)
  local value
  if node.value then value = self:evaluate(node.value, scope)
  else value = captured(self, function() self:run(node.body, inner(scope)) end) end
  self.line = node.line
  assign(self, node.targets, value, scope)
end

-- The variable of a loop over n elements.
local function loop_object(items, i, depth)
  local n = items.n
  return { kind = 'object', fields = {
    index = i, index0 = i - 1, revindex = n - i + 1, revindex0 = n - i, first = i == 1, last = i == n, length = n, depth = depth, depth0 = depth - 1,
    previtem = items[i - 1], nextitem = items[i + 1],
    cycle = { kind = 'function', call = function(state, list)
      if list.n == 0 then fail(state.line, 'loop.cycle without values') end
      return list[(i - 1) % list.n + 1]
    end },
  } }
end

executors['for'] = function(self, node, scope)
  local items = operations.elements(self, self:evaluate(node.list, scope))
  self.line = node.line
  if node.condition then
    local kept = {}
    for i = 1, items.n do
      local names = inner(scope)
      assign(self, node.targets, items[i], names)
      if truth(self:evaluate(node.condition, names)) then kept[#kept + 1] = items[i] end
    end
    items = values.list(kept)
  end
  self.loops = self.loops + 1
  for i = 1, items.n do
    self:work(1)
    local names = inner(scope)
    assign(self, node.targets, items[i], names)
    names.names.loop = loop_object(items, i, self.loops)
    if self:run(node.body, names) == 'break' then break end
  end
  self.loops = self.loops - 1
  if items.n == 0 and node.other then return self:run(node.other, scope) end
end

function executors.macro(self, node, scope)
  local function call(state, list, named)
    if list.n > #node.parameters then fail(state.line, '%s() with %d arguments, expected at most %d', node.name, list.n, #node.parameters) end
    local names, given = inner(scope), {}
    for i = 1, list.n do given[node.parameters[i][1]] = list[i] end
    for _, entry in ipairs(named) do
      local known = false
      for _, parameter in ipairs(node.parameters) do known = known or parameter[1] == entry[1] end
      if not known then fail(state.line, "%s() has no argument '%s'", node.name, entry[1]) end
      given[entry[1]] = entry[2]
    end
    if state.calls >= MAX_CALLS then fail(state.line, 'more than %d macros in macros', MAX_CALLS) end
    state.calls = state.calls + 1
    for _, parameter in ipairs(node.parameters) do
      local value = given[parameter[1]]
      if value == nil and parameter[2] then value = state:evaluate(parameter[2], names) end
      names.names[parameter[1]] = value == nil and values.undefined(parameter[1]) or value
    end
    local result = captured(state, function() state:run(node.body, names) end)
    state.calls = state.calls - 1
    return result
  end
  scope.names[node.name] = { kind = 'function', name = node.name, call = call }
end

-- ---- functions of templates ---------------------------------------------------------------------

local globals = {}

function globals.range(state, list)
  for i = 1, list.n do
    if math.type(list[i]) ~= 'integer' then fail(state.line, 'range of a %s, expected integers', kind(list[i])) end
  end
  local from, to, step = 0, list[1], list[3] or 1
  if list.n >= 2 then from, to = list[1], list[2] end
  if list.n == 0 or step == 0 then fail(state.line, 'range with %d arguments and step %d', list.n, step) end
  local n = math.max(0, (to - from + step - (step > 0 and 1 or -1)) // step)
  if n > MAX_RANGE then fail(state.line, 'range with %d numbers, at most %d are possible', n, MAX_RANGE) end
  state:work(n)
  local result = {}
  for i = 1, n do result[i] = from + (i - 1) * step end
  return values.list(result)
end

function globals.namespace(_, _, named)
  local object = { kind = 'object', writable = true, fields = {} }
  for _, entry in ipairs(named) do object.fields[entry[1]] = entry[2] end
  return object
end

function globals.dict(_, _, named)
  local dict = values.dict()
  for _, entry in ipairs(named) do values.put(dict, entry[1], entry[2]) end
  return dict
end

function globals.raise_exception(state, list) fail(state.line, '%s', text(list[1] == nil and '' or list[1])) end

function globals.strftime_now(state, list)
  local format = list[1]
  if type(format) ~= 'string' or #format > 100 then fail(state.line, 'strftime_now of a %s, expected a format of at most 100 bytes', kind(format)) end
  local ok, result = pcall(os.date, format)
  if not ok then fail(state.line, "strftime_now with the format '%s', which the C library does not support", format) end
  return result
end

--- The text of a template for variables, a table by name.
return function(tree, variables)
  local scope = { names = {} }
  for name, call in pairs(globals) do scope.names[name] = { kind = 'function', name = name, call = call } end
  for name, value in pairs(variables) do scope.names[name] = values.from_lua(value) end
  local state = setmetatable({ steps = 0, line = 1, output = {}, written = 0, calls = 0, loops = 0 }, State)
  state:run(tree, inner(scope))
  return table.concat(state.output)
end
