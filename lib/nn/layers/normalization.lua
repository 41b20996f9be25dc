-- normalization.lua - normalization of each sample: nn.LayerNorm, RMSNorm, GroupNorm,
-- LocalResponseNorm.

--[=[ arguments
num_channels: Number of channels of the input.
size: Number of neighbouring channels.
alpha: Factor of the mean square.
beta: Exponent of the denominator.
k: Number that is added to the mean square.
bias: Whether the layer has a learned shift, besides the scale.
reset_parameters(): Sets the scale to 1 and the shift to 0.
]=]

--[=[ examples
LayerNorm
    nn.LayerNorm(3)(torch.tensor{ {1.0, 2.0, 3.0} }):detach()
    --> tensor([[-1.2247,  0.0000,  1.2247]])
RMSNorm
    nn.RMSNorm(2)(torch.tensor{ {3.0, 4.0} }):detach()
    --> tensor([[0.8485, 1.1314]])
GroupNorm
    nn.GroupNorm(2, 4)(torch.rand(2, 4, 3)).shape
    --> torch.Size([2, 4, 3])
LocalResponseNorm
    nn.LocalResponseNorm(2)(torch.ones(1, 3, 4, 4)).shape
    --> torch.Size([1, 3, 4, 4])
CrossMapLRN2d
    nn.CrossMapLRN2d(2)(torch.ones(1, 3, 4, 4)).shape
    --> torch.Size([1, 3, 4, 4])
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

local function list_of(shape) return type(shape) == 'number' and { shape } or table.move(shape, 1, #shape, 1, {}) end

local function parameter_or_none(self, name, wanted, shape, options)
  if wanted then
    self[name] = Parameter(torch.empty(shape, { device = options.device, dtype = options.dtype }))
  else
    self:register_parameter(name, nil)
  end
end

local function reset(self)
  if self.weight ~= nil then init.ones_(self.weight) end
  if self.bias ~= nil then init.zeros_(self.bias) end
end

-- nn.LayerNorm(normalized_shape, eps = 1e-5, {elementwise_affine = true, bias = true}): over the
-- last dimensions.
M.LayerNorm = Module:extend('LayerNorm')
local read_layer = declare.reader [[
  LayerNorm(sizes normalized_shape, number eps=1e-5, boolean elementwise_affine=true, boolean bias=true,
    device? device, dtype? dtype)]]

function M.LayerNorm:init(...)
  local options = read_layer(...)
  self.normalized_shape, self.eps = list_of(options.normalized_shape), options.eps
  self.elementwise_affine = options.elementwise_affine
  parameter_or_none(self, 'weight', options.elementwise_affine, self.normalized_shape, options)
  parameter_or_none(self, 'bias', options.elementwise_affine and options.bias, self.normalized_shape, options)
  self:reset_parameters()
end

M.LayerNorm.reset_parameters = reset

function M.LayerNorm:forward(input)
  return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)
end

function M.LayerNorm:extra_repr()
  return python.format('%s, eps=%s, elementwise_affine=%s, bias=%s', self.normalized_shape, self.eps,
    self.elementwise_affine, self.bias ~= nil)
end

-- nn.RMSNorm(normalized_shape, eps, {elementwise_affine = true}): x / sqrt(mean(x^2) + eps); eps is
-- the dtype's by default.
M.RMSNorm = Module:extend('RMSNorm')
local read_rms = declare.reader [[
  RMSNorm(sizes normalized_shape, number? eps, boolean elementwise_affine=true, device? device, dtype? dtype)]]

function M.RMSNorm:init(...)
  local options = read_rms(...)
  self.normalized_shape, self.eps = list_of(options.normalized_shape), options.eps
  self.elementwise_affine = options.elementwise_affine
  parameter_or_none(self, 'weight', options.elementwise_affine, self.normalized_shape, options)
  self:reset_parameters()
end

M.RMSNorm.reset_parameters = reset

function M.RMSNorm:forward(input) return F.rms_norm(input, self.normalized_shape, self.weight, self.eps) end

function M.RMSNorm:extra_repr()
  return python.format('%s, eps=%s, elementwise_affine=%s', self.normalized_shape, self.eps, self.elementwise_affine)
end

-- nn.GroupNorm(num_groups, num_channels, eps = 1e-5, {affine = true, bias = true}): over groups of
-- channels.
M.GroupNorm = Module:extend('GroupNorm')
local read_group = declare.reader [[
  GroupNorm(integer num_groups, integer num_channels, number eps=1e-5, boolean affine=true, device? device,
    dtype? dtype, *, boolean bias=true)]]

function M.GroupNorm:init(...)
  local options = read_group(...)
  if options.num_channels % options.num_groups ~= 0 then
    fail('num_channels (%d) must be divisible by num_groups (%d)', options.num_channels, options.num_groups)
  end
  self.num_groups, self.num_channels = options.num_groups, options.num_channels
  self.eps, self.affine = options.eps, options.affine
  parameter_or_none(self, 'weight', options.affine, { options.num_channels }, options)
  parameter_or_none(self, 'bias', options.affine and options.bias, { options.num_channels }, options)
  self:reset_parameters()
end

M.GroupNorm.reset_parameters = reset

function M.GroupNorm:forward(input) return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps) end

function M.GroupNorm:extra_repr()
  return python.format('%s, %s, eps=%s, affine=%s, bias=%s', self.num_groups, self.num_channels, self.eps, self.affine,
    self.bias ~= nil)
end

-- nn.LocalResponseNorm(size, alpha = 1e-4, beta = 0.75, k = 1): over neighbouring channels.
M.LocalResponseNorm = Module:extend('LocalResponseNorm')
local read_local = declare.reader 'LocalResponseNorm(integer size, number alpha=0.0001, number beta=0.75, number k=1.0)'

function M.LocalResponseNorm:init(...)
  local options = read_local(...)
  self.size, self.alpha, self.beta, self.k = options.size, options.alpha, options.beta, options.k
end

function M.LocalResponseNorm:forward(input)
  return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)
end

function M.LocalResponseNorm:extra_repr()
  return python.format('%s, alpha=%s, beta=%s, k=%s', self.size, self.alpha, self.beta, self.k)
end

-- nn.CrossMapLRN2d(size, alpha = 1e-4, beta = 0.75, k = 1): the same of [batch, channels, height,
-- width], as in PyTorch: windows reach (size + 1) // 2 - 1 channels to both sides, and the first
-- channel stays in all of them.
M.CrossMapLRN2d = Module:extend('CrossMapLRN2d')
local read_cross = declare.reader 'CrossMapLRN2d(integer size, number alpha=0.0001, number beta=0.75, number k=1)'

function M.CrossMapLRN2d:init(...)
  local options = read_cross(...)
  self.size, self.alpha, self.beta, self.k = options.size, options.alpha, options.beta, options.k
end

function M.CrossMapLRN2d:forward(input)
  if input.ndim ~= 4 then fail('CrossMapLRN2d: Expected input to be 4D, got %dD instead.', input.ndim) end
  local sums, reach = input:square():cumsum(2), (self.size - 1) // 2 + 1
  local channels = input:size(2)
  local at = torch.arange(1, channels + 1, { device = input.device })
  local upper = sums:index_select(2, (at + (reach - 1)):clamp { max = channels })
  local lower = sums:index_select(2, (at - reach):clamp { min = 1 }) - sums:narrow(2, 1, 1)
  return input * ((upper - lower) * (self.alpha / self.size) + self.k):pow(-self.beta)
end

M.CrossMapLRN2d.extra_repr = M.LocalResponseNorm.extra_repr

return M
