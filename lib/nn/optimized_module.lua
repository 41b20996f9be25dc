-- optimized_module.lua - the result of torch.compile for a module: the module is the child
-- `_orig_mod` and shares its parameters and state.

local class = require 'torch.support.class'
local Module = require 'torch.nn.module'

local OptimizedModule = Module:extend('OptimizedModule')

function OptimizedModule:init(module, run)
  self._orig_mod = module
  class.fields(self)._run = run
  self.training = module.training
end

function OptimizedModule:forward(...) return class.fields(self)._run(...) end

return OptimizedModule
