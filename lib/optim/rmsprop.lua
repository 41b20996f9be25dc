-- rmsprop.lua - optim.RMSprop(params, {lr = 0.01, alpha = 0.99, eps = 1e-8, weight_decay = 0,
-- momentum = 0, centered = false, maximize = false}) (G. Hinton's lectures; centered: A. Graves
-- 2013).

--[=[ arguments
alpha: Decay rate of the running average of the squared gradients.
centered: Whether the gradients are normalized by an estimate of their variance.
momentum: Factor of the momentum.
]=]

--[=[ examples
RMSprop
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.RMSprop({w}, {lr = 0.01})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.9000, -1.9000])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fused_rmsprop = torch._C.fused_rmsprop_

local RMSprop = Optimizer:extend('RMSprop')

function RMSprop:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options, { lr = 'learning rate', eps = 'epsilon value', momentum = 'momentum value',
    weight_decay = 'weight_decay value', alpha = 'alpha value' })
  Optimizer.init(self, params, options)
end

function RMSprop:columns(group)
  local names = { 'square_avg' }
  if group.momentum > 0 then names[#names + 1] = 'momentum_buffer' end
  if group.centered then names[#names + 1] = 'grad_avg' end
  return names
end

function RMSprop:new_state(parameter, group)
  local state = { step = 0 }
  for _, name in ipairs(self:columns(group)) do state[name] = torch.zeros_like(parameter) end
  return state
end

function RMSprop:_counts() return false end

function RMSprop:update_batch(batch, group)
  fused_rmsprop(batch.params, batch.grads, batch.square_avg, batch.grad_avg or {}, batch.momentum_buffer or {},
    group.lr, group.alpha, group.eps, group.weight_decay, group.momentum, group.centered, group.maximize)
end

Optimizer.declare(RMSprop, 'number|Tensor lr=0.01, number alpha=0.99, number eps=1e-8, number weight_decay=0, number momentum=0, boolean centered=false, boolean capturable=false, boolean? foreach, boolean maximize=false, boolean differentiable=false')

return RMSprop
