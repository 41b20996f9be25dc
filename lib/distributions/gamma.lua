-- gamma.lua - Gamma and what is made of it: Chi2, Beta, Dirichlet, StudentT. Draws are by rejection, with PyTorch's
-- numbers for a seed on the CPU; rsample carries the implicit gradient by the parameters.

local torch = require 'torch'
local kinds = require 'torch.support.kinds'
local Distribution = require 'torch.distributions.distribution'
local arguments = require 'torch.nn.arguments'

local M = {}

-- ---- Gamma --------------------------------------------------------------------------------------------------------

local Gamma = Distribution:derive('Gamma', {
  mean = function(self) return self.concentration / self.rate end,
  mode = function(self) return ((self.concentration - 1) / self.rate):clamp { min = 0 } end,
  variance = function(self) return self.concentration / self.rate:square() end,
})
M.Gamma = Gamma
Gamma.has_rsample = true
Gamma.printed, Gamma.support_name = { 'concentration', 'rate' }, 'nonnegative'
local positive = { { 'concentration', 'positive' }, { 'rate', 'positive' } }
local read_gamma = arguments('Gamma', 'concentration rate', '', { validate_args = true })

function Gamma:init(...)
  local options = read_gamma(...)
  self.concentration, self.rate = Distribution.broadcast(options.concentration, options.rate)
  self:setup(self.rate.shape, {}, options.validate_args, positive)
end
function Gamma:expand(...)
  local shape = Distribution.dims_of(...)
  return Gamma(self.concentration:expand(shape), self.rate:expand(shape), { validate_args = false })
end
function Gamma:rsample(...)
  local shape = self:extended_shape(...)
  local draws = torch._C._standard_gamma(self.concentration:expand(shape)) / self.rate:expand(shape)
  return draws:clamp { min = draws.dtype == torch.float64 and 0x1p-1022 or 0x1p-126 }
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

-- Chi2(df) = Gamma(df / 2, 1 / 2)
M.Chi2 = Gamma:derive('Chi2', { df = function(self) return self.concentration * 2 end })
M.Chi2.printed = { 'df' }
local read_chi2 = arguments('Chi2', 'df', '', { validate_args = true })
function M.Chi2:init(...)
  local options = read_chi2(...)
  local df = Distribution.broadcast(options.df)
  Gamma.init(self, df * 0.5, 0.5, { validate_args = options.validate_args })
end
function M.Chi2:expand(...) return M.Chi2(self.df:expand(Distribution.dims_of(...)), { validate_args = false }) end

-- ---- Dirichlet, Beta ------------------------------------------------------------------------------------------------

local Dirichlet = Distribution:derive('Dirichlet', {
  mean = function(self) return self.concentration / self.concentration:sum(-1, true) end,
  variance = function(self)
    local total = self.concentration:sum(-1, true)
    return self.concentration * (total - self.concentration) / (total:square() * (total + 1))
  end,
})
M.Dirichlet = Dirichlet
Dirichlet.has_rsample = true
Dirichlet.printed, Dirichlet.support_name = { 'concentration' }, 'simplex'
local read_dirichlet = arguments('Dirichlet', 'concentration', '', { validate_args = true })

function Dirichlet:init(...)
  local options = read_dirichlet(...)
  kinds.check('Dirichlet', 'concentration', options.concentration, 'Tensor')
  self.concentration = options.concentration
  local shape = self.concentration.shape
  self:setup(table.move(shape, 1, #shape - 1, 1, {}), { shape[#shape] }, options.validate_args, { positive[1] })
end
function Dirichlet:expand(...)
  local shape = Distribution.append(Distribution.dims_of(...), self.event_shape)
  return Dirichlet(self.concentration:expand(shape), { validate_args = false })
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

local Beta = Distribution:derive('Beta', {
  mean = function(self) return self.concentration1 / (self.concentration1 + self.concentration0) end,
  variance = function(self)
    local total = self.concentration1 + self.concentration0
    return self.concentration1 * self.concentration0 / (total:square() * (total + 1))
  end,
})
M.Beta = Beta
Beta.has_rsample = true
Beta.printed, Beta.support_name = { 'concentration1', 'concentration0' }, 'unit_interval'
local read_beta = arguments('Beta', 'concentration1 concentration0', '', { validate_args = true })

function Beta:init(...)
  local options = read_beta(...)
  self.concentration1, self.concentration0 = Distribution.broadcast(options.concentration1, options.concentration0)
  self:setup(self.concentration1.shape, {}, options.validate_args,
    { { 'concentration1', 'positive' }, { 'concentration0', 'positive' } })
end
function Beta:expand(...)
  local shape = Distribution.dims_of(...)
  return Beta(self.concentration1:expand(shape), self.concentration0:expand(shape), { validate_args = false })
end
local function as_dirichlet(self)
  return Dirichlet(torch.stack({ self.concentration1, self.concentration0 }, -1), { validate_args = false })
end
function Beta:rsample(...) return as_dirichlet(self):rsample(...):select(-1, 1) end
function Beta:log_prob(value)
  self:check_value(value)
  return as_dirichlet(self):log_prob(torch.stack({ value, 1 - value }, -1))
end
function Beta:entropy() return as_dirichlet(self):entropy() end

-- ---- StudentT -----------------------------------------------------------------------------------------------------

local StudentT = Distribution:derive('StudentT', {
  mean = function(self) return self.loc:masked_fill(self.df:le(1), 0 / 0) end,
  mode = function(self) return self.loc end,
  variance = function(self)
    local v = self.scale:square() * self.df / (self.df - 2)
    v = v:masked_fill(self.df:le(2):logical_and(self.df:gt(1)), math.huge)
    return v:masked_fill(self.df:le(1), 0 / 0)
  end,
})
M.StudentT = StudentT
StudentT.has_rsample = true
StudentT.printed, StudentT.support_name = { 'df', 'loc', 'scale' }, 'real'
local read_student = arguments('StudentT', 'df', 'loc scale', { loc = 0.0, scale = 1.0, validate_args = true })

function StudentT:init(...)
  local options = read_student(...)
  self.df, self.loc, self.scale = Distribution.broadcast(options.df, options.loc, options.scale)
  self:setup(self.df.shape, {}, options.validate_args, { { 'df', 'positive' }, { 'loc', 'real' }, { 'scale', 'positive' } })
end
function StudentT:expand(...)
  local shape = Distribution.dims_of(...)
  return StudentT(self.df:expand(shape), self.loc:expand(shape), self.scale:expand(shape), { validate_args = false })
end
function StudentT:rsample(...)
  local shape = self:extended_shape(...)
  local x = torch.randn(shape, { dtype = self.df.dtype, device = self.df.device })
  local z = M.Chi2(self.df, { validate_args = false }):rsample(...)
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

return M
