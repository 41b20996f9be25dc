-- batchnorm.lua - normalization over a batch or an instance per channel: nn.BatchNorm1d, 2d, 3d and
-- nn.InstanceNorm1d, 2d, 3d.
--
-- BatchNorm2d(num_features, eps = 1e-5, momentum = 0.1, {affine = true, track_running_stats = true,
-- bias = true}); momentum = false averages all batches equally. Evaluation uses the running
-- estimates, if there are any.

--[=[ arguments
bias: Whether the layer has a learned shift, besides the scale.
reset_parameters(): Sets the scale to 1, the shift to 0 and the running statistics to the values of a new layer.
BatchNorm1d(): Normalizes each channel of (N, C) or (N, C, L) over the batch.
BatchNorm2d(): Normalizes each channel of images (N, C, H, W) over the batch.
BatchNorm3d(): Normalizes each channel of volumes (N, C, D, H, W) over the batch.
InstanceNorm1d(): Normalizes each channel of each sequence by itself.
InstanceNorm2d(): Normalizes each channel of each image by itself.
InstanceNorm3d(): Normalizes each channel of each volume by itself.
]=]

--[=[ examples
BatchNorm1d
    nn.BatchNorm1d(3)(torch.rand(2, 3, 4)).shape
    --> torch.Size([2, 3, 4])
BatchNorm2d
    nn.BatchNorm2d(3)(torch.rand(2, 3, 4, 4)).shape
    --> torch.Size([2, 3, 4, 4])
BatchNorm3d
    nn.BatchNorm3d(3)(torch.rand(2, 3, 4, 4, 4)).shape
    --> torch.Size([2, 3, 4, 4, 4])
InstanceNorm1d
    nn.InstanceNorm1d(3)(torch.rand(2, 3, 4)).shape
    --> torch.Size([2, 3, 4])
InstanceNorm2d
    nn.InstanceNorm2d(3)(torch.rand(2, 3, 4, 4)).shape
    --> torch.Size([2, 3, 4, 4])
InstanceNorm3d
    nn.InstanceNorm3d(3)(torch.rand(2, 3, 4, 4, 4)).shape
    --> torch.Size([2, 3, 4, 4, 4])
]=]

local torch = require 'torch'
local checked = require 'torch.support.argument_checks'
local F = require 'torch.nn.functional'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local init = require 'torch.nn.init'
local python = require 'torch.nn.python'

local M = {}

local Norm = Module:extend('_NormBase')

function Norm:setup(options)
  self.num_features, self.eps, self.momentum = options.num_features, options.eps, options.momentum
  self.affine, self.track_running_stats = options.affine, options.track_running_stats
end

function Norm:make(options)
  local factory = { device = options.device, dtype = options.dtype }
  if self.affine then
    self.weight = Parameter(torch.empty(self.num_features, factory))
  else
    self:register_parameter('weight', nil)
  end
  if self.affine and options.bias then
    self.bias = Parameter(torch.empty(self.num_features, factory))
  else
    self:register_parameter('bias', nil)
  end
  if self.track_running_stats then
    self:register_buffer('running_mean', torch.zeros(self.num_features, factory))
    self:register_buffer('running_var', torch.ones(self.num_features, factory))
    self:register_buffer('num_batches_tracked', torch.tensor(0, { dtype = torch.long, device = options.device }))
  else
    for _, name in ipairs { 'running_mean', 'running_var', 'num_batches_tracked' } do self:register_buffer(name, nil) end
  end
  self:reset_parameters()
end

function Norm:reset_running_stats()
  if not self.track_running_stats then return end
  self.running_mean:zero_()
  self.running_var:fill_(1)
  self.num_batches_tracked:zero_()
end

function Norm:reset_parameters()
  self:reset_running_stats()
  if self.weight ~= nil then init.ones_(self.weight) end
  if self.bias ~= nil then init.zeros_(self.bias) end
end

function Norm:extra_repr()
  return python.format('%s, eps=%s, momentum=%s, affine=%s, bias=%s, track_running_stats=%s', self.num_features,
    self.eps, self.momentum or nil, self.affine, self.bias ~= nil, self.track_running_stats)
end

-- Files older than num_batches_tracked lack it.
function Norm:_before_load(dict, prefix)
  local key = prefix .. 'num_batches_tracked'
  if self.track_running_stats and dict[key] == nil and dict[prefix .. 'running_mean'] ~= nil then
    dict[key] = self.num_batches_tracked
  end
end

local function check_dims(input, allowed)
  for _, ndim in ipairs(allowed) do
    if input.ndim == ndim then return end
  end
  local names = {}
  for i, ndim in ipairs(allowed) do names[i] = ndim .. 'D' end
  fail('expected %s input (got %dD input)', table.concat(names, ' or '), input.ndim)
end

-- ---- batches ------------------------------------------------------------------------------------

local BatchNorm = Norm:extend('_BatchNorm')
M._BatchNorm = BatchNorm

function BatchNorm:forward(input)
  checked.input(self, input)
  check_dims(input, self.dims)
  local mean, var = self.running_mean, self.running_var
  if self.training then
    local momentum = self.momentum or 0.0
    if mean ~= nil then
      self.num_batches_tracked:add_(1)
      if not self.momentum then momentum = 1 / self.num_batches_tracked:item() end
    end
    return F.batch_norm(input, mean, var, self.weight, self.bias, true, momentum, self.eps)
  end
  return F.batch_norm(input, mean, var, self.weight, self.bias, mean == nil, self.momentum or 0.0, self.eps)
end

local batch_dims = { { 2, 3 }, { 4 }, { 5 } }
for n = 1, 3 do
  local name = ('BatchNorm%dd'):format(n)
  local read = declare.reader(name .. [[
    (integer num_features, number eps=1e-5, number|none momentum=0.1, boolean affine=true,
      boolean track_running_stats=true, device? device, dtype? dtype, *, boolean bias=true)]])
  local class = BatchNorm:extend(name)
  class.dims = batch_dims[n]
  function class:init(...)
    local options = read(...)
    self:setup(options)
    self:make(options)
  end
  M[name] = class
end

-- ---- instances ----------------------------------------------------------------------------------

for n = 1, 3 do
  local name = ('InstanceNorm%dd'):format(n)
  local read = declare.reader(name .. [[
    (integer num_features, number eps=1e-5, number|none momentum=0.1, boolean affine=false,
      boolean track_running_stats=false, device? device, dtype? dtype, *, boolean bias=true)]])
  local class = Norm:extend(name)
  function class:init(...)
    local options = read(...)
    self:setup(options)
    self:make(options)
  end
  function class:forward(input)
    check_dims(input, { n + 1, n + 2 })
    local alone = input.ndim == n + 1
    local channels = input:size(alone and 1 or 2)
    if channels ~= self.num_features and self.affine then
      fail("expected input's size at dim=%d to match num_features (%d), but got: %d.", alone and 1 or 2, self.num_features,
        channels)
    end
    if alone then input = input:unsqueeze(1) end
    local output = F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
      self.training or not self.track_running_stats, self.momentum or 0.0, self.eps)
    return alone and output:squeeze(1) or output
  end
  M[name] = class
end

return M
