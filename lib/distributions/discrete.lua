-- discrete.lua - distributions of counts and categories: Bernoulli, Geometric, Poisson, Binomial, NegativeBinomial,
-- Categorical, OneHotCategorical, Multinomial. Categories are positions, from 1. Each is made of probabilities (by position) or of
-- {logits =}; reading the other one computes it.

local torch = require 'torch'
local Distribution = require 'torch.distributions.distribution'
local arguments = require 'torch.nn.arguments'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'

local M = {}

local fields_of = class.fields

local function tiny(dtype) return dtype == torch.float64 and 2.220446049250313e-16 or 1.1920928955078125e-07 end
local function clamped(probs) return probs:clamp { min = tiny(probs.dtype), max = 1 - tiny(probs.dtype) } end

local function given(name, options)
  if (options.probs == nil) == (options.logits == nil) then
    fail('Either `probs` or `logits` must be specified, but not both. (%s)', name)
  end
end

-- ---- probabilities of one thing -----------------------------------------------------------------------------------

local odds = {
  logits = function(self)
    local p = clamped(self.probs)
    return p:log() - (-p):log1p()
  end,
  probs = function(self) return torch.sigmoid(self.logits) end,
}

-- A class of one probability per element, and perhaps another parameter first.
local function define_odds(name, more, support, getters)
  local kind = Distribution:derive(name, setmetatable(getters, { __index = odds }))
  local positional = (more and more .. ' ' or '') .. 'probs logits'
  local read = arguments(name, more or '', (more and 'probs logits' or positional), { validate_args = true })
  kind.support_name, kind.printed = support, { more or 'probs', more and 'probs' }
  -- Fields that are computed come after those that were given.
  local metatable = class.metatables[kind]
  local index = metatable.__index
  metatable.__index = function(object, key)
    local own = fields_of(object)[key]
    if own ~= nil then return own end
    if getters[key] or odds[key] then return (getters[key] or odds[key])(object) end
    return index(object, key)
  end
  function kind:init(...)
    local options = read(...)
    given(name, options)
    local which = options.probs ~= nil and 'probs' or 'logits'
    local value = options[which]
    if more then
      local first
      first, value = Distribution.broadcast(options[more], value)
      self[more] = first:to(value.dtype)
    else
      value = Distribution.broadcast(value)
    end
    self[which] = value
    self:setup(value.shape, {}, options.validate_args, which == 'probs' and { { 'probs', 'unit_interval' } })
  end
  function kind:expand(...)
    local shape = Distribution.dims_of(...)
    local which = fields_of(self).probs and 'probs' or 'logits'
    local options = { [which] = self[which]:expand(shape), validate_args = false }
    if more then return kind(self[more]:expand(shape), options) end
    return kind(options)
  end
  M[name] = kind
  return kind
end

local Bernoulli = define_odds('Bernoulli', nil, 'boolean', {
  mean = function(self) return self.probs end,
  mode = function(self) return self.probs:ge(0.5):to(self.probs.dtype) end,
  variance = function(self) return self.probs * (1 - self.probs) end,
})
Bernoulli.has_enumerate_support = true

function Bernoulli:sample(...)
  local _ <close> = torch.no_grad()
  return torch.bernoulli(self.probs:expand(self:extended_shape(...)))
end

local function bernoulli_loss(self, target)
  local logits, value = Distribution.broadcast(self.logits, target)
  return torch.nn.functional.binary_cross_entropy_with_logits(logits, value, { reduction = 'none' })
end

function Bernoulli:log_prob(value)
  self:check_value(value)
  return -bernoulli_loss(self, value)
end
function Bernoulli:entropy() return bernoulli_loss(self, self.probs) end
function Bernoulli:enumerate_support()
  local values = torch.arange(2, { dtype = self.probs.dtype, device = self.probs.device })
  for _ = 1, #self.batch_shape do values = values:unsqueeze(-1) end
  return values:expand(2, table.unpack(self.batch_shape))
end

-- The number of failures before the first success.
local Geometric = define_odds('Geometric', nil, 'nonnegative_integer', {
  mean = function(self) return 1 / self.probs - 1 end,
  mode = function(self) return torch.zeros_like(self.probs) end,
  variance = function(self) return (1 / self.probs - 1) / self.probs end,
})
function Geometric:sample(...)
  local _ <close> = torch.no_grad()
  local shape = self:extended_shape(...)
  local u = torch.rand(shape, { dtype = self.probs.dtype, device = self.probs.device }):clamp { min = 1.1754943508222875e-38 }
  return (u:log() / (-self.probs:expand(shape)):log1p()):floor()
end
function Geometric:log_prob(value)
  self:check_value(value)
  local v, probs = Distribution.broadcast(value, self.probs)
  local log_rest = (-probs):log1p():masked_fill(probs:eq(1):logical_and(v:eq(0)), 0)
  return v * log_rest + self.probs:log()
end
function Geometric:entropy() return bernoulli_loss(self, self.probs) / self.probs end

-- The number of successes among total_count.
local Binomial = define_odds('Binomial', 'total_count', 'nonnegative_integer', {
  mean = function(self) return self.total_count * self.probs end,
  mode = function(self) return ((self.total_count + 1) * self.probs):floor():minimum(self.total_count) end,
  variance = function(self) return self.total_count * self.probs * (1 - self.probs) end,
})
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

-- The number of successes before total_count failures, which need not be whole: a Poisson number whose rate is drawn
-- from a Gamma distribution.
local NegativeBinomial = define_odds('NegativeBinomial', 'total_count', 'nonnegative_integer', {
  mean = function(self) return self.total_count * self.logits:exp() end,
  mode = function(self) return ((self.total_count - 1) * self.logits:exp()):floor():clamp { min = 0 } end,
  variance = function(self) return self.mean / torch.sigmoid(-self.logits) end,
})
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

-- ---- Poisson ------------------------------------------------------------------------------------------------------

local Poisson = Distribution:derive('Poisson', {
  mean = function(self) return self.rate end,
  mode = function(self) return self.rate:floor() end,
  variance = function(self) return self.rate end,
})
M.Poisson = Poisson
Poisson.printed, Poisson.support_name = { 'rate' }, 'nonnegative_integer'
local read_poisson = arguments('Poisson', 'rate', '', { validate_args = true })

function Poisson:init(...)
  local options = read_poisson(...)
  self.rate = Distribution.broadcast(options.rate)
  self:setup(self.rate.shape, {}, options.validate_args, { { 'rate', 'nonnegative' } })
end
function Poisson:expand(...) return Poisson(self.rate:expand(Distribution.dims_of(...)), { validate_args = false }) end
function Poisson:sample(...)
  local _ <close> = torch.no_grad()
  return torch.poisson(self.rate:expand(self:extended_shape(...)))
end
function Poisson:log_prob(value)
  self:check_value(value)
  local rate, v = Distribution.broadcast(self.rate, value)
  return torch.xlogy(v, rate) - rate - torch.lgamma(v + 1)
end

-- ---- categories -----------------------------------------------------------------------------------------------------

local categories = {
  logits = function(self) return clamped(self.probs):log() end,
  probs = function(self) return torch.softmax(self.logits, -1) end,
}

-- {probs =} or {logits =} with the categories in the last dimension, kept normalized.
local function read_categories(self, name, options)
  given(name, options)
  local value = options.probs or options.logits
  if not torch.is_tensor(value) or value.ndim < 1 then
    fail('`%s` parameter must be at least one-dimensional.', options.probs and 'probs' or 'logits')
  end
  if options.probs then
    self.probs = value / value:sum(-1, true)
  else
    self.logits = value - torch.logsumexp(value, -1, true)
  end
  self.num_events = value:size(-1)
  return table.move(value.shape, 1, value.ndim - 1, 1, {}), options.probs and { { 'probs', 'simplex' } }
end

local function define_categories(name, getters, support)
  local kind = Distribution:derive(name, getters)
  kind.support_name = support
  local metatable = class.metatables[kind]
  local index = metatable.__index
  metatable.__index = function(object, key)
    local own = fields_of(object)[key]
    if own ~= nil then return own end
    if categories[key] then return categories[key](object) end
    return index(object, key)
  end
  M[name] = kind
  return kind
end

local function which_of(self, shape)
  local which = fields_of(self).probs and 'probs' or 'logits'
  return { [which] = self[which]:expand(Distribution.append(Distribution.dims_of(shape), { self.num_events })),
    validate_args = false }
end

local Categorical = define_categories('Categorical', {
  mode = function(self) return self.probs:argmax(-1) end,
  mean = function(self) return torch.full(self.batch_shape, 0 / 0, { dtype = self.probs.dtype, device = self.probs.device }) end,
  variance = function(self) return torch.full(self.batch_shape, 0 / 0, { dtype = self.probs.dtype, device = self.probs.device }) end,
})
Categorical.printed, Categorical.has_enumerate_support = { 'probs' }, true
local read_categorical = arguments('Categorical', '', 'probs logits', { validate_args = true })

function Categorical:init(...)
  local options = read_categorical(...)
  local batch, checks = read_categories(self, 'Categorical', options)
  self:setup(batch, {}, options.validate_args, checks)
end
function Categorical:expand(...) return Categorical(which_of(self, Distribution.dims_of(...))) end

function Categorical:sample(...)
  local _ <close> = torch.no_grad()
  local shape = Distribution.dims_of(...)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  local rows = self.probs:reshape(-1, self.num_events)
  local drawn = torch.multinomial(rows, n, true):t()
  return drawn:reshape(self:extended_shape(shape))
end

function Categorical:log_prob(value)
  if not torch.is_tensor(value) then fail('The value argument to log_prob must be a Tensor, got %s', torch.type(value)) end
  local index = value:long():unsqueeze(-1)
  local logits = self.logits
  local positions = torch.broadcast_tensors(index, logits:narrow(-1, 1, 1):detach())
  local wide = table.move(positions.shape, 1, positions.ndim - 1, 1, {})
  wide[positions.ndim] = self.num_events
  return logits:expand(wide):gather(-1, positions):squeeze(-1)
end

function Categorical:entropy()
  local logits = self.logits
  logits = logits:clamp { min = logits.dtype == torch.float64 and -1.7976931348623157e308 or -3.4028234663852886e38 }
  return -(logits * self.probs):sum(-1)
end

function Categorical:enumerate_support()
  local values = torch.arange(1, self.num_events + 1, { device = self.probs.device })
  for _ = 1, #self.batch_shape do values = values:unsqueeze(-1) end
  return values:expand(self.num_events, table.unpack(self.batch_shape))
end

-- The same, its draws as one-hot vectors.
local OneHotCategorical = define_categories('OneHotCategorical', {
  mean = function(self) return self.probs end,
  mode = function(self)
    return torch.nn.functional.one_hot(self.probs:argmax(-1), self.num_events):to(self.probs.dtype)
  end,
  variance = function(self) return self.probs * (1 - self.probs) end,
})
OneHotCategorical.printed = { 'probs' }
function OneHotCategorical:init(...)
  local options = read_categorical(...)
  local batch, checks = read_categories(self, 'OneHotCategorical', options)
  self:setup(batch, { self.num_events }, options.validate_args, checks)
end
local function plain(self) return Categorical(which_of(self, self.batch_shape)) end
function OneHotCategorical:expand(...) return OneHotCategorical(which_of(self, Distribution.dims_of(...))) end
function OneHotCategorical:sample(...)
  return torch.nn.functional.one_hot(plain(self):sample(...), self.num_events):to(self.probs.dtype)
end
function OneHotCategorical:log_prob(value) return plain(self):log_prob(value:argmax(-1)) end
function OneHotCategorical:entropy() return plain(self):entropy() end

-- How often each category came in total_count draws.
local Multinomial = define_categories('Multinomial', {
  mean = function(self) return self.probs * self.total_count end,
  variance = function(self) return self.probs * (1 - self.probs) * self.total_count end,
})
Multinomial.printed = { 'total_count', 'probs' }
local read_multinomial = arguments('Multinomial', '', 'total_count probs logits', { total_count = 1, validate_args = true })

function Multinomial:init(...)
  local options = read_multinomial(...)
  if math.type(options.total_count) ~= 'integer' or options.total_count < 0 then
    fail 'inhomogeneous total_count is not supported'
  end
  self.total_count = options.total_count
  local batch, checks = read_categories(self, 'Multinomial', options)
  self:setup(batch, { self.num_events }, options.validate_args, checks)
end
function Multinomial:expand(...)
  local options = which_of(self, Distribution.dims_of(...))
  options.total_count = self.total_count
  return Multinomial(options)
end
function Multinomial:sample(...)
  local _ <close> = torch.no_grad()
  local shape = Distribution.dims_of(...)
  local drawn = plain(self):sample(Distribution.append({ self.total_count }, shape))
  local counts = torch.zeros(self:extended_shape(shape), { dtype = self.probs.dtype, device = self.probs.device })
  local order = {}
  for i = 2, drawn.ndim do order[i - 1] = i end
  order[#order + 1] = 1
  drawn = drawn:permute(order)
  return counts:scatter_add_(-1, drawn, torch.ones(drawn.shape, { dtype = counts.dtype, device = counts.device }))
end
function Multinomial:log_prob(value)
  local logits, v = Distribution.broadcast(self.logits, value)
  logits = logits:masked_fill(v:eq(0):logical_and(logits:eq(-math.huge)), 0)
  return torch.lgamma(v:sum(-1) + 1) - torch.lgamma(v + 1):sum(-1) + (logits * v):sum(-1)
end

return M
