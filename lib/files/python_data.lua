-- python_data.lua - constructors of Python data that a pickle may call: the ones that PyTorch
-- always allows, and the ones that a program must allow first
-- (torch.serialization.add_safe_globals). Each returns a plain value of its arguments; none
-- executes code.
--
-- NumPy's arrays become tensors, arrays of strings lists; its scalars numbers and strings; sets,
-- frozensets and deques lists; paths strings; namespaces tables.

local torch = require 'torch'

local M = {}

local function damaged(machine, what) machine:fail('its pickle is damaged: %s', what) end

local function list_of(machine, arguments, what)
  local list = machine:made({}, 'list', 0)
  if arguments[1] == nil then return list end
  local values, count = machine:arguments(arguments[1], what)
  machine:spend(count)
  for i = 1, count do machine:append(list, values[i]) end
  return list
end

-- ---- NumPy --------------------------------------------------------------------------------------

local dtypes = { b1 = torch.bool, i1 = torch.int8, i2 = torch.int16, i4 = torch.int32, i8 = torch.int64, u1 = torch.uint8, u2 = torch.uint16,
  u4 = torch.uint32, u8 = torch.uint64, f2 = torch.float16, f4 = torch.float32, f8 = torch.float64, c8 = torch.complex64, c16 = torch.complex128 }

-- numpy.dtype(code, align, copy); its state: (version, order of bytes, subarray, names, fields,
-- ...).
local function numpy_dtype(machine, arguments)
  local code = arguments[1]
  if type(code) ~= 'string' then damaged(machine, 'a dtype of NumPy') end
  local dtype = machine:made({ code = code, torch = dtypes[code], width = tonumber(code:match '^[US](%d+)$') }, 'numpy.dtype')
  if not dtype.torch and not (dtype.width and dtype.width < 1 << 30) then machine:fail("elements of NumPy's type '%s', which ltensor does not have", code) end
  machine.builders[dtype] = function(state)
    local values, count = machine:arguments(state, 'a dtype of NumPy')
    if count < 5 or values[3] ~= nil or values[4] ~= nil or values[5] ~= nil then machine:fail 'an array of records, which ltensor does not have' end
    dtype.big = values[2] == '>'
  end
  machine.finals[dtype] = dtype.torch or code
  return dtype
end

local function check_dtype(machine, dtype)
  if machine.kinds[dtype] ~= 'numpy.dtype' then damaged(machine, 'an array without a dtype of NumPy') end
end

local function swapped(dtype, bytes)
  if not dtype.big then return bytes end
  local part = dtype.torch and dtype.torch.itemsize // (dtype.torch.is_complex and 2 or 1) or dtype.code:sub(1, 1) == 'U' and 4 or 1
  return (bytes:gsub(('.'):rep(part), string.reverse))
end

-- The strings in these bytes: code points of four bytes each, or bytes, padded with zeros.
local function texts_of(machine, dtype, bytes)
  local texts, wide = {}, dtype.code:sub(1, 1) == 'U'
  local size = dtype.width * (wide and 4 or 1)
  for first = 1, #bytes, math.max(size, 1) do
    local text = bytes:sub(first, first + size - 1)
    if wide then
      text = text:gsub('....', function(four)
        local point = ('<I4'):unpack(four)
        if point > 0x10ffff then damaged(machine, 'a text of NumPy') end
        return utf8.char(point)
      end)
    end
    texts[#texts + 1] = text:match '^.*[^\0]' or '' -- linear, unlike '\0+$'
  end
  return texts
end

-- The array of these bytes. fortran: column-major order.
local function array_of(machine, dtype, sizes, bytes, fortran)
  check_dtype(machine, dtype)
  local numel, shape = 1, {}
  for i, size in ipairs(sizes) do
    if math.type(size) ~= 'integer' or size < 0 or size > 0 and numel > math.maxinteger // 16 // size then damaged(machine, 'the shape of an array') end
    numel, shape[#sizes + 1 - i] = numel * size, size
  end
  local width = dtype.torch and dtype.torch.itemsize or dtype.width * (dtype.code:sub(1, 1) == 'U' and 4 or 1)
  if type(bytes) ~= 'string' or #bytes ~= numel * width then damaged(machine, 'the number of bytes of an array does not match its shape') end
  machine:spend(#bytes)
  if not dtype.torch then
    if #sizes ~= 1 then machine:fail('an array of texts with %d dimensions; ltensor supports 1', #sizes) end
    return machine:made(texts_of(machine, dtype, swapped(dtype, bytes)), 'list', numel)
  end
  if not fortran then return torch._C.tensor_of_bytes(swapped(dtype, bytes), dtype.torch, sizes) end
  local order = {}
  for i = 1, #sizes do order[i] = #sizes + 1 - i end
  return torch._C.tensor_of_bytes(swapped(dtype, bytes), dtype.torch, shape):permute(order)
end

local function sizes_of(machine, value)
  local values, count = machine:arguments(value, 'the shape of an array')
  if count > 16 then machine:fail('an array of %d dimensions, ltensor has at most 16', count) end
  return table.move(values, 1, count, 1, {})
end

-- _reconstruct(ndarray, (0,), b'b'); its state: (version, shape, dtype, is_fortran, bytes).
local function reconstruct(machine)
  local array = machine:made({}, 'numpy.ndarray')
  machine.builders[array] = function(state)
    local values, count = machine:arguments(state, 'the state of an array')
    if count ~= 5 then damaged(machine, 'the state of an array') end
    machine.finals[array] = array_of(machine, values[3], sizes_of(machine, values[2]), values[5], values[4] == true)
  end
  return array
end

-- _frombuffer(bytes, dtype, shape, order), of protocol 5.
local function from_buffer(machine, arguments)
  return array_of(machine, arguments[2], sizes_of(machine, arguments[3]), arguments[1], arguments[4] == 'F')
end

local function numpy_scalar(machine, arguments)
  local array = array_of(machine, arguments[1], arguments[1] and arguments[1].width and { 1 } or {}, arguments[2], false)
  if torch.is_tensor(array) then return array:item() end
  return array[1]
end

-- ---- others -------------------------------------------------------------------------------------

local function bytes_of(machine, arguments, count)
  local bytes = arguments[1]
  if count > 0 and type(bytes) ~= 'string' then damaged(machine, 'a bytearray') end
  return bytes or ''
end

local function complex_of(machine, arguments, count)
  if count ~= 2 or type(arguments[1]) ~= 'number' or type(arguments[2]) ~= 'number' then damaged(machine, 'a complex number') end
  return torch.complex(arguments[1], arguments[2])
end

local function path_of(separator)
  return function(machine, arguments, count)
    for i = 1, count do
      if type(arguments[i]) ~= 'string' then damaged(machine, 'a path') end
      machine:spend(#arguments[i])
    end
    local path = table.concat(arguments, separator, 1, count)
    local root = count > 1 and arguments[1]:sub(-1) == separator and #arguments[1] or 0
    return path:sub(1, root) .. path:sub(root + (root > 0 and 2 or 1))
  end
end

local function namespace(machine)
  local object = machine:made({}, 'dict')
  machine.builders[object] = function(state)
    if machine.kinds[state] ~= 'dict' then damaged(machine, 'the state of a namespace') end
    for key, value in pairs(state) do
      machine:spend(1)
      machine:set(object, key, value)
    end
  end
  return object
end

local function set_of(machine, arguments) return list_of(machine, arguments, 'a set') end
local function deque_of(machine, arguments) return list_of(machine, arguments, 'a deque') end

--- Always allowed, as in PyTorch's torch.load.
M.always = { ['builtins.bytearray'] = bytes_of, ['builtins.bytes'] = bytes_of, ['builtins.set'] = set_of, ['builtins.complex'] = complex_of }

--- Where a program allows them. `new`: makes an object without a call.
M.allowable = { ['builtins.frozenset'] = { call = set_of }, ['collections.deque'] = { call = deque_of },
  ['argparse.Namespace'] = { call = namespace, new = namespace }, ['types.SimpleNamespace'] = { call = namespace, new = namespace },
  ['numpy.dtype'] = { call = numpy_dtype }, ['numpy.ndarray'] = {}, ['numpy._core.multiarray._reconstruct'] = { call = reconstruct },
  ['numpy._core.multiarray.scalar'] = { call = numpy_scalar }, ['numpy._core.numeric._frombuffer'] = { call = from_buffer } }
for _, name in ipairs { 'Path', 'PosixPath', 'PurePath', 'PurePosixPath' } do M.allowable['pathlib.' .. name] = { call = path_of '/' } end
for _, name in ipairs { 'WindowsPath', 'PureWindowsPath' } do M.allowable['pathlib.' .. name] = { call = path_of '\\' } end

--- The canonical name of a constructor: some modules of Python and NumPy were renamed.
function M.name(full)
  return (full:gsub('^__builtin__%.', 'builtins.'):gsub('^numpy%.core%.', 'numpy._core.'):gsub('^pathlib%._local%.', 'pathlib.'))
end

--- The names that a program has allowed, as a set.
M.allowed = {}

return M
