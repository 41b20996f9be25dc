-- dataloader.lua - utils.data.DataLoader(dataset, {batch_size = 1, shuffle = false, ...}) or
-- DataLoader{dataset = ..., ...}: for X, Y in loader:iter() do ... end.
--
-- Options: dataset, batch_size, shuffle, sampler, batch_sampler, drop_last, collate_fn, pin_memory, generator.
-- Samples are stacked along a new first dimension; numbers become tensors.

local torch = require 'torch'
local class = require 'torch.class'
local samplers = require 'torch.utils.data.sampler'
local options_of = require 'torch.options'

local DataLoader = class.Object:extend('DataLoader')

local defaults = {
  dataset = false, batch_size = 1, shuffle = false, sampler = false, batch_sampler = false, drop_last = false,
  collate_fn = false, pin_memory = false, generator = false,
}

function DataLoader:init(dataset, options)
  if type(dataset) == 'table' and options == nil and dataset.dataset ~= nil then dataset, options = dataset.dataset, dataset end
  options = options_of('DataLoader', options, defaults)
  if dataset == nil then error('DataLoader(): a dataset is required', 3) end
  if options.sampler and options.shuffle then error('sampler option is mutually exclusive with shuffle', 3) end
  self.dataset, self.batch_size, self.drop_last = dataset, options.batch_size, options.drop_last
  self.collate_fn, self.pin_memory = options.collate_fn or nil, options.pin_memory
  self.sampler = options.sampler or (options.shuffle
    and samplers.RandomSampler(dataset, { generator = options.generator }) or samplers.SequentialSampler(dataset))
  self.batch_sampler = options.batch_sampler or samplers.BatchSampler(self.sampler, options.batch_size, options.drop_last)
end

function DataLoader:__len() return #self.batch_sampler end

local function collate_column(samples, column)
  local values = {}
  for i, sample in ipairs(samples) do values[i] = sample[column] end
  local first = values[1]
  if torch.is_tensor(first) then return torch.stack(values) end
  if type(first) == 'number' or type(first) == 'boolean' then return torch.tensor(values) end
  return values
end

-- samples: a list of {value, ...}. Returns one batch per value.
local function default_collate(samples)
  local batches = {}
  for column = 1, samples[1].n do batches[column] = collate_column(samples, column) end
  return table.unpack(batches, 1, samples[1].n)
end

local function pinned(...)
  local values = table.pack(...)
  for i = 1, values.n do
    if torch.is_tensor(values[i]) then values[i] = values[i]:pin_memory() end
  end
  return table.unpack(values, 1, values.n)
end

-- All values that a data set has at a position; a subscript would give only the first.
local function item(dataset, position)
  if type(dataset) == 'userdata' and dataset.__getitem then return dataset:__getitem(position) end
  return dataset[position]
end

function DataLoader:_fetch(positions)
  local dataset = self.dataset
  if not self.collate_fn and type(dataset) == 'userdata' and dataset.__getitems then
    return dataset:__getitems(positions)
  end
  local samples = {}
  for i, position in ipairs(positions) do samples[i] = table.pack(item(dataset, position)) end
  if self.collate_fn then return self.collate_fn(samples) end
  return default_collate(samples)
end

function DataLoader:iter()
  local next_batch = self.batch_sampler:iter()
  return function()
    local positions = next_batch()
    if positions == nil then return nil end
    if self.pin_memory and torch.cuda.is_available() then return pinned(self:_fetch(positions)) end
    return self:_fetch(positions)
  end
end

return DataLoader
