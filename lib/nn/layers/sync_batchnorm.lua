-- sync_batchnorm.lua - nn.SyncBatchNorm(num_features, eps = 1e-5, momentum = 0.1, affine = true,
-- track_running_stats = true, process_group = all, {bias = true}): BatchNorm of any number of
-- dimensions over the batches of all ranks in training.
--
-- Each rank's count, mean and variance per channel are gathered and combined in rank order, so all
-- ranks normalize by the same bits; ranks may have different numbers of samples, including none.
-- Backward sums two numbers per channel over the ranks.

--[=[ arguments
module: Module with batch normalizations to replace.
]=]

--[=[ examples
SyncBatchNorm
    nn.SyncBatchNorm(3):eval()(torch.zeros(2, 3, 4)).shape
    --> torch.Size([2, 3, 4])
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local checked = require 'torch.support.argument_checks'
local fail = require 'torch.support.fail'
local BatchNorm = require('torch.nn.layers.batchnorm')._BatchNorm

local SyncBatchNorm = BatchNorm:extend('SyncBatchNorm')

local read = declare.reader [[
  SyncBatchNorm(integer num_features, number eps=1e-5, number|none momentum=0.1, boolean affine=true,
    boolean track_running_stats=true, Ranks? process_group, device? device, dtype? dtype, *,
    boolean bias=true)]]

function SyncBatchNorm:init(...)
  local options = read(...)
  self:setup(options)
  self:make(options)
  self.process_group = options.process_group or nil
end

-- ---- computation --------------------------------------------------------------------------------

-- All dimensions except the channels, and the shape that broadcasts a value per channel.
local function around(x)
  local dims, shape = {}, {}
  for d = 1, x.ndim do
    if d ~= 2 then dims[#dims + 1] = d end
    shape[d] = d == 2 and x:size(2) or 1
  end
  return dims, function(per_channel) return per_channel:view(shape) end
end

-- Half types are computed in float.
local function wide(x) return x.dtype == torch.float64 and x or x:float() end

-- Count, means and variances per channel over the batches of all ranks, and 1 / count for each use.
local function statistics(x, group)
  local dist, dims, channels = torch.distributed, (around(x)), x:size(2)
  local mine = torch.zeros(1 + 2 * channels, { dtype = x.dtype, device = x.device })
  local n = x:numel() // math.max(1, channels)
  if n > 0 then
    mine[1] = n
    mine:narrow(1, 2, channels):copy_(x:mean(dims))
    mine:narrow(1, 2 + channels, channels):copy_(x:var { dim = dims, correction = 0 })
  end
  local all = torch.zeros(dist.get_world_size(group), #mine, { dtype = x.dtype, device = x.device })
  dist.all_gather_into_tensor(all, mine, group)
  local counts, means, variances = all:narrow(2, 1, 1), all:narrow(2, 2, channels), all:narrow(2, 2 + channels, channels)
  local total = counts:sum()
  local mean = (means * counts):sum(1) / total
  local variance = ((variances + (means - mean):pow(2)) * counts):sum(1) / total
  return total, mean, variance
end

local SyncNorm = torch.autograd.Function:extend 'SyncBatchNorm'

function SyncNorm.forward(ctx, input, weight, bias, total, mean, rstd, group)
  local x = wide(input)
  local _, per = around(x)
  ctx.group = group
  ctx:save_for_backward(input, weight, total, mean, rstd)
  local y = (x - per(mean)) * per(rstd)
  if weight ~= nil then y = y * per(wide(weight)) end
  if bias ~= nil then y = y + per(wide(bias)) end
  return y:to(input.dtype)
end

function SyncNorm.backward(ctx, grad_output)
  local input, weight, total, mean, rstd = table.unpack(ctx.saved_tensors, 1, 5)
  local dist, grad = torch.distributed, wide(grad_output)
  local dims, per = around(input)
  local channels, needs = input:size(2), ctx.needs_input_grad
  local normal = (wide(input) - per(mean)) * per(rstd)
  local sums = torch.cat { grad:sum(dims), (grad * normal):sum(dims) }
  local grad_bias, grad_weight = sums:narrow(1, 1, channels):clone(), sums:narrow(1, 1 + channels, channels):clone()
  local grad_input
  if needs[1] then
    dist.all_reduce(sums, { group = ctx.group })
    sums = sums / total
    grad_input = (grad - per(sums:narrow(1, 1, channels)) - normal * per(sums:narrow(1, 1 + channels, channels))) * per(rstd)
    if weight ~= nil then grad_input = grad_input * per(wide(weight)) end
    grad_input = grad_input:to(input.dtype)
  end
  return grad_input, needs[2] and grad_weight:to(weight.dtype) or nil, needs[3] and grad_bias:to(weight.dtype) or nil, nil, nil, nil, nil
end

-- The running estimates move on; their variance is that of samples.
local function move_on(self, total, mean, variance)
  local momentum = self.momentum
  self.num_batches_tracked:add_(1)
  if not momentum then momentum = 1 / self.num_batches_tracked:item() end
  self.running_mean:lerp_(mean:to(self.running_mean.dtype), momentum)
  self.running_var:lerp_((variance * (total / (total - 1):clamp { min = 1 })):to(self.running_var.dtype), momentum)
end

function SyncBatchNorm:forward(input)
  checked.input(self, input)
  if input.ndim < 2 then fail('expected at least 2D input (got %dD input)', input.ndim) end
  if input:size(2) ~= self.num_features then
    fail('SyncBatchNorm expected input with %d channels, but got %d channels', self.num_features, input:size(2))
  end
  local dist = torch.distributed
  if not (self.training or self.running_mean == nil) or not dist.is_initialized() or dist.get_world_size(self.process_group) == 1 then
    return BatchNorm.forward(self, input)
  end
  local total, mean, variance = torch.no_grad(statistics, wide(input:detach()), self.process_group)
  if self.training and self.running_mean ~= nil then torch.no_grad(move_on, self, total, mean, variance) end
  local rstd = torch.no_grad(function() return (variance + self.eps):rsqrt() end)
  return (SyncNorm.apply(input, self.weight, self.bias, total, mean, rstd, self.process_group))
end

-- The numbers of dimensions that BatchNorm checks.
SyncBatchNorm.dims = { 2, 3, 4, 5 }

--- Replaces each BatchNorm of a module by a SyncBatchNorm with the same parameters and buffers.
-- process_group: the ranks that share a batch; nil: all.
local function converted(module, process_group)
  if SyncBatchNorm:is_instance(module) then return module end
  if BatchNorm:is_instance(module) then
    local made = SyncBatchNorm(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
      process_group, { bias = module.bias ~= nil })
    for _, name in ipairs { 'weight', 'bias', 'running_mean', 'running_var', 'num_batches_tracked' } do made[name] = module[name] end
    made.training = module.training
    return made
  end
  local list = {}
  for name, child in module:_named_places() do list[#list + 1] = { name, child } end
  for _, entry in ipairs(list) do
    local made = converted(entry[2], process_group)
    if made ~= entry[2] then module:add_module(entry[1], made) end
  end
  return module
end
SyncBatchNorm.convert_sync_batchnorm = declare.declare('convert_sync_batchnorm(Module module, Ranks? process_group)', converted)

return { SyncBatchNorm = SyncBatchNorm }
