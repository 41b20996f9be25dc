-- quantize.lua - integers that represent floats by a scale and a zero point, and products of them.

local torch = require 'torch'
local integers = require 'torch.onnx.ops.integers'
local tensors = require 'torch.onnx.tensors'
local values = require 'torch.onnx.values'

local ops = {}

-- Reshapes or repeats a scale or zero point to broadcast against x: per tensor, per entry of a
-- dimension, or per block of it.
local function beside(x, vector, axis, block)
  if vector:dim() == 0 or vector:numel() == 1 and (not block or block == 0) then return vector:reshape({}) end
  local dim = values.dim(axis, x:dim())
  if block and block > 0 then
    return vector:repeat_interleave(block, dim):narrow(dim, 1, x:size(dim))
  end
  local shape = {}
  for d = 1, x:dim() do shape[d] = d == dim and vector:size(1) or 1 end
  return vector:view(shape)
end

-- Floats as integers of a dtype: rounded to even, bounded.
local function saturated(x, dtype)
  local info = torch.iinfo(dtype)
  return x:clamp(info.min, info.max):to(dtype)
end

local function quantize(x, scale, zero, dtype)
  local y = (x / scale):round()
  if zero then y = y + zero:to(y.dtype) end
  return saturated(y, dtype)
end

function ops.QuantizeLinear(node, x, scale, zero)
  local a = node.attributes
  local dtype = zero and zero.dtype or a.output_dtype and a.output_dtype ~= 0 and tensors.dtypes[a.output_dtype] or torch.uint8
  scale = beside(x, scale, a.axis or 1, a.block_size)
  if not x.dtype.is_floating_point then x = x:to(torch.float32) end
  return quantize(x, scale:to(x.dtype), zero and beside(x, zero, a.axis or 1, a.block_size), dtype)
end

function ops.DequantizeLinear(node, x, scale, zero)
  local a = node.attributes
  local wide = x:to(torch.float32)
  if zero then wide = wide - beside(x, zero, a.axis or 1, a.block_size):to(torch.float32) end
  return (wide * beside(x, scale, a.axis or 1, a.block_size):to(torch.float32)):to(scale.dtype)
end

function ops.DynamicQuantizeLinear(_, x)
  local low, high = torch.clamp(x:min(), { max = 0 }), torch.clamp(x:max(), { min = 0 })
  local scale = (high - low) / 255
  local zero = saturated((-low / scale):round(), torch.uint8)
  return quantize(x, scale, zero, torch.uint8), scale, zero
end

function ops.MatMulInteger(node, a, b, a_zero, b_zero) return integers.product(node, 2, a, b, a_zero, b_zero):to(torch.int32) end

function ops.QLinearMatMul(node, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
  local sums = integers.product(node, 4, a, b, a_zero, b_zero):to(torch.float64)
  local factor = a_scale:to(torch.float64) * b_scale:to(torch.float64) / y_scale:to(torch.float64)
  return saturated((sums * factor):round() + y_zero:to(torch.float64), y_zero.dtype)
end

function ops.ConvInteger(node, x, weight, x_zero, w_zero) return integers.convolution(node, 2, x, weight, x_zero, w_zero):to(torch.int32) end

function ops.QLinearConv(node, x, x_scale, x_zero, weight, w_scale, w_zero, y_scale, y_zero, bias)
  local sums = integers.convolution(node, 4, x, weight, x_zero, w_zero):to(torch.float64)
  if bias then sums = sums + integers.per_filter(bias:to(torch.float64), weight:dim(), 2) end
  local factor = x_scale:to(torch.float64) * integers.per_filter(w_scale:to(torch.float64), weight:dim(), 2) / y_scale:to(torch.float64)
  return saturated((sums * factor):round() + y_zero:to(torch.float64), y_zero.dtype)
end

return { [''] = ops }
