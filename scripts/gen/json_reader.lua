-- json_reader.lua - reads JSON that description.lua wrote: the generators need no JSON library. null is nil.

local escapes = { b = '\b', f = '\f', n = '\n', r = '\r', t = '\t' }

local value_at -- (text, position) -> value, position behind it

local function string_at(text, position)
  local stop = position + 1
  while true do
    stop = assert(text:find('["\\]', stop), 'a string does not end')
    if text:sub(stop, stop) == '"' then break end
    stop = stop + 2
  end
  local raw = text:sub(position + 1, stop - 1)
  raw = raw:gsub('\\u(%x%x%x%x)', function(digits) return utf8.char(tonumber(digits, 16)) end)
  return raw:gsub('\\(.)', function(c) return escapes[c] or c end), stop + 1
end

-- The entries of a list or an object up to its end; read(position) stores one and returns the position behind it.
local function entries(text, position, close, read)
  position = text:match('^%s*()', position + 1)
  if text:sub(position, position) == close then return position + 1 end
  while true do
    position = text:match('^%s*()', read(text:match('^%s*()', position)))
    local mark = text:sub(position, position)
    if mark == close then return position + 1 end
    if mark ~= ',' then error(("unexpected '%s' at byte %d"):format(mark, position)) end
    position = position + 1
  end
end

local words = { ['true'] = true, ['false'] = false }

function value_at(text, position)
  local result = {}
  local first = text:sub(position, position)
  if first == '"' then return string_at(text, position) end
  if first == '[' then
    return result, entries(text, position, ']', function(at)
      local value, after = value_at(text, at)
      result[#result + 1] = value
      return after
    end)
  elseif first == '{' then
    return result, entries(text, position, '}', function(at)
      local name, colon = string_at(text, at)
      local value, after = value_at(text, text:match('^%s*:%s*()', colon))
      result[name] = value
      return after
    end)
  end
  local word, after = text:match('^([%w%+%-%.]+)()', position)
  if words[word] ~= nil or word == 'null' then return words[word], after end
  return assert(tonumber(word), 'unexpected ' .. word), after
end

return function(text) return (value_at(text, text:match '^%s*()')) end
