-- JSON as Jupyter writes it: decodes text to Lua tables and encodes them again with the order of the
-- keys kept, so that a notebook that is written back differs only where it has changed.
--
-- An object is a table made by json.object(): its keys in order are kept outside of it. An array is a
-- plain list; json.null stands for null. Depends on nothing.

local json = {}

json.null = setmetatable({}, {__tostring = function() return 'null' end})

-- Keys of each object, in order.
local orders = setmetatable({}, {__mode = 'k'})

local Object = {
  __newindex = function(object, key, value)
    table.insert(orders[object], key)
    rawset(object, key, value)
  end,
}

-- A new object; pairs {key, value} in order may be given.
function json.object(entries)
  local object = setmetatable({}, Object)
  orders[object] = {}
  for _, entry in ipairs(entries or {}) do object[entry[1]] = entry[2] end
  return object
end

-- ---- decoding ------------------------------------------------------------------------------

local escapes = {b = '\b', f = '\f', n = '\n', r = '\r', t = '\t'}
local MAX_DEPTH = 200

local function fail(text, position, what)
  local _, line = text:sub(1, position):gsub('\n', '')
  error(('line %d: %s'):format(line + 1, what), 0)
end

local function skip(text, position) return text:find('[^ \t\r\n]', position) or #text + 1 end

local function unescape(text, body, position)
  body = body:gsub('\\u([dD][89abAB]%x%x)\\u([dD][c-fC-F]%x%x)', function(high, low)
    return utf8.char(0x10000 + (tonumber(high, 16) - 0xD800) * 1024 + tonumber(low, 16) - 0xDC00)
  end)
  return (body:gsub('\\(u?)(.)(%x?%x?%x?)', function(unicode, char, rest)
    if unicode == 'u' then
      local code = #rest == 3 and tonumber(char .. rest, 16)
      if not code then fail(text, position, 'not four digits after \\u') end
      return utf8.char(code)
    end
    return (escapes[char] or char) .. rest
  end))
end

local function decode_string(text, position)
  local stop = position + 1
  while true do
    stop = text:find('["\\]', stop)
    if not stop then fail(text, position, 'a string does not end') end
    if text:sub(stop, stop) == '"' then break end
    stop = stop + 2
  end
  local body = text:sub(position + 1, stop - 1)
  return body:find('\\', 1, true) and unescape(text, body, position) or body, stop + 1
end

local words = {['true'] = true, ['false'] = false, null = json.null}
local decode_value

-- Items between brackets; read(position) reads one and returns where it ends.
local function decode_items(text, position, close, read)
  position = skip(text, position + 1)
  if text:sub(position, position) == close then return position + 1 end
  while true do
    position = skip(text, read(position))
    local char = text:sub(position, position)
    if char == close then return position + 1 end
    if char ~= ',' then fail(text, position, ("'%s' or ',' expected"):format(close)) end
    position = skip(text, position + 1)
  end
end

function decode_value(text, position, depth)
  position = skip(text, position)
  if depth > MAX_DEPTH then fail(text, position, 'nested too deep') end
  local char = text:sub(position, position)
  if char == '"' then return decode_string(text, position) end
  if char == '{' then
    local object = json.object()
    return object, decode_items(text, position, '}', function(at)
      if text:sub(at, at) ~= '"' then fail(text, at, 'a name in quotes expected') end
      local key, after = decode_string(text, at)
      after = skip(text, after)
      if text:sub(after, after) ~= ':' then fail(text, after, "':' expected") end
      local value
      value, after = decode_value(text, after + 1, depth + 1)
      object[key] = value
      return after
    end)
  elseif char == '[' then
    local list = {}
    return list, decode_items(text, position, ']', function(at)
      local value, after = decode_value(text, at, depth + 1)
      list[#list + 1] = value
      return after
    end)
  end
  local word = text:match('^%a+', position)
  if word and words[word] ~= nil then return words[word], position + #word end
  local number = text:match('^-?%d+%.?%d*[eE]?[+-]?%d*', position)
  if not number or not tonumber(number) then fail(text, position, 'a value expected') end
  return tonumber(number), position + #number
end

-- The value that the text stands for; raises what is wrong with it.
function json.decode(text)
  local value, position = decode_value(text, 1, 1)
  if skip(text, position) <= #text then fail(text, position, 'text after the end') end
  return value
end

-- ---- encoding ------------------------------------------------------------------------------

local short = {['"'] = '\\"', ['\\'] = '\\\\', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t'}

local function encode_string(text)
  return '"' .. text:gsub('[%c"\\\127]', function(char)
    return short[char] or ('\\u%04x'):format(char:byte())
  end) .. '"'
end

local function encode_value(value, indent)
  if value == json.null then return 'null' end
  if type(value) == 'string' then return encode_string(value) end
  if type(value) ~= 'table' then return tostring(value) end
  local inner, parts = indent .. ' ', {}
  local keys = orders[value]
  if keys then
    for _, key in ipairs(keys) do
      local member = rawget(value, key)
      if member ~= nil then parts[#parts + 1] = encode_string(key) .. ': ' .. encode_value(member, inner) end
    end
  else
    for index, item in ipairs(value) do parts[index] = encode_value(item, inner) end
  end
  local open, close = keys and '{' or '[', keys and '}' or ']'
  if #parts == 0 then return open .. close end
  return open .. '\n' .. inner .. table.concat(parts, ',\n' .. inner) .. '\n' .. indent .. close
end

-- The text for a value, indented by one as Jupyter does it.
function json.encode(value) return encode_value(value, '') .. '\n' end

return json
