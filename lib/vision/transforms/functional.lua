-- functional.lua - torch.vision.transforms.functional: the deterministic operations of the
-- transforms, with the numbers of torchvision.transforms.v2.functional. The colors are in
-- colors.lua.

--[=[ arguments
input: Image or batch of images, of shape (..., C, H, W).
size: Height and width of the result; one number is the length of the shorter edge.
output_size: Height and width of the result; one number is both.
interpolation: Method: `'nearest'`, `'nearest-exact'`, `'bilinear'`, `'bicubic'` or `'lanczos'`.
max_size: Largest length of the longer edge.
antialias: Whether the image is smoothed before it is made smaller, in the modes bilinear, bicubic and lanczos.
top: Number of rows above the crop, from 0.
left: Number of columns at the left of the crop, from 0.
height: Height of the crop.
width: Width of the crop.
padding: Number of pixels added at each edge; {left and right, top and bottom} or {left, top, right, bottom}.
fill: Value of the new pixels, or a list with a value for each channel.
padding_mode: Kind of the new pixels: `'constant'`, `'edge'`, `'reflect'` or `'symmetric'`.
mean: List or tensor with the mean of each channel.
std: List or tensor with the standard deviation of each channel.
inplace: Whether the input is changed.
i: Number of rows above the rectangle, from 0.
j: Number of columns at the left of the rectangle, from 0.
h: Height of the rectangle.
w: Width of the rectangle.
v: Values of the rectangle; broadcast to (..., C, h, w).
dtype: Dtype of the result; float32 if absent.
scale: Whether values are scaled from the range of one dtype to that of the other.
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local M = {}

-- Raises an error unless the input has channels, rows and columns; returns their numbers.
local function size_of(what, input)
  if input.ndim < 3 then
    fail('%s(): expected an image of shape (..., C, H, W), got %s%s', what, tostring(input.shape),
      input.ndim == 2 and '; call unsqueeze(1) for one channel' or '')
  end
  return input:size(-3), input:size(-2), input:size(-1)
end
M._size_of = size_of

-- {height, width} of one number or two.
local function pair_of(what, size)
  if type(size) == 'number' then return size, size end
  if #size == 1 then return size[1], size[1] end
  if #size ~= 2 then fail('%s(): the size must be one number or {height, width}, got %d numbers', what, #size) end
  return size[1], size[2]
end
M._pair_of = pair_of

-- Python's rounding: halves to the even number.
local function rounded(x)
  local low = math.floor(x)
  local rest = x - low
  if rest > 0.5 or rest == 0.5 and low % 2 == 1 then low = low + 1 end
  return math.tointeger(low) or low -- an integer, unless it exceeds all sizes
end
M._rounded = rounded

-- ---- flips and crops ----------------------------------------------------------------------------

--- The mirror image: left and right are exchanged.
function M.horizontal_flip(input) return input:flip(-1) end
--- The same as horizontal_flip.
M.hflip = M.horizontal_flip

--- The image upside down.
function M.vertical_flip(input) return input:flip(-2) end
--- The same as vertical_flip.
M.vflip = M.vertical_flip

local function scalar_pad(input, edges, fill, mode)
  local channels, height, width = size_of('pad', input)
  local images = input:reshape(-1, channels, height, width)
  if mode == 'constant' then
    images = torch.nn.functional.pad(images, edges, { value = fill })
  elseif mode == 'symmetric' then
    local function positions(size, before, after)
      for _, n in ipairs { before, after } do -- a negative padding removes pixels
        if n > size or n < -size then fail('pad(): symmetric padding of %d exceeds the size %d', n, size) end
      end
      local list = {}
      for k = before, 1, -1 do list[#list + 1] = k end
      for k = 1 - math.min(before, 0), size + math.min(after, 0) do list[#list + 1] = k end
      for k = size, size - after + 1, -1 do list[#list + 1] = k end
      return torch.tensor(list, { dtype = torch.int64, device = input.device })
    end
    images = images:index_select(-2, positions(height, edges[3], edges[4])):index_select(-1, positions(width, edges[1], edges[2]))
  else
    local values = images:is_floating_point() and images or images:float()
    images = torch.nn.functional.pad(values, edges, { mode = mode == 'edge' and 'replicate' or mode }):to(images.dtype)
  end
  local shape = { table.unpack(input.shape, 1, input.ndim - 2) }
  shape[#shape + 1], shape[#shape + 2] = images:size(-2), images:size(-1)
  return images:reshape(shape)
end

-- {left, right, top, bottom} of the forms of a padding.
local function edges_of(what, padding)
  local p = type(padding) == 'number' and { padding } or padding
  if #p == 1 then return { p[1], p[1], p[1], p[1] } end
  if #p == 2 then return { p[1], p[1], p[2], p[2] } end
  if #p == 4 then return { p[1], p[3], p[2], p[4] } end
  fail('%s(): the padding must be 1, 2 or 4 numbers, got %d', what, #p)
end
M._edges_of = edges_of

local PADDING_MODES = { constant = true, edge = true, reflect = true, symmetric = true }
function M._check_padding_mode(what, mode)
  if not PADDING_MODES[mode] then fail("%s(): padding_mode must be 'constant', 'edge', 'reflect' or 'symmetric', got '%s'", what, tostring(mode)) end
end

--- Adds pixels at the edges: of the value fill ('constant'), of the outermost pixels ('edge'), or
--- mirrored without ('reflect') or with ('symmetric') the outermost pixels.
function M.pad(input, padding, fill, padding_mode)
  M._check_padding_mode('pad', padding_mode)
  local edges = edges_of('pad', padding)
  if type(fill) == 'number' then return scalar_pad(input, edges, fill, padding_mode) end
  if #fill == 1 then return scalar_pad(input, edges, fill[1], padding_mode) end
  if padding_mode ~= 'constant' then fail("pad(): padding_mode '%s' needs one value of fill, got %d", padding_mode, #fill) end
  local channels, height, width = size_of('pad', input)
  if #fill ~= channels then fail('pad(): fill has %d values for %d channels', #fill, channels) end
  local values = torch.tensor(fill, { device = input.device }):to(input.dtype):reshape(-1, 1, 1)
  local inside = scalar_pad(torch.ones(1, height, width, { dtype = torch.bool, device = input.device }), edges, 0, 'constant')
  return torch.where(inside, scalar_pad(input, edges, 0, 'constant'), values)
end

--- The part of an image below row `top` and right of column `left`; parts outside of the image are
--- 0.
function M.crop(input, top, left, height, width)
  local _, h, w = size_of('crop', input)
  local bottom, right = top + height, left + width
  if top >= 0 and left >= 0 and bottom <= h and right <= w then return input:narrow(-2, top + 1, height):narrow(-1, left + 1, width) end
  local first_row, first_column = math.min(math.max(top, 0), h), math.min(math.max(left, 0), w)
  local rows, columns = math.max(math.min(bottom, h) - first_row, 0), math.max(math.min(right, w) - first_column, 0)
  local shape = { table.unpack(input.shape, 1, input.ndim - 2) }
  shape[#shape + 1], shape[#shape + 2] = height, width
  local result = input:new_zeros(shape)
  if rows > 0 and columns > 0 then
    result:narrow(-2, first_row - top + 1, rows):narrow(-1, first_column - left + 1, columns)
      :copy_(input:narrow(-2, first_row + 1, rows):narrow(-1, first_column + 1, columns))
  end
  return result
end

--- The middle of an image; a smaller image is first extended by zeros.
function M.center_crop(input, output_size)
  local _, height, width = size_of('center_crop', input)
  local h, w = pair_of('center_crop', output_size)
  if h > height or w > width then
    local down, right = math.max(h - height, 0), math.max(w - width, 0)
    input = scalar_pad(input, { right // 2, (right + 1) // 2, down // 2, (down + 1) // 2 }, 0, 'constant')
    height, width = input:size(-2), input:size(-1)
  end
  return M.crop(input, rounded((height - h) / 2), rounded((width - w) / 2), h, w)
end

-- ---- sizes --------------------------------------------------------------------------------------

-- The height and width that resize produces.
local function resized_size(height, width, size, max_size)
  local short, long = math.min(height, width), math.max(height, width)
  local new_short, new_long
  if size == nil then
    if not max_size then fail 'resize(): max_size is needed if size is nil' end
    new_short, new_long = math.floor(max_size * short / long), max_size
  else
    size = type(size) == 'number' and { size } or size
    if #size == 2 then
      if max_size then fail 'resize(): max_size needs one number of size, the length of the shorter edge; got {height, width}' end
      return size[1], size[2]
    elseif #size ~= 1 then
      fail('resize(): size must be one number or {height, width}, got %d numbers', #size)
    end
    new_short, new_long = size[1], math.floor(size[1] * long / short)
    if max_size and max_size <= size[1] then
      fail('resize(): max_size = %d must be greater than size = %d, the length of the shorter edge', max_size, size[1])
    end
    if max_size and new_long > max_size then new_short, new_long = math.floor(max_size * new_short / new_long), max_size end
  end
  if width <= height then return new_long, new_short end
  return new_short, new_long
end

local SMOOTH = { bilinear = true, bicubic = true, lanczos = true }

--- Scales an image. size: {height, width}, or the length of the shorter edge.
function M.resize(input, size, interpolation, max_size, antialias)
  local channels, height, width = size_of('resize', input)
  local smooth = SMOOTH[interpolation] or false
  if not smooth and interpolation ~= 'nearest' and interpolation ~= 'nearest-exact' then
    fail("resize(): interpolation must be 'nearest', 'nearest-exact', 'bilinear', 'bicubic' or 'lanczos', got '%s'", interpolation)
  end
  local new_height, new_width = resized_size(height, width, size, max_size)
  if new_height == height and new_width == width then return input end
  local images, dtype = input:reshape(-1, channels, height, width), input.dtype
  local native = dtype == torch.float32 or dtype == torch.float64 or dtype == torch.uint8 and (not smooth or input.device.type == 'cpu')
  if not native then images = images:float() end
  images = torch.nn.functional.interpolate(images, { size = { new_height, new_width }, mode = interpolation,
    align_corners = smooth and false or nil, antialias = antialias and smooth })
  if not native then
    if dtype == torch.uint8 then images = images:clamp(0, 255) end
    images = (dtype.is_floating_point and images or images:round()):to(dtype)
  end
  local shape = { table.unpack(input.shape, 1, input.ndim - 2) }
  shape[#shape + 1], shape[#shape + 2] = new_height, new_width
  return images:reshape(shape)
end

--- A part of an image, scaled to a size.
function M.resized_crop(input, top, left, height, width, size, interpolation, antialias)
  return M.resize(M.crop(input, top, left, height, width), size, interpolation, nil, antialias)
end

-- ---- values -------------------------------------------------------------------------------------

--- (input - mean) / std for each channel of an image of floats.
function M.normalize(input, mean, std, inplace)
  if torch.is_tensor(mean) then mean = mean:flatten():tolist() end
  if torch.is_tensor(std) then std = std:flatten():tolist() end
  if not input:is_floating_point() then
    fail("normalize(): expected an image of floats, got %s; call ToDtype(torch.float32, {scale = true}) first", tostring(input.dtype))
  end
  local channels = size_of('normalize', input)
  for name, list in pairs { mean = mean, std = std } do
    if #list ~= channels and #list ~= 1 then fail('normalize(): %s has %d values for %d channels', name, #list, channels) end
  end
  for _, value in ipairs(std) do
    if value == 0 then fail 'normalize(): std contains 0, by which the values cannot be divided' end
  end
  local function column(list) return torch.tensor(list, { dtype = input.dtype, device = input.device }):reshape(-1, 1, 1) end
  local centered = inplace and input:sub_(column(mean)) or input - column(mean)
  return centered:div_(column(std))
end

--- The image with a rectangle of other values.
function M.erase(input, i, j, h, w, v, inplace)
  local result = inplace and input or input:clone()
  result:narrow(-2, i + 1, h):narrow(-1, j + 1, w):copy_(v)
  return result
end

local function largest(dtype) return dtype.is_floating_point and 1 or torch.iinfo(dtype).max end
M._largest = largest

-- The number of bits of the values that are not negative.
local function value_bits(dtype) return torch.iinfo(dtype).bits - (torch.iinfo(dtype).min < 0 and 1 or 0) end

--- Converts the dtype. scale = true: integers from 0 to the largest value correspond to floats from
--- 0 to 1.
function M.to_dtype(input, dtype, scale)
  dtype = dtype or torch.float32
  if input.dtype == dtype then return input end
  if not scale or input:is_floating_point() and dtype.is_floating_point then return input:to(dtype) end
  if input:is_floating_point() then
    if dtype == torch.int64 or dtype == torch.int32 and input.dtype == torch.float32 then
      fail('The conversion from %s to %s cannot be performed safely.', tostring(input.dtype), tostring(dtype))
    end
    -- Nearly 1 more than the largest value, so that each integer has an interval of equal length.
    return (input * (largest(dtype) + 1.0 - 1e-3)):to(dtype)
  end
  if dtype.is_floating_point then return input:to(dtype) * (1.0 / largest(input.dtype)) end
  local shift = value_bits(dtype) - value_bits(input.dtype)
  if shift >= 0 then return input:to(dtype) * (1 << shift) end
  return torch.div(input:long(), 1 << -shift, { rounding_mode = 'floor' }):to(dtype)
end

for name, f in pairs(require 'torch.vision.transforms.colors' (M)) do M[name] = f end

declare.functions(M, [[
  pad(Tensor input, sizes padding, numbers fill=0, string padding_mode='constant')
  crop(Tensor input, integer top, integer left, integer height, integer width)
  center_crop(Tensor input, sizes output_size)
  resize(Tensor input, sizes? size, string interpolation='bilinear', integer? max_size, boolean antialias=true)
  resized_crop(Tensor input, integer top, integer left, integer height, integer width, sizes size, string interpolation='bilinear', boolean antialias=true)
  normalize(Tensor input, Tensor|times mean, Tensor|times std, boolean inplace=false)
  erase(Tensor input, integer i, integer j, integer h, integer w, Tensor v, boolean inplace=false)
  to_dtype(Tensor input, dtype? dtype, boolean scale=false)
  rgb_to_grayscale(Tensor input, integer num_output_channels=1)
]])

return checked.functions(M, { brightness_factor = 'number', contrast_factor = 'number', saturation_factor = 'number', hue_factor = 'number' })
