-- integers.lua - exact sums of products of integers minus their zero points: products and
-- convolutions of quantized values.
--
-- If the processor has 8-bit integer instructions, products with constant weights use them. Others
-- use fast float products and convolutions: a sum of integers is exact while its magnitude is below
-- 2^24 in float, 2^53 in double.

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

--- Reshapes a vector with a number per filter for broadcasting against a tensor of `rank`
-- dimensions with the filters in dimension `dim`; a single number becomes 0-dimensional.
function M.per_filter(vector, rank, dim)
  if vector:dim() == 0 or vector:numel() == 1 then return vector:reshape({}) end
  local shape = {}
  for d = 1, rank do shape[d] = d == dim and -1 or 1 end
  return vector:view(shape)
end

local EXACT = 1 << 24 -- float32 represents integers up to here exactly

-- The cache of a node for its constant i-th input, the weights, until they or their zero points
-- change; nil if they are not constant or not on the host, where float may have less precision or
-- transform the data.
local function held_of(node, i, weight, zero)
  local on_host = weight.device.type == 'cpu' and not torch.is_autocast_enabled 'cpu'
  if not node.known[i] or not on_host then return nil end
  local held = node.held
  if not held or not kept.holds(held, weight, zero) then
    held = {}
    kept.holds(held, weight, zero)
    node.held = held
  end
  return held
end

-- The weights minus their zero points, with the shape of `beside_zero`, in the precision in which
-- sums of products with x are exact: double, or float if 8-bit integers are multiplied and the sum
-- of magnitudes of each filter over `dims` permits it.
local function in_floats(held, x, weight, beside_zero, dims)
  if not held then return centered(weight, beside_zero, torch.float64) end
  if not held.weight then
    local wide = centered(weight, beside_zero, torch.float64)
    local most = wide:abs():sum(dims):amax():item() * 255
    held.weight = weight.dtype.itemsize == 1 and most < EXACT and wide:to(torch.float32) or wide
  end
  return x.dtype.itemsize == 1 and held.weight or held.weight:to(torch.float64)
end

-- True if x has 8-bit integers to multiply directly: then held.whole is the int8 weights minus
-- their zero points, held.sums the sums of each filter.
local function as_bytes(held, x, weight, beside_zero, dims)
  if not held or x.dtype.itemsize ~= 1 or weight.dtype.itemsize ~= 1 then return false end
  if held.whole == nil then
    held.whole = false
    local wide = torch.__config__.has 'int8' and centered(weight, beside_zero, torch.float64)
    if wide and wide:amin():item() >= -128 and wide:amax():item() <= 127 then
      held.whole, held.sums = wide:to(torch.int8), wide:sum(dims):to(torch.int32)
    end
  end
  return held.whole ~= false
end

-- Subtracts the zero point times the sums of the filters from sums of products of 8-bit integers,
-- with channels in dimension 2.
local function less_zero(sums, zero, filters)
  if not zero then return sums end
  return sums - zero:to(torch.int32) * filters
end

--- The sums of products of two integer matrices; b is the node's i-th input. transposed: b is
-- stored transposed, and its zero points belong to its rows.
function M.product(node, i, a, b, a_zero, b_zero, transposed)
  local beside = b_zero
  if transposed and b_zero and b_zero:numel() > 1 then beside = b_zero:unsqueeze(-1) end
  local held, dims = held_of(node, i, b, b_zero), (transposed or b:dim() < 2) and -1 or -2
  if b:dim() == 2 and a:dim() > 1 and not (a_zero and a_zero:dim() > 1) and as_bytes(held, a, b, beside, dims) then
    held.filters = held.filters or (transposed and held.whole or held.whole:t()):contiguous():unsqueeze(-1)
    local rows = a:reshape(1, -1, a:size(-1)) -- as the pixels of one image with the channels last
    local sums = torch._C._int8_convolution(rows:transpose(2, 3), held.filters, { 1 }, { 1 }, 1):transpose(2, 3)
    local shape = { table.unpack(a.shape) }
    shape[#shape] = held.filters:size(1)
    sums = sums:reshape(shape)
    return less_zero(sums, a_zero and a_zero:numel() > 1 and a_zero:unsqueeze(-1) or a_zero, held.sums)
  end
  local w = in_floats(held, a, b, beside, dims)
  return torch.matmul(centered(a, a_zero, w.dtype, true), transposed and w:t() or w)
end

--- The same for a convolution with the node's i-th input as weight.
function M.convolution(node, i, x, weight, x_zero, w_zero)
  local dims = {}
  for d = 2, weight:dim() do dims[d - 1] = d end
  local held, beside = held_of(node, i, weight, w_zero), w_zero and M.per_filter(w_zero, weight:dim(), 1)
  if x_zero then x_zero = x_zero:reshape({}) end
  local apart = (node.attributes.group or 1) > 1 -- for grouped convolutions floats are faster, since the int8 kernel requires channels last
  if not apart and as_bytes(held, x, weight, beside, dims) then
    return less_zero(windows.convolve_whole(node, x, held.whole, x_zero), x_zero, M.per_filter(held.sums, weight:dim(), 2))
  end
  local w = in_floats(held, x, weight, beside, dims)
  return windows.convolve(node, centered(x, x_zero, w.dtype), w)
end

return M
