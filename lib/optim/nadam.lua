-- nadam.lua - optim.NAdam(params, {lr = 0.002, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0,
-- momentum_decay = 0.004, decoupled_weight_decay = false, maximize = false}) (T. Dozat 2016).

--[=[ arguments
momentum_decay: Decay of the momentum.
]=]

--[=[ examples
NAdam
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.NAdam({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.8944, -1.8944])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fused_nadam = torch._C.fused_nadam_

local NAdam = Optimizer:extend('NAdam')

function NAdam:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options, { lr = 'learning rate', eps = 'epsilon value',
    weight_decay = 'weight_decay value', momentum_decay = 'momentum_decay value' })
  Optimizer.check_betas(options)
  Optimizer.init(self, params, options)
end

local COLUMNS = { 'exp_avg', 'exp_avg_sq' }

function NAdam:columns() return COLUMNS end

function NAdam:new_state(parameter)
  return { step = 0, mu_product = 1.0, exp_avg = torch.zeros_like(parameter), exp_avg_sq = torch.zeros_like(parameter) }
end

function NAdam:key(state) return ('%d %a'):format(state.step, state.mu_product) end

function NAdam:update_batch(batch, group)
  local beta1, beta2 = group.betas[1], group.betas[2]
  local mu = beta1 * (1 - 0.5 * 0.96 ^ (batch.step * group.momentum_decay))
  local mu_next = beta1 * (1 - 0.5 * 0.96 ^ ((batch.step + 1) * group.momentum_decay))
  local mu_product = Optimizer.rounded(batch.states[1].mu_product * Optimizer.rounded(mu))
  fused_nadam(batch.params, batch.grads, batch.exp_avg, batch.exp_avg_sq, batch.step, mu, mu_next, mu_product, group.lr,
    beta1, beta2, group.weight_decay, group.eps, group.decoupled_weight_decay, group.maximize)
  for _, state in ipairs(batch.states) do state.mu_product = mu_product end
end

Optimizer.declare(NAdam, 'number|Tensor lr=0.002, times betas={0.9, 0.999}, number eps=1e-8, number weight_decay=0, number momentum_decay=0.004, boolean decoupled_weight_decay=false, *, boolean? foreach, boolean maximize=false, boolean capturable=false, boolean differentiable=false')

return NAdam
