-- continuous.lua - distributions of real numbers with a closed form: Normal, LogNormal, Uniform, Exponential, Laplace,
-- Cauchy, HalfNormal.

local torch = require 'torch'
local Distribution = require 'torch.distributions.distribution'
local arguments = require 'torch.nn.arguments'
local fail = require 'torch.support.fail'

local M = {}

local function like(tensor) return { dtype = tensor.dtype, device = tensor.device } end

-- A distribution of two (or one) parameters that are broadcast; `checks` names them and what they must satisfy.
local function define(name, checks, support, getters, base)
  local class = (base or Distribution):derive(name, getters)
  local names = {}
  for i, entry in ipairs(checks) do names[i] = entry[1] end
  local read = arguments(name, table.concat(names, ' '), '', { validate_args = true })
  class.printed, class.has_rsample, class.support_name = names, true, support
  function class:init(...)
    local options = read(...)
    local given = {}
    for i, key in ipairs(names) do given[i] = options[key] end
    local values = table.pack(Distribution.broadcast(table.unpack(given)))
    for i, key in ipairs(names) do self[key] = values[i] end
    self:setup(values[1].shape, {}, options.validate_args, checks)
  end
  function class:expand(...)
    local shape, values = Distribution.dims_of(...), {}
    for i, key in ipairs(names) do values[i] = self[key]:expand(shape) end
    values[#values + 1] = { validate_args = false }
    return class(table.unpack(values))
  end
  M[name] = class
  return class
end

-- ---- Normal -------------------------------------------------------------------------------------------------------

local Normal = define('Normal', { { 'loc', 'real' }, { 'scale', 'positive' } }, 'real', {
  mean = function(self) return self.loc end,
  mode = function(self) return self.loc end,
  stddev = function(self) return self.scale end,
  variance = function(self) return self.scale * self.scale end,
})

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

-- ---- LogNormal: the exponential of a Normal -------------------------------------------------------------------------

local LogNormal = define('LogNormal', { { 'loc', 'real' }, { 'scale', 'positive' } }, 'positive', {
  base_dist = function(self) return Normal(self.loc, self.scale, { validate_args = false }) end,
  mean = function(self) return (self.loc + self.scale:square() / 2):exp() end,
  mode = function(self) return (self.loc - self.scale:square()):exp() end,
  variance = function(self)
    local s2 = self.scale:square()
    return s2:expm1() * (self.loc * 2 + s2):exp()
  end,
})
function LogNormal:rsample(...) return self.base_dist:rsample(...):exp() end
function LogNormal:sample(...) return self.base_dist:sample(...):exp() end
function LogNormal:log_prob(value)
  self:check_value(value)
  local log = value:log()
  return self.base_dist:log_prob(log) - log
end
function LogNormal:cdf(value) return self.base_dist:cdf(value:log()) end
function LogNormal:icdf(value) return self.base_dist:icdf(value):exp() end
function LogNormal:entropy() return self.base_dist:entropy() + self.loc end

-- ---- Uniform ------------------------------------------------------------------------------------------------------

local Uniform = define('Uniform', { { 'low', 'real' }, { 'high', 'real' } }, 'real', {
  mean = function(self) return (self.high + self.low) / 2 end,
  stddev = function(self) return (self.high - self.low) / math.sqrt(12) end,
  variance = function(self) return (self.high - self.low):square() / 12 end,
})
local plain_setup = Uniform.setup
function Uniform:setup(...)
  plain_setup(self, ...)
  if self.validate_args and not self.low:detach():lt(self.high:detach()):all():item() then
    fail 'Uniform is not defined when low>= high'
  end
end
function Uniform:rsample(...)
  return self.low + torch.rand(self:extended_shape(...), like(self.low)) * (self.high - self.low)
end
function Uniform:log_prob(value)
  local inside = self.low:le(value):to(self.low.dtype) * self.high:gt(value):to(self.low.dtype)
  return inside:log() - (self.high - self.low):log()
end
function Uniform:cdf(value) return ((value - self.low) / (self.high - self.low)):clamp { min = 0, max = 1 } end
function Uniform:icdf(value) return value * (self.high - self.low) + self.low end
function Uniform:entropy() return (self.high - self.low):log() end

-- ---- Exponential --------------------------------------------------------------------------------------------------

local Exponential = define('Exponential', { { 'rate', 'positive' } }, 'nonnegative', {
  mean = function(self) return self.rate:reciprocal() end,
  mode = function(self) return torch.zeros_like(self.rate) end,
  stddev = function(self) return self.rate:reciprocal() end,
  variance = function(self) return self.rate:pow(-2) end,
})
function Exponential:rsample(...)
  return torch.empty(self:extended_shape(...), like(self.rate)):exponential_() / self.rate
end
function Exponential:log_prob(value)
  self:check_value(value)
  return self.rate:log() - self.rate * value
end
function Exponential:cdf(value) return 1 - (-self.rate * value):exp() end
function Exponential:icdf(value) return -(-value):log1p() / self.rate end
function Exponential:entropy() return 1 - self.rate:log() end

-- ---- Laplace ------------------------------------------------------------------------------------------------------

local Laplace = define('Laplace', { { 'loc', 'real' }, { 'scale', 'positive' } }, 'real', {
  mean = function(self) return self.loc end,
  mode = function(self) return self.loc end,
  stddev = function(self) return self.scale * math.sqrt(2) end,
  variance = function(self) return self.scale:square() * 2 end,
})
function Laplace:rsample(...)
  local tiny = self.loc.dtype == torch.float64 and 2.0 ^ -53 or 2.0 ^ -24
  local u = torch.empty(self:extended_shape(...), like(self.loc)):uniform_(2 * tiny - 1, 1)
  return self.loc - self.scale * u:sign() * (-u:abs()):log1p()
end
function Laplace:log_prob(value)
  self:check_value(value)
  return -(self.scale * 2):log() - (value - self.loc):abs() / self.scale
end
function Laplace:cdf(value)
  local d = value - self.loc
  return 0.5 - d:sign() * (-d:abs() / self.scale):expm1() * 0.5
end
function Laplace:icdf(value)
  local t = value - 0.5
  return self.loc - self.scale * t:sign() * (t:abs() * -2):log1p()
end
function Laplace:entropy() return (self.scale * 2):log() + 1 end

-- ---- Cauchy -------------------------------------------------------------------------------------------------------

local Cauchy = define('Cauchy', { { 'loc', 'real' }, { 'scale', 'positive' } }, 'real', {
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
function Cauchy:cdf(value) return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5 end
function Cauchy:icdf(value) return torch.tan((value - 0.5) * math.pi) * self.scale + self.loc end
function Cauchy:entropy() return self.scale:log() + math.log(4 * math.pi) end

-- ---- HalfNormal: the absolute value of a Normal around 0 ------------------------------------------------------------

local HalfNormal = define('HalfNormal', { { 'scale', 'positive' } }, 'nonnegative', {
  mean = function(self) return self.scale * math.sqrt(2 / math.pi) end,
  mode = function(self) return torch.zeros_like(self.scale) end,
  variance = function(self) return self.scale:square() * (1 - 2 / math.pi) end,
})
local function whole(self) return Normal(torch.zeros_like(self.scale), self.scale, { validate_args = false }) end
function HalfNormal:rsample(...) return whole(self):rsample(...):abs() end
function HalfNormal:log_prob(value)
  self:check_value(value)
  return whole(self):log_prob(value) + math.log(2)
end
function HalfNormal:cdf(value) return whole(self):cdf(value) * 2 - 1 end
function HalfNormal:icdf(value) return whole(self):icdf((value + 1) / 2) end
function HalfNormal:entropy() return whole(self):entropy() - math.log(2) end

return M
