-- identity.lua - nn.Identity(): returns its input; takes and ignores any arguments.

local Module = require 'torch.nn.module'

local Identity = Module:extend('Identity')

function Identity:forward(input) return input end

return Identity
