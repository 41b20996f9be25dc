-- windows.lua - windows of convolutions and pools: their sizes over the dimensions after batch and
-- channel, and the padding of their attributes.

local torch = require 'torch'
local values = require 'torch.onnx.values'

local F = require 'torch.nn.functional'
local M = {}

local function filled(list, n, value)
  if list and #list == n then return list end
  if list then values.fail('%d numbers where %d dimensions are', #list, n) end
  local result = {}
  for i = 1, n do result[i] = value end
  return result
end

-- True if the cached windows match the sizes of image and kernel.
local function same_sizes(w, x, kernel)
  if w.n ~= x:dim() - 2 or not kernel then return false end
  for i = 1, w.n do
    if w.size[i] ~= x:size(i + 2) or w.kernel[i] ~= kernel[i] then return false end
  end
  return #kernel == w.n
end

local function find(node, x, kernel)
  local attributes, n = node.attributes, x:dim() - 2
  if n < 1 then values.fail('a tensor of %d dimensions, without one that is not batch or channel', x:dim()) end
  if not kernel then values.fail "windows of no size: its attribute 'kernel_shape' is missing" end
  local w = { n = n, kernel = filled(kernel, n), stride = filled(attributes.strides, n, 1), dilation = filled(attributes.dilations, n, 1),
    size = {}, before = {}, after = {}, out = {}, extra = {} }
  local pads = filled(attributes.pads, 2 * n, 0)
  local auto = attributes.auto_pad or 'NOTSET'
  for i = 1, n do
    local size, stride = x:size(i + 2), w.stride[i]
    w.size[i] = size
    if stride < 1 or w.dilation[i] < 1 or w.kernel[i] < 1 then values.fail 'a stride, dilation or kernel of less than 1' end
    local reach = (w.kernel[i] - 1) * w.dilation[i] + 1
    if auto == 'SAME_UPPER' or auto == 'SAME_LOWER' then
      w.out[i] = (size + stride - 1) // stride
      local total = math.max((w.out[i] - 1) * stride + reach - size, 0)
      w.before[i] = auto == 'SAME_UPPER' and total // 2 or total - total // 2
      w.after[i] = total - w.before[i]
      w.extra[i] = 0
    else
      w.before[i], w.after[i] = auto == 'VALID' and 0 or pads[i], auto == 'VALID' and 0 or pads[n + i]
      local span = size + w.before[i] + w.after[i] - reach
      if span < 0 then values.fail('a window of %d over %d elements', reach, size + w.before[i] + w.after[i]) end
      w.out[i] = span // stride + 1
      if attributes.ceil_mode == 1 and span % stride ~= 0 and w.out[i] * stride < size + w.before[i] then w.out[i] = w.out[i] + 1 end
      w.extra[i] = math.max((w.out[i] - 1) * stride + reach - (size + w.before[i] + w.after[i]), 0)
    end
  end
  return w
end

--- { n = spatial dimensions, size =, kernel =, stride =, dilation =, before =, after =, out = } of
-- windows over x: `out` is the size of the result, `extra` the overhang of the last window beyond
-- the padding (ceil_mode). The node caches the last result.
function M.of(node, x, kernel)
  local w = node.windows
  if w and same_sizes(w, x, kernel) then return w end
  w = find(node, x, kernel)
  node.windows = w
  return w
end

--- True if the padding is symmetric; and that padding.
function M.symmetric(w)
  for i = 1, w.n do
    if w.before[i] ~= w.after[i] or w.extra[i] ~= 0 then return nil end
  end
  return w.before
end

--- The amounts for constant_pad_nd, the last dimension first.
function M.amounts(before, after, n)
  local amounts = {}
  for i = n, 1, -1 do amounts[#amounts + 1], amounts[#amounts + 2] = before[i], after[i] end
  return amounts
end

local forward = { F.conv1d, F.conv2d, F.conv3d }

--- The sizes of a weight's M.
function M.spatial_sizes(weight)
  local sizes = {}
  for i = 3, weight:dim() do sizes[i - 2] = weight:size(i) end
  return sizes
end

--- The convolution of a node; for ConvInteger and QLinearConv, on floats with integer values.
function M.convolve(node, x, weight, bias)
  local w = M.of(node, x, M.spatial_sizes(weight))
  local conv = forward[w.n] or values.fail('a convolution over %d dimensions', w.n)
  local padding = M.symmetric(w)
  if not padding then
    x, padding = torch.constant_pad_nd(x, M.amounts(w.before, w.after, w.n)), 0
  end
  return conv(x, weight, bias, w.stride, padding, w.dilation, node.attributes.group or 1)
end

--- The same for 8-bit integers: their sums in int32. The padding is the zero point of x.
function M.convolve_whole(node, x, weight, zero)
  local w = M.of(node, x, M.spatial_sizes(weight))
  local amounts, any = M.amounts(w.before, w.after, w.n), false
  for _, amount in ipairs(amounts) do any = any or amount ~= 0 end
  if any then x = torch.constant_pad_nd(x, amounts, zero and zero:item() or 0) end
  return torch._C._int8_convolution(x, weight, w.stride, w.dilation, node.attributes.group or 1)
end

return M
