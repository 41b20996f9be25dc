-- arguments.lua - declares functions written in Lua, and reads their arguments by the declaration.
--
--   declare('constant_(Tensor tensor, number|Tensor val)', f)
--   declare('normal_(Tensor tensor, number mean=0.0, *, Generator? generator=nil)', f)
--
-- returns a function that calls f with all values in the declared order and with defaults. A call
-- passes positional values, then a last table of named ones.
-- - A kind (argument_kinds.lua), if written, is checked; a question mark or a default allows nil.
-- - Arguments after * are keyword-only.
-- - '...' collects surplus positional values, which f receives last. With 'any ...' they belong to
--   a function of the caller, and a last table is a value unless all its names are keyword-only
--   arguments.
-- - Missing, surplus, unknown and repeated arguments are errors that name the declared ones.
-- - Other names are accepted as by ops (src/lua/arg_messages.c).
-- - A last table of names is a value if the argument at its position accepts such tables, unless
--   all its names are declared or misspelled declared ones.
-- - One table may hold positional values and names: f {2, padding = 1}. If only its whole list fits
--   the first argument, the list is the value of that: pad_sequence {x, y, batch_first = true}.
-- - `false` means absent for arguments that allow nil and no booleans.
--
-- Declarations are parsed on the first call, because a program calls few of the functions that it
-- loads.

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local M = {}

-- The declaration of each declared function and class, or a function that creates it.
local declared = setmetatable({}, { __mode = 'k' })

-- ops: op names by function, for functions with the declaration of an op (scripted.lua).
-- constructors: declarations of readers by class name.
M.ops, M.constructors = setmetatable({}, { __mode = 'k' }), {}

--- The declaration of a function or class, or nil. Tests compare declarations with PyTorch's.
function M.signature_of(value)
  local signature = declared[value]
  if type(signature) ~= 'function' then return signature end
  return signature()
end

-- ---- declarations -------------------------------------------------------------------------------

local ALIASES = torch._C.argument_aliases()

local function default_of(text)
  if text == '' or text == 'nil' then return nil end
  return load('return ' .. text, text, 't', {})()
end

-- Splits a list at its commas, except inside of braces and quotes.
local function parts_of(text)
  local list = {}
  local function kept(quoted) return (quoted:gsub(',', '\1')) end
  text = text:gsub("'[^']*'", kept):gsub('%b{}', kept)
  for part in text:gmatch '[^,]+' do list[#list + 1] = part:gsub('\1', ','):match '^%s*(.-)%s*$' end
  return list
end

-- Maps each argument name to its position: its own name, and aliases that are not names of other
-- arguments.
local function index_of(signature, first)
  local index = {}
  for i = first or 1, #signature do index[signature[i].name] = i end
  for i = first or 1, #signature do
    for _, alias in ipairs(ALIASES[signature[i].name] or {}) do index[alias] = index[alias] or i end
  end
  return index
end
M.index_of = index_of

--- Parses a declaration: { name =, positional = number of positional arguments, rest = accepts
--- surplus ones, foreign = these belong to a function of the caller, names = {...}, index = {
--- [name] = position }, { name =, kind =, optional =, default = }, ... }.
function M.parse(text)
  local name, inside = text:match '^%s*([%w_.]+)%s*(%b())'
  local list = { name = name, names = {} }
  for _, part in ipairs(parts_of(inside:sub(2, -2))) do
    local left, default = part:match '^([^=]*)=?(.*)$'
    local kind, argument = left:match '^(%S+)%s+([%w_]+)$'
    if part == '*' then
      list.positional = list.positional or #list
    elseif part:find '%.%.%.$' then
      list.positional, list.rest, list.foreign = #list, true, part ~= '...'
    else
      argument = argument or left
      list[#list + 1] = { name = argument, kind = kind, default = default_of(default),
        optional = default ~= '' or kind ~= nil and kind:sub(-1) == '?' }
      list.names[#list.names + 1] = argument
    end
  end
  list.positional = list.positional or #list
  list.index = index_of(list)
  return list
end

-- ---- reading ------------------------------------------------------------------------------------

local function fits(value, a) return not a.kind or kinds.fits(value, a.kind) end

-- True if all names in a table are declared, or misspelled declared ones. first: the position of
-- the first argument that may be named.
local function all_declared(signature, value, first)
  for name in next, value do
    local i = signature.index[name]
    if i and i < first or not i and not torch._C.nearest_name(name, signature.names) then return false end
  end
  return true
end

-- True if the n-th value, the last one, is the table of names.
local function is_names(signature, value, n)
  if not kinds.is_named(value) then return false end
  if signature.foreign and n > signature.positional then return next(value) ~= nil and all_declared(signature, value, signature.positional + 1) end
  local a = n <= signature.positional and signature[n] or nil
  if not a or not fits(value, a) then return true end
  if next(value) == nil then return false end -- an empty list, if the argument may be a list
  return all_declared(signature, value, 1)
end

-- Remedies for surplus arguments, by the name of the function in messages.
M.surplus_hints = {}

local function refuse_number(signature, n, last)
  local own = signature.is_self and 1 or 0
  local most = signature.positional - own
  n = n - own
  if #signature.names == 0 then fail('%s() takes no arguments but %d %s given', signature.name, n, n == 1 and 'was' or 'were') end
  local hint = M.surplus_hints[signature.name]
  fail('%s() takes at most %d positional argument%s but %d were given: %s%s', signature.name, most, most == 1 and '' or 's', n,
    table.concat(signature.names, ', '), hint and '; ' .. hint or kinds.surplus_hint(last))
end

local function read_names(signature, values, named)
  for name, value in next, named do
    local i = signature.index[name]
    if not i then kinds.refuse_name(signature.name, name, signature.names) end
    if values[i] ~= nil then fail("%s() got multiple values for argument '%s'", signature.name, signature[i].name) end
    values[i] = value
  end
end

-- Splits the table at position `at`, the last value, into its list and its names. The list is the
-- value of the argument there if only the whole list fits it, else its entries are the values from
-- there on. Returns the values, their number, and the names; nil if the table is itself a value.
local function parted(signature, given, at)
  local mixed = given[at]
  if type(mixed) ~= 'table' or getmetatable(mixed) ~= nil or #mixed == 0 or kinds.is_list(mixed) then return nil end
  local a, list, named, n = signature[at], {}, {}, #mixed
  for key, value in next, mixed do
    if math.type(key) == 'integer' and key >= 1 and key <= n then list[key] = value
    elseif (signature.index[key] or 0) >= at then named[key] = value
    elseif type(key) ~= 'string' or not a or fits(mixed, a) then return nil
    else kinds.refuse_name(signature.name, key, signature.names) end
  end
  if next(named) == nil then return nil end
  local values = table.move(given, 1, at - 1, 1, {})
  if a and fits(list, a) and (kinds.prefers_list(a.kind, list) or not fits(list[1], a)) then
    values[at], values[at + 1] = list, named
    return values, at + 1
  end
  table.move(list, 1, n, at, values)
  values[at + n] = named
  return values, at + n
end

--- The n values of a call in the order of the declaration, without defaults and unchecked; and the
-- number of positional ones.
function M.bind(signature, given, n)
  local values, named = {}, nil
  while n > 0 and given[n] == nil do n = n - 1 end -- nil is absent
  if n == (signature.is_self and 2 or 1) then
    local row, count = parted(signature, given, n)
    if row then given, n = row, count end
  end
  if n > 0 and is_names(signature, given[n], n) then named, n = given[n], n - 1 end
  if n > signature.positional and not signature.rest then refuse_number(signature, n, given[n]) end
  table.move(given, 1, math.min(n, signature.positional), 1, values)
  if named then read_names(signature, values, named) end
  return values, n
end

--- Fills in the defaults and checks the values.
function M.complete(signature, values)
  for i = 1, #signature do
    local a, value = signature[i], values[i]
    if i == 1 and signature.is_self then
      if not signature.is_self(value) then checked.refuse_self(signature.name:match '[^.]+$', signature.class, value) end
    elseif value == nil then
      if not a.optional then
        if a.kind then kinds.check(signature.name, a.name, nil, a.kind) end
        fail("%s() missing 1 required argument: '%s'", signature.name, a.name)
      end
      values[i] = a.default
    elseif a.kind and not kinds.fits(value, a.kind) then
      if value ~= false or not a.optional or a.default ~= nil then kinds.check(signature.name, a.name, value, a.kind) end
      values[i] = nil
    end
  end
  return values
end

-- Reads the arguments of a call in general; the fast path handles positional values that match.
local function read(signature, ...)
  local given = table.pack(...)
  local values, n = M.bind(signature, given, given.n)
  M.complete(signature, values)
  local count = #signature
  if signature.rest then
    for i = signature.positional + 1, n do
      count = count + 1
      values[count] = given[i]
    end
  end
  return table.unpack(values, 1, count)
end

-- ---- the functions ------------------------------------------------------------------------------

-- Inline tests of kinds, which avoid a call of kinds.fits.
local TESTS = { Tensor = 'is_tensor(%s)', number = "type(%s) == 'number'", boolean = "type(%s) == 'boolean'", string = "type(%s) == 'string'",
  integer = "math_type(%s) == 'integer'" }

-- The source of the condition that argument i fits and is not the table of names.
local function condition(signature, i)
  local a, p = signature[i], 'p' .. i
  if i == 1 and signature.is_self then return 'is_self(p1)' end
  local kind = a.kind and a.kind:gsub('%?$', '')
  local test = kind and (TESTS[kind] or kind == 'any' and '%s ~= nil' or 'fits(%s, kind' .. i .. ')')
  local parts = { test and test:format(p, p) or not a.optional and p .. ' ~= nil' or nil }
  if not TESTS[kind] then
    local behind = i < signature.positional and ('p%d ~= nil or '):format(i + 1) or ''
    parts[#parts + 1] = ("(type(%s) ~= 'table' or %sis_list(%s))"):format(p, behind, p) -- names, or a list with names, are read in general
  end
  local text = #parts > 0 and table.concat(parts, ' and ') or 'true'
  return a.optional and ('(%s == nil or %s)'):format(p, text) or text
end

-- The source of a wrapper that reads positional values without creating a table; keyword-only
-- arguments then have their defaults.
local function source_of(signature)
  local upvalues, parameters, conditions, defaults, values = { 'f', 'read', 'signature', 'fits', 'is_tensor', 'math_type', 'is_self', 'is_list' }, {}, {}, {}, {}
  for i, a in ipairs(signature) do
    upvalues[#upvalues + 1] = 'kind' .. i
    upvalues[#upvalues + 1] = 'default' .. i
    if i <= signature.positional then
      parameters[i] = 'p' .. i
      conditions[#conditions + 1] = condition(signature, i)
      if a.default ~= nil then defaults[#defaults + 1] = ('if p%d == nil then p%d = default%d end'):format(i, i, i) end
      values[i] = 'p' .. i
    else
      if not a.optional then conditions[#conditions + 1] = 'false' end
      values[i] = 'default' .. i
    end
  end
  local list = table.concat(parameters, ', ')
  return ([[local %s = ...
return function(%s...)
  if select('#', ...) == 0%s then
    %s
    return f(%s)
  end
  return f(read(signature%s, ...))
end]]):format(table.concat(upvalues, ', '), #parameters > 0 and list .. ', ' or '', #conditions > 0 and ' and ' .. table.concat(conditions, ' and ') or '',
    table.concat(defaults, ' '), table.concat(values, ', '), #parameters > 0 and ', ' .. list or '')
end

local compiled = {} -- by source, which many declarations share

local function compile(source)
  local chunk = compiled[source]
  if not chunk then
    chunk = assert(load(source, '=[ltensor arguments]', 't', { select = select, type = type }))
    compiled[source] = chunk
  end
  return chunk
end

-- Wraps f to read the arguments of a signature.
local function calling(signature, f)
  local constants = {}
  for i, a in ipairs(signature) do
    constants[2 * i - 1], constants[2 * i] = a.kind and (a.kind:gsub('%?$', '')), a.default
  end
  return compile(source_of(signature))(f, read, signature, kinds.fits, torch.is_tensor, math.type, signature.is_self, kinds.is_list, table.unpack(constants, 1, 2 * #signature))
end

local function by_name(signature, first, ...)
  local values = {}
  for i = first, #signature do values[signature[i].name] = (select(i - first + 1, ...)) end
  return values
end

-- The position of the caller's function, which its own arguments follow, among n values; n + 1 if
-- there is none.
local function body_of(signature, given, n)
  local named = n > 0 and kinds.is_named(given[1])
  for i = 1, n do
    local a = not named and signature[i]
    if kinds.fits(given[i], 'function?') and given[i] ~= nil and not (a and a.kind and a.kind:find 'function') then return i end
  end
  return n + 1
end

-- Wraps the unchecked f by each form of a declared function.
local FORMS = {
  -- f receives one table with all arguments by name.
  names = function(signature, f)
    return calling(signature, function(...) return f(by_name(signature, 1, ...)) end)
  end,
  -- f receives the positional arguments, and then one table with the keyword-only ones.
  options = function(signature, f)
    local n = signature.positional
    return calling(signature, function(...)
      local values = { ... }
      values[n + 1] = by_name(signature, n + 1, select(n + 1, ...))
      return f(table.unpack(values, 1, n + 1))
    end)
  end,
  -- f receives self, and one table with all other arguments by name.
  named_method = function(signature, f)
    return calling(signature, function(self, ...) return f(self, by_name(signature, 2, ...)) end)
  end,
  -- f opens a scope: a call may end with a function to run in the scope, and its arguments, which f
  -- receives last.
  scope = function(signature, f)
    return function(...)
      local given, n = { ... }, select('#', ...)
      local body = body_of(signature, given, n)
      local values = M.complete(signature, (M.bind(signature, given, body - 1)))
      table.move(given, body, n, #signature + 1, values)
      return f(table.unpack(values, 1, #signature + math.max(n - body + 1, 0)))
    end
  end,
}

-- Wraps f to read the arguments of the signature that make_signature creates, on the first call.
local function declare_lazily(make_signature, f, form)
  local signature, call
  local function signature_now()
    signature = signature or make_signature()
    return signature
  end
  function call(...)
    call = (FORMS[form] or calling)(signature_now(), f)
    return call(...)
  end
  local function wrapped(...) return call(...) end
  declared[wrapped], checked.originals[wrapped] = signature_now, f
  return wrapped
end

--- Wraps f to read the declared arguments. text: the declaration, or the result of parse. form: a
--- key of FORMS;
--- nil: f receives the values in the declared order.
function M.declare(text, f, form)
  return declare_lazily(function() return type(text) == 'string' and M.parse(text) or text end, f, form)
end

--- Wraps f, which receives one table with all declared arguments by name.
function M.by_name(text, f) return M.declare(text, f, 'names') end

--- Wraps f, which receives the positional arguments and then one table with the keyword-only ones.
function M.with_options(text, f) return M.declare(text, f, 'options') end

local function each_declaration(text) return text:gmatch '[%w_]+%b()' end

--- Wraps the functions of a library module in place, by a text with one declaration after the
--- other. form: as for declare.
function M.functions(module, text, form)
  for declaration in each_declaration(text) do
    local name = declaration:match '^[%w_]+'
    module[name] = M.declare(declaration, (assert(module[name], declaration)), form)
  end
  return module
end

local function is_object(value) return type(value) == 'userdata' and not torch.is_tensor(value) end

local function method_signature(class, name, text, is_self)
  local signature = M.parse(text)
  signature.is_self, signature.class = is_self or is_object, class.__classname
  if name == 'init' then signature.name = class.__classname elseif name == 'forward' then signature.name = class.__classname .. '.forward' end
  signature.index = index_of(signature, 2)
  table.remove(signature.names, 1)
  return signature
end

-- The number of positional arguments of a declaration, found without parsing it.
local function count_positional(text)
  local inside = text:match '%(([^*]*)'
  local _, commas = inside:gsub(',', '')
  return text:find '^[%w_]+%(%)' and 0 or text:find('*', 1, true) and commas or commas + 1
end

--- Declares C functions of the module in place, which read positional values themselves; the reader
--- handles names and surplus values. name, is_self: as for metatable_methods, of methods. A last
--- argument of the kind any may be a table, which then does not hold names.
function M.native(holder, text, name, is_self)
  for declaration in each_declaration(text) do
    local function_name, signature = declaration:match '^[%w_]+', nil
    local function signature_now()
      signature = signature or (name and method_signature({ __classname = name }, function_name, declaration, is_self) or M.parse(declaration))
      return signature
    end
    local f = assert(holder[function_name], declaration)
    local call = torch._C.declared(f, count_positional(declaration), declaration:find 'any%?? [%w_]+%)' ~= nil,
      function(...) return read(signature_now(), ...) end)
    declared[call], checked.originals[call] = signature_now, f
    holder[function_name] = call
  end
end

--- Stores that a function accepts the arguments of f, to which it passes them on.
function M.wrapping(wrapper, f)
  local name, in_nn = torch._C.op_name(f)
  local op = M.ops[f] or in_nn and 'nn.functional.' .. name or name
  if op then M.ops[wrapper] = op else declared[wrapper] = function() return M.signature_of(f) end end
end

--- Stores the declarations of C functions that read names themselves.
function M.describe(holder, text)
  for declaration in each_declaration(text) do
    local f = assert(holder[declaration:match '^[%w_]+'], declaration)
    declared[f] = function() return M.parse(declaration) end
  end
end

--- A function that returns the arguments of a call as one table by name:
-- `local read = reader 'Linear(integer in_features, ...)'`. text: the declaration, or the result of
-- parse. class: the class of the constructor, if its name differs.
function M.reader(text, class)
  local signature = type(text) == 'table' and text or nil
  M.constructors[class or signature and signature.name or text:match '^%s*([%w_.]+)'] = text
  return function(...)
    signature = signature or M.parse(text)
    local values = M.complete(signature, (M.bind(signature, { ... }, select('#', ...))))
    local named = {}
    for i = 1, #signature do named[signature[i].name] = values[i] end
    return named
  end
end

--- The function `name` of a library file, or the function that the file returns; the file is loaded
-- on the first call.
function M.from_file(file, name)
  local function target()
    local part = require(file)
    return name and part[name] or part
  end
  local function call(...) return target()(...) end
  declared[call] = function() return M.signature_of(target()) end
  return call
end

--- Wraps f by its own list of parameters. kind_of(parameter): the kind of each, nil for any. class,
--- is_self: for a method.
function M.of_locals(name, f, kind_of, class, is_self)
  local function make_signature()
    local parameters = {}
    for i = 1, debug.getinfo(f, 'u').nparams do parameters[i] = debug.getlocal(f, i) end
    local text = ('%s(%s)'):format(name, table.concat(parameters, ', '))
    local signature = class and method_signature(class, name, text, is_self) or M.parse(text)
    for i = class and 2 or 1, #signature do
      local a = signature[i]
      a.kind = kind_of(a.name)
      a.optional = not a.kind or a.kind:sub(-1) == '?'
    end
    return signature
  end
  return declare_lazily(make_signature, f)
end

--- Wraps f as a method of a class, by the text of its declaration. is_self: as for methods.
function M.method(class, text, f, is_self)
  local name = text:match '^[%w_]+'
  return declare_lazily(function() return method_signature(class, name, text, is_self) end, f)
end

--- Wraps methods in a metatable in place. name: of the class; is_self: tests whether a value is
--- such an object.
function M.metatable_methods(methods, name, text, is_self)
  for declaration in each_declaration(text) do
    local method = declaration:match '^[%w_]+'
    methods[method] = declare_lazily(function() return method_signature({ __classname = name }, method, declaration, is_self) end,
      (assert(methods[method], declaration)))
  end
  return methods
end

--- Wraps the methods of a class in place, by a text of declarations with self as first argument.
-- is_self: tests whether a value may be self (nil: any object). form: as for declare.
function M.methods(class, text, is_self, form)
  for declaration in each_declaration(text) do
    local name = declaration:match '^[%w_]+'
    local f = checked.original((assert(class[name], declaration)))
    local method = declare_lazily(function() return method_signature(class, name, declaration, is_self) end, f, form)
    if name == 'init' then declared[class] = declared[method] end
    rawset(class, name, method)
  end
  return class
end

--- Wraps methods of a class, which receive self and one table with all declared arguments by name.
function M.named(class, text) return M.methods(class, text, nil, 'named_method') end

return M
