-- checkpoint.lua - torch.distributed.checkpoint: saves the state of all ranks together and loads it
-- with any number of ranks.
--
-- Each rank writes a safetensors file: its shards, and its part of the replicated values. Then rank
-- 0 writes an index with the location of each tensor's elements at the requested path, and removes
-- the files of earlier checkpoints. So the index always belongs to the last complete checkpoint,
-- even if a run is killed. The files are in the folder of the index, which all ranks must be able
-- to read. An index may be untrusted: only files in its folder are read, and none of the files that
-- it names is removed, because the names of a checkpoint's own files follow from the index's name.
-- Tensors are named by their paths ("model.fc.weight"), states of parameters by the parameters.

--[=[ arguments
state_dict: Tables of tensors to save, or to fill.
checkpoint_id: Path of the index of the checkpoint; the files of the ranks are stored beside it.
]=]

local torch = require 'torch'
local dist = require 'torch.distributed'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'
local sharding = require 'torch.distributed.sharding'
local structure = require 'torch.files.structure'

local M = {}

-- ---- collecting the state -----------------------------------------------------------------------

local function is_module(value) return torch.nn.Module:is_instance(value) end
local function is_optimizer(value) return torch.optim.Optimizer:is_instance(value) end

-- A module without its distributed wrapper.
local function unwrapped(module)
  return torch.type(module) == 'DistributedDataParallel' and module.module or module
end

-- Names of parameters by the modules in a table, because optimizers only refer to parameters.
local function parameter_names(value, names)
  if is_module(value) then
    for name, p in unwrapped(value):named_parameters() do names[p] = name end
  elseif type(value) == 'table' then
    for _, entry in pairs(value) do parameter_names(entry, names) end
  end
  return names
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) == 'number' end
    return a < b
  end)
  return keys
end

local function extended(path, key)
  local longer = table.move(path, 1, #path, 1, {})
  longer[#longer + 1] = key
  return longer
end

local function name_of(path)
  local parts = {}
  for i, key in ipairs(path) do parts[i] = tostring(key) end
  return table.concat(parts, '.')
end

-- Parameters of an optimizer, each with its name: f(group number, name, parameter).
local function each_parameter(optimizer, names, f)
  local number = 0
  for g, group in ipairs(optimizer.param_groups) do
    for _, p in ipairs(group.params) do
      number = number + 1
      f(g, names[p] or ('parameter %d'):format(number), p)
    end
  end
end

-- The optimizer that stores the state of a parameter, for which tensor, and its location in the
-- parameter (nil: it is the parameter). The tensor is nil if another rank stores the state.
local function keeper(optimizer, p)
  if optimizer.part_of then return optimizer.optim, optimizer:part_of(p) end
  return optimizer, p, sharding.place(p)
end

local Collector = {}
Collector.__index = Collector

function Collector:tensor(path, tensor, place)
  self.entries[#self.entries + 1] = { path = path, name = name_of(path), tensor = tensor, place = place }
end

function Collector:module(path, module)
  local dict = unwrapped(module):state_dict { keep_vars = true }
  for _, key in ipairs(dict) do self:tensor(extended(path, key), dict[key], sharding.place(dict[key])) end
end

function Collector:optimizer(path, optimizer)
  local values = { groups = {}, state = {} }
  for g, group in ipairs(optimizer.param_groups) do
    local options = { params = {} }
    for key, value in pairs(group) do
      if key ~= 'params' then options[key] = value end
    end
    values.groups[g] = options
  end
  each_parameter(optimizer, self.names, function(g, name, p)
    local list = values.groups[g].params
    list[#list + 1] = name
    local kept, part, place = keeper(optimizer, p)
    local numbers = {}
    for key, value in pairs(part and kept.state[part] or {}) do
      local where = { path[1], table.unpack(path, 2) }
      where[#where + 1], where[#where + 2], where[#where + 3] = 'state', name, key
      if not torch.is_tensor(value) then
        numbers[key] = value
      else
        self:tensor(where, value, value:numel() == part:numel() and value:dim() == part:dim() and place or nil)
      end
    end
    values.state[name] = numbers
  end)
  return values
end

-- The values at a path that are no tensors.
function Collector:collect(path, value)
  if torch.is_tensor(value) then return self:tensor(path, value, sharding.place(value)) end
  if is_module(value) then return self:module(path, value) end
  if is_optimizer(value) then return self:optimizer(path, value) end
  if type(value) == 'userdata' and value.state_dict then value = value:state_dict() end
  if type(value) ~= 'table' then return value end
  local values = {}
  for _, key in ipairs(sorted_keys(value)) do values[key] = self:collect(extended(path, key), value[key]) end
  return values
end

-- The tensors of a state, a list of { path, name, tensor, place } (place: the part of a sharded
-- tensor), and the other values.
local function collected(state)
  local collector = setmetatable({ entries = {}, names = parameter_names(state, {}) }, Collector)
  local values = collector:collect({}, state)
  -- the same order on all ranks, independent of an optimizer's state
  table.sort(collector.entries, function(a, b) return a.name < b.name end)
  return collector.entries, values
end

-- ---- files --------------------------------------------------------------------------------------

local function exists(path)
  local file = outside.open(path, 'rb')
  if file then file:close() end
  return file ~= nil
end

local function beside(path, name) return (path:match '^(.*/)' or '') .. name end

local function read_index(path)
  local index = torch.load(path, { map_location = 'cpu' })
  if type(index) ~= 'table' or type(index.files) ~= 'table' or type(index.tensors) ~= 'table' or index.checkpoint ~= 1
    or math.type(index.number) ~= 'integer' or index.number < 1 or index.number >= 1 << 53 then
    fail('%s is not an index of a distributed checkpoint', path)
  end
  return index
end

local function base_of(path) return (path:match '([^/]*)$':gsub('%.safetensors$', '')) end

local OWN_FILE = '^%.%d+%.rank%-%d+%-of%-%d+%.safetensors$'

-- Removes files beside an index with names of a checkpoint of this index, except these: files of
-- the previous checkpoint and of killed runs, including unfinished ones (core/system/atomic_file.h).
-- No rank writes any more.
local function remove_others(path, files)
  local base, current = base_of(path), {}
  for _, file in ipairs(files) do current[file] = true end
  for _, name in ipairs(outside.list_folder(path:match '^(.*/)' or '.') or {}) do
    local file = name:match '^%.(.*)%.ltensor%-%d+%.tmp$' or name
    if file:sub(1, #base) == base and file:find(OWN_FILE, #base + 1) and not current[name] then outside.discard(beside(path, name)) end
  end
end

-- The entries of this rank: its shards, and its part of the replicated tensors, divided by bytes.
local function share(entries, rank, size)
  local used, mine = {}, {}
  for r = 1, size do used[r] = 0 end
  for _, entry in ipairs(entries) do
    if entry.place then
      mine[#mine + 1] = entry
    else
      local least = 1
      for r = 2, size do
        if used[r] < used[least] then least = r end
      end
      used[least] = used[least] + entry.tensor:numel() * entry.tensor:element_size()
      if least == rank + 1 then mine[#mine + 1] = entry end
    end
  end
  return mine
end

local function sizes_of(shape)
  local sizes = {}
  for d = 1, #shape do sizes[d] = shape[d] end
  return sizes
end

-- Writes the entries of this rank; returns its part of the index.
local function write(path, mine)
  local names, tensors, pieces = {}, {}, {}
  for _, entry in ipairs(mine) do
    local t = entry.tensor:detach()
    pieces[#pieces + 1] = { name = entry.name, path = entry.path, shape = sizes_of(entry.place and entry.place.shape or t.shape),
      dtype = tostring(t.dtype):match '[^.]*$', first = entry.place and entry.place.first or 1, n = t:numel() }
    if t:numel() > 0 then names[#names + 1], tensors[#tensors + 1] = entry.name, t end
  end
  torch._C.save_safetensors(path, names, tensors, {})
  return pieces
end

-- Adds values that only some ranks have to the values of the first rank.
local function merge(into, from)
  if type(into) ~= 'table' or type(from) ~= 'table' then return into == nil and from or into end
  for key, value in pairs(from) do into[key] = merge(into[key], value) end
  return into
end

local function make_index(files, parts)
  local index = { checkpoint = 1, files = files, tensors = {}, values = nil }
  for r, part in ipairs(parts) do
    index.values = merge(index.values, part.values)
    for _, piece in ipairs(part.pieces) do
      local known = index.tensors[piece.name]
      if not known then
        known = { path = piece.path, shape = piece.shape, dtype = piece.dtype, pieces = {} }
        index.tensors[piece.name] = known
      end
      if piece.n > 0 then table.insert(known.pieces, { file = r, first = piece.first, n = piece.n }) end
    end
  end
  return index
end

-- The results of f of all ranks, on the first rank of the group; an error on any rank is an error
-- on all.
local function together(group, f)
  local well, result = pcall(f)
  local root, all, failure = group:global(0), {}, { false }
  dist.gather_object({ well = well, result = well and result or tostring(result) }, all, root, group)
  for r, one in ipairs(all) do
    all[r] = one.result
    if not one.well and not failure[1] then failure[1] = ('checkpoint: rank %d: %s'):format(group:global(r - 1), one.result) end
  end
  dist.broadcast_object_list(failure, root, group)
  if failure[1] then fail('%s', failure[1]) end
  return all
end

--- Saves a table of modules, optimizers, schedulers, tensors and other values (and tables of
-- these), which are equal on all ranks except for sharded parts. checkpoint_id: the path of the
-- index, which is written last.
-- process_group: the ranks that save.
local function save(a)
  local group, path = dist._group(a.process_group), a.checkpoint_id
  if not group then return end
  local rank, size = group:me(), group:size()
  local before = { false }
  if rank == 0 and exists(path) then
    local well, index = pcall(read_index, path)
    if well then before[1] = index.number end
  end
  dist.broadcast_object_list(before, group:global(0), group)
  local old = before[1]
  local number, files, base = old and old + 1 or 1, {}, base_of(path)
  for r = 1, size do files[r] = ('%s.%d.rank-%d-of-%d.safetensors'):format(base, number, r - 1, size) end
  local parts = together(group, function()
    local entries, values = collected(a.state_dict)
    return (structure.encode { values = values, pieces = write(beside(path, files[rank + 1]), share(entries, rank, size)) })
  end)
  together(group, function()
    if rank > 0 then return true end
    for r, part in ipairs(parts) do parts[r] = structure.decode(part) end
    local index = make_index(files, parts)
    index.number = number
    torch._C.save_safetensors(path, {}, {}, { ltensor = (structure.encode(index)) })
    pcall(remove_others, path, files) -- the checkpoint is whole without it
    return true
  end)
end

-- ---- loading ------------------------------------------------------------------------------------

-- The targets of a load: tensors, each with the saved tensor's name and its location.
local Filler = {}
Filler.__index = Filler

function Filler:known(name, shape)
  local known = self.index.tensors[name]
  if not known then fail('%s has no tensor %s', self.path, name) end
  if shape and table.concat(known.shape, ', ') ~= table.concat(sizes_of(shape), ', ') then
    fail('%s: %s has the shape [%s], and here it has [%s]', self.path, name, table.concat(known.shape, ', '), table.concat(sizes_of(shape), ', '))
  end
  self.taken[name] = true
  return known
end

-- Schedules reading of the elements from place.first on into tensor; without place, of all.
function Filler:fill(name, tensor, place)
  self:known(name, place and place.shape or tensor.shape)
  local t = tensor:detach()
  local direct = not t.is_cuda and t:is_contiguous()
  local target = { name = name, first = place and place.first or 1, n = t:numel(), left = t:numel(),
    flat = direct and t:view(-1) or torch.empty(t:numel(), { dtype = t.dtype }) }
  if not direct then target.finish = function() t:copy_(target.flat:view(t.shape)) end end
  self.targets[#self.targets + 1] = target
end

function Filler:module(path, module)
  local dict = unwrapped(module):state_dict { keep_vars = true }
  for _, key in ipairs(dict) do self:fill(name_of(extended(path, key)), dict[key], sharding.place(dict[key])) end
end

-- Tensors of the index by the name of a parameter: { [parameter] = { key = name, ... } }.
local function states_by_parameter(index, path)
  local prefix, by = name_of(extended(path, 'state')), {}
  for name, known in pairs(index.tensors) do
    local parameter, key = known.path[#known.path - 1], known.path[#known.path]
    if name == prefix .. '.' .. tostring(parameter) .. '.' .. tostring(key) then
      by[parameter] = by[parameter] or {}
      by[parameter][key] = name
    end
  end
  return by
end

function Filler:optimizer(path, optimizer, saved, names)
  if type(saved) ~= 'table' or type(saved.groups) ~= 'table' then fail('%s has no optimizer %s', self.path, name_of(path)) end
  if #saved.groups ~= #optimizer.param_groups then fail('%s: the optimizer has a different number of parameter groups', self.path) end
  for g, group in ipairs(optimizer.param_groups) do
    for key, value in pairs(saved.groups[g]) do
      if key ~= 'params' then group[key] = value end
    end
  end
  local tensors = states_by_parameter(self.index, path)
  each_parameter(optimizer, names, function(_, name, p)
    local kept, part, place = keeper(optimizer, p)
    for _, tensor in pairs(tensors[name] or {}) do self.taken[tensor] = true end
    if not part then return end
    local state = {}
    for key, value in pairs(saved.state[name] or {}) do state[key] = value end
    for key, tensor_name in pairs(tensors[name] or {}) do
      local known = self.index.tensors[tensor_name]
      local whole = place and place.shape or part.shape
      local like = table.concat(known.shape, ',') == table.concat(sizes_of(whole), ',')
      local tensor = torch.empty(like and part.shape or known.shape, { dtype = torch[known.dtype], device = part.device })
      self:fill(tensor_name, tensor, like and place or nil)
      state[key] = tensor
    end
    kept.state[part] = next(state) and state or nil
  end)
end

-- Loads the value saved at a path into the existing object.
function Filler:take(path, value, saved, names)
  if torch.is_tensor(value) then
    self:fill(name_of(path), value, sharding.place(value))
    return value
  elseif is_module(value) then
    self:module(path, value)
    return value
  elseif is_optimizer(value) then
    self:optimizer(path, value, saved, names)
    return value
  elseif type(value) == 'userdata' and value.load_state_dict then
    self.late[#self.late + 1] = { value, path }
    return saved
  elseif type(value) ~= 'table' or type(saved) ~= 'table' and saved ~= nil then
    return saved
  end
  local result = saved or {}
  for _, key in ipairs(sorted_keys(value)) do result[key] = self:take(extended(path, key), value[key], result[key], names) end
  return result
end

local function at(result, path, last)
  for i = 1, last do
    if result[path[i]] == nil then result[path[i]] = {} end
    result = result[path[i]]
  end
  return result
end

-- Other values are returned complete, under their paths.
function Filler:take_rest(result)
  for _, name in ipairs(sorted_keys(self.index.tensors)) do
    if not self.taken[name] then
      local known = self.index.tensors[name]
      local tensor = torch.empty(known.shape, { dtype = torch[known.dtype] })
      at(result, known.path, #known.path - 1)[known.path[#known.path]] = tensor
      self:fill(name, tensor)
    end
  end
end

-- Reads the files that contain parts of the targets, one at a time.
function Filler:read()
  local wanted = {}
  for _, target in ipairs(self.targets) do
    for _, piece in ipairs(self.index.tensors[target.name].pieces) do
      local from, to = math.max(piece.first, target.first), math.min(piece.first + piece.n, target.first + target.n)
      if from < to then
        wanted[piece.file] = wanted[piece.file] or {}
        table.insert(wanted[piece.file], { target = target, piece = piece, from = from, n = to - from })
      end
    end
  end
  for f, list in pairs(wanted) do
    local file = self.index.files[f]
    local at = type(file) == 'string' and outside.path_inside(self.path, file)
    if not at then fail("%s: its file '%s' is not in the index's folder", self.path, tostring(file)) end
    local names, tensors = torch._C.load_safetensors(at)
    local by_name = {}
    for i, name in ipairs(names) do by_name[name] = tensors[i] end
    for _, want in ipairs(list) do
      local target, tensor = want.target, by_name[want.target.name]
      if not tensor or tensor:numel() ~= want.piece.n then fail('%s is not of this checkpoint: %s', self.index.files[f], target.name) end
      target.flat:narrow(1, want.from - target.first + 1, want.n):copy_(tensor:reshape(-1):narrow(1, want.from - want.piece.first + 1, want.n))
      target.left = target.left - want.n
    end
  end
  for _, target in ipairs(self.targets) do
    if target.left > 0 then fail('%s: %d elements of %s are in no file', self.path, target.left, target.name) end
    if target.finish then target.finish() end
  end
end

--- Fills the modules, optimizers, schedulers and tensors of a table from a checkpoint of any number
-- of ranks; each rank reads its own parts. Returns the other saved values as a table.
-- checkpoint_id: the path of the index.
local function load(a)
  local index = read_index(a.checkpoint_id)
  local state = a.state_dict or {}
  local filler = setmetatable({ index = index, path = a.checkpoint_id, targets = {}, taken = {}, late = {} }, Filler)
  local result = filler:take({}, state, index.values or {}, parameter_names(state, {}))
  filler:take_rest(result)
  torch.no_grad(filler.read, filler)
  for _, entry in ipairs(filler.late) do entry[1]:load_state_dict(at(result, entry[2], #entry[2])) end
  return result
end

M.save = declare.by_name('checkpoint.save(table state_dict, string checkpoint_id, value? process_group)', save)
M.load = declare.by_name('checkpoint.load(table? state_dict, string checkpoint_id)', load)

return M
