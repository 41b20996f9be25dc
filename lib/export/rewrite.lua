-- rewrite.lua - copies a .pt2 file with other elements of its tensors; every other entry stays as it is.

local torch = require 'torch'
local archives = require 'torch.export.archive'
local fail = require 'torch.support.fail'
local zip = require 'torch.files.zip'

local MAX_ENTRY = 1 << 31 -- bytes of an entry that is copied
local ALIGNMENT = 64 -- of elements, as PyTorch's

local function numbers(list)
  local result = {}
  for i, size in ipairs(list) do result[i] = size.as_int end
  return result
end

-- The storage of a tensor: the elements of its entry, or zeros if the archive has none.
local function storage_of(archive, name, value, meta)
  local entry = archive.by_name[name]
  if entry then return archive:begin(entry):tensor(value.dtype, entry.size // value.dtype.itemsize, false) end
  local n = meta.storage_offset.as_int + 1
  for i, size in ipairs(meta.sizes) do n = n + (size.as_int - 1) * meta.strides[i].as_int end
  return torch.zeros(math.max(n, 0), { dtype = value.dtype })
end

-- The new elements of entries, { [name of the entry] = tensor of the whole storage }, and the tensors
-- that are in them.
local function changed_entries(archive, values)
  local storages, written = {}, {}
  for _, config_entry in ipairs(archive.entries) do
    local folder = config_entry.name:match '^(.-data/%a+/)[^/]*_config%.json$'
    local config = folder and archives.field(archive, archives.json_of(archive, config_entry), 'config', 'table') or {}
    for name, description in pairs(config) do
      if values[name] then
        local value, meta, entry = values[name]:detach():cpu(), description.tensor_meta, folder .. description.path_name
        local before = storages[entry]
        local storage = before or storage_of(archive, entry, value, meta)
        local part = storage:as_strided(numbers(meta.sizes), numbers(meta.strides), meta.storage_offset.as_int)
        if before and not torch.equal(part, value) then
          fail("lt_model_save: the file stores '%s' and another tensor in one entry, and their elements differ now", name)
        end
        part:copy_(value)
        storages[entry], written[name] = storage, true
      end
    end
  end
  return storages, written
end

--- Copies the archive of a path, or of the bytes of a file, to a writer of zip.lua, with these tensors
-- by name. drops: entries with their elements are left out. Returns the names that were found.
return function(source, writer, values, drops)
  local archive <close> = zip.open(source)
  local storages, written = changed_entries(archive, values)
  for _, entry in ipairs(archive.entries) do
    if not storages[entry.name] then writer:add(entry.name, { archive:text(entry, MAX_ENTRY) }, ALIGNMENT) end
  end
  local names = {}
  for name in pairs(drops and {} or storages) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do writer:add(name, { torch._C.saved_form(storages[name]) }, ALIGNMENT) end
  writer:finish()
  return written
end
