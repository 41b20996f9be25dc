-- parallel.lua - torch.nn.parallel: scatter, gather, replicate, parallel_apply: the parts of
-- DataParallel.
--
-- Inputs and outputs may be tensors and nested tables of tensors; other values are passed to each
-- device. Several inputs of one call, or several outputs, are packed by table.pack. Devices are
-- devices, their names or GPU numbers. Work on different GPUs overlaps because a launch does not
-- block.

--[=[ arguments
ids: Devices: numbers of GPUs, names or `torch.device`s.
outputs: Results of the devices.
modules: Functions or modules, one for each device.
inputs: Arguments of each call.
devices: Devices, one for each call.
module: Module to copy.
parallel_apply.devices: Devices, one for each call; the inputs' devices if absent.
dim: Dimension of the batch, from 1.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local Module = require 'torch.nn.module'
local checked = require 'torch.support.argument_checks'
local fail = require 'torch.support.fail'
local ordered_dict = require 'torch.support.ordered_dict'

local fields_of = class.fields
local parallel = {}

local function device_of(id) return torch.device(math.type(id) == 'integer' and 'cuda:' .. id or id) end

--- The devices that ids name, as a list of devices.
function parallel.devices(ids)
  local devices = {}
  for i, id in ipairs(ids) do devices[i] = device_of(id) end
  return devices
end

-- Reads and writes the entries of a table without metamethods; an OrderedDict keeps its order.
local function entries_of(object)
  if ordered_dict.is(object) then return pairs(object) end
  return next, object
end
local function set_entry(object, key, entry)
  if ordered_dict.is(object) then object[key] = entry else rawset(object, key, entry) end
end

-- Splits a value into one part per device; fewer if a tensor is too short; nil if it contains no
-- tensor.
local function parts_of(value, devices, dim)
  if torch.is_tensor(value) then
    if value.ndim == 0 then fail 'scatter(): chunk expects at least a 1-dimensional tensor' end
    local parts = {}
    for i, part in ipairs(value:chunk(#devices, dim)) do
      parts[i] = part:to { device = devices[i], non_blocking = true }
    end
    return parts
  end
  if type(value) ~= 'table' then return nil end
  local split, n
  for key, entry in pairs(value) do
    local parts = parts_of(entry, devices, dim)
    if parts then
      split = split or {}
      split[key] = parts
      n = math.min(n or #parts, #parts)
    end
  end
  if not split then return nil end
  local result = {}
  for i = 1, n do
    local copy = setmetatable({}, getmetatable(value))
    for key, entry in entries_of(value) do
      local parts = split[key]
      if parts then entry = parts[i] end
      set_entry(copy, key, entry)
    end
    result[i] = copy
  end
  return result
end

--- Splits the tensors in input along dim (default 1) into chunks, one on each device, of equal size
-- except the last, which may be smaller; there may be fewer chunks than devices.
-- @return a list of inputs of the same form
function parallel.scatter(input, devices, dim)
  devices = parallel.devices(devices)
  local parts = parts_of(input, devices, dim or 1)
  if parts then return parts end
  local same = {}
  for i = 1, #devices do same[i] = input end
  return same
end

-- Joins the corresponding values of all outputs.
local function join(values, device, dim)
  local first = values[1]
  if torch.is_tensor(first) then
    local moved = {}
    for i, value in ipairs(values) do moved[i] = value:to(device) end
    return first.ndim == 0 and torch.stack(moved) or torch.cat(moved, dim)
  end
  if type(first) ~= 'table' then return first end
  local joined = setmetatable({}, getmetatable(first))
  for key in entries_of(first) do
    local entries = {}
    for i, value in ipairs(values) do
      if type(value) ~= 'table' or value[key] == nil then
        fail("gather(): output %d has no entry '%s', which output 1 has", i, tostring(key))
      end
      entries[i] = value[key]
    end
    set_entry(joined, key, join(entries, device, dim))
  end
  return joined
end

--- Joins the results of several devices along dim (default 1) on one device. 0-dim tensors become a
-- vector; of other values, returns the first.
function parallel.gather(outputs, device, dim)
  return join(outputs, device_of(device), dim or 1)
end

local function copy_module(module, device)
  local replica = torch._C.new_object(getmetatable(module), {})
  local from, to = fields_of(module), fields_of(replica)
  for key, value in pairs(from) do to[key] = value end
  for _, kind in ipairs { '_parameters', '_buffers', '_modules' } do
    to[kind] = table.move(from[kind], 1, #from[kind], 1, {})
  end
  to._registered = {}
  for name, kind in pairs(from._registered) do to._registered[name] = kind end
  for _, kind in ipairs { '_parameters', '_buffers' } do
    for _, name in ipairs(from[kind]) do
      if from[name] ~= nil then to[name] = from[name]:to(device) end
    end
  end
  for _, name in ipairs(from._modules) do
    if from[name] ~= nil then to[name] = copy_module(from[name], device) end
  end
  return replica
end

--- Copies of a module on each device; their gradients flow to the module's own parameters. On the
-- module's device, the copy has its buffers: a layer's writes to them remain.
function parallel.replicate(module, devices)
  if not Module:is_instance(module) then
    fail('replicate(): argument 1 must be a Module, not %s', torch.type(module))
  end
  module:_check_finite()
  local replicas = {}
  for i, device in ipairs(parallel.devices(devices)) do replicas[i] = copy_module(module, device) end
  return replicas
end

local function first_device(value)
  if torch.is_tensor(value) then return value.device end
  if type(value) ~= 'table' then return nil end
  for _, entry in next, value do
    local device = first_device(entry)
    if device then return device end
  end
end

--- Calls modules[i](inputs[i]) with devices[i] current (that of the input if there are none); an
-- input made by table.pack is several arguments.
-- @return the list of outputs; a module's several results are packed
function parallel.parallel_apply(modules, inputs, devices)
  if #modules ~= #inputs then
    fail('parallel_apply(): %d modules for %d inputs', #modules, #inputs)
  end
  local outputs = {}
  for i, input in ipairs(inputs) do
    local packed = type(input) == 'table' and math.type(rawget(input, 'n')) == 'integer'
    local device = devices and device_of(devices[i]) or first_device(input)
    local function call()
      if packed then return table.pack(modules[i](table.unpack(input, 1, input.n))) end
      return table.pack(modules[i](input))
    end
    local results = device and device.type == 'cuda' and torch.cuda.device(device, call) or call()
    if results.n > 1 then outputs[i] = results else outputs[i] = results[1] end
  end
  return outputs
end

-- Loaded on first use, because it requires torch.distributed.
setmetatable(parallel, { __index = function(_, name)
  if name ~= 'DistributedDataParallel' then return nil end
  local value = require 'torch.nn.distributed_data_parallel'
  rawset(parallel, name, value)
  return value
end })

return checked.functions(parallel, { ['scatter.input'] = 'any?', outputs = 'table', modules = 'table', inputs = 'table', dim = 'integer?',
  device = 'device', ['devices.ids'] = 'table', ['scatter.devices'] = 'table', ['replicate.devices'] = 'table', ['parallel_apply.modules'] = 'functions' })
