-- json_string.lua - quotes a text as a JSON string. Bytes that are not UTF-8, which JSON does not
-- support, become U+FFFD.

local short = { ['"'] = '\\"', ['\\'] = '\\\\', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t' }

local function escaped(char) return short[char] or ('\\u%04x'):format(char:byte()) end

local function as_utf8(text)
  if utf8.len(text) then return text end
  local parts, at = {}, 1
  while true do
    local _, bad = utf8.len(text, at)
    if not bad then break end
    parts[#parts + 1] = text:sub(at, bad - 1) .. '\u{FFFD}'
    at = bad + 1
  end
  return table.concat(parts) .. text:sub(at)
end

return function(text) return '"' .. as_utf8(text):gsub('[%c"\\]', escaped) .. '"' end
