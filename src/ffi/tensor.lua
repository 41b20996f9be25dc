-- tensor.lua - part of ltensor-ffi.lua: the class Tensor, its memory, and numbers for C.

local shared = ...
local ffi, core, check = shared.ffi, shared.core, shared.check

-- The collector does not see the memory of tensors: a full collection runs when the tensors of Lua have twice the
-- bytes that remained after the last one, at 8 for each element.
local SMALLEST_LIMIT, BYTES_OF_A_TENSOR = 128 * 2 ^ 20, 512
local live, limit = 0, SMALLEST_LIMIT

local Tensor = ffi.typeof 'struct { lt_tensor *_handle; double _bytes; }'

local function is_tensor(v) return ffi.istype(Tensor, v) end

local function collect()
  collectgarbage()
  collectgarbage() -- finalizers of the first run may have made others unreachable
  limit = math.max(SMALLEST_LIMIT, 2 * live)
end

-- The tensor of a new reference.
local function adopt(handle)
  local bytes = 8 * tonumber(core.lt_tensor_numel(handle)) + BYTES_OF_A_TENSOR
  local t = Tensor(handle, bytes)
  live = live + bytes
  if live > limit then collect() end
  return t
end

local function forget(t)
  core.lt_tensor_release(t._handle)
  live = live - t._bytes
end

local function adopt_borrowed(handle)
  if handle == nil then return nil end
  return adopt(core.lt_tensor_retain(handle))
end

local function dtype_code(t) return tonumber(core.lt_tensor_dtype(t._handle)) end

local status_of_memory = tonumber(ffi.new('lt_status', 'LT_ERR_MEMORY'))

-- Calls a function of the library; when memory is exhausted, again after a collection.
local function invoke(f, ...)
  local status = f(...)
  if status == status_of_memory then
    collect()
    status = f(...)
  end
  check(status)
end

local box = ffi.new 'lt_tensor *[1]'

-- The tensor that a function with a last argument `lt_tensor **out` creates.
local function new_tensor(f, ...)
  box[0] = nil
  local n = select('#', ...)
  local args = { ... }
  args[n + 1] = box
  invoke(f, unpack(args, 1, n + 1))
  return adopt(box[0])
end

local Int64, Uint64, Scalar = ffi.typeof 'int64_t', ffi.typeof 'uint64_t', ffi.typeof 'lt_scalar'

local function is_integer(v)
  if type(v) == 'number' then return v == math.floor(v) and math.abs(v) < 2 ^ 63 end
  return ffi.istype(Int64, v) or ffi.istype(Uint64, v)
end

local function is_number(v) return type(v) == 'number' or is_integer(v) end

-- Numbers of LuaJIT have one type: those without a fraction are integers, except data of torch.tensor.
local function to_scalar(v)
  local s = Scalar()
  if type(v) == 'boolean' then
    s.kind, s.v.i = 'LT_SCALAR_BOOL', v and 1 or 0
  elseif is_integer(v) then
    s.kind, s.v.i = 'LT_SCALAR_INT', v
  else
    s.kind, s.v.d = 'LT_SCALAR_FLOAT', v
  end
  return s
end

-- A number that a double cannot hold stays an int64_t.
local function from_int64(v)
  local number = tonumber(v)
  return math.abs(number) < 2 ^ 53 and number or v
end

shared.Tensor, shared.is_tensor, shared.dtype_code, shared.forget = Tensor, is_tensor, dtype_code, forget
shared.adopt, shared.adopt_borrowed, shared.new_tensor, shared.invoke = adopt, adopt_borrowed, new_tensor, invoke
shared.is_integer, shared.is_number, shared.to_scalar, shared.from_int64 = is_integer, is_number, to_scalar, from_int64
