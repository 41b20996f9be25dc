-- unpickle.lua - reads the pickles in PyTorch's files as data: a machine for the opcodes of
-- protocols 2 to 5 that build numbers, strings, lists, tuples and dicts. It executes nothing: a
-- name that a pickle refers to must be in `globals`, which maps it to our function over data; other
-- names are errors.
--
-- Lists and tuples become tables from 1, dicts tables, OrderedDicts with string keys ordered dicts
-- (ordered_dict.lua), None nil. Keys that Lua does not have (tuples, None, nan) become strings as
-- Python prints them: '(1, 2)'. Inside of the machine, None is a separate value, and the kind and
-- length of each table are stored beside it.

local torch = require 'torch'
local ordered_dict = require 'torch.support.ordered_dict'
local shown = require 'torch.support.printable_format'

local M = {}

local MAX_DEPTH = 200
local MAX_STACK = 1000000
local COPIES = 4
local MAX_LINE = 1000 -- bytes of a name

local None = setmetatable({}, { __name = 'None' })
local MARK = {}

local Machine = {}
Machine.__index = Machine

-- Raised as a table; M.load turns it into nil and a message.
function Machine:fail(format, ...) error({ message = shown(format, ...), machine = self }, 0) end

-- ---- the stack ----------------------------------------------------------------------------------

function Machine:push(value)
  if self.n >= MAX_STACK then self:fail 'its pickle needs too large a stack' end
  self.n = self.n + 1
  self.stack[self.n] = value
end

function Machine:pop()
  local value = self.stack[self.n]
  if value == nil or value == MARK then self:fail 'its pickle pops from an empty stack' end
  self.stack[self.n] = nil
  self.n = self.n - 1
  return value
end

-- Pops the values above the last mark, and the mark: returns them in a table, and their number.
function Machine:pop_mark()
  local mark = self.marks[#self.marks]
  if not mark then self:fail 'its pickle has no mark' end
  self.marks[#self.marks] = nil
  local values, count = {}, self.n - mark
  for i = 1, count do
    values[i] = self.stack[mark + i]
    self.stack[mark + i] = nil
  end
  self.stack[mark] = nil
  self.n = mark - 1
  return values, count
end

-- ---- reading operands ---------------------------------------------------------------------------

-- Reads until n bytes are in `text`, or the source ends. Consumed bytes are dropped.
function Machine:fill(n)
  local missing = n - (#self.text - self.at + 1)
  if missing <= 0 or not self.more then return end
  self.before = self.before + self.at - 1
  self.text = self.text:sub(self.at) .. self.more(missing)
  self.at = 1
end

function Machine:take(n)
  self:fill(n)
  local at = self.at
  if n < 0 or n > #self.text - at + 1 then self:fail 'its pickle is cut short' end
  self.at = at + n
  return self.text:sub(at, at + n - 1)
end

-- Counts the bytes that a call copies. A pickle contains each value once, so all copies together
-- (text to bytes to an array) are a small multiple of its size, unless it recalls a long value
-- repeatedly to fill the memory.
function Machine:spend(n)
  self.spent = self.spent + n
  if self.spent > COPIES * (self.before + self.at) + 1000 then self:fail 'its pickle copies its values again and again' end
end

function Machine:number(format, n) return (format:unpack(self:take(n))) end

function Machine:line()
  if not self.text:find('\n', self.at, true) then self:fill(MAX_LINE + 1) end
  local finish = self.text:find('\n', self.at, true)
  if not finish or finish - self.at > MAX_LINE then self:fail 'its pickle is cut short' end
  local line = self.text:sub(self.at, finish - 1)
  self.at = finish + 1
  return line
end

-- ---- containers ---------------------------------------------------------------------------------

function Machine:made(object, kind, length)
  self.kinds[object], self.lengths[object] = kind, length
  return object
end

local function plain(value)
  if value == None then return nil end
  return value
end

-- A table of `count` values as a list or tuple.
function Machine:sequence(values, count, kind)
  for i = 1, count do
    if values[i] == None then values[i] = nil end
  end
  return self:made(values, kind, count)
end

function Machine:append(list, value)
  if self.kinds[list] ~= 'list' then self:fail 'its pickle appends to a value that is not a list' end
  local length = self.lengths[list] + 1
  self.lengths[list] = length
  list[length] = plain(value)
end

-- The shortest text that reads back as the number; strings in quotes, as in Python.
local function number_text(x)
  if math.type(x) == 'integer' then return ('%d'):format(x) end
  if x ~= x then return 'nan' end
  for digits = 15, 17 do
    local text = ('%%.%dg'):format(digits):format(x):gsub(',', '.')
    if tonumber(text) == x then return text:find '[.einf]' and text or text .. '.0' end
  end
end

local escapes = { ['\\'] = '\\\\', ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t' }
local function string_text(text)
  local quote = text:find("'", 1, true) and not text:find('"', 1, true) and '"' or "'"
  return quote .. text:gsub('[%c\\\127' .. quote .. ']', function(c)
    return escapes[c] or c == quote and '\\' .. c or ('\\x%02x'):format(c:byte())
  end) .. quote
end

-- A key of a dict as Python writes it.
function Machine:key_text(key, depth)
  if key == None or key == nil then return 'None' end
  if type(key) == 'boolean' then return key and 'True' or 'False' end
  if type(key) == 'number' then return number_text(key) end
  if type(key) == 'string' then
    self:spend(#key)
    return string_text(key)
  end
  if self.kinds[key] ~= 'tuple' or depth >= MAX_DEPTH then
    self:fail('a dict has a %s as a key; ltensor reads strings, numbers, booleans, None and tuples of them', self.kinds[key] or torch.type(key))
  end
  local count, texts = self.lengths[key], {}
  self:spend(count)
  for i = 1, count do texts[i] = self:key_text(key[i], depth + 1) end
  return '(' .. table.concat(texts, ', ') .. (count == 1 and ',)' or ')')
end

function Machine:set(dict, key, value)
  local kind = self.kinds[dict]
  if kind ~= 'dict' and kind ~= 'ordered' then self:fail 'its pickle sets an item of a value that is not a dict' end
  local of = type(key)
  if of ~= 'string' and of ~= 'number' and of ~= 'boolean' or key ~= key then
    key, of = self:key_text(key, 0), 'string'
    if rawget(dict, key) ~= nil then self:fail('a dict has two keys %s', key) end
  end
  if kind == 'ordered' and of ~= 'string' then
    if next(dict) ~= nil then self:fail 'an OrderedDict has names and other keys' end
    setmetatable(dict, nil)
    self.kinds[dict] = 'dict'
  end
  dict[key] = plain(value)
end

function Machine:ordered() return self:made(ordered_dict.new(), 'ordered') end

-- The items of a list or tuple as arguments: a table and their number.
function Machine:arguments(value, what)
  local kind = self.kinds[value]
  if kind ~= 'tuple' and kind ~= 'list' then self:fail('its pickle is damaged: %s', what) end
  return value, self.lengths[value]
end

-- ---- opcodes ------------------------------------------------------------------------------------

function Machine:global(module, name)
  local full = module .. '.' .. name
  local global = self.globals[full]
  if type(global) == 'table' and global.allow then
    self:fail("its pickle refers to %s, which is read where the program allows it: torch.serialization.add_safe_globals{'%s'}", full, full)
  end
  if not global then
    self:fail('its pickle refers to %s, which ltensor does not call: it reads tensors, numbers, strings and '
      .. 'containers of them (of a module: its state_dict())', full)
  end
  self:push(global)
  if type(global) == 'table' then self.kinds[global] = 'class' end
end

function Machine:reduce()
  local arguments, called = self:pop(), self:pop()
  if self.kinds[called] ~= 'class' or not called.call then
    self:fail('its pickle calls a %s', self.kinds[called] == 'class' and called.name or self.kinds[called] or torch.type(called))
  end
  local values, count = self:arguments(arguments, 'the arguments of ' .. called.name)
  local result = called.call(self, values, count)
  self:push(result == nil and None or result)
end

-- For classes in python_data.lua: an object that its state completes.
function Machine:new_object()
  local arguments, class = self:pop(), self:pop()
  if self.kinds[class] ~= 'class' or not class.new then self:fail 'its pickle would make an object (NEWOBJ), which ltensor does not do' end
  if select(2, self:arguments(arguments, 'the arguments of ' .. class.name)) > 0 then self:fail('its pickle is damaged: the arguments of %s', class.name) end
  self:push(class.new(self))
end

-- The state of an OrderedDict contains the versions of modules.
function Machine:build()
  local state, object = self:pop(), self:pop()
  local build = self.builders[object]
  if build then
    build(state)
    return self:push(object)
  end
  if self.kinds[object] ~= 'ordered' then self:fail('its pickle sets the state of a %s', self.kinds[object] or torch.type(object)) end
  self:push(object)
end

function Machine:long(n)
  local bytes = self:take(n)
  if n <= 8 then return n == 0 and 0 or (('<i' .. n):unpack(bytes)) end
  -- As Lua reads such a numeral: a float.
  if n > 128 then self:fail('an integer of %d bytes', n) end
  local value = bytes:byte(n) >= 128 and -1.0 or 0.0
  for i = n, 1, -1 do value = value * 256 + bytes:byte(i) end
  if value >= -0x1p63 and value < 0x1p63 then
    return (('<i8'):unpack(bytes))
  end
  return value
end

function Machine:remember(index)
  local value = self.stack[self.n]
  if value == nil or value == MARK then self:fail 'its pickle stores a value from an empty stack' end
  if not self.memo[index] then self.memo_size = self.memo_size + 1 end
  self.memo[index] = value
end

function Machine:recall(index)
  local value = self.memo[index]
  if value == nil then self:fail('its pickle reads value %d, which it never stored', index) end
  self:push(value)
end

local function tuple(n)
  return function(m)
    local values = {}
    for i = n, 1, -1 do values[i] = m:pop() end
    m:push(m:sequence(values, n, 'tuple'))
  end
end

local function text(format, n)
  return function(m) m:push(m:take(m:number(format, n))) end
end

local function refused(name)
  return function(m) m:fail('its pickle would make an object (%s), which ltensor does not do', name) end
end

local function items(m, dict, values, count)
  if count % 2 ~= 0 then m:fail 'its pickle has a key without a value' end
  for i = 1, count, 2 do m:set(dict, values[i], values[i + 1]) end
end

local function appends(m)
  local values, count = m:pop_mark()
  for i = 1, count do m:append(m.stack[m.n], values[i]) end
end

local opcodes = {
  ['\x80'] = function(m)
    local version = m:number('B', 1)
    if version < 2 or version > 5 then m:fail('its pickle is of protocol %d', version) end
  end,
  ['\x95'] = function(m) m:take(8) end, -- FRAME: the length is redundant
  ['('] = function(m)
    m:push(MARK)
    m.marks[#m.marks + 1] = m.n
  end,
  ['0'] = function(m)
    if m.stack[m.n] == MARK then m:pop_mark() else m:pop() end
  end,
  ['1'] = function(m) m:pop_mark() end,
  ['2'] = function(m)
    local value = m:pop()
    m:push(value)
    m:push(value)
  end,
  N = function(m) m:push(None) end,
  ['\x88'] = function(m) m:push(true) end,
  ['\x89'] = function(m) m:push(false) end,
  J = function(m) m:push(m:number('<i4', 4)) end,
  K = function(m) m:push(m:number('B', 1)) end,
  M = function(m) m:push(m:number('<I2', 2)) end,
  ['\x8a'] = function(m) m:push(m:long(m:number('B', 1))) end,
  ['\x8b'] = function(m) m:push(m:long(m:number('<i4', 4))) end,
  G = function(m) m:push(m:number('>d', 8)) end,
  X = text('<I4', 4), ['\x8c'] = text('B', 1), ['\x8d'] = text('<i8', 8), U = text('B', 1), T = text('<i4', 4),
  C = text('B', 1), B = text('<I4', 4), ['\x8e'] = text('<i8', 8), ['\x96'] = text('<i8', 8),
  [')'] = tuple(0), ['\x85'] = tuple(1), ['\x86'] = tuple(2), ['\x87'] = tuple(3),
  t = function(m)
    local values, count = m:pop_mark()
    m:push(m:sequence(values, count, 'tuple'))
  end,
  [']'] = function(m) m:push(m:made({}, 'list', 0)) end,
  l = function(m)
    local values, count = m:pop_mark()
    m:push(m:sequence(values, count, 'list'))
  end,
  a = function(m)
    local value = m:pop()
    m:append(m.stack[m.n], value)
  end,
  e = appends, ['\x90'] = appends, -- ADDITEMS, to a set
  ['}'] = function(m) m:push(m:made({}, 'dict')) end,
  d = function(m)
    local values, count = m:pop_mark()
    local dict = m:made({}, 'dict')
    items(m, dict, values, count)
    m:push(dict)
  end,
  s = function(m)
    local value, key = m:pop(), m:pop()
    m:set(m.stack[m.n], key, value)
  end,
  u = function(m)
    local values, count = m:pop_mark()
    items(m, m.stack[m.n], values, count)
  end,
  c = function(m)
    local module = m:line()
    m:global(module, m:line())
  end,
  ['\x93'] = function(m)
    local name, module = m:pop(), m:pop()
    if type(name) ~= 'string' or type(module) ~= 'string' then m:fail 'its pickle names a class by a value that is not a string' end
    m:global(module, name)
  end,
  R = Machine.reduce,
  b = Machine.build,
  Q = function(m)
    local value = m.persistent(m, m:pop())
    m:push(value)
  end,
  q = function(m) m:remember(m:number('B', 1)) end,
  r = function(m) m:remember(m:number('<I4', 4)) end,
  ['\x94'] = function(m) m:remember(m.memo_size) end,
  h = function(m) m:recall(m:number('B', 1)) end,
  j = function(m) m:recall(m:number('<I4', 4)) end,
  i = function(m)
    local module = m:line()
    m:global(module, m:line())
    refused 'INST'(m)
  end,
  ['\x8f'] = function(m) m:push(m:made({}, 'list', 0)) end, -- EMPTY_SET
  ['\x91'] = function(m) -- FROZENSET
    local values, count = m:pop_mark()
    m:global('builtins', 'frozenset')
    m:pop()
    m:push(m:sequence(values, count, 'list'))
  end,
  o = refused 'OBJ', ['\x81'] = Machine.new_object, ['\x92'] = refused 'NEWOBJ_EX', ['\x82'] = refused 'EXT1',
  ['\x83'] = refused 'EXT2', ['\x84'] = refused 'EXT4', P = refused 'PERSID',
}

function Machine:run()
  while true do
    self:fill(1)
    local opcode = self.text:sub(self.at, self.at)
    if opcode == '' then self:fail 'its pickle is cut short' end
    self.at = self.at + 1
    if opcode == '.' then break end
    local action = opcodes[opcode]
    if not action then self:fail('its pickle has an opcode %q that ltensor does not read', opcode) end
    action(self)
  end
  if self.n ~= 1 then self:fail 'its pickle leaves other than one value' end
  if not self.more and self.at <= #self.text then self:fail 'bytes follow its pickle' end
  return self:pop()
end

-- ---- the result ---------------------------------------------------------------------------------

-- Validates a result: data only, no classes or storages, at most MAX_DEPTH deep; a container may
-- contain itself, as in Python. Replaces placeholders of objects by the objects. Returns the depth
-- of a table.
function Machine:check(value, level)
  local kind = self.kinds[value]
  if kind == 'numpy.ndarray' then self:fail 'its pickle is damaged: an array without its state' end
  if kind == 'class' then self:fail('it holds %s itself, which ltensor does not have', value.name) end
  if kind == 'storage' then self:fail 'it holds a storage; ltensor reads tensors' end
  if type(value) ~= 'table' or not kind then return 0 end
  local depth = self.depths[value]
  if depth == false then return 0 end
  if level + (depth or 0) > MAX_DEPTH then self:fail('containers nested deeper than %d', MAX_DEPTH) end
  if depth then return depth end
  self.depths[value] = false
  depth = 0
  for key, item in next, value do
    local final = self.finals[item]
    if final ~= nil then
      value[key], item = final, final
    end
    depth = math.max(depth, 1 + self:check(item, level + 1))
  end
  self.depths[value] = depth
  return depth
end

local function load(text, more, globals, persistent)
  local machine = setmetatable({ text = text, at = 1, before = 0, more = more, spent = 0, stack = {}, n = 0, marks = {},
    memo = {}, memo_size = 0, kinds = {}, lengths = {}, depths = {}, builders = {}, finals = {}, globals = globals, persistent = persistent }, Machine)
  local ok, result = pcall(function()
    local value = machine:run()
    if machine.finals[value] ~= nil then value = machine.finals[value] end
    machine:check(value, 0)
    return plain(value)
  end)
  if ok then return true, result, #machine.text - machine.at + 1 end
  if type(result) == 'table' and result.machine == machine then return false, result.message end
  error(result, 0)
end

--- Reads a pickle.
-- @param text        its bytes
-- @param globals     "module.name" -> {name = , call = function(machine, arguments, count)}
--   (without call: a name only), or a value other than a table
-- @param persistent  function(machine, id): the object of a persistent id
-- @return true and the value, or false and an error
function M.load(text, globals, persistent) return load(text, nil, globals, persistent) end

--- Reads a pickle that other bytes follow.
-- @param more  function(n): the next n or more bytes, fewer at the end
-- @return true, the value and the number of unused bytes, or false and an error
function M.load_from(more, globals, persistent) return load('', more, globals, persistent) end

return M
