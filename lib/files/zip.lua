-- zip.lua - zip archives of NumPy and PyTorch: stored or deflated entries, zip64, no encryption.
--
-- The reader validates everything: the directory must end where the file declares it, name each
-- entry once, and no two entries may overlap, so the unpacked size is bounded by the file's size;
-- the header of an entry must agree with the directory. docs/design/libraries.md explains why we do
-- not use a library. An entry is read through the archive's file (src/lua/files/byte_files.c)
-- between begin() and finish(), which checks its CRC-32. The writer stores or deflates entries.

local torch = require 'torch'
local shown = require 'torch.support.printable_format'
local source_name = require 'torch.files.source_name'

local M = {}

local MAX_DIRECTORY = 100000000 -- bytes
local MAX_COMMENT = 65535
local END_SIZE, LOCATOR_SIZE, END64_SIZE, ENTRY_SIZE, LOCAL_SIZE = 22, 20, 56, 46, 30
local FULL16, FULL32 = 0xffff, 0xffffffff -- the number is in the zip64 field
local STORED, DEFLATED = 0, 8
local ENCRYPTED, DESCRIBED, PATCH, UTF8 = 0x2041, 8, 0x20, 0x800 -- flags; ENCRYPTED: weak or strong encryption, or of the directory
local MODERN, WITH_64, NEWEST = 20, 45, 63 -- minimum format versions for readers
local FIRST_OF_1980 = 0x21

-- ---- reading ------------------------------------------------------------------------------------

local Archive = {}
Archive.__index = Archive

function Archive:fail(format, ...) torch._C.raise(self.path .. ': ' .. shown(format, ...)) end

-- n bytes of the file.
function Archive:bytes(offset, n)
  self.file:section(offset, n, n, false)
  return self.file:text(n)
end

-- Locates the directory: offset, bytes, number of entries. It ends immediately before its end
-- records.
function Archive:find_directory()
  local tail = self:bytes(math.max(0, self.size - END_SIZE - MAX_COMMENT), math.min(self.size, END_SIZE + MAX_COMMENT))
  local at
  for i = #tail - END_SIZE + 1, 1, -1 do
    if tail:sub(i, i + 3) == 'PK\5\6' and i + END_SIZE - 1 + ('<I2'):unpack(tail, i + 20) == #tail then
      at = i
      break
    end
  end
  if not at then self:fail 'a zip archive without its directory: cut short or damaged' end
  local disk, start_disk, here, count, size, offset = ('<I2I2I2I2I4I4'):unpack(tail, at + 4)
  local finish = self.size - #tail + at - 1
  local locator = finish >= LOCATOR_SIZE and self:bytes(finish - LOCATOR_SIZE, LOCATOR_SIZE) or ''
  if locator:sub(1, 4) == 'PK\6\7' then
    finish = ('<i8'):unpack(locator, 9)
    if finish < 0 or finish > self.size - END64_SIZE then self:fail 'its zip64 record is outside of the file' end
    local record = self:bytes(finish, END64_SIZE)
    if record:sub(1, 4) ~= 'PK\6\6' then self:fail 'its zip64 record is damaged' end
    disk, start_disk, here, count, size, offset = ('<I4I4i8i8i8i8'):unpack(record, 17)
  end
  if disk ~= 0 or start_disk ~= 0 or here ~= count then self:fail 'a part of a zip archive in several files' end
  if count < 0 or size < 0 or offset < 0 or size > MAX_DIRECTORY or offset + size ~= finish then
    self:fail 'its directory is damaged: it does not end where it should'
  end
  return offset, size, count
end

-- The sizes and the offset of an entry, from the zip64 field if present.
function Archive:wide(extra, size, packed, offset)
  local at = 1
  while at + 3 <= #extra do
    local id, n = ('<I2I2'):unpack(extra, at)
    local field = extra:sub(at + 4, at + 3 + n)
    if #field < n then break end
    if id == 1 then
      local place = 1
      local function take(value)
        if value ~= FULL32 then return value end
        if place + 7 > n then self:fail 'a zip64 field is too short' end
        value, place = ('<i8'):unpack(field, place)
        return value
      end
      return take(size), take(packed), take(offset)
    end
    at = at + 4 + n
  end
  return size, packed, offset
end

-- Rejects entries that other readers interpret differently.
function Archive:check_entry(entry, version, disk)
  local name = entry.name
  if name:find('\0', 1, true) then self:fail("the name of entry '%s' has a zero byte in it", name) end
  if entry.flags & UTF8 ~= 0 and not utf8.len(name) then self:fail("the name of entry '%s' is marked as UTF-8 but is not valid", name) end
  if disk ~= 0 then self:fail("entry '%s' is in another file of a multi-file archive, which ltensor does not support", name) end
  if version > NEWEST then self:fail("entry '%s' needs version %d of the zip format, which is not supported", name, version) end
end

function Archive:read_entry(directory, at)
  if at + ENTRY_SIZE - 1 > #directory or directory:sub(at, at + 3) ~= 'PK\1\2' then self:fail 'its directory is damaged' end
  local version, flags, method = ('<BxI2I2'):unpack(directory, at + 6)
  local crc, packed, size, name_size, extra_size, comment_size, disk = ('<I4I4I4I2I2I2I2'):unpack(directory, at + 16)
  local offset = ('<I4'):unpack(directory, at + 42)
  local name_at = at + ENTRY_SIZE
  local next_at = name_at + name_size + extra_size + comment_size
  if next_at - 1 > #directory then self:fail 'its directory is damaged' end
  local entry = { name = directory:sub(name_at, name_at + name_size - 1), crc = crc, method = method, flags = flags }
  self:check_entry(entry, version, disk)
  local extra = directory:sub(name_at + name_size, name_at + name_size + extra_size - 1)
  entry.size, entry.packed, entry.offset = self:wide(extra, size, packed, offset)
  if entry.size < 0 or entry.packed < 0 or entry.offset < 0 then self:fail "its directory is damaged" end
  return entry, next_at
end

-- Every entry may use the bytes up to the next one.
function Archive:set_limits(directory_offset)
  local sorted = table.move(self.entries, 1, #self.entries, 1, {})
  table.sort(sorted, function(a, b) return a.offset < b.offset end)
  for i, entry in ipairs(sorted) do
    local following = sorted[i + 1]
    entry.limit = following and following.offset or directory_offset
    if entry.offset >= entry.limit or entry.packed > entry.limit - entry.offset then
      self:fail("entry '%s' overlaps another entry or the end of the file", entry.name)
    end
  end
end

--- Opens an archive, of a path or the bytes of a file; the caller closes it by `<close>`.
-- @return the archive; its entries {name, size, ...} in the directory's order, entry by name
function M.open(path)
  local file, size = torch._C.open_file(path)
  path = source_name(path)
  local archive = setmetatable({ path = path, file = file, size = size, entries = {}, by_name = {} }, Archive)
  local offset, length, count = archive:find_directory()
  local directory, at = archive:bytes(offset, length), 1
  while at <= #directory do
    local entry
    entry, at = archive:read_entry(directory, at)
    if archive.by_name[entry.name] then archive:fail("two entries are named '%s'", entry.name) end
    archive.entries[#archive.entries + 1], archive.by_name[entry.name] = entry, entry
  end
  if #archive.entries ~= count then archive:fail('its directory has %d entries and promises %d', #archive.entries, count) end
  archive:set_limits(offset)
  return archive
end

function Archive:__close() self.file:close() end

-- Compares the header of an entry with the directory; returns the offset of the entry's bytes.
function Archive:check_header(entry)
  local head = self:bytes(entry.offset, math.min(LOCAL_SIZE, entry.limit - entry.offset))
  if #head < LOCAL_SIZE or head:sub(1, 4) ~= 'PK\3\4' then self:fail("entry '%s' is damaged", entry.name) end
  local flags, method = ('<I2I2'):unpack(head, 7)
  local crc, packed, size, name_size, extra_size = ('<I4I4I4I2I2'):unpack(head, 15)
  local start = entry.offset + LOCAL_SIZE + name_size + extra_size
  if start + entry.packed > entry.limit then self:fail("entry '%s' reaches into another one", entry.name) end
  local rest = self:bytes(entry.offset + LOCAL_SIZE, name_size + extra_size)
  if rest:sub(1, name_size) ~= entry.name then self:fail("entry '%s' has another name in its local header", entry.name) end
  size, packed = self:wide(rest:sub(name_size + 1), size, packed, 0)
  -- Where they were not known when the header was written, they follow the entry.
  local described = flags & DESCRIBED ~= 0
  local same = described or crc == entry.crc and packed == entry.packed and size == entry.size
  if not same or method ~= entry.method or (flags ~ entry.flags) & (ENCRYPTED | PATCH) ~= 0 then
    self:fail("the local header of entry '%s' differs from the directory", entry.name)
  end
  return start
end

--- Positions the archive's file at this entry; read its bytes from the returned file.
function Archive:begin(entry)
  if entry.flags & ENCRYPTED ~= 0 then self:fail("entry '%s' is encrypted", entry.name) end
  if entry.flags & PATCH ~= 0 then self:fail("entry '%s' is a patch for another file", entry.name) end
  if entry.method ~= STORED and entry.method ~= DEFLATED then
    self:fail("entry '%s' is compressed by method %d; ltensor reads stored and deflated ones", entry.name, entry.method)
  end
  self.file:section(self:check_header(entry), entry.packed, entry.size, entry.method == DEFLATED, true)
  return self.file
end

--- Checks the checksum after the last byte of an entry was read.
function Archive:finish(entry)
  if self.file:finish() ~= entry.crc then self:fail("entry '%s' is damaged: its checksum is another", entry.name) end
end

--- The elements of an entry in the mapped file; nil if they cannot be used in place. The checksum
-- is not compared.
function Archive:map(entry, dtype, numel)
  if entry.method ~= STORED or entry.packed ~= entry.size or entry.flags & (ENCRYPTED | PATCH) ~= 0 then return nil end
  self.mapping = self.mapping or torch._C.map_file(self.path, false, self.size, torch.uint8)
  return torch._C.mapped_part(self.mapping, self:check_header(entry), dtype, numel)
end

local OBJECTS = 64 -- memory of decoded values per byte of the text: one byte of a pickle can be an empty table

--- The content of an entry of at most `most` bytes. Its unpacked size beyond the stored size counts
-- toward the loader's budget.
function Archive:text(entry, most)
  if entry.size > most then self:fail("entry '%s' has %d bytes, more than %d", entry.name, entry.size, most) end
  torch._C.spend(OBJECTS * math.max(entry.size - entry.packed, 0))
  local text = self:begin(entry):text(entry.size)
  self:finish(entry)
  return text
end

-- ---- writing ------------------------------------------------------------------------------------

local PIECES = 1000 -- pieces of the directory per write

local Writer = {}
Writer.__index = Writer
Writer.__close = function(self) self.file:close() end

--- A new archive, which appears when finish() is called; `<close>` drops it otherwise.
function M.create(path) return setmetatable({ file = torch._C.create_file(path), at = 0, directory = {} }, Writer) end

--- The same in memory, for entries of strings; after finish(), text() returns the bytes.
function M.create_in_memory()
  local pieces = {}
  local file = { write = function(_, bytes) pieces[#pieces + 1] = bytes end, commit = function() end, close = function() end }
  return setmetatable({ file = file, at = 0, directory = {}, pieces = pieces }, Writer)
end

function Writer:text() return table.concat(self.pieces) end

function Writer:put(bytes, n)
  self.file:write(bytes)
  self.at = self.at + (n or #bytes)
end

-- Sizes and offsets for the 4-byte fields, and the zip64 field.
local function narrow(...)
  local values, wide = { ... }, {}
  for i, value in ipairs(values) do
    if value >= FULL32 then
      values[i] = FULL32
      wide[#wide + 1] = ('<i8'):pack(value)
    end
  end
  if #wide == 0 then return '', values end
  local text = table.concat(wide)
  return ('<I2I2'):pack(1, #text) .. text, values
end

--- Adds an entry.
-- @param parts  strings, and tensors in saved form
-- @param align  the alignment of its first byte; nil: none
-- @param compressed  whether to deflate it
function Writer:add(name, parts, align, compressed)
  local crc, size = 0, 0
  for _, part in ipairs(parts) do
    crc = torch._C.checksum(part, crc)
    size = size + (type(part) == 'string' and #part or part:numel() * part:element_size())
  end
  if compressed then parts = { torch._C.deflated(parts) } end
  local offset, packed, method = self.at, compressed and #parts[1] or size, compressed and DEFLATED or STORED
  -- In an entry's own header, the zip64 field contains both sizes or none.
  local extra, shown_packed, shown_size = '', packed, size
  if math.max(size, packed) >= FULL32 then
    extra, shown_packed, shown_size = ('<I2I2i8i8'):pack(1, 16, size, packed), FULL32, FULL32
  end
  if align then
    local padding = -(offset + LOCAL_SIZE + #name + #extra + 4) % align
    extra = extra .. ('<c2s2'):pack('FB', ('Z'):rep(padding))
  end
  local version = shown_size == FULL32 and WITH_64 or MODERN
  local flags = utf8.len(name) and UTF8 or 0
  self:put(('<c4I2I2I2I2I2I4I4I4I2I2'):pack('PK\3\4', version, flags, method, 0, FIRST_OF_1980, crc, shown_packed, shown_size,
    #name, #extra) .. name .. extra)
  for _, part in ipairs(parts) do self:put(part, type(part) ~= 'string' and part:numel() * part:element_size() or nil) end
  local wide, fields = narrow(size, packed, offset)
  self.directory[#self.directory + 1] = ('<c4I2I2I2I2I2I2I4I4I4I2I2I2I2I2I4I4'):pack('PK\1\2', WITH_64, wide ~= '' and WITH_64
    or MODERN, flags, method, 0, FIRST_OF_1980, crc, fields[2], fields[1], #name, #wide, 0, 0, 0, 0, fields[3]) .. name .. wide
end

--- Writes the directory and publishes the file atomically.
function Writer:finish()
  local start, count = self.at, #self.directory
  for first = 1, count, PIECES do self:put(table.concat(self.directory, '', first, math.min(first + PIECES - 1, count))) end
  local directory_size = self.at - start
  if count >= FULL16 or start >= FULL32 then
    local place = self.at
    self:put(('<c4i8I2I2I4I4i8i8i8i8'):pack('PK\6\6', END64_SIZE - 12, WITH_64, WITH_64, 0, 0, count, count, directory_size, start))
    self:put(('<c4I4i8I4'):pack('PK\6\7', 0, place, 1))
  end
  local shown, shown_start = math.min(count, FULL16), math.min(start, FULL32)
  self:put(('<c4I2I2I2I2I4I4I2'):pack('PK\5\6', 0, 0, shown, shown, directory_size, shown_start, 0))
  self.file:commit()
end

return M
