-- kl.lua - kl_divergence(p, q): the Kullback-Leibler divergence of two distributions with a closed
-- form.
-- register_kl(P, Q, fn) adds one for these classes, or names of classes, and derived ones.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local utils = require 'torch.distributions.utils'

local M = {}

local known = {} -- by p's class or name, by q's

local function is_class(value) return type(value) == 'table' and rawget(value, '__classname') ~= nil end

--- Registers fn(p, q) as kl_divergence for these classes; an exact class has precedence over its
--- parent.
function M.register_kl(p, q, fn)
  for i, name in ipairs { 'p', 'q' } do
    local value = select(i, p, q)
    if not is_class(value) and type(value) ~= 'string' then
      fail("register_kl(): argument '%s' must be a class of distributions or its name, not %s", name, kinds.described(value))
    end
  end
  known[p] = known[p] or {}
  known[p][q] = fn
end

-- The function for p's class or its closest registered parent, first by p, then by q.
local function find(p, q)
  local a = getmetatable(p).__class
  while a do
    for _, key in ipairs { a, a.__classname } do
      local row = known[key]
      local b = row and getmetatable(q).__class
      while b do
        local fn = row[b] or row[b.__classname]
        if fn then return fn end
        b = b.super
      end
    end
    a = a.super
  end
end

--- The Kullback-Leibler divergence in nats: the expectation of log p(x) - log q(x) under p.
function M.kl_divergence(p, q)
  local Distribution = require 'torch.distributions.distribution'
  for i, name in ipairs { 'p', 'q' } do
    local value = select(i, p, q)
    if not Distribution:is_instance(value) then
      fail("kl_divergence(): argument '%s' must be a Distribution, not %s", name, kinds.described(value))
    end
  end
  local fn = find(p, q)
  if not fn then fail('No KL(p || q) is implemented for p type %s and q type %s', torch.type(p), torch.type(q)) end
  return fn(p, q)
end

declare.functions(M, 'kl_divergence(any p, any q) register_kl(any type_p, any type_q, function fn)')

local kl, register = M.kl_divergence, M.register_kl
local lgamma, digamma = torch.lgamma, torch.digamma
local euler = utils.euler_constant

-- ---- of one kind --------------------------------------------------------------------------------

local function normals(p, q)
  local ratio = (p.scale / q.scale):square()
  return 0.5 * (ratio + ((p.loc - q.loc) / q.scale):square() - 1 - ratio:log())
end
register('Normal', 'Normal', normals)
register('HalfNormal', 'HalfNormal', function(p, q) return normals(p.base_dist, q.base_dist) end)

for _, a in ipairs { 'MultivariateNormal', 'LowRankMultivariateNormal' } do
  for _, b in ipairs { 'MultivariateNormal', 'LowRankMultivariateNormal' } do
    register(a, b, function(p, q) return require 'torch.distributions.multivariate'.normal_divergence(p, q) end)
  end
end

register('Bernoulli', 'Bernoulli', function(p, q)
  local P, Q, softplus = p.probs, q.probs, torch.nn.functional.softplus
  local on = P * (softplus(-q.logits) - softplus(-p.logits))
  local off = (1 - P) * (softplus(q.logits) - softplus(p.logits))
  on = on:masked_fill(Q:eq(0), math.huge):masked_fill(P:eq(0), 0)
  return on + off:masked_fill(Q:eq(1), math.huge):masked_fill(P:eq(1), 0)
end)

register('Binomial', 'Binomial', function(p, q)
  if p.total_count:lt(q.total_count):any():item() then
    fail 'KL between Binomials where q.total_count > p.total_count is not implemented'
  end
  local result = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs):log1p() - (-q.probs):log1p())
  return result:masked_fill(p.total_count:gt(q.total_count), math.huge)
end)

local function categorical(p, q)
  local t = p.probs * (p.logits - q.logits)
  t = t:masked_fill(q.probs:eq(0):expand_as(t), math.huge):masked_fill(p.probs:eq(0):expand_as(t), 0)
  return t:sum(-1)
end
register('Categorical', 'Categorical', categorical)
register('OneHotCategorical', 'OneHotCategorical', categorical)

register('ContinuousBernoulli', 'ContinuousBernoulli', function(p, q)
  return p.mean * (p.logits - q.logits) + p:log_norm() + (-p.probs):log1p() - q:log_norm() - (-q.probs):log1p()
end)

register('Exponential', 'Exponential', function(p, q)
  local ratio = q.rate / p.rate
  return ratio - ratio:log() - 1
end)

register('Gamma', 'Gamma', function(p, q)
  local a, b = p.concentration, q.concentration
  return b * (p.rate / q.rate):log() + lgamma(b) - lgamma(a) + (a - b) * digamma(a) + (q.rate - p.rate) * (a / p.rate)
end)

register('Beta', 'Beta', function(p, q)
  local total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
  local t1 = lgamma(q.concentration1) + lgamma(q.concentration0) + lgamma(total_p)
  local t2 = lgamma(p.concentration1) + lgamma(p.concentration0) + lgamma(total_q)
  return t1 - t2 + (p.concentration1 - q.concentration1) * digamma(p.concentration1)
    + (p.concentration0 - q.concentration0) * digamma(p.concentration0) + (total_q - total_p) * digamma(total_p)
end)

register('Dirichlet', 'Dirichlet', function(p, q)
  local a, b = p.concentration, q.concentration
  local total = a:sum(-1)
  return lgamma(total) - lgamma(b:sum(-1)) - (lgamma(a) - lgamma(b)):sum(-1)
    + ((a - b) * (digamma(a) - digamma(total):unsqueeze(-1))):sum(-1)
end)

register('Laplace', 'Laplace', function(p, q)
  local ratio, distance = p.scale / q.scale, (p.loc - q.loc):abs()
  return -ratio:log() + distance / q.scale + ratio * (-distance / p.scale):exp() - 1
end)

register('Cauchy', 'Cauchy', function(p, q)
  return ((p.scale + q.scale):square() + (p.loc - q.loc):square()):log() - (4 * p.scale * q.scale):log()
end)

register('Gumbel', 'Gumbel', function(p, q)
  local ratio, a, b = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
  return -ratio:log() - a + b + ratio * euler + (a + lgamma(1 + ratio) - b):exp() - (1 + euler)
end)

register('Pareto', 'Pareto', function(p, q)
  local ratio = q.alpha / p.alpha
  local result = q.alpha * (p.scale / q.scale):log() - ratio:log() + ratio - 1
  return result:masked_fill(p.scale:lt(q.scale), math.huge)
end)

register('Poisson', 'Poisson', function(p, q) return p.rate * (p.rate:log() - q.rate:log()) - (p.rate - q.rate) end)
register('Geometric', 'Geometric', function(p, q) return -p:entropy() - (-q.probs):log1p() / p.probs - q.logits end)

register('Uniform', 'Uniform', function(p, q)
  local result = ((q.high - q.low) / (p.high - p.low)):log()
  return result:masked_fill(q.low:gt(p.low):logical_or(q.high:lt(p.high)), math.huge)
end)

register('TransformedDistribution', 'TransformedDistribution', function(p, q)
  local same = #p.transforms == #q.transforms and utils.same_dims(p.event_shape, q.event_shape)
  for i, transform in ipairs(p.transforms) do same = same and transform == q.transforms[i] end
  if not same then
    fail('No KL(p || q) is implemented for %s and %s with other transforms or event shapes', torch.type(p), torch.type(q))
  end
  return kl(p.base_dist, q.base_dist)
end)

register('Independent', 'Independent', function(p, q)
  if p.reinterpreted_batch_ndims ~= q.reinterpreted_batch_ndims then
    fail('No KL(p || q) is implemented for Independent with %d and %d dims', p.reinterpreted_batch_ndims, q.reinterpreted_batch_ndims)
  end
  return utils.sum_rightmost(kl(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
end)

-- By the Bregman divergence of the log normalizer.
register('ExponentialFamily', 'ExponentialFamily', function(p, q)
  if getmetatable(p).__class ~= getmetatable(q).__class then
    fail('The cross KL-divergence between different exponential families cannot be computed using Bregman divergences '
      .. '(%s and %s)', torch.type(p), torch.type(q))
  end
  local leaves, normalizer, gradients = p:normalizer_gradients()
  local others = q.natural_params
  local result = q:log_normalizer(table.unpack(others)) - normalizer
  for i, leaf in ipairs(leaves) do
    local term = (others[i] - leaf) * gradients[i]
    result = result - utils.sum_rightmost(term, term.ndim - #q.batch_shape)
  end
  return result
end)

-- ---- of two kinds -------------------------------------------------------------------------------

-- Infinity where the support of p exceeds the support of q.
local function infinite(p, others, parameter)
  for q in others:gmatch '%S+' do
    register(p, q, function(a) return torch.full_like(a[parameter], math.huge) end)
  end
end
infinite('Beta', 'Pareto', 'concentration1')
infinite('ContinuousBernoulli', 'Pareto', 'probs')
infinite('Exponential', 'Beta ContinuousBernoulli Pareto Uniform', 'rate')
infinite('Gamma', 'Beta ContinuousBernoulli Pareto Uniform', 'concentration')
infinite('Gumbel', 'Beta ContinuousBernoulli Exponential Gamma Pareto Uniform', 'loc')
infinite('Laplace', 'Beta ContinuousBernoulli Exponential Gamma Pareto Uniform', 'loc')
infinite('Normal', 'Beta ContinuousBernoulli Exponential Gamma Pareto Uniform', 'loc')
infinite('Pareto', 'Beta ContinuousBernoulli Uniform', 'scale')
infinite('Poisson', 'Bernoulli Binomial', 'rate')

-- By p's entropy and the expectation of q's log_prob.
register('Bernoulli', 'Poisson', function(p, q) return -p:entropy() - (p.probs * q.rate:log() - q.rate) end)
register('Beta', 'ContinuousBernoulli', function(p, q)
  return -p:entropy() - p.mean * q.logits - (-q.probs):log1p() - q:log_norm()
end)
local function to_exponential(p, q) return -p:entropy() - q.rate:log() + q.rate * p.mean end
register('Beta', 'Exponential', to_exponential)
register('ContinuousBernoulli', 'Exponential', to_exponential)
register('Gamma', 'Exponential', to_exponential)

local function to_normal(p, q)
  local second = p.variance + (p.mean - q.loc):square()
  return -p:entropy() + q.scale:log() + 0.5 * math.log(2 * math.pi) + second / (2 * q.scale:square())
end
for _, p in ipairs { 'Beta', 'ContinuousBernoulli', 'Exponential', 'Gamma', 'Gumbel', 'Laplace', 'Uniform' } do
  register(p, 'Normal', to_normal)
end
register('Pareto', 'Normal', function(p, q) return to_normal(p, q):masked_fill(p.alpha:le(2), math.huge) end)

-- q a Gamma: with the mean of p and of its logarithm.
local function to_gamma(p, q, mean_log)
  local a = q.concentration
  return -p:entropy() + lgamma(a) - a * q.rate:log() - (a - 1) * mean_log + q.rate * p.mean
end
register('Beta', 'Gamma', function(p, q)
  return to_gamma(p, q, digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0))
end)
register('Exponential', 'Gamma', function(p, q) return to_gamma(p, q, -euler - p.rate:log()) end)
register('Pareto', 'Gamma', function(p, q)
  return to_gamma(p, q, p.scale:log() + p.alpha:reciprocal()):masked_fill(p.alpha:le(1), math.huge)
end)
register('Pareto', 'Exponential', function(p, q) return to_exponential(p, q):masked_fill(p.alpha:le(1), math.huge) end)

local function x_log_x(x) return torch.xlogy(x, x) end
-- The mean of a Uniform's logarithm.
local function mean_log(p) return (x_log_x(p.high) - x_log_x(p.low)) / (p.high - p.low) - 1 end
register('Uniform', 'Gamma', function(p, q) return to_gamma(p, q, mean_log(p)):masked_fill(p.low:lt(0), math.huge) end)
register('Uniform', 'Exponential', function(p, q) return to_exponential(p, q):masked_fill(p.low:lt(0), math.huge) end)
register('Uniform', 'Beta', function(p, q)
  local a, b, width = q.concentration1, q.concentration0, p.high - p.low
  local mean_log_rest = (x_log_x(1 - p.low) - x_log_x(1 - p.high)) / width - 1
  local result = lgamma(a) + lgamma(b) - lgamma(a + b) - width:log() - (a - 1) * mean_log(p) - (b - 1) * mean_log_rest
  return result:masked_fill(p.high:gt(1):logical_or(p.low:lt(0)), math.huge)
end)
register('Uniform', 'ContinuousBernoulli', function(p, q)
  local result = -p:entropy() - p.mean * q.logits - (-q.probs):log1p() - q:log_norm()
  return result:masked_fill(p.high:ge(1):logical_or(p.low:le(0)), math.huge)
end)
register('Uniform', 'Pareto', function(p, q)
  local result = (q.alpha + 1) * mean_log(p) - (q.alpha * q.scale:pow(q.alpha) * (p.high - p.low)):log()
  return result:masked_fill(p.low:lt(q.scale), math.huge)
end)
register('Beta', 'Uniform', function(p, q)
  return (-p:entropy() + (q.high - q.low):log()):masked_fill(q.low:gt(0):logical_or(q.high:lt(1)), math.huge)
end)
register('ContinuousBernoulli', 'Uniform', function(p, q)
  return (-p:entropy() + (q.high - q.low):log()):masked_fill(q.low:ge(0):logical_or(q.high:le(1)), math.huge)
end)

-- q a Gumbel: with E[exp(-x / q.scale)] of p.
local function to_gumbel(p, q, mean_exp)
  return -p:entropy() + q.scale:log() + (p.mean - q.loc) / q.scale + (q.loc / q.scale):exp() * mean_exp
end
register('Exponential', 'Gumbel', function(p, q)
  local product = p.rate * q.scale
  return to_gumbel(p, q, product / (product + 1))
end)
register('Gamma', 'Gumbel', function(p, q)
  return to_gumbel(p, q, (1 + (p.rate * q.scale):reciprocal()):pow(-p.concentration))
end)
register('Normal', 'Gumbel', function(p, q)
  return to_gumbel(p, q, (-p.loc / q.scale + 0.5 * (p.scale / q.scale):square()):exp())
end)
register('Uniform', 'Gumbel', function(p, q)
  local ends = (-p.low / q.scale):exp() - (-p.high / q.scale):exp()
  return to_gumbel(p, q, q.scale / (p.high - p.low) * ends)
end)

register('Normal', 'Laplace', function(p, q)
  local d = p.loc - q.loc
  local ratio = d / p.scale
  local distance = math.sqrt(2 / math.pi) * p.scale * (-0.5 * ratio:square()):exp() + d * torch.erf(ratio * math.sqrt(0.5))
  return -p:entropy() + (2 * q.scale):log() + distance / q.scale
end)

return M
