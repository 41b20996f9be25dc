-- flatten.lua - nn.Flatten(start_dim = 2, end_dim = -1) merges dimensions, by default all but the
-- batch;
-- nn.Unflatten(dim, sizes) splits one.

--[=[ arguments
start_dim: First dimension to join, from 1.
end_dim: Last dimension to join.
unflattened_size: Sizes of the new dimensions; one may be -1 and follows from the others.
Flatten(): Joins a range of dimensions, by default all except the batch.
Unflatten(): Splits a dimension.
]=]

--[=[ examples
Flatten
    nn.Flatten()(torch.zeros(2, 3, 4)).shape
    --> torch.Size([2, 12])
Unflatten
    nn.Unflatten(2, {3, 4})(torch.zeros(2, 12)).shape
    --> torch.Size([2, 3, 4])
]=]

local Module = require 'torch.nn.module'
local torch = require 'torch'
local declare = require 'torch.support.arguments'
local python = require 'torch.nn.python'

local M = {}

M.Flatten = Module:extend('Flatten')
local read_flatten = declare.reader 'Flatten(integer start_dim=2, integer end_dim=-1)'
function M.Flatten:init(...)
  local options = read_flatten(...)
  self.start_dim, self.end_dim = options.start_dim, options.end_dim
end
function M.Flatten:forward(input) return torch.flatten(input, self.start_dim, self.end_dim) end
function M.Flatten:extra_repr() return ('start_dim=%d, end_dim=%d'):format(self.start_dim, self.end_dim) end

M.Unflatten = Module:extend('Unflatten')
local read_unflatten = declare.reader 'Unflatten(integer|string dim, table unflattened_size)'
function M.Unflatten:init(...)
  local options = read_unflatten(...)
  self.dim, self.unflattened_size = options.dim, options.unflattened_size
end
function M.Unflatten:forward(input) return torch.unflatten(input, self.dim, self.unflattened_size) end
function M.Unflatten:extra_repr()
  return python.format('dim=%s, unflattened_size=%s', self.dim, self.unflattened_size)
end

return M
