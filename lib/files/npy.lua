-- npy.lua - NumPy's files: one array (.npy), and zip archives of named ones (.npz).
--
-- A .npy file is a magic, a version, the length of a header, the header (a Python dict as text:
-- dtype, Fortran order, sizes), and the elements. The header is parsed, not executed. Big-endian
-- elements are swapped; an array in Fortran order becomes a view with such strides.

local torch = require 'torch'
local source_name = require 'torch.files.source_name'
local ordered_dict = require 'torch.support.ordered_dict'
local shown = require 'torch.support.printable_format'
local zip = require 'torch.files.zip'

local M = {}

local MAGIC = '\x93NUMPY'
local MAX_HEADER = 1 << 20
local MAX_DIMS = 16
local ALIGNMENT = 64 -- of the first element in the file

local dtypes = { b1 = torch.bool, u1 = torch.uint8, i1 = torch.int8, i2 = torch.int16, i4 = torch.int32, i8 = torch.int64,
  u2 = torch.uint16, u4 = torch.uint32, u8 = torch.uint64,
  f2 = torch.float16, f4 = torch.float32, f8 = torch.float64,
  c8 = torch.complex64, c16 = torch.complex128 }
local codes = {}
for code, dtype in pairs(dtypes) do codes[dtype] = code end
-- Other dtype names, as programs other than NumPy write them.
local words = { bool = 'b1', ['?'] = 'b1', b = 'i1', B = 'u1', h = 'i2', H = 'u2', i = 'i4', I = 'u4', l = 'i8', L = 'u8', q = 'i8', Q = 'u8', e = 'f2', f = 'f4',
  d = 'f8', F = 'c8', D = 'c16' }
for code, dtype in pairs(dtypes) do words[tostring(dtype):match '[^.]*$'] = code end

-- ---- reading ------------------------------------------------------------------------------------

-- `where` names the file, and the entry in it.
local function fail(where, format, ...) torch._C.raise(where .. ': ' .. shown(format, ...)) end

-- The dtype and whether its bytes are swapped; nil and the reason if ltensor does not support it.
local function parse_descr(where, value)
  local order, code = value:match "^'([<>|=]?)([%w?]+)'$"
  if not order then order, code = value:match '^"([<>|=]?)([%w?]+)"$' end
  if value:sub(1, 1) == '[' then return nil, shown('an array of records (%s), which ltensor does not have', value) end
  if not order then fail(where, "its header is damaged: 'descr' is %s", value) end
  local dtype = dtypes[code] or dtypes[words[code]]
  if dtype then return dtype, order == '>' end
  if code:sub(1, 1) == 'O' then return nil, 'an array of Python objects, which only Python can read' end
  return nil, shown("elements of type '%s%s', which ltensor does not have%s", order, code, code:find '^[USa]' and ': an array of texts' or '')
end

local function parse_shape(where, value)
  local inside, sizes, numel = value:match '^%(([%d%s,L]*)%)$', {}, 1
  local function bad() fail(where, "its header is damaged: 'shape' is %s", value) end
  if not inside then bad() end
  inside = inside:gsub('%s', '')
  if inside ~= '' and not inside:find '^%d+L?,' or inside:find ',,' then bad() end
  for digits in inside:gmatch '[^,]+' do
    local number = digits:match '^(%d+)L?$'
    if not number then bad() end
    sizes[#sizes + 1] = math.tointeger(tonumber(number)) or fail(where, 'its shape %s is too large', value)
  end
  if #sizes > MAX_DIMS then fail(where, '%d dimensions, ltensor has at most %d', #sizes, MAX_DIMS) end
  for _, size in ipairs(sizes) do
    if size > 0 and numel > math.maxinteger // 8 // size then fail(where, 'its shape %s is too large', value) end
    numel = numel * size
  end
  return sizes, numel
end

-- The values of 'descr', 'fortran_order' and 'shape' as texts.
local function parse_header(where, header)
  local rest = header:match '^%s*{(.*)}%s*$'
  if not rest then fail(where, 'its header is damaged: no dict') end
  local fields, at = {}, 1
  while true do
    local key, start = rest:match("^%s*['\"]([%a_]+)['\"]%s*:%s*()", at)
    if not key then break end
    local value, finish = rest:match("^(%b[])()", start)
    for _, pattern in ipairs { '^(%b())()', "^('[^'\\]*')()", '^("[^"\\]*")()', '^(%a+)()' } do
      if not value then value, finish = rest:match(pattern, start) end
    end
    if not value or fields[key] then fail(where, "its header is damaged at '%s'", key) end
    fields[key] = value
    at = rest:match('^%s*,()', finish) or finish
  end
  if rest:find('%S', at) then fail(where, "its header is damaged at '%s'", rest:sub(at)) end
  for _, key in ipairs { 'descr', 'fortran_order', 'shape' } do
    if not fields[key] then fail(where, "its header has no '%s'", key) end
  end
  for key in pairs(fields) do
    if key ~= 'descr' and key ~= 'fortran_order' and key ~= 'shape' then fail(where, "its header has a '%s'", key) end
  end
  return fields
end

local function read_header(where, file, left)
  if left < 10 then fail(where, '%d bytes, too short for a .npy file', left) end
  local start = file:text(8)
  if start:sub(1, 6) ~= MAGIC then fail(where, 'not a NumPy array') end
  local major, minor = start:byte(7, 8)
  if major < 1 or major > 3 or minor ~= 0 then fail(where, 'version %d.%d of the .npy format is not supported; supported are 1.0, 2.0 and 3.0', major, minor) end
  local width = major == 1 and 2 or 4
  left = left - 8 - width
  if left < 0 then fail(where, 'cut short') end
  local length = ('<I' .. width):unpack(file:text(width))
  if length > MAX_HEADER then fail(where, 'a header of %d bytes; at most %d are read', length, MAX_HEADER) end
  if length > left then fail(where, 'a header of %d bytes where %d are left: cut short', length, left) end
  return file:text(length), left - length
end

-- The array in the next `left` bytes of the file; nil and the reason if its elements are not
-- supported.
-- followed: other bytes may follow it.
local function read_array(where, file, left, followed)
  local header
  header, left = read_header(where, file, left)
  local fields = parse_header(where, header)
  local dtype, big = parse_descr(where, fields.descr)
  if not dtype then return nil, big end
  local sizes, numel = parse_shape(where, fields.shape)
  local fortran = fields.fortran_order
  if fortran ~= 'True' and fortran ~= 'False' then fail(where, "its header is damaged: 'fortran_order' is %s", fortran) end
  if numel * dtype.itemsize > left or numel * dtype.itemsize < left and not followed then
    fail(where, '%d elements of %d bytes are promised, %d bytes follow%s', numel, dtype.itemsize, left,
      numel * dtype.itemsize > left and ': cut short' or '')
  end
  local flat = file:tensor(dtype, numel, big)
  if fortran == 'False' or #sizes < 2 then return flat:view(sizes):detach() end
  local reversed, order = {}, {}
  for i = 1, #sizes do reversed[i], order[i] = sizes[#sizes + 1 - i], #sizes + 1 - i end
  return flat:view(reversed):permute(order):detach()
end

--- The array of a .npy file; the first of several concatenated ones, as numpy.load.
function M.load(path)
  local file <close>, size = torch._C.open_file(path)
  path = source_name(path)
  local array, reason = read_array(path, file, size, true)
  return array or fail(path, '%s', reason)
end

--- The arrays of an open archive (zip.lua): put(tensor) under their names, in order. An array of
-- strings or objects is an error when it is read.
function M.load_archive(archive, put)
  local dict = ordered_dict.new()
  for _, entry in ipairs(archive.entries) do
    local name = entry.name:match '^(.*)%.npy$'
    if not name then archive:fail("entry '%s' is not an array (.npy)", entry.name) end
    local where = shown("%s, '%s'", archive.path, entry.name)
    local array, reason = read_array(where, archive:begin(entry), entry.size)
    if array then
      archive:finish(entry)
      dict[name] = put(array)
    else
      ordered_dict.refuse(dict, name, where .. ': ' .. reason)
    end
  end
  return dict
end

-- ---- writing ------------------------------------------------------------------------------------

-- The header, and the elements in saved form.
local function parts(where, tensor)
  local code = codes[tensor.dtype]
  if not code then fail(where, 'NumPy has no %s; convert the tensor, such as by :float()', tostring(tensor.dtype)) end
  local sizes = {}
  for i, size in ipairs(tensor.shape) do sizes[i] = ('%d'):format(size) end
  local shape = table.concat(sizes, ', ') .. (#sizes == 1 and ',' or '')
  local order = tensor.dtype.itemsize == 1 and '|' or '<'
  local header = ("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }"):format(order, code, shape)
  local padding = -(#MAGIC + 4 + #header + 1) % ALIGNMENT
  header = header .. (' '):rep(padding) .. '\n'
  return { MAGIC .. '\1\0' .. ('<s2'):pack(header), torch._C.saved_form(tensor) }
end

--- Writes a tensor as a .npy file.
function M.save(tensor, path)
  if not torch.is_tensor(tensor) then
    fail('torch.save', '%s: a .npy file holds one tensor, not a %s (several: .npz)', path, torch.type(tensor))
  end
  local content = parts(path, tensor)
  local file <close> = torch._C.create_file(path)
  for _, part in ipairs(content) do file:write(part) end
  file:commit()
end

--- Writes a table of tensors by name as a .npz file. compressed: deflated, as by
--- numpy.savez_compressed.
function M.save_archive(tensors, path, compressed)
  local names = {}
  if type(tensors) ~= 'table' then
    fail('torch.save', '%s: a .npz file holds a table of tensors by name, not a %s', path, torch.type(tensors))
  end
  for name, tensor in pairs(tensors) do
    if type(name) ~= 'string' or not torch.is_tensor(tensor) then
      fail('torch.save', "%s: a .npz file holds tensors by name, not a %s at '%s'", path, torch.type(tensor), tostring(name))
    end
    names[#names + 1] = name
  end
  if not ordered_dict.is(tensors) then table.sort(names) end
  local writer <close> = zip.create(path)
  for _, name in ipairs(names) do
    if #name > 60000 then fail('torch.save', "%s: the name '%s...' is too long", path, name) end
    writer:add(name .. '.npy', parts(("%s, '%s'"):format(path, name), tensors[name]), ALIGNMENT, compressed)
  end
  writer:finish()
end

return M
