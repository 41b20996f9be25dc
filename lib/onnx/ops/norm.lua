-- norm.lua - operators that normalize elements to mean 0 and deviation 1, or to length 1; dropout.

local torch = require 'torch'
local tensors = require 'torch.onnx.tensors'
local values = require 'torch.onnx.values'

local F = require 'torch.nn.functional'
local ops, microsoft = {}, {}

-- Reshapes (c) to (1, c, 1, ...), to broadcast against x.
local function per_channel(vector, x)
  local shape = { 1, vector:size(1) }
  for d = 3, x:dim() do shape[d] = 1 end
  return vector:view(shape)
end

function ops.BatchNormalization(node, x, scale, bias, mean, variance)
  local epsilon, momentum = node.attributes.epsilon or 1e-5, node.attributes.momentum or 0.9
  local trains = node.attributes.training_mode == 1 or node.version < 7 and node.attributes.is_test == 0
  if not trains then return F.batch_norm(x, mean:detach(), variance:detach(), scale, bias, false, 0, epsilon) end -- statistics are not trained
  local dims = { 1 }
  for d = 3, x:dim() do dims[#dims + 1] = d end
  local batch_mean = x:mean(dims)
  local batch_variance = x:var(dims, { correction = 0 })
  local y = (x - per_channel(batch_mean, x)) * torch.rsqrt(per_channel(batch_variance, x) + epsilon) * per_channel(scale, x) + per_channel(bias, x)
  return y, mean * momentum + batch_mean * (1 - momentum), variance * momentum + batch_variance * (1 - momentum)
end

function ops.InstanceNormalization(node, x, scale, bias)
  return F.instance_norm(x, nil, nil, scale, bias, true, 0, node.attributes.epsilon or 1e-5)
end

-- The list of dimensions from `dim` to the last.
local function from(dim, x)
  local dims = {}
  for d = dim, x:dim() do dims[#dims + 1] = d end
  return dims
end

local function computed_in(node, x)
  return tensors.dtypes[node.attributes.stash_type or 1] or x.dtype
end

local function layer_norm(node, x, scale, bias)
  local dim = values.dim(node.attributes.axis or -1, x:dim())
  local epsilon = node.attributes.epsilon or 1e-5
  local stash = computed_in(node, x)
  local sizes, is_plain = {}, #node.outputs == 1 and scale:dim() == x:dim() - dim + 1 and (x.dtype == stash or x.dtype == torch.float64)
  for d = dim, x:dim() do
    sizes[#sizes + 1] = x:size(d)
    is_plain = is_plain and scale:size(d - dim + 1) == x:size(d)
  end
  if is_plain and (not bias or bias:dim() == #sizes) then return torch.layer_norm(x, sizes, scale, bias, epsilon) end
  local dims, wide = from(dim, x), x:to(stash)
  local mean = wide:mean(dims, true)
  local centered = wide - mean
  local inverse = torch.rsqrt((centered * centered):mean(dims, true) + epsilon)
  local y = (centered * inverse):to(x.dtype) * scale
  return bias and y + bias or y, mean, inverse
end
ops.LayerNormalization, microsoft.LayerNormalization = layer_norm, layer_norm

function ops.RMSNormalization(node, x, scale)
  local dims = from(values.dim(node.attributes.axis or -1, x:dim()), x)
  local wide = x:to(computed_in(node, x))
  local y = wide * torch.rsqrt((wide * wide):mean(dims, true) + (node.attributes.epsilon or 1e-5))
  return y:to(x.dtype) * scale
end
-- Under the names that onnxruntime writes, in both domains.
ops.SimplifiedLayerNormalization = ops.RMSNormalization
microsoft.SimplifiedLayerNormalization = ops.RMSNormalization

function ops.GroupNormalization(node, x, scale, bias)
  local groups, epsilon = node.attributes.num_groups, node.attributes.epsilon or 1e-5
  if not groups then values.fail 'no num_groups' end
  if node.version >= 21 then return F.group_norm(x, groups, scale, bias, epsilon) end
  -- Before, scale and bias were of the groups.
  local each = x:size(2) // groups
  return F.group_norm(x, groups, scale:repeat_interleave(each), bias:repeat_interleave(each), epsilon)
end

function ops.MeanVarianceNormalization(node, x)
  local dims = values.dims(node.attributes.axes or { 0, 2, 3 }, x:dim())
  local mean = x:mean(dims, true)
  local deviation = ((x * x):mean(dims, true) - mean * mean):sqrt()
  return (x - mean) / (deviation + 1e-9)
end

function ops.LpNormalization(node, x)
  local dim, p = values.dim(node.attributes.axis or -1, x:dim()), node.attributes.p or 2
  local length = p == 1 and x:abs():sum(dim, true) or (x * x):sum(dim, true):sqrt()
  return torch.where(length:eq(0), torch.zeros_like(x), x / length)
end

function ops.LRN(node, x)
  local a = node.attributes
  return F.local_response_norm(x, a.size or values.fail 'no size', a.alpha or 0.0001, a.beta or 0.75, a.bias or 1.0)
end

-- Since version 12, training is an input. Earlier, dropout is off, because files for inference
-- disable it.
ops.Dropout = { is_random = true, fn = function(node, x, ratio, training)
  local p = node.version < 12 and (node.attributes.ratio or 0.5) or ratio and values.number(node, 2, ratio) or 0.5
  if not training or not training:item() or p == 0 then
    return x, #node.outputs > 1 and torch.ones_like(x, { dtype = torch.bool }) or nil
  end
  local kept = torch.rand(values.sizes(x), { device = x.device }):ge(p)
  return torch.where(kept, x / (1 - p), torch.zeros_like(x)), kept
end }

return { [''] = ops, ['com.microsoft'] = microsoft }
