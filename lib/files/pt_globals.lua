-- pt_globals.lua - the names that pickles in PyTorch's files may refer to: storage classes, and
-- functions that rebuild tensors, sizes, devices and dicts from data. unpickle.lua rejects other
-- names. Used by the readers of zip archives (pt.lua) and of older formats (pt_legacy.lua).
--
-- A storage in the machine is {tensor = its elements, of one dimension, dtype =, first = its offset
-- in them}.

local torch = require 'torch'
local python_data = require 'torch.files.python_data'
local sparse_parts = require 'torch.files.sparse_parts'

local M = {}

M.storage_types = { BoolStorage = torch.bool, ByteStorage = torch.uint8, CharStorage = torch.int8,
  ShortStorage = torch.int16, IntStorage = torch.int32, LongStorage = torch.int64, HalfStorage = torch.float16,
  BFloat16Storage = torch.bfloat16, FloatStorage = torch.float32, DoubleStorage = torch.float64,
  ComplexFloatStorage = torch.complex64, ComplexDoubleStorage = torch.complex128 }
local dtypes = { 'bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64',
  'complex32', 'complex64', 'complex128', 'uint16', 'uint32', 'uint64', 'float8_e5m2', 'float8_e4m3fn', 'float8_e5m2fnuz',
  'float8_e4m3fnuz', 'float8_e8m0fnu' }
-- Storages of dtypes that ltensor does not have, for the error message.
local other_storages = { 'QInt8Storage', 'QUInt8Storage', 'QInt32Storage' }
-- Tensor classes, which the oldest files name for each tensor.
M.tensor_types = { 'ByteTensor', 'CharTensor', 'ShortTensor', 'IntTensor', 'LongTensor', 'HalfTensor', 'FloatTensor',
  'DoubleTensor' }

local function integers(machine, value, what)
  local values, count = machine:arguments(value, what)
  machine:spend(count)
  for i = 1, count do
    if math.type(values[i]) ~= 'integer' or values[i] < 0 then machine:fail('its pickle is damaged: %s', what) end
  end
  return table.move(values, 1, count, 1, {})
end

--- A new storage of these elements.
function M.storage(machine, tensor, dtype, first)
  local storage = { tensor = tensor, dtype = dtype, first = first }
  machine.kinds[storage] = 'storage'
  return storage
end

--- Moves the elements of a storage by put (serialization.lua), which may be a user's function.
function M.placed(machine, put, tensor, location)
  local dtype, numel = tensor.dtype, tensor:numel()
  tensor = put(tensor, location)
  if tensor.dtype ~= dtype or tensor:numel() ~= numel or not tensor:is_contiguous() or tensor:storage_offset() ~= 0 then
    machine:fail 'map_location must return its argument on a device, as a Tensor of the same size and dtype'
  end
  return tensor:detach()
end

--- Parses a persistent id: class, key, location and number of elements of the storage; before
-- version 1.6 also {key, offset, number of elements} of a view.
function M.storage_id(machine, id)
  local values, count = machine:arguments(id, 'a storage')
  local word, class, key, location, numel, view = table.unpack(values, 1, 6)
  if count ~= 5 and count ~= 6 or word ~= 'storage' or machine.kinds[class] ~= 'class' or type(key) ~= 'string'
    or type(location) ~= 'string' or math.type(numel) ~= 'integer' or numel < 0 then
    machine:fail 'its pickle is damaged: a storage'
  end
  if not class.dtype then machine:fail('elements of %s, which ltensor does not have', class.name) end
  return class.dtype, key, location, numel, view, class.untyped
end

--- A tensor over a storage; nil and an error if it is out of bounds.
function M.view(storage, size, stride, offset)
  local ok, tensor = pcall(function()
    return storage.tensor:as_strided(size, stride, offset < 0 and offset or storage.first + offset):detach()
  end)
  if ok then return tensor end
  return nil, 'a tensor does not fit its storage: ' .. tostring(tensor):gsub('^[^:]*:%d+: ', '')
end

-- _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks, metadata);
-- _rebuild_tensor: the first four.
local function rebuild_tensor(machine, arguments, count)
  local storage, offset, requires_grad = arguments[1], arguments[2], arguments[5] == true
  if count < 4 or machine.kinds[storage] ~= 'storage' or math.type(offset) ~= 'integer' then
    machine:fail 'its pickle is damaged: a tensor without a storage'
  end
  local metadata = arguments[7]
  local size = integers(machine, arguments[3], 'the sizes of a tensor')
  local stride = integers(machine, arguments[4], 'the strides of a tensor')
  local tensor, message = M.view(storage, size, stride, offset)
  if not tensor then machine:fail('%s', message) end
  -- PyTorch marks views as conjugate or negative; we copy.
  if type(metadata) == 'table' and metadata.conj and tensor.dtype.is_complex then tensor = tensor:conj() end
  if type(metadata) == 'table' and metadata.neg then tensor = tensor:neg() end
  if requires_grad and tensor.dtype.is_floating_point then tensor:requires_grad_(true) end
  return tensor
end

-- _rebuild_sparse_tensor(layout, components): (indices, values, size, is_coalesced), or for
-- compressed layouts (compressed indices, plain indices, values, size).
local function rebuild_sparse(machine, arguments)
  local layout, parts = arguments[1], { layout = arguments[1] }
  local given, count = machine:arguments(arguments[2], 'the components of a sparse tensor')
  if layout == 'torch.sparse_coo' then
    parts.indices, parts.values, parts.size, parts.coalesced = table.unpack(given, 1, 4)
  else
    parts.compressed, parts.plain, parts.values, parts.size = table.unpack(given, 1, 4)
  end
  for _, name in ipairs { 'indices', 'compressed', 'plain', 'values' } do
    local there = name == 'values' or (name == 'indices') == (layout == 'torch.sparse_coo')
    if there and not torch.is_tensor(parts[name]) then machine:fail 'its pickle is damaged: a sparse tensor without components' end
  end
  if count < 3 or parts.size == nil then machine:fail 'its pickle is damaged: a sparse tensor without a size' end
  if torch.type(parts.size) ~= 'torch.Size' then parts.size = integers(machine, parts.size, 'the sizes of a tensor') end
  local made, message = sparse_parts.together(parts)
  return made or machine:fail('%s', message)
end

-- _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata): for
-- dtypes without a storage class; their elements are in a storage of bytes.
local function rebuild_of_dtype(machine, arguments, count)
  local storage, dtype = arguments[1], arguments[7]
  if count < 7 or machine.kinds[storage] ~= 'storage' or torch.type(dtype) ~= 'dtype' then
    machine:fail 'its pickle is damaged: a tensor without a storage or a dtype'
  end
  if storage.dtype ~= torch.uint8 or storage.tensor:numel() % dtype.itemsize ~= 0 or storage.first ~= 0 then
    machine:fail('its pickle is damaged: a storage that holds no elements of %s', tostring(dtype))
  end
  local elements = { tensor = storage.tensor:view(dtype), dtype = dtype, first = 0 }
  machine.kinds[elements] = 'storage'
  return rebuild_tensor(machine, { elements, arguments[2], arguments[3], arguments[4], arguments[5], arguments[6], arguments[8] }, count - 1)
end

-- _rebuild_parameter(tensor, requires_grad, hooks)
local function rebuild_parameter(machine, arguments)
  local tensor, requires_grad = arguments[1], arguments[2] == true
  if not torch.is_tensor(tensor) then machine:fail 'its pickle is damaged: a parameter without a tensor' end
  return tensor.dtype.is_floating_point and tensor:requires_grad_(requires_grad) or tensor
end

-- _rebuild_from_type_v2(function, type, arguments, state): a tensor with attributes, which are
-- dropped.
local function rebuild_from_type(machine, arguments)
  local rebuild = arguments[1]
  if machine.kinds[rebuild] ~= 'class' or not rebuild.tensor then machine:fail 'its pickle is damaged: a tensor made by another call' end
  return rebuild.call(machine, machine:arguments(arguments[3], 'the arguments of a tensor'))
end

local function make_size(machine, arguments) return torch.Size(integers(machine, arguments[1], 'a torch.Size')) end

local function make_device(machine, arguments, count)
  local kind, index = arguments[1], arguments[2]
  local ok, device = pcall(torch.device, count == 2 and ('%s:%s'):format(kind, index) or kind)
  if not ok then machine:fail("a device that ltensor does not have, '%s'", tostring(kind)) end
  return device
end

-- A dict, from pairs of keys and values or from another dict.
local function make_dict(kind)
  return function(machine, arguments, count)
    local dict = kind == 'ordered' and machine:ordered() or machine:made({}, 'dict')
    local source = arguments[count]
    local of = machine.kinds[source]
    if of == 'dict' or of == 'ordered' then
      for key, value in pairs(source) do
        machine:spend(1)
        machine:set(dict, key, value)
      end
    elseif of == 'list' or of == 'tuple' then
      machine:spend(machine.lengths[source])
      for i = 1, machine.lengths[source] do
        local pair, n = machine:arguments(source[i], 'the pairs of a dict')
        if n ~= 2 then machine:fail 'its pickle is damaged: the pairs of a dict' end
        machine:set(dict, pair[1], pair[2])
      end
    end
    return dict
  end
end

-- The bytes from 128 on, by the UTF-8 of the code points of these numbers.
local latin_bytes = {}
for byte = 128, 255 do latin_bytes[utf8.char(byte)] = string.char(byte) end

-- _codecs.encode(text, 'latin1') is the form of bytes in a pickle.
local function encode(machine, arguments)
  local text, encoding = arguments[1], arguments[2]
  if type(text) == 'string' then machine:spend(#text) end
  local latin = type(text) == 'string' and encoding == 'latin1' and utf8.len(text) and not text:find '[\xc4-\xff]'
  if not latin and text ~= '' then machine:fail 'its pickle is damaged: bytes' end
  return (text:gsub('[\xc2\xc3][\x80-\xbf]', latin_bytes))
end

--- Created for every file, because the unpickler marks them as its own.
function M.make()
  local globals = {}
  local function add(full, call, more)
    local global = more or {}
    global.name, global.call = full, call
    globals[full] = global
  end
  for name, dtype in pairs(M.storage_types) do
    add('torch.' .. name, nil, { dtype = dtype })
    add('torch.storage.' .. name, nil, { dtype = dtype })
  end
  for _, name in ipairs(other_storages) do add('torch.' .. name, nil, { other = true }) end
  add('torch.storage.UntypedStorage', nil, { dtype = torch.uint8, untyped = true })
  add('torch.UntypedStorage', nil, { dtype = torch.uint8, untyped = true })
  for _, name in ipairs(dtypes) do globals['torch.' .. name] = torch[name] end
  for _, name in ipairs(M.tensor_types) do add('torch.' .. name) end
  add('torch._utils._rebuild_tensor', rebuild_tensor, { tensor = true })
  add('torch._utils._rebuild_tensor_v2', rebuild_tensor, { tensor = true })
  add('torch._utils._rebuild_sparse_tensor', rebuild_sparse, { tensor = true })
  add('torch._utils._rebuild_tensor_v3', rebuild_of_dtype, { tensor = true })
  add('torch._utils._rebuild_parameter', rebuild_parameter, { tensor = true })
  add('torch._tensor._rebuild_from_type_v2', rebuild_from_type)
  add('torch.serialization._get_layout', function(machine, arguments)
    for _, layout in ipairs { torch.strided, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc } do
      if arguments[1] == layout then return layout end
    end
    machine:fail('the layout %s, which ltensor does not have', tostring(arguments[1]))
  end)
  add('torch.Tensor')
  add('torch.nn.parameter.Parameter')
  add('torch.Size', make_size)
  add('torch.device', make_device)
  add('collections.OrderedDict', make_dict 'ordered')
  add('collections.Counter', make_dict 'dict')
  add('collections.defaultdict', make_dict 'dict')
  for _, name in ipairs { 'dict', 'list', 'int', 'float' } do
    add('builtins.' .. name)
    add('__builtin__.' .. name)
  end
  add('_codecs.encode', encode)
  for name, call in pairs(python_data.always) do
    add(name, call)
    add(name:gsub('^builtins', '__builtin__'), call)
  end
  -- Under each name that versions of Python use. Names that are not allowed raise an error that
  -- names them.
  for name, class in pairs(python_data.allowable) do
    for _, alias in ipairs { name, (name:gsub('^builtins', '__builtin__')), (name:gsub('^numpy%._core', 'numpy.core')), (name:gsub('^pathlib', 'pathlib._local')) } do
      if python_data.allowed[name] then add(alias, class.call, { new = class.new }) else globals[alias] = { allow = true } end
    end
  end
  return globals
end

return M
