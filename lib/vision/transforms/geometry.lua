-- geometry.lua - transforms that change the size of images or move their pixels: Resize,
-- CenterCrop, RandomCrop, RandomResizedCrop, Pad, RandomHorizontalFlip, RandomVerticalFlip.

--[=[ arguments
size: Height and width of the result; one number is both.
Resize.size: Height and width of the result; one number is the length of the shorter edge.
interpolation: Method: `'nearest'`, `'nearest-exact'`, `'bilinear'`, `'bicubic'` or `'lanczos'`.
max_size: Largest length of the longer edge.
antialias: Whether the image is smoothed before it is made smaller, in the modes bilinear, bicubic and lanczos.
scale: Smallest and largest area of the crop, as fractions of the area of the image.
ratio: Smallest and largest width of the crop divided by its height.
padding: Number of pixels added at each edge first; {left and right, top and bottom} or {left, top, right, bottom}.
pad_if_needed: Whether an image that is smaller than the crop is extended.
fill: Value of the new pixels, or a list with a value for each channel.
padding_mode: Kind of the new pixels: `'constant'`, `'edge'`, `'reflect'` or `'symmetric'`.
p: Probability that the image is changed.
img: Image, of shape (..., C, H, W).
output_size: Height and width of the crop.
Resize(): Scales an image.
CenterCrop(): Cuts out the middle of an image; a smaller image is first extended by zeros.
RandomCrop(): Cuts out a part of a given size at a random offset.
RandomResizedCrop(): Cuts out a part of random area and aspect ratio, and scales it to a size.
Pad(): Adds pixels at the edges.
RandomHorizontalFlip(): Exchanges left and right with probability p.
RandomVerticalFlip(): Turns the image upside down with probability p.
]=]

--[=[ examples
Resize
    torch.vision.transforms.Resize(32)(torch.rand(3, 64, 96)).shape
    --> torch.Size([3, 32, 48])
CenterCrop
    torch.vision.transforms.CenterCrop(2)(torch.arange(16):reshape(1, 4, 4))
    --> tensor([[[ 5,  6],
    -->          [ 9, 10]]])
RandomCrop
    torch.vision.transforms.RandomCrop(32, {padding = 4})(torch.rand(8, 3, 32, 32)).shape
    --> torch.Size([8, 3, 32, 32])
RandomResizedCrop
    torch.vision.transforms.RandomResizedCrop({20, 30})(torch.rand(3, 64, 96)).shape
    --> torch.Size([3, 20, 30])
Pad
    torch.vision.transforms.Pad({1, 0})(torch.ones(1, 1, 2))
    --> tensor([[[0., 1., 1., 0.]]])
RandomHorizontalFlip
    torch.vision.transforms.RandomHorizontalFlip(1.0)(torch.arange(4):reshape(1, 2, 2))
    --> tensor([[[1, 0],
    -->          [3, 2]]])
RandomVerticalFlip
    torch.vision.transforms.RandomVerticalFlip(1.0)(torch.arange(4):reshape(1, 2, 2))
    --> tensor([[[2, 3],
    -->          [0, 1]]])
]=]

local torch = require 'torch'
local Transform = require 'torch.vision.transforms.transform'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local functional = require 'torch.vision.transforms.functional'

local M = {}

-- A random number from 0 to n.
local function random_offset(n) return torch.randint(0, n + 1, { 1 }):item() end

local function uniform(low, high) return torch.empty(1):uniform_(low, high) end
M._uniform = uniform

--- A pair {low, high} of an argument.
local function check_range(what, name, range)
  if #range ~= 2 or not (range[1] <= range[2]) then
    fail('%s(): %s must be {smallest, largest}, got {%s}', what, name, table.concat(range, ', '))
  end
end
M._check_range = check_range

local function check_positive(what, name, range)
  if range[1] <= 0 then fail('%s(): %s must be greater than 0, got {%s}', what, name, table.concat(range, ', ')) end
end
M._check_positive = check_positive

-- The logarithms of both ends of a range of aspect ratios, as float32.
local function log_range(ratio)
  local logs = torch.log(torch.tensor({ ratio[1] + 0.0, ratio[2] + 0.0 }, { dtype = torch.float32 }))
  return logs[1]:item(), logs[2]:item()
end

--- The {area, aspect ratio} of a random part, as torchvision draws them.
function M._random_shape(area, scale, ratio)
  local low, high = log_range(ratio)
  local target = area * uniform(scale[1], scale[2]):item()
  return target, torch.exp(uniform(low, high)):item()
end

-- ---- sizes --------------------------------------------------------------------------------------

M.Resize = Transform:extend 'Resize'
M.Resize._shown = 'size[] interpolation max_size antialias'

function M.Resize:init(size, interpolation, max_size, antialias)
  if size == nil and not max_size then fail 'Resize(): give size, or max_size for the length of the longer edge' end
  self.size = type(size) == 'number' and { size } or size
  self.interpolation, self.max_size, self.antialias = interpolation, max_size, antialias
end
declare.methods(M.Resize, "init(self, sizes? size, string interpolation='bilinear', integer? max_size, boolean antialias=true)")

function M.Resize:transform(image)
  return functional.resize(image, self.size, self.interpolation, self.max_size, self.antialias)
end

M.CenterCrop = Transform:extend 'CenterCrop'
M.CenterCrop._shown = 'size'

function M.CenterCrop:init(size) self.size = { functional._pair_of('CenterCrop', size) } end
declare.methods(M.CenterCrop, 'init(self, sizes size)')

function M.CenterCrop:transform(image) return functional.center_crop(image, self.size) end

M.Pad = Transform:extend 'Pad'
M.Pad._shown = 'padding[] fill[] padding_mode'

function M.Pad:init(padding, fill, padding_mode)
  functional._edges_of('Pad', padding)
  functional._check_padding_mode('Pad', padding_mode)
  self.padding, self.fill, self.padding_mode = padding, fill, padding_mode
end
declare.methods(M.Pad, "init(self, sizes padding, numbers fill=0, string padding_mode='constant')")

function M.Pad:transform(image) return functional.pad(image, self.padding, self.fill, self.padding_mode) end

-- ---- random crops -------------------------------------------------------------------------------

M.RandomCrop = Transform:extend 'RandomCrop'
M.RandomCrop._shown = 'size padding[] pad_if_needed fill[] padding_mode'

function M.RandomCrop:init(size, padding, pad_if_needed, fill, padding_mode)
  self.size = { functional._pair_of('RandomCrop', size) }
  functional._check_padding_mode('RandomCrop', padding_mode)
  self.padding = padding and functional._edges_of('RandomCrop', padding)
  self.pad_if_needed, self.fill, self.padding_mode = pad_if_needed, fill, padding_mode
end
declare.methods(M.RandomCrop, [[
  init(self, sizes size, sizes? padding, boolean pad_if_needed=false, numbers fill=0, string padding_mode='constant')
]])

function M.RandomCrop:make_params(image)
  local _, height, width = functional._size_of('RandomCrop', image)
  local h, w = self.size[1], self.size[2]
  local left, right, top, bottom = table.unpack(self.padding or { 0, 0, 0, 0 })
  local function extra(size, before, after, wanted)
    local missing = self.pad_if_needed and math.max(wanted - size - before - after, 0) or 0
    return before + missing, after + missing
  end
  top, bottom = extra(height, top, bottom, h)
  left, right = extra(width, left, right, w)
  height, width = height + top + bottom, width + left + right
  if height < h or width < w then
    fail('Required crop size (%d, %d) is larger than %sinput image size (%d, %d).', h, w, self.padding and 'padded ' or '', height, width)
  end
  return { padding = { left, top, right, bottom }, needs_pad = left + right + top + bottom > 0, height = h, width = w,
    top = height > h and random_offset(height - h) or 0, left = width > w and random_offset(width - w) or 0 }
end

function M.RandomCrop:transform(image, params)
  if params.needs_pad then image = functional.pad(image, params.padding, self.fill, self.padding_mode) end
  return functional.crop(image, params.top, params.left, params.height, params.width)
end

--- A random part of that size: top, left, height, width, for functional.crop. With it you can cut
--- the same part out of an image and its labels.
function M.RandomCrop.get_params(img, output_size)
  local _, height, width = functional._size_of('RandomCrop.get_params', img)
  local h, w = functional._pair_of('RandomCrop.get_params', output_size)
  if height < h or width < w then
    fail('Required crop size (%d, %d) is larger than input image size (%d, %d)', h, w, height, width)
  end
  if height == h and width == w then return 0, 0, h, w end
  local top = random_offset(height - h)
  return top, random_offset(width - w), h, w
end
M.RandomCrop.get_params = declare.declare('get_params(Tensor img, sizes output_size)', M.RandomCrop.get_params)

M.RandomResizedCrop = Transform:extend 'RandomResizedCrop'
M.RandomResizedCrop._shown = 'size scale ratio interpolation antialias'

function M.RandomResizedCrop:init(size, scale, ratio, interpolation, antialias)
  check_range('RandomResizedCrop', 'scale', scale)
  check_range('RandomResizedCrop', 'ratio', ratio)
  check_positive('RandomResizedCrop', 'scale', scale)
  check_positive('RandomResizedCrop', 'ratio', ratio)
  self.size = { functional._pair_of('RandomResizedCrop', size) }
  self.scale, self.ratio, self.interpolation, self.antialias = scale, ratio, interpolation, antialias
end
declare.methods(M.RandomResizedCrop, [[
  init(self, sizes size, times scale={0.08, 1.0}, times ratio={3 / 4, 4 / 3}, string interpolation='bilinear', boolean antialias=true)
]])

--- A random part: top, left, height, width, for functional.crop. Its area is a fraction from scale
--- of the image, its aspect ratio is from ratio. If ten draws do not fit, it is the largest middle
--- part of an allowed aspect ratio.
function M.RandomResizedCrop.get_params(img, scale, ratio)
  local _, height, width = functional._size_of('RandomResizedCrop', img)
  for _ = 1, 10 do
    local area, aspect = M._random_shape(height * width, scale, ratio)
    local w, h = functional._rounded(math.sqrt(area * aspect)), functional._rounded(math.sqrt(area / aspect))
    if w > 0 and w <= width and h > 0 and h <= height then
      local top = random_offset(height - h)
      return top, random_offset(width - w), h, w
    end
  end
  local w, h = width, height
  if width / height < ratio[1] then h = functional._rounded(w / ratio[1]) elseif width / height > ratio[2] then w = functional._rounded(h * ratio[2]) end
  return (height - h) // 2, (width - w) // 2, h, w
end
M.RandomResizedCrop.get_params = declare.declare('get_params(Tensor img, times scale, times ratio)', M.RandomResizedCrop.get_params)

function M.RandomResizedCrop:make_params(image)
  local top, left, height, width = self.get_params(image, self.scale, self.ratio)
  return { top = top, left = left, height = height, width = width }
end

function M.RandomResizedCrop:transform(image, params)
  return functional.resized_crop(image, params.top, params.left, params.height, params.width, self.size, self.interpolation, self.antialias)
end

-- ---- flips --------------------------------------------------------------------------------------

M.RandomHorizontalFlip = Transform._with_probability 'RandomHorizontalFlip'
function M.RandomHorizontalFlip:init(p) self:_set_probability(p) end
declare.methods(M.RandomHorizontalFlip, 'init(self, number p=0.5)')
function M.RandomHorizontalFlip:transform(image) return functional.horizontal_flip(image) end

M.RandomVerticalFlip = Transform._with_probability 'RandomVerticalFlip'
function M.RandomVerticalFlip:init(p) self:_set_probability(p) end
declare.methods(M.RandomVerticalFlip, 'init(self, number p=0.5)')
function M.RandomVerticalFlip:transform(image) return functional.vertical_flip(image) end

return M
