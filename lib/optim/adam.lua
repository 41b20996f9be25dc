-- adam.lua - optim.Adam(params, {lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0, amsgrad = false,
-- maximize = false, decoupled_weight_decay = false}) (D. Kingma, J. Ba 2014).

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local fused_adam = torch._C._fused_adam_

local Adam = Optimizer:extend('Adam')
Adam.default_options = { lr = 1e-3, betas = { 0.9, 0.999 }, eps = 1e-8, weight_decay = 0, amsgrad = false,
  maximize = false, decoupled_weight_decay = false }

function Adam:init(params, ...)
  local options = Optimizer.read(self.__classname, 'lr betas eps weight_decay amsgrad', self.default_options, ...)
  Optimizer.check_not_negative(options,
    { lr = 'learning rate', eps = 'epsilon value', weight_decay = 'weight_decay value' })
  Optimizer.check_betas(options)
  Optimizer.init(self, params, options)
end

local PLAIN, AMSGRAD = { 'exp_avg', 'exp_avg_sq' }, { 'exp_avg', 'exp_avg_sq', 'max_exp_avg_sq' }

function Adam:columns(group) return group.amsgrad and AMSGRAD or PLAIN end

function Adam:new_state(parameter, group)
  local state = { step = 0, exp_avg = torch.zeros_like(parameter), exp_avg_sq = torch.zeros_like(parameter) }
  if group.amsgrad then state.max_exp_avg_sq = torch.zeros_like(parameter) end
  return state
end

function Adam:update_batch(batch, group)
  fused_adam(batch.params, batch.grads, batch.exp_avg, batch.exp_avg_sq, batch.max_exp_avg_sq or {}, batch.step,
    group.lr, group.betas[1], group.betas[2], group.weight_decay, group.eps, group.decoupled_weight_decay,
    group.amsgrad, group.maximize)
end

return Adam
