-- gamma.lua - Gamma and distributions derived from it: Chi2, Beta, Dirichlet, StudentT,
-- FisherSnedecor. Samples use rejection, with PyTorch's numbers for a seed on the CPU; rsample has
-- the implicit gradient by the parameters.

--[=[ examples
Gamma
    d = torch.distributions.Gamma(2.0, 1.0)
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(2.), tensor(-1.))
Chi2
    d = torch.distributions.Chi2(torch.tensor(3.0))
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(3.), tensor(-1.4189))
Beta
    d = torch.distributions.Beta(2.0, 2.0)
    d.mean, d:log_prob(torch.tensor(0.5))
    --> (tensor(0.5000), tensor(0.4055))
Dirichlet
    d = torch.distributions.Dirichlet(torch.tensor{1.0, 1.0, 2.0})
    d.mean, d:log_prob(torch.tensor{0.2, 0.3, 0.5})
    --> (tensor([0.2500, 0.2500, 0.5000]), tensor(1.0986))
StudentT
    d = torch.distributions.StudentT(torch.tensor(5.0))
    d.mean, d:log_prob(torch.tensor(0.0))
    --> (tensor(0.), tensor(-0.9686))
FisherSnedecor
    d = torch.distributions.FisherSnedecor(torch.tensor(3.0), torch.tensor(5.0))
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(1.6667), tensor(-1.0184))
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local constraints = require 'torch.distributions.constraints'
local Distribution = require 'torch.distributions.distribution'
local fail = require 'torch.support.fail'
local utils = require 'torch.distributions.utils'

local M = {}

local ExponentialFamily = Distribution.ExponentialFamily
local unchecked = { validate_args = false }
local function positive(name) return { name, constraints.positive } end

local function define(name, parent, support, getters)
  local made = parent:derive(name, getters)
  made.has_rsample = true
  made.getters.support = function() return support end
  M[name] = made
  return made
end

-- ---- Gamma --------------------------------------------------------------------------------------

--- Gamma(concentration, rate): the sum of `concentration` Exponentials, generalized to fractions.
local Gamma = define('Gamma', ExponentialFamily, constraints.nonnegative, {
  mean = function(self) return self.concentration / self.rate end,
  mode = function(self) return ((self.concentration - 1) / self.rate):clamp { min = 0 } end,
  variance = function(self) return self.concentration / self.rate:square() end,
})
Gamma:parametrize { positive 'concentration', positive 'rate' }

function Gamma:rsample(...)
  local shape = self:extended_shape(...)
  local draws = torch._C._standard_gamma(self.concentration:expand(shape)) / self.rate:expand(shape)
  return draws:clamp { min = torch.finfo(draws.dtype).tiny }
end
function Gamma:log_prob(value)
  self:check_value(value)
  local a, b = self.concentration, self.rate
  return torch.xlogy(a, b) + torch.xlogy(a - 1, value) - b * value - torch.lgamma(a)
end
function Gamma:entropy()
  local a = self.concentration
  return a - self.rate:log() + torch.lgamma(a) + (1 - a) * torch.digamma(a)
end

function Gamma:cdf(value)
  self:check_value(value)
  return torch.igamma(self.concentration, self.rate * value)
end

--- Chi2(df) = Gamma(df / 2, 1 / 2): the sum of df squared normal numbers.
local Chi2 = define('Chi2', Gamma, constraints.nonnegative, { df = function(self) return self.concentration * 2 end })
Chi2:constrain { positive 'df' }
local read_chi2 = declare.reader 'Chi2(number|Tensor df, boolean? validate_args)'
function Chi2:init(...)
  local options = read_chi2(...)
  Gamma.init(self, utils.broadcast_all(options.df) * 0.5, 0.5, { validate_args = options.validate_args })
end
function Chi2:expand(...) return self:renewed { df = self.df:expand(utils.dims_of(...)) } end

-- ---- Dirichlet, Beta ----------------------------------------------------------------------------

--- Dirichlet(concentration): points of the simplex; the last dim of concentration has one number
-- for each coordinate.
local Dirichlet = define('Dirichlet', ExponentialFamily, constraints.simplex, {
  mean = function(self) return self.concentration / self.concentration:sum(-1, true) end,
  mode = function(self)
    local a = self.concentration
    local above = (a - 1):clamp { min = 0 }
    local mode = above / above:sum(-1, true)
    local corner = torch.nn.functional.one_hot(mode:argmax(-1), a:size(-1)):to(mode.dtype)
    return torch.where(a:lt(1):all(-1, true), corner, mode)
  end,
  variance = function(self)
    local total = self.concentration:sum(-1, true)
    return self.concentration * (total - self.concentration) / (total:square() * (total + 1))
  end,
})
Dirichlet:constrain { { 'concentration', constraints.independent(constraints.positive, 1) } }
local read_dirichlet = declare.reader 'Dirichlet(Tensor concentration, boolean? validate_args)'

function Dirichlet:init(...)
  local options = read_dirichlet(...)
  self.concentration = options.concentration
  local shape = self.concentration.shape
  if #shape < 1 then fail '`concentration` parameter must be at least one-dimensional.' end
  self:setup(utils.slice(shape, 1, -2), { shape[#shape] }, options.validate_args)
end
function Dirichlet:expand(...)
  return self:renewed { concentration = self.concentration:expand(utils.append(utils.dims_of(...), self.event_shape)) }
end
function Dirichlet:rsample(...)
  return torch._C._sample_dirichlet(self.concentration:expand(self:extended_shape(...)))
end
function Dirichlet:log_prob(value)
  self:check_value(value)
  local a = self.concentration
  return torch.xlogy(a - 1, value):sum(-1) + torch.lgamma(a:sum(-1)) - torch.lgamma(a):sum(-1)
end
function Dirichlet:entropy()
  local a = self.concentration
  local k, total = a:size(-1), a:sum(-1)
  return torch.lgamma(a):sum(-1) - torch.lgamma(total) - (k - total) * torch.digamma(total)
    - ((a - 1) * torch.digamma(a)):sum(-1)
end

-- A Beta is the first coordinate of a Dirichlet of two.
local function as_dirichlet(self)
  return Dirichlet(torch.stack({ self.concentration1, self.concentration0 }, -1), unchecked)
end

--- Beta(concentration1, concentration0): a probability, after concentration1 - 1 hits and
--- concentration0 - 1 misses.
local Beta = define('Beta', ExponentialFamily, constraints.unit_interval, {
  mean = function(self) return self.concentration1 / (self.concentration1 + self.concentration0) end,
  mode = function(self) return as_dirichlet(self).mode:select(-1, 1) end,
  variance = function(self)
    local total = self.concentration1 + self.concentration0
    return self.concentration1 * self.concentration0 / (total:square() * (total + 1))
  end,
})
Beta:parametrize { positive 'concentration1', positive 'concentration0' }
function Beta:rsample(...) return as_dirichlet(self):rsample(...):select(-1, 1) end
function Beta:log_prob(value)
  self:check_value(value)
  return as_dirichlet(self):log_prob(torch.stack({ value, 1 - value }, -1))
end
function Beta:__tostring() return torch.type(self) .. '()' end -- without parameters, as in PyTorch: they belong to its Dirichlet
function Beta:entropy() return as_dirichlet(self):entropy() end

-- ---- StudentT -----------------------------------------------------------------------------------

--- StudentT(df, loc = 0, scale = 1): a normal number over the root of a Chi2.
local StudentT = define('StudentT', Distribution, constraints.real, {
  mean = function(self) return self.loc:masked_fill(self.df:le(1), 0 / 0) end,
  mode = function(self) return self.loc end,
  variance = function(self)
    local v = self.scale:square() * self.df / (self.df - 2)
    v = v:masked_fill(self.df:le(2):logical_and(self.df:gt(1)), math.huge)
    return v:masked_fill(self.df:le(1), 0 / 0)
  end,
})
StudentT:parametrize({ positive 'df', { 'loc', constraints.real }, positive 'scale' }, { loc = 0.0, scale = 1.0 })

function StudentT:rsample(...)
  local x = torch.randn(self:extended_shape(...), utils.like(self.df))
  local z = Chi2(self.df, unchecked):rsample(...)
  return self.loc + self.scale * (x * (z / self.df):rsqrt())
end
function StudentT:log_prob(value)
  self:check_value(value)
  local y = (value - self.loc) / self.scale
  local z = self.scale:log() + 0.5 * self.df:log() + 0.5 * math.log(math.pi) + torch.lgamma(0.5 * self.df)
    - torch.lgamma(0.5 * (self.df + 1))
  return -0.5 * (self.df + 1) * (y:square() / self.df):log1p() - z
end
function StudentT:entropy()
  local half = 0.5 * (self.df + 1)
  local beta = torch.lgamma(0.5 * self.df) + math.log(math.pi) / 2 - torch.lgamma(half)
  return self.scale:log() + half * (torch.digamma(half) - torch.digamma(0.5 * self.df)) + 0.5 * self.df:log() + beta
end

-- ---- FisherSnedecor -----------------------------------------------------------------------------

--- FisherSnedecor(df1, df2): the ratio of two Chi2, each over its df.
local FisherSnedecor = define('FisherSnedecor', Distribution, constraints.positive, {
  mean = function(self) return (self.df2 / (self.df2 - 2)):masked_fill(self.df2:le(2), 0 / 0) end,
  mode = function(self)
    return ((self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)):masked_fill(self.df1:le(2), 0 / 0)
  end,
  variance = function(self)
    local a, b = self.df1, self.df2
    local v = 2 * b:square() * (a + b - 2) / (a * (b - 2):square() * (b - 4))
    return v:masked_fill(b:le(4), 0 / 0)
  end,
})
FisherSnedecor:parametrize { positive 'df1', positive 'df2' }
function FisherSnedecor:rsample(...)
  local above = Gamma(self.df1 * 0.5, self.df1, unchecked):rsample(...)
  local below = Gamma(self.df2 * 0.5, self.df2, unchecked):rsample(...)
  local tiny = torch.finfo(below.dtype).tiny
  return (above / below:clamp { min = tiny }):clamp { min = tiny }
end
function FisherSnedecor:log_prob(value)
  self:check_value(value)
  local a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
  return torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b) + a * ratio:log() + (a - 1) * value:log()
    - (a + b) * (ratio * value):log1p()
end

return M
