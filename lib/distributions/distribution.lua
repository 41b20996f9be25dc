-- distribution.lua - torch.distributions.Distribution: the base class of distributions.
--
-- A distribution has parameters (tensors broadcast to batch_shape), draws with sample(shape) and,
-- if samples are differentiable by the parameters, rsample(shape); log_prob, entropy, cdf, icdf;
-- mean, variance, stddev, mode, support and arg_constraints are fields. Shapes are numbers, a table
-- or a torch.Size. Positions (of categories) count from 1.
--
-- Your own class: MyNormal = torch.distributions.Distribution:extend('MyNormal'); its init stores
-- the parameters in fields and calls self:setup(batch_shape, event_shape, validate_args); computed
-- properties are functions in MyNormal.getters, such as MyNormal.getters.mean = function(self) ...
-- end.

--[=[ arguments
sample(): Samples, which are not differentiable, of shape sample_shape + batch_shape + event_shape.
rsample(): Samples that are differentiable by the parameters, of shape sample_shape + batch_shape + event_shape.
log_prob(): The logarithm of the probability density or mass at the values.
cdf(): The probability of values up to the given ones.
icdf(): The value up to which the given probability is reached: the inverse of `cdf`.
entropy(): The entropy, in nats.
perplexity(): The exponential of the entropy.
enumerate_support(): All values of a discrete distribution, along a new first dimension.
expand(): The distribution with parameters expanded to a batch shape.
Distribution(): The base class of distributions: `sample`, `log_prob`, `entropy`, `mean`, `variance` and others.
]=]

--[=[ examples
Distribution
    d = torch.distributions.Normal(torch.zeros(3), 1.0)
    d.batch_shape, d.event_shape, d:sample({5}).shape
    --> (torch.Size([3]), torch.Size([]), torch.Size([5, 3]))
ExponentialFamily
    torch.distributions.Normal(0.0, 1.0):entropy()
    --> tensor(1.4189)
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local constraints = require 'torch.distributions.constraints'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local utils = require 'torch.distributions.utils'

local Distribution = class.Object:extend('Distribution')
require 'torch.distributions.getters'(Distribution)

Distribution.has_rsample = false
Distribution.has_enumerate_support = false
-- The constraints of the parameters by name, and the names in printed order.
Distribution.arg_constraints, Distribution.parameter_names = {}, {}

local function refuse(self, what) fail('%s does not implement %s', torch.type(self), what) end

Distribution.getters.stddev = function(self) return self.variance:sqrt() end
for _, name in ipairs { 'mean', 'mode', 'variance', 'support' } do
  Distribution.getters[name] = function(self) refuse(self, name) end
end

local validate_by_default = true

--- Sets the default of validate_args for new distributions.
function Distribution.set_default_validate_args(value) validate_by_default = value end
declare.functions(Distribution, 'set_default_validate_args(boolean value)')

-- ---- checks -------------------------------------------------------------------------------------

local function all_true(mask) return mask:all():item() end

-- Raises an error unless the parameters satisfy their constraints; absent ones are computed from
-- others.
local function check_parameters(self)
  local fields = class.fields(self)
  for _, name in ipairs(self.parameter_names) do
    local constraint, value = self.arg_constraints[name], fields[name]
    if value == nil and self.getters[name] then value = self[name] end
    if torch.is_tensor(value) and not constraints.is_dependent(constraint) and not all_true(constraint:check(value:detach())) then
      fail('Expected parameter %s (Tensor of shape %s) of distribution %s to satisfy the constraint %s, but found invalid '
        .. 'values:\n%s', name, utils.tuple_text(value.shape), tostring(self), tostring(constraint), utils.tensor_text(value))
    end
  end
end

--- Raises an error unless the value is in the support; called with the argument of log_prob and
--- cdf.
function Distribution:check_value(value)
  if not torch.is_tensor(value) then
    fail('The value argument to log_prob must be a Tensor, got %s', torch.type(value))
  end
  if not self.validate_args then return end
  local shape, event, wanted = value.shape, self.event_shape, utils.append(self.batch_shape, self.event_shape)
  if not utils.same_dims(utils.slice(shape, math.max(#shape - #event + 1, 1)), event) then
    fail('The right-most size of value must match event_shape: %s vs %s.', tostring(shape), tostring(event))
  end
  for i = 0, math.min(#shape, #wanted) - 1 do
    local a, b = shape[#shape - i], wanted[#wanted - i]
    if a ~= b and a ~= 1 and b ~= 1 then
      fail('Value is not broadcastable with batch_shape+event_shape: %s vs %s.', tostring(shape), utils.size_text(wanted))
    end
  end
  local support = self.support
  if all_true(support:check(value:detach())) then return end
  fail('Expected value argument (Tensor of shape %s) to be within the support (%s) of the distribution %s, but found '
    .. 'invalid values:\n%s', utils.tuple_text(value.shape), tostring(support), tostring(self), utils.tensor_text(value))
end

-- ---- the class ----------------------------------------------------------------------------------

--- The shape of a draw: the sample's, the batch's, the event's.
function Distribution:extended_shape(...)
  return utils.append(utils.dims_of(...), self.batch_shape, self.event_shape)
end

--- Sets the shapes and validates the parameters.
function Distribution:setup(batch_shape, event_shape, validate_args)
  self.batch_shape, self.event_shape = torch.Size(utils.dims_of(batch_shape)), torch.Size(utils.dims_of(event_shape))
  if validate_args == nil then validate_args = validate_by_default end
  self.validate_args = validate_args
  if validate_args then check_parameters(self) end
end

-- Declares the constraints of the class's parameters: { {name, constraint}, ... } in printed order.
function Distribution.constrain(made, list)
  made.arg_constraints, made.parameter_names = {}, {}
  for i, entry in ipairs(list) do made.arg_constraints[entry[1]], made.parameter_names[i] = entry[2], entry[1] end
end

-- The declaration of the constructor of a class with parameters (constrain). defaults: of some of
-- them, by name.
function Distribution.declaration(made, defaults)
  local parts = {}
  for i, name in ipairs(made.parameter_names) do
    parts[i] = 'any ' .. name .. (defaults and defaults[name] and '=' .. defaults[name] or '')
  end
  return ('%s(%s, boolean? validate_args)'):format(made.__classname, table.concat(parts, ', '))
end

-- Defines parameters that are broadcast to the batch shape: init and expand of the class. list as
-- for constrain; defaults of optional ones; finish(self): the rest of the constructor.
function Distribution.parametrize(made, list, defaults, finish)
  made:constrain(list)
  local names = made.parameter_names
  local read = declare.reader(made:declaration(defaults))
  function made:init(...)
    local options = read(...)
    local given = {}
    for i, name in ipairs(names) do given[i] = options[name] end
    local values = table.pack(utils.broadcast_all(table.unpack(given)))
    for i, name in ipairs(names) do self[name] = values[i] end
    if finish then finish(self, options) end
    self:setup(values[1].shape, {}, options.validate_args)
  end
  function made:expand(...)
    local shape, values = utils.dims_of(...), {}
    for _, name in ipairs(names) do values[name] = self[name]:expand(shape) end
    return self:renewed(values)
  end
end

--- A distribution of the same class from these named arguments, without validation.
function Distribution:renewed(values)
  values.validate_args = false
  local made = getmetatable(self).__class(values)
  made.validate_args = self.validate_args
  return made
end

function Distribution:sample(...)
  local _ <close> = torch.no_grad()
  return self:rsample(...)
end

function Distribution:rsample(...) fail('%s has no rsample: its draws are not differentiable', torch.type(self)) end

for _, name in ipairs { 'log_prob', 'entropy', 'cdf', 'icdf', 'expand', 'enumerate_support' } do
  Distribution[name] = function(self, ...) fail('%s.%s is not implemented', torch.type(self), name) end
end

function Distribution:perplexity() return self:entropy():exp() end

-- Lists the given parameters: single numbers by value, others by size.
function Distribution:__tostring()
  local parts, fields = {}, class.fields(self)
  for _, name in ipairs(self.parameter_names) do
    local value = fields[name]
    if torch.is_tensor(value) then
      parts[#parts + 1] = name .. ': ' .. (value:numel() == 1 and utils.tensor_text(value) or tostring(value.shape))
    elseif value ~= nil then
      parts[#parts + 1] = name .. ': ' .. tostring(value)
    end
  end
  return ('%s(%s)'):format(torch.type(self), table.concat(parts, ', '))
end

-- ---- the exponential family ---------------------------------------------------------------------

--- Distributions with the density exp(natural parameters · statistics - log_normalizer). Your own
--- class defines getters.natural_params (a list of tensors), getters.mean_carrier_measure (0 by
--- default) and log_normalizer(a, b, ...); entropy and kl_divergence follow from the derivatives of
--- the normalizer.
local ExponentialFamily = Distribution:derive('ExponentialFamily', {
  mean_carrier_measure = function() return 0 end,
  natural_params = function(self) refuse(self, 'natural_params') end,
})
function ExponentialFamily:log_normalizer() refuse(self, 'log_normalizer') end

--- The natural parameters as leaves, their log-normalizer, and its derivatives.
function ExponentialFamily:normalizer_gradients()
  local leaves = {}
  for i, value in ipairs(self.natural_params) do leaves[i] = value:detach():clone():requires_grad_() end
  local normalizer = self:log_normalizer(table.unpack(leaves))
  local gradients = table.pack(torch.autograd.grad(normalizer:sum(), leaves, { create_graph = true }))
  if type(gradients[1]) == 'table' then gradients = gradients[1] end
  return leaves, normalizer, gradients
end

function ExponentialFamily:entropy()
  local leaves, normalizer, gradients = self:normalizer_gradients()
  local result = normalizer - self.mean_carrier_measure
  for i, leaf in ipairs(leaves) do
    result = result - (leaf * gradients[i]):reshape(utils.append(self.batch_shape, { -1 })):sum(-1)
  end
  return result
end

Distribution.ExponentialFamily = ExponentialFamily

return Distribution
