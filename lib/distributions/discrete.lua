-- discrete.lua - distributions of counts: Bernoulli, ContinuousBernoulli, Geometric, Binomial,
-- NegativeBinomial, Poisson. Each but Poisson is made of probabilities (by position) or of {logits
-- =}; reading the other one computes it.

--[=[ arguments
Bernoulli(): 1 with a given probability, otherwise 0.
ContinuousBernoulli(): The continuous Bernoulli distribution, on 0 to 1.
Geometric(): The number of failures before the first success.
Binomial(): The number of successes in a number of trials.
NegativeBinomial(): The number of successes before a number of failures.
]=]

--[=[ examples
Bernoulli
    d = torch.distributions.Bernoulli(0.25)
    d.mean, d:log_prob(torch.tensor(1.0))
    --> (tensor(0.2500), tensor(-1.3863))
ContinuousBernoulli
    d = torch.distributions.ContinuousBernoulli(torch.tensor(0.25))
    d:log_prob(torch.tensor(0.5))
    --> tensor(-0.0498)
Geometric
    d = torch.distributions.Geometric(0.5)
    d.mean, d:log_prob(torch.tensor(2.0))
    --> (tensor(1.), tensor(-2.0794))
Binomial
    d = torch.distributions.Binomial(10, torch.tensor(0.5))
    d.mean, d:log_prob(torch.tensor(5.0))
    --> (tensor(5.), tensor(-1.4020))
NegativeBinomial
    d = torch.distributions.NegativeBinomial(3, torch.tensor(0.5))
    d.mean, d:log_prob(torch.tensor(2.0))
    --> (tensor(3.), tensor(-1.6740))
Poisson
    d = torch.distributions.Poisson(3.0)
    d.mean, d:log_prob(torch.tensor(2.0))
    --> (tensor(3.), tensor(-1.4959))
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local class = require 'torch.support.class'
local constraints = require 'torch.distributions.constraints'
local Distribution = require 'torch.distributions.distribution'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local utils = require 'torch.distributions.utils'

local M = {}

local ExponentialFamily = Distribution.ExponentialFamily

-- ---- probabilities of one thing -----------------------------------------------------------------

-- A class of one probability per element, and perhaps another parameter first (a name and a
-- constraint). options: parent, the parameter's default, the constraint of the probabilities, names
-- of more arguments.
local function define_odds(name, more, support, getters, options)
  options = options or {}
  local kind = (options.parent or Distribution):derive(name, getters, {
    logits = function(self) return utils.probs_to_logits(self.probs, true) end,
    probs = function(self) return torch.sigmoid(self.logits) end,
  })
  if support then kind.getters.support = function() return support end end
  local probs = { 'probs', options.probs or constraints.unit_interval }
  local logits = { 'logits', constraints.real }
  kind:constrain(more and { more, probs, logits } or { probs, logits })
  local first = more and more[1]
  local read = declare.reader(('%s(%sany? probs, any? logits%s, boolean? validate_args)'):format(name,
    first and 'any ' .. first .. (options.default and '=' .. options.default or '') .. ', ' or '', options.more and ', any? ' .. options.more or ''))
  function kind:init(...)
    local given = read(...)
    if (given.probs == nil) == (given.logits == nil) then
      fail('Either `probs` or `logits` must be specified, but not both. (%s)', name)
    end
    local which = given.probs ~= nil and 'probs' or 'logits'
    local value
    if first then
      local own
      own, value = utils.broadcast_all(given[first], given[which])
      self[first] = own:to(value.dtype)
    else
      value = utils.broadcast_all(given[which])
    end
    self[which] = value
    if options.finish then options.finish(self, given) end
    self:setup(value.shape, {}, given.validate_args)
  end
  function kind:expand(...)
    local shape = utils.dims_of(...)
    local which = class.fields(self).probs and 'probs' or 'logits'
    local values = { [which] = self[which]:expand(shape) }
    if first then values[first] = self[first]:expand(shape) end
    if options.more then values[options.more] = self[options.more] end
    return self:renewed(values)
  end
  M[name] = kind
  return kind
end

-- Values of all categories, as a column before the batch's dims; expanded over it unless {expand =
-- false}.
local function along_batch(self, values, expand)
  for _ = 1, #self.batch_shape do values = values:unsqueeze(-1) end
  if not expand then return values end
  return values:expand(utils.append({ values:size(1) }, self.batch_shape))
end

--- Bernoulli(probs): 1 with this probability, otherwise 0.
local Bernoulli = define_odds('Bernoulli', nil, constraints.boolean, {
  mean = function(self) return self.probs end,
  mode = function(self)
    return self.probs:ge(0.5):to(self.probs.dtype):masked_fill(self.probs:eq(0.5), 0 / 0)
  end,
  variance = function(self) return self.probs * (1 - self.probs) end,
}, { parent = ExponentialFamily })
Bernoulli.has_enumerate_support = true

function Bernoulli:sample(...)
  local _ <close> = torch.no_grad()
  return torch.bernoulli(self.probs:expand(self:extended_shape(...)))
end

local function bernoulli_loss(self, target)
  local logits, value = utils.broadcast_all(self.logits, target)
  return torch.nn.functional.binary_cross_entropy_with_logits(logits, value, { reduction = 'none' })
end

function Bernoulli:log_prob(value)
  self:check_value(value)
  return -bernoulli_loss(self, value)
end
function Bernoulli:entropy() return bernoulli_loss(self, self.probs) end
function Bernoulli:enumerate_support(expand)
  return along_batch(self, torch.arange(2, utils.like(self.probs)), expand)
end
declare.methods(Bernoulli, 'enumerate_support(self, boolean expand=true)')

--- ContinuousBernoulli(probs): numbers from 0 to 1 with a density that is a Bernoulli's log_prob
--- made to integrate to 1 (Loaiza-Ganem and Cunningham, 2019). lims: between these probabilities a
--- Taylor series replaces the formula.
local ContinuousBernoulli = define_odds('ContinuousBernoulli', nil, constraints.unit_interval, {
  mean = function(self)
    local p, far = self:cut()
    local x = self.probs - 0.5
    local mean = p / (2 * p - 1) + 1 / ((-p):log1p() - p:log())
    return torch.where(far, mean, 0.5 + (1 / 3 + 16 / 45 * x:square()) * x)
  end,
  variance = function(self)
    local p, far = self:cut()
    local x = (self.probs - 0.5):square()
    local variance = p * (p - 1) / (1 - 2 * p):square() + 1 / ((-p):log1p() - p:log()):square()
    return torch.where(far, variance, 1 / 12 - (1 / 15 - 128 / 945 * x) * x)
  end,
}, { parent = ExponentialFamily, more = 'lims', finish = function(self, given)
  self.lims = given.lims or { 0.499, 0.501 }
  kinds.check('ContinuousBernoulli', 'lims', self.lims, 'numbers')
  if given.validate_args ~= nil and given.probs ~= nil and not constraints.unit_interval:check(self.probs):all():item() then
    fail 'The parameter probs has invalid values'
  end
  if given.probs ~= nil then self.probs = utils.clamp_probs(self.probs) end
end })
ContinuousBernoulli.has_rsample = true
ContinuousBernoulli.lazies.probs = function(self) return utils.clamp_probs(torch.sigmoid(self.logits)) end

-- The probabilities, with values close to 1/2 replaced by lims[1]; and the mask of the others.
function ContinuousBernoulli:cut()
  local far = self.probs:le(self.lims[1]):logical_or(self.probs:gt(self.lims[2]))
  return torch.where(far, self.probs, self.lims[1]), far
end
-- The logarithm of the normalizing constant.
function ContinuousBernoulli:log_norm()
  local p, far = self:cut()
  local low = p:le(0.5)
  local below, above = torch.where(low, p, 0.0), torch.where(p:ge(0.5), p, 1.0)
  local exact = ((-p):log1p() - p:log()):abs():log() - torch.where(low, (-2 * below):log1p(), (2 * above - 1):log())
  local x = (self.probs - 0.5):square()
  return torch.where(far, exact, math.log(2) + (4 / 3 + 104 / 45 * x) * x)
end
function ContinuousBernoulli:rsample(...)
  return self:icdf(torch.rand(self:extended_shape(...), utils.like(self.probs)))
end
function ContinuousBernoulli:log_prob(value)
  self:check_value(value)
  return -bernoulli_loss(self, value) + self:log_norm()
end
function ContinuousBernoulli:cdf(value)
  self:check_value(value)
  local p, far = self:cut()
  local inside = (p:pow(value) * (1 - p):pow(1 - value) + p - 1) / (2 * p - 1)
  inside = torch.where(far, inside, value)
  return torch.where(value:le(0), 0.0, torch.where(value:ge(1), 1.0, inside))
end
function ContinuousBernoulli:icdf(value)
  local p, far = self:cut()
  local rest = (-p):log1p()
  return torch.where(far, ((-p + value * (2 * p - 1)):log1p() - rest) / (p:log() - rest), value)
end
function ContinuousBernoulli:entropy()
  local off, on = (-self.probs):log1p(), self.probs:log()
  return self.mean * (off - on) - self:log_norm() - off
end

--- Geometric(probs): the number of failures before the first success.
local Geometric = define_odds('Geometric', nil, constraints.nonnegative_integer, {
  mean = function(self) return 1 / self.probs - 1 end,
  mode = function(self) return torch.zeros_like(self.probs) end,
  variance = function(self) return (1 / self.probs - 1) / self.probs end,
}, { finish = function(self, given)
  if given.validate_args == false or given.probs == nil then return end
  local positive = self.probs:detach():gt(0)
  if not positive:all():item() then
    fail('Expected parameter probs (Tensor of shape %s) of distribution %s to be positive but found invalid values:\n%s',
      utils.tuple_text(self.probs.shape), tostring(self), tostring(self.probs:detach():masked_select(positive:logical_not())))
  end
end })
function Geometric:sample(...)
  local _ <close> = torch.no_grad()
  local shape = self:extended_shape(...)
  local u = torch.rand(shape, utils.like(self.probs)):clamp { min = torch.finfo(self.probs.dtype).tiny }
  return (u:log() / (-self.probs:expand(shape)):log1p()):floor()
end
function Geometric:log_prob(value)
  self:check_value(value)
  local v, probs = utils.broadcast_all(value, self.probs)
  local log_rest = (-probs):log1p():masked_fill(probs:eq(1):logical_and(v:eq(0)), 0)
  return v * log_rest + self.probs:log()
end
function Geometric:entropy() return bernoulli_loss(self, self.probs) / self.probs end

--- Binomial(total_count = 1, probs): the number of successes among total_count.
local Binomial = define_odds('Binomial', { 'total_count', constraints.nonnegative_integer }, nil, {
  mean = function(self) return self.total_count * self.probs end,
  mode = function(self) return ((self.total_count + 1) * self.probs):floor():minimum(self.total_count) end,
  variance = function(self) return self.total_count * self.probs * (1 - self.probs) end,
  support = function(self) return constraints.integer_interval(0, self.total_count) end,
}, { default = 1 })
Binomial.has_enumerate_support = true
function Binomial:sample(...)
  local _ <close> = torch.no_grad()
  local shape = self:extended_shape(...)
  return torch.binomial(self.total_count:expand(shape), self.probs:expand(shape))
end
function Binomial:log_prob(value)
  self:check_value(value)
  local n, logits = self.total_count, self.logits
  local choose = torch.lgamma(value + 1) + torch.lgamma(n - value + 1)
  local scale = n * logits:clamp { min = 0 } + n * (-logits:abs()):exp():log1p()
  return value * logits - choose - (scale - torch.lgamma(n + 1))
end
local function all_counts(self, what, expand)
  local n = self.total_count:max():item()
  if self.total_count:min():item() ~= n then fail('Inhomogeneous total count not supported by `%s`.', what) end
  return along_batch(self, torch.arange(0, n + 1, utils.like(self.total_count)), expand)
end
function Binomial:enumerate_support(expand) return all_counts(self, 'enumerate_support', expand) end
declare.methods(Binomial, 'enumerate_support(self, boolean expand=true)')
function Binomial:entropy()
  local log_prob = self:log_prob(all_counts(self, 'entropy', false))
  return -(log_prob:exp() * log_prob):sum(1)
end

--- NegativeBinomial(total_count, probs): the number of successes before total_count failures, which
--- may be fractional: a Poisson distribution with a Gamma distributed rate.
local NegativeBinomial = define_odds('NegativeBinomial', { 'total_count', constraints.greater_than_eq(0) },
  constraints.nonnegative_integer, {
    mean = function(self) return self.total_count * self.logits:exp() end,
    mode = function(self) return ((self.total_count - 1) * self.logits:exp()):floor():clamp { min = 0 } end,
    variance = function(self) return self.mean / torch.sigmoid(-self.logits) end,
  }, { probs = constraints.half_open_interval(0.0, 1.0) })
function NegativeBinomial:sample(...)
  local _ <close> = torch.no_grad()
  local rates = torch.distributions.Gamma(self.total_count, (-self.logits):exp(), { validate_args = false })
  return torch.poisson(rates:sample(...))
end
function NegativeBinomial:log_prob(value)
  self:check_value(value)
  local n, logits, F = self.total_count, self.logits, torch.nn.functional
  local choose = torch.lgamma(value + 1) + torch.lgamma(n) - torch.lgamma(n + value)
  return n * F.logsigmoid(-logits) + value * F.logsigmoid(logits) - choose:masked_fill((n + value):eq(0), 0)
end

-- ---- Poisson ------------------------------------------------------------------------------------

--- Poisson(rate): the number of events with `rate` events per unit.
local Poisson = ExponentialFamily:derive('Poisson', {
  mean = function(self) return self.rate end,
  mode = function(self) return self.rate:floor() end,
  variance = function(self) return self.rate end,
  support = function() return constraints.nonnegative_integer end,
})
M.Poisson = Poisson
Poisson:parametrize { { 'rate', constraints.nonnegative } }
function Poisson:sample(...)
  local _ <close> = torch.no_grad()
  return torch.poisson(self.rate:expand(self:extended_shape(...)))
end
function Poisson:log_prob(value)
  self:check_value(value)
  local rate, v = utils.broadcast_all(self.rate, value)
  return torch.xlogy(v, rate) - rate - torch.lgamma(v + 1)
end
Poisson.entropy = Distribution.entropy

return M
