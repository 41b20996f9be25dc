-- containers.lua - transforms of other transforms: Compose, RandomApply, Lambda.

--[=[ arguments
transforms: List of transforms, modules and functions.
p: Probability that the transforms are applied.
lambd: Function of an image that returns an image.
Compose(): Applies transforms one after the other.
RandomApply(): Applies all transforms of a list, one after the other, with probability p.
Lambda(): Applies a function to the image.
]=]

--[=[ examples
Compose
    transform = torch.vision.transforms.Compose {torch.vision.transforms.Resize(8), torch.vision.transforms.CenterCrop(6)}
    transform(torch.rand(3, 20, 30)).shape
    --> torch.Size([3, 6, 6])
RandomApply
    torch.vision.transforms.RandomApply({torch.vision.transforms.Pad(1)}, 1.0)(torch.rand(3, 4, 4)).shape
    --> torch.Size([3, 6, 6])
Lambda
    torch.vision.transforms.Lambda(function(x) return x * 2 end)(torch.ones(1, 1, 2))
    --> tensor([[[2., 2.]]])
]=]

local torch = require 'torch'
local Transform = require 'torch.vision.transforms.transform'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local M = {}

-- The list, of which all entries can be called.
local function checked(what, list)
  if #list == 0 then fail('%s(): pass at least one transform', what) end
  for i, entry in ipairs(list) do
    if not kinds.fits(entry, 'function') then fail('%s(): transform %d must be a transform or a function, not %s', what, i, kinds.described(entry)) end
  end
  return list
end

-- Applies the transforms to all values.
local function apply(list, ...)
  local values = table.pack(...)
  for _, transform in ipairs(list) do values = table.pack(transform(table.unpack(values, 1, values.n))) end
  return table.unpack(values, 1, values.n)
end

local function shown(list)
  local lines = {}
  for i, transform in ipairs(list) do lines[i] = '    ' .. tostring(transform) end
  return table.concat(lines, '\n')
end

M.Compose = Transform:extend 'Compose'

-- The transforms are arguments of their own or a list.
function M.Compose:init(...)
  local list = ...
  if type(list) ~= 'table' then list = { ... } elseif list.transforms then list = list.transforms end
  self.transforms = checked('Compose', list)
end

function M.Compose:forward(...) return apply(self.transforms, ...) end
function M.Compose:extra_repr() return shown(self.transforms) end

M.RandomApply = Transform._with_probability 'RandomApply'

function M.RandomApply:init(transforms, p)
  self.transforms = checked('RandomApply', transforms)
  self:_set_probability(p)
end
declare.methods(M.RandomApply, 'init(self, table transforms, number p=0.5)')

function M.RandomApply:forward(...)
  if torch.rand(1):item() >= self.p then return ... end
  return apply(self.transforms, ...)
end
function M.RandomApply:extra_repr() return shown(self.transforms) end

M.Lambda = Transform:extend 'Lambda'
function M.Lambda:init(lambd) self.lambd = lambd end
declare.methods(M.Lambda, 'init(self, function lambd)')
function M.Lambda:transform(image) return self.lambd(image) end

return M
