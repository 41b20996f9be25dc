-- gguf.lua - torch.lm.gguf(path): files of quantized language models (GGUF, versions 2 and 3; the format of llama.cpp):
-- named values of metadata, and tensors that stay mapped until they are read. Sizes are checked
-- against the file before memory is allocated. The specification is docs/gguf.md of the project ggml.

--[=[ arguments
path: GGUF file.
name: Name of a tensor.
dtype: Dtype of the result; float32 if absent.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local kinds = require 'torch.lm.gguf_types'
local outside = require 'torch.files.outside'
local ordered_dict = require 'torch.support.ordered_dict'
local QuantizedTensor = require 'torch.quantized.tensor'
local shown = require 'torch.support.printable_format'

local PIECE = 1 << 20
local MAX_HEADER = 1 << 28 -- bytes
local MAX_NAME = 1 << 16   -- bytes

-- ---- the header ---------------------------------------------------------------------------------

-- Reads a file from its start. text: the part that was read; at: the next byte.
local Header = {}
Header.__index = Header

function Header:fail(format, ...) torch._C.raise(self.path .. ': ' .. shown(format, ...)) end

-- Reads until n more bytes are there.
function Header:need(n)
  while #self.text - self.at + 1 < n do
    local piece = #self.text < MAX_HEADER and self.file:read(math.max(PIECE, math.min(n, MAX_HEADER)))
    if not piece then self:fail('the header is cut off, or has more than %d bytes', MAX_HEADER) end
    -- bytes before `at` are not needed any more
    self.start = self.start + self.at - 1
    self.text, self.at = self.text:sub(self.at) .. piece, 1
  end
end

function Header:number(format, size)
  self:need(size)
  local value
  value, self.at = string.unpack(format, self.text, self.at)
  return value
end

function Header:u32() return self:number('<I4', 4) end

-- A size or a count; larger numbers are beyond any file.
function Header:u64(what)
  local value = self:number('<i8', 8)
  if value < 0 or value >= 1 << 53 then self:fail('%s is %s', what, value) end
  return value
end

function Header:string(most)
  local n = self:u64 'the length of a text'
  if n > most then self:fail('a text has %d bytes, at most %d are possible', n, most) end
  self:need(n)
  local text = self.text:sub(self.at, self.at + n - 1)
  self.at = self.at + n
  return text
end

local function kind_of(header, key, number) return kinds.values[number] or header:fail("the value of '%s' has the unknown type %d", key, number) end

-- Returns a value and the name of its type.
function Header:value(key, number, depth)
  local name, format, size = table.unpack(kind_of(self, key, number), 1, 3)
  if name == 'string' then return self:string(MAX_HEADER), name end
  if name == 'bool' then return self:number('<B', 1) ~= 0, name end
  if name ~= 'array' then return self:number(format, size), name end
  if depth == 4 then self:fail("the value of '%s' has more than %d levels of arrays", key, depth) end
  local of, n = self:u32(), self:u64 'the length of an array'
  local element, _, least = table.unpack(kind_of(self, key, of), 1, 3)
  if n > (self.size - self.start) // least then self:fail("the array '%s' has %d values, more than the file has bytes", key, n) end
  local list = {}
  for i = 1, n do list[i], element = self:value(key, of, depth + 1) end
  return list, '[' .. element .. ']'
end

-- ---- tensors ------------------------------------------------------------------------------------

-- Reads the description of a tensor: its shape, in PyTorch's order, type, bytes and offset.
local function read_entry(header)
  local name, ndim = header:string(MAX_NAME), header:u32()
  if ndim > kinds.MAX_DIMS then header:fail("tensor '%s' has %d dimensions, at most %d are possible", name, ndim, kinds.MAX_DIMS) end
  local shape, numel = {}, 1
  for i = ndim, 1, -1 do
    shape[i] = header:u64 'a size'
    if shape[i] > 0 and numel > (1 << 53) // shape[i] then header:fail("tensor '%s' is too large", name) end
    numel = numel * shape[i]
  end
  local number, offset = header:u32(), header:u64 'an offset'
  local kind = kinds.tensors[number] or header:fail("tensor '%s' has elements of type %d, which ltensor does not read", name, number)
  local row = ndim > 0 and shape[ndim] or 1
  if row % kind[2] ~= 0 then header:fail("tensor '%s' has rows of %d elements, no multiple of a block of %s, %d", name, row, kind[1], kind[2]) end
  return name, { shape = shape, type = kind[1], row = row // kind[2] * kind[3], bytes = numel // kind[2] * kind[3], offset = offset }
end

local File = class.Object:extend 'GGUF'

--- The names of the tensors in their order.
function File:names()
  local names = {}
  for name in pairs(self.entries) do names[#names + 1] = name end
  return names
end

--- The shape of a tensor, and its dtype or the name of its block format.
function File:info(name)
  local entry = self.entries[name] or self:_fail("no tensor has the name '%s'", name)
  return table.move(entry.shape, 1, #entry.shape, 1, {}), entry.type
end

function File:_fail(format, ...) torch._C.raise(self.path .. ': ' .. shown(format, ...)) end

--- The elements as they are in the file, mapped: a tensor of its dtype, or, of a block format, rows
-- of bytes (uint8); and the dtype or the format.
function File:stored(name)
  local entry = self.entries[name] or self:_fail("no tensor has the name '%s'", name)
  local part = self.bytes:narrow(1, self.data + entry.offset + 1, entry.bytes)
  local shape = table.move(entry.shape, 1, #entry.shape, 1, {})
  if type(entry.type) ~= 'string' then return part:view(entry.type):view(shape), entry.type end
  shape[#shape] = entry.row
  return part:view(shape), entry.type
end

--- The elements in a dtype (float32).
function File:tensor(name, dtype)
  local stored, format = self:stored(name)
  if type(format) == 'string' then return torch.dequantize_blocks(stored, format, { dtype = dtype }) end
  return stored:to(dtype or torch.float32)
end

--- All tensors by name, in the order of the file, mapped: those of block formats as
-- torch.quantized.Tensor.
function File:tensors()
  local dict = ordered_dict.new()
  for name in pairs(self.entries) do
    local stored, format = self:stored(name)
    dict[name] = type(format) == 'string' and QuantizedTensor(stored, format) or stored
  end
  return dict
end

--- Opens a file: `metadata` has its values by name, `types` the names of their types.
function File:init(path)
  local file <close>, message = outside.open(path, 'rb')
  if not file then torch._C.raise(message) end
  local size = file:seek 'end'
  file:seek 'set'
  local header = setmetatable({ path = path, file = file, size = size, text = '', at = 1, start = 0 }, Header)
  if size < 24 or header:number('c4', 4) ~= 'GGUF' then header:fail 'not a GGUF file' end
  local version = header:u32()
  if version ~= 2 and version ~= 3 then header:fail('version %d of GGUF; ltensor reads versions 2 and 3', version) end
  local tensors, values = header:u64 'the number of tensors', header:u64 'the number of values'
  local metadata, value_types, entries = {}, {}, ordered_dict.new()
  for _ = 1, values do
    local key = header:string(MAX_NAME)
    metadata[key], value_types[key] = header:value(key, header:u32(), 1)
  end
  for _ = 1, tensors do
    local name, entry = read_entry(header)
    if entries[name] then header:fail("tensor '%s' occurs twice", name) end
    entries[name] = entry
  end
  local alignment = kinds.alignment(metadata) or header:fail('general.alignment is %s', tostring(metadata['general.alignment']))
  local data = (header.start + header.at - 1 + alignment - 1) // alignment * alignment
  for name, entry in pairs(entries) do
    if entry.offset % alignment ~= 0 then header:fail("tensor '%s' begins at byte %d, no multiple of %d", name, entry.offset, alignment) end
    if entry.offset + entry.bytes > size - data then header:fail("tensor '%s' goes beyond the end of the file", name) end
  end
  self.path, self.metadata, self.types, self.entries, self.data = path, metadata, value_types, entries, data
  self.bytes = torch.from_file(path, { size = size, dtype = torch.uint8 })
end

function File:__tostring() return ('GGUF(%s)'):format(self.path) end

declare.methods(File, [[
  init(self, string path)
  info(self, string name)
  stored(self, string name)
  tensor(self, string name, dtype? dtype)
]])

rawset(File, 'save', declare.from_file('torch.lm.gguf_writer'))

return File
