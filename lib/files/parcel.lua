-- parcel.lua - serializes values for another process: tensors (GPU tensors are copied through the
-- host and arrive there), numbers, booleans, strings, nil and tables of these, as a text of their
-- structure (structure.lua) and the elements of the tensors.

local torch = require 'torch'
local structure = require 'torch.files.structure'

local M = {}

function M.pack(...)
  local values = table.pack(...)
  local text, names, tensors = structure.encode({ n = values.n, list = table.move(values, 1, values.n, 1, {}) })
  local parts = { string.pack('<s8I4', text, #tensors) }
  for t, tensor in ipairs(tensors) do
    local sizes = {}
    for i = 1, tensor:dim() do sizes[i] = string.pack('<i8', tensor:size(i)) end
    parts[#parts + 1] = string.pack('<s4s1I1', names[t], tostring(tensor.dtype), #sizes) .. table.concat(sizes)
    parts[#parts + 1] = string.pack('<s8', torch._C.tensor_bytes(tensor:cpu()))
  end
  return table.concat(parts)
end

--- The values of a parcel that begins at byte `at` (default: the first).
function M.unpack(message, at)
  local tensors, text, count = {}
  text, count, at = string.unpack('<s8I4', message, at or 1)
  for _ = 1, count do
    local name, dtype, ndim, bytes
    name, dtype, ndim, at = string.unpack('<s4s1I1', message, at)
    local sizes = {}
    for d = 1, ndim do sizes[d], at = string.unpack('<i8', message, at) end
    bytes, at = string.unpack('<s8', message, at)
    tensors[name] = torch._C.tensor_of_bytes(bytes, torch[dtype:match '[^.]*$'], sizes)
  end
  local value = structure.decode(text, function(name) return tensors[name] end)
  return table.unpack(value.list, 1, value.n)
end

return M
