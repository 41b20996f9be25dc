-- init.lua - torch.nn.init: fills tensors in place with initial values. Every function returns its
-- tensor and records nothing for autograd; options are positional or named in a last table.
-- Formulas: Glorot & Bengio 2010 (xavier), He et al. 2015 (kaiming), Saxe et al. 2013 (orthogonal),
-- Martens 2010 (sparse).

--[=[ arguments
tensor: Tensor to fill.
a: Lower bound.
b: Upper bound.
kaiming_normal_.a: Slope of the negative part of leaky_relu.
kaiming_uniform_.a: Slope of the negative part of leaky_relu.
mode: `'fan_in'` keeps the variance in forward, `'fan_out'` in backward.
mean: Mean of the distribution.
std: Standard deviation of the distribution.
gain: Factor of the values.
val: Value of all elements.
sparsity: Share of the elements in each column that become zero.
param: Slope of the negative part of leaky_relu.
groups: Number of groups of a convolution.
constant_(): Fills a tensor with a number.
ones_(): Fills a tensor with ones.
zeros_(): Fills a tensor with zeros.
eye_(): Fills a matrix with the identity.
kaiming_normal_(): Normal random numbers that keep the variance of ReLU layers (He et al. 2015).
xavier_normal_(): Normal random numbers that keep the variance of linear layers (Glorot, Bengio 2010).
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local init = {}

local function without_grad(tensor, fn)
  torch.no_grad(fn, tensor)
  return tensor
end

-- ---- constants and plain distributions ----------------------------------------------------------

-- Uniform random numbers from a to b.
function init.uniform_(tensor, a, b, generator)
  return without_grad(tensor, function(t) t:uniform_(a, b, { generator = generator }) end)
end

-- Normal random numbers.
function init.normal_(tensor, mean, std, generator)
  return without_grad(tensor, function(t) t:normal_(mean, std, { generator = generator }) end)
end

function init.constant_(tensor, val)
  return without_grad(tensor, function(t) t:fill_(val) end)
end

function init.ones_(tensor) return init.constant_(tensor, 1.0) end
function init.zeros_(tensor) return init.constant_(tensor, 0.0) end

function init.eye_(tensor)
  if tensor.ndim ~= 2 then fail 'Only tensors with 2 dimensions are supported' end
  return without_grad(tensor, function(t)
    t:copy_(torch.eye(t:size(1), t:size(2), { device = t.device, dtype = t.dtype }))
  end)
end

-- Draws elements again, in passes over the whole tensor, until all are accepted: draw(into) fills a
-- tensor, refused(drawn) marks elements to draw again.
local function draw_until(tensor, draw, refused)
  draw(tensor)
  local open = refused(tensor)
  while open:any():item() do
    local again = torch.empty_like(tensor)
    draw(again)
    tensor:copy_(torch.where(open, again, tensor))
    open = open:logical_and(refused(again))
  end
end

local function share_below(x)
  return (1 + torch.erf(torch.tensor(x / math.sqrt(2), { dtype = torch.float64 })):item()) / 2
end

-- trunc_normal_(tensor, mean = 0, std = 1, a = -2, b = 2, generator): normal, restricted to [a, b],
-- by rejection: of normal numbers if [a, b] has more than 0.3 of the probability, otherwise of
-- uniform numbers by their density.
function init.trunc_normal_(tensor, mean, std, a, b, generator)
  local random = { generator = generator }
  return without_grad(tensor, function(t)
    if share_below((b - mean) / std) - share_below((a - mean) / std) > 0.3 then
      return draw_until(t, function(x) x:normal_(mean, std, random) end, function(x) return x:lt(a):logical_or(x:gt(b)) end)
    end
    local peak = -0.5 * ((math.max(a, math.min(mean, b)) - mean) / std) ^ 2
    return draw_until(t, function(x) x:uniform_(a, b, random) end, function(x)
      local density = ((x - mean) / std):square() * -0.5 - peak
      return torch.empty_like(x):uniform_(0, 1, random):log():gt(density)
    end)
  end)
end

-- dirac_(tensor, groups = 1): convolution weights that preserve as many channels as possible.
function init.dirac_(tensor, groups)
  local ndim = tensor.ndim
  if ndim < 3 or ndim > 5 then fail 'Only tensors with 3, 4, or 5 dimensions are supported' end
  local out = tensor:size(1)
  if out % groups ~= 0 then fail 'dim 0 must be divisible by groups' end
  local per_group = out // groups
  return without_grad(tensor, function(t)
    t:zero_()
    for g = 0, groups - 1 do
      for d = 1, math.min(per_group, t:size(2)) do
        local at = { g * per_group + d, d }
        for i = 3, ndim do at[i] = t:size(i) // 2 + 1 end
        t[at] = 1
      end
    end
  end)
end

-- ---- scaled by the number of inputs and outputs -------------------------------------------------

local function fans(tensor)
  if tensor.ndim < 2 then fail 'Fan in and fan out can not be computed for tensor with fewer than 2 dimensions' end
  local receptive_field = 1
  for d = 3, tensor.ndim do receptive_field = receptive_field * tensor:size(d) end
  return tensor:size(2) * receptive_field, tensor:size(1) * receptive_field
end
init._calculate_fan_in_and_fan_out = fans

-- The recommended gain for a nonlinearity; param is leaky_relu's slope.
function init.calculate_gain(nonlinearity, param)
  local gains = { linear = 1, identity = 1, sigmoid = 1, tanh = 5 / 3, relu = math.sqrt(2), selu = 3 / 4 }
  if type(nonlinearity) == 'string' and nonlinearity:match '^conv' then return 1 end
  if nonlinearity == 'leaky_relu' then
    if param ~= nil and type(param) ~= 'number' then fail('negative_slope %s not a valid number', tostring(param)) end
    local slope = param == nil and 0.01 or param
    return math.sqrt(2 / (1 + slope * slope))
  end
  if not gains[nonlinearity] then fail('Unsupported nonlinearity %s', tostring(nonlinearity)) end
  return gains[nonlinearity]
end

-- Uniform random numbers whose bound keeps the variance of values and gradients between layers.
function init.xavier_uniform_(tensor, gain, generator)
  local fan_in, fan_out = fans(tensor)
  local bound = math.sqrt(3) * (gain * math.sqrt(2 / (fan_in + fan_out)))
  return init.uniform_(tensor, -bound, bound, generator)
end

function init.xavier_normal_(tensor, gain, generator)
  local fan_in, fan_out = fans(tensor)
  return init.normal_(tensor, 0.0, gain * math.sqrt(2 / (fan_in + fan_out)), generator)
end

local function kaiming_std(tensor, a, mode, nonlinearity)
  if mode ~= 'fan_in' and mode ~= 'fan_out' then
    fail("Mode %s not supported, please use one of ['fan_in', 'fan_out']", tostring(mode))
  end
  local fan_in, fan_out = fans(tensor)
  return init.calculate_gain(nonlinearity, a) / math.sqrt(mode == 'fan_in' and fan_in or fan_out)
end

-- Uniform random numbers whose bound keeps the variance through layers with the nonlinearity.
function init.kaiming_uniform_(tensor, a, mode, nonlinearity, generator)
  if tensor:numel() == 0 then return tensor end
  local bound = math.sqrt(3) * kaiming_std(tensor, a, mode, nonlinearity)
  return init.uniform_(tensor, -bound, bound, generator)
end

function init.kaiming_normal_(tensor, a, mode, nonlinearity, generator)
  if tensor:numel() == 0 then return tensor end
  return init.normal_(tensor, 0.0, kaiming_std(tensor, a, mode, nonlinearity), generator)
end

-- ---- structured ---------------------------------------------------------------------------------

-- orthogonal_(tensor, gain = 1, generator): the rows, or the columns if there are fewer, are
-- orthonormal times gain.
function init.orthogonal_(tensor, gain, generator)
  if tensor.ndim < 2 then fail 'Only tensors with 2 or more dimensions are supported' end
  if tensor:numel() == 0 then return tensor end
  local rows = tensor:size(1)
  local columns = tensor:numel() // rows
  return without_grad(tensor, function(t)
    local flat = torch.empty(rows, columns, { dtype = t.dtype, device = t.device }):normal_(0, 1, { generator = generator })
    if rows < columns then flat = flat:t() end
    local q, r = torch.linalg.qr(flat)
    q = q * torch.sign(torch.diagonal(r)) -- uniform over all such matrices (Mezzadri 2006)
    if rows < columns then q = q:t() end
    t:view_as(q):copy_(q)
    t:mul_(gain)
  end)
end

-- sparse_(tensor, sparsity, std = 0.01, generator): a fraction `sparsity` of each column is zero,
-- the rest normal.
function init.sparse_(tensor, sparsity, std, generator)
  if tensor.ndim ~= 2 then fail 'Only tensors with 2 dimensions are supported' end
  local rows, columns = tensor:size(1), tensor:size(2)
  local zeros = math.ceil(sparsity * rows)
  return without_grad(tensor, function(t)
    t:normal_(0, std, { generator = generator })
    for column = 1, columns do
      local order = torch.randperm(rows)
      if zeros > 0 then t:select(2, column):index_fill_(1, order:narrow(1, 1, zeros):to(t.device), 0) end
    end
  end)
end

return declare.functions(init, [[
  uniform_(Tensor|Unmade tensor, number a=0.0, number b=1.0, Generator? generator)
  normal_(Tensor|Unmade tensor, number mean=0.0, number std=1.0, Generator? generator)
  trunc_normal_(Tensor|Unmade tensor, number mean=0.0, number std=1.0, number a=-2.0, number b=2.0, Generator? generator)
  constant_(Tensor|Unmade tensor, number|Tensor val)
  ones_(Tensor|Unmade tensor)
  zeros_(Tensor|Unmade tensor)
  eye_(Tensor|Unmade tensor)
  dirac_(Tensor|Unmade tensor, integer groups=1)
  xavier_uniform_(Tensor|Unmade tensor, number gain=1.0, Generator? generator)
  xavier_normal_(Tensor|Unmade tensor, number gain=1.0, Generator? generator)
  kaiming_uniform_(Tensor|Unmade tensor, number a=0, string mode='fan_in', string nonlinearity='leaky_relu', Generator? generator)
  kaiming_normal_(Tensor|Unmade tensor, number a=0, string mode='fan_in', string nonlinearity='leaky_relu', Generator? generator)
  orthogonal_(Tensor|Unmade tensor, number gain=1, Generator? generator)
  sparse_(Tensor|Unmade tensor, number sparsity, number std=0.01, Generator? generator)
  calculate_gain(any nonlinearity, any? param)
]])
