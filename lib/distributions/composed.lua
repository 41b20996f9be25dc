-- composed.lua - distributions made of others: TransformedDistribution, Independent,
-- MixtureSameFamily.

--[=[ examples
TransformedDistribution
    T = torch.distributions
    d = T.TransformedDistribution(T.Normal(0.0, 1.0), {T.ExpTransform()})
    d:log_prob(torch.tensor(1.0))
    --> tensor(-0.9189)
Independent
    d = torch.distributions.Independent(torch.distributions.Normal(torch.zeros(3), torch.ones(3)), 1)
    d:log_prob(torch.zeros(3))
    --> tensor(-2.7568)
MixtureSameFamily
    T = torch.distributions
    d = T.MixtureSameFamily(T.Categorical(torch.tensor{0.5, 0.5}), T.Normal(torch.tensor{-1.0, 1.0}, torch.ones(2)))
    d.mean, d:log_prob(torch.tensor(0.0))
    --> (tensor(0.), tensor(-1.4189))
]=]

local torch = require 'torch'
local constraints = require 'torch.distributions.constraints'
local Distribution = require 'torch.distributions.distribution'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local utils = require 'torch.distributions.utils'
local basic = require 'torch.distributions.transforms.transform'

local M = {}

local function check_distribution(what, name, value)
  if not Distribution:is_instance(value) then
    fail("%s(): argument '%s' must be a Distribution, not %s", what, name, kinds.described(value))
  end
end

-- ---- Independent --------------------------------------------------------------------------------

--- Independent(base, n): the last n dims of the batch become one event; log_prob sums over them.
local Independent = Distribution:derive('Independent', {
  has_rsample = function(self) return self.base_dist.has_rsample end,
  has_enumerate_support = function(self)
    return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support
  end,
  support = function(self)
    local support, n = self.base_dist.support, self.reinterpreted_batch_ndims
    return n > 0 and constraints.independent(support, n) or support
  end,
  mean = function(self) return self.base_dist.mean end,
  mode = function(self) return self.base_dist.mode end,
  variance = function(self) return self.base_dist.variance end,
})
M.Independent = Independent
local read_independent = declare.reader 'Independent(any base_distribution, integer reinterpreted_batch_ndims, boolean? validate_args)'

function Independent:init(...)
  local options = read_independent(...)
  local base, n = options.base_distribution, options.reinterpreted_batch_ndims
  check_distribution('Independent', 'base_distribution', base)
  if n > #base.batch_shape then
    fail('Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual %d vs %d', n, #base.batch_shape)
  end
  local shape = utils.append(base.batch_shape, base.event_shape)
  local cut = #base.batch_shape - n
  self.base_dist, self.reinterpreted_batch_ndims = base, n
  self:setup(utils.slice(shape, 1, cut), utils.slice(shape, cut + 1), options.validate_args)
end
function Independent:expand(...)
  local batch = utils.append(utils.dims_of(...), utils.slice(self.event_shape, 1, self.reinterpreted_batch_ndims))
  return self:renewed { base_distribution = self.base_dist:expand(batch), reinterpreted_batch_ndims = self.reinterpreted_batch_ndims }
end
function Independent:sample(...) return self.base_dist:sample(...) end
function Independent:rsample(...) return self.base_dist:rsample(...) end
function Independent:log_prob(value)
  return utils.sum_rightmost(self.base_dist:log_prob(value), self.reinterpreted_batch_ndims)
end
function Independent:entropy() return utils.sum_rightmost(self.base_dist:entropy(), self.reinterpreted_batch_ndims) end
function Independent:enumerate_support(...)
  if self.reinterpreted_batch_ndims > 0 then fail 'Enumeration over cartesian product is not implemented' end
  return self.base_dist:enumerate_support(...)
end
function Independent:__tostring()
  return ('Independent(%s, %d)'):format(tostring(self.base_dist), self.reinterpreted_batch_ndims)
end

-- ---- TransformedDistribution --------------------------------------------------------------------

--- TransformedDistribution(base, transforms): a draw from base, passed through the transforms (one
--- or a list).
local TransformedDistribution = Distribution:derive('TransformedDistribution', {
  has_rsample = function(self) return self.base_dist.has_rsample end,
  support = function(self)
    local n = #self.transforms
    if n == 0 then return self.base_dist.support end
    local support = self.transforms[n].codomain
    local more = #self.event_shape - support.event_dim
    return more > 0 and constraints.independent(support, more) or support
  end,
})
M.TransformedDistribution = TransformedDistribution
local read_transformed = declare.reader 'TransformedDistribution(any base_distribution, any transforms, boolean? validate_args)'

-- For the init of a class with a base and transforms.
function TransformedDistribution:setup_from(base, transforms, validate_args)
  transforms = basic.Transform.check_list('TransformedDistribution', transforms)
  local transform = basic.ComposeTransform(transforms)
  local domain, codomain = transform.domain.event_dim, transform.codomain.event_dim
  local shape, event_dim = utils.append(base.batch_shape, base.event_shape), #base.event_shape
  if #shape < domain then
    fail('base_distribution needs to have shape with size at least %d, but got %s.', domain, utils.size_text(shape))
  end
  local forward = transform:forward_shape(shape)
  local wide = transform:inverse_shape(forward)
  if not utils.same_dims(shape, wide) then base = base:expand(utils.slice(wide, 1, #wide - event_dim)) end
  if domain > event_dim then base = Independent(base, domain - event_dim) end
  self.base_dist, self.transforms = base, transforms
  local cut = #forward - math.max(codomain, event_dim + codomain - domain)
  self:setup(utils.slice(forward, 1, cut), utils.slice(forward, cut + 1), validate_args)
end

function TransformedDistribution:init(...)
  local options = read_transformed(...)
  local transforms = options.transforms
  check_distribution('TransformedDistribution', 'base_distribution', options.base_distribution)
  if basic.Transform:is_instance(transforms) then transforms = { transforms } end
  if type(transforms) ~= 'table' then fail('transforms must be a Transform or list, but was %s', kinds.described(transforms)) end
  self:setup_from(options.base_distribution, transforms, options.validate_args)
end

-- The base, for a batch of that shape.
function TransformedDistribution:expanded_base(...)
  local shape = utils.append(utils.dims_of(...), self.event_shape)
  for i = #self.transforms, 1, -1 do shape = self.transforms[i]:inverse_shape(shape) end
  return self.base_dist:expand(utils.slice(shape, 1, #shape - #self.base_dist.event_shape))
end
function TransformedDistribution:expand(...)
  return self:renewed { base_distribution = self:expanded_base(...), transforms = self.transforms }
end

local function forward(self, x)
  for _, transform in ipairs(self.transforms) do x = transform(x) end
  return x
end
function TransformedDistribution:sample(...)
  local _ <close> = torch.no_grad()
  return forward(self, self.base_dist:sample(...))
end
function TransformedDistribution:rsample(...) return forward(self, self.base_dist:rsample(...)) end

function TransformedDistribution:log_prob(value)
  self:check_value(value)
  local event_dim, total, y = #self.event_shape, 0.0, value
  for i = #self.transforms, 1, -1 do
    local transform = self.transforms[i]
    local x = transform.inv(y)
    event_dim = event_dim + transform.domain.event_dim - transform.codomain.event_dim
    total = total - utils.sum_rightmost(transform:log_abs_det_jacobian(x, y), event_dim - transform.domain.event_dim)
    y = x
  end
  return total + utils.sum_rightmost(self.base_dist:log_prob(y), event_dim - #self.base_dist.event_shape)
end

-- 1 - value if the transforms decrease.
local function monotonized(self, value)
  local sign = 1
  for _, transform in ipairs(self.transforms) do sign = sign * transform.sign end
  if sign == 1 then return value end
  return sign * (value - 0.5) + 0.5
end
function TransformedDistribution:cdf(value)
  for i = #self.transforms, 1, -1 do value = self.transforms[i].inv(value) end
  return monotonized(self, self.base_dist:cdf(value))
end
function TransformedDistribution:icdf(value) return forward(self, self.base_dist:icdf(monotonized(self, value))) end

-- ---- MixtureSameFamily --------------------------------------------------------------------------

--- MixtureSameFamily(Categorical, components): the Categorical selects a component along the last
-- dim of the components' batch.
local MixtureSameFamily = Distribution:derive('MixtureSameFamily', {
  support = function(self) return constraints.MixtureSameFamilyConstraint(self.component_distribution.support) end,
  mean = function(self) return (self:weights() * self.component_distribution.mean):sum(-1 - #self.event_shape) end,
  variance = function(self)
    local components, dim = self.component_distribution, -1 - #self.event_shape
    local weights = self:weights()
    local of_means = (weights * (components.mean - self:padded(self.mean)):square()):sum(dim)
    return (weights * components.variance):sum(dim) + of_means
  end,
})
M.MixtureSameFamily = MixtureSameFamily
local read_mixture = declare.reader [[
  MixtureSameFamily(any mixture_distribution, any component_distribution, boolean? validate_args)]]

function MixtureSameFamily:init(...)
  local options = read_mixture(...)
  local mixture, components = options.mixture_distribution, options.component_distribution
  if not torch.distributions.Categorical:is_instance(mixture) then
    fail 'The Mixture distribution needs to be an instance of torch.distributions.Categorical'
  end
  if not Distribution:is_instance(components) then
    fail 'The Component distribution needs to be an instance of torch.distributions.Distribution'
  end
  local mine, batch = mixture.batch_shape, utils.slice(components.batch_shape, 1, #components.batch_shape - 1)
  for i = 0, math.min(#mine, #batch) - 1 do
    local a, b = mine[#mine - i], batch[#batch - i]
    if a ~= 1 and b ~= 1 and a ~= b then
      fail('`mixture_distribution.batch_shape` (%s) is not compatible with `component_distribution.batch_shape`(%s)',
        tostring(mine), utils.size_text(batch))
    end
  end
  local count = components.batch_shape[#components.batch_shape]
  local own = mixture.logits:size(-1)
  if count ~= own then
    fail('`mixture_distribution component` (%d) does not equal `component_distribution.batch_shape[-1]` (%s)', own,
      tostring(count))
  end
  self.mixture_distribution, self.component_distribution = mixture, components
  self:setup(batch, components.event_shape, options.validate_args)
end
function MixtureSameFamily:expand(...)
  local batch = utils.dims_of(...)
  return self:renewed {
    mixture_distribution = self.mixture_distribution:expand(batch),
    component_distribution = self.component_distribution:expand(utils.append(batch, { self.mixture_distribution.num_events })),
  }
end

-- x with a dim for the components.
function MixtureSameFamily:padded(x) return x:unsqueeze(-1 - #self.event_shape) end

-- The categories' probabilities, with dims for broadcasting against the components' mean.
function MixtureSameFamily:weights()
  local probs, ones = self.mixture_distribution.probs, {}
  for i = 1, #self.event_shape do ones[i] = 1 end
  return probs:reshape(utils.append(probs.shape, ones))
end

function MixtureSameFamily:sample(...)
  local _ <close> = torch.no_grad()
  local shape, event = utils.dims_of(...), self.event_shape
  local dim = #shape + #self.batch_shape + 1
  local which = self.mixture_distribution:sample(shape)
  local drawn = self.component_distribution:sample(shape)
  for _ = 0, #event do which = which:unsqueeze(-1) end
  local wide = utils.append(shape, self.batch_shape, { 1 }, event)
  return drawn:gather(dim, which:expand(wide)):squeeze(dim)
end

function MixtureSameFamily:log_prob(value)
  self:check_value(value)
  local each = self.component_distribution:log_prob(self:padded(value))
  return torch.logsumexp(each + torch.log_softmax(self.mixture_distribution.logits, -1), -1)
end
function MixtureSameFamily:cdf(value)
  return (self.component_distribution:cdf(self:padded(value)) * self.mixture_distribution.probs):sum(-1)
end
function MixtureSameFamily:__tostring()
  return ('MixtureSameFamily(\n  %s,\n  %s)'):format(tostring(self.mixture_distribution), tostring(self.component_distribution))
end

return M
