-- padding.lua - layers that pad the last dimensions: nn.ZeroPad, ConstantPad, ReflectionPad, ReplicationPad and
-- CircularPad, each 1d, 2d and 3d. padding is one number or before and after of each dimension, the last first.

local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local arguments = require 'torch.nn.arguments'
local fail = require 'torch.support.fail'
local python = require 'torch.nn.python'

local M = {}

local function pads(padding, n)
  if type(padding) == 'number' then
    local list = {}
    for i = 1, 2 * n do list[i] = padding end
    return list
  end
  if #padding ~= 2 * n then fail('padding must be one number or %d of them, got %d', 2 * n, #padding) end
  return table.move(padding, 1, #padding, 1, {})
end

for prefix, mode in pairs { ReflectionPad = 'reflect', ReplicationPad = 'replicate', CircularPad = 'circular',
  ZeroPad = 'constant' } do
  for n = 1, 3 do
    local name = ('%s%dd'):format(prefix, n)
    local read = arguments(name, 'padding')
    local class = Module:extend(name)
    if mode == 'constant' then class.value = 0.0 end
    function class:init(...) self.padding = pads(read(...).padding, n) end
    function class:forward(input) return F.pad(input, self.padding, mode) end
    function class:extra_repr() return python.repr(self.padding) end
    M[name] = class
  end
end

for n = 1, 3 do
  local name = ('ConstantPad%dd'):format(n)
  local read = arguments(name, 'padding value')
  local class = Module:extend(name)
  function class:init(...)
    local options = read(...)
    self.padding, self.value = pads(options.padding, n), options.value
  end
  function class:forward(input) return F.pad(input, self.padding, 'constant', self.value) end
  function class:extra_repr() return python.format('padding=%s, value=%s', self.padding, self.value) end
  M[name] = class
end

return M
