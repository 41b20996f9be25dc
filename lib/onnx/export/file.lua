-- file.lua - writes protobuf messages, by the tables of fields for reading (messages.lua). Elements
-- of tensors are written directly from their memory; the rest of a message is small.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local varint = require 'torch.files.varint'

local M = {}

local MAX_BYTES = (1 << 31) - 1 -- protobuf's limit for a message

local scalars = { int = { 0, varint }, float = { 5, function(x) return ('<f'):pack(x) end }, double = { 1, function(x) return ('<d'):pack(x) end } }

-- Appends to the pieces of a file, strings and tensors, and counts their bytes.
local function put(pieces, piece)
  pieces[#pieces + 1] = piece
  pieces.bytes = pieces.bytes + (type(piece) == 'string' and #piece or piece:numel() * piece:element_size())
end

local encode

local function put_delimited(pieces, number, inner)
  put(pieces, varint(number << 3 | 2) .. varint(inner.bytes))
  for _, piece in ipairs(inner) do put(pieces, piece) end
end

local function put_field(pieces, number, field, value)
  local kind = field.kind
  if type(kind) == 'table' then
    put_delimited(pieces, number, encode(kind, value))
  elseif scalars[kind] then
    put(pieces, varint(number << 3 | scalars[kind][1]) .. scalars[kind][2](value))
  else -- a string, or a tensor's elements
    local inner = { bytes = 0 }
    put(inner, type(value) == 'string' and value or torch._C.saved_form(value))
    put_delimited(pieces, number, inner)
  end
end

local function put_list(pieces, number, field, list)
  local scalar = scalars[field.kind]
  if not scalar then
    for _, value in ipairs(list) do put_field(pieces, number, field, value) end
    return
  end
  local packed = {}
  for i, value in ipairs(list) do packed[i] = scalar[2](value) end
  local text = table.concat(packed)
  put_delimited(pieces, number, { text, bytes = #text })
end

-- Encodes a message, a table by field names, as pieces.
function encode(schema, message)
  local numbers, known, pieces = {}, {}, { bytes = 0 }
  for number, field in pairs(schema) do
    if math.type(number) then
      known[field.name] = true
      if message[field.name] ~= nil then numbers[#numbers + 1] = number end
    end
  end
  for name in pairs(message) do
    if not known[name] then error(('%s has no field %s'):format(schema.name, name)) end
  end
  table.sort(numbers)
  for _, number in ipairs(numbers) do
    local field = schema[number]
    if field.list then put_list(pieces, number, field, message[field.name])
    else put_field(pieces, number, field, message[field.name]) end
  end
  return pieces
end

M.encode = encode

--- Writes a message to a file, which appears whole or not at all.
function M.write(schema, message, path)
  local pieces = encode(schema, message)
  if pieces.bytes > MAX_BYTES then fail('torch.onnx.export: %s: the model has %d bytes, a file of ONNX at most %d', path, pieces.bytes, MAX_BYTES) end
  local file <close> = torch._C.create_file(path)
  for _, piece in ipairs(pieces) do file:write(piece) end
  file:commit()
end

return M
