-- dataloader.lua - utils.data.DataLoader(dataset, {batch_size = 1, shuffle = false, ...}) or
-- DataLoader{dataset = ..., ...}: for X, Y in loader do ... end. for i, batch in ipairs(loader) do
-- counts the batches; there, a batch of several tensors is a list {X, Y}. With num_workers, for X,
-- Y in loader:iter() also ends the processes at once when the loop is left early; otherwise the
-- collector does.
--
-- batch_size = false yields single samples of the dataset, without a batch dimension.
--
-- Samples are collated along a new first dimension (collate.lua). With num_workers, processes load
-- and decode in the background (workers.lua), at most prefetch_factor batches each ahead; batches
-- come in the same order unless in_order = false. For the same generator, the order equals
-- PyTorch's. Workers are forks: multiprocessing_context = 'fork' is the only one. pin_memory_device
-- has no effect: as in PyTorch, memory is pinned for the current accelerator.

--[=[ arguments
dataset: Data set: an object with a length and entries from 1, or an iterable one.
batch_size: Number of samples in a batch; false gives single samples without a dimension of batches.
shuffle: Whether the samples are in a new random order in each epoch.
sampler: Iterable of positions from 1, instead of `shuffle`.
batch_sampler: Iterable of lists of positions from 1, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
num_workers: Number of processes that load batches; 0 loads in this process.
collate_fn: Function that makes a batch of a list of samples; the default stacks tensors and numbers.
pin_memory: Whether batches are in page-locked host memory, from which copies to a GPU are faster.
drop_last: Whether a last batch that is not full is left out.
timeout: Seconds to wait for a batch of a worker; 0 waits without limit.
worker_init_fn: Function that each worker calls with its number first.
multiprocessing_context: Kind of the workers: `'fork'` is the only one.
generator: Generator of the random order; the default generator if absent.
prefetch_factor: Number of batches that each worker loads ahead.
persistent_workers: Whether the workers stay alive after an epoch.
pin_memory_device: Accepted for compatibility; the memory of the current accelerator is used.
in_order: Whether batches arrive in the order of the sampler; otherwise as soon as they are loaded.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local datasets = require 'torch.utils.data.datasets'
local fail = require 'torch.support.fail'
local loops = require 'torch.utils.data.loops'
local samplers = require 'torch.utils.data.sampler'
local scope = require 'torch.autograd.scope'
local declare = require 'torch.support.arguments'

local DataLoader = class.Object:extend('DataLoader')
DataLoader.__settings = { 'dataset', 'batch_size', 'sampler', 'num_workers', 'drop_last' }

local function check(options, streams)
  if options.num_workers < 0 then
    fail 'num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.'
  end
  if options.timeout < 0 then fail 'timeout option should be non-negative' end
  if options.num_workers == 0 and options.prefetch_factor then
    fail 'prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to enable multiprocessing, otherwise leave prefetch_factor out.'
  end
  if options.prefetch_factor and options.prefetch_factor < 1 then fail 'prefetch_factor option should be non-negative' end
  local context = options.multiprocessing_context
  if context ~= nil and options.num_workers == 0 then
    fail 'multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers=0'
  elseif context ~= nil and type(context) ~= 'string' then
    fail('multiprocessing_context option should be a string specifying the start method, but got multiprocessing_context=%s', torch.type(context))
  elseif context ~= nil and context ~= 'fork' then
    fail("multiprocessing_context option should specify a valid start method in ['fork'], but got multiprocessing_context='%s'", context)
  end
  if options.persistent_workers and options.num_workers == 0 then fail 'persistent_workers option needs num_workers > 0' end
  if streams then
    if options.shuffle then
      fail 'DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle=True'
    end
    if options.sampler or options.batch_sampler then
      fail 'DataLoader with IterableDataset: expected unspecified sampler option'
    end
  end
  if options.sampler and options.shuffle then fail 'sampler option is mutually exclusive with shuffle' end
  if not options.batch_size and options.drop_last then
    fail 'batch_size = false disables auto-batching and is mutually exclusive with drop_last'
  end
  if options.batch_sampler and (options.batch_size ~= 1 or options.shuffle or options.sampler or options.drop_last) then
    fail 'batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last'
  end
end

function DataLoader:init(options)
  local dataset = options.dataset
  self._streams = datasets.IterableDataset:is_instance(dataset)
  check(options, self._streams)
  self.dataset, self.batch_size, self.drop_last = dataset, options.batch_size, options.drop_last
  self.collate_fn, self.pin_memory = options.collate_fn or nil, options.pin_memory
  self.generator = options.generator or nil
  self.num_workers, self.prefetch_factor = options.num_workers, options.prefetch_factor or 2
  self.persistent_workers, self.worker_init_fn = options.persistent_workers, options.worker_init_fn or nil
  self.timeout, self.in_order = options.timeout, options.in_order
  if self._streams then return end
  self.sampler = options.sampler or (options.shuffle
    and samplers.RandomSampler(dataset, { generator = options.generator }) or samplers.SequentialSampler(dataset))
  if not options.batch_size and not options.batch_sampler then return end
  self.batch_sampler = options.batch_sampler or samplers.BatchSampler(self.sampler, options.batch_size, options.drop_last)
end

function DataLoader:__len()
  if not self._streams then return #(self.batch_sampler or self.sampler) end
  local n = #self.dataset
  if not self.batch_size then return n end
  return self.drop_last and n // self.batch_size or (n - 1) // self.batch_size + 1
end

-- The list that collate_fn receives: a sample of one value is that value, others are lists of their
-- values.
local function unpacked(samples)
  local list = {}
  for i, sample in ipairs(samples) do
    if sample.n == 1 then list[i] = sample[1] else list[i] = table.move(sample, 1, sample.n, 1, {}) end
  end
  return list
end

-- samples: a list of packed values. Returns one batch per value.
function DataLoader:_collate(samples)
  if self.collate_fn then return self.collate_fn(unpacked(samples)) end
  local collate, batches = torch.utils.data.default_collate, {}
  for column = 1, samples[1].n do
    local values = {}
    for i, sample in ipairs(samples) do values[i] = sample[column] end
    batches[column] = collate(values)
  end
  return table.unpack(batches, 1, samples[1].n)
end

-- Without batches: converts a single sample.
function DataLoader:_convert(...)
  if self.collate_fn then return self.collate_fn(...) end
  return ...
end

-- The batch of these positions, or one sample. `where` records the position that is being loaded.
function DataLoader:_fetch(positions, where)
  local dataset = self.dataset
  if not self.batch_sampler then
    if where then where.position = positions end
    return self:_convert(datasets.item(dataset, positions))
  end
  if not self.collate_fn and datasets.gets_batches(dataset) then return dataset:__getitems(positions) end
  local samples = {}
  for i, position in ipairs(positions) do
    if where then where.position = position end
    samples[i] = table.pack(datasets.item(dataset, position))
  end
  if where then where.position = nil end
  return self:_collate(samples)
end

-- An iterator over the batches of a stream of samples.
function DataLoader:_batches_of_stream()
  local next_sample, ended = self.dataset:iter(), false
  if not self.batch_size then
    return function()
      local sample = table.pack(next_sample())
      if sample[1] ~= nil then return self:_convert(table.unpack(sample, 1, sample.n)) end
    end
  end
  return function()
    local samples = {}
    while not ended and #samples < self.batch_size do
      local sample = table.pack(next_sample())
      ended = sample.n == 0 or sample[1] == nil
      if not ended then samples[#samples + 1] = sample end
    end
    if #samples == 0 or (self.drop_last and #samples < self.batch_size) then return nil end
    return self:_collate(samples)
  end
end

local function pinned_value(value)
  if torch.is_tensor(value) then return value.is_cuda and value or value:pin_memory() end
  if type(value) ~= 'table' then return value end
  local copy = {}
  for key, item in pairs(value) do copy[key] = pinned_value(item) end
  return copy
end

local function pinned(...)
  local values = table.pack(...)
  for i = 1, values.n do values[i] = pinned_value(values[i]) end
  return table.unpack(values, 1, values.n)
end

function DataLoader:_unpinned()
  local next_positions = not self._streams and (self.batch_sampler or self.sampler):iter()
  local seed = torch.empty({}, { dtype = torch.int64, device = samplers._drawing(self.generator).device }):random_({ generator = self.generator }):item() -- as in PyTorch
  if self.num_workers > 0 then return require('torch.utils.data.workers').iter(self, next_positions, seed) end
  if self._streams then return self:_batches_of_stream() end
  return function()
    local positions = next_positions()
    if positions then return self:_fetch(positions) end
  end
end

-- Attributes copies between devices during loading to the loader.
local function load_on() torch.cuda._set_loading(true) end
local function load_off() torch.cuda._set_loading(false) end

local function loads(next_batch, is_pinned)
  return function()
    local _ <close> = scope.open('loading', load_on, load_off)
    if is_pinned then return pinned(next_batch()) end
    return next_batch()
  end
end

--- An iterator over the batches, with a value that a for loop closes when it is left.
function DataLoader:iter()
  local next_batch, _, _, closing = self:_unpinned()
  return loads(next_batch, self.pin_memory and torch.cuda.is_available()), nil, nil, closing
end

loops.install(DataLoader)

declare.named(DataLoader, [[
  init(self, data dataset, integer|boolean batch_size=1, boolean|integer? shuffle, any? sampler, any? batch_sampler, integer num_workers=0, function? collate_fn, boolean pin_memory=false, boolean drop_last=false, number timeout=0, function? worker_init_fn, any? multiprocessing_context, Generator? generator, *, integer? prefetch_factor, boolean persistent_workers=false, string pin_memory_device='', boolean in_order=true)
]])

return DataLoader
