-- dropout.lua - nn.Dropout(p = 0.5): in training zeroes elements with probability p and scales the rest by
-- 1 / (1 - p); in evaluation returns its input.

local torch = require 'torch'
local Module = require 'torch.nn.module'

local Dropout = Module:extend('Dropout')

function Dropout:init(p)
  if type(p) == 'table' then p = p.p end
  p = p or 0.5
  if type(p) ~= 'number' or p < 0 or p > 1 then
    error('dropout probability has to be between 0 and 1, but got ' .. tostring(p), 3)
  end
  self.p = p
end

function Dropout:forward(input) return torch.dropout(input, self.p, self.training) end

function Dropout:extra_repr() return ('p=%s, inplace=False'):format(tostring(self.p)) end

return Dropout
