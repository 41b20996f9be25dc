-- sgd.lua - optim.SGD(params, {lr = 0.001, momentum = 0, dampening = 0, weight_decay = 0, nesterov = false,
-- maximize = false}): stochastic gradient descent (Sutskever et al. 2013 for the momentum's form).

local Optimizer = require 'torch.optim.optimizer'
local options_of = require 'torch.options'

local SGD = Optimizer:extend('SGD')

function SGD:init(params, options)
  options = options_of('SGD', options,
    { lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0, nesterov = false, maximize = false })
  for _, name in ipairs { 'lr', 'momentum', 'weight_decay' } do
    if type(options[name]) ~= 'number' or options[name] < 0 then
      error(('Invalid %s value: %s'):format(name, tostring(options[name])), 3)
    end
  end
  if options.nesterov and (options.momentum <= 0 or options.dampening ~= 0) then
    error('Nesterov momentum requires a momentum and zero dampening', 3)
  end
  Optimizer.init(self, params, options)
end

function SGD:update(parameter, grad, group, state)
  if group.maximize then grad = -grad end
  if group.weight_decay ~= 0 then grad = grad:add(parameter, { alpha = group.weight_decay }) end
  if group.momentum ~= 0 then
    local buffer = state.momentum_buffer
    if buffer then
      buffer:mul_(group.momentum):add_(grad, { alpha = 1 - group.dampening })
    else
      buffer = grad:clone():detach()
      state.momentum_buffer = buffer
    end
    grad = group.nesterov and grad:add(buffer, { alpha = group.momentum }) or buffer
  end
  parameter:add_(grad, { alpha = -group.lr })
end

return SGD
