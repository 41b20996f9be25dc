-- norms.lua - torch.nn.utils.weight_norm and spectral_norm, the older forms of
-- parametrizations.lua: the parameters are fields of the module (weight_g and weight_v; weight_orig
-- with the buffers weight_u and weight_v), and a hook computes the weight from them before every
-- call. Dimensions count from 1.

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local declare = require 'torch.support.arguments'
local Module = require 'torch.nn.module'
local Parameter = require 'torch.nn.parameter'
local parametrizations = require 'torch.nn.utils.parametrizations'

local fields_of = class.fields

local norms = {}

-- ---- hooks that are objects: {name =, ...}, called with the module ------------------------------

local function kind_of_hook(title)
  local kind = { title = title }
  kind.__index = kind
  kind.__call = function(hook, module) module[hook.name] = hook:compute(module) end
  return kind
end

local WeightNorm, SpectralNorm = kind_of_hook 'weight_norm', kind_of_hook 'spectral_norm'

-- The entry of the hook of this kind for this parameter, and the list it is in.
local function find(module, kind, name)
  local hooks = fields_of(module)._hooks
  for _, entry in ipairs(hooks and hooks.forward_pre.entries or {}) do
    if getmetatable(entry.fn) == kind and entry.fn.name == name then return entry, hooks.forward_pre end
  end
end

-- Removes the parameter to be normalized from the module's parameters, and returns it.
local function take(module, kind, name)
  if find(module, kind, name) then fail('Cannot register two %s hooks on the same parameter %s', kind.title, name) end
  local weight = module[name]
  if Module.is_unmade(weight) then
    fail('The module passed to `%s` can\'t have uninitialized parameters. Make sure to run the dummy forward before '
      .. 'applying it', kind.title)
  end
  if not torch._C.is_parameter(weight) then fail("%s has no parameter '%s'", torch.type(module), name) end
  module[name] = nil
  return weight
end

local function remove(module, kind, name, parts)
  local entry, list = find(module, kind, name)
  if not entry then fail('%s of \'%s\' not found in %s', kind.title, name, tostring(module)) end
  local weight = torch.no_grad(function() return entry.fn:compute(module, true):detach() end)
  list:remove(entry)
  for _, part in ipairs(parts) do
    module:_unregister(name .. part)
  end
  module[name] = nil
  module[name] = Parameter(weight)
  return module
end

-- ---- the size and the direction of a weight -----------------------------------------------------

function WeightNorm:compute(module)
  local direction = module[self.name .. '_v']
  return direction * (module[self.name .. '_g'] / parametrizations._norm_except(direction, self.dim))
end

--- weight_norm(module, name = 'weight', dim = 1): the weight is weight_g times the direction of
-- weight_v, for each entry of dimension dim; false: for the whole tensor.
function norms.weight_norm(module, name, dim)
  local weight = take(module, WeightNorm, name)
  local hook = setmetatable({ name = name, dim = dim == -1 and false or dim }, WeightNorm)
  local requires_grad = { requires_grad = weight.requires_grad }
  local size = torch.no_grad(parametrizations._norm_except, weight, hook.dim)
  module:register_parameter(name .. '_g', Parameter(size, requires_grad))
  module:register_parameter(name .. '_v', Parameter(weight.data, requires_grad))
  hook(module)
  module:register_forward_pre_hook(hook)
  return module
end

--- Replaces the computed weight by a parameter with its current value.
function norms.remove_weight_norm(module, name) return remove(module, WeightNorm, name, { '_g', '_v' }) end

-- ---- the largest singular value -----------------------------------------------------------------

local unit, matrix_of = parametrizations._unit, parametrizations._matrix_of

function SpectralNorm:compute(module, still)
  local weight, u, v = module[self.name .. '_orig'], module[self.name .. '_u'], module[self.name .. '_v']
  local matrix = matrix_of(weight, self.dim)
  if module.training and not still then
    torch.no_grad(function()
      for _ = 1, self.n_power_iterations do
        v:copy_(unit(matrix:t():mv(u), self.eps))
        u:copy_(unit(matrix:mv(v), self.eps))
      end
    end)
    u, v = u:clone(), v:clone() -- the next call changes them in place, but this call's backward needs them
  end
  return weight / torch.dot(u, matrix:mv(v))
end

-- Converts the state of PyTorch before 1.0, with weight, weight_orig and weight_u: computes
-- weight_v.
local function before_load(hook)
  return function(_, dict, prefix)
    local key = prefix .. hook.name
    local weight, original, u = dict[key], dict[key .. '_orig'], dict[key .. '_u']
    if weight == nil or original == nil or u == nil then return end
    local v = dict[key .. '_v']
    if v == nil then
      torch.no_grad(function()
        local matrix = matrix_of(original, hook.dim)
        local inverse = matrix:t():mm(matrix):cpu():pinverse():to(matrix.device) -- factorizations run on the CPU
        v = inverse:mm(matrix:t()):mv(u)
        v = v * ((original / weight):mean() / torch.dot(u, matrix:mv(v)))
      end)
    end
    parametrizations._rename(dict, key, key .. '_v', v)
  end
end

--- spectral_norm(module, name = 'weight', n_power_iterations = 1, eps = 1e-12, dim): the weight is
-- weight_orig divided by an estimate of its largest singular value, which every call in training
-- improves. dim is 2 for transposed convolutions, otherwise 1.
function norms.spectral_norm(module, name, n_power_iterations, eps, dim)
  local hook = setmetatable({ name = name, n_power_iterations = n_power_iterations, eps = eps,
    dim = dim or parametrizations._output_dim(module) }, SpectralNorm)
  if hook.n_power_iterations <= 0 then
    fail('Expected n_power_iterations to be positive, but got n_power_iterations=%d', hook.n_power_iterations)
  end
  local weight = take(module, SpectralNorm, name)
  local matrix = matrix_of(weight:detach(), hook.dim)
  local like = { dtype = weight.dtype, device = weight.device }
  local u = unit(torch.empty(matrix:size(1), like):normal_(0, 1), hook.eps)
  local v = unit(torch.empty(matrix:size(2), like):normal_(0, 1), hook.eps)
  module:register_parameter(name .. '_orig', weight)
  module[name] = weight.data
  module:register_buffer(name .. '_u', u)
  module:register_buffer(name .. '_v', v)
  module:register_forward_pre_hook(hook)
  module:register_load_state_dict_pre_hook(before_load(hook))
  return module
end

--- Replaces the computed weight by a parameter with its current value.
function norms.remove_spectral_norm(module, name) return remove(module, SpectralNorm, name, { '_orig', '_u', '_v' }) end

return declare.functions(norms, [[
  weight_norm(Module module, string name='weight', integer|boolean dim=1)
  remove_weight_norm(Module module, string name='weight')
  spectral_norm(Module module, string name='weight', integer n_power_iterations=1, number eps=1e-12, integer? dim)
  remove_spectral_norm(Module module, string name='weight')
]])
