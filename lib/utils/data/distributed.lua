-- distributed.lua - DistributedSampler(dataset, {num_replicas =, rank =, shuffle =, seed =, drop_last =}): each rank's share of a data
-- set, as many samples on each: some come twice where they do not divide, or with drop_last some are left out. set_epoch(n) before each
-- epoch gives another order. For the same seed the order is PyTorch's.

local torch = require 'torch'
local Sampler = require('torch.utils.data.sampler').Sampler
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'
local options_of = require 'torch.support.options'

local DistributedSampler = Sampler:extend('DistributedSampler')

function DistributedSampler:init(dataset, options)
  local dist = torch.distributed
  kinds.check('DistributedSampler', 'dataset', dataset, 'data')
  options = options_of('DistributedSampler', options, { num_replicas = false, rank = false, shuffle = true, seed = 0, drop_last = false })
  local n = options.num_replicas or dist.get_world_size()
  local rank = options.rank or dist.get_rank()
  if rank < 0 or rank >= n then fail('Invalid rank %d, rank should be in the interval [0, %d]', rank, n - 1) end
  self.dataset, self.num_replicas, self.rank, self.epoch = dataset, n, rank, 0
  self.shuffle, self.seed, self.drop_last = options.shuffle, options.seed, options.drop_last
  self.num_samples = self.drop_last and #dataset // n or (#dataset + n - 1) // n
  self.total_size = self.num_samples * n
end

function DistributedSampler:__len() return self.num_samples end

--- The order of this epoch is another than that of the one before.
function DistributedSampler:set_epoch(epoch)
  kinds.check('set_epoch', 'epoch', epoch, 'integer')
  self.epoch = epoch
end

function DistributedSampler:iter()
  local n, order = #self.dataset, nil
  if self.shuffle then
    local generator = torch.Generator()
    generator:manual_seed(self.seed + self.epoch)
    order = torch.randperm(n, { generator = generator }):tolist()
  end
  local i = 0
  return function()
    if i == self.num_samples then return nil end
    local position = (self.rank + i * self.num_replicas) % n + 1 -- those that come twice are the first
    i = i + 1
    return order and order[position] or position
  end
end

return DistributedSampler
