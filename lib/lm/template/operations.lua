-- operations.lua - filters, tests and methods of templates, with the names and results of Jinja and
-- Python. Each is called with a state (interpreter.lua) first, which counts the work.

local fail = require 'torch.lm.template.fail'
local values = require 'torch.lm.template.values'

local M = { filters = {}, tests = {}, methods = { string = {}, dict = {}, list = {} } }

local filters, tests = M.filters, M.tests
local kind, list, text = values.kind, values.list, values.text

local function check(state, value, expected, name)
  if kind(value) ~= expected then fail(state.line, '%s of a %s, expected a %s', name, kind(value), expected) end
  return value
end

--- The number of characters or elements.
local function length(state, value)
  local k = kind(value)
  if k == 'string' then return utf8.len(value) end
  if k == 'list' then return value.n end
  if k == 'dict' then return #value.keys end
  if k == 'undefined' then return 0 end
  fail(state.line, 'length of a %s, expected a text, list or dict', k)
end

--- A list of the elements: of a dict its keys, of a text its characters.
local function elements(state, value)
  local k, result = kind(value), {}
  if k == 'list' then return value end
  if k == 'dict' then
    for i, key in ipairs(value.keys) do result[i] = key end
  elseif k == 'string' then
    state:work(#value)
    for c in value:gmatch(utf8.charpattern) do result[#result + 1] = c end
  elseif k ~= 'undefined' then
    fail(state.line, 'a loop over a %s, expected a list, dict or text', k)
  end
  return list(result)
end
M.elements = elements

-- ---- methods of texts ---------------------------------------------------------------------------

local strings = M.methods.string

for name, sides in pairs { strip = { true, true }, lstrip = { true, false }, rstrip = { false, true } } do
  strings[name] = function(state, self, characters)
    if characters and characters ~= values.none then check(state, characters, 'string', name) end
    return values.strip(self, characters ~= values.none and characters or nil, sides[1], sides[2])
  end
end

-- Letters beyond ASCII stay as they are.
function strings.upper(_, self) return self:upper() end
function strings.lower(_, self) return self:lower() end
function strings.capitalize(_, self) return self:sub(1, 1):upper() .. self:sub(2):lower() end
function strings.title(_, self) return (self:lower():gsub('[%a\x80-\xFF]+', function(word) return word:sub(1, 1):upper() .. word:sub(2) end)) end

function strings.startswith(state, self, prefix)
  for _, entry in ipairs(kind(prefix) == 'list' and prefix or { prefix }) do
    if self:sub(1, #check(state, entry, 'string', 'startswith')) == entry then return true end
  end
  return false
end

function strings.endswith(state, self, suffix)
  for _, entry in ipairs(kind(suffix) == 'list' and suffix or { suffix }) do
    if #check(state, entry, 'string', 'endswith') <= #self and self:sub(#self - #entry + 1) == entry then return true end
  end
  return false
end

function strings.split(state, self, separator, most)
  local result = {}
  most = math.type(most) == 'integer' and most >= 0 and most or math.huge
  if separator == nil or separator == values.none then
    local rest = values.strip(self, nil, true, true)
    while rest ~= '' do
      local word = #result < most and rest:match '^%S+%f[%s]' or rest
      result[#result + 1] = word
      rest = values.strip(rest:sub(#word + 1), nil, true, false)
    end
  else
    if check(state, separator, 'string', 'split') == '' then fail(state.line, 'split with an empty separator') end
    local at = 1
    while #result < most do
      local first, last = self:find(separator, at, true)
      if not first then break end
      result[#result + 1], at = self:sub(at, first - 1), last + 1
    end
    result[#result + 1] = self:sub(at)
  end
  state:work(#self + #result)
  return list(result)
end

function strings.splitlines(state, self)
  local result = {}
  state:work(#self)
  for line in (self:find '\n$' and self or self .. '\n'):gmatch '([^\n]*)\n' do result[#result + 1] = line end
  if self == '' then result = {} end
  return list(result)
end

function strings.replace(state, self, old, new, most)
  check(state, old, 'string', 'replace')
  check(state, new, 'string', 'replace')
  if old == '' then fail(state.line, 'replace of an empty text') end
  local parts, at = {}, 1
  most = math.type(most) == 'integer' and most >= 0 and most or math.huge
  local count = 0
  while count < most do
    local first, last = self:find(old, at, true)
    if not first then break end
    count = count + 1
    parts[#parts + 1], at = self:sub(at, first - 1), last + 1
  end
  state:size(#self + count * #new)
  parts[#parts + 1] = self:sub(at)
  return table.concat(parts, new)
end

function strings.find(state, self, part)
  local at = self:find(check(state, part, 'string', 'find'), 1, true)
  return at and utf8.len(self, 1, at) - 1 or -1
end

function strings.count(state, self, part)
  if check(state, part, 'string', 'count') == '' then return utf8.len(self) + 1 end
  local n, at = 0, 1
  while true do
    local _, last = self:find(part, at, true)
    if not last then return n end
    n, at = n + 1, last + 1
  end
end

function strings.join(state, self, items) return filters.join(state, items, self) end
for name, pattern in pairs { isdigit = '^%d+$', isalpha = '^%a+$', isalnum = '^%w+$', isspace = '^%s+$', isupper = '^%L*%u%L*$', islower = '^%U*%l%U*$' } do
  strings[name] = function(_, self) return self:find(pattern) ~= nil end
end

-- ---- methods of dicts and lists -----------------------------------------------------------------

local dicts, lists = M.methods.dict, M.methods.list

function dicts.items(state, self)
  local result = {}
  state:work(#self.keys)
  for i, key in ipairs(self.keys) do result[i] = list({ key, self.map[key] }, true) end
  return list(result)
end

function dicts.keys(state, self) return elements(state, self) end

function dicts.values(state, self)
  local result = {}
  state:work(#self.keys)
  for i, key in ipairs(self.keys) do result[i] = self.map[key] end
  return list(result)
end

function dicts.get(_, self, key, default)
  local value = self.map[key]
  if value ~= nil then return value end
  return default == nil and values.none or default
end

function lists.index(state, self, value)
  for i = 1, self.n do
    if values.equal(self[i], value) then return i - 1 end
  end
  fail(state.line, 'index of a value that is not in the list')
end

function lists.count(_, self, value)
  local n = 0
  for i = 1, self.n do n = n + (values.equal(self[i], value) and 1 or 0) end
  return n
end

-- ---- tests --------------------------------------------------------------------------------------

function tests.defined(_, value) return kind(value) ~= 'undefined' end
function tests.undefined(_, value) return kind(value) == 'undefined' end
tests['none'] = function(_, value) return value == values.none end
tests['true'] = function(_, value) return value == true end
tests['false'] = function(_, value) return value == false end
function tests.string(_, value) return type(value) == 'string' end
function tests.number(_, value) return type(value) == 'number' or type(value) == 'boolean' end
function tests.integer(_, value) return math.type(value) == 'integer' end
function tests.float(_, value) return math.type(value) == 'float' end
function tests.boolean(_, value) return type(value) == 'boolean' end
function tests.mapping(_, value) return kind(value) == 'dict' end
function tests.callable(_, value) return kind(value) == 'function' end
function tests.sequence(_, value) return kind(value) == 'list' or kind(value) == 'dict' or type(value) == 'string' end
function tests.iterable(state, value) return tests.sequence(state, value) or kind(value) == 'undefined' end
function tests.even(state, value) return check(state, value, 'number', 'even') % 2 == 0 end
function tests.odd(state, value) return check(state, value, 'number', 'odd') % 2 == 1 end
function tests.divisibleby(state, value, n)
  if check(state, n, 'number', 'divisibleby') == 0 then fail(state.line, 'divisibleby 0') end
  return check(state, value, 'number', 'divisibleby') % n == 0
end
tests['in'] = function(state, value, container) return values.contains(container, value, state.line) end
function tests.eq(_, a, b) return values.equal(a, b) end
function tests.ne(_, a, b) return not values.equal(a, b) end
function tests.lt(state, a, b) return values.less(a, b, state.line) end
function tests.gt(state, a, b) return values.less(b, a, state.line) end
function tests.le(state, a, b) return not values.less(b, a, state.line) end
function tests.ge(state, a, b) return not values.less(a, b, state.line) end
function tests.sameas(_, a, b) return a == b end
function tests.lower(_, value) return type(value) == 'string' and value == value:lower() and value:find '%l' ~= nil end
function tests.upper(_, value) return type(value) == 'string' and value == value:upper() and value:find '%u' ~= nil end
tests.equalto, tests['=='], tests['!='], tests.lessthan, tests.greaterthan = tests.eq, tests.eq, tests.ne, tests.lt, tests.gt

-- ---- filters ------------------------------------------------------------------------------------

function filters.trim(state, value, characters) return strings.strip(state, text(value), characters) end
function filters.length(state, value) return length(state, value) end
filters.count = filters.length
for _, name in ipairs { 'upper', 'lower', 'capitalize' } do
  filters[name] = function(state, value) return strings[name](state, text(value)) end
end
function filters.title(_, value)
  return (text(value):gsub('[^%-%s({%[<]+', function(word) return word:sub(1, 1):upper() .. word:sub(2):lower() end))
end
function filters.string(_, value) return text(value) end
filters.safe = filters.string
function filters.replace(state, value, old, new, most) return strings.replace(state, text(value), text(old), text(new), most) end
function filters.default(_, value, other, also_false)
  if kind(value) == 'undefined' or also_false and also_false ~= values.none and not values.truth(value) then return other == nil and '' or other end
  return value
end
filters.d = filters.default

function filters.tojson(state, value, indent)
  local spaces = math.type(indent) == 'integer' and indent or nil
  if spaces and (spaces < 0 or spaces > 16) then fail(state.line, 'tojson with an indent of %d, expected 0 to 16', spaces) end
  return state:size_of(values.json(value, state.line, spaces))
end

function filters.join(state, value, separator, attribute)
  local items, parts, size = elements(state, value), {}, 0
  separator = separator == nil and '' or text(separator)
  for i = 1, items.n do
    local item = items[i]
    if attribute ~= nil and attribute ~= values.none then item = state:field(item, attribute) end
    parts[i] = text(item)
    size = size + #parts[i] + #separator
  end
  state:size(size)
  return table.concat(parts, separator)
end

function filters.first(state, value)
  local item = elements(state, value)[1]
  return item == nil and values.undefined 'first' or item
end
function filters.last(state, value)
  local items = elements(state, value)
  return items.n > 0 and items[items.n] or values.undefined 'last'
end
function filters.list(state, value)
  local items = elements(state, value)
  state:work(items.n)
  return list(table.move(items, 1, items.n, 1, { n = items.n }))
end
function filters.items(state, value)
  if kind(value) == 'undefined' then return list {} end
  return dicts.items(state, check(state, value, 'dict', 'items'))
end
function filters.reverse(state, value)
  local items, result = elements(state, value), {}
  for i = 1, items.n do result[i] = items[items.n + 1 - i] end
  return type(value) == 'string' and table.concat(result) or list(result)
end

-- A number in a text, or the default.
local function converted(convert)
  return function(_, value, default)
    local number = type(value) == 'boolean' and (value and 1 or 0) or type(value) == 'string' and values.strip(value, nil, true, true) or value
    if type(number) == 'string' then number = number:find '^[-+]?%d[%d.eE+-]*$' and tonumber((number:gsub('^%+', ''))) or nil end
    local result = type(number) == 'number' and convert(number) or nil
    if result == nil then return default == nil and convert(0) or default end
    return result
  end
end
filters.int = converted(function(x) return math.tointeger(x < 0 and math.ceil(x) or math.floor(x)) end)
filters.float = converted(function(x) return x + 0.0 end)
function filters.abs(state, value) return math.abs(check(state, value, 'number', 'abs')) end

function filters.round(state, value, digits, method)
  if method ~= nil and method ~= 'common' then fail(state.line, "round with the method '%s', which ltensor does not support", text(method)) end
  local shown = ('%%.%df'):format(math.min(15, math.type(digits) == 'integer' and math.max(digits, 0) or 0))
  return tonumber(shown:format(check(state, value, 'number', 'round'))) + 0.0
end

-- Sorts a list by keys; equal ones keep their order.
local function sorted(state, items, key_of, reverse)
  local order, keys, result = {}, {}, {}
  state:work(items.n * 8)
  for i = 1, items.n do order[i], keys[i] = i, key_of(items[i]) end
  table.sort(order, function(a, b)
    if reverse then
      if values.less(keys[b], keys[a], state.line) then return true end
      return not values.less(keys[a], keys[b], state.line) and a < b
    end
    if values.less(keys[a], keys[b], state.line) then return true end
    return not values.less(keys[b], keys[a], state.line) and a < b
  end)
  for i, at in ipairs(order) do result[i] = items[at] end
  return list(result)
end

local function folded(value, exact) return type(value) == 'string' and not exact and value:lower() or value end

function filters.sort(state, value, reverse, exact, attribute)
  return sorted(state, elements(state, value), function(item)
    if attribute ~= nil and attribute ~= values.none then item = state:field(item, attribute) end
    return folded(item, exact == true)
  end, reverse == true)
end

function filters.dictsort(state, value, exact, by, reverse)
  local at = by == 'value' and 2 or 1
  return sorted(state, filters.items(state, value), function(item) return folded(item[at], exact == true) end, reverse == true)
end

function filters.unique(state, value, exact, attribute)
  local items, seen, result = elements(state, value), values.list {}, {}
  for i = 1, items.n do
    local key = items[i]
    if attribute ~= nil and attribute ~= values.none then key = state:field(key, attribute) end
    key = folded(key, exact == true)
    state:work(seen.n)
    if not values.contains(seen, key, state.line) then
      seen.n = seen.n + 1
      seen[seen.n], result[#result + 1] = key, items[i]
    end
  end
  return list(result)
end

for name, better in pairs { min = function(a, b, line) return values.less(a, b, line) end, max = function(a, b, line) return values.less(b, a, line) end } do
  filters[name] = function(state, value)
    local items = elements(state, value)
    local best = items[1]
    for i = 2, items.n do
      if better(items[i], best, state.line) then best = items[i] end
    end
    return best == nil and values.undefined(name) or best
  end
end

function filters.sum(state, value)
  local items, total = elements(state, value), 0
  for i = 1, items.n do total = total + check(state, items[i], 'number', 'sum') end
  return total
end

function filters.indent(state, value, width, first, blank)
  local margin = type(width) == 'string' and width or (' '):rep(math.min(math.type(width) == 'integer' and width or 4, 64))
  local lines = strings.splitlines(state, text(value) .. '\n')
  state:size(#text(value) + lines.n * #margin)
  for i = 1, lines.n do
    if (i > 1 or first == true) and (lines[i] ~= '' or blank == true) then lines[i] = margin .. lines[i] end
  end
  return table.concat(lines, '\n')
end

-- The elements for which a test, of the element or of a field, holds or does not.
local function selection(wanted, with_field)
  return function(state, value, ...)
    local arguments = table.pack(...)
    local field = with_field and table.remove(arguments, 1) or nil
    local name = table.remove(arguments, 1)
    local test = name == nil and function(_, x) return values.truth(x) end or tests[name] or fail(state.line, "the test '%s', which ltensor does not support", text(name))
    local items, result = elements(state, value), {}
    state:work(items.n)
    for i = 1, items.n do
      local subject = field ~= nil and state:field(items[i], field) or items[i]
      if test(state, subject, table.unpack(arguments)) == wanted then result[#result + 1] = items[i] end
    end
    return list(result)
  end
end
filters.select, filters.reject = selection(true), selection(false)
filters.selectattr, filters.rejectattr = selection(true, true), selection(false, true)

-- map(attribute = ...) is the interpreter's; here a filter is called for each element.
function filters.map(state, value, name, ...)
  local filter = filters[name] or fail(state.line, "the filter '%s', which ltensor does not support", text(name == nil and '' or name))
  local items, result = elements(state, value), {}
  state:work(items.n)
  for i = 1, items.n do result[i] = filter(state, items[i], ...) end
  return list(result)
end

--- The names of a filter's arguments after the value, for calls with names.
M.parameters = {
  default = { 'default_value', 'boolean' }, d = { 'default_value', 'boolean' }, tojson = { 'indent' }, join = { 'd', 'attribute' }, trim = { 'chars' },
  indent = { 'width', 'first', 'blank' }, sort = { 'reverse', 'case_sensitive', 'attribute' }, dictsort = { 'case_sensitive', 'by', 'reverse' },
  unique = { 'case_sensitive', 'attribute' }, round = { 'precision', 'method' }, int = { 'default' }, float = { 'default' },
}

return M
