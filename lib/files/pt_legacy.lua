-- pt_legacy.lua - reads PyTorch's files from before version 1.6, which are not zip archives.
--
-- From 0.1.10 on: five consecutive pickles (a magic number, the protocol number, properties of the
-- machine, the value, the keys of its storages), then the elements of each storage after their
-- number. Before: a tar archive of "storages" and "tensors", in which pickles with descriptions
-- alternate with numbers and elements, and of "pickle", the value. Elements and numbers are
-- little-endian on every machine.
--
-- Pickles are read as data, by the rules of unpickle.lua. Storages that the value's pickle names
-- are allocated then and filled later, so their total size must not exceed the size of the file.

local torch = require 'torch'
local source_name = require 'torch.files.source_name'
local pt_globals = require 'torch.files.pt_globals'
local shown = require 'torch.support.printable_format'
local unpickle = require 'torch.files.unpickle'

local M = {}

local MAGIC = '\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.'
local PROTOCOL = 1001
local MAX_PICKLE = 100000000 -- bytes
local CHUNK = 65536 -- bytes; the length of a pickle is not stored
local MAX_DIMS = 64
local BLOCK = 512 -- of a tar archive

-- ---- a part of a file ---------------------------------------------------------------------------

local Part = {}
Part.__index = Part

function Part:fail(format, ...) torch._C.raise(self.path .. ': ' .. shown(format, ...)) end

function Part:bytes(n)
  if n > self.finish - self.at then self:fail('%d bytes are needed where %d are left: cut short', n, self.finish - self.at) end
  self.file:section(self.at, n, n, false)
  self.at = self.at + n
  return self.file:text(n)
end

function Part:integer() return (('<i8'):unpack(self:bytes(8))) end

-- The number of elements, which precedes them, and the elements.
function Part:elements(dtype)
  local numel = self:integer()
  if numel < 0 or numel > (self.finish - self.at) // dtype.itemsize then
    self:fail('%d elements of %d bytes are promised where %d bytes are left: cut short', numel, dtype.itemsize,
      self.finish - self.at)
  end
  local bytes = numel * dtype.itemsize
  self.file:section(self.at, bytes, bytes, false)
  self.at = self.at + bytes
  return self.file:tensor(dtype, numel, false)
end

local function no_storages(machine) machine:fail 'its pickle is damaged: a storage where none can be' end

-- The value of the next pickle.
function Part:pickle(persistent, globals)
  local start = self.at
  local function more(n)
    local count = math.min(math.max(n, CHUNK), self.finish - self.at)
    if self.at + count - start > MAX_PICKLE then self:fail('a pickle of more than %d bytes', MAX_PICKLE) end
    return self:bytes(count)
  end
  local ok, value, unused = unpickle.load_from(more, globals or pt_globals.make(), persistent or no_storages)
  if not ok then self:fail('%s', value) end
  self.at = self.at - unused
  return value
end

local function open(path, file, size) return setmetatable({ path = path, file = file, at = 0, finish = size }, Part) end

-- ---- five pickles and the elements --------------------------------------------------------------

-- A function for the unpickler that creates storages by size before their elements are read, and
-- stores them in `found` by key. size: of the file, a limit.
local function promised(found, put, size)
  local total, views = 0, {}
  local function whole(machine, dtype, key, location, numel)
    local storage = found[key]
    if not storage then
      if numel > (size - total) // dtype.itemsize then
        machine:fail("storage '%s' has %d elements of %d bytes, more than the file: cut short", key, numel, dtype.itemsize)
      end
      total = total + numel * dtype.itemsize
      local tensor = pt_globals.placed(machine, put, torch.empty(numel, { dtype = dtype }), location)
      storage = pt_globals.storage(machine, tensor, dtype, 0)
      storage.numel, found[key] = numel, storage
    end
    if storage.dtype ~= dtype or storage.numel ~= numel then machine:fail('storage %s is used with two types or sizes', key) end
    return storage
  end
  return function(machine, id)
    local dtype, key, location, numel, view = pt_globals.storage_id(machine, id)
    local storage = whole(machine, dtype, key, location, numel)
    if view == nil then return storage end
    local values, count = machine:arguments(view, 'a view of a storage')
    local name, offset, length = table.unpack(values, 1, 3)
    if count ~= 3 or type(name) ~= 'string' or math.type(offset) ~= 'integer' or math.type(length) ~= 'integer'
      or offset < 0 or length < 0 or offset > numel or length > numel - offset then
      machine:fail 'its pickle is damaged: a view of a storage'
    end
    local place = ('%s %d %d'):format(key, offset, length)
    views[place] = views[place] or pt_globals.storage(machine, storage.tensor, dtype, offset)
    return views[place]
  end
end

local function load_stream(part, put)
  part:bytes(#MAGIC)
  local protocol = part:pickle()
  if protocol ~= PROTOCOL then part:fail('protocol %s of the format before PyTorch 1.6 is not supported', protocol) end
  part:pickle()
  local found = {}
  local globals = pt_globals.make()
  globals['torch._utils._rebuild_sparse_tensor'] = nil -- it would validate the indices, which follow the pickles
  local value = part:pickle(promised(found, put, part.finish), globals)
  local keys = part:pickle()
  if type(keys) ~= 'table' then part:fail 'the keys of its storages are damaged' end
  for _, key in ipairs(keys) do
    local storage = found[key]
    if not storage then part:fail("its storage '%s' has no tensor or occurs twice", key) end
    local tensor = part:elements(storage.dtype)
    if tensor:numel() ~= storage.numel then
      part:fail("storage '%s' has %d elements where %d are promised", key, tensor:numel(), storage.numel)
    end
    storage.tensor:copy_(tensor)
    found[key] = nil
  end
  if next(found) then part:fail("the elements of storage '%s' are missing", next(found)) end
  return value
end

-- ---- tar archives -------------------------------------------------------------------------------

-- The parts of the archive by name.
local function members(part)
  local found = {}
  while part.finish - part.at >= BLOCK do
    local head = part:bytes(BLOCK)
    local name = head:match '^[^\0]*'
    if name == '' then break end
    local size = tonumber(head:sub(125, 136):match '^%s*([0-7]+)[%s\0]*$' or '', 8)
    if not size or size > part.finish - part.at then part:fail("'%s' in it is damaged or cut short", name) end
    found[name] = setmetatable({ path = part.path, file = part.file, at = part.at, finish = part.at + size }, Part)
    part.at = math.min(part.finish, part.at + (size + BLOCK - 1) // BLOCK * BLOCK)
  end
  for _, name in ipairs { 'storages', 'tensors', 'pickle' } do
    if not found[name] then part:fail("a tar archive without '%s': not one of PyTorch's, or cut short", name) end
  end
  return found
end

local function count_of(part)
  local count = part:pickle()
  if math.type(count) ~= 'integer' or count < 0 then part:fail 'it is damaged: a count' end
  return count
end

-- Records a pickle of a tuple that ends with a class.
local function note(part, globals, what)
  local values = part:pickle(nil, globals)
  if type(values) ~= 'table' or values[1] == nil or values[2] == nil or values[3] == nil then part:fail('it is damaged: %s', what) end
  return values[1], values[2], values[3]
end

-- Maps classes to dtypes and names, because the unpickler does not return classes.
local function named_types()
  local globals = {}
  for name, dtype in pairs(pt_globals.storage_types) do globals['torch.' .. name] = dtype end
  for _, name in ipairs(pt_globals.tensor_types) do globals['torch.' .. name] = name end
  return globals
end

local function read_storages(part, put)
  local storages, globals = {}, named_types()
  local machine = { kinds = {}, fail = function(_, ...) part:fail(...) end }
  for _ = 1, count_of(part) do
    local key, location, dtype = note(part, globals, 'a storage')
    if torch.type(dtype) ~= 'dtype' or type(location) ~= 'string' then part:fail 'it is damaged: a storage' end
    local tensor = pt_globals.placed(machine, put, part:elements(dtype), location)
    storages[tostring(key)] = { tensor = tensor, first = 0, numel = tensor:numel() }
  end
  local views = part:pickle()
  if type(views) ~= 'table' then part:fail 'it is damaged: the views of storages' end
  for _, view in ipairs(views) do
    local target, root, offset, numel = table.unpack(type(view) == 'table' and view or {}, 1, 4)
    local whole = storages[tostring(root)]
    if not whole or math.type(offset) ~= 'integer' or math.type(numel) ~= 'integer' or offset < 0 or numel < 0
      or offset > whole.numel or numel > whole.numel - offset then
      part:fail 'it is damaged: a view of a storage'
    end
    storages[tostring(target)] = { tensor = whole.tensor, first = whole.first + offset, numel = numel }
  end
  return storages
end

local function read_tensors(part, storages)
  local tensors, globals = {}, named_types()
  for _ = 1, count_of(part) do
    local key, storage = note(part, globals, 'a tensor')
    storage = storages[tostring(storage)]
    if not storage then part:fail 'it is damaged: a tensor without a storage' end
    local ndim = ('<i4'):unpack(part:bytes(8)) -- 8 bytes, of which 4 are used
    if ndim < 0 or ndim > MAX_DIMS then part:fail('a tensor of %d dimensions', ndim) end
    local numbers = {}
    for i = 1, 2 * ndim + 1 do
      numbers[i] = part:integer()
      if numbers[i] < 0 then part:fail 'it is damaged: the sizes of a tensor' end
    end
    local size, stride = table.move(numbers, 1, ndim, 1, {}), table.move(numbers, ndim + 1, 2 * ndim, 1, {})
    local tensor, message = pt_globals.view(storage, size, stride, numbers[2 * ndim + 1])
    if not tensor then part:fail('%s', message) end
    tensors[tostring(key)] = tensor
  end
  return tensors
end

local function load_tar(part, put)
  local parts = members(part)
  local tensors = read_tensors(parts.tensors, read_storages(parts.storages, put))
  return parts.pickle:pickle(function(machine, id)
    if machine.kinds[id] == 'tuple' then machine:fail 'its pickle is of a module; ltensor reads its state_dict()' end
    local tensor = (type(id) == 'string' or type(id) == 'number') and tensors[tostring(id)]
    if not tensor then machine:fail 'its pickle is damaged: an unknown tensor' end
    return tensor
  end)
end

-- ---- the file -----------------------------------------------------------------------------------

--- The format of a file with this beginning (512 bytes), or nil.
function M.kind(start)
  if start:sub(1, #MAGIC) == MAGIC then return 'stream' end
  if start:sub(258, 262) == 'ustar' then return 'tar' end
end

local loaders = { stream = load_stream, tar = load_tar }

--- The contents of a file of this kind.
-- @param put  moves the storages, as in pt.load
function M.load(kind, path, put)
  local file <close>, size = torch._C.open_file(path)
  return loaders[kind](open(source_name(path), file, size), put)
end

return M
