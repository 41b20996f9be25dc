-- varint.lua - encodes an integer as a protobuf varint: seven bits per byte, lowest first; the
-- eighth bit marks continuation.

return function(n)
  local bytes = {}
  repeat
    local low = n & 0x7F
    n = n >> 7
    bytes[#bytes + 1] = string.char(n ~= 0 and low | 0x80 or low)
  until n == 0
  return table.concat(bytes)
end
