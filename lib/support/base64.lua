-- base64.lua - bytes as text of 64 characters (RFC 4648, section 4).

local alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

return function(bytes)
  local parts = {}
  for i = 1, #bytes, 3 do
    local a, b, c = bytes:byte(i, i + 2)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    for k = 0, 3 do
      local index = bits >> (18 - 6 * k) & 63
      parts[#parts + 1] = (k == 2 and not b or k == 3 and not c) and '=' or alphabet:sub(index + 1, index + 1)
    end
  end
  return table.concat(parts)
end
