-- What could stand before the cursor: names, fields, methods, magics, paths.
--
-- Completion only reads: raw tables, `__index` tables (20 deep), the fields that a userdata keeps
-- in its first user value, the table `__methods` of metatables whose `__index` is a function, and the
-- names in the field `__names` of tables that make their fields when these are first read.
-- It never calls user code, loads a module or raises. May use repl.lexer, repl.magic's names, and
-- repl.edit.readline for paths.

local lexer = require 'repl.lexer'

local complete = {}

local DEPTH = 20

-- ---- reading objects -----------------------------------------------------------------------

-- The tables that hold a value's members, nearest first.
local function member_tables(value)
  local found = {}
  for _ = 1, DEPTH do
    local metatable = debug.getmetatable(value)
    if type(value) == 'table' then
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

local function raw_member(value, key)
  for _, holder in ipairs(member_tables(value)) do
    local member = rawget(holder, key)
    if member ~= nil then return member end
  end
end

local function is_callable(value)
  if type(value) == 'function' then return true end
  local metatable = debug.getmetatable(value)
  return type(metatable) == 'table' and rawget(metatable, '__call') ~= nil
end

-- Sorted names of the members that begin with `prefix`; names with a leading underscore only when
-- the prefix has one.
function complete.members(value, prefix, callable_only)
  local seen, names = {}, {}
  local function add(key)
    if type(key) == 'string' and not seen[key] and key:sub(1, #prefix) == prefix and
      key:find '^[%a_][%w_]*$' and not lexer.keywords[key] and (prefix ~= '' or key:sub(1, 1) ~= '_') then
      seen[key] = true
      names[#names + 1] = key
    end
  end
  for _, holder in ipairs(member_tables(value)) do
    for key, member in next, holder do
      if not callable_only or is_callable(member) then add(key) end
    end
    local later = rawget(holder, '__names')
    if type(later) == 'table' then
      for key in next, later do add(key) end
    end
  end
  table.sort(names)
  return names
end

-- The table of the methods of tensors; empty when there is no torch.
function complete.tensor_members()
  local metatable = debug.getregistry()['Tensor']
  return type(metatable) == 'table' and rawget(metatable, '__methods') or {}
end

-- ---- the text before the cursor ------------------------------------------------------------

-- The value of the name, living locals first; nil when there is none.
local function value_of_name(session, name)
  local value, found = session.scope:get(name)
  if found then return value end
  return raw_member(session.environment, name)
end

-- The value of the chain `a.b[1].c` whose last token is `tokens[last]`; nil when it cannot be known
-- without running something.
local function value_of_chain(session, tokens, last)
  local keys, index = {}, last
  while true do
    local token = tokens[index]
    if not token then return nil end
    local before = tokens[index - 1] and tokens[index - 1].kind
    if token.kind == 'name' and before == '.' then
      table.insert(keys, 1, token.text)
      index = index - 2
    elseif token.kind == ']' and tokens[index - 2] and tokens[index - 2].kind == '[' and before == 'number' then
      table.insert(keys, 1, math.tointeger(tonumber(tokens[index - 1].text)) or 0)
      index = index - 3
    elseif token.kind == 'name' and before ~= ':' then
      local value = value_of_name(session, token.text)
      for _, key in ipairs(keys) do
        if value == nil then return nil end
        value = raw_member(value, key)
      end
      return value
    elseif token.kind == 'string' and #keys == 0 then
      return ''
    elseif token.kind == ')' and before == 'string' and tokens[index - 2] and tokens[index - 2].kind == '(' and
      #keys == 0 and not (tokens[index - 3] and (tokens[index - 3].kind == 'name' or tokens[index - 3].kind == ']')) then
      return '' -- ('text')
    else
      return nil
    end
  end
end

-- The value of a path of fields such as `a.b.c`, read without running anything; nil when it has none.
function complete.value_of(session, path)
  local tokens = lexer.tokens(path)
  return value_of_chain(session, tokens, #tokens)
end

-- The value of what stands before `.name` or `:name` in the line; nil when it cannot be known.
function complete.owner_of(session, line, name)
  local tokens = lexer.tokens(line)
  for index = 3, #tokens do
    local before = tokens[index - 1].kind
    if tokens[index].text == name and (before == '.' or before == ':') then
      return value_of_chain(session, tokens, index - 2)
    end
  end
end

-- Names that could stand alone: locals, globals, keywords, and what the text itself has named.
local function names(session, prefix, tokens)
  local seen, found = {}, {}
  local function add(name)
    if not seen[name] and name:sub(1, #prefix) == prefix then
      seen[name] = true
      found[#found + 1] = name
    end
  end
  for _, name in ipairs(session.scope:names()) do add(name) end
  for index = 1, #tokens - 1 do
    local before = index > 1 and tokens[index - 1].kind
    if tokens[index].kind == 'name' and before ~= '.' and before ~= ':' then add(tokens[index].text) end
  end
  for _, name in ipairs(complete.members(session.environment, prefix)) do add(name) end
  if prefix ~= '' then
    for name in pairs(lexer.keywords) do add(name) end
  end
  table.sort(found)
  return found
end

-- ---- inside quotes -------------------------------------------------------------------------

local function device_names()
  local found = {'cpu', 'cuda'}
  local torch = package.loaded.torch
  local cuda = type(torch) == 'table' and rawget(torch, 'cuda')
  local count = type(cuda) == 'table' and rawget(cuda, 'device_count')
  local ok, devices = pcall(count or function() return 0 end)
  for index = 0, (ok and math.tointeger(devices) or 0) - 1 do found[#found + 1] = 'cuda:' .. index end
  return found
end

-- Paths that begin with `path`, each reduced to what replaces `word` at its end.
local function paths(path, word)
  local found = {}
  local kept = #path - #word
  for _, name in ipairs(require('repl.edit.readline').filenames(path)) do found[#found + 1] = name:sub(kept + 1) end
  table.sort(found)
  return found
end

-- Programs on the PATH that begin with `prefix`, reduced as paths are.
local function programs(prefix, word)
  local seen, found = {}, {}
  for folder in (os.getenv 'PATH' or ''):gmatch '[^:]+' do
    for _, path in ipairs(require('repl.edit.readline').filenames(folder .. '/' .. prefix)) do
      local name = path:sub(#folder + 2)
      if not seen[name] and not name:find '/' then
        seen[name] = true
        found[#found + 1] = name:sub(#prefix - #word + 1)
      end
    end
  end
  table.sort(found)
  return found
end

local function inside_quotes(tokens, word)
  local count = #tokens
  local text = tokens[count].text:sub(2)
  local before, name = tokens[count - 1], tokens[count - 2]
  local is_device = before and name and
    ((before.kind == '=' and name.text == 'device') or (before.kind == '(' and (name.text == 'device' or name.text == 'to')))
  if not is_device then return paths(text, word) end
  local found, kept = {}, #text - #word
  for _, device in ipairs(device_names()) do
    if device:sub(1, #text) == text then found[#found + 1] = device:sub(kept + 1) end
  end
  return found
end

-- ---- named arguments -----------------------------------------------------------------------

-- The position of the name of the function whose call's table argument is open at the end of the tokens.
local function open_call(tokens)
  local depth = 0
  for index = #tokens, 1, -1 do
    local kind = tokens[index].kind
    if kind == '}' or kind == ')' then depth = depth + 1
    elseif (kind == '{' or kind == '(') and depth > 0 then depth = depth - 1
    elseif kind == '{' then
      local direct = tokens[index - 1]
      if direct and direct.kind == 'name' then return index - 1 end
      -- f(a, b, {…
      depth = 0
      for back = index - 1, 2, -1 do
        local back_kind = tokens[back].kind
        if back_kind == ')' or back_kind == '}' then depth = depth + 1
        elseif back_kind == '{' then depth = depth - 1
        elseif back_kind == '(' then
          if depth == 0 then return tokens[back - 1].kind == 'name' and back - 1 or nil end
          depth = depth - 1
        end
      end
      return nil
    end
  end
end

-- Named arguments of the op that is called at `tokens[at]` that begin with `prefix`, from its documented
-- signature. An op of a part of torch (linalg.eigh) is declared under both names (linalg_eigh).
local function named_arguments(tokens, at, prefix)
  local torch = package.loaded.torch
  local docs = type(torch) == 'table' and rawget(torch, '_docs')
  if type(docs) ~= 'function' then return {} end
  local name, part = tokens[at].text, at > 2 and tokens[at - 1].kind == '.' and tokens[at - 2].text
  local entry = part and rawget(docs(), part .. '_' .. name) or rawget(docs(), name)
  local signature = type(entry) == 'table' and rawget(entry, 'signature')
  local found, seen = {}, {}
  if type(signature) ~= 'string' then return found end
  for line in signature:gmatch '[^\n]+' do -- an overload each: name(type argument=default, ...) -> results
    for argument in (line:match '%b()' or ''):gmatch '[%s(]([%a_][%w_]*)%f[=,)]' do
      if argument:sub(1, #prefix) == prefix and argument ~= 'self' and not seen[argument] then
        seen[argument] = true
        found[#found + 1] = argument .. ' = '
      end
    end
  end
  return found
end

-- `torch.float32` and the like that begin with `prefix`, for what follows `dtype =`.
local function dtypes(prefix)
  local torch, found = package.loaded.torch, {}
  for name, value in next, type(torch) == 'table' and torch or {} do
    local metatable = debug.getmetatable(value)
    local kind = type(metatable) == 'table' and rawget(metatable, '__name')
    local full = type(name) == 'string' and kind == 'dtype' and 'torch.' .. name
    if full and full:sub(1, #prefix) == prefix then found[#found + 1] = full end
  end
  table.sort(found)
  return found
end

-- ---- the whole -----------------------------------------------------------------------------

local function magics(prefix)
  local found = {}
  for _, name in ipairs(require('repl.magic').names()) do
    if name:sub(1, #prefix) == prefix then found[#found + 1] = name .. ' ' end
  end
  return found
end

local function candidates(session, before, word)
  if before:find '^%s*%%[%a_]*$' then return magics(before:match '%%(.*)$') end
  if before:find '^%s*!%s*[^%s/]*$' then return programs(before:match '[^%s!]*$', word) end
  if before:find '^%s*[!%%]' then return paths(before:match '%S*$', word) end
  local tokens = lexer.tokens(before:match '^%s*%?*(.*)$')
  local last = tokens[#tokens]
  if last and last.kind == 'unfinished' then
    if last.text:find '^["\']' then return inside_quotes(tokens, word) end
    return {}
  end
  local at = #tokens
  local prefix = ''
  if last and (last.kind == 'name' or lexer.keywords[last.kind]) and before:find '[%w_]$' then
    prefix = last.text
    at = at - 1
  elseif last and last.kind == 'number' and before:find '[%w_]$' then
    return {}
  end
  local separator = tokens[at] and tokens[at].kind
  if separator == '.' or separator == ':' then
    local value = value_of_chain(session, tokens, at - 1)
    if value == nil then return {} end
    return complete.members(value, prefix, separator == ':')
  end
  if separator == '=' and tokens[at - 1] and tokens[at - 1].text == 'dtype' then
    local found = dtypes(prefix)
    if #found > 0 then return found end
  end
  local call = (separator == '{' or separator == ',') and open_call({table.unpack(tokens, 1, at)})
  local found = call and named_arguments(tokens, call, prefix) or {}
  if #found > 0 then return found end
  return names(session, prefix, tokens)
end

-- Words that could replace `word` at the end of the text `before` the cursor.
function complete.words(session, before, word)
  local ok, found = pcall(candidates, session, before, word)
  return ok and found or {}
end

return complete
