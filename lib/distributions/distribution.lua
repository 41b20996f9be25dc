-- distribution.lua - torch.distributions.Distribution: what every distribution derives from.
--
-- A distribution has parameters (tensors broadcast to batch_shape), draws with sample(shape) and, where the draw is
-- differentiable by the parameters, rsample(shape); log_prob, entropy, cdf, icdf; mean, variance, stddev, mode are read
-- as fields. Shapes are numbers, a table or a torch.Size. Positions (of categories) count from 1.

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local python = require 'torch.nn.python'

local Distribution = class.Object:extend('Distribution')

Distribution.has_rsample = false
Distribution.has_enumerate_support = false
-- Computed when they are read: name to function(self).
Distribution.getters = {
  stddev = function(self) return self.variance:sqrt() end,
  support = function(self) return self.support_name end,
}

-- ---- constraints --------------------------------------------------------------------------------------------------

-- What parameters and values have to satisfy: how it prints, and a mask of the elements that do.
Distribution.constraints = {
  real = { 'Real()', function(x) return x:eq(x) end },
  positive = { 'GreaterThan(lower_bound=0.0)', function(x) return x:gt(0) end },
  nonnegative = { 'GreaterThanEq(lower_bound=0.0)', function(x) return x:ge(0) end },
  nonnegative_integer = { 'IntegerGreaterThan(lower_bound=0)', function(x) return x:ge(0):logical_and(x:eq(x:floor())) end },
  unit_interval = { 'Interval(lower_bound=0.0, upper_bound=1.0)', function(x) return x:ge(0):logical_and(x:le(1)) end },
  boolean = { 'Boolean()', function(x) return x:eq(0):logical_or(x:eq(1)) end },
  simplex = { 'Simplex()', function(x) return x:ge(0):all(-1):logical_and((x:sum(-1) - 1):abs():lt(1e-6)) end },
}

local function shape_text(shape) return python.repr(table.move(shape, 1, #shape, 1, {})) end

function Distribution:check(name, value, constraint)
  if not self.validate_args then return end
  local text, test = table.unpack(Distribution.constraints[constraint])
  if test(value:detach()):all():item() then return end
  fail('Expected parameter %s (Tensor of shape %s) of distribution %s to satisfy the constraint %s, but found invalid '
    .. 'values:\n%s', name, shape_text(value.shape), tostring(self), text, tostring(value))
end

-- Values given to log_prob and cdf.
function Distribution:check_value(value)
  if not torch.is_tensor(value) then
    fail('The value argument to log_prob must be a Tensor, got %s', torch.type(value))
  end
  local constraint = Distribution.constraints[self.support_name]
  if not self.validate_args or not constraint or constraint[1] == 'Real()' then return end
  if constraint[2](value:detach()):all():item() then return end
  fail('Expected value argument (Tensor of shape %s) to be within the support (%s) of the distribution %s, but found '
    .. 'invalid values:\n%s', shape_text(value.shape), constraint[1], tostring(self), tostring(value))
end

-- ---- shapes -------------------------------------------------------------------------------------------------------

local function dims_of(...)
  local first = ...
  if first == nil then return {} end
  if type(first) == 'number' then return { ... } end
  if type(first) == 'table' and rawget(first, 'sample_shape') then first = first.sample_shape end
  if type(first) ~= 'table' then fail('a shape is numbers or a table of them, not %s', torch.type(first)) end
  local dims = {}
  for i = 1, #first do -- not table.move, which goes on for whatever length an object claims to have
    local size = first[i]
    if type(size) ~= 'number' then fail('a shape is numbers or a table of them, and element %d is %s', i, torch.type(size)) end
    dims[i] = size
  end
  return dims
end
Distribution.dims_of = dims_of

local function append(a, b) return table.move(b, 1, #b, #a + 1, a) end
Distribution.append = append

-- The shape of a draw: the sample's, the batch's, the event's.
function Distribution:extended_shape(...)
  return append(append(dims_of(...), self.batch_shape), self.event_shape)
end

-- Numbers and tensors as tensors of one shape.
function Distribution.broadcast(...)
  local values, like = { ... }, nil
  for _, value in ipairs(values) do
    if torch.is_tensor(value) then like = like or value end
  end
  for i, value in ipairs(values) do
    if type(value) == 'number' then
      local dtype = like and like:is_floating_point() and like.dtype or torch.get_default_dtype()
      values[i] = torch.tensor(value, { dtype = dtype, device = like and like.device })
    elseif not torch.is_tensor(value) then
      fail('Input arguments must all be instances of Number or Tensor, got %s', torch.type(value))
    end
  end
  local expanded = table.pack(torch.broadcast_tensors(values))
  if type(expanded[1]) == 'table' then expanded = expanded[1] end
  return table.unpack(expanded, 1, #values)
end

-- ---- the class ------------------------------------------------------------------------------------------------------

-- A distribution class: its objects' fields may be getters, which children inherit.
function Distribution:derive(name, getters)
  local derived = self:extend(name)
  derived.getters = setmetatable(getters or {}, { __index = self.getters })
  local metatable = class.metatables[derived]
  local index = metatable.__index
  metatable.__index = function(object, key)
    local getter = derived.getters[key]
    if getter then return getter(object) end
    return index(object, key)
  end
  return derived
end

-- Sets the shapes and checks the parameters: constraints by name, a list of {name, constraint}.
function Distribution:setup(batch_shape, event_shape, validate_args, checks)
  self.batch_shape, self.event_shape = torch.Size(dims_of(batch_shape)), torch.Size(dims_of(event_shape))
  self.validate_args = validate_args ~= false
  for _, entry in ipairs(checks or {}) do
    if self[entry[1]] ~= nil then self:check(entry[1], self[entry[1]], entry[2]) end
  end
end

function Distribution:sample(...)
  local _ <close> = torch.no_grad()
  return self:rsample(...)
end

function Distribution:rsample() fail('%s has no rsample: its draws are not differentiable', torch.type(self)) end

for _, name in ipairs { 'log_prob', 'entropy', 'cdf', 'icdf', 'expand', 'enumerate_support' } do
  Distribution[name] = function(self) fail('%s.%s is not implemented', torch.type(self), name) end
end

function Distribution:perplexity() return self:entropy():exp() end

-- The parameters as they print: their values when they are single numbers, their sizes otherwise.
function Distribution:__tostring()
  local parts = {}
  for i, name in ipairs(self.printed or {}) do
    local value = self[name]
    local text = tostring(value)
    if torch.is_tensor(value) then
      text = value:numel() == 1 and python.repr(value:item()) or tostring(value.shape)
    end
    parts[i] = name .. ': ' .. text
  end
  return ('%s(%s)'):format(torch.type(self), table.concat(parts, ', '))
end

return Distribution
