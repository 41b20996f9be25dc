-- identity.lua - nn.Identity(): returns its input; ignores constructor arguments.

--[=[ examples
Identity
    nn.Identity()(torch.tensor{1.0, 2.0})
    --> tensor([1., 2.])
]=]

local Module = require 'torch.nn.module'

local Identity = Module:extend('Identity')

-- Accepts any arguments, as in PyTorch.
function Identity:init(...) end

function Identity:forward(input) return input end

return Identity
