-- adam.lua - optim.Adam(params, {lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0,
-- amsgrad = false, maximize = false, decoupled_weight_decay = false, capturable = false}) (D.
-- Kingma, J. Ba 2014).
--
-- With capturable, the number of steps is a tensor on the parameter's device, which a replay of a
-- captured graph increments.

--[=[ examples
Adam
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.Adam({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.9000, -1.9000])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fused_adam = torch._C.fused_adam_

local Adam = Optimizer:extend('Adam')
Adam.has_capturable = true

function Adam:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options,
    { lr = 'learning rate', eps = 'epsilon value', weight_decay = 'weight_decay value' })
  Optimizer.check_betas(options)
  Optimizer.init(self, params, options)
end

local PLAIN, AMSGRAD = { 'exp_avg', 'exp_avg_sq' }, { 'exp_avg', 'exp_avg_sq', 'max_exp_avg_sq' }

function Adam:columns(group) return group.amsgrad and AMSGRAD or PLAIN end

function Adam:new_state(parameter, group)
  local step = group.capturable and torch.tensor(0, { dtype = torch.float32, device = parameter.device }) or 0
  local state = { step = step, exp_avg = torch.zeros_like(parameter), exp_avg_sq = torch.zeros_like(parameter) }
  if group.amsgrad then state.max_exp_avg_sq = torch.zeros_like(parameter) end
  return state
end

-- The same step by ops that are independent of the number of steps, for capture.
local function update_recorded(parameter, grad, state, group)
  local beta1, beta2 = group.betas[1], group.betas[2]
  if group.maximize then grad = -grad end
  if group.weight_decay ~= 0 and group.decoupled_weight_decay then
    parameter:mul_(1 - group.lr * group.weight_decay)
  elseif group.weight_decay ~= 0 then
    grad = grad:add(parameter, { alpha = group.weight_decay })
  end
  state.step:add_(1)
  state.exp_avg:lerp_(grad, 1 - beta1)
  state.exp_avg_sq:mul_(beta2):addcmul_(grad, grad, { value = 1 - beta2 })
  local second = state.exp_avg_sq
  if group.amsgrad then
    state.max_exp_avg_sq:copy_(torch.maximum(state.max_exp_avg_sq, second))
    second = state.max_exp_avg_sq
  end
  local size = group.lr / (1 - beta1 ^ state.step)
  local root = second:sqrt() / (1 - beta2 ^ state.step):sqrt()
  parameter:sub_(state.exp_avg / (root + group.eps) * size)
end

function Adam:update_batch(batch, group)
  if group.capturable then
    for i, parameter in ipairs(batch.params) do update_recorded(parameter, batch.grads[i], batch.states[i], group) end
    return
  end
  fused_adam(batch.params, batch.grads, batch.exp_avg, batch.exp_avg_sq, batch.max_exp_avg_sq or {}, batch.step,
    group.lr, group.betas[1], group.betas[2], group.weight_decay, group.eps, group.decoupled_weight_decay,
    group.amsgrad, group.maximize)
end

Optimizer.declare(Adam, 'number|Tensor lr=0.001, times betas={0.9, 0.999}, number eps=1e-8, number weight_decay=0, boolean amsgrad=false, *, boolean? foreach, boolean maximize=false, boolean capturable=false, boolean differentiable=false, boolean? fused, boolean decoupled_weight_decay=false')

return Adam
