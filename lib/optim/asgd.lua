-- asgd.lua - optim.ASGD(params, {lr = 0.01, lambd = 1e-4, alpha = 0.75, t0 = 1e6, weight_decay = 0,
-- maximize = false}): averaged stochastic gradient descent (B. Polyak, A. Juditsky 1992); the
-- averages are the state's `ax`.

--[=[ arguments
lambd: Decay of the parameters.
alpha: Exponent of the decay of the learning rate.
t0: Step at which averaging begins.
]=]

--[=[ examples
ASGD
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.ASGD({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.8000, -1.6000])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fused_asgd = torch._C.fused_asgd_

local ASGD = Optimizer:extend('ASGD')

function ASGD:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options, { lr = 'learning rate', weight_decay = 'weight_decay value' })
  Optimizer.init(self, params, options)
end

local COLUMNS = { 'ax' }

function ASGD:columns() return COLUMNS end

function ASGD:new_state(parameter, group)
  return { step = 0, eta = Optimizer.rounded(group.lr), mu = 1.0, ax = torch.zeros_like(parameter) }
end

function ASGD:key(state) return ('%d %a %a'):format(state.step, state.eta, state.mu) end

function ASGD:update_batch(batch, group)
  local state, step = batch.states[1], batch.step
  fused_asgd(batch.params, batch.grads, batch.ax, state.eta, group.lambd, state.mu, group.weight_decay, group.maximize)
  local eta = Optimizer.rounded(group.lr / (1 + group.lambd * group.lr * step) ^ group.alpha)
  local mu = Optimizer.rounded(1 / math.max(1, step - group.t0))
  for _, each in ipairs(batch.states) do each.eta, each.mu = eta, mu end
end

Optimizer.declare(ASGD, 'number|Tensor lr=0.01, number lambd=1e-4, number alpha=0.75, number t0=1e6, number weight_decay=0, boolean? foreach, boolean maximize=false, boolean differentiable=false, boolean capturable=false')

return ASGD
