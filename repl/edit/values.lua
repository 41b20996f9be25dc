-- Static values: members of objects, and the value of an expression before the cursor, without
-- running code.
--
-- Reads raw tables, `__index` tables (20 levels), fields in the first user value of a userdata, the
-- tables `__methods` and `__fields` of metatables with a function as `__index`, and the names of
-- repl.edit.lazy for modules that are not loaded. `__fields` has the names of computed fields as
-- keys, or is a list of such tables. For calls and fields it uses declared results: of operations,
-- classes and string functions, of the fields of tensors. Does not call user code or load a module.
-- May use repl.lexer, repl.annotations, repl.echo and repl.edit.lazy.

local annotations = require 'repl.annotations'
local lazy = require 'repl.edit.lazy'
local lexer = require 'repl.lexer'

local values = {}

local DEPTH = 20

-- ---- reading objects -----------------------------------------------------------------------

-- Stands for an object of a type of the library that would exist only after running code:
-- {metatable}.
local Instance = {}

local function instance(type_name)
  local metatable = debug.getregistry()['ltensor.' .. type_name]
  return type(metatable) == 'table' and setmetatable({metatable = metatable}, Instance) or nil
end

local function is_instance(value) return type(value) == 'table' and debug.getmetatable(value) == Instance end

-- Whether the value is an object of the library or of a class, whose methods follow a colon.
function values.is_object(value) return type(value) == 'userdata' or is_instance(value) end

local function metatable_of(value)
  if is_instance(value) then return value.metatable end
  return debug.getmetatable(value)
end

-- The members of torch.ops and of its namespaces, which a function finds.
local function own_operations(value)
  local ops = package.loaded['torch.library.ops']
  return type(value) == 'table' and ops and ops.__members(value)
end

-- The tables that contain a value's members, in order of lookup.
local function member_tables(value)
  local found = {own_operations(value) or nil}
  for _ = 1, DEPTH do
    local metatable = metatable_of(value)
    if type(value) == 'table' and not is_instance(value) then
      found[#found + 1] = value
    elseif type(value) == 'userdata' then
      local fields = debug.getuservalue(value, 1)
      if type(fields) == 'table' then found[#found + 1] = fields end
    end
    if type(metatable) ~= 'table' then break end
    local index = rawget(metatable, '__index')
    if type(index) ~= 'table' then index = rawget(metatable, '__methods') end
    if type(index) ~= 'table' or index == value then break end
    value = index
  end
  return found
end

-- Calls add(name) for each computed field of the value.
local function each_computed(value, add)
  local metatable = metatable_of(value)
  local fields = type(metatable) == 'table' and rawget(metatable, '__fields')
  if type(fields) ~= 'table' then return end
  for _, names in ipairs(rawget(fields, 1) and fields or {fields}) do
    for _ = 1, DEPTH do
      if type(names) ~= 'table' then break end
      for name in next, names do add(name) end
      local parent = debug.getmetatable(names)
      names = type(parent) == 'table' and rawget(parent, '__index')
    end
  end
end

-- The table of the methods of tensors; empty when there is no torch.
function values.tensor_members()
  local metatable = debug.getregistry()['ltensor.Tensor']
  return type(metatable) == 'table' and rawget(metatable, '__methods') or {}
end

-- Whether tensors have a field of this name, which is not a method.
function values.is_tensor_field(name)
  local found = false
  each_computed(instance 'Tensor', function(field) found = found or field == name end)
  return found
end

-- Types of fields and of results of methods of a tensor; reading the fields would run code.
local tensor_fields = {shape = 'Size', dtype = 'dtype', device = 'device', grad_fn = 'Node'}
for name in ('grad data T mT H mH real imag'):gmatch '%S+' do tensor_fields[name] = 'Tensor' end
local tensor_methods = {size = 'Size'}

-- Whether the value is a tensor, or stands for an unknown one.
function values.is_tensor(value)
  local metatable = (type(value) == 'userdata' or is_instance(value)) and metatable_of(value)
  return type(metatable) == 'table' and rawget(metatable, '__methods') == values.tensor_members()
end

local function raw_member(value, key)
  if getmetatable(value) == lazy.Part then return lazy.member(value, key) end
  for _, holder in ipairs(member_tables(value)) do
    local member = rawget(holder, key)
    if member ~= nil then return member end
    local later = type(key) == 'string' and lazy.member(holder, key)
    if later then return later end
  end
  local type_name = values.is_tensor(value) and (math.type(key) == 'integer' and 'Tensor' or tensor_fields[key])
  return type_name and instance(type_name) or nil
end

local function is_callable(value)
  if type(value) == 'function' then return true end
  local metatable = debug.getmetatable(value)
  return type(metatable) == 'table' and rawget(metatable, '__call') ~= nil
end

local function is_class(value)
  local metatable = debug.getmetatable(value)
  return type(value) == 'table' and type(metatable) == 'table' and rawget(metatable, '__name') == 'class'
end

-- The kind of a value for the menu of completions. `called`: the kind of a function; `other`: the
-- kind of a value without one.
function values.kind(value, called, other)
  if type(value) == 'function' then return called end
  if type(value) ~= 'table' and type(value) ~= 'userdata' then return other end
  if is_class(value) then return 'class' end
  local metatable = debug.getmetatable(value)
  if type(metatable) == 'table' and rawget(metatable, '__name') == 'dtype' then return 'dtype' end
  return type(value) == 'table' and lazy.module_of(value) and 'module' or other
end

-- Sorted names of the members that begin with `prefix`, and their kinds by name; names with a
-- leading underscore only if the prefix has one.
function values.members(value, prefix, callable_only)
  local kinds, names = {}, {}
  local function matches(key)
    return type(key) == 'string' and not kinds[key] and key:sub(1, #prefix) == prefix and
      key:find '^[%a_][%w_]*$' and not lexer.keywords[key] and (prefix ~= '' or key:sub(1, 1) ~= '_')
  end
  local function add(key, kind)
    kinds[key] = kind
    names[#names + 1] = key
  end
  if getmetatable(value) == lazy.Part then
    for key in next, lazy.names(value) do
      if matches(key) then add(key, lazy.kind(value, key)) end
    end
    table.sort(names)
    return names, kinds
  end
  local is_module, own = type(value) == 'table' and lazy.module_of(value), own_operations(value)
  for _, holder in ipairs(member_tables(value)) do
    local called = (is_module or own or rawequal(holder, value)) and 'function' or 'method'
    local checks = rawget(holder, '__classname') and package.loaded['torch.support.argument_checks']
    for key, member in next, holder do
      if matches(key) and not (checks and checks.is_internal(key, member)) and (not callable_only or is_callable(member)) then
        add(key, values.kind(member, called, is_module and 'value' or 'field'))
      end
    end
    lazy.each_name(holder, function(key)
      if matches(key) then add(key, lazy.kind(holder, key)) end
    end)
  end
  if not callable_only then
    each_computed(value, function(key)
      if matches(key) then add(key, 'field') end
    end)
  end
  table.sort(names)
  return names, kinds
end

-- ---- the text before the cursor ------------------------------------------------------------

-- The value of the name, live locals first; nil if there is none.
local function value_of_name(session, name)
  local value, found = (session.inspected or session.scope):get(name)
  if found then return value end
  return raw_member(session.environment, name)
end

local opening = {[')'] = '(', ['}'] = '{', [']'] = '['}

-- The index of the bracket that `tokens[last]` closes.
local function opened_at(tokens, last)
  local depth = 0
  for index = last, 1, -1 do
    local kind = tokens[index].kind
    if opening[kind] then depth = depth + 1
    elseif kind == '(' or kind == '{' or kind == '[' then
      depth = depth - 1
      if depth == 0 then return index end
    end
  end
end

-- Functions of the string library that return a string.
local gives_string = {}
for name in ('format gsub lower rep reverse sub upper'):gmatch '%S+' do gives_string[name] = true end

-- The result of calling `callee`, the member `name` of `owner`; nil if it is unknown without the
-- call.
local function result_of(callee, owner, name)
  if is_class(callee) then return callee end
  local torch = package.loaded.torch
  if type(torch) ~= 'table' then return nil end
  if getmetatable(callee) == lazy.Part then -- a class that is not loaded: assume the members of nn.Module
    return callee.module:find '^torch%.nn%.' and setmetatable({module = 'torch.nn.module'}, lazy.Part) or nil
  end
  if type(callee) ~= 'function' or not name then return nil end
  if type(owner) == 'string' or rawequal(owner, string) then return gives_string[name] and '' or nil end
  local prefix = rawequal(owner, package.loaded['torch.linalg']) and 'linalg_' or rawequal(owner, package.loaded['torch.fft']) and 'fft_'
  if not (prefix or values.is_tensor(owner) or rawequal(owner, torch)) then return nil end
  if values.is_tensor(owner) and tensor_methods[name] then return instance(tensor_methods[name]) end
  local docs = rawget(torch, '_docs')()
  local entry = prefix and rawget(docs, prefix .. name) or rawget(docs, name)
  local signature = type(entry) == 'table' and rawget(entry, 'signature')
  if type(signature) == 'string' then return signature:find '%->%s*Tensor' and instance 'Tensor' or nil end
  local annotated = rawequal(owner, torch) and annotations.of_function('torch.' .. name)
  return annotated and annotated.result and instance(annotated.result:match '^torch%.(%w+)' or '') or nil
end

local value_at

-- The value of the call with arguments from `tokens[first]` on, and the index of its first token.
local function value_of_call(session, tokens, first)
  local callee, start, owner = value_at(session, tokens, first - 1)
  local name = tokens[first - 1]
  return result_of(callee, owner, name.kind == 'name' and name.text or nil), start
end

local function can_be_called(token) return token ~= nil and (token.kind == 'name' or opening[token.kind] ~= nil or token.kind == 'string') end

-- The value of the expression of names, fields, indices and calls that ends with `tokens[last]`, or
-- nil if it is unknown without running code; the index of its first token; and the object of which
-- the value is a member.
function value_at(session, tokens, last)
  local token, before = tokens[last], tokens[last - 1]
  if not token then return nil, last end
  if token.kind == 'name' then
    if not before or (before.kind ~= '.' and before.kind ~= ':') then return value_of_name(session, token.text), last end
    local owner, start = value_at(session, tokens, last - 2)
    if owner == nil then return nil, start end
    return raw_member(owner, token.text), start, owner
  elseif token.kind == 'string' then
    if can_be_called(before) then return value_of_call(session, tokens, last) end
    return '', last
  end
  local first = opening[token.kind] and opened_at(tokens, last)
  if not first then return nil, last end
  if token.kind == ']' then
    local owner, start = value_at(session, tokens, first - 1)
    local key = first == last - 2 and tokens[last - 1]
    if owner == nil or not key then return nil, start end
    if key.kind == 'number' then return raw_member(owner, math.tointeger(tonumber(key.text))), start, owner end
    return key.kind == 'string' and raw_member(owner, key.text:sub(2, -2)) or nil, start, owner
  end
  if can_be_called(tokens[first - 1]) then return value_of_call(session, tokens, first) end
  if token.kind == ')' then
    local value, start = value_at(session, tokens, last - 1)
    return start == first + 1 and value or nil, first
  end
  return nil, first
end

-- The value of the expression that ends with `tokens[last]`, or nil.
function values.of_tokens(session, tokens, last) return (value_at(session, tokens, last)) end

-- The value of a path of fields such as `a.b.c`, read without running code; nil if there is none.
function values.of_path(session, path)
  local tokens = lexer.tokens(path)
  return values.of_tokens(session, tokens, #tokens)
end

-- The value of the expression before `.name` or `:name` in the line, nil if unknown; and its text.
function values.owner_of(session, line, name)
  local tokens = lexer.tokens(line)
  for index = 3, #tokens do
    local before = tokens[index - 1].kind
    if tokens[index].text == name and (before == '.' or before == ':') then
      local value, start = value_at(session, tokens, index - 2)
      return value, tokens[start] and line:sub(tokens[start].start, tokens[index - 2].stop) or ''
    end
  end
end

-- The named arguments of the library's Lua function at `tokens[at]`, from its declaration.
function values.declared_arguments(session, tokens, at)
  local value = value_at(session, tokens, at)
  local name = tokens[at].text
  if getmetatable(value) == lazy.Part then -- a function of a module that is not loaded
    return lazy.function_arguments(value.module:match '^(.*)%.' or value.module, name)
  end
  if type(value) ~= 'function' then return {} end
  local library = require('repl.echo').library_name(value, name)
  local annotated = library and library:find '^torch%.' and annotations.of_function(library:match '[%w_]+%.[%w_]+$')
  if annotated then
    local names = annotated.options
    for _, argument in ipairs(annotated.arguments) do
      if argument[1] ~= 'options' then names[#names + 1] = argument[1] end
    end
    return names
  end
  local info = debug.getinfo(require('torch.support.argument_checks').original(value), 'S')
  local module = info.source:match '^=%[ltensor (torch%..+)%]$'
  return module and lazy.function_arguments(module, name) or {}
end

-- The module and the name of the torch class at `tokens[at]`, loaded or not; nil if it is not a
-- class.
function values.class_at(session, tokens, at)
  local value, _, owner = value_at(session, tokens, at)
  if getmetatable(value) == lazy.Part then return value.module, value.name end
  if not is_class(value) then return nil end
  local part = owner ~= nil and lazy.member(owner, tokens[at].text)
  if part then return part.module, part.name end
end

return values
