-- quantized.lua - operators of com.microsoft on quantized integers with a scale and a zero point,
-- which onnxruntime's quantizer and optimizer write for layers between quantized products. Each
-- computes in float and rounds its result once.

local torch = require 'torch'
local integers = require 'torch.onnx.ops.integers'
local pool = require('torch.onnx.ops.pool')['']
local quantize = require('torch.onnx.ops.quantize')['']
local values = require 'torch.onnx.values'

local ops = {}

local function real(x, scale, zero)
  local wide = x:to(torch.float32)
  if zero then wide = wide - zero:to(torch.float32) end
  return wide * scale
end

-- Quantizes floats to the zero point's dtype; without one, to `dtype`.
local function whole(x, scale, zero, dtype)
  local y = (x / scale):round()
  if zero then y, dtype = y + zero:to(torch.float32), zero.dtype end
  local info = torch.iinfo(dtype)
  return y:clamp(info.min, info.max):to(dtype)
end

-- ---- layers of one tensor -----------------------------------------------------------------------

-- Turns fn(node, x) on floats into an operator on x and its scale and zero point, and the scale and
-- zero point of the result.
local function of_one(fn)
  return function(node, x, x_scale, x_zero, y_scale, y_zero) return whole(fn(node, real(x, x_scale, x_zero)), y_scale, y_zero, x.dtype) end
end

-- If the node has channels last, moves the channels of x to the second dimension; and back for a
-- result.
local function channels_second(node, x)
  if node.attributes.channels_last ~= 1 then return x end
  return x:movedim(-1, 2)
end
local function channels_back(node, y)
  if node.attributes.channels_last ~= 1 then return y end
  return y:movedim(2, -1):contiguous()
end

local function by_channels(fn)
  return function(node, x, ...) return channels_back(node, (fn(node, channels_second(node, x), ...))) end
end

ops.QLinearSigmoid = of_one(function(_, x) return torch.sigmoid(x) end)
ops.QLinearLeakyRelu = of_one(function(node, x) return torch.leaky_relu(x, node.attributes.alpha or 0.01) end)
ops.QLinearGlobalAveragePool = of_one(by_channels(pool.GlobalAveragePool))
ops.QLinearAveragePool = of_one(by_channels(pool.AveragePool))
ops.QLinearSoftmax = of_one(function(node, x)
  local dim = values.dim(node.attributes.axis or -1, x:dim())
  if (node.attributes.opset or 13) >= 13 then return torch.softmax(x, dim) end
  return torch.softmax(x:flatten(dim), -1):view(values.sizes(x)) -- as Softmax up to version 12: over all dimensions from the axis on
end)
ops.QLinearReduceMean = of_one(function(node, x)
  local axes = node.attributes.axes
  local dims = axes and values.dims(axes, x:dim()) or nil
  if not dims then
    dims = {}
    for d = 1, x:dim() do dims[d] = d end
  end
  return x:mean(dims, node.attributes.keepdims ~= 0)
end)

--- MaxPool with channels in the last dimension.
function ops.NhwcMaxPool(node, x) return (pool.MaxPool(node, x:movedim(-1, 2))):movedim(2, -1):contiguous() end

-- ---- layers of several --------------------------------------------------------------------------

local function of_two(fn)
  return function(_, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
    return whole(fn(real(a, a_scale, a_zero), real(b, b_scale, b_zero)), y_scale, y_zero, a.dtype)
  end
end

ops.QLinearAdd, ops.QLinearMul = of_two(torch.add), of_two(torch.mul)

function ops.QLinearWhere(_, condition, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
  return whole(torch.where(condition, real(a, a_scale, a_zero), real(b, b_scale, b_zero)), y_scale, y_zero, a.dtype)
end

function ops.QLinearConcat(node, y_scale, y_zero, ...)
  local parts = {}
  for i = 1, select('#', ...), 3 do
    local x, scale, zero = select(i, ...)
    parts[#parts + 1] = real(x, scale, zero)
  end
  if #parts == 0 then values.fail 'no tensors' end
  return whole(torch.cat(parts, values.dim(node.attributes.axis or 0, parts[1]:dim())), y_scale, y_zero)
end

-- ---- products -----------------------------------------------------------------------------------

ops.QLinearConv = by_channels(quantize.QLinearConv)

function ops.QGemm(node, a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero)
  local at = node.attributes
  local sums = integers.product(node, 4, at.transA == 1 and a:t() or a, b, a_zero, b_zero, at.transB == 1):to(torch.float64)
  if c then sums = sums + c:to(torch.float64) end
  local y = sums * (a_scale:to(torch.float64) * b_scale:to(torch.float64) * (at.alpha or 1.0))
  if not y_scale then return y:to(torch.float32) end
  return whole(y, y_scale:to(torch.float64), y_zero, a.dtype)
end

function ops.QuantizeLinear(node, x, scale, zero) return quantize.QuantizeLinear(node, x, scale, zero) end
function ops.DequantizeLinear(node, x, scale, zero) return quantize.DequantizeLinear(node, x, scale, zero) end

return { ['com.microsoft'] = ops }
