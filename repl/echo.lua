-- Values as readable text, for Out[n] at the prompt and for notebooks.
--
-- A value with a literal in Lua is shown as that literal. Objects define their text: a metatable's
-- __repr (a string, or a function that returns one), else __tostring. Each object is converted once
-- per echo, because printing a GPU tensor copies it. Errors and wrong results of an object's
-- function do not leave this module. May use torch.utils.width, torch.lua53.identity, repl.edit.lazy,
-- repl.edit.values.

local echo = {}

local identity = require 'torch.lua53.identity'

local WIDTH = 79
local MAX_ENTRIES = 1000
local MANY_MEMBERS = 100

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or
  repeat return then true until while]]):gmatch '%a+' do
  keywords[word] = true
end

-- ---- plain values --------------------------------------------------------------------------

local escapes = {['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t', ['\\'] = '\\\\', ['\0'] = '\\0'}

-- Lua source for a string: UTF-8 is kept, other bytes above 127 and controls are escaped.
local function quote(text)
  local mark = (text:find("'", 1, true) and not text:find('"', 1, true)) and '"' or "'"
  local function escape(char) return escapes[char] or ('\\x%02X'):format(char:byte()) end
  text = text:gsub('[%c\\' .. mark .. '\127]', function(char)
    return char == mark and '\\' .. char or escape(char)
  end)
  text = text:gsub('\\0(%d)', '\\x00%1')
  if not utf8.len(text) then text = text:gsub('[\128-\255]', escape) end
  text = text:gsub('\xC2[\x80-\x9F]', function(char) return ('\\u{%X}'):format(utf8.codepoint(char)) end) -- controls, too
  return mark .. text .. mark
end

local precision -- digits after the point of a float, set by %precision; nil: as many as needed

function echo.set_precision(digits) precision = digits end

-- The shortest decimal that reads back as the same number; integers and floats remain
-- distinguishable.
local function number(value)
  if math.type(value) == 'integer' then
    return value == math.mininteger and 'math.mininteger' or ('%d'):format(value)
  end
  if value ~= value then return 'nan' end
  if value == math.huge then return 'math.huge' end
  if value == -math.huge then return '-math.huge' end
  if precision then return ('%.' .. precision .. 'f'):format(value) end
  for digits = 15, 17 do
    local text = ('%.' .. digits .. 'g'):format(value)
    if tonumber(text) == value then
      return text:find '[.e]' and text or text .. '.0'
    end
  end
end

-- Whether the name `a` of a function is to be shown rather than `b`: the one that ends in `called`,
-- then a public one, then the shorter one, then the first in the alphabet.
local function is_better(a, b, called)
  local function rank(name)
    local last = name:match '[^.]*$'
    return (last == called and 0 or 2) + (last:find '^_' and 1 or 0)
  end
  local rank_a, rank_b = rank(a), rank(b)
  if rank_a ~= rank_b then return rank_a < rank_b end
  if #a ~= #b then return #a < #b end
  return a < b
end

-- The name under which loaded modules hold a function, such as 'string.rep'; of several, the one
-- that ends in `called` is preferred.
function echo.library_name(value, called)
  local found
  for module, content in next, package.loaded do
    if type(content) == 'table' and type(module) == 'string' then
      for key, member in next, content do
        if rawequal(member, value) and type(key) == 'string' then
          local name = module == '_G' and key or module .. '.' .. key
          if not found or is_better(name, found, called) then found = name end
        end
      end
    end
  end
  return found
end

local function func(value)
  local info = debug.getinfo(require('torch.support.argument_checks').original(value), 'Su')
  if info.what == 'C' then
    return ('<function %s>'):format(echo.library_name(value) or 'in C')
  end
  local parameters = {}
  for index = 1, info.nparams do parameters[index] = debug.getlocal(require('torch.support.argument_checks').original(value), index) end
  if info.isvararg then parameters[#parameters + 1] = '...' end
  return ('<function(%s) at %s:%d>'):format(table.concat(parameters, ', '), info.short_src, info.linedefined)
end

-- ---- objects -------------------------------------------------------------------------------

-- A value's address and type, without calling its metatable.
local function plain_name(value)
  local metatable = debug.getmetatable(value)
  local named = type(metatable) == 'table' and rawget(metatable, '__name')
  local kind = type(named) == 'string' and named or type(value)
  local ok, text = pcall(string.format, '<%s %p>', kind, value)
  return ok and text or ('<%s>'):format(kind) -- Lua 5.3 has no %p
end

-- The object's own text, or nil if it has none. If its function fails, the error is shown instead.
local function own_words(value)
  local metatable = debug.getmetatable(value)
  if type(metatable) ~= 'table' then return nil end
  local speaks = rawget(metatable, '__repr')
  if type(speaks) == 'string' then return speaks end
  speaks = speaks or rawget(metatable, '__tostring')
  if speaks == nil then return nil end
  local ok, text = pcall(function() return speaks(value) end)
  if ok and type(text) == 'string' then return text end
  if ok then return plain_name(value) end
  local message = type(text) == 'string' and text or type(text)
  return ('%s (could not be shown: %s)'):format(plain_name(value), message)
end

-- ---- layout --------------------------------------------------------------------------------

local columns = require('torch.utils.width').of

-- Entries between brackets on one line if they fit in `width`, otherwise one per line, each line
-- indented by one. An entry is {label, text}; further lines of a text are aligned with its start.
local function bracket(open, entries, close, width)
  local texts, total, broken = {}, #open + #close, false
  for index, entry in ipairs(entries) do
    local label, text = entry[1], entry[2]
    total = total + columns(label) + columns(text) + (index > 1 and 2 or 0)
    broken = broken or text:find('\n', 1, true) ~= nil
    texts[index] = label .. text
  end
  if not broken and total <= width then
    return open .. table.concat(texts, ', ') .. close
  end
  for index, entry in ipairs(entries) do
    local indent = '\n' .. (' '):rep(1 + columns(entry[1]))
    texts[index] = entry[1] .. entry[2]:gsub('\n', indent)
  end
  return open .. table.concat(texts, ',\n ') .. close
end

local order = {number = 1, string = 2, boolean = 3}

local function before(a, b)
  local kind_a, kind_b = type(a), type(b)
  if kind_a ~= kind_b then return (order[kind_a] or 4) < (order[kind_b] or 4) end
  if kind_a == 'number' or kind_a == 'string' then return a < b end
  if kind_a == 'boolean' then return a and not b end
  return identity(a) < identity(b)
end

local function label(key, render)
  if type(key) == 'string' and key:find '^[%a_][%w_]*$' and not keywords[key] then
    return key .. ' = '
  end
  return '[' .. render(key, math.huge) .. '] = '
end

-- `<module torch.nn: ...>` for a loaded module of the library, or another one with many members.
local function module_name(value)
  local found = require('repl.edit.lazy').module_of(value)
  if not found then return nil end
  local members = #(require('repl.edit.values').members(value, ''))
  if members <= MANY_MEMBERS and not found:find '^torch' then return nil end
  return ('<module %s: ?%s lists its %d members>'):format(found, found, members)
end

-- A new renderer for each echo: it counts the shown entries and tracks the enclosing tables.
local function renderer()
  local shown, inside = 0, {}
  local render

  local function contents(value, width)
    local entries, keys = {}, {}
    local length = rawlen(value)
    for index = 1, length do
      if shown >= MAX_ENTRIES then break end
      local item = rawget(value, index)
      shown = shown + 1
      entries[#entries + 1] = {'', render(item, width - 1)}
    end
    for key in next, value do
      if not (math.type(key) == 'integer' and key >= 1 and key <= length) then keys[#keys + 1] = key end
    end
    table.sort(keys, before)
    for _, key in ipairs(keys) do
      if shown >= MAX_ENTRIES then break end
      shown = shown + 1
      local name = label(key, render)
      entries[#entries + 1] = {name, render(rawget(value, key), width - 1 - columns(name))}
    end
    if shown >= MAX_ENTRIES and #entries < length + #keys then entries[#entries + 1] = {'', '...'} end
    return entries
  end

  function render(value, width)
    local kind = type(value)
    if kind == 'string' then return quote(value) end
    if kind == 'number' then return number(value) end
    if kind == 'nil' or kind == 'boolean' then return tostring(value) end
    local words = own_words(value)
    if words then return words end
    if kind == 'function' then return func(value) end
    if kind ~= 'table' then return plain_name(value) end
    if inside[value] then return '<cycle>' end
    local module = module_name(value)
    if module then return module end
    inside[value] = true
    local text = bracket('{', contents(value, width), '}', width)
    inside[value] = nil
    return text
  end

  return render
end

-- One value as text; lines are at most `width` columns wide where they can be broken.
function echo.value(value, width) return renderer()(value, width or WIDTH) end

-- A description of the value in one line: size, dtype and device of a tensor, otherwise the value.
-- Does not copy elements of a tensor.
function echo.kind(value)
  if type(value) == 'userdata' then
    local ok, size, dtype, device, grad = pcall(function()
      return tostring(value:size()):match '%[.*%]', tostring(value.dtype), tostring(value.device), value.requires_grad
    end)
    if ok and size then
      return 'tensor', ('%s, %s, %s%s'):format(size, dtype, device, grad == true and ', requires grad' or '')
    end
    local metatable = debug.getmetatable(value)
    local name = type(metatable) == 'table' and rawget(metatable, '__name')
    return type(name) == 'string' and name or 'userdata', echo.value(value)
  end
  return math.type(value) or type(value), echo.value(value)
end

-- The values of a cell (a table with n, as table.pack returns it) as text: nil when there is
-- nothing to show, the value alone, or a tuple.
function echo.values(values, width)
  width = width or WIDTH
  if values.n == 0 or (values.n == 1 and values[1] == nil) then return nil end
  if values.n == 1 then return echo.value(values[1], width) end
  local entries = {}
  for index = 1, values.n do
    entries[index] = {'', echo.value(values[index], width - 1)}
  end
  return bracket('(', entries, ')', width)
end

return echo
