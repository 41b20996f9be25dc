-- transform.lua - Transform: maps with a known inverse and Jacobian determinant, and compositions
-- of them.
--
-- t(x) maps, t.inv maps back, t:log_abs_det_jacobian(x, y) is log |dy/dx|, without the last
-- t.domain.event_dim dims. domain and codomain are constraints; bijective and sign (+1 if
-- increasing) are fields. Transforms of one class with equal parameters are equal (==). With
-- {cache_size = 1} the last pair is cached: t.inv(t(x)) is x itself.
--
-- Your own class defines _call(x), _inverse(y) and log_abs_det_jacobian(x, y), and sets domain and
-- codomain.

--[=[ arguments
log_abs_det_jacobian(): The logarithm of the absolute value of the Jacobian's determinant, log |dy/dx|.
forward_shape(): The shape of the result for a shape of the argument.
inverse_shape(): The shape of the argument for a shape of the result.
equal(): Whether another transform is equal.
set_cache(): The transform with another size of the cache, 0 or 1.
Transform(): The base class of transforms: `t(x)`, `t.inv(y)`, `t:log_abs_det_jacobian(x, y)`.
]=]

--[=[ examples
Transform
    t = torch.distributions.ExpTransform()
    t.inv(torch.tensor{1.0, 1.0})
    --> tensor([0., 0.])
ComposeTransform
    T = torch.distributions
    T.ComposeTransform({T.ExpTransform(), T.AffineTransform(1.0, 2.0)})(torch.zeros(2))
    --> tensor([3., 3.])
IndependentTransform
    t = torch.distributions.IndependentTransform(torch.distributions.ExpTransform(), 1)
    t:log_abs_det_jacobian(torch.ones(3), torch.ones(3):exp())
    --> tensor(3.)
ReshapeTransform
    torch.distributions.ReshapeTransform({4}, {2, 2})(torch.zeros(4)).shape
    --> torch.Size([2, 2])
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local class = require 'torch.support.class'
local constraints = require 'torch.distributions.constraints'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local utils = require 'torch.distributions.utils'

local Transform = class.Object:extend 'Transform'
require 'torch.distributions.getters'(Transform)
Transform.bijective = false

-- ---- the class ----------------------------------------------------------------------------------

local derive = Transform.derive

function Transform.derive(parent, name, getters)
  local made = derive(parent, name, getters)
  class.metatables[made].__eq = function(a, b) return a:equal(b) end
  return made
end

local InverseTransform

Transform.getters.event_dim = function(self)
  local domain, codomain = self.domain.event_dim, self.codomain.event_dim
  if domain ~= codomain then fail 'Please use either .domain.event_dim or .codomain.event_dim' end
  return domain
end
Transform.getters.sign = function(self) fail('%s does not implement sign', torch.type(self)) end
Transform.getters.inv = function(self)
  self._inv = self._inv or InverseTransform(self)
  return self._inv
end

function Transform:set_cache(cache_size)
  if cache_size ~= 0 and cache_size ~= 1 then fail 'cache_size must be 0 or 1' end
  self.cache_size = cache_size
end

function Transform:init(cache_size) self:set_cache(cache_size) end
declare.methods(Transform, 'init(self, integer cache_size=0)')

--- The positional arguments of the constructor for an equal transform.
function Transform:arguments() return end

--- The same transform with a cache of that size (0 or 1).
function Transform:with_cache(cache_size)
  if self.cache_size == cache_size then return self end
  local given = table.pack(self:arguments())
  given[given.n + 1] = { cache_size = cache_size or 1 }
  return getmetatable(self).__class(table.unpack(given, 1, given.n + 1))
end

function Transform:equal(other) return rawequal(self, other) end

-- True if other has self's class.
function Transform:same_kind(other)
  return type(other) == 'userdata' and type(getmetatable(other)) == 'table' and getmetatable(other).__class == getmetatable(self).__class
end

-- For a transform without parameters: all objects of the class are equal.
function Transform.alike(made) made.equal = Transform.same_kind end

function Transform:__call(x)
  if self.cache_size == 0 then return self:_call(x) end
  if self._x ~= nil and rawequal(self._x, x) then return self._y end
  local y = self:_call(x)
  self._x, self._y = x, y
  return y
end

function Transform:_inv_call(y)
  if self.cache_size == 0 then return self:_inverse(y) end
  if self._y ~= nil and rawequal(self._y, y) then return self._x end
  local x = self:_inverse(y)
  self._x, self._y = x, y
  return x
end

for _, name in ipairs { '_call', '_inverse', 'log_abs_det_jacobian' } do
  Transform[name] = function(self, ...) fail('%s.%s is not implemented', torch.type(self), name) end
end

--- The shape of y for a shape of x, and the inverse.
function Transform:forward_shape(shape) return shape end
function Transform:inverse_shape(shape) return shape end

function Transform:__tostring() return torch.type(self) .. '()' end

-- ---- the inverse --------------------------------------------------------------------------------

InverseTransform = Transform:derive('InverseTransform', {
  domain = function(self) return self._inv.codomain end,
  codomain = function(self) return self._inv.domain end,
  sign = function(self) return self._inv.sign end,
  inv = function(self) return self._inv end,
})

function InverseTransform:init(transform)
  self._inv, self.cache_size, self.bijective = transform, transform.cache_size, transform.bijective
end
function InverseTransform:with_cache(cache_size) return self._inv:with_cache(cache_size).inv end
function InverseTransform:equal(other) return self:same_kind(other) and self._inv == other._inv end
function InverseTransform:__call(x) return self._inv:_inv_call(x) end
function InverseTransform:_inv_call(y) return self._inv(y) end
function InverseTransform:log_abs_det_jacobian(x, y) return -self._inv:log_abs_det_jacobian(y, x) end
function InverseTransform:forward_shape(shape) return self._inv:inverse_shape(shape) end
function InverseTransform:inverse_shape(shape) return self._inv:forward_shape(shape) end
function InverseTransform:__tostring() return ('_InverseTransform(%s)'):format(tostring(self._inv)) end

-- ---- one after the other ------------------------------------------------------------------------

local function check_list(what, list)
  kinds.check(what, 'parts', list, 'table')
  local copy = {}
  for i = 1, #list do
    if not Transform:is_instance(list[i]) then
      fail('%s: element %d must be a Transform, not %s', what, i, kinds.described(list[i]))
    end
    copy[i] = list[i]
  end
  return copy
end
Transform.check_list = check_list

function Transform.cached_list(list, cache_size)
  if not cache_size or cache_size == 0 then return list end
  local cached = {}
  for i, part in ipairs(list) do cached[i] = part:with_cache(cache_size) end
  return cached
end

-- The constraint with event_dim last dims.
local function widened(constraint, event_dim)
  if event_dim <= constraint.event_dim then return constraint end
  return constraints.independent(constraint, event_dim - constraint.event_dim)
end

--- ComposeTransform {a, b, c}: c(b(a(x))); of none, the identity.
local ComposeTransform = Transform:derive('ComposeTransform', {
  domain = function(self)
    local parts = self.parts
    if #parts == 0 then return constraints.real end
    local event_dim = parts[#parts].codomain.event_dim
    for i = #parts, 1, -1 do
      local part = parts[i]
      event_dim = math.max(event_dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
    end
    return widened(parts[1].domain, event_dim)
  end,
  codomain = function(self)
    local parts = self.parts
    if #parts == 0 then return constraints.real end
    local event_dim = parts[1].domain.event_dim
    for _, part in ipairs(parts) do
      event_dim = math.max(event_dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
    end
    return widened(parts[#parts].codomain, event_dim)
  end,
  bijective = function(self)
    for _, part in ipairs(self.parts) do
      if not part.bijective then return false end
    end
    return true
  end,
  sign = function(self)
    local sign = 1
    for _, part in ipairs(self.parts) do sign = sign * part.sign end
    return sign
  end,
  inv = function(self)
    if not self._inv then
      local reversed = {}
      for i = #self.parts, 1, -1 do reversed[#reversed + 1] = self.parts[i].inv end
      self._inv = getmetatable(self).__class(reversed)
      self._inv._inv = self
    end
    return self._inv
  end,
})

function ComposeTransform:init(parts, cache_size)
  parts = check_list('ComposeTransform', parts)
  self:set_cache(cache_size)
  self.parts = Transform.cached_list(parts, self.cache_size)
end
declare.methods(ComposeTransform, 'init(self, any parts, integer cache_size=0)')
function ComposeTransform:arguments() return self.parts end

function Transform.same_list(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    if not (a[i] == b[i]) then return false end
  end
  return true
end
function ComposeTransform:equal(other) return self:same_kind(other) and Transform.same_list(self.parts, other.parts) end

function ComposeTransform:__call(x)
  for _, part in ipairs(self.parts) do x = part(x) end
  return x
end
function ComposeTransform:_inv_call(y) return self.inv(y) end

function ComposeTransform:log_abs_det_jacobian(x, y)
  local parts, total = self.parts, nil
  if #parts == 0 then return torch.zeros_like(x) end
  local event_dim = self.domain.event_dim
  for i, part in ipairs(parts) do
    local next_x = i == #parts and y or part(x)
    local term = utils.sum_rightmost(part:log_abs_det_jacobian(x, next_x), event_dim - part.domain.event_dim)
    total = total and total + term or term
    event_dim = event_dim + part.codomain.event_dim - part.domain.event_dim
    x = next_x
  end
  return total
end

function ComposeTransform:forward_shape(shape)
  for _, part in ipairs(self.parts) do shape = part:forward_shape(shape) end
  return shape
end
function ComposeTransform:inverse_shape(shape)
  for i = #self.parts, 1, -1 do shape = self.parts[i]:inverse_shape(shape) end
  return shape
end
function ComposeTransform:__tostring()
  local texts = {}
  for i, part in ipairs(self.parts) do texts[i] = tostring(part) end
  return ('ComposeTransform(\n    %s\n)'):format(table.concat(texts, ',\n    '))
end

-- ---- joint dims ---------------------------------------------------------------------------------

--- IndependentTransform(t, n): t with its last n dims as one event: log_abs_det_jacobian sums over
--- them.
local IndependentTransform = Transform:derive('IndependentTransform', {
  domain = function(self) return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims) end,
  codomain = function(self) return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims) end,
  bijective = function(self) return self.base_transform.bijective end,
  sign = function(self) return self.base_transform.sign end,
})

function IndependentTransform:init(base_transform, reinterpreted_batch_ndims, cache_size)
  check_list('IndependentTransform', { base_transform })
  self:set_cache(cache_size)
  self.base_transform = base_transform:with_cache(self.cache_size)
  self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
end
declare.methods(IndependentTransform, 'init(self, any base_transform, integer reinterpreted_batch_ndims, integer cache_size=0)')
function IndependentTransform:arguments() return self.base_transform, self.reinterpreted_batch_ndims end
function IndependentTransform:_call(x)
  if x.ndim < self.domain.event_dim then fail 'Too few dimensions on input' end
  return self.base_transform(x)
end
function IndependentTransform:_inverse(y)
  if y.ndim < self.codomain.event_dim then fail 'Too few dimensions on input' end
  return self.base_transform.inv(y)
end
function IndependentTransform:log_abs_det_jacobian(x, y)
  return utils.sum_rightmost(self.base_transform:log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)
end
function IndependentTransform:forward_shape(shape) return self.base_transform:forward_shape(shape) end
function IndependentTransform:inverse_shape(shape) return self.base_transform:inverse_shape(shape) end
function IndependentTransform:__tostring()
  return ('IndependentTransform(%s, %d)'):format(tostring(self.base_transform), self.reinterpreted_batch_ndims)
end

--- ReshapeTransform({2, 3}, {6}): reshapes the last dims.
local ReshapeTransform = Transform:derive('ReshapeTransform', {
  domain = function(self) return constraints.independent(constraints.real, #self.in_shape) end,
  codomain = function(self) return constraints.independent(constraints.real, #self.out_shape) end,
})
ReshapeTransform.bijective = true

function ReshapeTransform:init(in_shape, out_shape, cache_size)
  self.in_shape, self.out_shape = torch.Size(utils.dims_of(in_shape)), torch.Size(utils.dims_of(out_shape))
  if utils.numel(self.in_shape) ~= utils.numel(self.out_shape) then
    fail 'in_shape, out_shape have different numbers of elements'
  end
  self:set_cache(cache_size)
end
declare.methods(ReshapeTransform, 'init(self, any in_shape, any out_shape, integer cache_size=0)')
function ReshapeTransform:arguments() return self.in_shape, self.out_shape end

-- shape, its last dims from `from` to `to`.
local function exchange(shape, from, to)
  if #shape < #from then fail 'Too few dimensions on input' end
  local cut = #shape - #from
  local last = utils.slice(shape, cut + 1)
  if not utils.same_dims(last, from) then
    fail('Shape mismatch: expected %s but got %s', utils.size_text(last), utils.size_text(from))
  end
  return utils.append(utils.slice(shape, 1, cut), to)
end
function ReshapeTransform:_call(x) return x:reshape(exchange(x.shape, self.in_shape, self.out_shape)) end
function ReshapeTransform:_inverse(y) return y:reshape(exchange(y.shape, self.out_shape, self.in_shape)) end
function ReshapeTransform:log_abs_det_jacobian(x, y)
  return x:new_zeros(utils.slice(x.shape, 1, x.ndim - #self.in_shape))
end
function ReshapeTransform:forward_shape(shape) return exchange(shape, self.in_shape, self.out_shape) end
function ReshapeTransform:inverse_shape(shape) return exchange(shape, self.out_shape, self.in_shape) end

return {
  Transform = Transform, ComposeTransform = ComposeTransform, IndependentTransform = IndependentTransform,
  ReshapeTransform = ReshapeTransform, identity_transform = ComposeTransform {},
}
