-- library.lua - part of ltensor-ffi.lua: opens the library, raises its errors, and has the small values of the module:
-- dtypes, devices, sizes. A part receives the table `shared` and adds its functions to it.

local shared = ...
local has_ffi, ffi = pcall(require, 'ffi')
if not has_ffi then error('ltensor-ffi.lua needs the FFI of LuaJIT 2.1, which ' .. _VERSION .. ' lacks; Lua 5.3 to 5.5 have the module torch', 0) end
local torch = {}

-- ---- errors -------------------------------------------------------------------------------------

local this_file = debug.getinfo(1, 'S').source

-- Raises a message with the line of the caller of this file.
local function raise(message, ...)
  if select('#', ...) > 0 then message = message:format(...) end
  local level, info = 2
  repeat
    info = debug.getinfo(level, 'S')
    level = level + 1
  until not info or info.what ~= 'C' and info.source ~= this_file
  error(message, level - 1)
end

-- ---- the library --------------------------------------------------------------------------------

if not pcall(ffi.sizeof, 'lt_dims') then -- the declarations of a process remain when a host loads this file again
  ffi.cdef(shared.cdef)
  ffi.cdef 'void *dlopen(const char *, int); char *dlerror(void);'
end

-- The paths to try: beside this file (a build), in the prefix of an installation, by the loader.
local library_folder = '../../../lib/'
local here = this_file:match '^@(.*/)' or './'
local folders = { here, here .. library_folder, '' }

local function open(name, how)
  local messages = {}
  for _, folder in ipairs(folders) do
    local ok, found = pcall(how, folder .. name)
    if ok then return found, folder end
    messages[#messages + 1] = '\n  ' .. tostring(found)
  end
  raise('cannot open %s: run make install and ldconfig, or set LD_LIBRARY_PATH to its folder.%s', name, table.concat(messages))
end

local core = open('libltensor.so.' .. shared.soname, ffi.load)
if core.lt_version_number() < shared.version_number then
  raise('ltensor-ffi.lua needs libltensor %s or later, but found %s', shared.version, ffi.string(core.lt_version()))
end

core.lt_set_first_index(1) -- in messages of this thread

local function check(status)
  if status ~= 0 then raise('%s', ffi.string(core.lt_error_message())) end
end

-- ---- dtypes, devices, sizes ---------------------------------------------------------------------

local Dtype, Device, Size = {}, {}, {}
local dtype_of = {} -- by number and by name

function Dtype.__tostring(self) return 'torch.' .. self.name end
for name in shared.dtypes:gmatch '%S+' do
  local code = tonumber(ffi.new('lt_dtype', 'LT_' .. name:upper()))
  local dtype = setmetatable({ name = name, code = code, itemsize = tonumber(core.lt_dtype_size(code)) }, Dtype)
  dtype_of[code], dtype_of[name], torch[name] = dtype, dtype, dtype
end
for short, name in pairs { float = 'float32', double = 'float64', half = 'float16', long = 'int64', int = 'int32', short = 'int16', cfloat = 'complex64' } do
  torch[short], dtype_of[short] = torch[name], torch[name]
end

local function to_dtype(v)
  if getmetatable(v) == Dtype then return v end
  return type(v) == 'string' and dtype_of[(v:gsub('^torch%.', ''))] or nil
end

local device_types, devices = { [0] = 'cpu', 'cuda' }, {}
Device.__index = Device
function Device.__tostring(self) return self.type == 'cpu' and 'cpu' or self.index < 0 and 'cuda' or 'cuda:' .. self.index end
function Device.__eq(a, b) return a.type == b.type and a.index == b.index end

-- One object per device, so that devices can be compared by ==.
local function device_object(type_number, index)
  local key = type_number * 256 + index
  devices[key] = devices[key] or setmetatable({ type = device_types[type_number], index = index, c = ffi.new('lt_device', type_number, index) }, Device)
  return devices[key]
end

local function to_device(v)
  if getmetatable(v) == Device then return v end
  if type(v) == 'number' then return device_object(1, v) end
  if v == 'cpu' or v == 'cpu:0' then return device_object(0, 0) end
  local index = tostring(v):match '^cuda:(%d+)$'
  if v ~= 'cuda' and not index then raise("Invalid device string: '%s' (expected 'cpu', 'cuda' or 'cuda:' and a number)", tostring(v)) end
  return device_object(1, tonumber(index or -1))
end

function Size.__tostring(self) return 'torch.Size([' .. table.concat(self, ', ') .. '])' end
function Size.__eq(a, b)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then return false end
  end
  return true
end

local function size_of(n, sizes)
  local size = {}
  for i = 1, n do size[i] = tonumber(sizes[i - 1]) end
  return setmetatable(size, Size)
end

shared.ffi, shared.core, shared.torch, shared.raise, shared.check, shared.open = ffi, core, torch, raise, check, open
shared.Dtype, shared.dtype_of, shared.to_dtype = Dtype, dtype_of, to_dtype
shared.Device, shared.device_object, shared.to_device = Device, device_object, to_device
shared.Size, shared.size_of = Size, size_of
