-- image.lua - layers that change the size of images or rearrange them: nn.Upsample,
-- UpsamplingNearest2d, UpsamplingBilinear2d, PixelShuffle, PixelUnshuffle, ChannelShuffle, Unfold,
-- Fold.

--[=[ arguments
size: Size of the output: a number, or one for each spatial dimension.
mode: Interpolation: `'nearest'`, `'nearest-exact'`, `'linear'`, `'bilinear'`, `'bicubic'`, `'trilinear'` or `'area'`.
Upsample(): Resizes sequences, images or volumes.
UpsamplingNearest2d(): Enlarges images by repeating the nearest pixel.
UpsamplingBilinear2d(): Enlarges images by bilinear interpolation.
PixelShuffle(): Moves channels to pixels: (C r^2, H, W) to (C, H r, W r).
PixelUnshuffle(): Moves pixels to channels: (C, H r, W r) to (C r^2, H, W).
ChannelShuffle(): Interleaves the channels of several groups.
]=]

--[=[ examples
PixelShuffle
    nn.PixelShuffle(2)(torch.zeros(1, 8, 2, 2)).shape
    --> torch.Size([1, 2, 4, 4])
PixelUnshuffle
    nn.PixelUnshuffle(2)(torch.zeros(1, 2, 4, 4)).shape
    --> torch.Size([1, 8, 2, 2])
ChannelShuffle
    nn.ChannelShuffle(2)(torch.tensor{1.0, 2.0, 3.0, 4.0}:reshape(1, 4, 1, 1)):flatten()
    --> tensor([1., 3., 2., 4.])
Upsample
    nn.Upsample{scale_factor = 2}(torch.tensor{ { {1.0, 2.0} } })
    --> tensor([[[1., 1., 2., 2.]]])
UpsamplingNearest2d
    nn.UpsamplingNearest2d{scale_factor = 2}(torch.zeros(1, 3, 4, 4)).shape
    --> torch.Size([1, 3, 8, 8])
UpsamplingBilinear2d
    nn.UpsamplingBilinear2d{scale_factor = 2}(torch.zeros(1, 3, 4, 4)).shape
    --> torch.Size([1, 3, 8, 8])
Fold
    nn.Fold(3, 2)(torch.ones(1, 4, 4))
    --> tensor([[[[1., 2., 1.],
    -->           [2., 4., 2.],
    -->           [1., 2., 1.]]]])
Unfold
    nn.Unfold(2)(torch.zeros(1, 3, 4, 4)).shape
    --> torch.Size([1, 12, 9])
]=]

local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local declare = require 'torch.support.arguments'
local python = require 'torch.nn.python'

local M = {}

-- ---- interpolation ------------------------------------------------------------------------------

local Upsample = Module:extend('Upsample')
M.Upsample = Upsample
local read_upsample = declare.reader [[
  Upsample(sizes? size, numbers? scale_factor, string mode='nearest', boolean? align_corners,
    boolean? recompute_scale_factor)]]

local function as_floats(factor)
  if type(factor) ~= 'table' then return factor and factor + 0.0 end
  local list = {}
  for i, value in ipairs(factor) do list[i] = value + 0.0 end
  return list
end

local function setup(self, options)
  self.size, self.scale_factor, self.mode = options.size, as_floats(options.scale_factor), options.mode
  self.align_corners, self.recompute_scale_factor = options.align_corners, options.recompute_scale_factor
end

function Upsample:init(...) setup(self, read_upsample(...)) end

function Upsample:forward(input)
  return F.interpolate(input, { size = self.size, scale_factor = self.scale_factor, mode = self.mode,
    align_corners = self.align_corners, recompute_scale_factor = self.recompute_scale_factor })
end

function Upsample:extra_repr()
  if self.scale_factor ~= nil then return python.format('scale_factor=%s, mode=%s', self.scale_factor, self.mode) end
  return python.format('size=%s, mode=%s', self.size, self.mode)
end

for name, how in pairs { UpsamplingNearest2d = { mode = 'nearest' },
  UpsamplingBilinear2d = { mode = 'bilinear', align_corners = true } } do
  local read = declare.reader(name .. '(sizes? size, numbers? scale_factor)')
  local class = Upsample:extend(name)
  function class:init(...)
    local options = read(...)
    options.mode, options.align_corners = how.mode, how.align_corners
    setup(self, options)
  end
  M[name] = class
end

-- ---- rearranging --------------------------------------------------------------------------------

local function define(name, op, setting)
  local read = declare.reader(('%s(integer %s)'):format(name, setting))
  local class = Module:extend(name)
  function class:init(...) self[setting] = read(...)[setting] end
  function class:forward(input) return F[op](input, self[setting]) end
  function class:extra_repr() return setting .. '=' .. self[setting] end
  M[name] = class
end

define('PixelShuffle', 'pixel_shuffle', 'upscale_factor')
define('PixelUnshuffle', 'pixel_unshuffle', 'downscale_factor')
define('ChannelShuffle', 'channel_shuffle', 'groups')

-- nn.Unfold(kernel_size, dilation = 1, padding = 0, stride = 1): all windows as columns (im2col).
M.Unfold = Module:extend('Unfold')
local read_unfold = declare.reader 'Unfold(sizes kernel_size, sizes dilation=1, sizes padding=0, sizes stride=1)'

local function set_windows(self, options)
  self.kernel_size, self.dilation = options.kernel_size, options.dilation
  self.padding, self.stride = options.padding, options.stride
end

local function windows_repr(self)
  return python.format('kernel_size=%s, dilation=%s, padding=%s, stride=%s', self.kernel_size, self.dilation, self.padding,
    self.stride)
end

function M.Unfold:init(...) set_windows(self, read_unfold(...)) end
function M.Unfold:forward(input)
  return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)
end
M.Unfold.extra_repr = windows_repr

-- nn.Fold(output_size, kernel_size, dilation = 1, padding = 0, stride = 1): columns added back to
-- an image.
M.Fold = Module:extend('Fold')
local read_fold = declare.reader [[
  Fold(integer|table output_size, sizes kernel_size, sizes dilation=1, sizes padding=0, sizes stride=1)]]

function M.Fold:init(...)
  local options = read_fold(...)
  self.output_size = options.output_size
  set_windows(self, options)
end
function M.Fold:forward(input)
  return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
end
function M.Fold:extra_repr() return 'output_size=' .. python.repr(self.output_size) .. ', ' .. windows_repr(self) end

return M
