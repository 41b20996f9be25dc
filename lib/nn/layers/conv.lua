-- conv.lua - convolutions: nn.Conv1d, Conv2d, Conv3d and ConvTranspose1d, 2d, 3d.
--
-- Conv2d(in_channels, out_channels, kernel_size, stride = 1, padding = 0, {dilation = 1, groups =
-- 1, bias = true, padding_mode = 'zeros'}); sizes are a number or one per dimension, padding also
-- 'same' or 'valid'. weight is (out, in / groups, sizes...), transposed (in, out / groups,
-- sizes...); both start uniform in [-k, k], k = 1 / sqrt(fan in).

--[=[ arguments
reset_parameters(): Draws weights and bias anew.
Conv1d(): Convolution of sequences (N, C, L) with learned kernels.
Conv2d(): Convolution of images (N, C, H, W) with learned kernels.
Conv3d(): Convolution of volumes (N, C, D, H, W) with learned kernels.
ConvTranspose1d(): Transposed convolution of sequences, which makes them longer.
ConvTranspose2d(): Transposed convolution of images, which makes them larger.
ConvTranspose3d(): Transposed convolution of volumes, which makes them larger.
]=]

--[=[ examples
Conv1d
    nn.Conv1d(3, 5, 3, {padding = 1})(torch.zeros(2, 3, 8)).shape
    --> torch.Size([2, 5, 8])
ConvTranspose1d
    nn.ConvTranspose1d(3, 5, 2, {stride = 2})(torch.zeros(2, 3, 8)).shape
    --> torch.Size([2, 5, 16])
Conv2d
    nn.Conv2d(3, 5, 3, {padding = 1})(torch.zeros(2, 3, 8, 8)).shape
    --> torch.Size([2, 5, 8, 8])
ConvTranspose2d
    nn.ConvTranspose2d(3, 5, 2, {stride = 2})(torch.zeros(2, 3, 8, 8)).shape
    --> torch.Size([2, 5, 16, 16])
Conv3d
    nn.Conv3d(3, 5, 3, {padding = 1})(torch.zeros(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 5, 8, 8, 8])
ConvTranspose3d
    nn.ConvTranspose3d(3, 5, 2, {stride = 2})(torch.zeros(2, 3, 8, 8, 8)).shape
    --> torch.Size([2, 5, 16, 16, 16])
]=]

local torch = require 'torch'
local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local init = require 'torch.nn.init'
local python = require 'torch.nn.python'

local M = {}

-- Expands a number to n numbers; a table must have n of them.
local function sizes(value, n, what)
  if type(value) == 'number' then
    local list = {}
    for i = 1, n do list[i] = value end
    return list
  end
  if type(value) ~= 'table' or #value ~= n then
    fail('%s must be an int or a tuple of %d ints, got %s', what, n, python.repr(value))
  end
  return table.move(value, 1, n, 1, {})
end

local function all(list, value)
  for _, item in ipairs(list) do
    if item ~= value then return false end
  end
  return true
end

local function check(options)
  if options.groups <= 0 then fail 'groups must be a positive integer' end
  if options.in_channels % options.groups ~= 0 then fail 'in_channels must be divisible by groups' end
  if options.out_channels % options.groups ~= 0 then fail 'out_channels must be divisible by groups' end
  local modes = { zeros = true, reflect = true, replicate = true, circular = true }
  if not modes[options.padding_mode] then
    fail("padding_mode must be one of {'circular', 'reflect', 'replicate', 'zeros'}, but got padding_mode='%s'",
      tostring(options.padding_mode))
  end
  if type(options.padding) == 'string' and options.padding ~= 'same' and options.padding ~= 'valid' then
    fail("Invalid padding string '%s', should be one of {'same', 'valid'}", options.padding)
  end
end

-- ---- base class ---------------------------------------------------------------------------------

local Convolution = Module:extend('_ConvNd')
Convolution.transposed = false

function Convolution:setup(n, options)
  check(options)
  self.in_channels, self.out_channels, self.groups = options.in_channels, options.out_channels, options.groups
  self.kernel_size = sizes(options.kernel_size, n, 'kernel_size')
  self.stride, self.dilation = sizes(options.stride, n, 'stride'), sizes(options.dilation, n, 'dilation')
  self.padding = type(options.padding) == 'string' and options.padding or sizes(options.padding, n, 'padding')
  if self.padding == 'same' and not all(self.stride, 1) then
    fail "padding='same' is not supported for strided convolutions"
  end
  self.padding_mode = options.padding_mode
  self.output_padding = sizes(options.output_padding or 0, n, 'output_padding')
end

function Convolution:weight_shape()
  local first, second = self.out_channels, self.in_channels // self.groups
  if self.transposed then first, second = self.in_channels, self.out_channels // self.groups end
  return { first, second, table.unpack(self.kernel_size) }
end

function Convolution:make(options)
  local factory = { device = options.device, dtype = options.dtype }
  self.weight = Parameter(torch.empty(self:weight_shape(), factory))
  if options.bias then
    self.bias = Parameter(torch.empty(self.out_channels, factory))
  else
    self:register_parameter('bias', nil)
  end
  self:reset_parameters()
end

function Convolution:reset_parameters()
  if self.weight:numel() == 0 then return end
  init.kaiming_uniform_(self.weight, { a = math.sqrt(5) })
  if self.bias ~= nil then
    local bound = 1 / math.sqrt(init._calculate_fan_in_and_fan_out(self.weight))
    init.uniform_(self.bias, -bound, bound)
  end
end

function Convolution:extra_repr()
  local text = python.format('%s, %s, kernel_size=%s, stride=%s', self.in_channels, self.out_channels, self.kernel_size,
    self.stride)
  local function add(name, value)
    text = text .. ', ' .. name .. '=' .. (type(value) == 'string' and value or python.repr(value))
  end
  if type(self.padding) == 'string' or not all(self.padding, 0) then add('padding', self.padding) end
  if not all(self.dilation, 1) then add('dilation', self.dilation) end
  if not all(self.output_padding, 0) then add('output_padding', self.output_padding) end
  if self.groups ~= 1 then add('groups', self.groups) end
  if self.bias == nil then add('bias', false) end
  if self.padding_mode ~= 'zeros' then add('padding_mode', self.padding_mode) end
  return text
end

-- The amounts for padding modes other than zeros: before and after, the last dimension first.
local function pads(self)
  local list = {}
  for i = #self.kernel_size, 1, -1 do
    local before, after = 0, 0
    if self.padding == 'same' then
      local total = self.dilation[i] * (self.kernel_size[i] - 1)
      before, after = total // 2, total - total // 2
    elseif self.padding ~= 'valid' then
      before, after = self.padding[i], self.padding[i]
    end
    list[#list + 1] = before
    list[#list + 1] = after
  end
  return list
end

for n = 1, 3 do
  local name, op = ('Conv%dd'):format(n), ('conv%dd'):format(n)
  local read = declare.reader(name .. [[
    (integer in_channels, integer out_channels, sizes kernel_size, sizes stride=1, sizes|string padding=0,
      sizes dilation=1, integer groups=1, boolean bias=true, string padding_mode='zeros', device? device,
      dtype? dtype)]])
  local class = Convolution:extend(name)

  function class:init(...)
    local options = read(...)
    self:setup(n, options)
    self:make(options)
  end

  function class:forward(input)
    local padding = self.padding
    if self.padding_mode ~= 'zeros' then
      input, padding = F.pad(input, pads(self), self.padding_mode), 0
    end
    return F[op](input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)
  end

  M[name] = class
end

-- ---- transposed ---------------------------------------------------------------------------------

-- The padding on one side that gives the requested output size, because several input sizes have
-- the same output size.
local function output_padding(self, input, output_size, n)
  if output_size == nil then return self.output_padding end
  local first = input.ndim - n
  if #output_size == first + n then output_size = table.move(output_size, first + 1, first + n, 1, {}) end
  if #output_size ~= n then
    fail('ConvTranspose%dd: for %dD input, output_size must have %d or %d elements (got %d)', n, input.ndim, n, first + n,
      #output_size)
  end
  local result = {}
  for i = 1, n do
    local least = (input:size(first + i) - 1) * self.stride[i] - 2 * self.padding[i]
      + self.dilation[i] * (self.kernel_size[i] - 1) + 1
    result[i] = output_size[i] - least
    if result[i] < 0 or result[i] >= self.stride[i] then
      fail('requested an output size of %s, but valid sizes range from %d to %d in dimension %d', python.repr(output_size),
        least, least + self.stride[i] - 1, i)
    end
  end
  return result
end

for n = 1, 3 do
  local name, op = ('ConvTranspose%dd'):format(n), ('conv_transpose%dd'):format(n)
  local read = declare.reader(name .. [[
    (integer in_channels, integer out_channels, sizes kernel_size, sizes stride=1, sizes|string padding=0,
      sizes output_padding=0, integer groups=1, boolean bias=true, sizes dilation=1,
      string padding_mode='zeros', device? device, dtype? dtype)]])
  local class = Convolution:extend(name)
  class.transposed = true

  function class:init(...)
    local options = read(...)
    if options.padding_mode ~= 'zeros' then fail('Only "zeros" padding mode is supported for %s', name) end
    self:setup(n, options)
    self:make(options)
  end

  -- output_size selects one of the possible sizes for a stride above 1.
  function class:forward(input, output_size)
    if type(output_size) == 'table' and rawget(output_size, 'output_size') then output_size = output_size.output_size end
    return F[op](input, self.weight, self.bias, self.stride, self.padding, output_padding(self, input, output_size, n),
      self.groups, self.dilation)
  end

  M[name] = class
end

return M
