-- archive.lua - the archive of a .pt2 file: its JSON and its tensors.
--
-- A file is a zip archive. PyTorch wrote three forms of it:
-- - since 2.9: models/NAME.json is the program; data/weights and data/constants contain the elements
--   of each tensor as an entry, with a .json that maps names to entries;
-- - 2.8: models/NAME.json, and the tensors in data/weights/NAME.pt and data/constants/NAME.pt;
-- - 2.5 to 2.7: serialized_exported_program.json, serialized_state_dict.pt, serialized_constants.pt.
--
-- Files may be untrusted: the text is bounded, and the sizes and strides of a tensor must be within
-- its entry.

local torch = require 'torch'
local kinds = require 'torch.support.argument_kinds'

local M = {}

local MAX_TEXT = 1 << 28 -- bytes of JSON
local MAX_SAVED = 1 << 31 -- bytes of a file of torch.save in the archive
local MAX_DEPTH = 64 -- dimensions of a tensor

--- By the number of PyTorch's ScalarType, from 1.
local dtypes = { torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64, nil, torch.complex64, torch.complex128,
  torch.bool, torch.bfloat16, [28] = torch.uint16, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz,
  torch.float8_e5m2fnuz, torch.float8_e8m0fnu, [34] = torch.uint32, [35] = torch.uint64 }

local Null = {}

-- The value of a JSON text; name: the text's name in errors. Without a name, nil if it is no JSON.
local function decode(archive, text, name)
  if not utf8.len(text) then return name and archive:fail('%s is no UTF-8', name) end
  local value, what, position = torch._C.read_json(text, function() return {} end, Null)
  if not position then return value end
  return name and archive:fail('%s is no JSON at byte %d%s', name, position, what and ': ' .. what or '')
end

--- The object of the text of an entry.
function M.parsed(archive, entry, text)
  local value = decode(archive, text, ("entry '%s'"):format(entry))
  if type(value) ~= 'table' then archive:fail("entry '%s' is no object of JSON", entry) end
  return value
end

local function json_of(archive, entry) return M.parsed(archive, entry.name, archive:text(entry, MAX_TEXT)) end

-- A field of JSON that must be of a type.
local function field(archive, object, name, kind)
  local value = type(object) == 'table' and object[name]
  if type(value) ~= kind then archive:fail("its program is damaged: '%s' must be a %s, not %s", name, kind, kinds.described(value)) end
  return value
end

local function present(x)
  if x == Null then return nil end
  return x
end

local function integer_of(archive, x)
  local i = type(x) == 'table' and math.tointeger(x.as_int)
  if not i or i < 0 then archive:fail 'its program is damaged: a size of a tensor that is no whole number' end
  return i
end

-- The tensor of an entry, by its description.
local function read_tensor(archive, folder, name, description)
  if description.use_pickle == true then
    archive:fail("tensor '%s' is an object of Python; ltensor reads tensors that are saved as they are", name)
  end
  local meta = field(archive, description, 'tensor_meta', 'table')
  local dtype = dtypes[meta.dtype]
  if not dtype then archive:fail("tensor '%s' has elements of type %s, which ltensor does not have", name, tostring(meta.dtype)) end
  local entry = archive.by_name[folder .. field(archive, description, 'path_name', 'string')]
  local given = not entry and archive.tensors and archive.tensors[name]
  if not entry and not given then archive:fail("no entry for tensor '%s'", name) end
  local sizes, strides, offset = {}, {}, integer_of(archive, field(archive, meta, 'storage_offset', 'table'))
  for i, size in ipairs(field(archive, meta, 'sizes', 'table')) do sizes[i] = integer_of(archive, size) end
  for i, stride in ipairs(field(archive, meta, 'strides', 'table')) do strides[i] = integer_of(archive, stride) end
  if #sizes ~= #strides or #sizes > MAX_DEPTH then archive:fail("tensor '%s' has %d sizes and %d strides", name, #sizes, #strides) end
  if given then
    if given.dtype ~= dtype or table.concat(given.shape, ' ') ~= table.concat(sizes, ' ') then
      archive:fail("tensor '%s' has another dtype or shape than in the program", name)
    end
    return given
  end
  local numel = entry.size // dtype.itemsize
  local flat = archive:begin(entry):tensor(dtype, numel, false)
  archive:finish(entry)
  local last, any = offset, true
  for i, size in ipairs(sizes) do
    any = any and size > 0
    if size > 0 and (strides[i] > numel or size > numel and strides[i] > 0) then last = math.huge else last = last + (size - 1) * strides[i] end
  end
  if any and last >= numel then archive:fail("tensor '%s' reaches beyond the %d elements of its entry", name, numel) end
  if not any then return torch.empty(sizes, { dtype = dtype }) end
  return flat:as_strided(sizes, strides, offset):clone()
end

-- The key of the elements that a description names: tensors with the same key are one tensor.
local function key_of(description)
  local meta = description.tensor_meta
  if type(meta) ~= 'table' or type(meta.sizes) ~= 'table' or type(meta.strides) ~= 'table' then return nil end
  local parts = { tostring(description.path_name), tostring(meta.dtype), tostring((meta.storage_offset or {}).as_int) }
  for _, list in ipairs { meta.sizes, meta.strides } do
    for _, size in ipairs(list) do parts[#parts + 1] = tostring(type(size) == 'table' and size.as_int) end
    parts[#parts + 1] = '/'
  end
  return table.concat(parts, ' ')
end

-- All tensors of data/<kind>, by name, and the set of names that need no gradient.
local function read_tensors(archive, root, model, kind)
  local folder = ('%sdata/%s/'):format(root, kind)
  local entry = archive.by_name[('%s%s_%s_config.json'):format(folder, model, kind)]
  if not entry then return {}, {} end
  local tensors, frozen, known = {}, {}, {}
  local config, names = field(archive, json_of(archive, entry), 'config', 'table'), {}
  for name in pairs(config) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local description = config[name]
    local key = key_of(description)
    tensors[name] = key and known[key] or read_tensor(archive, folder, name, description)
    if key then known[key] = tensors[name] end
    if type(description.tensor_meta) == 'table' and description.tensor_meta.requires_grad == false then frozen[name] = true end
  end
  return tensors, frozen
end

-- ---- forms of the archive -----------------------------------------------------------------------

-- Adds the tensors of a file of torch.save in the archive.
local function add_saved(archive, entry, tensors, frozen)
  if not entry or entry.size == 0 then return end
  for name, value in pairs(torch.load(archive:text(entry, MAX_SAVED))) do
    if torch.is_tensor(value) then
      tensors[name], frozen[name] = value:detach(), value.dtype.is_floating_point and not value.requires_grad or nil
    end
  end
end

local function read_old(archive)
  local order = archive.by_name['serialized_state_dict.pt']
  if not order then archive:fail 'its program has no serialized_state_dict.pt' end
  local tensors, frozen = {}, {}
  add_saved(archive, order, tensors, frozen)
  add_saved(archive, archive.by_name['serialized_constants.pt'], tensors, frozen)
  return archive:text(archive.by_name['serialized_exported_program.json'], MAX_TEXT), tensors, frozen, 'serialized_exported_program.json'
end

--- The program as a text of JSON, its tensors by name, the set of names that need no
-- gradient, and the name of the program's entry.
function M.read(archive)
  if archive.by_name['serialized_exported_program.json'] then return read_old(archive) end
  local entry, root, name, is_compiled
  for _, candidate in ipairs(archive.entries) do
    local before, found = candidate.name:match '^(.-)models/([^/]*)%.json$'
    if before and not entry then entry, root, name = candidate, before, found end
    is_compiled = is_compiled or candidate.name:find 'data/aotinductor/' ~= nil
  end
  if not entry and is_compiled then
    archive:fail 'an AOTInductor package, which is machine code for PyTorch; save the exported program itself by torch.export.save'
  end
  if not entry then archive:fail 'no archive of torch.export as PyTorch 2.5 and later write it: it has neither models/NAME.json nor serialized_exported_program.json' end
  local order = archive.by_name[root .. 'byteorder']
  if order and archive:text(order, 100) ~= 'little' then archive:fail 'tensors in another order of bytes than little' end
  local tensors, frozen = read_tensors(archive, root, name, 'weights')
  for key, value in pairs((read_tensors(archive, root, name, 'constants'))) do tensors[key] = value end
  for _, kind in ipairs { 'weights', 'constants' } do
    add_saved(archive, archive.by_name[('%sdata/%s/%s.pt'):format(root, kind, name)], tensors, frozen)
  end
  return archive:text(entry, MAX_TEXT), tensors, frozen, entry.name
end

M.dtypes, M.Null, M.decode, M.json_of, M.field, M.present = dtypes, Null, decode, json_of, field, present

return M
