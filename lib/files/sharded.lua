-- sharded.lua - safetensors in several files (shards) with an index, in the format of Hugging
-- Face's libraries: the JSON file model.safetensors.index.json maps tensors to shards
-- ("weight_map") and has texts ("metadata").
--
-- Indexes are untrusted: a shard must be in the folder of the index or below it, and must contain
-- the tensors that the index assigns to it.

local torch = require 'torch'
local shown = require 'torch.support.printable_format'
local quoted = require 'torch.files.json_string'
local outside = require 'torch.files.outside'
local whole_file = require 'torch.files.whole_file'

local M = {}

local MAX_INDEX = 100000000 -- bytes
local SUFFIX = '.index.json'
-- Text of an index: shards of the first save, which have no save number, that this save replaced.
local REPLACED = 'ltensor.replaced_shards'

local function fail(path, format, ...) torch._C.raise(path .. ': ' .. shown(format, ...)) end

-- ---- reading ------------------------------------------------------------------------------------

local Object = { __newindex = function(object, key, value)
  rawset(object, #object + 1, key)
  rawset(object, key, value)
end }
local function is_object(x) return getmetatable(x) == Object end

-- The index as a table; its objects have their keys in order at 1, 2, ...
local function read_index(path)
  local text = whole_file.read(path, MAX_INDEX)
  if not utf8.len(text) then fail(path, 'an index of shards that is no UTF-8') end
  local index, what, position = torch._C.read_json(text, function() return setmetatable({}, Object) end, false)
  if position then fail(path, 'no JSON at byte %d%s', position, what and ': ' .. what or '') end
  if not is_object(index) or not is_object(index.weight_map) then fail(path, "a JSON text without a 'weight_map': no index of safetensors") end
  return index
end

--- Whether a file of this name is an index.
function M.is_index(path) return path:sub(-#SUFFIX) == SUFFIX end

--- The names, tensors and texts of a model in shards, in the order of the index.
function M.load(path, mapped)
  local index = read_index(path)
  local shards = {}
  local names, tensors = {}, {}
  for i, name in ipairs(index.weight_map) do
    local file = index.weight_map[name]
    local shard = type(file) == 'string' and outside.path_inside(path, file)
    if not shard then fail(path, "tensor '%s' is in '%s', which is not in the index's folder", name, tostring(file)) end
    if not shards[file] then
      local held = {}
      local held_names, held_tensors = torch._C.load_safetensors(shard, mapped)
      for j, held_name in ipairs(held_names) do held[held_name] = held_tensors[j] end
      shards[file] = held
    end
    names[i], tensors[i] = name, shards[file][name]
    if tensors[i] == nil then fail(path, "tensor '%s' is not in '%s', where the index has it", name, file) end
  end
  local metadata = is_object(index.metadata) and index.metadata or {}
  return names, tensors, metadata
end

-- ---- writing ------------------------------------------------------------------------------------

local units = { B = 1, KB = 10 ^ 3, MB = 10 ^ 6, GB = 10 ^ 9, TB = 10 ^ 12, KIB = 2 ^ 10, MIB = 2 ^ 20, GIB = 2 ^ 30, TIB = 2 ^ 40 }

--- A number of bytes, or one with a unit ('5GB', '200MiB').
function M.bytes(size)
  if math.type(size) == 'integer' and size > 0 then return size end
  local number, unit = tostring(size):match '^(%d+%.?%d*)%s*(%a+)$'
  local bytes = type(size) == 'string' and unit and units[unit:upper()] and tonumber(number) * units[unit:upper()]
  if not bytes or bytes < 1 or bytes > 2 ^ 62 then
    torch._C.raise(shown("torch.save: max_shard_size must be a number of bytes, or a text such as '5GB' or '200MiB', got %s", tostring(size)))
  end
  return math.floor(bytes)
end

-- Splits the positions of tensors into consecutive lists of at most `most` bytes; a larger tensor
-- is a list of its own.
local function split(tensors, most)
  local shards, filled = {}, 0
  for i, tensor in ipairs(tensors) do
    local bytes = tensor:numel() * tensor:element_size()
    if #shards == 0 or filled + bytes > most then
      shards[#shards + 1] = {}
      filled = 0
    end
    table.insert(shards[#shards], i)
    filled = filled + bytes
  end
  return shards
end

local function index_text(map, total, metadata)
  local lines = { '{\n  "metadata": {\n    "total_size": ' .. total }
  for name, text in pairs(metadata) do lines[1] = ('%s,\n    %s: %s'):format(lines[1], quoted(name), quoted(text)) end
  lines[1] = lines[1] .. '\n  },\n  "weight_map": {'
  for i, entry in ipairs(map) do
    lines[#lines + 1] = ('    %s: %s%s'):format(quoted(entry[1]), quoted(entry[2]), i < #map and ',' or '')
  end
  lines[#lines + 1] = '  }\n}\n'
  return table.concat(lines, '\n')
end

-- Folder, stem and suffix of the names of shards. Shards of the first save have the names of other
-- libraries, later ones contain the number of the save.
local function parts_of(path)
  local folder, base = path:match '^(.*/)' or '', path:match '[^/]*$'
  local stem, suffix = base:match '^(.*)(%.[^.]*)$'
  return folder, stem or base, suffix or ''
end

local function shard_name(stem, suffix, number, k, n)
  return ('%s%s-%05d-of-%05d%s'):format(stem, number > 1 and ('.save-%d'):format(number) or '', k, n, suffix)
end

-- The number of the save that a file is a shard of; nil if it is no shard.
local function number_of(name, stem, suffix)
  local middle = name:sub(#stem + 1, #name - #suffix)
  if name ~= stem .. middle .. suffix then return nil end
  if middle:find '^%-%d%d%d%d%d%-of%-%d%d%d%d%d$' then return 1 end
  local digits = middle:match '^%.save%-(%d+)%-%d%d%d%d%d%-of%-%d%d%d%d%d$'
  return digits and #digits <= 15 and math.tointeger(tonumber(digits)) or nil
end

-- The shards of this path that an index names, and the ones of the first save that it replaced:
-- { [name] = number of the save }. A killed run may have left the latter.
local function shards_before(path, stem, suffix)
  local known, index = {}, nil
  local file = outside.open(path .. SUFFIX, 'rb')
  if not file then return known end
  file:close()
  local readable = pcall(function() index = read_index(path .. SUFFIX) end)
  for _, name in ipairs(readable and index.weight_map or {}) do
    local shard = index.weight_map[name]
    known[shard] = type(shard) == 'string' and number_of(shard, stem, suffix) or nil
  end
  local metadata = readable and is_object(index.metadata) and index.metadata or {}
  for name in tostring(metadata[REPLACED] or ''):gmatch '[^/]+' do known[name] = number_of(name, stem, suffix) end
  return known
end

-- The names in `before` of shards of the first save that exist, joined by '/'; nil: none.
local function first_shards(folder, before)
  local names = {}
  for name, number in pairs(before) do
    local file = number == 1 and outside.open(folder .. name, 'rb')
    if file then
      file:close()
      names[#names + 1] = name
    end
  end
  return #names > 0 and table.concat(names, '/') or nil
end

-- Removes the shards of other saves: the ones that the old index names, and the remains of killed
-- runs, which are recognized by the save number or the suffix of temporary files.
local function remove_others(path, before, current)
  local folder, stem, suffix = parts_of(path)
  local names = outside.list_folder(folder == '' and '.' or folder) or {}
  for _, name in ipairs(names) do
    local shard = name:match '^%.(.*)%.ltensor%-%d+%.tmp$' or name
    local number = number_of(shard, stem, suffix)
    if number and not current[name] and (before[name] or shard ~= name or number > 1) then outside.discard(folder .. name) end
  end
end

--- Writes tensors to files of at most `most` bytes of elements each. If one file suffices, it is
-- `path`; otherwise the shards are name-00001-of-00003.safetensors and so on beside it, with the
-- index path .. '.index.json'.
--
-- Atomic: new shards have other names than the old ones, the index is replaced after all are
-- written, and the old shards are removed last. So the shards of the index are complete whenever
-- saving ends.
function M.save(path, names, tensors, metadata, most)
  local shards = split(tensors, most)
  local folder, stem, suffix = parts_of(path)
  local before = shards_before(path, stem, suffix)
  if #shards <= 1 then
    torch._C.save_safetensors(path, names, tensors, metadata)
    outside.discard(path .. SUFFIX)
    pcall(remove_others, path, before, {})
    return
  end
  local number = 1
  for _, other in pairs(before) do number = math.max(number, other + 1) end
  local map, total, current = {}, 0, {}
  for k, places in ipairs(shards) do
    local file = shard_name(stem, suffix, number, k, #shards)
    local some_names, some = {}, {}
    for j, i in ipairs(places) do
      some_names[j], some[j] = names[i], tensors[i]
      map[#map + 1] = { names[i], file }
      total = total + tensors[i]:numel() * tensors[i]:element_size()
    end
    torch._C.save_safetensors(folder .. file, some_names, some, { format = 'pt' })
    current[file] = true
  end
  metadata[REPLACED] = first_shards(folder, before)
  outside.write_file(path .. SUFFIX, index_text(map, total, metadata))
  outside.discard(path)
  pcall(remove_others, path, before, current) -- the save is complete without it
end

return M
