-- adamw8bit.lua - optim.AdamW8bit(params, {lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay =
-- 0.01, min_8bit_size = 4096}): AdamW (I. Loshchilov, F. Hutter 2017) with a state of 8 bits per number,
-- as in the library bitsandbytes (T. Dettmers et al. 2021). It differs from Adam8bit by its default
-- weight decay.

--[=[ arguments
weight_decay: Factor of the weight decay, which acts on the parameters directly.
min_8bit_size: Minimum number of elements of parameters with a state of 8 bits.
]=]

--[=[ examples
AdamW8bit
    w = torch.ones(64, 64):requires_grad_()
    optimizer = torch.optim.AdamW8bit({w}, {lr = 0.1})
    w:square():sum():backward()
    optimizer:step()
    w.data[1]:narrow(1, 1, 3)
    --> tensor([0.8990, 0.8990, 0.8990])
]=]

local Adam8bit = require 'torch.optim.adam8bit'
local Optimizer = require 'torch.optim.optimizer'

local AdamW8bit = Adam8bit:extend('AdamW8bit')

function AdamW8bit:init(options) Adam8bit.init(self, options) end
Optimizer.declare(AdamW8bit, 'number|Tensor lr=0.001, times betas={0.9, 0.999}, number eps=1e-8, number weight_decay=0.01, *, integer min_8bit_size=4096')

return AdamW8bit
