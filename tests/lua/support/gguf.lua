-- gguf.lua - GGUF files for the specs: gguf.text(metadata, tensors) returns the bytes of a file. metadata: list of { key, type, value };
-- tensors: list of { name, shape, type number, bytes }.

local M = {}

local numbers = { [0] = '<B', '<b', '<I2', '<i2', '<I4', '<i4', '<f', nil, nil, nil, '<I8', '<i8', '<d' }

local function value_text(kind, value)
  if kind == 8 then return string.pack('<s8', value) end
  if kind == 7 then return value and '\1' or '\0' end
  if kind ~= 9 then return string.pack(numbers[kind], value) end
  local parts = { string.pack('<I4I8', value.of, #value) }
  for i, element in ipairs(value) do parts[i + 1] = value_text(value.of, element) end
  return table.concat(parts)
end

function M.text(metadata, tensors)
  local parts, data, offset = { string.pack('<c4I4I8I8', 'GGUF', 3, #tensors, #metadata) }, {}, 0
  for _, entry in ipairs(metadata) do
    parts[#parts + 1] = string.pack('<s8I4', entry[1], entry[2]) .. value_text(entry[2], entry[3])
  end
  for _, t in ipairs(tensors) do
    local name, shape, kind, bytes = table.unpack(t)
    parts[#parts + 1] = string.pack('<s8I4', name, #shape)
    for i = #shape, 1, -1 do parts[#parts + 1] = string.pack('<I8', shape[i]) end
    parts[#parts + 1] = string.pack('<I4I8', kind, offset)
    bytes = bytes .. ('\0'):rep(-#bytes % 32)
    data[#data + 1], offset = bytes, offset + #bytes
  end
  local header = table.concat(parts)
  return header .. ('\0'):rep(-#header % 32) .. table.concat(data)
end

--- The bytes of a tensor's elements.
function M.bytes(tensor)
  local path = os.tmpname()
  torch.save(tensor:contiguous(), path .. '.npy')
  local file = assert(io.open(path .. '.npy', 'rb'))
  local text = file:read 'a'
  file:close()
  os.remove(path .. '.npy')
  os.remove(path)
  return text:sub(-tensor:numel() * tensor.itemsize)
end

--- A file with this content; returns its path.
function M.write(text)
  local path = os.tmpname()
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
  return path
end

return M
