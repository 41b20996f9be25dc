-- kl.lua - kl_divergence(p, q): the Kullback-Leibler divergence of two distributions, where it has a closed form.
-- register_kl('P', 'Q', fn) adds one for classes of these names.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'

local M = {}

local known = {}

function M.register_kl(p, q, fn)
  kinds.check('register_kl', 'p', p, 'string')
  kinds.check('register_kl', 'q', q, 'string')
  kinds.check('register_kl', 'fn', fn, 'function')
  known[p .. ' ' .. q] = fn
end
local register = M.register_kl

register('Normal', 'Normal', function(p, q)
  local ratio = (p.scale / q.scale):square()
  return 0.5 * (ratio + ((p.loc - q.loc) / q.scale):square() - 1 - ratio:log())
end)
register('LogNormal', 'LogNormal', function(p, q) return M.kl_divergence(p.base_dist, q.base_dist) end)

register('Bernoulli', 'Bernoulli', function(p, q)
  local P, Q = p.probs, q.probs
  local on = P * (torch.nn.functional.softplus(-q.logits) - torch.nn.functional.softplus(-p.logits))
  local off = (1 - P) * (torch.nn.functional.softplus(q.logits) - torch.nn.functional.softplus(p.logits))
  on = on:masked_fill(Q:eq(0), math.huge):masked_fill(P:eq(0), 0)
  return on + off:masked_fill(Q:eq(1), math.huge):masked_fill(P:eq(1), 0)
end)

local function categorical(p, q)
  local t = p.probs * (p.logits - q.logits)
  t = t:masked_fill(q.probs:eq(0):expand_as(t), math.huge):masked_fill(p.probs:eq(0):expand_as(t), 0)
  return t:sum(-1)
end
register('Categorical', 'Categorical', categorical)
register('OneHotCategorical', 'OneHotCategorical', categorical)

register('Exponential', 'Exponential', function(p, q)
  local ratio = q.rate / p.rate
  return ratio - ratio:log() - 1
end)

register('Gamma', 'Gamma', function(p, q)
  local a, b = p.concentration, q.concentration
  return b * (p.rate / q.rate):log() + torch.lgamma(b) - torch.lgamma(a) + (a - b) * torch.digamma(a)
    + (q.rate - p.rate) * (a / p.rate)
end)

register('Beta', 'Beta', function(p, q)
  local total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
  local t1 = torch.lgamma(q.concentration1) + torch.lgamma(q.concentration0) + torch.lgamma(total_p)
  local t2 = torch.lgamma(p.concentration1) + torch.lgamma(p.concentration0) + torch.lgamma(total_q)
  return t1 - t2 + (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    + (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    + (total_q - total_p) * torch.digamma(total_p)
end)

register('Dirichlet', 'Dirichlet', function(p, q)
  local a, b = p.concentration, q.concentration
  local total = a:sum(-1)
  return torch.lgamma(total) - torch.lgamma(b:sum(-1)) - (torch.lgamma(a) - torch.lgamma(b)):sum(-1)
    + ((a - b) * (torch.digamma(a) - torch.digamma(total):unsqueeze(-1))):sum(-1)
end)

register('Laplace', 'Laplace', function(p, q)
  local ratio, distance = p.scale / q.scale, (p.loc - q.loc):abs()
  return -ratio:log() + distance / q.scale + ratio * (-distance / p.scale):exp() - 1
end)

register('Poisson', 'Poisson', function(p, q) return p.rate * (p.rate:log() - q.rate:log()) - (p.rate - q.rate) end)
register('Geometric', 'Geometric', function(p, q)
  return -p:entropy() - (-q.probs):log1p() / p.probs - q.logits
end)

register('Uniform', 'Uniform', function(p, q)
  local result = ((q.high - q.low) / (p.high - p.low)):log()
  return result:masked_fill(q.low:gt(p.low):logical_or(q.high:lt(p.high)), math.huge)
end)

function M.kl_divergence(p, q)
  local fn = known[torch.type(p) .. ' ' .. torch.type(q)]
  if not fn then fail('No KL(p || q) is implemented for p type %s and q type %s', torch.type(p), torch.type(q)) end
  return fn(p, q)
end

return M
