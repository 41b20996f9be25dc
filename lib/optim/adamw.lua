-- adamw.lua - optim.AdamW(params, {lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay =
-- 0.01, amsgrad = false, maximize = false, capturable = false}): Adam with decoupled weight decay
-- (I. Loshchilov, F. Hutter 2017).

--[=[ arguments
weight_decay: Factor of the weight decay, which acts on the parameters directly.
]=]

--[=[ examples
AdamW
    w = torch.tensor({1.0, -2.0}, {requires_grad = true})
    optimizer = torch.optim.AdamW({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data
    --> tensor([ 0.8990, -1.8980])
]=]

local Adam = require 'torch.optim.adam'
local Optimizer = require 'torch.optim.optimizer'

local AdamW = Adam:extend('AdamW')

function AdamW:init(options)
  options.decoupled_weight_decay = true
  Adam.init(self, options)
end
Optimizer.declare(AdamW, 'number|Tensor lr=0.001, times betas={0.9, 0.999}, number eps=1e-8, number weight_decay=0.01, boolean amsgrad=false, *, boolean maximize=false, boolean? foreach, boolean capturable=false, boolean differentiable=false, boolean? fused')

return AdamW
