-- color.lua - transforms that change the colors of images: Grayscale, RandomGrayscale, ColorJitter.

--[=[ arguments
num_output_channels: Number of channels, 1 or 3; three are equal.
p: Probability that the image is changed.
brightness: Range {smallest, largest} of the factor; a number x is {max(0, 1 - x), 1 + x}.
contrast: Range {smallest, largest} of the factor; a number x is {max(0, 1 - x), 1 + x}.
saturation: Range {smallest, largest} of the factor; a number x is {max(0, 1 - x), 1 + x}.
hue: Range {smallest, largest} of the shift, from -0.5 to 0.5; a number x is {-x, x}.
Grayscale(): Converts RGB images to gray ones.
RandomGrayscale(): Converts RGB images to gray with probability p, and keeps three channels.
ColorJitter(): Changes brightness, contrast, saturation and hue by random factors, in random order.
]=]

--[=[ examples
Grayscale
    torch.vision.transforms.Grayscale()(torch.rand(3, 4, 4)).shape
    --> torch.Size([1, 4, 4])
RandomGrayscale
    torch.vision.transforms.RandomGrayscale(1.0)(torch.rand(3, 4, 4)).shape
    --> torch.Size([3, 4, 4])
ColorJitter
    torch.vision.transforms.ColorJitter {brightness = 0.5, hue = 0.1}
    --> ColorJitter(brightness=(0.5, 1.5), hue=(-0.1, 0.1))
]=]

local torch = require 'torch'
local Transform = require 'torch.vision.transforms.transform'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local functional = require 'torch.vision.transforms.functional'

local M = {}

M.Grayscale = Transform:extend 'Grayscale'
M.Grayscale._shown = 'num_output_channels'
function M.Grayscale:init(num_output_channels) self.num_output_channels = num_output_channels end
declare.methods(M.Grayscale, 'init(self, integer num_output_channels=1)')
function M.Grayscale:transform(image) return functional.rgb_to_grayscale(image, self.num_output_channels) end

M.RandomGrayscale = Transform._with_probability 'RandomGrayscale'
function M.RandomGrayscale:init(p) self:_set_probability(p) end
declare.methods(M.RandomGrayscale, 'init(self, number p=0.1)')
function M.RandomGrayscale:transform(image)
  return functional.rgb_to_grayscale(image, (functional._size_of('RandomGrayscale', image)))
end

-- ---- ColorJitter --------------------------------------------------------------------------------

M.ColorJitter = Transform:extend 'ColorJitter'
M.ColorJitter._shown = 'brightness contrast saturation hue'

-- The range of a factor; nil if it changes nothing.
local function range_of(name, value, center, least, most)
  if value == nil then return nil end
  if type(value) == 'number' then
    if value < 0 then fail('ColorJitter(): if %s is a single number, it must be non negative, got %s', name, tostring(value)) end
    value = { center - value, center + value }
    if center == 1 then value[1] = math.max(value[1], 0) end
  elseif #value ~= 2 then
    fail('ColorJitter(): %s must be one number or {smallest, largest}, got %d numbers', name, #value)
  end
  local low, high = value[1] + 0.0, value[2] + 0.0
  if not (least <= low and low <= high and high <= most) then
    fail('ColorJitter(): %s values must be increasing and from %s to %s, got {%s, %s}', name, tostring(least), tostring(most), tostring(low), tostring(high))
  end
  if low == center and high == center then return nil end
  return { low, high }
end

function M.ColorJitter:init(brightness, contrast, saturation, hue)
  self.brightness = range_of('brightness', brightness, 1, 0, math.huge)
  self.contrast = range_of('contrast', contrast, 1, 0, math.huge)
  self.saturation = range_of('saturation', saturation, 1, 0, math.huge)
  self.hue = range_of('hue', hue, 0, -0.5, 0.5)
end
declare.methods(M.ColorJitter, 'init(self, numbers? brightness, numbers? contrast, numbers? saturation, numbers? hue)')

function M.ColorJitter:make_params()
  local order = torch.randperm(4):tolist()
  local params = { order = order }
  for i, name in ipairs { 'brightness', 'contrast', 'saturation', 'hue' } do
    local range = self[name]
    params[i] = range and torch.empty(1):uniform_(range[1], range[2]):item()
  end
  return params
end
declare.methods(M.ColorJitter, 'make_params(self, Tensor image)')

local ADJUSTMENTS = { functional.adjust_brightness, functional.adjust_contrast, functional.adjust_saturation, functional.adjust_hue }

function M.ColorJitter:transform(image, params)
  for _, i in ipairs(params.order) do
    if params[i] then image = ADJUSTMENTS[i](image, params[i]) end
  end
  return image
end

return M
