-- constraints.lua - torch.distributions.constraints: domains of parameters and values.
--
-- A constraint has check(value), a mask of valid elements (without the last event_dim dims, which
-- it checks together), event_dim and is_discrete, and prints as PyTorch's. Constraints without
-- parameters are values (constraints.positive), others are created: constraints.greater_than(0),
-- constraints.independent(constraints.real, 1). Dims count from 1.

--[=[ arguments
Constraint(): The base class of constraints: `check(value)` returns a mask of the valid elements.
greater_than(): Numbers above a bound.
greater_than_eq(): Numbers from a bound on.
less_than(): Numbers below a bound.
interval(): Numbers from a lower to an upper bound.
half_open_interval(): Numbers from a lower bound to below an upper one.
integer_interval(): Integers from a lower to an upper bound.
integer_less_than(): Integers below a bound.
multinomial(): Vectors of counts with a given sum.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local python = require 'torch.nn.python'
local utils = require 'torch.distributions.utils'

local Constraint = class.Object:extend 'Constraint'
Constraint.is_discrete, Constraint.event_dim = false, 0

--- A mask of valid elements.
function Constraint:check(value) fail('%s.check is not implemented', torch.type(self)) end
function Constraint:__tostring() return torch.type(self) .. '()' end

local M = { Constraint = Constraint }

-- arguments: the declared arguments of the constructor.
local function define(name, members, arguments)
  local made = Constraint:extend(name)
  for key, value in pairs(members) do made[key] = value end
  if arguments then declare.methods(made, ('init(self, %s)'):format(arguments)) end
  return made
end

local function check_constraint(what, value)
  if not Constraint:is_instance(value) then
    fail('%s must be a Constraint, got %s', what, torch.type(value))
  end
  return value
end

-- ---- bounds -------------------------------------------------------------------------------------

local function bound_text(bound) return torch.is_tensor(bound) and utils.tensor_text(bound) or python.repr(bound) end

-- A class with bounds (numbers or tensors); test(value, lower, upper), or test(value, bound) for
-- one.
local function bounded(name, fields, test, is_discrete)
  local made = define(name, { is_discrete = is_discrete or false })
  function made:init(...)
    local given = { ... }
    for i, field in ipairs(fields) do self[field] = given[i] end
  end
  declare.methods(made, ('init(self, number|Tensor %s)'):format(table.concat(fields, ', number|Tensor ')))
  function made:check(value)
    local mask = test(value, self[fields[1]], self[fields[2]])
    return is_discrete and mask:logical_and(value:eq(value:floor())) or mask
  end
  function made:__tostring()
    local parts = {}
    for i, field in ipairs(fields) do parts[i] = field .. '=' .. bound_text(self[field]) end
    return ('%s(%s)'):format(name, table.concat(parts, ', '))
  end
  return made
end

local function between(x, low, high) return x:ge(low):logical_and(x:le(high)) end
local function at_least(x, low) return x:ge(low) end
local function at_most(x, high) return x:le(high) end

M.greater_than = bounded('GreaterThan', { 'lower_bound' }, function(x, low) return x:gt(low) end)
M.greater_than_eq = bounded('GreaterThanEq', { 'lower_bound' }, at_least)
M.less_than = bounded('LessThan', { 'upper_bound' }, function(x, high) return x:lt(high) end)
M.interval = bounded('Interval', { 'lower_bound', 'upper_bound' }, between)
M.half_open_interval = bounded('HalfOpenInterval', { 'lower_bound', 'upper_bound' }, function(x, low, high)
  return x:ge(low):logical_and(x:lt(high))
end)
M.integer_interval = bounded('IntegerInterval', { 'lower_bound', 'upper_bound' }, between, true)
local IntegerGreaterThan = bounded('IntegerGreaterThan', { 'lower_bound' }, at_least, true)
M.integer_less_than = bounded('IntegerLessThan', { 'upper_bound' }, at_most, true)

-- ---- of numbers ---------------------------------------------------------------------------------

-- A constraint without parameters.
local function single(name, event_dim, check, is_discrete)
  return define(name, { event_dim = event_dim, is_discrete = is_discrete or false, check = function(self, value) return check(value) end })()
end

local function is_boolean(x) return x:eq(0):logical_or(x:eq(1)) end

M.real = single('Real', 0, function(x) return x:eq(x) end)
M.boolean = single('Boolean', 0, is_boolean, true)
M.positive, M.nonnegative = M.greater_than(0.0), M.greater_than_eq(0.0)
M.nonnegative_integer, M.positive_integer = IntegerGreaterThan(0), IntegerGreaterThan(1)
M.unit_interval = M.interval(0.0, 1.0)

-- ---- of vectors and matrices --------------------------------------------------------------------

M.one_hot = single('OneHot', 1, function(x) return is_boolean(x):all(-1):logical_and(x:sum(-1):eq(1)) end, true)
M.simplex = single('Simplex', 1, function(x) return x:ge(0):all(-1):logical_and((x:sum(-1) - 1):abs():lt(1e-6)) end)

M.multinomial = define('Multinomial', {
  event_dim = 1, is_discrete = true,
  init = function(self, upper_bound) self.upper_bound = upper_bound end,
  check = function(self, value) return value:ge(0):all(-1):logical_and(value:sum(-1):le(self.upper_bound)) end,
}, 'any upper_bound')

local function is_lower(x) return x:tril():eq(x):all(-1):all(-1) end
local function is_lower_cholesky(x) return is_lower(x):logical_and(x:diagonal(0, -2, -1):gt(0):all(-1)) end
local function is_square(x)
  return torch.full(utils.slice(x.shape, 1, -3), x:size(-1) == x:size(-2), { dtype = torch.bool, device = x.device })
end
local function is_symmetric(x)
  if x:size(-1) ~= x:size(-2) then return is_square(x) end
  return torch.isclose(x, x.mT, { atol = 1e-6 }):all(-1):all(-1)
end

M.lower_triangular = single('LowerTriangular', 2, is_lower)
M.lower_cholesky = single('LowerCholesky', 2, is_lower_cholesky)
M.corr_cholesky = single('CorrCholesky', 2, function(x)
  local tolerance = torch.finfo(x.dtype).eps * x:size(-1) * 10
  local length = x:detach():square():sum(-1):sqrt()
  return is_lower_cholesky(x):logical_and((length - 1):abs():le(tolerance):all(-1))
end)
M.square = single('Square', 2, is_square)
M.symmetric = single('Symmetric', 2, is_symmetric)

-- Symmetric matrices with eigenvalues that satisfy a test: nonnegative, or positive.
local function of_eigenvalues(test)
  return function(x)
    local symmetric = is_symmetric(x)
    if not symmetric:all():item() then return symmetric end
    return test(torch.linalg.eigvalsh(x:detach())):all(-1)
  end
end
M.positive_semidefinite = single('PositiveSemidefinite', 2, of_eigenvalues(function(v) return v:ge(0) end))
M.positive_definite = single('PositiveDefinite', 2, of_eigenvalues(function(v) return v:gt(0) end))

-- ---- of other constraints -----------------------------------------------------------------------

-- A constraint that depends on other parameters of the object; a parameter with it is not checked.
local read_dependent = declare.reader 'dependent(*, boolean? is_discrete, integer? event_dim)'
local Dependent = define('Dependent', {
  init = function(self, is_discrete, event_dim) self.is_discrete, self.event_dim = is_discrete, event_dim end,
  __call = function(self, ...)
    local given = read_dependent(...)
    if given.is_discrete == nil then given.is_discrete = self.is_discrete end
    return getmetatable(self).__class { is_discrete = given.is_discrete, event_dim = given.event_dim or self.event_dim }
  end,
  check = function() fail 'Cannot determine validity of dependent constraint' end,
}, '*, boolean? is_discrete, integer? event_dim')
M.dependent = Dependent()

--- Whether a constraint is constraints.dependent.
function M.is_dependent(constraint) return Dependent:is_instance(constraint) end
declare.functions(M, 'is_dependent(any constraint)')

-- Reduces a mask over its dims after `keep`.
local function joined(mask, keep, dims, expected)
  if keep < 0 then fail('Expected value.dim() >= %d but got %d', expected, dims) end
  return mask:reshape(utils.append(utils.slice(mask.shape, 1, keep), { -1 })):all(-1)
end

--- independent(constraint, n): all elements of the last n dims must satisfy the constraint.
M.independent = define('IndependentConstraint', {
  init = function(self, base_constraint, reinterpreted_batch_ndims)
    check_constraint('base_constraint', base_constraint)
    if reinterpreted_batch_ndims < 0 then
      fail('reinterpreted_batch_ndims must be >= 0, got %d', reinterpreted_batch_ndims)
    end
    self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
    self.is_discrete = base_constraint.is_discrete
    self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims
  end,
  check = function(self, value)
    local mask, n = self.base_constraint:check(value), self.reinterpreted_batch_ndims
    if n == 0 then return mask end
    return joined(mask, mask.ndim - n, value.ndim, self.event_dim)
  end,
  __tostring = function(self)
    return ('IndependentConstraint(%s, %d)'):format(tostring(self.base_constraint), self.reinterpreted_batch_ndims)
  end,
}, 'any base_constraint, integer reinterpreted_batch_ndims')
M.real_vector = M.independent(M.real, 1)

--- The constraint of a mixture's values: that of its components, for each component.
M.MixtureSameFamilyConstraint = define('MixtureSameFamilyConstraint', {
  init = function(self, base_constraint)
    self.base_constraint = check_constraint('base_constraint', base_constraint)
    self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim
  end,
  check = function(self, value)
    local mask = self.base_constraint:check(value:unsqueeze(-1 - self.event_dim))
    return joined(mask, value.ndim - self.event_dim, value.ndim, self.event_dim)
  end,
  __tostring = function(self) return ('MixtureSameFamilyConstraint(%s)'):format(tostring(self.base_constraint)) end,
}, 'any base_constraint')

local function several(what, list)
  kinds.check(what, 'cseq', list, 'table')
  local copy, event_dim, is_discrete = {}, 0, false
  for i, constraint in ipairs(list) do
    copy[i] = check_constraint(('%s: element %d of cseq'):format(what, i), constraint)
    event_dim, is_discrete = math.max(event_dim, constraint.event_dim), is_discrete or constraint.is_discrete
  end
  return copy, event_dim, is_discrete
end

--- cat({constraints}, dim = 1, lengths): concatenated along a dim, each for the number of entries
-- in lengths (1).
M.cat = define('Cat', {
  init = function(self, cseq, dim, lengths)
    self.cseq, self.event_dim, self.is_discrete = several('cat', cseq)
    if lengths and #lengths ~= #cseq then fail('lengths (%d) must match cseq (%d)', #lengths, #cseq) end
    self.lengths, self.dim = {}, dim
    for i = 1, #cseq do self.lengths[i] = lengths and lengths[i] or 1 end
  end,
  check = function(self, value)
    local masks, start = {}, 1
    for i, constraint in ipairs(self.cseq) do
      masks[i] = constraint:check(value:narrow(self.dim, start, self.lengths[i]))
      start = start + self.lengths[i]
    end
    return torch.cat(masks, self.dim)
  end,
}, 'any cseq, integer dim=1, integers? lengths')

--- stack({constraints}, dim = 1): a constraint for each entry of a dim.
M.stack = define('Stack', {
  init = function(self, cseq, dim)
    self.cseq, self.event_dim, self.is_discrete = several('stack', cseq)
    self.dim = dim
    if self.dim < 0 and self.dim + self.event_dim < 0 then self.event_dim = self.event_dim + 1 end
  end,
  check = function(self, value)
    local masks = {}
    for i, constraint in ipairs(self.cseq) do masks[i] = constraint:check(value:select(self.dim, i)) end
    return torch.stack(masks, self.dim)
  end,
}, 'any cseq, integer dim=1')

return M
