-- constraint_registry.lua - biject_to(constraint) and transform_to(constraint): a transform from
-- unconstrained real numbers to the constraint; the first is a bijection, the second any that suits
-- optimization.
--
-- For your own constraint: biject_to.register(MyConstraint, function(constraint) return a_transform
-- end).

local torch = require 'torch'
local class = require 'torch.support.class'
local constraints = require 'torch.distributions.constraints'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local basic = require 'torch.distributions.transforms.transform'
local elementwise = require 'torch.distributions.transforms.elementwise'
local vector = require 'torch.distributions.transforms.vector'

local Compose, Affine = basic.ComposeTransform, elementwise.AffineTransform

local ConstraintRegistry = class.Object:extend 'ConstraintRegistry'

function ConstraintRegistry:init()
  self._factories = {}
  --- Registers the transform of a class of constraints (or of the class of an object):
  -- register(constraint, factory).
  self.register = function(constraint, factory)
    if constraints.Constraint:is_instance(constraint) then constraint = getmetatable(constraint).__class end
    if type(constraint) ~= 'table' or rawget(constraint, '__classname') == nil then
      fail('Expected constraint to be either a Constraint subclass or instance, but got %s', kinds.described(constraint))
    end
    kinds.check('register', 'factory', factory, 'function')
    self._factories[constraint] = factory
    return factory
  end
end

function ConstraintRegistry:__call(constraint)
  local metatable = type(constraint) == 'userdata' and getmetatable(constraint)
  local factory = type(metatable) == 'table' and self._factories[metatable.__class]
  if not factory then fail('Cannot transform %s constraints', torch.type(constraint)) end
  return factory(constraint)
end

local biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()

local function both(list, factory)
  for _, constraint in ipairs(list) do
    biject_to.register(constraint, factory)
    transform_to.register(constraint, factory)
  end
end

both({ constraints.real }, function() return basic.identity_transform end)
both({ constraints.greater_than, constraints.greater_than_eq }, function(constraint)
  -- Bound 0, a number: exp without a shift.
  if constraint.lower_bound == 0 then return elementwise.ExpTransform() end
  return Compose { elementwise.ExpTransform(), Affine(constraint.lower_bound, 1) }
end)
both({ constraints.less_than }, function(constraint)
  return Compose { elementwise.ExpTransform(), Affine(constraint.upper_bound, -1) }
end)
both({ constraints.interval, constraints.half_open_interval }, function(constraint)
  local low, high = constraint.lower_bound, constraint.upper_bound
  if low == 0 and high == 1 then return elementwise.SigmoidTransform() end
  return Compose { elementwise.SigmoidTransform(), Affine(low, high - low) }
end)
both({ constraints.corr_cholesky }, function() return vector.CorrCholeskyTransform() end)
biject_to.register(constraints.simplex, function() return vector.StickBreakingTransform() end)
transform_to.register(constraints.simplex, function() return vector.SoftmaxTransform() end)
transform_to.register(constraints.lower_cholesky, function() return vector.LowerCholeskyTransform() end)
for _, constraint in ipairs { constraints.positive_definite, constraints.positive_semidefinite } do
  transform_to.register(constraint, function() return vector.PositiveDefiniteTransform() end)
end

for _, registry in ipairs { biject_to, transform_to } do
  local function of_list(list)
    local made = {}
    for i, constraint in ipairs(list) do made[i] = registry(constraint) end
    return made
  end
  registry.register(constraints.independent, function(constraint)
    return basic.IndependentTransform(registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims)
  end)
  registry.register(constraints.cat, function(constraint)
    return vector.CatTransform(of_list(constraint.cseq), constraint.dim, constraint.lengths)
  end)
  registry.register(constraints.stack, function(constraint)
    return vector.StackTransform(of_list(constraint.cseq), constraint.dim)
  end)
end

return { ConstraintRegistry = ConstraintRegistry, biject_to = biject_to, transform_to = transform_to }
