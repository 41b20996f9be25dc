-- signal.lua - window functions, and Fourier transforms as matrix products: of any length, and
-- differentiable. Complex numbers are pairs in a last dimension of 2. Computed in double precision,
-- so that sums that should be 0 round to 0.

local torch = require 'torch'
local tensors = require 'torch.onnx.tensors'
local values = require 'torch.onnx.values'

local ops = {}
local PI = math.pi

local function cosine_window(...)
  local coefficients = { ... }
  return { grows = true, fn = function(node, size)
    local n = values.number(node, 1, size)
    local dtype = tensors.dtype(node.attributes.output_datatype or 1, "its attribute 'output_datatype'")
    local at = torch.arange(n, { dtype = torch.float64, device = size.device })
    local period = node.attributes.periodic ~= 0 and n or n - 1
    local window = torch.full({ n }, coefficients[1], { dtype = torch.float64, device = size.device })
    for k = 2, #coefficients do window = window + (at * (2 * PI * (k - 1) / period)):cos() * coefficients[k] end
    return window:to(dtype)
  end }
end

ops.HannWindow = cosine_window(0.5, -0.5)
ops.HammingWindow = cosine_window(25 / 46, -21 / 46)
ops.BlackmanWindow = cosine_window(0.42, -0.5, 0.08)

-- cos and sin of 2 pi j k / n for j < rows, k < columns, in double precision.
local function waves(rows, columns, n, like)
  local j = torch.arange(rows, { dtype = torch.float64, device = like.device }):unsqueeze(2)
  local k = torch.arange(columns, { dtype = torch.float64, device = like.device })
  local angle = torch.fmod(j * k, n) * (2 * PI / n)
  return angle:cos(), angle:sin()
end

-- The transform of the last dimension of real and imaginary parts (nil: 0): sign 1 with e^-i. The
-- first `keep` results.
local function transform(real, imaginary, n, keep, inverse)
  local dtype = real.dtype
  real, imaginary = real:to(torch.float64), imaginary and imaginary:to(torch.float64)
  local c, s = waves(n, keep, n, real)
  if inverse then s = -s end
  local re, im = torch.matmul(real, c), -torch.matmul(real, s)
  if imaginary then re, im = re + torch.matmul(imaginary, s), im + torch.matmul(imaginary, c) end
  if inverse then re, im = re / n, im / n end
  return re:to(dtype), im:to(dtype)
end

-- The last dimension truncated, or padded with zeros, to n elements.
local function sized(x, n)
  local have = x:size(-1)
  if have == n then return x end
  return have > n and x:narrow(-1, 1, n) or torch.constant_pad_nd(x, { 0, n - have })
end

function ops.DFT(node, x, length, axis)
  local a, rank = node.attributes, x:dim()
  local which = axis and values.number(node, 3, axis) or node.version < 20 and (a.axis or 1) or -2
  local dim = values.dim(which, rank)
  local inverse = a.inverse == 1
  local real = x:select(-1, 1):movedim(dim, -1)
  local imaginary = x:size(-1) == 2 and x:select(-1, 2):movedim(dim, -1) or nil
  local n = length and values.number(node, 2, length)
  if a.onesided == 1 and inverse then -- the other half is the conjugate mirror image
    n = n or 2 * (real:size(-1) - 1)
    local half = n // 2 + 1
    real, imaginary = sized(real, half), sized(imaginary, half)
    local mirrored = n - half
    if mirrored > 0 then
      real = torch.cat({ real, real:narrow(-1, 2, mirrored):flip(-1) }, -1)
      imaginary = torch.cat({ imaginary, -imaginary:narrow(-1, 2, mirrored):flip(-1) }, -1)
    end
    return (transform(real, imaginary, n, n, true)):movedim(-1, dim):unsqueeze(-1)
  end
  n = n or real:size(-1)
  real, imaginary = sized(real, n), imaginary and sized(imaginary, n)
  local re, im = transform(real, imaginary, n, a.onesided == 1 and n // 2 + 1 or n, inverse)
  return torch.stack({ re:movedim(-1, dim), im:movedim(-1, dim) }, -1)
end

function ops.STFT(node, signal, step, window, length)
  local hop = values.number(node, 2, step)
  local n = length and values.number(node, 4, length) or window and window:size(1) or values.fail 'no window and no frame_length'
  if hop < 1 then values.fail('frames every %d elements', hop) end
  local function frames(x)
    local cut = x:unfold(2, n, hop)
    return window and cut * window or cut
  end
  local real = signal:dim() == 3 and signal:select(3, 1) or signal
  local imaginary = signal:dim() == 3 and signal:size(3) == 2 and frames(signal:select(3, 2)) or nil
  local keep = node.attributes.onesided ~= 0 and not imaginary and n // 2 + 1 or n
  return torch.stack({ transform(frames(real), imaginary, n, keep) }, -1)
end

local function mel(hertz) return 2595 * math.log(1 + hertz / 700, 10) end

ops.MelWeightMatrix = { grows = true, fn = function(node, bins, length, rate, low, high)
  local n, size, per_second = values.number(node, 1, bins), values.number(node, 2, length), values.number(node, 3, rate)
  local from, to = mel(values.number(node, 4, low)), mel(values.number(node, 5, high))
  local dtype = tensors.dtype(node.attributes.output_datatype or 1, "its attribute 'output_datatype'")
  local lines, edge = size // 2 + 1, {}
  values.check_list(lines * n)
  for i = 0, n + 1 do
    local hertz = 700 * (10 ^ ((from + i * (to - from) / (n + 2)) / 2595) - 1)
    edge[i] = ((size + 1) * hertz) // per_second
  end
  local result = {}
  for line = 1, lines do
    local row = {}
    for i = 1, n do
      local left, middle, right, at = edge[i - 1], edge[i], edge[i + 1], line - 1
      if middle == left then row[i] = at == middle and 1.0 or 0.0 else row[i] = 0.0 end
      if middle > left and at >= left and at <= middle then row[i] = (at - left) / (middle - left) end
      if right > middle and at >= middle and at < right then row[i] = (right - at) / (right - middle) end
    end
    result[line] = row
  end
  return torch.tensor(result, { dtype = torch.float64 }):to(dtype)
end }

return { [''] = ops }
