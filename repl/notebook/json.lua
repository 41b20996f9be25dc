-- JSON in Jupyter's format: decodes text to Lua tables and encodes them with the keys in their
-- original order, so that a rewritten notebook differs only where it has changed.
--
-- An object is a table created by json.object(); the order of its keys is stored outside of it. An
-- array is a list; json.null represents null. cJSON reads (src/lua/files/json.c); the text is
-- written here, because Jupyter indents by one space and cJSON by tabs, and because 64-bit integers
-- do not fit into doubles.

local quoted = require 'torch.files.json_string'
local torch = require 'torch'

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

-- A new object from an optional ordered list of pairs {key, value}.
function json.object(entries)
  local object = setmetatable({}, Object)
  orders[object] = {}
  for _, entry in ipairs(entries or {}) do object[entry[1]] = entry[2] end
  return object
end

-- ---- decoding ------------------------------------------------------------------------------

local function fail(text, position, what)
  local _, line = text:sub(1, position - 1):gsub('\n', '')
  error(('line %d: %s'):format(line + 1, what), 0)
end

-- The start of the invalid JSON, for an error message.
local function stuck_at(text, position)
  local rest = text:match('[^%s%c][^%c]*', utf8.offset(text, 0, position))
  if not rest then return 'the text ends early' end
  local most = utf8.offset(rest, 31)
  if most then rest = rest:sub(1, most - 1) end
  return ("no JSON at '%s'"):format((rest:gsub('\xff', '\\u0000')))
end

-- The value of the text; raises an error for invalid JSON.
function json.decode(text)
  local _, damaged = utf8.len(text)
  damaged = damaged or text:find '\xED[\xA0-\xBF]' -- surrogates, which Lua 5.3 accepts
  if damaged then fail(text, damaged, 'no UTF-8') end
  -- A zero byte would terminate the reader's strings: see src/lua/files/json.c.
  local readable = text:find('\\u0000', 1, true) and text:gsub('\\(.)(0?0?0?0?)', function(escape, zeros)
    return escape == 'u' and #zeros == 4 and '\xff' or nil
  end) or text
  local value, what, position = torch._C.read_json(readable, json.object, json.null)
  if position then fail(readable, position, what or stuck_at(readable, position)) end
  return value
end

-- ---- encoding ------------------------------------------------------------------------------

-- The shortest text that reads as the same number; numbers beyond the range of double become
-- infinity.
local function encode_number(value)
  if math.type(value) == 'integer' then return tostring(value) end
  if value ~= value then return 'null' end
  if value == math.huge or value == -math.huge then return value > 0 and '1e999' or '-1e999' end
  local digits, text = 14
  repeat
    text = ('%.' .. digits .. 'g'):format(value)
    digits = digits + 1
  until tonumber(text) == value
  return text:find '[.e]' and text or text .. '.0'
end

local function encode_value(value, indent)
  if value == json.null then return 'null' end
  if type(value) == 'string' then return quoted(value) end
  if type(value) == 'number' then return encode_number(value) end
  if type(value) ~= 'table' then return tostring(value) end
  local inner, parts = indent .. ' ', {}
  local keys = orders[value]
  if keys then
    for _, key in ipairs(keys) do
      local member = rawget(value, key)
      if member ~= nil then parts[#parts + 1] = quoted(key) .. ': ' .. encode_value(member, inner) end
    end
  else
    for index, item in ipairs(value) do parts[index] = encode_value(item, inner) end
  end
  local open, close = keys and '{' or '[', keys and '}' or ']'
  if #parts == 0 then return open .. close end
  return open .. '\n' .. inner .. table.concat(parts, ',\n' .. inner) .. '\n' .. indent .. close
end

-- The text of a value, indented by one space like Jupyter's.
function json.encode(value) return encode_value(value, '') .. '\n' end

return json
