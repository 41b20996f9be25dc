-- pool.lua - maxima, means and norms over windows or whole channels.

local torch = require 'torch'
local values = require 'torch.onnx.values'
local windows = require 'torch.onnx.ops.windows'

local F = require 'torch.nn.functional'
local ops = {}

local max_pool = { F.max_pool1d, F.max_pool2d, F.max_pool3d }
local avg_pool = { F.avg_pool1d, F.avg_pool2d, F.avg_pool3d }

local function ends(w)
  local after = {}
  for i = 1, w.n do after[i] = w.after[i] + w.extra[i] end
  return windows.amounts(w.before, after, w.n)
end

-- Converts positions in padded channels to positions in unpadded ones, from 0, in row-major or
-- column-major order.
local function unpadded(places, x, padded, w, by_columns)
  local rest, flat, stride = places - 1, nil, 1
  local parts = {}
  for i = w.n, 1, -1 do
    local size = padded:size(i + 2)
    parts[i] = torch.remainder(rest, size) - w.before[i]
    rest = torch.div(rest, size, { rounding_mode = 'floor' })
  end
  for i = by_columns and 1 or w.n, by_columns and w.n or 1, by_columns and 1 or -1 do
    flat = flat and flat + parts[i] * stride or parts[i]
    stride = stride * x:size(i + 2)
  end
  local batch, channels = x:size(1), x:size(2)
  local shape = { batch, channels }
  for i = 1, w.n do shape[i + 2] = 1 end
  return flat + (torch.arange(batch * channels, { device = x.device }) * stride):view(shape)
end

-- True if our pooling supports the padding: symmetric, at most half a window. ceil_mode covers an
-- overhanging last window.
local function own_padding(w)
  for i = 1, w.n do
    if w.before[i] ~= w.after[i] or 2 * w.before[i] > w.kernel[i] then return false end
  end
  return true
end

function ops.MaxPool(node, x)
  local w = windows.of(node, x, node.attributes.kernel_shape)
  local pool = max_pool[w.n] or values.fail('windows over %d dimensions', w.n)
  local dtype = x.dtype
  if not dtype.is_floating_point then x = x:to(torch.float64) end
  if #node.outputs < 2 and own_padding(w) then
    local y = pool(x, w.kernel, w.stride, w.before, w.dilation, node.attributes.ceil_mode == 1)
    return y.dtype == dtype and y or y:to(dtype)
  end
  local padded = torch.constant_pad_nd(x, ends(w), -math.huge)
  if #node.outputs < 2 then
    local y = pool(padded, w.kernel, w.stride, 0, w.dilation)
    return y.dtype == dtype and y or y:to(dtype)
  end
  local y, places = pool(padded, w.kernel, w.stride, 0, w.dilation, false, true)
  return y:to(dtype), unpadded(places, x, padded, w, node.attributes.storage_order == 1)
end

-- The sums over the windows of padded input.
local function window_sums(x, w)
  for i = 1, w.n do
    local dilation = w.dilation[i]
    local taken = x:unfold(i + 2, (w.kernel[i] - 1) * dilation + 1, w.stride[i])
    if dilation > 1 then
      local index = {}
      for d = 1, taken:dim() do index[d] = d == taken:dim() and { 1, -1, dilation } or {} end
      taken = taken[index]
    end
    x = taken:sum(-1)
  end
  return x
end

function ops.AveragePool(node, x)
  local w = windows.of(node, x, node.attributes.kernel_shape)
  local padding, dilated = windows.symmetric(w), false
  for i = 1, w.n do
    dilated = dilated or w.dilation[i] > 1
    -- Our pooling accepts at most half a window of padding.
    if padding and padding[i] > w.kernel[i] // 2 then padding = nil end
  end
  local with_pads = node.attributes.count_include_pad == 1
  if padding and not dilated and avg_pool[w.n] then return avg_pool[w.n](x, w.kernel, w.stride, padding, false, with_pads) end
  local counted = torch.ones_like(x:narrow(1, 1, 1):narrow(2, 1, 1))
  if with_pads then counted = torch.constant_pad_nd(counted, windows.amounts(w.before, w.after, w.n), 1) end
  local beyond = {}
  for i = 1, w.n do beyond[i] = 0 end
  counted = torch.constant_pad_nd(counted, with_pads and windows.amounts(beyond, w.extra, w.n) or ends(w))
  return window_sums(torch.constant_pad_nd(x, ends(w)), w) / window_sums(counted, w)
end

function ops.LpPool(node, x)
  local w, p = windows.of(node, x, node.attributes.kernel_shape), node.attributes.p or 2
  return window_sums(torch.constant_pad_nd(x:abs():pow(p), ends(w)), w):pow(1 / p)
end

local function spatial(x)
  local dims = {}
  for d = 3, x:dim() do dims[#dims + 1] = d end
  return dims
end

function ops.GlobalAveragePool(_, x) return x:mean(spatial(x), true) end
function ops.GlobalMaxPool(_, x) return x:amax(spatial(x), true) end
function ops.GlobalLpPool(node, x)
  local p = node.attributes.p or 2
  return x:abs():pow(p):sum(spatial(x), true):pow(1 / p)
end

function ops.MaxUnpool(node, x, places, shape)
  local sizes = shape and values.list(node, 3, shape)
  local smaller = { x:size(1), x:size(2) }
  for i = 1, x:dim() - 2 do
    local a = node.attributes
    local stride, pads = a.strides and a.strides[i] or 1, a.pads or {}
    smaller[i + 2] = (x:size(i + 2) - 1) * stride + a.kernel_shape[i] - (pads[i] or 0) - (pads[x:dim() - 2 + i] or 0)
  end
  local flat = torch.zeros(values.product(smaller), { dtype = x.dtype, device = x.device })
  local y = flat:scatter(1, places:reshape(-1) + 1, x:reshape(-1)):view(smaller)
  if not sizes then return y end
  local before, after = {}, {}
  for i = 3, #sizes do before[i - 2], after[i - 2] = 0, sizes[i] - smaller[i] end
  return torch.constant_pad_nd(y, windows.amounts(before, after, #sizes - 2))
end

return { [''] = ops }
