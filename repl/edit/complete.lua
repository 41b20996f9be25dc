-- Completions at the cursor: names, fields, methods, named arguments, magics, paths.
--
-- Completion only reads, like repl.edit.values: it does not call user code, load a module or raise.
-- May use repl.lexer, repl.edit.values, repl.edit.lazy, the names of repl.magic, and
-- repl.edit.readline for paths.

local lexer = require 'repl.lexer'
local values = require 'repl.edit.values'

local complete = {}

-- Names that can start an expression: locals, globals, keywords, and names in the text itself.
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
  for _, name in ipairs(values.members(session.environment, prefix)) do add(name) end
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

-- Paths that begin with `path`, each reduced to the replacement of `word` at its end.
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

-- The index of the name of the function with a table argument still open at the end of the tokens.
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

-- Named arguments, beginning with `prefix`, of the op called at `tokens[at]`, from its documented
-- signature. An op of a submodule of torch (linalg.eigh) is declared under its flat name
-- (linalg_eigh).
local function named_arguments(session, tokens, at, prefix)
  local torch = package.loaded.torch
  local module, class = values.class_at(session, tokens, at)
  if module then
    local found = {}
    for _, name in ipairs(require('repl.edit.lazy').arguments(module, class)) do
      if name:sub(1, #prefix) == prefix then found[#found + 1] = name .. ' = ' end
    end
    if #found > 0 then return found end -- else it may be an op of that part
  end
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

-- `torch.float32` and other dtypes that begin with `prefix`, after `dtype =`.
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

-- ---- all completions ----------------------------------------------------------------------------

local function magics(prefix)
  local found = {}
  for _, name in ipairs(require('repl.magic').names()) do
    if name:sub(1, #prefix) == prefix then found[#found + 1] = name .. ' ' end
  end
  return found
end

local candidates

function candidates(session, before, word)
  if before:find '^%s*%%[%a_]*$' then return magics(before:match '%%(.*)$') end
  if before:find '^%s*!%s*[^%s/]*$' then return programs(before:match '[^%s!]*$', word) end
  local name, code = before:match '^%s*%%([%a_]+)%s(.*)$'
  if name == 'debug' then code = code:match '^%s*%d+%s+(.*)$' end
  if name and code and (name == 'debug' or require('repl.magic').takes_code(name)) then
    return candidates(session, code, word)
  end
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
    local value = values.of_tokens(session, tokens, at - 1)
    if value == nil then return {} end
    return values.members(value, prefix, separator == ':')
  end
  if separator == '=' and tokens[at - 1] and tokens[at - 1].text == 'dtype' then
    local found = dtypes(prefix)
    if #found > 0 then return found end
  end
  local call = (separator == '{' or separator == ',') and open_call({table.unpack(tokens, 1, at)})
  local found = call and named_arguments(session, tokens, call, prefix) or {}
  if #found > 0 then return found end
  return names(session, prefix, tokens)
end

-- Words that could replace `word` at the end of the text `before` the cursor.
function complete.words(session, before, word)
  local ok, found = pcall(candidates, session, before, word)
  return ok and found or {}
end

return complete
