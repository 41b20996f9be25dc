-- distributed.lua - DistributedSampler(dataset, {num_replicas =, rank =, shuffle =, seed =,
-- drop_last =}): partitions a data set over the ranks, with equally many samples on each: if they
-- do not divide, some occur twice, or with drop_last some are dropped. set_epoch(n) before each
-- epoch changes the order. For the same seed, the order equals PyTorch's.

--[=[ arguments
dataset: Data set.
num_replicas: Number of ranks; all if absent.
rank: Number of this rank, from 0; the own one if absent.
shuffle: Whether the samples are in a random order.
seed: Seed of this order; the same on all ranks.
drop_last: Whether samples that do not divide among the ranks are left out; otherwise some are repeated.
epoch: Number of the epoch, which changes the order.
iter(): An iterator over the positions of this rank, from 1.
]=]

local torch = require 'torch'
local samplers = require 'torch.utils.data.sampler'
local Sampler = samplers.Sampler
local fail = require 'torch.support.fail'
local declare = require 'torch.support.arguments'

local DistributedSampler = Sampler:extend('DistributedSampler')

function DistributedSampler:init(dataset, num_replicas, rank, shuffle, seed, drop_last)
  local dist = torch.distributed
  local n = num_replicas or dist.get_world_size()
  rank = rank or dist.get_rank()
  if rank < 0 or rank >= n then fail('Invalid rank %d, rank should be in the interval [0, %d]', rank, n - 1) end
  self.dataset, self.num_replicas, self.rank, self.epoch = dataset, n, rank, 0
  self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
  self.num_samples = self.drop_last and #dataset // n or (#dataset + n - 1) // n
  self.total_size = self.num_samples * n
end

function DistributedSampler:__len() return self.num_samples end

--- Selects the order of this epoch; it differs between epochs.
function DistributedSampler:set_epoch(epoch)
  self.epoch = epoch
end

function DistributedSampler:iter()
  local n, order = #self.dataset, nil
  if self.shuffle then
    local generator = torch.Generator()
    generator:manual_seed(self.seed + self.epoch)
    order = torch.randperm(n, samplers._drawing(generator)):tolist()
  end
  local i = 0
  return function()
    if i == self.num_samples then return nil end
    local position = (self.rank + i * self.num_replicas) % n + 1 -- the first samples come twice
    i = i + 1
    return order and order[position] or position
  end
end

declare.methods(DistributedSampler, [[
  init(self, data dataset, integer? num_replicas, integer? rank, boolean shuffle=true, integer seed=0, boolean drop_last=false)
  set_epoch(self, integer epoch)
]])

return DistributedSampler
