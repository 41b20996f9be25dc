-- utils.lua - torch.nn.utils: gradient clipping, parameters as one vector, weight_norm and
-- spectral_norm (norms.lua); these, rnn, parametrize and parametrizations are loaded on first use.

--[=[ arguments
parameters: Parameters: a tensor, a list of them, an iterator or a module.
tensors: Tensors: one, a list of them, an iterator or a module.
max_norm: Maximum of the norm over all gradients.
error_if_nonfinite: Whether a norm of NaN or infinity is an error.
clip_value: Largest absolute value of an element of the gradients.
total_norm: Norm over all gradients, as `get_total_norm` returns it.
vec: Vector with the elements of all parameters, one after the other.
module_cls: Class of the module; its parameters stay uninitialized.
parameters_to_vector(): The elements of all parameters, one after the other, in a vector.
vector_to_parameters(): Copies the elements of such a vector into the parameters.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local parameters_of = require 'torch.nn.parameters_of'

local utils = {}

local function gradients_of(what, parameters)
  local grads = {}
  for _, parameter in ipairs(parameters_of(parameters)) do
    kinds.check(what, 'parameters', parameter, 'Tensor')
    if parameter.grad ~= nil then grads[#grads + 1] = parameter.grad end
  end
  return grads
end

-- The joint norm of a list of tensors, on the device of the first.
function utils.get_total_norm(tensors, norm_type, error_if_nonfinite)
  tensors = parameters_of(tensors)
  if norm_type == 'inf' then norm_type = math.huge end
  if #tensors == 0 then return torch.tensor(0.0) end
  local norms = {}
  for i, tensor in ipairs(tensors) do
    kinds.check('get_total_norm', 'tensors', tensor, 'Tensor')
    norms[i] = tensor:norm(norm_type):to(tensors[1].device)
  end
  local total = torch.stack(norms):norm(norm_type)
  if error_if_nonfinite and not total:isfinite():item() then
    fail('The total norm of order %s for gradients from `parameters` is non-finite, so it cannot be clipped. To disable '
      .. 'this error and scale the gradients by the non-finite norm anyway, pass {error_if_nonfinite = false}',
      tostring(norm_type))
  end
  return total
end

-- parameters, also below: tensors, modules, nested lists of them (parameters_of.lua). Scales the
-- gradients in place so that the joint norm total_norm becomes at most max_norm.
function utils.clip_grads_with_norm_(parameters, max_norm, total_norm)
  torch.no_grad(function()
    local scale = torch.clamp(max_norm / (total_norm + 1e-6), { max = 1.0 })
    for _, grad in ipairs(gradients_of('clip_grads_with_norm_', parameters)) do grad:mul_(scale:to(grad.device)) end
  end)
end

-- skip_init(torch.nn.Linear, 3, 4): a module with uninitialized parameters.
function utils.skip_init(class, ...)
  local Module = require 'torch.nn.module'
  local parent = type(class) == 'table' and class
  while parent and parent ~= Module do parent = parent.super end
  if not parent then fail 'Expected a Module' end
  local own, reset = rawget(class, 'reset_parameters'), class.reset_parameters
  if reset then rawset(class, 'reset_parameters', function() end) end
  local result = table.pack(pcall(class, ...))
  rawset(class, 'reset_parameters', own)
  if not result[1] then error(result[2], 0) end
  return result[2]
end

declare.functions(utils, 'skip_init(any module_cls, any ...)')

-- Scales the gradients in place so that their joint norm (norm_type, default 2) is at most
-- max_norm; returns the norm before, a 0-dim tensor that stays on the device.
function utils.clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)
  return torch.no_grad(function()
    local grads = gradients_of('clip_grad_norm_', parameters)
    local total = utils.get_total_norm(grads, norm_type, error_if_nonfinite)
    if #grads == 0 then return total end
    local scale = torch.clamp(max_norm / (total + 1e-6), { max = 1.0 })
    for _, grad in ipairs(grads) do grad:mul_(scale:to(grad.device)) end
    return total
  end)
end

-- Clamps every gradient to [-clip_value, clip_value] in place.
function utils.clip_grad_value_(parameters, clip_value)
  torch.no_grad(function()
    for _, grad in ipairs(gradients_of('clip_grad_value_', parameters)) do grad:clamp_(-clip_value, clip_value) end
  end)
end

function utils.parameters_to_vector(parameters)
  local parts = {}
  for i, parameter in ipairs(parameters_of(parameters)) do
    kinds.check('parameters_to_vector', 'parameters', parameter, 'Tensor')
    parts[i] = parameter:reshape(-1)
  end
  return torch.cat(parts)
end

function utils.vector_to_parameters(vec, parameters)
  if not torch.is_tensor(vec) then fail('expected torch.Tensor, but got: %s', torch.type(vec)) end
  local start = 1
  for _, parameter in ipairs(parameters_of(parameters)) do
    kinds.check('vector_to_parameters', 'parameters', parameter, 'Tensor')
    local n = parameter:numel()
    parameter.data = vec:narrow(1, start, n):view_as(parameter).data
    start = start + n
  end
end

-- Other functions and tables of functions, by their files.
local parts = { rnn = 'rnn', parametrize = 'parametrize', parametrizations = 'parametrizations', prune = 'prune' }
for _, name in ipairs { 'weight_norm', 'spectral_norm', 'remove_weight_norm', 'remove_spectral_norm' } do parts[name] = 'norms' end

for _, name in ipairs { 'fuse_conv_bn_eval', 'fuse_conv_bn_weights', 'fuse_linear_bn_eval', 'fuse_linear_bn_weights' } do
  parts[name] = 'fusion'
end

-- foreach selects PyTorch's implementation; it has no effect here.
declare.functions(utils, [[
  get_total_norm(parameters tensors, number|string norm_type=2.0, boolean error_if_nonfinite=false, boolean? foreach)
  clip_grads_with_norm_(parameters parameters, number max_norm, Tensor total_norm, boolean? foreach)
  clip_grad_norm_(parameters parameters, number max_norm, number|string norm_type=2.0, boolean error_if_nonfinite=false, boolean? foreach)
  clip_grad_value_(parameters parameters, number clip_value, boolean? foreach)
  parameters_to_vector(parameters parameters)
  vector_to_parameters(any vec, parameters parameters)
]])

return setmetatable(utils, {
  __index = function(_, name)
    if not parts[name] then return nil end
    local part = require('torch.nn.utils.' .. parts[name])
    if parts[name] ~= name then part = part[name] end
    rawset(utils, name, part)
    return part
  end,
})
