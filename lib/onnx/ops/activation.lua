-- activation.lua - the functions between a network's layers, and softmax.

local torch = require 'torch'
local values = require 'torch.onnx.values'

local F = require 'torch.nn.functional'
local ops = {}

function ops.Relu(_, x) return torch.relu(x) end
function ops.LeakyRelu(node, x) return torch.leaky_relu(x, node.attributes.alpha or 0.01) end
function ops.Elu(node, x) return torch.elu(x, node.attributes.alpha or 1.0) end
function ops.Celu(node, x) return torch.celu(x, node.attributes.alpha or 1.0) end
function ops.Softplus(_, x) return torch.softplus(x, 1, 40) end
function ops.Softsign(_, x) return F.softsign(x) end
function ops.Mish(_, x) return torch.mish(x) end
function ops.HardSwish(_, x) return torch.hardswish(x) end
function ops.Gelu(node, x) return F.gelu(x, { approximate = node.attributes.approximate or 'none' }) end

function ops.Swish(node, x)
  local alpha = node.attributes.alpha or 1.0
  if alpha == 1.0 then return torch.silu(x) end
  return x * torch.sigmoid(x * alpha)
end

-- The last dimension's halves: gate and value.
function ops.SwiGLU(node, x, gate)
  local alpha = node.attributes.alpha or 1.0
  if not gate then
    local halves = x:chunk(2, -1)
    x, gate = halves[1], halves[2]
  end
  return x * torch.sigmoid(x * alpha) * gate
end

-- Whether the slope is a single number, or one for each channel.
local function per_channel(x, slope)
  if slope.dtype ~= x.dtype or not x.dtype.is_floating_point or x:dim() < 2 or slope:dim() > x:dim() then return false end
  if slope:numel() == 1 then return true end
  local at = slope:dim() - x:dim() + 2
  return at >= 1 and slope:size(at) == x:size(2) and slope:numel() == x:size(2)
end

function ops.PRelu(node, x, slope)
  -- Before version 7 (and in newer files of some writers) the slope is one number per channel.
  if node.version < 7 and slope:dim() == 1 and x:dim() > 2 then
    local sizes = { slope:size(1) }
    for _ = 3, x:dim() do sizes[#sizes + 1] = 1 end
    slope = slope:view(sizes)
  end
  if per_channel(x, slope) then return torch.prelu(x, slope:reshape(-1)) end
  return torch.where(x:lt(0), x * slope, x)
end

local SELU_ALPHA, SELU_GAMMA = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946

function ops.Selu(node, x)
  local alpha, gamma = node.attributes.alpha or SELU_ALPHA, node.attributes.gamma or SELU_GAMMA
  return torch.elu(x, alpha) * gamma
end

function ops.HardSigmoid(node, x)
  return torch.clamp(x * (node.attributes.alpha or 0.2) + (node.attributes.beta or 0.5), { min = 0, max = 1 })
end

function ops.ThresholdedRelu(node, x) return torch.threshold(x, node.attributes.alpha or 1.0, 0) end

function ops.Shrink(node, x)
  local lambd, bias = node.attributes.lambd or 0.5, node.attributes.bias or 0.0
  local result = torch.where(x:lt(-lambd), x + bias, torch.where(x:gt(lambd), x - bias, torch.zeros_like(x)))
  return result:to(x.dtype)
end

-- Before version 13, applies fn to the flattened dimensions from the axis on.
local function along(fn)
  return function(node, x)
    if node.version >= 13 then return fn(x, values.dim(node.attributes.axis or -1, x:dim())) end
    local axis = values.dim(node.attributes.axis or 1, x:dim()) - 1
    local sizes = values.sizes(x)
    return fn(x:reshape(values.product(sizes, 1, axis), values.product(sizes, axis + 1)), 2):view(sizes)
  end
end

ops.Softmax, ops.LogSoftmax = along(torch.softmax), along(torch.log_softmax)
ops.Hardmax = along(function(x, dim)
  local first = torch.argmax(x, dim, true)
  return torch.zeros_like(x):scatter(dim, first, 1)
end)

return { [''] = ops }
