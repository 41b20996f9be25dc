-- argument_kinds.lua - kinds of arguments of the library's Lua functions: their names, predicates
-- and descriptions.
--
-- A kind is written 'Tensor', 'number|named', 'string?': alternatives between bars; a question mark
-- allows nil, which means absent. kinds.check(what, name, value, kind) raises, at the line of the
-- user's code, when the value is not of the kind: "clip_grad_value_(): argument 'clip_value' must
-- be a number, not a string". arguments.lua reads arguments; src/lua/refuse.c formats the message
-- about an unknown name.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local no_holes = require 'torch.support.no_holes'
local is_tensor = torch.is_tensor

local kinds = {}

local function lua_type(name)
  return function(value) return type(value) == name end
end

-- Predicate: objects of one of the library's C types.
local function named_type(name)
  return function(value) return torch.type(value) == name end
end

-- Predicate: objects of the class that a library file returns.
local function object_of(file)
  return function(value) return type(value) == 'userdata' and require(file):is_instance(value) end
end

local function is_integer(value) return math.type(value) == 'integer' end

local function is_callable(value)
  if type(value) == 'function' then return true end
  local metatable = debug.getmetatable(value)
  return type(metatable) == 'table' and metatable.__call ~= nil and not is_tensor(value)
end

-- A table of named arguments, not a list or an object.
function kinds.is_named(value)
  if type(value) ~= 'table' or getmetatable(value) ~= nil then return false end
  local key = next(value)
  return key == nil or type(key) == 'string'
end

-- A table with a list and nothing behind it.
function kinds.is_list(value)
  local n = rawlen(value)
  return n > 0 and next(value, n) == nil
end

--- Splits a table with a list and names into two tables; nil if it is no such table.
function kinds.split_list(value)
  if type(value) ~= 'table' or getmetatable(value) ~= nil or rawlen(value) == 0 or type(next(value, rawlen(value))) ~= 'string' then return nil end
  local list, names = {}, {}
  for key, entry in next, value do
    if type(key) == 'string' then names[key] = entry else list[key] = entry end
  end
  return list, names
end

local function list_of(fits)
  return function(value)
    if type(value) ~= 'table' or (#value == 0 and next(value) ~= nil) then return false end
    for i = 1, #value do
      if not fits(value[i]) then return false end
    end
    local n = rawlen(value)
    local name = next(value, n > 0 and n or nil)
    return name == nil or name == 'n' -- table.pack's n; other names would be ignored
  end
end

-- A list of any values without names.
local function is_array(value)
  if type(value) ~= 'table' then return false end
  local n = rawlen(value)
  return type(next(value, n > 0 and n or nil)) ~= 'string'
end

-- Parameters (parameters_of.lua).
local function is_parameters(value) return type(value) == 'userdata' or type(value) == 'function' or is_array(value) end

--- Whether a list before names is the value of an argument of the kind although its first entry
--- alone is one too: SGD {net, head, lr = 0.1}, asarray {1, 2, dtype = torch.int32}.
function kinds.prefers_list(kind, list)
  if kind and kind:find 'array' then return true end
  if kind ~= 'parameters' then return false end
  for _, entry in ipairs(list) do
    if type(entry) == 'number' or type(entry) == 'boolean' then return false end
  end
  return true
end

local function either(a, b)
  return function(value) return a(value) or b(value) end
end

local function is_device(value)
  return torch.type(value) == 'device' or type(value) == 'string' or is_integer(value) and value >= 0
end

local function is_dtype(value) return torch.type(value) == 'dtype' or type(value) == 'string' end

-- Values with a length, which is the number of samples.
local function is_data(value)
  return type(value) == 'table' or type(value) == 'userdata' and debug.getmetatable(value).__len ~= nil
end

local fits = {
  data = is_data, parameters = is_parameters, array = is_array,
  Tensor = is_tensor, number = lua_type 'number', integer = is_integer, boolean = lua_type 'boolean', string = lua_type 'string',
  table = lua_type 'table', userdata = lua_type 'userdata', ['function'] = is_callable, named = kinds.is_named,
  device = is_device, dtype = is_dtype, any = function(value) return value ~= nil end,
  Module = object_of 'torch.nn.module', Optimizer = object_of 'torch.optim.optimizer',
  Generator = named_type 'Generator', Stream = named_type 'Stream', CUDAGraph = named_type 'CUDAGraph',
  sizes = either(is_integer, list_of(is_integer)), numbers = either(lua_type 'number', list_of(lua_type 'number')),
  tensors = list_of(is_tensor), list = list_of(function(value) return value ~= nil end), times = list_of(lua_type 'number'), integers = list_of(is_integer), functions = list_of(is_callable), Unmade = function(value) return torch.type(value):find '^Uninitialized' ~= nil end, PackedSequence = named_type 'PackedSequence',
  Ranks = named_type 'ltensor.Ranks', none = function(value) return value == false end, complex = named_type 'complex',
  value = function(value) return value ~= nil and not kinds.is_named(value) end,
}

local words = {
  data = 'a data set', parameters = 'a Tensor, a Module, a list of them or an iterator', array = 'a table of numbers',
  Tensor = 'a Tensor', number = 'a number', integer = 'an integer', boolean = 'true or false', string = 'a string', table = 'a table',
  ['function'] = 'a function', named = 'a table of named arguments', device = 'a device', dtype = 'a dtype', any = 'given',
  Module = 'a Module', Optimizer = 'an Optimizer', Generator = 'a Generator', Stream = 'a Stream', CUDAGraph = 'a CUDAGraph', sizes = 'an integer or a table of integers',
  numbers = 'a number or a table of numbers', integers = 'a table of integers', times = 'a list of numbers', functions = 'a list of Modules or functions', tensors = 'a list of Tensors', list = 'a list', Unmade = 'one that a lazy layer will make', PackedSequence = 'a PackedSequence', userdata = 'an object', Ranks = 'a process group (new_group)', none = 'false', complex = 'a complex number', value = 'given',
}

-- Parsed kinds by their text: { optional =, 'Tensor', 'number' }.
local parsed = setmetatable({}, { __index = function(known, text)
  local parts = { optional = text:sub(-1) == '?' }
  for name in text:gmatch '[%a]+' do parts[#parts + 1] = assert(fits[name] and name, text) end
  known[text] = parts
  return parts
end })

--- Whether the value is of the kind.
function kinds.fits(value, kind)
  local parts = parsed[kind]
  if value == nil then return parts.optional end
  for i = 1, #parts do
    if fits[parts[i]](value) then return true end
  end
  return false
end

function kinds.with_article(name) return (name:find '^[aeioAEIO]' and 'an ' or 'a ') .. name end

local function described(value)
  local name = torch.type(value)
  if name == 'nil' then return 'nil' end
  if name == 'boolean' then return tostring(value) end
  if name == 'string' and #value <= 20 then return ("'%s'"):format(value) end
  return kinds.with_article(name)
end
kinds.described = described

local function expected(kind)
  local list = {}
  for i, name in ipairs(parsed[kind]) do list[i] = words[name] end
  return table.concat(list, ' or ')
end

--- Raises an error if the value is not of the kind.
function kinds.check(what, name, value, kind)
  if kinds.fits(value, kind) then return end
  if value == nil then
    local text = expected(kind)
    fail("%s() missing 1 required argument: '%s'%s", what, name, text:find 'given' and '' or (' (%s)'):format(text))
  end
  fail("%s(): argument '%s' must be %s, not %s", what, name, expected(kind), described(value))
end

-- A model of more layers than this exceeds the memory of any machine: the objects of 2^20 empty
-- layers take 10 GB.
local MOST_LAYERS = 1 << 20

--- Raises an error for a number of layers that is negative or too large to be created.
function kinds.check_count(what, name, n)
  if n >= 0 and n <= MOST_LAYERS then return end
  fail('%s(): %s is %d; it must be between 0 and %d', what, name, n, MOST_LAYERS)
end

--- Raises an error for values behind the only argument of a function.
function kinds.refuse_surplus(what, ...)
  if (...) ~= nil then fail('%s() takes 1 argument but %d were given', what, 1 + select('#', ...)) end
end

--- Raises an error unless a table is a list without names and without nil. n: the number of values,
--- if it is known.
function kinds.check_list(what, list, n)
  no_holes(what .. '()', list, n)
  for key in next, list do
    if type(key) == 'string' and key ~= 'n' then fail("%s() takes a list without names, but it has the name '%s'", what, key) end
  end
end

--- The remedy for a surplus argument, to be appended to the message: a call with several results as
--- the last argument passes all of them, and they are tensors.
function kinds.surplus_hint(value)
  return is_tensor(value) and '; put a last argument that is a call with several results in parentheses: f(x, (y:sort()))' or ''
end

--- kinds.refuse_name(what, name, names) raises that what() takes no argument of this name, and
-- lists the valid names.
kinds.refuse_name = torch._C.refuse_name

return kinds
