-- integers.lua - sums of products of integers less their zero points, exactly: products and convolutions of quantized values.
--
-- Where the processor has instructions for 8-bit integers, products with constant weights are computed in them. Others are computed in floats, whose
-- products and convolutions are fast: a sum of integers is exact while its magnitude stays below 2^24 in single precision, 2^53 in double.

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

-- What is kept of the constant weights of a node's i-th input less their zero points, until these are others; nil where they are not constant or
-- not on the host, where single precision may be less, or transformed. `dims` are those that are summed over, `beside_zero` is the zero point as it
-- stands beside the weights.
--   weight  in the precision in which sums of products are exact: double, and single where the sum of any filter's magnitudes says so
--   whole   as int8, where they are and 8-bit integers are multiplied as such; sums: of each filter; filters: those of a matrix, as a convolution has them
local function constant(node, i, weight, zero, beside_zero, dims)
  local on_host = weight.device.type == 'cpu' and not torch.is_autocast_enabled 'cpu'
  if not node.known[i] or not on_host then return nil end
  local held = node.held or {}
  node.held = held
  if not kept.holds(held, { weight, zero }) then
    local wide = centered(weight, beside_zero, torch.float64)
    local most = wide:abs():sum(dims):amax():item() * 255
    local bytes = weight.dtype.itemsize == 1
    held.weight = bytes and most < EXACT and wide:to(torch.float32) or wide
    held.whole, held.sums, held.filters = nil, nil, nil
    if bytes and torch.__config__.has 'int8' and wide:amin():item() >= -128 and wide:amax():item() <= 127 then
      held.whole, held.sums = wide:to(torch.int8), wide:sum(dims):to(torch.int32)
    end
  end
  return held
end

-- The sums of products of 8-bit integers, channels in dimension 2, from those of x as it is: its zero point times the sums of the filters less.
local function less_zero(sums, zero, filters)
  if not zero then return sums end
  return sums - zero:to(torch.int32) * filters
end

--- The sums of products of two matrices of integers, of which b is the node's i-th input; transposed: b is taken as its transposed, and its zero points are
-- of its rows.
function M.product(node, i, a, b, a_zero, b_zero, transposed)
  local beside = b_zero
  if transposed and b_zero and b_zero:numel() > 1 then beside = b_zero:unsqueeze(-1) end
  local held = constant(node, i, b, b_zero, beside, (transposed or b:dim() < 2) and -1 or -2)
  if held and held.whole and a.dtype.itemsize == 1 and b:dim() == 2 and a:dim() > 1 and not (a_zero and a_zero:dim() > 1) then
    held.filters = held.filters or (transposed and held.whole or held.whole:t()):contiguous():unsqueeze(-1)
    local rows = a:reshape(1, -1, a:size(-1)) -- as the places of one image, whose channels lie last
    local sums = torch._C._int8_convolution(rows:transpose(2, 3), held.filters, { 1 }, { 1 }, 1):transpose(2, 3)
    local shape = { table.unpack(a.shape) }
    shape[#shape] = held.filters:size(1)
    sums = sums:reshape(shape)
    return less_zero(sums, a_zero and a_zero:numel() > 1 and a_zero:unsqueeze(-1) or a_zero, held.sums)
  end
  local w = held and held.weight or centered(b, beside, torch.float64)
  local dtype = a.dtype.itemsize == 1 and w.dtype or torch.float64
  w = w:to(dtype)
  return torch.matmul(centered(a, a_zero, dtype, true), transposed and w:t() or w)
end

--- The same of a convolution, whose weight is the node's i-th input.
function M.convolution(node, i, x, weight, x_zero, w_zero)
  local dims = {}
  for d = 2, weight:dim() do dims[d - 1] = d end
  local held = constant(node, i, weight, w_zero, w_zero and M.per_filter(w_zero, weight:dim(), 1), dims)
  if x_zero then x_zero = x_zero:reshape({}) end
  local apart = (node.attributes.group or 1) > 1 -- channel by channel floats are faster, since integers want the channels last
  if held and held.whole and x.dtype.itemsize == 1 and not apart then
    local sums = windows.convolve_whole(node, x, held.whole, x_zero)
    return less_zero(sums, x_zero, M.per_filter(held.sums, weight:dim(), 2))
  end
  local w = held and held.weight or centered(weight, w_zero and M.per_filter(w_zero, weight:dim(), 1), torch.float64)
  local dtype = x.dtype.itemsize == 1 and w.dtype or torch.float64
  return windows.convolve(node, centered(x, x_zero, dtype), w:to(dtype))
end

return M
