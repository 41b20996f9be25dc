-- protobuf.lua - encodes protobuf fields: varints, fixed-size numbers, and length-delimited data.

local varint = require 'torch.files.varint'

local M = {}

function M.integer(field, n) return varint(field << 3) .. varint(n) end
function M.double(field, x) return varint(field << 3 | 1) .. string.pack('<d', x) end
function M.float(field, x) return varint(field << 3 | 5) .. string.pack('<f', x) end
--- A length-delimited field: bytes, text or another message.
function M.text(field, bytes) return varint(field << 3 | 2) .. varint(#bytes) .. bytes end
function M.doubles(field, list)
  local parts = {}
  for i, x in ipairs(list) do parts[i] = string.pack('<d', x) end
  return M.text(field, table.concat(parts))
end

return M
