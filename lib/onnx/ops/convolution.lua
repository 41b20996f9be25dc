-- convolution.lua - Conv, ConvTranspose, DeformConv, and Col2Im, a part of a convolution's
-- gradient.

local torch = require 'torch'
local values = require 'torch.onnx.values'
local windows = require 'torch.onnx.ops.windows'

local F = require 'torch.nn.functional'
local ops = {}

local backward = { F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d }

function ops.Conv(node, x, weight, bias) return windows.convolve(node, x, weight, bias) end

function ops.ConvTranspose(node, x, weight, bias)
  local attributes, n = node.attributes, x:dim() - 2
  local conv = backward[n] or values.fail('a convolution over %d dimensions', n)
  local function each(list, value, i) return list and list[i] or value end
  local stride, dilation, more, before, after = {}, {}, {}, {}, {}
  for i = 1, n do
    stride[i], dilation[i] = each(attributes.strides, 1, i), each(attributes.dilations, 1, i)
    local reach = (weight:size(i + 2) - 1) * dilation[i] + 1
    more[i] = each(attributes.output_padding, 0, i)
    local full = (x:size(i + 2) - 1) * stride[i] + reach + more[i]
    local auto, total = attributes.auto_pad or 'NOTSET', nil
    if attributes.output_shape then
      -- output_shape may include batch and channel.
      total = full - attributes.output_shape[#attributes.output_shape - n + i]
    elseif auto == 'SAME_UPPER' or auto == 'SAME_LOWER' then
      total = full - x:size(i + 2) * stride[i]
    end
    if not total then
      before[i], after[i] = each(attributes.pads, 0, i), each(attributes.pads, 0, n + i)
    else
      before[i] = auto == 'SAME_UPPER' and total // 2 or total - total // 2
      after[i] = total - before[i]
    end
  end
  -- The full result; negative padding crops it, or extends it with zeros for a larger shape.
  local y = conv(x, weight, nil, stride, 0, 0, attributes.group or 1, dilation)
  local cut_before, cut_after = {}, {}
  for i = 1, n do cut_before[i], cut_after[i] = -before[i], more[i] - after[i] end
  y = torch.constant_pad_nd(y, windows.amounts(cut_before, cut_after, n))
  if not bias then return y end
  local shape = { 1, bias:size(1) }
  for i = 1, n do shape[i + 2] = 1 end
  return y + bias:view(shape)
end

-- Deformable convolution: offsets shift the sampling positions, which are read by bilinear
-- interpolation.
function ops.DeformConv(node, x, weight, offset, bias, mask)
  local w = windows.of(node, x, windows.spatial_sizes(weight))
  if w.n ~= 2 then values.fail('a deformable convolution over %d dimensions', w.n) end
  local groups, parts = node.attributes.group or 1, node.attributes.offset_group or 1
  local n, channels, height, width = x:size(1), x:size(2), x:size(3), x:size(4)
  local kh, kw, oh, ow = w.kernel[1], w.kernel[2], w.out[1], w.out[2]
  local k = kh * kw
  local dtype = { dtype = x.dtype, device = x.device }
  local at = offset:view(n, parts, k, 2, oh, ow)
  local function base(count, stride, before) return torch.arange(count, dtype) * stride - before end
  local tap_y = (torch.arange(kh, dtype) * w.dilation[1]):unsqueeze(2):expand(kh, kw):reshape(k, 1, 1)
  local tap_x = (torch.arange(kw, dtype) * w.dilation[2]):unsqueeze(1):expand(kh, kw):reshape(k, 1, 1)
  local py = at:select(4, 1) + (tap_y + base(oh, w.stride[1], w.before[1]):view(1, oh, 1))
  local px = at:select(4, 2) + (tap_x + base(ow, w.stride[2], w.before[2]):view(1, 1, ow))
  -- Converts to coordinates of grid_sample, with corners -1 and 1.
  local function scaled(p, size) return size > 1 and p * (2 / (size - 1)) - 1 or p * 2 - 1 end
  local image = x:reshape(n * parts, channels // parts, height, width)
  if height == 1 or width == 1 then -- grid coordinates need two elements: pad with zeros
    image = torch.constant_pad_nd(image, { 0, width == 1 and 1 or 0, 0, height == 1 and 1 or 0 })
  end
  local grid = torch.stack({ scaled(px, image:size(4)), scaled(py, image:size(3)) }, -1):reshape(n * parts, k * oh, ow, 2)
  local read = F.grid_sample(image, grid, { mode = 'bilinear', padding_mode = 'zeros', align_corners = true })
  read = read:view(n, parts, channels // parts, k, oh * ow)
  if mask then read = read * mask:view(n, parts, 1, k, oh * ow) end
  local columns = read:reshape(n, groups, channels // groups * k, oh * ow)
  local y = torch.matmul(weight:reshape(groups, weight:size(1) // groups, -1), columns):view(n, weight:size(1), oh, ow)
  return bias and y + bias:view(1, -1, 1, 1) or y
end

-- Sums columns into the windows of an image.
function ops.Col2Im(node, x, image, block)
  local sizes, kernel = values.list(node, 2, image), values.list(node, 3, block)
  local attributes, rank = node.attributes, #sizes
  local k = values.product(kernel)
  local n, channels = x:size(1), x:size(2) // k
  local place, padded = torch.zeros(1, 1, { dtype = torch.int64, device = x.device }), {}
  for i = 1, rank do
    local stride, dilation = attributes.strides and attributes.strides[i] or 1, attributes.dilations and attributes.dilations[i] or 1
    local before, after = attributes.pads and attributes.pads[i] or 0, attributes.pads and attributes.pads[rank + i] or 0
    padded[i] = { sizes[i] + before + after, before, after }
    local windows_there = (padded[i][1] - (kernel[i] - 1) * dilation - 1) // stride + 1
    local taps = torch.arange(kernel[i], { device = x.device }) * dilation
    local starts = torch.arange(windows_there, { device = x.device }) * stride
    local along = taps:unsqueeze(2) + starts -- (tap, window)
    place = (place:unsqueeze(2):unsqueeze(4) * padded[i][1] + along:unsqueeze(1):unsqueeze(3)):reshape(
      place:size(1) * kernel[i], place:size(2) * windows_there)
  end
  local total, shape, before, after = 1, { n, channels }, {}, {}
  for i = 1, rank do
    total = total * padded[i][1]
    shape[i + 2], before[i], after[i] = padded[i][1], -padded[i][2], -padded[i][3]
  end
  local flat = torch.zeros(n * channels, total, { dtype = x.dtype, device = x.device })
  flat = flat:index_add(2, place:reshape(-1) + 1, x:reshape(n * channels, -1))
  return torch.constant_pad_nd(flat:view(shape), windows.amounts(before, after, rank))
end

return { [''] = ops }
