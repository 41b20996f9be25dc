-- tensors.lua - converts tensors of ONNX files: element types, TensorProto, SparseTensorProto,
-- external data.

local torch = require 'torch'
local outside = require 'torch.files.outside'
local wire = require 'torch.onnx.wire'

local M = {}

M.dtypes = { [1] = torch.float32, [2] = torch.uint8, [3] = torch.int8, [4] = torch.uint16, [5] = torch.int16, [6] = torch.int32, [7] = torch.int64, [9] = torch.bool,
  [10] = torch.float16, [11] = torch.float64, [12] = torch.uint32, [13] = torch.uint64, [16] = torch.bfloat16 }
local names = { [0] = 'undefined', 'float', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'string', 'bool', 'float16', 'double', 'uint32',
  'uint64', 'complex64', 'complex128', 'bfloat16', 'float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz', 'uint4', 'int4', 'float4e2m1',
  'float8e8m0', 'uint2', 'int2', 'float6e2m3', 'float6e3m2' }

local MAX_DIMS = 16

local function fail(where, format, ...) torch._C.raise(where .. ': ' .. format:format(...)) end

--- The dtype of an ONNX element type; an unknown one is an error that begins with `where`.
function M.dtype(code, where)
  local dtype = M.dtypes[code or 0]
  if not dtype then
    fail(where, names[code or 0] and "elements of type '%s', which ltensor does not have" or 'an unknown type of elements (%s)', names[code or 0] or tostring(code))
  end
  return dtype
end

local codes = {}
for code, dtype in pairs(M.dtypes) do codes[dtype] = code end
--- The ONNX element type of a dtype.
function M.code(dtype) return codes[dtype] end

-- The sizes of a tensor and their product.
local function sizes_of(dims, itemsize, where)
  if #dims > MAX_DIMS then fail(where, '%d dimensions, ltensor has at most %d', #dims, MAX_DIMS) end
  local numel = 1
  for _, size in ipairs(dims) do
    if size < 0 then fail(where, 'a size of %d', size) end
    if size > 0 and numel > math.maxinteger // itemsize // size then fail(where, 'its shape (%s) is too large', table.concat(dims, ', ')) end
    numel = numel * size
  end
  return numel
end

-- By dtype: the typed field of TensorProto with its elements, the kind of the numbers in the field,
-- and their dtype when read.
local typed = { float32 = { 'float_data', 'float', torch.float32 }, float64 = { 'double_data', 'double', torch.float64 },
  int64 = { 'int64_data', 'int', torch.int64 }, bfloat16 = { 'int32_data', 'int', torch.int16 }, float16 = { 'int32_data', 'int', torch.int16 },
  uint32 = { 'uint64_data', 'int', torch.int64 }, uint64 = { 'uint64_data', 'int', torch.int64 } }
local as_int32 = { 'int32_data', 'int', torch.int32 }

local function of_typed(reader, proto, dtype, numel, where)
  local field, kind, stored = table.unpack(typed[tostring(dtype):match '[^.]*$'] or as_int32)
  local entries = proto[field]
  local flat
  if #entries == 1 and type(entries[1]) == 'table' and kind ~= 'int' and entries[1].length == numel * dtype.itemsize then
    flat = reader:tensor(stored, entries[1])
  else
    local list = {}
    for _, entry in ipairs(entries) do
      local numbers = type(entry) == 'table' and reader:numbers(kind, entry) or { entry }
      table.move(numbers, 1, #numbers, #list + 1, list)
    end
    if #list ~= numel then fail(where, '%d elements where its shape has %d', #list, numel) end
    if stored == torch.int16 then
      for i, bits in ipairs(list) do list[i] = (bits & 0xffff ~ 0x8000) - 0x8000 end
    elseif stored == torch.int32 then
      for i, value in ipairs(list) do list[i] = (value & 0xffffffff ~ 0x80000000) - 0x80000000 end
    end
    flat = numel == 0 and torch.empty(0, { dtype = stored }) or torch.tensor(list, { dtype = stored })
  end
  if stored == torch.int16 then return flat:view(dtype) end
  return flat:to(dtype)
end

-- The reader and span of a tensor's elements in another file, in the model's folder or below it.
local function external(reader, proto, bytes, where)
  local entries = {}
  for _, entry in ipairs(proto.external_data) do entries[entry.key or ''] = entry.value end
  local location = entries.location
  if not location or not reader.others then fail(where, 'its data are external, but no file is named') end
  local path = outside.path_inside(reader.path, location)
  if not path then
    fail(where, "its data are in '%s', which is not in the model's folder", location)
  end
  local function number(key, default)
    local text = entries[key]
    local value = text and (text:find '^%d+$' and math.tointeger(tonumber(text))) or text == nil and default
    if not value then fail(where, "the '%s' of its data is '%s'", key, text) end
    return value
  end
  local other = reader.others[path]
  if not other then
    other = wire.open(path)
    reader.others[path] = other
    if reader.grows then torch._C.extend_budget(other.size) end
  end
  local at = number('offset', 0)
  local length = number('length', bytes)
  if length ~= bytes then fail(where, '%d bytes of data where its shape needs %d', length, bytes) end
  if at > other.size or bytes > other.size - at then
    fail(where, 'its data, %d bytes at offset %d, exceed the end of %s (%d bytes)', bytes, at, path, other.size)
  end
  return other, { at = at, length = bytes }
end

-- The tensor of this name beside the graph, in a safetensors file.
local function beside(reader, proto, dtype, where)
  local tensor = reader.tensors[proto.name]
  if not tensor or tensor.dtype ~= dtype or table.concat(tensor.shape, ' ') ~= table.concat(proto.dims, ' ') then
    fail(where, 'the file has no tensor with its name, dtype and shape')
  end
  return tensor
end

--- The tensor of a TensorProto. `where` names it in messages.
function M.read(reader, proto, where)
  local dtype = M.dtype(proto.data_type, where)
  local numel = sizes_of(proto.dims, dtype.itemsize, where)
  local flat
  if proto.data_location == 1 and reader.tensors then return beside(reader, proto, dtype, where) end
  if proto.data_location == 1 then
    local other, span = external(reader, proto, numel * dtype.itemsize, where)
    flat = other:tensor(dtype, span)
  elseif proto.raw_data then
    if proto.raw_data.length ~= numel * dtype.itemsize then
      fail(where, '%d bytes of data where its shape needs %d', proto.raw_data.length, numel * dtype.itemsize)
    end
    flat = reader:tensor(dtype, proto.raw_data)
  else
    flat = of_typed(reader, proto, dtype, numel, where)
  end
  return flat:view(proto.dims):detach()
end

local MAX_DENSE = 1 << 28 -- elements of a sparse tensor converted to dense, which may be much larger than the file

--- The tensor of a SparseTensorProto, converted to dense.
function M.read_sparse(reader, proto, where)
  if not proto.values or not proto.indices then fail(where, 'a sparse tensor without values or indices') end
  local values, indices = M.read(reader, proto.values, where), M.read(reader, proto.indices, where)
  local numel = sizes_of(proto.dims, values.dtype.itemsize, where)
  if numel > MAX_DENSE then fail(where, 'a sparse tensor of %d elements, more than %d', numel, MAX_DENSE) end
  if indices.dtype ~= torch.int64 or values:dim() ~= 1 or indices:dim() > 2 or indices:size(1) ~= values:size(1)
    or indices:dim() == 2 and indices:size(2) ~= #proto.dims then
    fail(where, 'the indices of a sparse tensor do not fit its values')
  end
  local flat = torch.zeros(numel, { dtype = values.dtype })
  if values:numel() == 0 then return flat:view(proto.dims) end
  local places = indices
  if indices:dim() == 2 then
    places = torch.zeros(values:size(1), { dtype = torch.int64 })
    for d, size in ipairs(proto.dims) do places = places * size + indices:select(2, d) end
  end
  if places:min():item() < 0 or places:max():item() >= numel then fail(where, 'an index of a sparse tensor is out of range') end
  return flat:index_copy(1, places + 1, values):view(proto.dims)
end

return M
