-- adadelta.lua - optim.Adadelta(params, {lr = 1, rho = 0.9, eps = 1e-6, weight_decay = 0, maximize
-- = false}) (M. Zeiler 2012).

--[=[ arguments
rho: Decay rate of the running averages.
]=]

--[=[ examples
Adadelta
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.Adadelta({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.9997, -1.9997])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fail = require 'torch.support.fail'
local fused_adadelta = torch._C.fused_adadelta_

local Adadelta = Optimizer:extend('Adadelta')

function Adadelta:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options,
    { lr = 'learning rate', rho = 'rho value', eps = 'epsilon value', weight_decay = 'weight_decay value' })
  if options.rho > 1 then fail('Invalid rho value: %s', tostring(options.rho)) end
  Optimizer.init(self, params, options)
end

local COLUMNS = { 'square_avg', 'acc_delta' }

function Adadelta:columns() return COLUMNS end

function Adadelta:new_state(parameter)
  return { step = 0, square_avg = torch.zeros_like(parameter), acc_delta = torch.zeros_like(parameter) }
end

function Adadelta:_counts() return false end

function Adadelta:update_batch(batch, group)
  fused_adadelta(batch.params, batch.grads, batch.square_avg, batch.acc_delta, group.lr, group.rho, group.eps,
    group.weight_decay, group.maximize)
end

Optimizer.declare(Adadelta, 'number|Tensor lr=1.0, number rho=0.9, number eps=1e-6, number weight_decay=0, boolean? foreach, *, boolean capturable=false, boolean maximize=false, boolean differentiable=false')

return Adadelta
