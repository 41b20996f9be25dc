-- arguments.lua - part of ltensor-ffi.lua: the types of the operations' parameters. Each has a test of a Lua value, a
-- conversion to C (positions from 1 become indices from 0) and types of C.

local shared = ...
local ffi, torch, raise, dtype_of, to_dtype, to_device = shared.ffi, shared.torch, shared.raise, shared.dtype_of, shared.to_dtype, shared.to_device
local is_tensor, is_integer, is_number, new_tensor = shared.is_tensor, shared.is_integer, shared.is_number, shared.new_tensor
local core, Dtype, Device, Size = shared.core, shared.Dtype, shared.Device, shared.Size

local function op(name) return shared.op(name) end

local function class_of(v)
  local meta = type(v) == 'table' and getmetatable(v)
  if is_tensor(v) then return 'Tensor' end
  if meta == Dtype then return 'torch.dtype' end
  return meta == Device and 'torch.device' or meta == Size and 'torch.Size' or ffi.istype('int64_t', v) and 'int64_t' or type(v)
end

local function all(list, accepts)
  local class = getmetatable(list)
  if type(list) ~= 'table' or class and class ~= Size then return false end
  for _, v in ipairs(list) do
    if not accepts(v) then return false end
  end
  return true
end

local function is_index_tensor(v)
  if not is_tensor(v) then return false end
  local name = dtype_of[shared.dtype_code(v)].name
  return name:find '^u?int' ~= nil
end

local function is_scalar(v) return is_number(v) or type(v) == 'boolean' end

local Generator = {}
Generator.__index = Generator

--- A generator of random numbers: torch.rand(2, {generator = g}).
function torch.Generator(device)
  local out = ffi.new 'lt_generator *[1]'
  shared.check(core.lt_generator_new(to_device(device or 'cpu').c, out))
  return setmetatable({ handle = ffi.gc(out[0], core.lt_generator_release) }, Generator)
end

function Generator.manual_seed(self, seed)
  shared.check(core.lt_generator_seed(self.handle, seed))
  return self
end

-- Whether a value fits a type of the declarations, and its name in messages.
local accepts = {
  Tensor = { is_tensor, 'Tensor' },
  ['Tensor|Scalar'] = { function(v) return is_tensor(v) or is_scalar(v) end, 'Tensor or number' },
  IndexTensor = { is_index_tensor, 'Tensor of integers (positions)' },
  ['Tensor[]'] = { function(v) return all(v, is_tensor) end, 'table of Tensors' },
  ['Scalar[]'] = { function(v) return all(v, is_number) end, 'table of numbers' },
  Scalar = { is_scalar, 'number' },
  int = { is_integer, 'int' },
  float = { is_number, 'float' },
  bool = { function(v) return type(v) == 'boolean' end, 'bool' },
  string = { function(v) return type(v) == 'string' end, 'string' },
  Size = { function(v) return is_integer(v) or all(v, is_integer) end, 'table of ints' },
  Dtype = { function(v) return to_dtype(v) ~= nil end, 'torch.dtype' },
  Device = { function(v) return getmetatable(v) == Device or type(v) == 'string' and not to_dtype(v) or is_integer(v) end, 'torch.device' },
  Generator = { function(v) return getmetatable(v) == Generator end, 'torch.Generator' },
}
accepts.Dim, accepts.Index = accepts.int, accepts.int
accepts.Dims = { accepts.Size[1], 'int or table of ints' }
accepts['IndexTensor[]'] = { function(v) return all(v, function(t) return t == false or is_tensor(t) end) end, 'table of Tensors' }

local function to_index(position, name)
  if position == 0 then raise('%s 0: positions count from 1', name) end
  return position > 0 and position - 1 or position
end

local NO_POSITION = ffi.cast('int64_t', -2 ^ 63) -- LT_INDEX_NO_POSITION: position 0, which kernels report

-- An index tensor of C: positions from 1 count from 0; negative ones are unchanged. Masks too.
local function to_index_tensor(t)
  if not is_index_tensor(t) then return t end
  t = op 'to'(t, torch.int64)
  return op 'where'(op 'eq'(t, 0), NO_POSITION, op 'sub'(t, op 'to'(op 'gt'(t, 0), torch.int64)))
end

local function to_dims(v, shift)
  local dims = ffi.new 'lt_dims'
  if type(v) ~= 'table' then v = { v } end
  if #v > 16 then raise('%d entries, at most 16 are possible', #v) end
  dims.n = #v
  for i, entry in ipairs(v) do dims.v[i - 1] = shift and to_index(entry, shift) or entry end
  return dims
end

-- A list for C; `keep` holds the parts of an argument until the call returns.
local function to_list(list, keep)
  local handles = ffi.new('lt_tensor *[?]', math.max(#list, 1))
  for i, t in ipairs(list) do
    keep[#keep + 1] = t
    handles[i - 1] = t and t._handle or nil -- false: no index for a dimension
  end
  keep[#keep + 1] = handles
  return ffi.new('lt_tensor_list', #list, handles)
end

-- Values of Lua for C. Owned tensors go to `keep`.
local converters = {
  Tensor = function(v) return v._handle end,
  ['Tensor|Scalar'] = function(v, keep)
    if not is_tensor(v) then
      v = new_tensor(core.lt_tensor_from_scalar, shared.to_scalar(v))
      keep[#keep + 1] = v
    end
    return v._handle
  end,
  IndexTensor = function(v, keep)
    v = to_index_tensor(v)
    keep[#keep + 1] = v
    return v._handle
  end,
  ['Tensor[]'] = to_list,
  ['IndexTensor[]'] = function(v, keep)
    local list = {}
    for i, t in ipairs(v) do list[i] = t and to_index_tensor(t) end
    return to_list(list, keep)
  end,
  ['Scalar[]'] = function(v, keep)
    local t = torch.tensor(v, { dtype = torch.float64 })
    keep[#keep + 1] = t
    return t._handle
  end,
  Scalar = shared.to_scalar,
  Dim = function(v, _, name) return to_index(v, name) end,
  Size = function(v) return to_dims(v) end,
  Dims = function(v, _, name) return to_dims(v, name) end,
  Dtype = function(v) return to_dtype(v).code end,
  Device = function(v) return to_device(v).c end,
  Generator = function(v) return v.handle end,
}
converters.Index = converters.Dim
local function itself(v) return v end
for _, name in ipairs { 'int', 'float', 'bool', 'string' } do converters[name] = itself end

-- Optional numbers are passed by their address.
local cells = { int = 'int64_t[1]', Dim = 'int64_t[1]', Index = 'int64_t[1]', float = 'double[1]', bool = 'bool[1]' }
-- The value of a parameter for C.
local function convert(p, v, keep)
  if v == nil then return p.type == 'Dtype' and -1 or nil end
  local value = converters[p.type](v, keep, p.name)
  if p.optional and cells[p.type] then return ffi.new(cells[p.type], value) end
  return value
end

shared.class_of, shared.is_scalar, shared.accepts, shared.convert, shared.to_list = class_of, is_scalar, accepts, convert, to_list
