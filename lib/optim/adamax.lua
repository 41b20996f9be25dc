-- adamax.lua - optim.Adamax(params, {lr = 0.002, betas = {0.9, 0.999}, eps = 1e-8, weight_decay =
-- 0, maximize = false}): Adam by the infinity norm (D. Kingma, J. Ba 2014).

--[=[ examples
Adamax
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.Adamax({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.9000, -1.9000])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fused_adamax = torch._C.fused_adamax_

local Adamax = Optimizer:extend('Adamax')

function Adamax:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options,
    { lr = 'learning rate', eps = 'epsilon value', weight_decay = 'weight_decay value' })
  Optimizer.check_betas(options)
  Optimizer.init(self, params, options)
end

local COLUMNS = { 'exp_avg', 'exp_inf' }

function Adamax:columns() return COLUMNS end

function Adamax:new_state(parameter)
  return { step = 0, exp_avg = torch.zeros_like(parameter), exp_inf = torch.zeros_like(parameter) }
end

function Adamax:update_batch(batch, group)
  fused_adamax(batch.params, batch.grads, batch.exp_avg, batch.exp_inf, batch.step, group.lr, group.betas[1],
    group.betas[2], group.weight_decay, group.eps, group.maximize)
end

Optimizer.declare(Adamax, 'number|Tensor lr=0.002, times betas={0.9, 0.999}, number eps=1e-8, number weight_decay=0, boolean? foreach, *, boolean maximize=false, boolean differentiable=false, boolean capturable=false')

return Adamax
