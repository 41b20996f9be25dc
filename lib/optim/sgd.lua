-- sgd.lua - optim.SGD(params, {lr = 0.001, momentum = 0, dampening = 0, weight_decay = 0, nesterov
-- = false, maximize = false}): stochastic gradient descent (Sutskever et al. 2013 for the
-- momentum's form).

--[=[ arguments
dampening: Share of the gradient that does not enter the momentum.
momentum: Factor of the momentum.
]=]

--[=[ examples
SGD
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.SGD({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.8000, -1.6000])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fail = require 'torch.support.fail'
local fused_sgd = torch._C.fused_sgd_

local SGD = Optimizer:extend('SGD')

function SGD:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options,
    { lr = 'learning rate', momentum = 'momentum value', weight_decay = 'weight_decay value' })
  if options.nesterov and (options.momentum <= 0 or options.dampening ~= 0) then
    fail 'Nesterov momentum requires a momentum and zero dampening'
  end
  Optimizer.init(self, params, options)
end

function SGD:state_of(parameter)
  local state = self.state[parameter]
  if not state then
    state = {}
    self.state[parameter] = state
  end
  return state
end

-- The first step of a parameter sets its buffer.
function SGD:key(state) return state.momentum_buffer == nil end

function SGD:_counts() return false end

function SGD:update_batch(batch, group)
  local buffers, first = {}, false
  if group.momentum ~= 0 then
    first = batch.states[1].momentum_buffer == nil
    if first then self:_refuse_recording(self._FIRST) end
    for i, state in ipairs(batch.states) do
      buffers[i] = first and torch.empty_like(batch.grads[i]) or state.momentum_buffer
    end
  end
  fused_sgd(batch.params, batch.grads, buffers, group.lr, group.weight_decay, group.momentum, group.dampening,
    group.nesterov, group.maximize, first)
  if first then
    for i, state in ipairs(batch.states) do state.momentum_buffer = buffers[i] end
  end
end

-- The rows that a gradient has; the momentum's buffer, sparse too, has all that any has had.
function SGD:update_sparse(parameter, grad, group, state)
  if group.weight_decay ~= 0 then fail 'SGD(): weight_decay option is not compatible with sparse gradients' end
  if group.momentum ~= 0 then
    local buffer = state.momentum_buffer
    buffer = buffer and (buffer * group.momentum + grad * (1 - group.dampening)):coalesce() or grad:clone()
    state.momentum_buffer = buffer
    grad = group.nesterov and grad + buffer * group.momentum or buffer
  end
  parameter:add_(grad, { alpha = group.maximize and group.lr or -group.lr })
end

Optimizer.declare(SGD, 'number|Tensor lr=0.001, number momentum=0, number dampening=0, number weight_decay=0, boolean nesterov=false, *, boolean maximize=false, boolean? foreach, boolean differentiable=false, boolean? fused')

return SGD
