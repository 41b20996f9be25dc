-- varint.lua - an integer as protocol buffers write it: seven bits a byte, the lowest first, the eighth says that more follow.

return function(n)
  local bytes = {}
  repeat
    local low = n & 0x7F
    n = n >> 7
    bytes[#bytes + 1] = string.char(n ~= 0 and low | 0x80 or low)
  until n == 0
  return table.concat(bytes)
end
