-- quantize.lua - integers that stand for floats by a scale and a zero point, and products of them.

local torch = require 'torch'
local tensors = require 'torch.onnx.tensors'
local values = require 'torch.onnx.values'
local windows = require 'torch.onnx.ops.windows'

local ops = {}

-- A scale or zero point of one element, of one per entry of a dimension, or of one per block of it, to stand beside x.
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

-- Integers less their zero point. int32 sums of 8-bit products are exact in double precision.
local function centered(x, zero, rows)
  local wide = x:to(torch.float64)
  if not zero then return wide end
  zero = zero:to(torch.float64)
  if rows and zero:dim() == 1 and zero:numel() > 1 then zero = zero:unsqueeze(-1) end
  return wide - zero
end

function ops.MatMulInteger(_, a, b, a_zero, b_zero)
  return torch.matmul(centered(a, a_zero, true), centered(b, b_zero)):to(torch.int32)
end

function ops.QLinearMatMul(_, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
  local sums = torch.matmul(centered(a, a_zero, true), centered(b, b_zero))
  local factor = a_scale:to(torch.float64) * b_scale:to(torch.float64) / y_scale:to(torch.float64)
  return saturated((sums * factor):round() + y_zero:to(torch.float64), y_zero.dtype)
end

-- A number of each filter (or one of all) beside a tensor of `rank` dimensions, of which they are the given one.
local function per_filter(vector, rank, dim)
  if vector:dim() == 0 or vector:numel() == 1 then return vector:reshape({}) end
  local shape = {}
  for d = 1, rank do shape[d] = d == dim and -1 or 1 end
  return vector:view(shape)
end

function ops.ConvInteger(node, x, weight, x_zero, w_zero)
  local w = weight:to(torch.float64)
  if w_zero then w = w - per_filter(w_zero, weight:dim(), 1):to(torch.float64) end
  return windows.convolve(node, centered(x, x_zero and x_zero:reshape({})), w):to(torch.int32)
end

function ops.QLinearConv(node, x, x_scale, x_zero, weight, w_scale, w_zero, y_scale, y_zero, bias)
  local w = weight:to(torch.float64) - per_filter(w_zero, weight:dim(), 1):to(torch.float64)
  local sums = windows.convolve(node, centered(x, x_zero:reshape({})), w, bias and bias:to(torch.float64))
  local factor = x_scale:to(torch.float64) * per_filter(w_scale:to(torch.float64), weight:dim(), 2) / y_scale:to(torch.float64)
  return saturated((sums * factor):round() + y_zero:to(torch.float64), y_zero.dtype)
end

return { [''] = ops }
