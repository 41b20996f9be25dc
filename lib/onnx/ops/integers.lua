-- integers.lua - sums of products of integers less their zero points, exactly: products and convolutions of quantized values.
--
-- They are computed in floats, whose products and convolutions are fast: a sum of integers is exact while its magnitude stays below 2^24 in single
-- precision, 2^53 in double.

local torch = require 'torch'
local kept = require 'torch.onnx.kept'
local windows = require 'torch.onnx.ops.windows'

local M = {}

-- Integers less their zero point, as floats of a dtype.
local function centered(x, zero, dtype, rows)
  local wide = x:to(dtype)
  if not zero then return wide end
  zero = zero:to(dtype)
  if rows and zero:dim() == 1 and zero:numel() > 1 then zero = zero:unsqueeze(-1) end
  return wide - zero
end

--- A number of each filter (or one of all) beside a tensor of `rank` dimensions, of which they are the given one.
function M.per_filter(vector, rank, dim)
  if vector:dim() == 0 or vector:numel() == 1 then return vector:reshape({}) end
  local shape = {}
  for d = 1, rank do shape[d] = d == dim and -1 or 1 end
  return vector:view(shape)
end

local EXACT = 1 << 24 -- integers up to here are floats of single precision

-- The constant weights of a node's i-th input less their zero points, in the precision in which sums of their products are exact: double, and
-- single where the sum of any filter's magnitudes says so. `dims` are those that are summed over, `beside_zero` the zero point as it stands
-- beside the weights. Kept until these are others.
local function weights(node, i, weight, zero, beside_zero, dims)
  local on_host = weight.device.type == 'cpu' and not torch.is_autocast_enabled 'cpu' -- elsewhere single precision may be less, or transformed
  if not node.known[i] or not on_host then return centered(weight, beside_zero, torch.float64) end
  local held = node.held or {}
  node.held = held
  if not kept.holds(held, { weight, zero }) then
    local wide = centered(weight, beside_zero, torch.float64)
    local most = wide:abs():sum(dims):amax():item() * 255
    held.weight = weight.dtype.itemsize == 1 and most < EXACT and wide:to(torch.float32) or wide
  end
  return held.weight
end

--- The sums of products of two matrices of integers, of which b is the node's i-th input; transposed: b is taken as its transposed, and its zero points are
-- of its rows.
function M.product(node, i, a, b, a_zero, b_zero, transposed)
  local beside = b_zero
  if transposed and b_zero and b_zero:numel() > 1 then beside = b_zero:unsqueeze(-1) end
  local w = weights(node, i, b, b_zero, beside, (transposed or b:dim() < 2) and -1 or -2)
  local dtype = a.dtype.itemsize == 1 and w.dtype or torch.float64
  w = w:to(dtype)
  return torch.matmul(centered(a, a_zero, dtype, true), transposed and w:t() or w)
end

--- The same of a convolution, whose weight is the node's i-th input.
function M.convolution(node, i, x, weight, x_zero, w_zero)
  local dims = {}
  for d = 2, weight:dim() do dims[d - 1] = d end
  local w = weights(node, i, weight, w_zero, w_zero and M.per_filter(w_zero, weight:dim(), 1), dims)
  local dtype = x.dtype.itemsize == 1 and w.dtype or torch.float64
  return windows.convolve(node, centered(x, x_zero and x_zero:reshape({}), dtype), w:to(dtype))
end

return M
