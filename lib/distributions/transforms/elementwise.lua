-- elementwise.lua - transforms of every element for itself: Exp, Power, Sigmoid, Softplus, Tanh,
-- Abs, Affine, and by a distribution's cdf.

--[=[ arguments
ExpTransform(): y = exp(x).
SigmoidTransform(): y = 1 / (1 + exp(-x)).
SoftplusTransform(): y = log(1 + exp(x)).
TanhTransform(): y = tanh(x).
]=]

--[=[ examples
ExpTransform
    t = torch.distributions.ExpTransform()
    t(torch.tensor{-1.0, 1.0})
    --> tensor([0.3679, 2.7183])
SigmoidTransform
    t = torch.distributions.SigmoidTransform()
    t(torch.tensor{-1.0, 1.0})
    --> tensor([0.2689, 0.7311])
SoftplusTransform
    t = torch.distributions.SoftplusTransform()
    t(torch.tensor{-1.0, 1.0})
    --> tensor([0.3133, 1.3133])
TanhTransform
    t = torch.distributions.TanhTransform()
    t(torch.tensor{-1.0, 1.0})
    --> tensor([-0.7616,  0.7616])
AbsTransform
    t = torch.distributions.AbsTransform()
    t(torch.tensor{-1.0, 1.0})
    --> tensor([1., 1.])
PowerTransform
    t = torch.distributions.PowerTransform(torch.tensor(2.0))
    t(torch.tensor{1.0, 3.0})
    --> tensor([1., 9.])
AffineTransform
    t = torch.distributions.AffineTransform(1.0, 2.0)
    t(torch.tensor{-1.0, 1.0})
    --> tensor([-1.,  3.])
CumulativeDistributionTransform
    t = torch.distributions.CumulativeDistributionTransform(torch.distributions.Normal(0.0, 1.0))
    t(torch.tensor{-1.0, 1.0})
    --> tensor([0.1587, 0.8413])
]=]

local torch = require 'torch'
local constraints = require 'torch.distributions.constraints'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local utils = require 'torch.distributions.utils'
local Transform = require 'torch.distributions.transforms.transform'.Transform

local M = {}

-- A class of increasing bijections without parameters.
local function simple(name, domain, codomain, members)
  local made = Transform:derive(name)
  made:alike()
  made.domain, made.codomain, made.bijective, made.sign = domain, codomain, true, 1
  for key, value in pairs(members) do made[key] = value end
  made.getters.sign = function() return 1 end
  M[name] = made
end

local function softplus(x) return torch.nn.functional.softplus(x) end

--- y = exp(x)
simple('ExpTransform', constraints.real, constraints.positive, {
  _call = function(_, x) return x:exp() end,
  _inverse = function(_, y) return y:log() end,
  log_abs_det_jacobian = function(self, x, _) return x end,
})

--- y = 1 / (1 + exp(-x)), clamped to the interior of (0, 1)
simple('SigmoidTransform', constraints.real, constraints.unit_interval, {
  _call = function(_, x)
    local limits = torch.finfo(x.dtype)
    return torch.sigmoid(x):clamp { min = limits.tiny, max = 1 - limits.eps }
  end,
  _inverse = function(_, y)
    local limits = torch.finfo(y.dtype)
    y = y:clamp { min = limits.tiny, max = 1 - limits.eps }
    return y:log() - (-y):log1p()
  end,
  log_abs_det_jacobian = function(self, x, _) return -softplus(-x) - softplus(x) end,
})

--- y = log(1 + exp(x))
simple('SoftplusTransform', constraints.real, constraints.positive, {
  _call = function(_, x) return softplus(x) end,
  _inverse = function(_, y) return (-(-y):expm1()):log() + y end,
  log_abs_det_jacobian = function(self, x, _) return -softplus(-x) end,
})

--- y = tanh(x)
simple('TanhTransform', constraints.real, constraints.interval(-1.0, 1.0), {
  _call = function(_, x) return x:tanh() end,
  _inverse = function(_, y) return y:atanh() end,
  log_abs_det_jacobian = function(self, x, _) return (math.log(2) - x - softplus(-2 * x)) * 2 end,
})

--- y = |x|; its inverse returns y.
local AbsTransform = Transform:derive 'AbsTransform'
AbsTransform:alike()
AbsTransform.domain, AbsTransform.codomain = constraints.real, constraints.positive
function AbsTransform:_call(x) return x:abs() end
function AbsTransform:_inverse(y) return y end
M.AbsTransform = AbsTransform

local function same_parameter(a, b)
  if type(a) == 'number' and type(b) == 'number' then return a == b end
  return torch.is_tensor(a) and torch.is_tensor(b) and torch.equal(a, b)
end

local function shape_of(parameter) return torch.is_tensor(parameter) and parameter.shape or {} end

--- PowerTransform(exponent): y = x ^ exponent
local PowerTransform = Transform:derive('PowerTransform', { sign = function(self) return self.exponent:sign() end })
PowerTransform.domain, PowerTransform.codomain, PowerTransform.bijective = constraints.positive, constraints.positive, true
function PowerTransform:init(exponent, cache_size)
  self.exponent = utils.broadcast_all(exponent)
  self:set_cache(cache_size)
end
declare.methods(PowerTransform, 'init(self, number|Tensor exponent, integer cache_size=0)')
function PowerTransform:arguments() return self.exponent end
function PowerTransform:equal(other) return self:same_kind(other) and same_parameter(self.exponent, other.exponent) end
function PowerTransform:_call(x) return x:pow(self.exponent) end
function PowerTransform:_inverse(y) return y:pow(1 / self.exponent) end
function PowerTransform:log_abs_det_jacobian(x, y) return (self.exponent * y / x):abs():log() end
function PowerTransform:forward_shape(shape) return utils.broadcast_shapes(shape, self.exponent.shape) end
PowerTransform.inverse_shape = PowerTransform.forward_shape
M.PowerTransform = PowerTransform

--- AffineTransform(loc, scale, event_dim = 0): y = loc + scale * x, numbers or tensors.
local AffineTransform = Transform:derive('AffineTransform', {
  event_dim = function(self) return self._event_dim end,
  domain = function(self)
    return self._event_dim == 0 and constraints.real or constraints.independent(constraints.real, self._event_dim)
  end,
  sign = function(self)
    if torch.is_tensor(self.scale) then return self.scale:sign() end
    return self.scale > 0 and 1 or self.scale < 0 and -1 or 0
  end,
})
AffineTransform.getters.codomain = AffineTransform.getters.domain
AffineTransform.bijective = true
function AffineTransform:init(loc, scale, event_dim, cache_size)
  self.loc, self.scale, self._event_dim = loc, scale, event_dim
  self:set_cache(cache_size)
end
declare.methods(AffineTransform, 'init(self, number|Tensor loc, number|Tensor scale, integer event_dim=0, integer cache_size=0)')
function AffineTransform:arguments() return self.loc, self.scale, self._event_dim end
function AffineTransform:equal(other)
  return self:same_kind(other) and same_parameter(self.loc, other.loc) and same_parameter(self.scale, other.scale)
end
function AffineTransform:_call(x) return self.loc + self.scale * x end
function AffineTransform:_inverse(y) return (y - self.loc) / self.scale end
function AffineTransform:log_abs_det_jacobian(x, y)
  local n = self._event_dim
  local scale = self.scale
  local result = torch.is_tensor(scale) and scale:abs():log() or torch.full_like(x, math.log(math.abs(scale)))
  local shape = utils.slice(x.shape, 1, x.ndim - n)
  if n > 0 then result = utils.sum_rightmost(result:expand(utils.broadcast_shapes(result.shape, x.shape)), n) end
  return result:expand(shape)
end
function AffineTransform:forward_shape(shape)
  return utils.broadcast_shapes(shape, shape_of(self.loc), shape_of(self.scale))
end
AffineTransform.inverse_shape = AffineTransform.forward_shape
M.AffineTransform = AffineTransform

--- CumulativeDistributionTransform(distribution): y = distribution:cdf(x), uniform if x is drawn
-- from the distribution.
local CumulativeDistributionTransform = Transform:derive('CumulativeDistributionTransform', {
  domain = function(self) return self.distribution.support end,
  sign = function() return 1 end,
})
CumulativeDistributionTransform.codomain, CumulativeDistributionTransform.bijective = constraints.unit_interval, true
function CumulativeDistributionTransform:init(distribution, cache_size)
  if type(distribution) ~= 'userdata' or distribution.batch_shape == nil then
    fail("CumulativeDistributionTransform(): argument 'distribution' must be a Distribution, not %s", kinds.described(distribution))
  end
  self.distribution = distribution
  self:set_cache(cache_size)
end
declare.methods(CumulativeDistributionTransform, 'init(self, any distribution, integer cache_size=0)')
function CumulativeDistributionTransform:arguments() return self.distribution end
function CumulativeDistributionTransform:_call(x) return self.distribution:cdf(x) end
function CumulativeDistributionTransform:_inverse(y) return self.distribution:icdf(y) end
function CumulativeDistributionTransform:log_abs_det_jacobian(x, y) return self.distribution:log_prob(x) end
M.CumulativeDistributionTransform = CumulativeDistributionTransform

return M
