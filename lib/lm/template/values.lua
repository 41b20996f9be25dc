-- values.lua - values of templates, with Python's rules: lists and dicts, their texts, comparisons,
-- JSON.
--
-- Texts, numbers and booleans are Lua's. A list or tuple is { kind = 'list', tuple, n, ... }, a dict
-- { kind = 'dict', keys = { ... }, map = { [key] = value } }, a function { kind = 'function', call }.

local fail = require 'torch.lm.template.fail'

local M = {}

local MAX_DEPTH = 64 -- of values in values

M.none = { kind = 'none' }

--- The value of a name that is not set.
function M.undefined(name) return { kind = 'undefined', name = name } end

function M.list(items, tuple)
  items.kind, items.n, items.tuple = 'list', items.n or #items, tuple
  return items
end

function M.dict() return { kind = 'dict', keys = {}, map = {} } end

function M.put(dict, key, value)
  if dict.map[key] == nil then dict.keys[#dict.keys + 1] = key end
  dict.map[key] = value
end

--- The name of a value's kind.
function M.kind(value)
  if type(value) == 'table' then return value.kind end
  return type(value)
end

-- ---- from Lua -----------------------------------------------------------------------------------

-- Keys of messages and JSON schemas in the order of models' trainings; others follow by name.
local order = {}
for key in ('role content type function name description parameters arguments properties required'):gmatch '%S+' do
  order[#order + 1], order[key] = key, #order + 1
end

local function keys_of(source)
  local keys, metatable = {}, getmetatable(source)
  for key in pairs(source) do keys[#keys + 1] = key end
  if type(metatable) == 'table' and metatable.__pairs then return keys end -- they have an order
  table.sort(keys, function(a, b)
    local x, y = order[a] or 1000, order[b] or 1000
    if x ~= y then return x < y end
    return tostring(a) < tostring(b)
  end)
  return keys
end

--- The value of a Lua value. A table without keys is an empty list.
function M.from_lua(source, depth)
  depth = depth or 1
  if source == nil then return M.none end
  if type(source) == 'string' then return (require('torch')._C.repair_utf8(source)) end
  if type(source) == 'number' or type(source) == 'boolean' then return source end
  if type(source) == 'table' and source.kind == 'function' then return source end
  if type(source) ~= 'table' then fail(0, 'a value that is a %s, expected a table, text, number or boolean', type(source)) end
  if depth > MAX_DEPTH then fail(0, 'a value with more than %d levels of tables', MAX_DEPTH) end
  if source[1] ~= nil or next(source) == nil then
    local list = {}
    for i = 1, #source do list[i] = M.from_lua(source[i], depth + 1) end
    return M.list(list)
  end
  local dict = M.dict()
  for _, key in ipairs(keys_of(source)) do
    if type(key) ~= 'string' and type(key) ~= 'number' then fail(0, 'a table with a key that is a %s', type(key)) end
    M.put(dict, key, M.from_lua(source[key], depth + 1))
  end
  return dict
end

-- ---- texts --------------------------------------------------------------------------------------

--- A float as Python prints it: the fewest digits that give the same number.
local function float_text(x)
  if x ~= x then return 'nan' end
  if x == math.huge or x == -math.huge then return x > 0 and 'inf' or '-inf' end
  local text
  for digits = 0, 16 do
    text = ('%%.%de'):format(digits):format(x)
    if tonumber(text) == x then break end
  end
  local sign, digits, exponent = text:match '^(-?)([%d.]+)e([-+]%d+)$'
  digits, exponent = digits:gsub('%.', ''), math.tointeger(tonumber(exponent))
  if exponent < -4 or exponent >= 16 then
    local rest = digits:sub(2)
    return ('%s%s%se%s%02d'):format(sign, digits:sub(1, 1), rest ~= '' and '.' .. rest or '', exponent < 0 and '-' or '+', math.abs(exponent))
  end
  if exponent < 0 then return sign .. '0.' .. ('0'):rep(-exponent - 1) .. digits end
  digits = digits .. ('0'):rep(exponent + 1 - #digits)
  local rest = digits:sub(exponent + 2)
  return sign .. digits:sub(1, exponent + 1) .. '.' .. (rest ~= '' and rest or '0')
end

local quotes = { ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t', ['\\'] = '\\\\' }

-- Python's repr of a text.
local function quoted(text)
  local quote = text:find("'", 1, true) and not text:find('"', 1, true) and '"' or "'"
  text = text:gsub('[%c\\]', function(c) return quotes[c] or ('\\x%02x'):format(c:byte()) end)
  if quote == "'" then text = text:gsub("'", "\\'") end
  return quote .. text .. quote
end

--- The text of a value in lists (Python's repr).
function M.repr(value, depth)
  depth = depth or 1
  if depth > MAX_DEPTH then fail(0, 'a value with more than %d levels', MAX_DEPTH) end
  local kind = M.kind(value)
  if kind == 'string' then return quoted(value) end
  if kind == 'boolean' then return value and 'True' or 'False' end
  if kind == 'number' then return math.type(value) == 'float' and float_text(value) or tostring(value) end
  if kind == 'none' then return 'None' end
  if kind == 'undefined' then return 'Undefined' end
  local parts = {}
  if kind == 'list' then
    for i = 1, value.n do parts[i] = M.repr(value[i], depth + 1) end
    if value.tuple then return '(' .. table.concat(parts, ', ') .. (value.n == 1 and ',)' or ')') end
    return '[' .. table.concat(parts, ', ') .. ']'
  end
  if kind ~= 'dict' then fail(0, 'the text of a %s, which ltensor does not support', kind) end
  for i, key in ipairs(value.keys) do parts[i] = M.repr(key) .. ': ' .. M.repr(value.map[key], depth + 1) end
  return '{' .. table.concat(parts, ', ') .. '}'
end

--- The text of a value in the output.
function M.text(value)
  if type(value) == 'string' then return value end
  if M.kind(value) == 'undefined' then return '' end
  return M.repr(value)
end

-- ---- JSON ---------------------------------------------------------------------------------------

local short = { ['"'] = '\\"', ['\\'] = '\\\\', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t' }
local function json_string(text)
  return '"' .. text:gsub('[%z\1-\31"\\]', function(c) return short[c] or ('\\u%04x'):format(c:byte()) end) .. '"'
end

local function json_number(value)
  if math.type(value) == 'integer' then return tostring(value) end
  local text = float_text(value)
  return ({ nan = 'NaN', inf = 'Infinity', ['-inf'] = '-Infinity' })[text] or text
end

--- JSON as Python's json.dumps without escapes of letters. indent: number of spaces, or nil.
function M.json(value, line, indent, level)
  level = level or 1
  if level > MAX_DEPTH then fail(line, 'tojson of a value with more than %d levels', MAX_DEPTH) end
  local kind = M.kind(value)
  if kind == 'string' then return json_string(value) end
  if kind == 'boolean' then return tostring(value) end
  if kind == 'number' then return json_number(value) end
  if kind == 'none' then return 'null' end
  if kind ~= 'list' and kind ~= 'dict' then fail(line, 'tojson of %s, expected a value of JSON', kind == 'undefined' and "'" .. value.name .. "', which is not set" or 'a ' .. kind) end
  local parts = {}
  if kind == 'list' then
    for i = 1, value.n do parts[i] = M.json(value[i], line, indent, level + 1) end
  else
    for i, key in ipairs(value.keys) do
      parts[i] = json_string(M.text(key)) .. ': ' .. M.json(value.map[key], line, indent, level + 1)
    end
  end
  local open, close = table.unpack(kind == 'list' and { '[', ']' } or { '{', '}' })
  if not indent or #parts == 0 then return open .. table.concat(parts, ', ') .. close end
  local margin = '\n' .. (' '):rep(indent * level)
  return open .. margin .. table.concat(parts, ',' .. margin) .. '\n' .. (' '):rep(indent * (level - 1)) .. close
end

-- ---- comparisons --------------------------------------------------------------------------------

--- Whether a value counts as true.
function M.truth(value)
  local kind = M.kind(value)
  if kind == 'boolean' then return value end
  if kind == 'number' then return value ~= 0 end
  if kind == 'string' then return value ~= '' end
  if kind == 'list' then return value.n > 0 end
  if kind == 'dict' then return #value.keys > 0 end
  return kind ~= 'none' and kind ~= 'undefined'
end

local function number_of(value)
  if value == true then return 1 end
  if value == false then return 0 end
  return type(value) == 'number' and value or nil
end

function M.equal(a, b)
  local x, y = number_of(a), number_of(b)
  if x and y then return x == y end
  local kind = M.kind(a)
  if kind ~= M.kind(b) then return false end
  if kind == 'none' or kind == 'undefined' then return true end
  if kind == 'list' then
    if a.n ~= b.n or not a.tuple ~= not b.tuple then return false end
    for i = 1, a.n do
      if not M.equal(a[i], b[i]) then return false end
    end
    return true
  end
  if kind ~= 'dict' then return a == b end
  if #a.keys ~= #b.keys then return false end
  for _, key in ipairs(a.keys) do
    if b.map[key] == nil or not M.equal(a.map[key], b.map[key]) then return false end
  end
  return true
end

function M.less(a, b, line)
  local x, y = number_of(a), number_of(b)
  if x and y then return x < y end
  if type(a) == 'string' and type(b) == 'string' then
    return a < b -- bytes of UTF-8 have the order of the code points in the C locale
  end
  fail(line, "a comparison of a %s with a %s, expected two numbers or two texts", M.kind(a), M.kind(b))
end

function M.contains(container, value, line)
  local kind = M.kind(container)
  if kind == 'string' then
    if type(value) ~= 'string' then fail(line, "'in' of a text for a %s, expected a text", M.kind(value)) end
    return container:find(value, 1, true) ~= nil
  end
  if kind == 'dict' then return (type(value) == 'string' or type(value) == 'number') and container.map[value] ~= nil end
  if kind == 'undefined' then return false end
  if kind ~= 'list' then fail(line, "'in' of a %s, expected a text, list or dict", kind) end
  for i = 1, container.n do
    if M.equal(container[i], value) then return true end
  end
  return false
end

-- ---- characters ---------------------------------------------------------------------------------

local spaces = { ['\u{85}'] = true, ['\u{A0}'] = true, ['\u{1680}'] = true, ['\u{2028}'] = true, ['\u{2029}'] = true, ['\u{202F}'] = true,
  ['\u{205F}'] = true, ['\u{3000}'] = true }
for code = 0x2000, 0x200A do spaces[utf8.char(code)] = true end
for c in (' \t\n\r\f\v\28\29\30\31'):gmatch '.' do spaces[c] = true end

--- The text without the characters of a set (nil: white space) at its start and end.
function M.strip(text, characters, left, right)
  local set = spaces
  if characters then
    set = {}
    for c in characters:gmatch(utf8.charpattern) do set[c] = true end
  end
  local first, last = 1, #text
  while left and first <= last do
    local c = text:match('^[%z\1-\x7F\xC2-\xFD][\x80-\xBF]*', first)
    if not set[c] then break end
    first = first + #c
  end
  while right and last >= first do
    local start = utf8.offset(text, -1, last + 1)
    if not set[text:sub(start, last)] then break end
    last = start - 1
  end
  return text:sub(first, last)
end

--- The characters of a text from a position to another, from 1.
function M.characters(text, from, to)
  if from > to then return '' end
  local first = utf8.offset(text, from)
  local after = utf8.offset(text, to + 1)
  return text:sub(first, after - 1)
end

return M
