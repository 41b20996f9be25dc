-- radam.lua - optim.RAdam(params, {lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0,
-- decoupled_weight_decay = false, maximize = false}): Adam with a rectified rate (L. Liu et al.
-- 2019).

--[=[ examples
RAdam
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.RAdam({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.8000, -1.6000])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fused_radam = torch._C.fused_radam_

local RAdam = Optimizer:extend('RAdam')

function RAdam:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options,
    { lr = 'learning rate', eps = 'epsilon value', weight_decay = 'weight_decay value' })
  Optimizer.check_betas(options)
  Optimizer.init(self, params, options)
end

local COLUMNS = { 'exp_avg', 'exp_avg_sq' }

function RAdam:columns() return COLUMNS end

function RAdam:new_state(parameter)
  return { step = 0, exp_avg = torch.zeros_like(parameter), exp_avg_sq = torch.zeros_like(parameter) }
end

function RAdam:update_batch(batch, group)
  fused_radam(batch.params, batch.grads, batch.exp_avg, batch.exp_avg_sq, batch.step, group.lr, group.betas[1],
    group.betas[2], group.weight_decay, group.eps, group.decoupled_weight_decay, group.maximize)
end

Optimizer.declare(RAdam, 'number|Tensor lr=0.001, times betas={0.9, 0.999}, number eps=1e-8, number weight_decay=0, boolean decoupled_weight_decay=false, *, boolean? foreach, boolean maximize=false, boolean capturable=false, boolean differentiable=false')

return RAdam
