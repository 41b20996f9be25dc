-- Completions at the cursor: names, fields, methods, named arguments, magics, paths.
--
-- Each function returns a sorted list of words, and their kinds: a table by word, or one kind for
-- all.
--
-- Completion only reads, like repl.edit.values: it does not call user code, load a module or raise.
-- May use repl.lexer, repl.edit.values, repl.edit.lazy, the names of repl.magic, and
-- repl.edit.readline for paths.

local lexer = require 'repl.lexer'
local values = require 'repl.edit.values'

local complete = {}

-- Names that can start an expression: locals, globals, keywords, and names in the text itself.
local function names(session, prefix, tokens)
  local kinds, found = {}, {}
  local function add(name, kind)
    if not kinds[name] and name:sub(1, #prefix) == prefix then
      kinds[name] = kind
      found[#found + 1] = name
    end
  end
  for _, name in ipairs((session.inspected or session.scope):names()) do add(name, 'local') end
  local globals, global_kinds = values.members(session.environment, prefix)
  for _, name in ipairs(globals) do
    local kind = global_kinds[name]
    add(name, (kind == 'value' or kind == 'field') and 'global' or kind)
  end
  for index = 1, #tokens - 1 do
    local before = index > 1 and tokens[index - 1].kind
    if tokens[index].kind == 'name' and before ~= '.' and before ~= ':' then add(tokens[index].text, 'local') end
  end
  if prefix ~= '' then
    for name in pairs(lexer.keywords) do add(name, 'keyword') end
  end
  table.sort(found)
  return found, kinds
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
  local found, kinds = {}, {}
  local kept = #path - #word
  for index, name in ipairs(require('repl.edit.readline').filenames(path)) do
    found[index] = name:sub(kept + 1)
    kinds[found[index]] = name:find '/$' and 'folder' or 'file'
  end
  table.sort(found)
  return found, kinds
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
  return found, 'program'
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
  return found, 'device'
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
  local found = {}
  if module then
    for _, name in ipairs(require('repl.edit.lazy').arguments(module, class)) do
      if name:sub(1, #prefix) == prefix then found[#found + 1] = name .. ' = ' end
    end
    if #found > 0 then return found, 'argument' end -- else it may be an op of that part
  end
  for _, name in ipairs(values.declared_arguments(session, tokens, at)) do
    if name:sub(1, #prefix) == prefix then found[#found + 1] = name .. ' = ' end
  end
  if #found > 0 then return found, 'argument' end
  local docs = type(torch) == 'table' and rawget(torch, '_docs')
  if type(docs) ~= 'function' then return {} end
  local name, part = tokens[at].text, at > 2 and tokens[at - 1].kind == '.' and tokens[at - 2].text
  local entry = part and rawget(docs(), part .. '_' .. name) or rawget(docs(), name)
  local signature = type(entry) == 'table' and rawget(entry, 'signature')
  local seen = {}
  if type(signature) ~= 'string' then return found end
  for line in signature:gmatch '[^\n]+' do -- an overload each: name(type argument=default, ...) -> results
    for argument in (line:match '%b()' or ''):gmatch '[%s(]([%a_][%w_]*)%f[=,)]' do
      if argument:sub(1, #prefix) == prefix and argument ~= 'self' and not seen[argument] then
        seen[argument] = true
        found[#found + 1] = argument .. ' = '
      end
    end
  end
  return found, 'argument'
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
  return found, 'dtype'
end

-- ---- all completions ----------------------------------------------------------------------------

local function magics(prefix)
  local found = {}
  for _, name in ipairs(require('repl.magic').names()) do
    if name:sub(1, #prefix) == prefix then found[#found + 1] = name .. ' ' end
  end
  return found, 'magic'
end

-- The words that are no methods; all, if there is no other word.
local function without_methods(found, kinds)
  local kept = {}
  for _, name in ipairs(found) do
    if kinds[name] ~= 'method' then kept[#kept + 1] = name end
  end
  return #kept > 0 and kept or found
end

-- The words of the list that begin with `word`.
local function choices_of(list, word)
  local found = {}
  for _, each in ipairs(list) do
    if each:sub(1, #word) == word then found[#found + 1] = each end
  end
  table.sort(found)
  return found, 'value'
end

local candidates

function candidates(session, before, word)
  before = before:gsub('^%s*[%a_][%w_. ]*=%s*!', '!') -- files = !ls
  if before:find '^%s*%%%%?[%a_]*$' then return magics(before:match '[%a_]*$') end
  if before:find '^%s*!%s*[^%s/]*$' then return programs(before:match '[^%s!]*$', word) end
  local name, code = before:match '^%s*%%%%?([%a_]+)%s(.*)$'
  if name then
    local magic = require 'repl.magic'
    local choices = magic.choices(name, code)
    if choices then return choices_of(choices, word) end
    if magic.takes_lua(name) then return candidates(session, code:gsub('^%s*%d+%s+', ''), word) end
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
    local found, kinds = values.members(value, prefix, separator == ':')
    return separator == '.' and values.is_object(value) and without_methods(found, kinds) or found, kinds
  end
  if separator == '=' and tokens[at - 1] and tokens[at - 1].text == 'dtype' then
    local found, kind = dtypes(prefix)
    if #found > 0 then return found, kind end
  end
  local call = (separator == '{' or separator == ',') and open_call({table.unpack(tokens, 1, at)})
  if call then
    local found, kind = named_arguments(session, tokens, call, prefix)
    if #found > 0 then return found, kind end
  end
  return names(session, prefix, tokens)
end

-- Words that could replace `word` at the end of the text `before` the cursor, and their kinds by
-- word.
function complete.words(session, before, word)
  local ok, found, kinds = pcall(candidates, session, before, word)
  if not ok then return {}, {} end
  if type(kinds) == 'table' then return found, kinds end
  local by_word = {}
  for _, each in ipairs(found) do by_word[each] = kinds end
  return found, by_word
end

return complete
