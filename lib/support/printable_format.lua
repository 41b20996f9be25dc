-- printable_format.lua - string.format for messages about files: strings from a file are shortened
-- and lose control characters.

local MOST = 100

local function shown(value)
  if type(value) ~= 'string' then return value end
  local clean = value:sub(1, MOST):gsub('%c', '?')
  return #value > MOST and clean .. '...' or clean
end

return function(format, ...)
  local values = table.pack(...)
  for i = 1, values.n do values[i] = shown(values[i]) end
  return format:format(table.unpack(values, 1, values.n))
end
