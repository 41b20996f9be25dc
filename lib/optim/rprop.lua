-- rprop.lua - optim.Rprop(params, {lr = 0.01, etas = {0.5, 1.2}, step_sizes = {1e-6, 50}, maximize
-- = false}): steps by the gradient's sign, with a size that grows while the sign does not change
-- (M. Riedmiller, H. Braun 1993).

--[=[ arguments
etas: Two factors: the decrease and the increase of a step size.
step_sizes: Two numbers: the minimum and the maximum of a step size.
]=]

--[=[ examples
Rprop
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.Rprop({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.9000, -1.9000])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fail = require 'torch.support.fail'
local fused_rprop = torch._C.fused_rprop_

local Rprop = Optimizer:extend('Rprop')

function Rprop:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options, { lr = 'learning rate' })
  local minus, plus = options.etas[1], options.etas[2]
  if not (0 < minus and minus < 1 and 1 < plus) then fail('Invalid eta values: %s, %s', minus, plus) end
  Optimizer.init(self, params, options)
end

local COLUMNS = { 'prev', 'step_size' }

function Rprop:columns() return COLUMNS end

function Rprop:new_state(parameter, group)
  return { step = 0, prev = torch.zeros_like(parameter), step_size = Optimizer.full_like(parameter, group.lr) }
end

function Rprop:_counts() return false end

function Rprop:update_batch(batch, group)
  fused_rprop(batch.params, batch.grads, batch.prev, batch.step_size, group.etas[1], group.etas[2],
    group.step_sizes[1], group.step_sizes[2], group.maximize)
end

Optimizer.declare(Rprop, 'number|Tensor lr=0.01, times etas={0.5, 1.2}, times step_sizes={1e-6, 50}, *, boolean capturable=false, boolean? foreach, boolean maximize=false, boolean differentiable=false')

return Rprop
