-- prune.lua - torch.nn.utils.prune: keeps elements of parameters at zero. Before every forward,
-- module.weight is computed as weight_orig (a parameter) times weight_mask (a buffer); remove makes
-- the result permanent.
--
-- l1_unstructured(module, 'weight', amount): amount is a number of elements, or a float: a fraction
-- of them. Dims count from 1. A custom method derives from BasePruningMethod: PRUNING_TYPE
-- ('unstructured', 'structured', 'global') and compute_mask(t, default_mask).

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'

local fields_of = class.fields

local prune = {}

-- ---- methods ------------------------------------------------------------------------------------

local BasePruningMethod = class.Object:extend 'BasePruningMethod'
BasePruningMethod.PRUNING_TYPE = 'unstructured'
prune.BasePruningMethod = BasePruningMethod

function BasePruningMethod:compute_mask(t, default_mask) fail('%s defines no compute_mask', torch.type(self)) end

function BasePruningMethod:apply_mask(module)
  local mask, original = module[self._name .. '_mask'], module[self._name .. '_orig']
  return mask:to(original.dtype) * original
end

--- t with the method's zeros, selected by importance_scores, otherwise by t's values.
function BasePruningMethod:prune(t, default_mask, importance_scores)
  if importance_scores ~= nil and importance_scores.shape ~= t.shape then
    fail('importance_scores should have the same shape as tensor t, got %s vs %s', tostring(importance_scores.shape), tostring(t.shape))
  end
  return t * self:compute_mask(importance_scores or t, default_mask or torch.ones_like(t))
end

local function define(name, kind, init, compute_mask)
  local made = BasePruningMethod:extend(name)
  made.PRUNING_TYPE, made.init, made.compute_mask = kind, init, compute_mask
  declare.methods(made, 'compute_mask(self, any t, any default_mask)')
  prune[name] = made
  return made
end

local function set_amount(self, amount)
  if type(amount) ~= 'number' then fail('Invalid type for amount: %s. Must be int or float.', tostring(amount)) end
  if amount < 0 or math.type(amount) == 'float' and amount > 1 then
    fail('amount=%s should either be a float in the range [0, 1] or a non-negative integer', tostring(amount))
  end
  self.amount = amount
end

-- The number of elements of n to prune; rounds half to even.
local function count(amount, n)
  if math.type(amount) == 'float' then
    local share = amount * n
    local whole = math.floor(share)
    local rest = share - whole
    if rest > 0.5 or rest == 0.5 and whole % 2 == 1 then whole = whole + 1 end
    return whole
  end
  if amount > n then fail('amount=%d should be smaller than the number of parameters to prune=%d', amount, n) end
  return amount
end

-- default_mask with zeros at the n positions with the largest (or smallest) scores.
local function without(default_mask, scores, n, largest)
  local mask = default_mask:clone()
  if n == 0 then return mask end
  local _, positions = torch.topk(scores:reshape(-1), n, { largest = largest })
  return mask:reshape(-1):index_fill(1, positions, 0):reshape(mask.shape)
end

define('Identity', 'unstructured', nil, function(_, _, default_mask) return default_mask end)
define('RandomUnstructured', 'unstructured', set_amount, function(self, t, default_mask)
  local n = count(self.amount, t:numel())
  return n == 0 and default_mask:clone() or without(default_mask, torch.rand_like(t), n, true)
end)
define('L1Unstructured', 'unstructured', set_amount, function(self, t, default_mask)
  return without(default_mask, t:abs(), count(self.amount, t:numel()), false)
end)
define('CustomFromMask', 'global', function(self, mask)
  self.mask = mask
end, function(self, _, default_mask)
  if default_mask.shape ~= self.mask.shape then
    fail('default_mask shape %s must match self.mask shape %s', tostring(default_mask.shape), tostring(self.mask.shape))
  end
  return default_mask * self.mask:to(default_mask.dtype)
end)

-- The dim of a method for whole channels, from 1.
local function channel_dim(self, t)
  if t.ndim <= 1 then
    fail('Structured pruning can only be applied to multidimensional tensors. Found tensor of shape %s with %d dims',
      tostring(t.shape), t.ndim)
  end
  local dim = self.dim < 0 and t.ndim + 1 + self.dim or self.dim
  if dim < 1 or dim > t.ndim then fail('Invalid dim %d for tensor of shape %s', self.dim, tostring(t.shape)) end
  return dim
end

-- default_mask where keep, a mask of the entries of a dim, is true.
local function channels(default_mask, keep, dim)
  local shape = {}
  for i = 1, default_mask.ndim do shape[i] = i == dim and -1 or 1 end
  return default_mask * keep:reshape(shape):to { dtype = default_mask.dtype, device = default_mask.device }
end

define('RandomStructured', 'structured', function(self, amount, dim)
  set_amount(self, amount)
  self.dim = dim
end, function(self, t, default_mask)
  local dim = channel_dim(self, t)
  local n = count(self.amount, t:size(dim))
  if n == 0 then return default_mask end
  local draw = torch.rand(t:size(dim))
  return channels(default_mask, draw:gt((torch.kthvalue(draw, n))), dim)
end)

define('LnStructured', 'structured', function(self, amount, n, dim)
  set_amount(self, amount)
  self.n, self.dim = n, dim
end, function(self, t, default_mask)
  local dim = channel_dim(self, t)
  local size = t:size(dim)
  local pruned = count(self.amount, size)
  if pruned == 0 then return default_mask end
  local norms = torch.norm(t:movedim(dim, 1):reshape(size, -1), self.n, 2)
  local _, kept = torch.topk(norms, size - pruned)
  return channels(default_mask, torch.zeros(size, { device = t.device }):index_fill(1, kept, 1), dim)
end)

-- ---- several of them ----------------------------------------------------------------------------

local PruningContainer = BasePruningMethod:extend 'PruningContainer'
prune.PruningContainer = PruningContainer

function PruningContainer:init(...)
  self.methods = {}
  for _, method in ipairs { ... } do
    self._name = self._name or method._name
    self:add_pruning_method(method)
  end
end
function PruningContainer:add_pruning_method(method)
  if not BasePruningMethod:is_instance(method) then fail('%s is not a BasePruningMethod subclass', torch.type(method)) end
  if self._name ~= method._name then
    fail("Can only add pruning methods acting on the parameter named '%s' to PruningContainer. Found '%s'", tostring(self._name),
      tostring(method._name))
  end
  table.insert(self.methods, method)
end
function PruningContainer:__len() return #self.methods end
function PruningContainer:__getitem(i) return self.methods[i] end

-- Applies the last method to the elements that the mask keeps.
function PruningContainer:compute_mask(t, mask)
  local method = self.methods[#self.methods]
  if method.PRUNING_TYPE == 'unstructured' then
    local left = mask:eq(1):reshape(-1):nonzero():squeeze(2)
    local part = method:compute_mask(t:reshape(-1):index_select(1, left), mask:reshape(-1):index_select(1, left))
    return mask:reshape(-1):index_copy(1, left, part:to(mask.dtype)):reshape(mask.shape)
  elseif method.PRUNING_TYPE == 'structured' then
    local dim = channel_dim(method, t)
    local left = mask:movedim(dim, 1):reshape(mask:size(dim), -1):sum(2):ne(0):nonzero():squeeze(2)
    local part = method:compute_mask(t:index_select(dim, left), mask:index_select(dim, left))
    return mask:index_copy(dim, left, part:to(mask.dtype))
  elseif method.PRUNING_TYPE == 'global' then
    return method:compute_mask(t, mask)
  end
  fail('Unrecognized PRUNING_TYPE %s', tostring(method.PRUNING_TYPE))
end

-- ---- modules ------------------------------------------------------------------------------------

-- The pruning methods of a module by parameter name, in a field; one hook applies them.
local function methods_of(module) return fields_of(module)._pruning end

local function apply_all(module)
  for name, method in pairs(methods_of(module).by_name) do fields_of(module)[name] = method:apply_mask(module) end
end

-- An object, so that copies of the module share the hook.
local before_forward = setmetatable({}, { __call = function(_, module) apply_all(module) end })

-- Prunes a parameter by a method, in addition to the existing ones.
local function apply(method, module, name, importance_scores)
  kinds.check('prune', 'module', module, 'Module')
  kinds.check('prune', 'name', name, 'string')
  kinds.check('prune', 'importance_scores', importance_scores, 'Tensor?')
  local original = module[name]
  if not torch.is_tensor(original) then fail('%s has no parameter `%s`', torch.type(module), name) end
  if importance_scores ~= nil and importance_scores.shape ~= original.shape then
    fail('importance_scores should have the same shape as parameter %s of %s, got %s vs %s', name, torch.type(module),
      tostring(importance_scores.shape), tostring(original.shape))
  end
  local pruning = methods_of(module)
  local old = pruning and pruning.by_name[name]
  method._name = name
  local default_mask = old and module[name .. '_mask']:detach():clone() or torch.ones_like(original):detach()
  if old then
    if not PruningContainer:is_instance(old) then old = PruningContainer(old) end
    old:add_pruning_method(method)
    method = old
  end
  local mask = torch.no_grad(function() return method:compute_mask((importance_scores or original):detach(), default_mask) end)
  if not old then
    module[name] = nil
    module:register_parameter(name .. '_orig', original)
  end
  module:register_buffer(name .. '_mask', mask)
  if not pruning then
    pruning = { by_name = {} }
    fields_of(module)._pruning = pruning
    pruning.hook = module:register_forward_pre_hook(before_forward)
  end
  pruning.by_name[name] = method
  fields_of(module)[name] = method:apply_mask(module)
  return module
end

--- Adds a mask of ones without pruning.
function prune.identity(module, name) return apply(prune.Identity(), module, name) end
--- Elements at random.
function prune.random_unstructured(module, name, amount) return apply(prune.RandomUnstructured(amount), module, name) end
--- Prunes the elements with the smallest absolute values, or with the smallest scores.
function prune.l1_unstructured(module, name, amount, importance_scores)
  return apply(prune.L1Unstructured(amount), module, name, importance_scores)
end
--- Entries of a dim at random.
function prune.random_structured(module, name, amount, dim) return apply(prune.RandomStructured(amount, dim), module, name) end
--- The entries of a dim that have the smallest norm of order n.
function prune.ln_structured(module, name, amount, n, dim, importance_scores)
  return apply(prune.LnStructured(amount, n, dim), module, name, importance_scores)
end
--- Where a mask is 0.
function prune.custom_from_mask(module, name, mask) return apply(prune.CustomFromMask(mask), module, name) end

-- The scores of one of several parameters: importance_scores, { {module, name, scores}, ... },
-- otherwise its values.
local function score_of(importance_scores, place, value)
  for _, given in ipairs(importance_scores or {}) do
    if given[1] == place[1] and given[2] == place[2] then
      kinds.check('global_unstructured', 'importance_scores', given[3], 'Tensor')
      if given[3].shape ~= value.shape then
        fail('importance_scores of parameter %s should have the shape %s, but got %s', place[2], tostring(value.shape), tostring(given[3].shape))
      end
      return given[3]
    end
  end
  return value
end

--- Prunes several parameters { {module, name}, ... } jointly: pruning_method is a class, amount its
--- argument.
function prune.global_unstructured(parameters, pruning_method, importance_scores, amount)
  if type(pruning_method) ~= 'table' or pruning_method.PRUNING_TYPE ~= 'unstructured' then
    fail 'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`.'
  end
  local values, masks = {}, {}
  for i, place in ipairs(parameters) do
    local value = place[1][place[2]]
    values[i] = score_of(importance_scores, place, value):detach():reshape(-1)
    local mask = place[1][place[2] .. '_mask']
    masks[i] = (mask or torch.ones_like(value):detach()):reshape(-1)
  end
  local container = PruningContainer()
  local method = pruning_method(amount)
  container.methods[1] = method
  local mask, start = container:compute_mask(torch.cat(values), torch.cat(masks)), 1
  for _, place in ipairs(parameters) do
    local value = place[1][place[2]]
    prune.custom_from_mask(place[1], place[2], mask:narrow(1, start, value:numel()):view_as(value))
    start = start + value:numel()
  end
end

--- Makes the pruned value a parameter again and removes the mask.
function prune.remove(module, name)
  local pruning = methods_of(module)
  local method = pruning and pruning.by_name[name]
  if not method then
    fail("Parameter '%s' of module %s has to be pruned before pruning can be removed", name, torch.type(module))
  end
  local value, original = method:apply_mask(module), module[name .. '_orig']
  original.data = value:detach()
  fields_of(module)[name] = nil
  module[name .. '_orig'] = nil
  module:_unregister(name .. '_mask')
  module:register_parameter(name, original)
  pruning.by_name[name] = nil
  if next(pruning.by_name) == nil then
    pruning.hook:remove()
    fields_of(module)._pruning = nil
  end
  return module
end

--- Whether a module or one of its descendants has a pruned parameter.
function prune.is_pruned(module)
  for _, part in ipairs(module:modules()) do
    if methods_of(part) then return true end
  end
  return false
end

declare.methods(prune.RandomUnstructured, 'init(self, any amount)')
declare.methods(prune.L1Unstructured, 'init(self, any amount)')
declare.methods(prune.RandomStructured, 'init(self, any amount, integer dim=-1)')
declare.methods(prune.LnStructured, 'init(self, any amount, number n, integer dim=-1)')
declare.methods(prune.CustomFromMask, 'init(self, Tensor mask)')

return declare.functions(prune, [[
  identity(Module module, string name)
  random_unstructured(Module module, string name, any amount)
  l1_unstructured(Module module, string name, any amount, Tensor? importance_scores)
  random_structured(Module module, string name, any amount, integer dim=-1)
  ln_structured(Module module, string name, any amount, number n, integer dim=-1, Tensor? importance_scores)
  custom_from_mask(Module module, string name, Tensor mask)
  global_unstructured(table parameters, any pruning_method, table? importance_scores, *, any amount)
  remove(Module module, string name)
  is_pruned(Module module)
]])
