-- grad_bucket.lua - GradBucket, the argument of a communication hook of DistributedDataParallel:
-- gradients of some parameters of this rank, concatenated in a tensor.

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'

local GradBucket = class.Object:extend('GradBucket')

-- The n-th of a reducer.
function GradBucket:init(reducer, n) self._reducer, self._n, self._bucket = reducer, n, reducer.buckets[n] end

--- The bucket's number, from 1, in the order in which the gradients arrive.
function GradBucket:index() return self._n end

--- True for the last bucket of a backward.
function GradBucket:is_last() return self._n == #self._reducer.buckets end

--- The gradients as one 1-D tensor.
function GradBucket:buffer() return self._bucket.flat end

--- The gradients, as views of the buffer.
function GradBucket:gradients() return table.move(self._bucket.views, 1, #self._bucket.views, 1, {}) end

--- Their parameters.
function GradBucket:parameters()
  local list = {}
  for i, place in ipairs(self._bucket.places) do list[i] = self._reducer.parameters[place] end
  return list
end

--- Other values for the buffer.
function GradBucket:set_buffer(tensor)
  if not torch.is_tensor(tensor) or tensor:numel() ~= self._bucket.flat:numel() then
    fail('set_buffer(): a tensor of %d elements is expected', self._bucket.flat:numel())
  end
  self._bucket.flat:copy_(tensor:detach():reshape(-1))
end

return GradBucket
