-- serialization.lua - torch.save and torch.load: tensors and nested tables of them in files. The
-- default format is safetensors; the suffix selects others: NumPy's .npy and .npz (npy.lua),
-- PyTorch's .pt and .pth (pt.lua; before 1.6: pt_legacy.lua). Loading detects the format from the
-- first bytes.
--
-- In safetensors files, tensors are stored under their paths ("model.fc.weight"), so that every
-- reader of the format finds them. The enclosing tables, other values, devices and requires_grad
-- are stored as text in the metadata (structure.lua). A file of another program, without that text,
-- loads as tensors by name, in order.

--[=[ arguments
f: File; the suffix selects the format.
load.f: File, or its content as a string; its first bytes determine the format.
map_location: Device of the tensors; the device of the saved ones if absent.
pickle_module: Accepted for compatibility; it must be nil.
weights_only: Accepted for compatibility; loading never runs code.
mmap: Whether the file is mapped into memory instead of read.
max_memory: Maximum memory in bytes.
compressed: Whether an .npz file is compressed.
max_shard_size: Maximum size of a safetensors file, in bytes or as `'5GB'`; larger ones are divided.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local kinds = require 'torch.support.argument_kinds'
local npy = require 'torch.files.npy'
local file_kinds = require 'torch.files.file_kinds'
local ordered_dict = require 'torch.support.ordered_dict'
local pt = require 'torch.files.pt'
local pt_legacy = require 'torch.files.pt_legacy'
local sharded = require 'torch.files.sharded'
local source_name = require 'torch.files.source_name'
local structure = require 'torch.files.structure'
local zip = require 'torch.files.zip'

local M = {}

local KEY = 'ltensor'

local savers = { npy = npy.save, npz = npy.save_archive, pt = pt.save, pth = pt.save }
-- Suffixes of formats that we do not write.
local others = { pkl = true, pickle = true, h5 = true, onnx = true, gguf = true }

local function fail(format, ...) torch._C.raise(format:format(...)) end

local function check_path(what, path)
  if type(path) ~= 'string' then fail('%s: the path must be a string, got %s', what, torch.type(path)) end
end

--- Saves a tensor, or a (nested) table of tensors, numbers, booleans, strings, dtypes and devices,
-- such as a state_dict. The write is atomic. The suffix selects the format:
--
-- * `.npy`: one tensor, for NumPy; `.npz`: a table of tensors by name.
-- * `.pt`, `.pth`: for PyTorch; torch.load there reads it with weights_only=True. Tables 1 to n
--   become lists, others dicts; tensors that share memory remain views of one storage.
-- * any other: the safetensors format. Views are saved as separate tensors.
--
-- Positions from 1 in the values are saved unchanged.
-- @param obj   the value
-- @param path  the file
-- @param options  compressed (false): compresses a .npz file, as numpy.savez_compressed.
--   max_shard_size (bytes, or a string such as '5GB'): a larger safetensors file is split into
--   several files and an index, path .. '.index.json', which torch.load reads
local function save(obj, path, options)
  check_path('torch.save', path)
  local suffix = path:match '%.([^./]*)$'
  suffix = suffix and suffix:lower()
  if others[suffix] then
    fail("torch.save: %s: ltensor does not write '.%s'; the suffix .safetensors is for tensors and tables of them, .pt for "
      .. 'PyTorch, .npy and .npz for NumPy', path, suffix)
  end
  if options.compressed and suffix ~= 'npz' then fail("torch.save: %s: only '.npz' files can be compressed", path) end
  local most = options.max_shard_size and sharded.bytes(options.max_shard_size)
  if most and savers[suffix] then fail("torch.save: %s: only safetensors are written in shards, not '.%s' files", path, suffix) end
  if savers[suffix] then return savers[suffix](obj, path, options.compressed) end
  local text, names, tensors = structure.encode(obj)
  if most then return sharded.save(path, names, tensors, { [KEY] = text }, most) end
  torch._C.save_safetensors(path, names, tensors, { [KEY] = text })
end

-- ---- devices ------------------------------------------------------------------------------------

-- The device, if it exists on this machine.
local function check_device(name)
  local ok, device = pcall(torch.device, name)
  if not ok then fail('torch.load: %s', (tostring(device):gsub('^[^:]*:%d+: ', ''))) end
  if device.type == 'cpu' then return device end
  if not torch.cuda.is_available() then
    fail('Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running '
      .. "on a CPU-only machine, please use torch.load with map_location='cpu' to map your storages to the CPU.")
  end
  local count = torch.cuda.device_count()
  if device.index and device.index >= count then
    fail('Attempting to deserialize object on CUDA device %d but torch.cuda.device_count() is %d. Please use torch.load '
      .. "with map_location to map your storages to an existing device, such as map_location='cpu'.", device.index, count)
  end
  return device
end

local function place(tensor, device)
  device = check_device(device)
  return device.type == 'cpu' and tensor or tensor:to(device)
end

-- A function that moves a tensor on the host to its target device: f(tensor, name of the saved
-- device).
local function placer(map)
  if map == nil then return place end
  if type(map) == 'table' then
    return function(tensor, location)
      local mapped = map[location]
      return place(tensor, mapped == nil and location or mapped)
    end
  end
  if type(map) == 'function' then
    return function(tensor, location)
      local result = map(tensor, location)
      if result == nil then return place(tensor, location) end
      if not torch.is_tensor(result) then fail('torch.load: map_location returned a %s, not a Tensor', torch.type(result)) end
      return result
    end
  end
  local device = check_device(map)
  return function(tensor) return place(tensor, device) end
end

-- ---- loading ------------------------------------------------------------------------------------

local function foreign(names, tensors, put)
  local dict = ordered_dict.new()
  for i, name in ipairs(names) do
    dict[name] = put(tensors[i], 'cpu')
  end
  return dict
end

local function ours(path, text, names, tensors, put)
  local by_name, placed = {}, {}
  for i, name in ipairs(names) do by_name[name] = tensors[i] end
  local value, message = structure.decode(text, function(name, location, requires_grad)
    if placed[name] == nil and by_name[name] ~= nil then
      local tensor = put(by_name[name], location)
      placed[name] = requires_grad and tensor.dtype.is_floating_point and tensor:requires_grad_(true) or tensor
    end
    return placed[name]
  end)
  if message then fail("%s: the metadata '%s' is damaged: %s", path, KEY, message) end
  return value
end

-- A table maps device names to devices. A key that is no device name is reported as an unknown
-- argument.
local function check_map(map)
  if type(map) ~= 'table' then return end
  for name in pairs(map) do
    if not pcall(torch.device, name) then kinds.refuse_name('torch.load', name, { 'map_location', 'weights_only', 'mmap', 'max_memory' }) end
  end
end

local function read_safetensors(path, put, names, tensors, metadata)
  if type(metadata[KEY]) ~= 'string' then return foreign(names, tensors, put) end
  return ours(path, metadata[KEY], names, tensors, put)
end

-- The first bytes of a file, which identify its format, and its size.
local function beginning(path)
  local file <close>, size = torch._C.open_file(path)
  return file:text(math.min(size, 512)), size
end

local function refuse_mmap(path, what)
  fail("torch.load: %s: mmap = true is for safetensors and for PyTorch's zip archives; this is %s, which is read", path, what)
end

local function load_archive(path, put, mmap)
  local archive <close> = zip.open(path)
  local folder = pt.folder(archive)
  if folder then return pt.load(archive, folder, put, mmap) end
  pt.refuse_exported(archive)
  if mmap then refuse_mmap(path, 'an archive of NumPy arrays') end
  return npy.load_archive(archive, function(tensor) return put(tensor, 'cpu') end)
end

--- Loads files of torch.save, NumPy's .npy and .npz, PyTorch's .pt and .pth (also before PyTorch
-- 1.6), any safetensors file, or the index of a sharded one (model.safetensors.index.json). The
-- content selects the format. Executes no code: a pickle that refers to anything but tensors and
-- containers is an error.
--
-- From PyTorch's files, lists and tuples become tables from 1, dicts tables with the same keys
-- (numbers of an optimizer from 0; tuples and None as strings: '(1, 2)'), OrderedDicts ordered
-- tables, None nil, bytearrays strings, sets lists. NumPy's arrays and scalars, paths and
-- namespaces are read if torch.serialization.add_safe_globals allows them. Arrays of a .npz and
-- foreign safetensors files load as a table by name, in order.
-- @param path     the file, or its content: a string with a zero byte, which no path has
-- @param options  map_location: the target of tensors: a device, a function (tensor, location) that
--   returns a tensor or nil, or a table {['cuda:0'] = 'cpu'}; the default is the device on which
--   they were saved. The function receives the storages of PyTorch's files, as tensors of one
--   dimension. mmap (false): elements of safetensors and PyTorch's zip archives stay in the mapped
--   file; writes stay in memory. Do not truncate the file meanwhile; checksums are not compared.
--   Bools and unaligned elements are read into memory. max_memory: the maximum memory in bytes,
--   because an archive can unpack to a thousand times its size; the default is 64 times the size of
--   the file, and at least 256 MB
local function load(path, map_location, _, _, mmap, max_memory)
  check_path('torch.load', path)
  check_map(map_location)
  local put = placer(map_location)
  local start, size = beginning(path)
  local is_content = path:find('\0', 1, true) ~= nil
  if is_content and mmap then fail 'torch.load: mmap = true needs the path of a file, not its content' end
  if start:sub(1, 6) == '\x93NUMPY' or not is_content and path:find '%.[nN][pP][yY]$' then
    if mmap then refuse_mmap(path, 'a NumPy array') end
    return put(npy.load(path), 'cpu')
  end
  if start:sub(1, 4) == 'PK\3\4' or start:sub(1, 4) == 'PK\5\6' then
    return torch._C.within_budget(size, max_memory, load_archive, path, put, mmap)
  end
  local legacy = pt_legacy.kind(start)
  if legacy and mmap then refuse_mmap(path, 'a file of before PyTorch 1.6') end
  if legacy then return torch._C.within_budget(size, max_memory, pt_legacy.load, legacy, path, put) end
  if not is_content and sharded.is_index(path) then return read_safetensors(path, put, sharded.load(path, mmap)) end
  if start:sub(5, 9) ~= '\0\0\0\0{' then -- the length of a safetensors header, which begins with a brace
    local kind, reader = file_kinds.of(start)
    if kind then fail('%s: this is %s, which torch.load does not read%s', source_name(path), kind, reader and '; ' .. reader or '') end
    local suffix = not is_content and path:match '%.([^./]*)$' or ''
    if savers[suffix:lower()] then fail('%s: not a .%s file: no zip archive', path, suffix) end
  end
  return read_safetensors(source_name(path), put, torch._C.load_safetensors(path, mmap))
end

M.save = declare.with_options('torch.save(any? obj, any? f, *, boolean compressed=false, any? max_shard_size)', save)
M.load = declare.declare([[
  torch.load(any? f, any? map_location, any? pickle_module, *, boolean? weights_only, boolean mmap=false, integer? max_memory)
]], load)

return M
