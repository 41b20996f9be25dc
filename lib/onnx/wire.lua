-- wire.lua - reads protobuf messages from a file, or from a string, by tables of fields
-- (messages.lua).
--
-- A message becomes a table by field name; unknown fields are skipped. Large arrays become spans {
-- at =, length = }, offsets in the file; tensor() reads a span directly into the memory of a tensor
-- without a copy. The file is read through a window of some kilobytes. Lengths are validated
-- against the enclosing message, so memory is proportional to the file; nesting is bounded; errors
-- contain the byte offset. Offsets count from 0.

local torch = require 'torch'

local EMPTY = require('torch.onnx.messages').EMPTY
local byte, sub, unpack = string.byte, string.sub, string.unpack

local WINDOW = 1 << 16
local MAX_DEPTH = 100

local M = { MEMORY = 'the bytes in memory' } -- instead of a path in messages

local Reader = {}
Reader.__index = Reader

function Reader:fail(at, format, ...)
  torch._C.raise(('%s: byte %d: %s'):format(self.path, at, format:format(...)))
end

function Reader:close()
  if self.file then self.file:close() end
end
Reader.__close = Reader.close

--- A reader of a file, or of the bytes of one: a string with a zero byte, which no path has. To be
--- closed.
local function open(path)
  if path:find('\0', 1, true) then return M.of_string(path, M.MEMORY) end
  local file, size = torch._C.open_file(path)
  return setmetatable({ path = path, file = file, size = size, base = 0, window = '' }, Reader)
end

--- A reader of a string; `path` names it in messages.
function M.of_string(bytes, path)
  return setmetatable({ path = path, size = #bytes, base = 0, window = bytes }, Reader)
end

-- Moves the buffered window to byte `at`; it contains at least `length` bytes, which the file must
-- have.
local function move(self, at, length)
  local n = math.min(math.max(length, WINDOW), self.size - at)
  self.file:section(at, n, n, false)
  self.window, self.base = self.file:text(n), at
end

-- The bytes of a range in the file.
function Reader:bytes(at, length)
  if at < self.base or at + length > self.base + #self.window then move(self, at, length) end
  return sub(self.window, at - self.base + 1, at - self.base + length)
end

--- A 1-D tensor of the elements of a span.
function Reader:tensor(dtype, span)
  local n = span.length // dtype.itemsize
  if not self.file then return torch._C.tensor_of_bytes(self.window, dtype, { n }, span.at + 1) end
  self.file:section(span.at, span.length, span.length, false)
  return self.file:tensor(dtype, n, false)
end

-- The varint at a byte, and the offset of its end.
local function varint(self, at, stop)
  local i = at - self.base + 1
  local window = self.window
  local short = i >= 1 and at < stop and byte(window, i)
  if short and short < 128 then return short, at + 1 end
  if i < 1 or i + 10 > #window and self.base + #window < self.size then
    move(self, at, 10)
    window, i = self.window, 1
  end
  local b = at < stop and byte(window, i)
  if not b then self:fail(at, 'a number is cut short') end
  if b < 128 then return b, at + 1 end
  local value, shift, first = b & 127, 7, i
  repeat
    i = i + 1
    b = at + i - first < stop and byte(window, i)
    if not b then self:fail(at, 'a number is cut short') end
    if shift > 63 then self:fail(at, 'a number of more than 10 bytes') end
    value = value | (b & 127) << shift
    shift = shift + 7
  until b < 128
  return value, at + i - first + 1
end

local fixed = { [5] = { 4, '<f', '<i4' }, [1] = { 8, '<d', '<i8' } } -- by wire type: bytes, a float, an integer

-- A number of a field that is written so; nil for a form that the field cannot have.
local function scalar(self, kind, wire, at, stop)
  if wire == 0 then
    local value, after = varint(self, at, stop)
    if kind == 'float' or kind == 'double' then return nil, after end
    return value, after
  end
  local form = fixed[wire]
  if at + form[1] > stop then self:fail(at, 'a number is cut short') end
  local is_float = kind == 'float' and wire == 5 or kind == 'double' and wire == 1
  return is_float and unpack(form[2], self:bytes(at, form[1])) or nil, at + form[1]
end

local function packed(self, kind, list, at, stop)
  local wire = kind == 'float' and 5 or kind == 'double' and 1 or 0
  while at < stop do list[#list + 1], at = scalar(self, kind, wire, at, stop) end
end

--- The numbers of a packed span.
function Reader:numbers(kind, span)
  local list = {}
  packed(self, kind, list, span.at, span.at + span.length)
  return list
end

-- The list of a field, for appending; created on first use.
local function own_list(message, name)
  local list = message[name]
  if list == EMPTY then
    list = {}
    message[name] = list
  end
  return list
end

--- The message between two bytes; `schema` is an entry of messages.lua.
function Reader:message(schema, at, stop, depth)
  depth = depth or 1
  if depth > MAX_DEPTH then self:fail(at, 'messages nested more than %d deep', MAX_DEPTH) end
  local message = setmetatable({}, schema.lists)
  while at < stop do
    local start = at
    local tag, value
    tag, at = varint(self, at, stop)
    local wire, field = tag & 7, schema[tag >> 3]
    local kind = field and field.kind
    if wire == 2 then
      local length
      length, at = varint(self, at, stop)
      if length < 0 or length > stop - at then
        self:fail(start, "%s%s of %d bytes where %d are left: the file is cut short or damaged", schema.name,
          field and '.' .. field.name or '', length, stop - at)
      end
      if not field then value = nil
      elseif kind == 'string' then value = self:bytes(at, length)
      elseif kind == 'span' then value = { at = at, length = length }
      elseif type(kind) == 'table' then value = self:message(kind, at, at + length, depth + 1)
      elseif field.list then packed(self, kind, own_list(message, field.name), at, at + length)
      else self:fail(start, '%s.%s is not a number', schema.name, field.name) end
      at = at + length
    elseif wire == 0 or wire == 1 or wire == 5 then
      value, at = scalar(self, field and field.loose or kind, wire, at, stop)
      if field and (value == nil or type(kind) == 'table' or kind == 'string' or kind == 'span' and not field.loose) then
        self:fail(start, '%s.%s is not written as its type', schema.name, field.name)
      end
    else
      self:fail(start, 'not a protobuf message: a field of type %d', wire)
    end
    if field and value ~= nil then
      if field.list then
        local list = own_list(message, field.name)
        list[#list + 1] = value
      else
        message[field.name] = value
      end
    end
  end
  return message
end

M.open = open

return M
