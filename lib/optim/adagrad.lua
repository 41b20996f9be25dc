-- adagrad.lua - optim.Adagrad(params, {lr = 0.01, lr_decay = 0, weight_decay = 0,
-- initial_accumulator_value = 0, eps = 1e-10, maximize = false}) (J. Duchi et al. 2011).

--[=[ arguments
lr_decay: Decay of the learning rate for each step.
initial_accumulator_value: Sum of the squared gradients at the beginning.
]=]

--[=[ examples
Adagrad
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.Adagrad({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.9000, -1.9000])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fail = require 'torch.support.fail'
local fused_adagrad = torch._C.fused_adagrad_

local Adagrad = Optimizer:extend('Adagrad')

function Adagrad:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options, { lr = 'learning rate', lr_decay = 'lr_decay value',
    weight_decay = 'weight_decay value', initial_accumulator_value = 'initial_accumulator_value value',
    eps = 'epsilon value' })
  Optimizer.init(self, params, options)
end

-- Creates the state at once, as in PyTorch.
function Adagrad:add_param_group(group)
  Optimizer.add_param_group(self, group)
  local added = self.param_groups[#self.param_groups]
  for _, parameter in ipairs(added.params) do self:state_of(parameter, added) end
end

local COLUMNS = { 'sum' }

function Adagrad:columns() return COLUMNS end

function Adagrad:new_state(parameter, group)
  return { step = 0, sum = Optimizer.full_like(parameter, group.initial_accumulator_value) }
end

function Adagrad:update_batch(batch, group)
  fused_adagrad(batch.params, batch.grads, batch.sum, batch.step, group.lr, group.lr_decay, group.weight_decay,
    group.eps, group.maximize)
end

-- Reads and writes only the elements of the sums that the gradient contains.
function Adagrad:update_sparse(parameter, grad, group, state)
  if group.weight_decay ~= 0 then fail 'weight_decay option is not compatible with sparse gradients' end
  grad = (group.maximize and -grad or grad):coalesce()
  local rate = group.lr / (1 + (state.step - 1) * group.lr_decay)
  state.sum:add_(grad * grad)
  local roots = state.sum:sparse_mask(grad):values():sqrt_():add_(group.eps)
  parameter:add_(torch._C._sparse_like(grad, grad:values() / roots), { alpha = -rate })
end

Optimizer.declare(Adagrad, 'number|Tensor lr=0.01, number lr_decay=0, number weight_decay=0, number initial_accumulator_value=0, number eps=1e-10, boolean? foreach, *, boolean maximize=false, boolean differentiable=false, boolean? fused')

return Adagrad
