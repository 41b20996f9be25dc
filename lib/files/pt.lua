-- pt.lua - PyTorch's files (.pt, .pth): a zip archive with a pickle of everything but the elements
-- (data.pkl), the elements of each storage as an entry (data/0, data/1, ...), their byte order, and
-- a version.
--
-- Tensors that share a storage become views of one memory again. pt_globals.lua lists the names
-- that a pickle may refer to; unpickle.lua rejects other names and executes nothing. This module
-- also writes pickles, limited to the data that PyTorch's torch.load(weights_only=True) reads.

local torch = require 'torch'
local for_loops = require 'torch.support.for_loops'
local pt_globals = require 'torch.files.pt_globals'
local sparse_parts = require 'torch.files.sparse_parts'
local structure = require 'torch.files.structure'
local unpickle = require 'torch.files.unpickle'
local zip = require 'torch.files.zip'

local M = {}

local MAX_PICKLE = 100000000 -- bytes
local MAX_DEPTH = 200
local ALIGNMENT = 64 -- of storages in the file
local PIECES = 1000
local INSTEAD = "In Python, write weights for torch.load with torch.save(model.state_dict(), 'weights.pt'), or a model for torch.onnx.load with torch.onnx.export"

-- ---- reading ------------------------------------------------------------------------------------

--- Raises an error for an archive of torch.export (.pt2), which holds a graph of PyTorch's own
--- operators.
function M.refuse_exported(archive)
  for _, entry in ipairs(archive.entries) do
    if entry.name:find 'models/[^/]*%.json$' or entry.name:find 'serialized_exported_program%.json$' then
      archive:fail('an archive of torch.export (.pt2), which is a program: torch.export.load reads it')
    end
  end
end

--- The folder of the archive in which PyTorch stores its data ("archive/"); nil for other archives.
function M.folder(archive)
  for _, entry in ipairs(archive.entries) do
    local folder = entry.name:match '^([^/]*/)data%.pkl$'
    if folder then return folder end
  end
end

-- A function for the unpickler that returns the storage of a persistent id; each storage is read
-- once and moved by put.
local function storage_reader(archive, folder, put, mmap)
  local order = archive.by_name[folder .. 'byteorder']
  order = order and archive:text(order, 100) or 'little'
  if order ~= 'little' and order ~= 'big' then archive:fail('the byte order %q', order) end
  local found = {}
  return function(machine, id)
    local dtype, key, location, numel, _, untyped = pt_globals.storage_id(machine, id)
    if untyped and order == 'big' then machine:fail 'big-endian bytes of an unknown dtype cannot be converted to little-endian' end
    local storage = found[key]
    if storage then
      if storage.dtype ~= dtype then machine:fail('storage %s is used with elements of two types', key) end
      return storage
    end
    local entry = archive.by_name[folder .. 'data/' .. key]
    if not entry then machine:fail("no entry for storage '%s'", key) end
    if entry.size // dtype.itemsize ~= numel or entry.size % dtype.itemsize ~= 0 then
      machine:fail("storage '%s' has %d bytes where %d elements of %d are promised", key, entry.size, numel, dtype.itemsize)
    end
    local tensor = mmap and order == 'little' and archive:map(entry, dtype, numel)
    if not tensor then
      tensor = archive:begin(entry):tensor(dtype, numel, order == 'big')
      archive:finish(entry)
    end
    storage = pt_globals.storage(machine, pt_globals.placed(machine, put, tensor, location), dtype, 0)
    found[key] = storage
    return storage
  end
end

--- The contents of an open archive (zip.lua) with this folder.
-- @param put  moves the storages: a function (tensor of one dimension, location) that returns a
--   tensor
-- @param mmap  true: the storages stay in the mapped file
function M.load(archive, folder, put, mmap)
  if archive.by_name[folder .. 'constants.pkl'] then
    archive:fail('a TorchScript archive, which is a program; ltensor reads files of torch.save, such as a state_dict(). ' .. INSTEAD)
  end
  local text = archive:text(archive.by_name[folder .. 'data.pkl'], MAX_PICKLE)
  local ok, result = unpickle.load(text, pt_globals.make(), storage_reader(archive, folder, put, mmap))
  if not ok then torch._C.raise(archive.path .. ': ' .. result) end
  return result
end

-- ---- writing ------------------------------------------------------------------------------------

local storage_names = {}
for name, dtype in pairs(pt_globals.storage_types) do storage_names[dtype] = name end

local Pickler = {}
Pickler.__index = Pickler

-- Appends pieces of text. They are concatenated from time to time, because 100,000 tensors would be
-- a million pieces.
function Pickler:put(...)
  local text = self.text
  for i = 1, select('#', ...) do text[#text + 1] = (select(i, ...)) end
  if #text < PIECES then return end
  self.parts[#self.parts + 1] = table.concat(text)
  self.text = {}
end

local function integer(value)
  if value >= -0x80000000 and value <= 0x7fffffff then return 'J' .. ('<i4'):pack(value) end
  return '\x8a\8' .. ('<i8'):pack(value)
end

local function unicode(text) return 'X' .. ('<s4'):pack(text) end

local function tuple(values) return '(' .. table.concat(values) .. 't' end

-- Bytes that are no UTF-8 become Python's bytes.
local function string_text(value)
  if utf8.len(value) then return unicode(value) end
  local latin = value:gsub('[\x80-\xff]', function(c) return utf8.char(c:byte()) end)
  return 'c_codecs\nencode\n' .. unicode(latin) .. unicode 'latin1' .. '\x86R'
end

local function scalar(value)
  if type(value) == 'string' then return string_text(value) end
  if type(value) == 'boolean' then return value and '\x88' or '\x89' end
  if math.type(value) == 'integer' then return integer(value) end
  if type(value) == 'number' then return 'G' .. ('>d'):pack(value) end
end

local function sizes_text(values)
  local texts = {}
  for i, value in ipairs(values) do texts[i] = integer(value) end
  return tuple(texts)
end

-- The memory of a tensor, as a table by device and dtype and a key in it; nil if it is not shared.
function Pickler:memory_of(tensor)
  if tensor:numel() == 0 then return nil end
  local kind = ('%s %s'):format(tensor.device, tensor.dtype)
  local memories = self.groups[kind] or {}
  self.groups[kind] = memories
  return memories, tensor:data_ptr() - tensor:storage_offset() * tensor.dtype.itemsize
end

local function geometry_of(tensor)
  return ('%d %s %s'):format(tensor:storage_offset(), table.concat(tensor.shape, ','), table.concat(tensor:stride(), ','))
end

-- The first and the last element of the memory that a tensor uses, from 0.
local function range_of(tensor)
  local first = tensor:storage_offset()
  local last = first
  for i, size in ipairs(tensor.shape) do last = last + (size - 1) * tensor:stride(i) end
  return first, last
end

local function new_group(tensor)
  local first, last = range_of(tensor)
  return { first = first, last = last, tensor = tensor, geometry = geometry_of(tensor) }
end

-- Counts the occurrences of tables in a value, and groups its tensors by memory. Most memories have
-- one tensor: then their entry is the tensor instead of a group.
function Pickler:collect(value, depth)
  if torch.is_tensor(value) and value.layout ~= torch.strided then
    self.apart[value] = self.apart[value] or sparse_parts.apart(value)
    for _, part in pairs(self.apart[value]) do
      if torch.is_tensor(part) then self:collect(part, depth) end
    end
  elseif torch.is_tensor(value) then
    local memories, key = self:memory_of(value)
    if not memories then return end
    local group = memories[key]
    if group == nil or group == value then
      memories[key] = value
    else
      if torch.is_tensor(group) then group = new_group(group) end
      local first, last = range_of(value)
      group.first, group.last = math.min(group.first, first), math.max(group.last, last)
      group.shared = group.shared or group.geometry ~= geometry_of(value)
      memories[key] = group
    end
  elseif type(value) == 'table' and depth < MAX_DEPTH then
    if self.met[value] then
      self.repeated[value] = true
      return
    end
    self.met[value] = true
    for _, item in next, value do self:collect(item, depth + 1) end
  end
end

-- The number of a new storage with the elements of this tensor.
function Pickler:storage(tensor)
  self.storages[#self.storages + 1] = tensor
  return #self.storages - 1
end

-- The storage of a tensor, its elements, and the tensor's offset and strides in it. A single view
-- is saved without the rest of its storage; several views of one memory are saved with the range
-- that contains them, and remain views of it.
function Pickler:layout(tensor)
  local memories, key = self:memory_of(tensor)
  local group = memories and memories[key]
  if not group or torch.is_tensor(group) then return self:storage(tensor), tensor:numel(), 0, nil end
  if not group.number then
    local saved = group.tensor:detach()
    if group.shared then saved = saved:as_strided({ group.last - group.first + 1 }, { 1 }, group.first) end
    group.number, group.numel = self:storage(saved), saved:numel()
  end
  if not group.shared then return group.number, group.numel, 0, nil end
  return group.number, group.numel, tensor:storage_offset() - group.first, tensor:stride()
end

-- Writes the recall of an object that was written before; false: it was not.
function Pickler:recall(object)
  local index = self.memo[object]
  if index then self:put('j' .. ('<I4'):pack(index)) end
  return index ~= nil
end

-- Remembers the object on top of the reader's stack.
function Pickler:remember(object)
  self.memo[object] = self.memos
  self:put('r' .. ('<I4'):pack(self.memos))
  self.memos = self.memos + 1
end

function Pickler:tensor(tensor)
  if self:recall(tensor) then return end
  local number, numel, offset, strides = self:layout(tensor)
  if not strides then
    strides = {}
    local step = 1
    for i = tensor:dim(), 1, -1 do
      strides[i] = step
      step = step * math.max(1, tensor:size(i))
    end
  end
  local class = storage_names[tensor.dtype] -- nil: a storage of bytes, with the dtype stored separately
  local storage = tuple { unicode 'storage', class and ('ctorch\n%s\n'):format(class) or 'ctorch.storage\nUntypedStorage\n',
    unicode(tostring(number)), unicode(tostring(tensor.device)), integer(class and numel or numel * tensor.dtype.itemsize) } .. 'Q'
  local fields = { storage, integer(offset), sizes_text(tensor.shape), sizes_text(strides), tensor.requires_grad and '\x88' or '\x89',
    'ccollections\nOrderedDict\n)R' }
  if not class then fields[#fields + 1] = ('c%s\n%s\n'):format(tostring(tensor.dtype):match '^(.*)%.([^.]*)$') end
  self:put(('ctorch._utils\n_rebuild_tensor_v%d\n'):format(class and 2 or 3), tuple(fields), 'R')
  self:remember(tensor)
end

-- _rebuild_sparse_tensor(layout, components).
function Pickler:sparse(tensor)
  local parts = self.apart[tensor]
  self:put('ctorch._utils\n_rebuild_sparse_tensor\n(ctorch.serialization\n_get_layout\n', unicode(parts.layout), '\x85R(')
  for _, name in ipairs(parts.indices and { 'indices', 'values' } or { 'compressed', 'plain', 'values' }) do self:tensor(parts[name]) end
  self:put('ctorch\nSize\n', sizes_text(parts.size), '\x85R')
  if parts.indices then self:put(parts.coalesced and '\x88' or '\x89') end
  self:put 'ttR'
end

-- True if the table has items 1 to n only.
local function is_list(object)
  local n = #object
  if n == 0 or not for_loops.is_plain(object) then return false end
  local count = 0
  for _ in next, object do count = count + 1 end
  return count == n
end

function Pickler:table(object, path, depth)
  if self:recall(object) then return end
  if depth >= MAX_DEPTH then structure.fail(path, 'tables nested deeper than %d', MAX_DEPTH) end
  local keys, word = structure.keys(object, path)
  local list = word == '' and is_list(object)
  if word == 'size' then
    self:put('ctorch\nSize\n', sizes_text(object), '\x85R')
  else
    self:put(list and ']' or word == 'ordered' and 'ccollections\nOrderedDict\n)R' or '}')
    if self.repeated[object] then self:remember(object) end -- before its items, which may refer to it
    self:put '('
    for _, key in ipairs(keys) do
      if not list then self:put(scalar(key)) end
      self:value(object[key], path and path .. '.' .. tostring(key) or tostring(key), depth + 1)
    end
    self:put(list and 'e' or 'u')
  end
end

function Pickler:value(value, path, depth)
  local text = scalar(value)
  if text then
    self:put(text)
  elseif torch.is_tensor(value) and value.layout ~= torch.strided then
    self:sparse(value)
  elseif torch.is_tensor(value) then
    self:tensor(value)
  elseif torch.type(value) == 'dtype' then
    self:put(('ctorch\n%s\n'):format(tostring(value):match '[^.]*$'))
  elseif torch.type(value) == 'device' then
    self:put('ctorch\ndevice\n', unicode(value.type), value.index and integer(value.index) .. '\x86R' or '\x85R')
  elseif torch.type(value) == 'complex' then
    self:put('c__builtin__\ncomplex\n', scalar(value.real + 0.0), scalar(value.imag + 0.0), '\x86R')
  elseif type(value) == 'table' then
    self:table(value, path, depth)
  else
    structure.refuse(value, path)
  end
end

--- Writes a value in the format of PyTorch's torch.save.
function M.save(value, path)
  local pickler = setmetatable({ text = {}, parts = {}, groups = {}, apart = {}, storages = {}, memo = {}, memos = 0, met = {}, repeated = {} }, Pickler)
  pickler:collect(value, 0)
  pickler:put '\x80\2'
  pickler:value(value, nil, 0)
  pickler:put '.'
  pickler.parts[#pickler.parts + 1] = table.concat(pickler.text)
  local writer <close> = zip.create(path)
  writer:add('archive/data.pkl', pickler.parts, ALIGNMENT)
  writer:add('archive/byteorder', { 'little' }, ALIGNMENT)
  for i, tensor in ipairs(pickler.storages) do
    writer:add('archive/data/' .. i - 1, { torch._C.saved_form(tensor) }, ALIGNMENT)
  end
  writer:add('archive/version', { '3\n' }, ALIGNMENT)
  writer:finish()
end

return M
