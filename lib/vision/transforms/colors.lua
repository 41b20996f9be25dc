-- colors.lua - the operations on colors of functional.lua: gray, brightness, contrast, saturation,
-- hue. Returns a function that makes them for the module of functional.lua.
--
-- Integers are computed as floats and truncated, in the order of torchvision's operations, so that
-- the results are equal.

--[=[ arguments
input: Image or batch of images, of shape (..., C, H, W).
brightness_factor: Factor of the values; 1 keeps them.
contrast_factor: Factor of the distance to the mean gray; 1 keeps the image, 0 makes it gray.
saturation_factor: Factor of the distance to the gray image; 1 keeps the image, 0 makes it gray.
hue_factor: Shift of the hue, from -0.5 to 0.5; 0 keeps the image.
num_output_channels: Number of channels, 1 or 3; three are equal.
]=]

local torch = require 'torch'
local fail = require 'torch.support.fail'

-- Raises an error unless the image has one or three channels; returns their number.
local function channels_of(functional, what, input)
  local channels = functional._size_of(what, input)
  if channels ~= 1 and channels ~= 3 then fail('%s(): expected an image of 1 or 3 channels, got shape %s', what, tostring(input.shape)) end
  return channels
end

local function check_factor(what, name, value)
  if not (value >= 0) then fail('%s(): %s must be at least 0, got %s', what, name, tostring(value)) end
end

-- The luma of an RGB image, as floats.
local function luma(input)
  local r, g, b = table.unpack(input:unbind(-3))
  return (r * 0.2989):add(g, { alpha = 0.587 }):add(b, { alpha = 0.114 }):unsqueeze(-3)
end

-- The luma as in torchvision's adjustments: integers are rounded down.
local function floored_luma(input)
  local gray = luma(input)
  return input:is_floating_point() and gray or gray:floor()
end

-- {hue, saturation, value} of an RGB image of floats; formulas of Pillow's Convert.c.
local function hsv_of(input)
  local low, high = input:aminmax { dim = -3 }
  local r, g = input:select(-3, 1), input:select(-3, 2)
  local is_gray, range = high:eq(low), high - low
  local one = torch.ones_like(high)
  local saturation = range / torch.where(is_gray, one, high)
  local distance = (high:unsqueeze(-3) - input) / torch.where(is_gray, one, range):unsqueeze(-3)
  local rc, gc, bc = table.unpack(distance:unbind(-3))
  local not_r, is_g = high:ne(r), high:eq(g)
  local by_g = (rc + 2.0 - bc) * (is_g & not_r)
  local by_r = (bc - gc) * ~not_r
  local by_b = (gc + 4.0 - rc) * (not_r & ~is_g)
  return ((by_r + by_g + by_b) * (1.0 / 6.0) + 1.0):fmod(1.0), saturation, high
end

-- The channel of {value, p, q, t} for red, green and blue in each sixth of the circle of hues.
local CHANNELS = { { 1, 3, 2, 2, 4, 1 }, { 4, 1, 1, 3, 2, 2 }, { 2, 2, 4, 1, 1, 3 } }

local function rgb_of(hue, saturation, value)
  local sixths = hue * 6
  local sixth = sixths:floor()
  local product = saturation * (sixths - sixth)
  local p = ((1.0 - saturation) * value):clamp(0, 1)
  local q = ((1.0 - product) * value):clamp(0, 1)
  local t = ((product + (1.0 - saturation)) * value):clamp(0, 1)
  local position, planes = sixth:long():remainder(6):flatten() + 1, {}
  for c, list in ipairs(CHANNELS) do
    planes[c] = torch.tensor(list, { device = hue.device }):index_select(1, position):reshape(hue.shape)
  end
  return torch.stack({ value, p, q, t }, -3):gather(-3, torch.stack(planes, -3))
end

return function(functional)
  local M = {}

  -- ratio * first + (1 - ratio) * second, in the range of the dtype of `first`.
  local function blend(first, second, ratio)
    return (first * ratio):add(second, { alpha = 1.0 - ratio }):clamp(0, functional._largest(first.dtype)):to(first.dtype)
  end

  --- Converts an RGB image to gray: 0.2989 red + 0.587 green + 0.114 blue.
  function M.rgb_to_grayscale(input, num_output_channels)
    if num_output_channels ~= 1 and num_output_channels ~= 3 then
      fail('rgb_to_grayscale(): num_output_channels must be 1 or 3, got %d', num_output_channels)
    end
    local repeats = {}
    for d = 1, input.ndim do repeats[d] = d == input.ndim - 2 and num_output_channels or 1 end
    if channels_of(functional, 'rgb_to_grayscale', input) == 1 then return input:tile(repeats) end
    local gray = luma(input):to(input.dtype)
    return num_output_channels == 3 and gray:expand(input.shape) or gray
  end

  --- Multiplies the values by a factor, within the range of the dtype.
  function M.adjust_brightness(input, brightness_factor)
    channels_of(functional, 'adjust_brightness', input)
    check_factor('adjust_brightness', 'brightness_factor', brightness_factor)
    return (input * (brightness_factor + 0.0)):clamp(0, functional._largest(input.dtype)):to(input.dtype)
  end

  --- Mixes the image with the mean of its gray values.
  function M.adjust_contrast(input, contrast_factor)
    local channels = channels_of(functional, 'adjust_contrast', input)
    check_factor('adjust_contrast', 'contrast_factor', contrast_factor)
    local gray = channels == 3 and floored_luma(input) or input:is_floating_point() and input or input:float()
    return blend(input, gray:mean { dim = { -3, -2, -1 }, keepdim = true }, contrast_factor)
  end

  --- Mixes the image with its gray values.
  function M.adjust_saturation(input, saturation_factor)
    local channels = channels_of(functional, 'adjust_saturation', input)
    check_factor('adjust_saturation', 'saturation_factor', saturation_factor)
    if channels == 1 then return input end
    return blend(input, floored_luma(input), saturation_factor)
  end

  --- Shifts the hue of an RGB image, which has no negative values.
  function M.adjust_hue(input, hue_factor)
    local channels = channels_of(functional, 'adjust_hue', input)
    if not (hue_factor >= -0.5 and hue_factor <= 0.5) then fail('adjust_hue(): hue_factor must be from -0.5 to 0.5, got %s', tostring(hue_factor)) end
    if channels == 1 or input:numel() == 0 then return input end
    local hue, saturation, value = hsv_of(functional.to_dtype(input, torch.float32, true))
    return functional.to_dtype(rgb_of((hue + hue_factor):remainder(1.0), saturation, value), input.dtype, true)
  end

  return M
end
