-- sampler.lua - the order of samples: Sampler (derive and define iter), SequentialSampler,
-- RandomSampler, SubsetRandomSampler, WeightedRandomSampler, BatchSampler. iter() returns an
-- iterator over positions from 1 (BatchSampler: over tables). For the same generator the order is
-- PyTorch's.

--[=[ arguments
data_source: Data set; its length determines the positions.
replacement: Whether a position may be drawn several times.
num_samples: Number of draws; the length of the data set if absent.
WeightedRandomSampler.num_samples: Number of draws.
indices: Positions from 1.
weights: Weight of each position; they need not add up to 1.
sampler: Iterable of positions.
batch_size: Number of positions in a batch.
drop_last: Whether a last batch that is not full is left out.
iter(): An iterator over the positions of one epoch, from 1.
SequentialSampler(): All positions in order.
RandomSampler(): All positions in random order, or random draws.
WeightedRandomSampler(): Random draws of positions with the given weights.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local loops = require 'torch.utils.data.loops'
local declare = require 'torch.support.arguments'

local M = {}

-- The base class of samplers: a derived class defines iter(), and __len if it knows its length.
M.Sampler = class.Object:extend('Sampler')
function M.Sampler:iter() fail("%s has no method 'iter'", self.__classname) end
loops.install(M.Sampler)

M.SequentialSampler = M.Sampler:extend('SequentialSampler')
function M.SequentialSampler:init(data_source) self.data_source = data_source end
function M.SequentialSampler:__len() return #self.data_source end
function M.SequentialSampler:iter()
  local i, n = 0, #self.data_source
  return function()
    i = i + 1
    if i <= n then return i end
  end
end

M.RandomSampler = M.Sampler:extend('RandomSampler')
function M.RandomSampler:init(data_source, replacement, num_samples, generator)
  self.data_source, self.replacement, self.num_samples, self.generator = data_source, replacement, num_samples, generator
  local count = #self
  if math.type(count) ~= 'integer' or count < 0 then
    fail('num_samples should be a positive integer value, but got num_samples=%s', tostring(count))
  end
end
function M.RandomSampler:__len() return self.num_samples or #self.data_source end

local DRAWN_AT_ONCE = 32 -- positions with replacement, as in PyTorch

--- Options for drawing positions: on the generator's device, otherwise on the CPU, for every
--- default device.
function M._drawing(generator) return { generator = generator, device = generator and generator.device or 'cpu' } end

-- A new generator, seeded from the default one.
local function own_generator()
  local generator = torch.Generator()
  generator:manual_seed(torch.empty({}, { dtype = torch.int64, device = 'cpu' }):random_():item())
  return generator
end

function M.RandomSampler:iter()
  local n, left = #self.data_source, #self
  local named, order, position, ended
  return function()
    if left == 0 or n == 0 then
      -- PyTorch draws a permutation for the rest even if it is empty
      if not ended and not self.replacement and n > 0 and #self % n == 0 and named then torch.randperm(n, named) end
      ended = true
      return nil
    end
    named = named or M._drawing(self.generator or own_generator())
    if not order or position == #order then
      order = (self.replacement and torch.randint(1, n + 1, { math.min(DRAWN_AT_ONCE, left) }, named) or torch.randperm(n, named)):tolist()
      position = 0
    end
    left, position = left - 1, position + 1
    return order[position]
  end
end

-- These positions in random order.
M.SubsetRandomSampler = M.Sampler:extend('SubsetRandomSampler')
function M.SubsetRandomSampler:init(indices, generator)
  self.indices, self.generator = indices, generator
end
function M.SubsetRandomSampler:__len() return #self.indices end
function M.SubsetRandomSampler:iter()
  local order, i
  return function()
    order = order or torch.randperm(#self.indices, M._drawing(self.generator)):tolist()
    i = (i or 0) + 1
    return order[i] and self.indices[order[i]]
  end
end

M.WeightedRandomSampler = M.Sampler:extend('WeightedRandomSampler')
function M.WeightedRandomSampler:init(weights, num_samples, replacement, generator)
  if math.type(num_samples) ~= 'integer' or num_samples <= 0 then
    fail('num_samples should be a positive integer value, but got num_samples=%s', tostring(num_samples))
  end
  self.weights = torch.is_tensor(weights) and weights:to(torch.float64) or torch.tensor(weights, { dtype = torch.float64 })
  if self.weights:dim() ~= 1 then fail 'weights should be a 1d sequence' end
  self.num_samples, self.replacement, self.generator = num_samples, replacement, generator
end
function M.WeightedRandomSampler:__len() return self.num_samples end
function M.WeightedRandomSampler:iter()
  local order, i
  return function()
    order = order or self.weights:multinomial(self.num_samples, self.replacement, { generator = self.generator }):tolist()
    i = (i or 0) + 1
    return order[i]
  end
end

-- The positions of another sampler in lists of batch_size: BatchSampler(sampler, batch_size, drop_last).
M.BatchSampler = M.Sampler:extend('BatchSampler')
function M.BatchSampler:init(sampler, batch_size, drop_last)
  if math.type(batch_size) ~= 'integer' or batch_size <= 0 then
    fail('batch_size should be a positive integer value, but got batch_size=' .. tostring(batch_size))
  end
  self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last
end
function M.BatchSampler:__len()
  local n = #self.sampler
  return self.drop_last and n // self.batch_size or (n - 1) // self.batch_size + 1
end
function M.BatchSampler:iter()
  local next_position, ended = self.sampler:iter(), false
  return function()
    local batch = {}
    while not ended and #batch < self.batch_size do
      local position = next_position()
      ended = position == nil -- a sampler is not called after its end, because it may restart
      batch[#batch + 1] = position
    end
    if #batch == self.batch_size or (#batch > 0 and not self.drop_last) then return batch end
  end
end

declare.methods(M.SequentialSampler, 'init(self, data data_source)')
declare.methods(M.RandomSampler, 'init(self, data data_source, boolean replacement=false, any? num_samples, Generator? generator)')
declare.methods(M.SubsetRandomSampler, 'init(self, data indices, Generator? generator)')
declare.methods(M.WeightedRandomSampler, 'init(self, Tensor|table weights, any num_samples, boolean replacement=true, Generator? generator)')
declare.methods(M.BatchSampler, 'init(self, any sampler, any batch_size, boolean drop_last=false)')

return M
