-- continuous.lua - distributions of real numbers with a closed form: Normal, Uniform, Exponential,
-- Laplace, Cauchy, VonMises, GeneralizedPareto.

--[=[ examples
Normal
    d = torch.distributions.Normal(0.0, 1.0)
    d.mean, d:log_prob(torch.tensor(0.0))
    --> (tensor(0.), tensor(-0.9189))
Uniform
    d = torch.distributions.Uniform(0.0, 4.0)
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(2.), tensor(-1.3863))
Exponential
    d = torch.distributions.Exponential(2.0)
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(0.5000), tensor(-1.3069))
Laplace
    d = torch.distributions.Laplace(0.0, 1.0)
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(0.), tensor(-1.6931))
Cauchy
    d = torch.distributions.Cauchy(0.0, 1.0)
    d:log_prob(torch.tensor(0.0))
    --> tensor(-1.1447)
VonMises
    d = torch.distributions.VonMises(torch.tensor(0.0), torch.tensor(1.0))
    d.mean, d:log_prob(torch.tensor(0.0))
    --> (tensor(0.), tensor(-1.0738))
GeneralizedPareto
    d = torch.distributions.GeneralizedPareto(0.0, 1.0, 0.1)
    d:log_prob(torch.tensor(1.0))
    --> tensor(-1.0484)
]=]

local torch = require 'torch'
local constraints = require 'torch.distributions.constraints'
local Distribution = require 'torch.distributions.distribution'
local utils = require 'torch.distributions.utils'
local like = utils.like

local M = {}

local Exponentials = Distribution.ExponentialFamily

-- A class with one or two broadcast parameters, which samples by rsample.
local function define(name, list, support, getters, base, finish)
  local class = (base or Distribution):derive(name, getters)
  class.has_rsample = true
  if support then class.getters.support = function() return support end end
  class:parametrize(list, nil, finish)
  M[name] = class
  return class
end

local loc, scale = { 'loc', constraints.real }, { 'scale', constraints.positive }

-- ---- Normal -------------------------------------------------------------------------------------

--- Normal(loc, scale): mean loc, standard deviation scale.
local Normal = define('Normal', { loc, scale }, constraints.real, {
  mean = function(self) return self.loc end,
  mode = function(self) return self.loc end,
  stddev = function(self) return self.scale end,
  variance = function(self) return self.scale * self.scale end,
}, Exponentials)

function Normal:sample(...)
  local _ <close> = torch.no_grad()
  local shape = self:extended_shape(...)
  return torch.normal(self.loc:expand(shape), self.scale:expand(shape))
end

function Normal:rsample(...)
  local noise = torch.empty(self:extended_shape(...), like(self.loc)):normal_(0, 1)
  return self.loc + noise * self.scale
end

function Normal:log_prob(value)
  self:check_value(value)
  local d = value - self.loc
  return -(d * d) / (2 * self.variance) - self.scale:log() - math.log(math.sqrt(2 * math.pi))
end

function Normal:cdf(value)
  self:check_value(value)
  return (torch.erf((value - self.loc) * self.scale:reciprocal() / math.sqrt(2)) + 1) * 0.5
end

function Normal:icdf(value) return self.loc + self.scale * torch.erfinv(value * 2 - 1) * math.sqrt(2) end
function Normal:entropy() return self.scale:log() + (0.5 + 0.5 * math.log(2 * math.pi)) end

-- ---- Uniform ------------------------------------------------------------------------------------

--- Uniform(low, high): every number from low to below high alike.
local Uniform = define('Uniform', { { 'low', constraints.dependent }, { 'high', constraints.dependent } }, nil, {
  mean = function(self) return (self.high + self.low) / 2 end,
  mode = function(self) return torch.full_like(self.high, 0 / 0) end,
  stddev = function(self) return (self.high - self.low) / math.sqrt(12) end,
  variance = function(self) return (self.high - self.low):square() / 12 end,
  support = function(self) return constraints.interval(self.low, self.high) end,
}, nil, function(self)
  self.arg_constraints = { low = constraints.less_than(self.high), high = constraints.greater_than(self.low) }
end)
function Uniform:rsample(...)
  return self.low + torch.rand(self:extended_shape(...), like(self.low)) * (self.high - self.low)
end
function Uniform:log_prob(value)
  self:check_value(value)
  local inside = self.low:le(value):to(self.low.dtype) * self.high:gt(value):to(self.low.dtype)
  return inside:log() - (self.high - self.low):log()
end
function Uniform:cdf(value)
  self:check_value(value)
  return ((value - self.low) / (self.high - self.low)):clamp { min = 0, max = 1 }
end
function Uniform:icdf(value) return value * (self.high - self.low) + self.low end
function Uniform:entropy() return (self.high - self.low):log() end

-- ---- Exponential --------------------------------------------------------------------------------

--- Exponential(rate): the waiting time between events with `rate` events per unit.
local Exponential = define('Exponential', { { 'rate', constraints.positive } }, constraints.nonnegative, {
  mean = function(self) return self.rate:reciprocal() end,
  mode = function(self) return torch.zeros_like(self.rate) end,
  stddev = function(self) return self.rate:reciprocal() end,
  variance = function(self) return self.rate:pow(-2) end,
}, Exponentials)
function Exponential:rsample(...)
  return torch.empty(self:extended_shape(...), like(self.rate)):exponential_() / self.rate
end
function Exponential:log_prob(value)
  self:check_value(value)
  return self.rate:log() - self.rate * value
end
function Exponential:cdf(value)
  self:check_value(value)
  return 1 - (-self.rate * value):exp()
end
function Exponential:icdf(value) return -(-value):log1p() / self.rate end
function Exponential:entropy() return 1 - self.rate:log() end

-- ---- Laplace ------------------------------------------------------------------------------------

--- Laplace(loc, scale): an Exponential to both sides of loc.
local Laplace = define('Laplace', { loc, scale }, constraints.real, {
  mean = function(self) return self.loc end,
  mode = function(self) return self.loc end,
  stddev = function(self) return self.scale * math.sqrt(2) end,
  variance = function(self) return self.scale:square() * 2 end,
})
function Laplace:rsample(...)
  local tiny = torch.finfo(self.loc.dtype).eps / 2
  local u = torch.empty(self:extended_shape(...), like(self.loc)):uniform_(2 * tiny - 1, 1)
  return self.loc - self.scale * u:sign() * (-u:abs()):log1p()
end
function Laplace:log_prob(value)
  self:check_value(value)
  return -(self.scale * 2):log() - (value - self.loc):abs() / self.scale
end
function Laplace:cdf(value)
  self:check_value(value)
  local d = value - self.loc
  return 0.5 - d:sign() * (-d:abs() / self.scale):expm1() * 0.5
end
function Laplace:icdf(value)
  local t = value - 0.5
  return self.loc - self.scale * t:sign() * (t:abs() * -2):log1p()
end
function Laplace:entropy() return (self.scale * 2):log() + 1 end

-- ---- Cauchy -------------------------------------------------------------------------------------

--- Cauchy(loc, scale): the ratio of two normal numbers, which has no mean.
local Cauchy = define('Cauchy', { loc, scale }, constraints.real, {
  mean = function(self) return torch.full_like(self.loc, 0 / 0) end,
  mode = function(self) return self.loc end,
  variance = function(self) return torch.full_like(self.loc, math.huge) end,
})
function Cauchy:rsample(...)
  return self.loc + torch.empty(self:extended_shape(...), like(self.loc)):cauchy_() * self.scale
end
function Cauchy:log_prob(value)
  self:check_value(value)
  return -self.scale:log() - ((value - self.loc) / self.scale):square():log1p() - math.log(math.pi)
end
function Cauchy:cdf(value)
  self:check_value(value)
  return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5
end
function Cauchy:icdf(value) return torch.tan((value - 0.5) * math.pi) * self.scale + self.loc end
function Cauchy:entropy() return self.scale:log() + math.log(4 * math.pi) end

-- ---- VonMises -----------------------------------------------------------------------------------

-- log I_order(x), the modified Bessel function of the first kind of order 0 or 1: the polynomials
-- of Abramowitz and Stegun, 9.8.1 to 9.8.4, as in PyTorch.
local small_terms = {
  [0] = { 1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813 },
  { 0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411 },
}
local large_terms = {
  [0] = { 0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377 },
  { 0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059 },
}
local function polynomial(x, terms)
  local sum = torch.full_like(x, terms[#terms])
  for i = #terms - 1, 1, -1 do sum = terms[i] + x * sum end
  return sum
end
local function log_bessel(x, order)
  local small = polynomial((x / 3.75):square(), small_terms[order])
  if order == 1 then small = x:abs() * small end
  local large = x - 0.5 * x:log() + polynomial(3.75 / x, large_terms[order]):log()
  return torch.where(x:lt(3.75), small:log(), large)
end

--- VonMises(loc, concentration): angles from -pi to pi around loc. Drawn in float64 by rejection
--- (Best and Fisher, 1979).
local VonMises = define('VonMises', { loc, { 'concentration', constraints.positive } }, constraints.real, {
  mean = function(self) return self.loc end,
  mode = function(self) return self.loc end,
  variance = function(self) return 1 - (log_bessel(self.concentration, 1) - log_bessel(self.concentration, 0)):exp() end,
})
VonMises.has_rsample, VonMises.rsample = false, Distribution.rsample

function VonMises:log_prob(value)
  self:check_value(value)
  return self.concentration * torch.cos(value - self.loc) - math.log(2 * math.pi) - log_bessel(self.concentration, 0)
end

function VonMises:sample(...)
  local _ <close> = torch.no_grad()
  local shape, kappa, centre = self:extended_shape(...), self.concentration:double(), self.loc:double()
  local tau = 1 + (1 + 4 * kappa:square()):sqrt()
  local rho = (tau - (2 * tau):sqrt()) / (2 * kappa)
  local r = torch.where(kappa:lt(1e-5), 1 / kappa + kappa, (1 + rho:square()) / (2 * rho))
  local x = torch.zeros(shape, like(centre))
  local done = torch.zeros(shape, { dtype = torch.bool, device = centre.device })
  while not done:all():item() do
    local u = torch.rand(utils.append({ 3 }, shape), like(centre))
    local z = torch.cos(math.pi * u[1])
    local f = (1 + r * z) / (r + z)
    local c = kappa * (r - f)
    local accept = (c * (2 - c) - u[2]):gt(0):logical_or(((c / u[2]):log() + 1 - c):ge(0))
    x = torch.where(accept, (u[3] - 0.5):sign() * f:acos(), x)
    done = done:logical_or(accept)
  end
  return ((x + math.pi + centre) % (2 * math.pi) - math.pi):to(self.loc.dtype)
end

-- ---- GeneralizedPareto --------------------------------------------------------------------------

--- GeneralizedPareto(loc, scale, concentration): the excess over a high threshold; with
-- concentration 0 an Exponential.
local GeneralizedPareto = define('GeneralizedPareto', { loc, scale, { 'concentration', constraints.real } }, nil, {
  mean = function(self)
    local k = self.concentration
    local finite = k:lt(1)
    return torch.where(finite, self.loc + self.scale / (1 - torch.where(finite, k, 0.5)), 0 / 0)
  end,
  mode = function(self) return self.loc end,
  variance = function(self)
    local k = self.concentration
    local finite = k:lt(0.5)
    local safe = torch.where(finite, k, 0.25)
    return torch.where(finite, self.scale:square() / ((1 - safe):square() * (1 - 2 * safe)), 0 / 0)
  end,
  support = function(self)
    local k = self.concentration
    return constraints.interval(self.loc, torch.where(k:lt(0), self.loc - self.scale / k, math.huge))
  end,
})

-- A mask of concentrations that count as 0, and the concentration with these replaced by 1.
local function shape_of(self)
  local k = self.concentration
  local none = torch.isclose(k, torch.zeros_like(k))
  return none, torch.where(none, torch.ones_like(k), k)
end
function GeneralizedPareto:rsample(...) return self:icdf(torch.rand(self:extended_shape(...), like(self.loc))) end
function GeneralizedPareto:log_prob(value)
  self:check_value(value)
  local z = (value - self.loc) / self.scale
  local none, k = shape_of(self)
  local power = 1 / k + torch.ones_like(z)
  local general = torch.where(power:eq(0), power, power * (k * z):log1p())
  return -self.scale:log() - torch.where(none, z, general)
end
--- The logarithm of the probability of more than value.
function GeneralizedPareto:log_survival_function(value)
  self:check_value(value)
  local z = (value - self.loc) / self.scale
  local none, k = shape_of(self)
  return torch.where(none, -z, -(k * z):log1p() / k)
end
function GeneralizedPareto:log_cdf(value) return (-self:log_survival_function(value):exp()):log1p() end
function GeneralizedPareto:cdf(value) return self:log_cdf(value):exp() end
function GeneralizedPareto:icdf(value)
  local none, k = shape_of(self)
  local log = (-value):log1p()
  return torch.where(none, self.loc - self.scale * log, self.loc + self.scale / k * (-k * log):expm1())
end
function GeneralizedPareto:entropy() return self.scale:log() + self.concentration + 1 end

return M
