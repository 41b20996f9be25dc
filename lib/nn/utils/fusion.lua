-- fusion.lua - torch.nn.utils.fuse_...: folds a batch normalization into the preceding layer, for
-- evaluation.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local Parameter = require 'torch.nn.parameter'

local fusion = {}

-- The weight and bias of a layer with the normalization folded in; outputs: the dimension of
-- outputs in the weight.
local function fused(weight, bias, mean, variance, eps, gamma, beta, outputs)
  bias = bias == nil and torch.zeros_like(mean) or bias
  gamma = gamma == nil and torch.ones_like(mean) or gamma
  beta = beta == nil and torch.zeros_like(mean) or beta
  local scale, shape = gamma * torch.rsqrt(variance + eps), {}
  for i = 1, weight.ndim do shape[i] = i == outputs and -1 or 1 end
  return Parameter((weight * scale:reshape(shape)):detach():to(weight.dtype), { requires_grad = weight.requires_grad }),
    Parameter(((bias - mean) * scale + beta):detach():to(weight.dtype), { requires_grad = bias.requires_grad })
end

--- The weight and bias of a convolution (transpose: of a transposed one) with the following batch
-- normalization folded in.
function fusion.fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose)
  return fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose and 2 or 1)
end

--- The same for a linear layer.
function fusion.fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
  return fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1)
end

local function fuse(layer, bn, outputs)
  if layer.training or bn.training then fail 'Fusion only for eval!' end
  if bn.running_mean == nil or bn.running_var == nil then
    fail 'Only support fusing BatchNorm with running statistics (track_running_stats=True)'
  end
  local copy = layer:deepcopy()
  copy.weight, copy.bias = fused(copy.weight, copy.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, outputs)
  return copy
end

--- A convolution that computes conv and then bn, both in evaluation mode.
function fusion.fuse_conv_bn_eval(conv, bn, transpose) return fuse(conv, bn, transpose and 2 or 1) end

--- A linear layer that computes linear and then bn. A normalization of one feature applies to all
--- outputs.
function fusion.fuse_linear_bn_eval(linear, bn)
  if linear.out_features ~= bn.num_features and bn.num_features ~= 1 then
    fail 'To fuse, linear.out_features == bn.num_features or bn.num_features == 1'
  end
  return fuse(linear, bn, 1)
end

return declare.functions(fusion, [[
  fuse_conv_bn_eval(Module conv, Module bn, boolean transpose=false)
  fuse_conv_bn_weights(Tensor conv_w, Tensor? conv_b, Tensor bn_rm, Tensor bn_rv, number bn_eps, Tensor? bn_w, Tensor? bn_b, boolean transpose=false)
  fuse_linear_bn_eval(Module linear, Module bn)
  fuse_linear_bn_weights(Tensor linear_w, Tensor? linear_b, Tensor bn_rm, Tensor bn_rv, number bn_eps, Tensor? bn_w, Tensor? bn_b)
]])
