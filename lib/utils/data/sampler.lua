-- sampler.lua - in which order samples are taken: Sampler (derive and define iter), SequentialSampler,
-- RandomSampler, BatchSampler. iter() returns an iterator over positions from 1 (BatchSampler: over tables).

local torch = require 'torch'
local class = require 'torch.class'
local options_of = require 'torch.options'

local M = {}

M.Sampler = class.Object:extend('Sampler')

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

-- RandomSampler(data, {replacement = false, num_samples = n, generator = g})
M.RandomSampler = M.Sampler:extend('RandomSampler')
function M.RandomSampler:init(data_source, options)
  options = options_of('RandomSampler', options, { replacement = false, num_samples = false, generator = false })
  self.data_source, self.replacement = data_source, options.replacement
  self.num_samples, self.generator = options.num_samples or #data_source, options.generator or nil
end
function M.RandomSampler:__len() return self.num_samples end
function M.RandomSampler:iter()
  local n, given = #self.data_source, 0
  local named = { generator = self.generator }
  local order = {}
  local position = 0
  return function()
    if given == self.num_samples then return nil end
    if position == #order then
      local drawn = self.replacement and torch.randint(1, n + 1, { self.num_samples }, named) or torch.randperm(n, named)
      order, position = drawn:tolist(), 0
    end
    given, position = given + 1, position + 1
    return order[position]
  end
end

-- BatchSampler(sampler, batch_size, drop_last)
M.BatchSampler = M.Sampler:extend('BatchSampler')
function M.BatchSampler:init(sampler, batch_size, drop_last)
  if math.type(batch_size) ~= 'integer' or batch_size <= 0 then
    error('batch_size should be a positive integer value, but got batch_size=' .. tostring(batch_size), 3)
  end
  self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last or false
end
function M.BatchSampler:__len()
  local n = #self.sampler
  return self.drop_last and n // self.batch_size or (n + self.batch_size - 1) // self.batch_size
end
function M.BatchSampler:iter()
  local next_position = self.sampler:iter()
  return function()
    local batch = {}
    for i = 1, self.batch_size do batch[i] = next_position() end
    if #batch == self.batch_size or (#batch > 0 and not self.drop_last) then return batch end
  end
end

return M
