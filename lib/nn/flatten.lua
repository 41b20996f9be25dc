-- flatten.lua - nn.Flatten(start_dim = 2, end_dim = -1): merges dimensions; by default all but the batch.

local Module = require 'torch.nn.module'

local Flatten = Module:extend('Flatten')

function Flatten:init(start_dim, end_dim)
  if type(start_dim) == 'table' then start_dim, end_dim = start_dim.start_dim, start_dim.end_dim end
  self.start_dim, self.end_dim = start_dim or 2, end_dim or -1
end

function Flatten:forward(input) return input:flatten(self.start_dim, self.end_dim) end

function Flatten:extra_repr() return ('start_dim=%d, end_dim=%d'):format(self.start_dim, self.end_dim) end

return Flatten
