-- conversion.lua - transforms that change values: ToDtype, ToImage, ToTensor, Normalize,
-- RandomErasing.

--[=[ arguments
dtype: Dtype of the result.
ToDtype.scale: Whether values are scaled from the range of one dtype to that of the other.
mean: List or tensor with the mean of each channel.
std: List or tensor with the standard deviation of each channel.
inplace: Whether the image itself is changed.
p: Probability that the image is changed.
RandomErasing.scale: Smallest and largest area of the rectangle, as fractions of the area of the image.
ratio: Smallest and largest height of the rectangle divided by its width.
value: Value of the rectangle, a list with a value for each channel, or `'random'` for normal noise.
ToDtype(): Converts the dtype, and scales the values if you ask for it.
ToImage(): Adds the dimension of channels to a matrix; other images stay as they are.
ToTensor(): Converts integers to floats from 0 to 1; floats stay as they are.
Normalize(): Subtracts the mean of each channel and divides by its standard deviation.
RandomErasing(): Replaces a random rectangle by a value, with probability p.
]=]

--[=[ examples
ToDtype
    torch.vision.transforms.ToDtype(torch.float32, {scale = true})(torch.tensor({{{0, 255}}}, {dtype = torch.uint8}))
    --> tensor([[[0., 1.]]])
ToImage
    torch.vision.transforms.ToImage()(torch.zeros(4, 5)).shape
    --> torch.Size([1, 4, 5])
ToTensor
    torch.vision.transforms.ToTensor()(torch.tensor({{{0, 255}}}, {dtype = torch.uint8}))
    --> tensor([[[0., 1.]]])
Normalize
    torch.vision.transforms.Normalize({0.5}, {0.25})(torch.tensor{{{0.25, 1.0}}})
    --> tensor([[[-1.,  2.]]])
RandomErasing
    torch.vision.transforms.RandomErasing {p = 1.0, value = 'random'} (torch.rand(3, 8, 8)).shape
    --> torch.Size([3, 8, 8])
]=]

local torch = require 'torch'
local Transform = require 'torch.vision.transforms.transform'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local functional = require 'torch.vision.transforms.functional'
local geometry = require 'torch.vision.transforms.geometry'

local M = {}

M.ToDtype = Transform:extend 'ToDtype'
M.ToDtype._shown = 'scale'
function M.ToDtype:init(dtype, scale) self.dtype, self.scale = dtype, scale end
declare.methods(M.ToDtype, 'init(self, dtype dtype, boolean scale=false)')
function M.ToDtype:transform(image) return functional.to_dtype(image, self.dtype, self.scale) end

M.ToImage = Transform:extend 'ToImage'
function M.ToImage:init() end
declare.methods(M.ToImage, 'init(self)')
function M.ToImage:transform(image) return image.ndim == 2 and image:unsqueeze(1) or image end

M.ToTensor = Transform:extend 'ToTensor'
function M.ToTensor:init() end
declare.methods(M.ToTensor, 'init(self)')
function M.ToTensor:transform(image)
  if image:is_floating_point() then return image end
  return functional.to_dtype(image, torch.get_default_dtype(), true)
end

M.Normalize = Transform:extend 'Normalize'
M.Normalize._shown = 'mean[] std[] inplace'
function M.Normalize:init(mean, std, inplace)
  self.mean, self.std = torch.is_tensor(mean) and mean:flatten():tolist() or mean, torch.is_tensor(std) and std:flatten():tolist() or std
  self.inplace = inplace
end
declare.methods(M.Normalize, 'init(self, Tensor|times mean, Tensor|times std, boolean inplace=false)')
function M.Normalize:transform(image) return functional.normalize(image, self.mean, self.std, self.inplace) end

-- ---- RandomErasing ------------------------------------------------------------------------------

M.RandomErasing = Transform._with_probability 'RandomErasing'
M.RandomErasing._shown = 'p scale ratio value[] inplace'

function M.RandomErasing:init(p, scale, ratio, value, inplace)
  self:_set_probability(p)
  geometry._check_range('RandomErasing', 'scale', scale)
  geometry._check_range('RandomErasing', 'ratio', ratio)
  geometry._check_positive('RandomErasing', 'ratio', ratio)
  if scale[1] < 0 or scale[2] > 1 then fail('RandomErasing(): scale must be from 0 to 1, got {%s, %s}', tostring(scale[1]), tostring(scale[2])) end
  if type(value) == 'string' and value ~= 'random' then
    fail("RandomErasing(): value must be a number, a list of numbers or 'random', got '%s'", value)
  end
  self.scale, self.ratio, self.inplace = scale, ratio, inplace
  if value ~= 'random' then
    self.value = {}
    for k, v in ipairs(type(value) == 'number' and { value } or value) do self.value[k] = v + 0.0 end
  end
end
declare.methods(M.RandomErasing, [[
  init(self, number p=0.5, times scale={0.02, 0.33}, times ratio={0.3, 3.3}, numbers|string value=0, boolean inplace=false)
]])

function M.RandomErasing:make_params(image)
  local channels, height, width = functional._size_of('RandomErasing', image)
  local value = self.value
  if value and #value ~= 1 and #value ~= channels then
    fail('RandomErasing(): value has %d numbers for %d channels', #value, channels)
  end
  for _ = 1, 10 do
    local area, aspect = geometry._random_shape(height * width, self.scale, self.ratio)
    local h, w = functional._rounded(math.sqrt(area * aspect)), functional._rounded(math.sqrt(area / aspect))
    if h < height and w < width then
      local v = value and torch.tensor(value, { dtype = torch.float32 }):reshape(-1, 1, 1) or torch.empty(channels, h, w):normal_()
      local i = torch.randint(0, height - h + 1, { 1 }):item()
      return { i = i, j = torch.randint(0, width - w + 1, { 1 }):item(), h = h, w = w, v = v:to(image.device) }
    end
  end
  return {}
end

function M.RandomErasing:transform(image, params)
  if not params.v then return image end
  return functional.erase(image, params.i, params.j, params.h, params.w, params.v, self.inplace)
end

return M
