-- derived.lua - distributions that are a transformed simpler one: LogNormal, LogisticNormal,
-- HalfNormal, HalfCauchy, Gumbel, Weibull, Pareto, Kumaraswamy, InverseGamma.

--[=[ arguments
HalfNormal(): The distribution of the absolute value of a normal variable.
HalfCauchy(): The distribution of the absolute value of a Cauchy variable.
]=]

--[=[ examples
LogNormal
    d = torch.distributions.LogNormal(0.0, 1.0)
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(1.6487), tensor(-0.9189))
LogisticNormal
    d = torch.distributions.LogisticNormal(torch.tensor{0.0, 0.0}, torch.tensor{1.0, 1.0})
    d:sample().shape
    --> torch.Size([3])
HalfNormal
    d = torch.distributions.HalfNormal(1.0)
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(0.7979), tensor(-0.7258))
HalfCauchy
    d = torch.distributions.HalfCauchy(1.0)
    d:log_prob(torch.tensor(1.0))
    --> tensor(-1.1447)
Gumbel
    d = torch.distributions.Gumbel(0.0, 1.0)
    d.mean, d:log_prob(torch.tensor(0.0))
    --> (tensor(0.5772), tensor(-1.))
Weibull
    d = torch.distributions.Weibull(1.0, 2.0)
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(0.8862), tensor(-0.3069))
Pareto
    d = torch.distributions.Pareto(1.0, 3.0)
    d.mean, d:log_prob(torch.tensor(2.0))
    --> (tensor(1.5000), tensor(-1.6740))
Kumaraswamy
    d = torch.distributions.Kumaraswamy(torch.tensor(2.0), torch.tensor(2.0))
    d.mean, d:log_prob(torch.tensor(0.5))
    --> (tensor(0.5333), tensor(0.4055))
InverseGamma
    d = torch.distributions.InverseGamma(torch.tensor(3.0), torch.tensor(2.0))
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(1.), tensor(-0.6137))
]=]

local torch = require 'torch'
local constraints = require 'torch.distributions.constraints'
local continuous = require 'torch.distributions.continuous'
local Distribution = require 'torch.distributions.distribution'
local TransformedDistribution = require 'torch.distributions.composed'.TransformedDistribution
local elementwise = require 'torch.distributions.transforms.elementwise'
local vector = require 'torch.distributions.transforms.vector'
local utils = require 'torch.distributions.utils'
local declare = require 'torch.support.arguments'

local Exp, Affine, Power = elementwise.ExpTransform, elementwise.AffineTransform, elementwise.PowerTransform
local euler = utils.euler_constant
local unchecked = { validate_args = false }

local M = {}

-- A class with these parameters ({name, constraint}, ...). parts(a, b) returns the base
-- distribution and the transforms; the parameters are its own fields if `owned`, otherwise fields
-- of the base with the same names.
local function define(name, list, support, owned, parts, getters)
  for _, entry in ipairs(list) do
    local key = entry[1]
    if not owned and not getters[key] then getters[key] = function(self) return self.base_dist[key] end end
  end
  local made = TransformedDistribution:derive(name, getters)
  if support then made.getters.support = function() return support end end
  made:constrain(list)
  local names = made.parameter_names
  local read = declare.reader(Distribution.declaration(made))
  function made:init(...)
    local options = read(...)
    local values = table.pack(utils.broadcast_all(options[names[1]], options[names[2]] or options[names[1]]))
    for i, key in ipairs(names) do
      if owned then self[key] = values[i] end
    end
    local base, transforms = parts(values[1], values[2], options.validate_args)
    self:setup_from(base, transforms, options.validate_args)
  end
  function made:expand(...)
    local shape, values = utils.dims_of(...), {}
    for _, key in ipairs(names) do values[key] = self[key]:expand(shape) end
    return self:renewed(values)
  end
  M[name] = made
  return made
end

local loc, scale = { 'loc', constraints.real }, { 'scale', constraints.positive }

-- ---- of a Normal --------------------------------------------------------------------------------

--- LogNormal(loc, scale): exp of a Normal.
local LogNormal = define('LogNormal', { loc, scale }, constraints.positive, false, function(a, b, validate_args)
  return continuous.Normal(a, b, { validate_args = validate_args }), { Exp() }
end, {
  mean = function(self) return (self.loc + self.scale:square() / 2):exp() end,
  mode = function(self) return (self.loc - self.scale:square()):exp() end,
  variance = function(self)
    local s2 = self.scale:square()
    return s2:expm1() * (self.loc * 2 + s2):exp()
  end,
})
function LogNormal:entropy() return self.base_dist:entropy() + self.loc end

--- LogisticNormal(loc, scale): points of the simplex, by StickBreakingTransform of a vector of
--- Normals.
local LogisticNormal = define('LogisticNormal', { loc, scale }, constraints.simplex, false, function(a, b, validate_args)
  local base = continuous.Normal(a, b, { validate_args = validate_args })
  return #base.batch_shape == 0 and base:expand(1) or base, { vector.StickBreakingTransform() }
end, {
  loc = function(self) return self.base_dist.base_dist.loc end,
  scale = function(self) return self.base_dist.base_dist.scale end,
})
LogisticNormal.expand = nil -- define's method: overwriting it would bypass __newindex, which declares methods
function LogisticNormal:expand(...)
  local shape = utils.append(utils.dims_of(...), self.base_dist.event_shape)
  return self:renewed { loc = self.loc:expand(shape), scale = self.scale:expand(shape) }
end

-- ---- absolute values ----------------------------------------------------------------------------

-- The half of a symmetric distribution around 0 that is positive.
local function define_half(name, whole, getters)
  getters.mode = function(self) return torch.zeros_like(self.scale) end
  local half = define(name, { scale }, constraints.nonnegative, false, function(b)
    return whole(torch.zeros_like(b), b, unchecked), { elementwise.AbsTransform() }
  end, getters)
  function half:log_prob(value)
    self:check_value(value)
    return torch.where(value:ge(0), self.base_dist:log_prob(value) + math.log(2), -math.huge)
  end
  function half:cdf(value)
    self:check_value(value)
    return self.base_dist:cdf(value) * 2 - 1
  end
  function half:icdf(value) return self.base_dist:icdf((value + 1) / 2) end
  function half:entropy() return self.base_dist:entropy() - math.log(2) end
end

--- HalfNormal(scale): the absolute value of a Normal around 0.
define_half('HalfNormal', continuous.Normal, {
  mean = function(self) return self.scale * math.sqrt(2 / math.pi) end,
  variance = function(self) return self.scale:square() * (1 - 2 / math.pi) end,
})

--- HalfCauchy(scale): the absolute value of a Cauchy around 0.
define_half('HalfCauchy', continuous.Cauchy, {
  mean = function(self) return torch.full_like(self.scale, math.huge) end,
  variance = function(self) return self.base_dist.variance end,
})

-- ---- extremes -----------------------------------------------------------------------------------

--- Gumbel(loc, scale): the greatest of many.
local Gumbel = define('Gumbel', { loc, scale }, constraints.real, true, function(a, b)
  local limits = torch.finfo(a.dtype)
  local base = continuous.Uniform(torch.full_like(a, limits.tiny), torch.full_like(a, 1 - limits.eps), unchecked)
  return base, { Exp().inv, Affine(0, -torch.ones_like(b)), Exp().inv, Affine(a, -b) }
end, {
  mean = function(self) return self.loc + self.scale * euler end,
  mode = function(self) return self.loc end,
  stddev = function(self) return self.scale * (math.pi / math.sqrt(6)) end,
  variance = function(self) return self.stddev:square() end,
})
function Gumbel:log_prob(value)
  self:check_value(value)
  local y = (self.loc - value) / self.scale
  return y - y:exp() - self.scale:log()
end
function Gumbel:entropy() return self.scale:log() + (1 + euler) end

--- Weibull(scale, concentration): lifetimes with a failure rate that increases (concentration > 1)
-- or decreases.
local Weibull = define('Weibull', { scale, { 'concentration', constraints.positive } }, constraints.positive, true, function(a, k)
  return continuous.Exponential(torch.ones_like(a), unchecked), { Power(k:reciprocal()), Affine(0, a) }
end, {
  mean = function(self) return self.scale * torch.lgamma(1 + self.concentration:reciprocal()):exp() end,
  mode = function(self)
    return self.scale * ((self.concentration - 1) / self.concentration):pow(self.concentration:reciprocal())
  end,
  variance = function(self)
    local r = self.concentration:reciprocal()
    return self.scale:square() * (torch.lgamma(1 + 2 * r):exp() - (2 * torch.lgamma(1 + r)):exp())
  end,
})
function Weibull:entropy()
  local r = self.concentration:reciprocal()
  return euler * (1 - r) + (self.scale * r):log() + 1
end

--- Pareto(scale, alpha): sizes from `scale` on, the more unequal the smaller alpha is.
local Pareto = define('Pareto', { scale, { 'alpha', constraints.positive } }, nil, true, function(a, alpha, validate_args)
  return continuous.Exponential(alpha, { validate_args = validate_args }), { Exp(), Affine(0, a) }
end, {
  mean = function(self)
    local a = self.alpha:clamp { min = 1 }
    return a * self.scale / (a - 1)
  end,
  mode = function(self) return self.scale end,
  variance = function(self)
    local a = self.alpha:clamp { min = 2 }
    return self.scale:square() * a / ((a - 1):square() * (a - 2))
  end,
  support = function(self) return constraints.greater_than_eq(self.scale) end,
})
Pareto.parameter_names = { 'alpha', 'scale' } -- in PyTorch's printed order
function Pareto:entropy() return (self.scale / self.alpha):log() + (1 + self.alpha:reciprocal()) end

-- ---- of a Uniform and a Gamma -------------------------------------------------------------------

-- E[x^n] of a Kumaraswamy.
local function moment(a, b, n)
  local first = 1 + n / a
  return b * (torch.lgamma(first) + torch.lgamma(b) - torch.lgamma(first + b)):exp()
end

--- Kumaraswamy(concentration1, concentration0): like a Beta, but with a closed cdf.
local Kumaraswamy = define('Kumaraswamy', {
  { 'concentration1', constraints.positive }, { 'concentration0', constraints.positive },
}, constraints.unit_interval, true, function(a, b)
  local base = continuous.Uniform(torch.zeros_like(b), torch.ones_like(b), unchecked)
  return base, { Power(b:reciprocal()), Affine(1.0, -1.0), Power(a:reciprocal()) }
end, {
  mean = function(self) return moment(self.concentration1, self.concentration0, 1) end,
  mode = function(self)
    local a, b = self.concentration1, self.concentration0
    local log = b:reciprocal() * (-b):log1p() - (-b * a):log1p()
    return log:masked_fill(a:lt(1):logical_or(b:lt(1)), 0 / 0):exp()
  end,
  variance = function(self) return moment(self.concentration1, self.concentration0, 2) - self.mean:square() end,
})
function Kumaraswamy:entropy()
  local a, b = self.concentration1, self.concentration0
  return 1 - b:reciprocal() + (1 - a:reciprocal()) * (torch.digamma(b + 1) + euler) - a:log() - b:log()
end

--- InverseGamma(concentration, rate): 1 / Gamma.
local InverseGamma = define('InverseGamma', {
  { 'concentration', constraints.positive }, { 'rate', constraints.positive },
}, constraints.positive, false, function(a, b, validate_args)
  return torch.distributions.Gamma(a, b, { validate_args = validate_args }), { Power(-torch.ones({}, utils.like(b))) }
end, {
  mean = function(self)
    return torch.where(self.concentration:gt(1), self.rate / (self.concentration - 1), math.huge)
  end,
  mode = function(self) return self.rate / (self.concentration + 1) end,
  variance = function(self)
    local a = self.concentration
    return torch.where(a:gt(2), self.rate:square() / ((a - 1):square() * (a - 2)), math.huge)
  end,
})
function InverseGamma:entropy()
  local a = self.concentration
  return a + self.rate:log() + torch.lgamma(a) - (1 + a) * torch.digamma(a)
end

return M
