-- rewrite.lua - copies an ONNX file with other initializers; every other byte stays as it is.
--
-- Walks the fields of the protobuf messages that contain initializers: Model.graph, Graph.node,
-- Node.attribute, Attribute.g. The numbers are onnx.proto's.

local file = require 'torch.onnx.export.file'
local messages = require 'torch.onnx.messages'
local varint = require 'torch.files.varint'

local MODEL_GRAPH, GRAPH_NODE, GRAPH_INITIALIZER, NODE_ATTRIBUTE, ATTRIBUTE_GRAPH, TENSOR_NAME = 7, 1, 5, 5, 6, 8
local MAX_DEPTH = 100

local function read_varint(bytes, at)
  local value, shift = 0, 0
  while true do
    local byte = bytes:byte(at)
    if not byte or shift > 63 then error('not a protobuf message', 0) end
    value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
    if byte < 0x80 then return value, at end
  end
end

-- Iterates over the fields in bytes from `at` to `stop`: number, start, start of the value, end.
local function fields(bytes, at, stop)
  return function()
    if at > stop then return nil end
    local key, body = read_varint(bytes, at)
    local start, wire, after = at, key & 7, nil
    if wire == 0 then after = select(2, read_varint(bytes, body))
    elseif wire == 1 then after = body + 8
    elseif wire == 5 then after = body + 4
    elseif wire == 2 then
      local n
      n, body = read_varint(bytes, body)
      after = body + n
    end
    if not after or after <= start or after - 1 > stop then error('not a protobuf message', 0) end
    at = after
    return key >> 3, start, body, after - 1
  end
end

local function name_of(bytes, at, stop)
  for number, _, body, last in fields(bytes, at, stop) do
    if number == TENSOR_NAME then return bytes:sub(body, last) end
  end
  return ''
end

local function put(pieces, piece, n)
  pieces[#pieces + 1] = piece
  pieces.bytes = pieces.bytes + (n or #piece)
end

local function put_message(pieces, number, inner)
  put(pieces, varint(number << 3 | 2) .. varint(inner.bytes))
  table.move(inner, 1, #inner, #pieces + 1, pieces)
  pieces.bytes = pieces.bytes + inner.bytes
end

-- By message: the fields to copy with changes, { [number] = message }.
local inside = { model = { [MODEL_GRAPH] = 'graph' }, graph = { [GRAPH_NODE] = 'node' }, node = { [NODE_ATTRIBUTE] = 'attribute' },
  attribute = { [ATTRIBUTE_GRAPH] = 'graph' } }

local function copy(kind, bytes, at, stop, replacement, depth)
  if depth > MAX_DEPTH then error('graphs nested too deep', 0) end
  local pieces = { bytes = 0 }
  for number, start, body, last in fields(bytes, at, stop) do
    local inner = inside[kind][number]
    local message = kind == 'graph' and number == GRAPH_INITIALIZER and replacement(name_of(bytes, body, last))
    if message then put_message(pieces, number, file.encode(messages.Tensor, message))
    elseif inner then put_message(pieces, number, copy(inner, bytes, body, last, replacement, depth + 1))
    else put(pieces, bytes:sub(start, last)) end
  end
  return pieces
end

--- The pieces (strings and tensors) of a file with these bytes. replacement(name) returns the message
-- of an initializer, or nil: it stays.
return function(bytes, replacement) return copy('model', bytes, 1, #bytes, replacement, 0) end
