-- categories.lua - distributions of categories: Categorical, OneHotCategorical,
-- OneHotCategoricalStraightThrough, Multinomial, and their relaxations, which are numbers between:
-- RelaxedBernoulli, RelaxedOneHotCategorical. Categories are positions, from 1. Made of
-- probabilities or of {logits =}, kept normalized; reading the other one computes it.

--[=[ arguments
RelaxedBernoulli(): Numbers between 0 and 1 near a Bernoulli variable, with differentiable samples.
RelaxedOneHotCategorical(): Vectors near one-hot ones, with differentiable samples.
]=]

--[=[ examples
Categorical
    d = torch.distributions.Categorical(torch.tensor{0.25, 0.75})
    d:log_prob(torch.tensor(2)), d:entropy()
    --> (tensor(-0.2877), tensor(0.5623))
OneHotCategorical
    d = torch.distributions.OneHotCategorical(torch.tensor{0.25, 0.75})
    d.mean, d:log_prob(torch.tensor{0.0, 1.0})
    --> (tensor([0.2500, 0.7500]), tensor(-0.2877))
OneHotCategoricalStraightThrough
    d = torch.distributions.OneHotCategoricalStraightThrough(torch.tensor{0.25, 0.75})
    d:rsample().shape
    --> torch.Size([2])
Multinomial
    d = torch.distributions.Multinomial(4, torch.tensor{0.25, 0.75})
    d.mean, d:log_prob(torch.tensor{1.0, 3.0})
    --> (tensor([1., 3.]), tensor(-0.8630))
LogitRelaxedBernoulli
    d = torch.distributions.LogitRelaxedBernoulli(torch.tensor(1.0), {probs = torch.tensor(0.5)})
    d:log_prob(torch.tensor(0.0))
    --> tensor(-1.3863)
RelaxedBernoulli
    d = torch.distributions.RelaxedBernoulli(torch.tensor(1.0), {probs = torch.tensor(0.5)})
    d:log_prob(torch.tensor(0.5))
    --> tensor(0.)
ExpRelaxedCategorical
    d = torch.distributions.ExpRelaxedCategorical(torch.tensor(1.0), {probs = torch.tensor{0.25, 0.75}})
    d:sample().shape
    --> torch.Size([2])
RelaxedOneHotCategorical
    d = torch.distributions.RelaxedOneHotCategorical(torch.tensor(1.0), {probs = torch.tensor{0.25, 0.75}})
    d:sample().shape
    --> torch.Size([2])
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local class = require 'torch.support.class'
local constraints = require 'torch.distributions.constraints'
local Distribution = require 'torch.distributions.distribution'
local TransformedDistribution = require 'torch.distributions.composed'.TransformedDistribution
local elementwise = require 'torch.distributions.transforms.elementwise'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local utils = require 'torch.distributions.utils'

local M = {}

local function given(name, options)
  if (options.probs == nil) == (options.logits == nil) then
    fail('Either `probs` or `logits` must be specified, but not both. (%s)', name)
  end
end

local simplex_or_real = { { 'probs', constraints.simplex }, { 'logits', constraints.real_vector } }

-- ---- Categorical --------------------------------------------------------------------------------

local function nowhere(self) return torch.full(self.batch_shape, 0 / 0, utils.like(self.probs)) end

--- Categorical(probs): a position from 1 to the size of the last dim.
local Categorical = Distribution:derive('Categorical', {
  mean = nowhere, variance = nowhere,
  mode = function(self) return self.probs:argmax(-1) end,
  support = function(self) return constraints.integer_interval(1, self.num_events) end,
  param_shape = function(self) return (class.fields(self).probs or self.logits).shape end,
}, {
  logits = function(self) return utils.probs_to_logits(self.probs) end,
  probs = function(self) return torch.softmax(self.logits, -1) end,
})
M.Categorical = Categorical
Categorical.has_enumerate_support = true
Categorical:constrain(simplex_or_real)
local read_categorical = declare.reader 'Categorical(any? probs, any? logits, boolean? validate_args)'

function Categorical:init(...)
  local options = read_categorical(...)
  given('Categorical', options)
  local which = options.probs and 'probs' or 'logits'
  local value = options[which]
  if not torch.is_tensor(value) or value.ndim < 1 then
    fail('`%s` parameter must be at least one-dimensional.', which)
  end
  if which == 'probs' then
    self.probs = value / value:sum(-1, true)
  else
    self.logits = value - torch.logsumexp(value, -1, true)
  end
  self.num_events = value:size(-1)
  self:setup(utils.slice(value.shape, 1, -2), {}, options.validate_args)
end
function Categorical:expand(...)
  local which = class.fields(self).probs and 'probs' or 'logits'
  return self:renewed { [which] = self[which]:expand(utils.append(utils.dims_of(...), { self.num_events })) }
end

function Categorical:sample(...)
  local _ <close> = torch.no_grad()
  local shape = utils.dims_of(...)
  local rows = self.probs:reshape(-1, self.num_events)
  local drawn = torch.multinomial(rows, utils.numel(shape), true):t()
  return drawn:reshape(self:extended_shape(shape))
end

local check_value = Distribution.check_value
function Categorical:check_value(value)
  if torch.is_tensor(value) and self.validate_args and value:eq(0):any():item() then
    fail('Categorical: category 0: positions count from 1, here to %d', self.num_events)
  end
  check_value(self, value)
end

function Categorical:log_prob(value)
  self:check_value(value)
  local index = value:long():unsqueeze(-1)
  local logits = self.logits
  local positions = torch.broadcast_tensors(index, logits:narrow(-1, 1, 1):detach())
  local wide = utils.append(utils.slice(positions.shape, 1, -2), { self.num_events })
  return logits:expand(wide):gather(-1, positions):squeeze(-1)
end

function Categorical:entropy()
  local logits = self.logits
  return -(logits:clamp { min = torch.finfo(logits.dtype).min } * self.probs):sum(-1)
end

-- Values of all categories, the batch's dims after the first; expanded over them unless {expand =
-- false}.
local function along_batch(self, values, expand, event)
  for _ = 1, #self.batch_shape do values = values:unsqueeze(2) end
  if not expand then return values end
  return values:expand(utils.append({ values:size(1) }, self.batch_shape, event))
end
function Categorical:enumerate_support(expand)
  return along_batch(self, torch.arange(1, self.num_events + 1, { device = self.probs.device }), expand, {})
end
declare.methods(Categorical, 'enumerate_support(self, boolean expand=true)')

-- ---- made of a Categorical ----------------------------------------------------------------------

-- A class with a Categorical in its field `categorical`, with the same probabilities. first: the
-- declaration of the argument before them, or nil.
local function define(name, parent, first, getters, finish)
  for _, key in ipairs { 'probs', 'logits', 'param_shape', 'num_events' } do
    getters[key] = getters[key] or function(self) return self.categorical[key] end
  end
  local made = parent:derive(name, getters)
  local key = first and first:match '%S+ ([%w_]+)'
  made:constrain(simplex_or_real)
  local read = declare.reader(('%s(%sany? probs, any? logits, boolean? validate_args)'):format(name, first and first .. ', ' or ''))
  function made:init(...)
    local options = read(...)
    given(name, options)
    self.categorical = Categorical { probs = options.probs, logits = options.logits }
    if finish then finish(self, options) end
    self:setup(self.categorical.batch_shape, { self.num_events }, options.validate_args)
  end
  function made:expand(...)
    local wide = self.categorical:expand(...)
    local which = class.fields(wide).probs and 'probs' or 'logits'
    local values = { [which] = wide[which] }
    if key then values[key] = self[key] end
    return self:renewed(values)
  end
  M[name] = made
  return made
end

local function one_hot(self, index) return torch.nn.functional.one_hot(index, self.num_events):to(self.probs.dtype) end

--- OneHotCategorical(probs): a Categorical with one-hot vectors as samples.
local OneHotCategorical = define('OneHotCategorical', Distribution, nil, {
  mean = function(self) return self.probs end,
  mode = function(self) return one_hot(self, self.probs:argmax(-1)) end,
  variance = function(self) return self.probs * (1 - self.probs) end,
  support = function() return constraints.one_hot end,
})
OneHotCategorical.has_enumerate_support = true
function OneHotCategorical:sample(...)
  local _ <close> = torch.no_grad()
  return one_hot(self, self.categorical:sample(...))
end
function OneHotCategorical:log_prob(value)
  self:check_value(value)
  return self.categorical:log_prob(value:argmax(-1))
end
function OneHotCategorical:entropy() return self.categorical:entropy() end
function OneHotCategorical:enumerate_support(expand)
  return along_batch(self, torch.eye(self.num_events, utils.like(self.probs)), expand, self.event_shape)
end
declare.methods(OneHotCategorical, 'enumerate_support(self, boolean expand=true)')

--- OneHotCategoricalStraightThrough(probs): the same; rsample lets gradients through to the
--- probabilities as if the draw were these (Bengio et al., 2013).
local StraightThrough = define('OneHotCategoricalStraightThrough', OneHotCategorical, nil, {})
StraightThrough.has_rsample = true
function StraightThrough:rsample(...) return self:sample(...) + (self.probs - self.probs:detach()) end

--- Multinomial{total_count = 1, probs =}: the count of each category in total_count draws.
local Multinomial = define('Multinomial', Distribution, 'any total_count=1', {
  mean = function(self) return self.probs * self.total_count end,
  variance = function(self) return self.probs * (1 - self.probs) * self.total_count end,
  support = function(self) return constraints.multinomial(self.total_count) end,
}, function(self, options)
  if math.type(options.total_count) ~= 'integer' or options.total_count < 0 then
    fail 'inhomogeneous total_count is not supported'
  end
  self.total_count = options.total_count
end)
function Multinomial:sample(...)
  local _ <close> = torch.no_grad()
  local shape = utils.dims_of(...)
  local drawn = self.categorical:sample(utils.append({ self.total_count }, shape))
  local order = {}
  for i = 2, drawn.ndim do order[i - 1] = i end
  order[#order + 1] = 1
  drawn = drawn:permute(order)
  local counts = torch.zeros(self:extended_shape(shape), utils.like(self.probs))
  return counts:scatter_add_(-1, drawn, torch.ones(drawn.shape, utils.like(counts)))
end
function Multinomial:entropy()
  local n = self.total_count
  local binomial = torch.distributions.Binomial(n, { probs = self.probs, validate_args = false })
  local counts = binomial:enumerate_support { expand = false }:narrow(1, 2, n)
  local ways = (binomial:log_prob(counts):exp() * torch.lgamma(counts + 1)):sum(-1):sum(1)
  return n * self.categorical:entropy() - torch.lgamma(torch.tensor(n + 1.0, utils.like(self.probs))) + ways
end
function Multinomial:log_prob(value)
  self:check_value(value)
  local logits, v = utils.broadcast_all(self.logits, value)
  logits = logits:masked_fill(v:eq(0):logical_and(logits:eq(-math.huge)), 0)
  return torch.lgamma(v:sum(-1) + 1) - torch.lgamma(v + 1):sum(-1) + (logits * v):sum(-1)
end

-- ---- relaxations --------------------------------------------------------------------------------

local function check_temperature(self, options)
  local temperature = options.temperature
  if type(temperature) == 'number' then temperature = utils.broadcast_all(temperature) end
  if not torch.is_tensor(temperature) then
    fail("%s(): argument 'temperature' must be a number or a Tensor, not %s", torch.type(self), kinds.described(temperature))
  end
  self.temperature = temperature
end

--- LogitRelaxedBernoulli(temperature, probs): the log odds of a RelaxedBernoulli.
local LogitRelaxedBernoulli = Distribution:derive('LogitRelaxedBernoulli', {
  support = function() return constraints.real end,
  param_shape = function(self) return (class.fields(self).probs or self.logits).shape end,
}, {
  logits = function(self) return utils.probs_to_logits(self.probs, true) end,
  probs = function(self) return torch.sigmoid(self.logits) end,
})
M.LogitRelaxedBernoulli = LogitRelaxedBernoulli
LogitRelaxedBernoulli.has_rsample = true
local unit_or_real = { { 'probs', constraints.unit_interval }, { 'logits', constraints.real } }
LogitRelaxedBernoulli:constrain(unit_or_real)
local read_logit = declare.reader [[
  LogitRelaxedBernoulli(number|Tensor temperature, any? probs, any? logits, boolean? validate_args)]]

function LogitRelaxedBernoulli:init(...)
  local options = read_logit(...)
  given('LogitRelaxedBernoulli', options)
  check_temperature(self, options)
  local which = options.probs ~= nil and 'probs' or 'logits'
  self[which] = utils.broadcast_all(options[which])
  self:setup(self[which].shape, {}, options.validate_args)
end
function LogitRelaxedBernoulli:expand(...)
  local which = class.fields(self).probs and 'probs' or 'logits'
  return self:renewed { temperature = self.temperature, [which] = self[which]:expand(utils.dims_of(...)) }
end
function LogitRelaxedBernoulli:rsample(...)
  local shape = self:extended_shape(...)
  local probs = utils.clamp_probs(self.probs:expand(shape))
  local u = utils.clamp_probs(torch.rand(shape, utils.like(probs)))
  return (u:log() - (-u):log1p() + probs:log() - (-probs):log1p()) / self.temperature
end
function LogitRelaxedBernoulli:log_prob(value)
  self:check_value(value)
  local logits, v = utils.broadcast_all(self.logits, value)
  local d = logits - v * self.temperature
  return self.temperature:log() + d - 2 * d:exp():log1p()
end

--- ExpRelaxedCategorical(temperature, probs): the logarithm of a RelaxedOneHotCategorical.
local ExpRelaxedCategorical = define('ExpRelaxedCategorical', Distribution, 'number|Tensor temperature', {
  support = function() return constraints.real_vector end,
}, check_temperature)
ExpRelaxedCategorical.has_rsample = true
function ExpRelaxedCategorical:rsample(...)
  local u = utils.clamp_probs(torch.rand(self:extended_shape(...), utils.like(self.logits)))
  local scores = (self.logits - (-u:log()):log()) / self.temperature
  return scores - torch.logsumexp(scores, -1, true)
end
function ExpRelaxedCategorical:log_prob(value)
  self:check_value(value)
  local k, t = self.num_events, self.temperature
  local logits, v = utils.broadcast_all(self.logits, value)
  local scale = torch.lgamma(torch.full_like(t, k)) + t:log() * (k - 1)
  local score = logits - v * t
  return (score - torch.logsumexp(score, -1, true)):sum(-1) + scale
end

-- Defines a distribution as a transformed relaxed one.
local function define_relaxed(name, base, transform, list, support)
  local getters = { support = function() return support end }
  for _, key in ipairs { 'temperature', 'probs', 'logits' } do
    getters[key] = function(self) return self.base_dist[key] end
  end
  local made = TransformedDistribution:derive(name, getters)
  made:constrain(list)
  local read = declare.reader(name .. '(number|Tensor temperature, any? probs, any? logits, boolean? validate_args)')
  function made:init(...)
    local options = read(...)
    given(name, options)
    self:setup_from(base(options), { transform() }, options.validate_args)
  end
  function made:expand(...)
    local wide = self:expanded_base(...)
    return self:renewed { temperature = wide.temperature, logits = wide.logits }
  end
  M[name] = made
end

--- RelaxedBernoulli(temperature, probs): numbers between 0 and 1, close to either at a low
--- temperature.
define_relaxed('RelaxedBernoulli', LogitRelaxedBernoulli, elementwise.SigmoidTransform, unit_or_real, constraints.unit_interval)
--- RelaxedOneHotCategorical(temperature, probs): points of the simplex, close to one-hot vectors at
-- a low temperature.
define_relaxed('RelaxedOneHotCategorical', ExpRelaxedCategorical, elementwise.ExpTransform, simplex_or_real, constraints.simplex)

return M
