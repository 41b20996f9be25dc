-- sparse_adam.lua - optim.SparseAdam(params, {lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8,
-- maximize = false}): Adam (D. Kingma, J. Ba 2014) for sparse gradients. Only moments and
-- parameters at the positions of the gradient's elements change; other moments do not decay.

--[=[ examples
SparseAdam
    rows = nn.Embedding(4, 2, {sparse = true})
    before = rows.weight:clone():detach()
    optimizer = torch.optim.SparseAdam(rows:parameters(), {lr = 0.1})
    rows(torch.tensor{3}):sum():backward()
    optimizer:step()
    rows.weight:detach():ne(before):any(2)
    --> tensor([False, False,  True, False])
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fail = require 'torch.support.fail'
local like = torch._C._sparse_like

local SparseAdam = Optimizer:extend('SparseAdam')

function SparseAdam:init(given)
  local params, options = Optimizer._options_of(self, given)
  Optimizer.check_not_negative(options, { lr = 'learning rate', eps = 'epsilon value' })
  local rate = Optimizer.rate(options)
  if rate == 0 or options.eps == 0 then fail('Invalid %s: 0', rate == 0 and 'learning rate' or 'epsilon value') end
  Optimizer.check_betas(options)
  Optimizer.init(self, params, options)
  for _, group in ipairs(self.param_groups) do
    for i, parameter in ipairs(group.params) do
      if parameter.layout ~= torch.strided then fail('Sparse params at indices [%d]: SparseAdam requires dense parameter tensors', i) end
    end
  end
end

function SparseAdam:new_state(parameter)
  return { step = 0, exp_avg = torch.zeros_like(parameter), exp_avg_sq = torch.zeros_like(parameter) }
end

function SparseAdam:update()
  fail 'SparseAdam does not support dense gradients, please consider Adam instead'
end

function SparseAdam:update_sparse(parameter, grad, group, state)
  local beta1, beta2 = group.betas[1], group.betas[2]
  grad = (group.maximize and -grad or grad):coalesce()
  local values = grad:values()
  if values:numel() == 0 then return end
  local first, second = state.exp_avg:sparse_mask(grad):values(), state.exp_avg_sq:sparse_mask(grad):values()
  local first_step, second_step = (values - first) * (1 - beta1), (values * values - second) * (1 - beta2)
  state.exp_avg:add_(like(grad, first_step))
  state.exp_avg_sq:add_(like(grad, second_step))
  local size = group.lr * math.sqrt(1 - beta2 ^ state.step) / (1 - beta1 ^ state.step)
  parameter:add_(like(grad, (first + first_step) / ((second + second_step):sqrt() + group.eps)), { alpha = -size })
end

Optimizer.declare(SparseAdam, 'number|Tensor lr=0.001, times betas={0.9, 0.999}, number eps=1e-8, boolean maximize=false')

return SparseAdam
