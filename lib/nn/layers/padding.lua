-- padding.lua - layers that pad the last dimensions: nn.ZeroPad, ConstantPad, ReflectionPad,
-- ReplicationPad and CircularPad, each 1d, 2d and 3d. padding is one number or before and after of
-- each dimension, the last first.

--[=[ arguments
padding: Number of elements at each end: a number for all, or a table from the last dimension to the first, {left, right, top, bottom, ...}.
value: Value of the padding.
ZeroPad1d(): Pads sequences with zeros.
ZeroPad2d(): Pads images with zeros.
ZeroPad3d(): Pads volumes with zeros.
ConstantPad1d(): Pads sequences with a number.
ConstantPad2d(): Pads images with a number.
ConstantPad3d(): Pads volumes with a number.
ReflectionPad1d(): Pads sequences with their mirror image, without the edge.
ReflectionPad2d(): Pads images with their mirror image, without the edge.
ReflectionPad3d(): Pads volumes with their mirror image, without the edge.
ReplicationPad1d(): Pads sequences with copies of the edge.
ReplicationPad2d(): Pads images with copies of the edge.
ReplicationPad3d(): Pads volumes with copies of the edge.
CircularPad1d(): Pads sequences with their opposite end.
CircularPad2d(): Pads images with their opposite sides.
CircularPad3d(): Pads volumes with their opposite sides.
]=]

--[=[ examples
ConstantPad1d
    nn.ConstantPad1d(1, 9.0)(torch.zeros(2, 3, 4)).shape
    --> torch.Size([2, 3, 6])
ReflectionPad1d
    nn.ReflectionPad1d(1)(torch.zeros(2, 3, 4)).shape
    --> torch.Size([2, 3, 6])
ReplicationPad1d
    nn.ReplicationPad1d(1)(torch.zeros(2, 3, 4)).shape
    --> torch.Size([2, 3, 6])
ZeroPad1d
    nn.ZeroPad1d(1)(torch.zeros(2, 3, 4)).shape
    --> torch.Size([2, 3, 6])
CircularPad1d
    nn.CircularPad1d(1)(torch.zeros(2, 3, 4)).shape
    --> torch.Size([2, 3, 6])
ConstantPad2d
    nn.ConstantPad2d(1, 9.0)(torch.zeros(2, 3, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6])
ReflectionPad2d
    nn.ReflectionPad2d(1)(torch.zeros(2, 3, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6])
ReplicationPad2d
    nn.ReplicationPad2d(1)(torch.zeros(2, 3, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6])
ZeroPad2d
    nn.ZeroPad2d(1)(torch.zeros(2, 3, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6])
CircularPad2d
    nn.CircularPad2d(1)(torch.zeros(2, 3, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6])
ConstantPad3d
    nn.ConstantPad3d(1, 9.0)(torch.zeros(2, 3, 4, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6, 6])
ReflectionPad3d
    nn.ReflectionPad3d(1)(torch.zeros(2, 3, 4, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6, 6])
ReplicationPad3d
    nn.ReplicationPad3d(1)(torch.zeros(2, 3, 4, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6, 6])
ZeroPad3d
    nn.ZeroPad3d(1)(torch.zeros(2, 3, 4, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6, 6])
CircularPad3d
    nn.CircularPad3d(1)(torch.zeros(2, 3, 4, 4, 4)).shape
    --> torch.Size([2, 3, 6, 6, 6])
]=]

local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local declare = require 'torch.support.arguments'
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
    local read = declare.reader(name .. '(sizes padding)')
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
  local read = declare.reader(name .. '(sizes padding, number value)')
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
