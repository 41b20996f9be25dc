-- plateau.lua - ReduceLROnPlateau(optimizer, mode, factor, patience, threshold, threshold_mode,
-- cooldown, min_lr, eps): decreases the rate if the metric passed to step(metric) does not improve.

--[=[ arguments
mode: `'min'` if the metric shall fall, `'max'` if it shall rise.
factor: Factor by which the learning rate is multiplied.
patience: Number of epochs without improvement after which the rate is reduced.
threshold: Smallest change that counts as an improvement.
threshold_mode: Whether the threshold is relative to the best value, `'rel'`, or a difference, `'abs'`.
cooldown: Number of epochs after a reduction in which none is counted.
min_lr: Minimum of the learning rate: a number, or one for each group.
eps: Smallest change of the rate that is carried out.
metrics: Value of the metric.
]=]

--[=[ examples
ReduceLROnPlateau
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, {patience = 1, factor = 0.5})
    for epoch = 1, 4 do scheduler:step(3.0) end
    optimizer.param_groups[1].lr
    --> 0.5
]=]

local torch = require 'torch'
local Optimizer = require 'torch.optim.optimizer'
local Scheduler = require 'torch.optim.lr_scheduler.scheduler'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local Plateau = Scheduler:extend('ReduceLROnPlateau')

function Plateau:init(a)
  local optimizer = a.optimizer
  if a.factor >= 1 then fail 'Factor should be < 1.0.' end
  if a.mode ~= 'min' and a.mode ~= 'max' then fail('mode %s is unknown!', tostring(a.mode)) end
  if a.threshold_mode ~= 'rel' and a.threshold_mode ~= 'abs' then
    fail('threshold mode %s is unknown!', tostring(a.threshold_mode))
  end
  for name, value in pairs(a) do self[name] = value end
  self.optimizer = optimizer
  self.min_lrs = Scheduler.per_group(optimizer, 'min_lr', a.min_lr)
  self.last_epoch, self.cooldown_counter, self.num_bad_epochs = 0, 0, 0
  self.best = a.mode == 'min' and math.huge or -math.huge
  self._last_lr = self:present_rates()
end
declare.named(Plateau, [[
  init(self, Optimizer optimizer, any mode='min', number factor=0.1, integer patience=10, number threshold=1e-4, any threshold_mode='rel',
  integer cooldown=0, number|table min_lr=0, number eps=1e-8)
]])

function Plateau:is_better(value)
  local margin = self.threshold_mode == 'abs' and self.threshold or nil
  if self.mode == 'min' then
    return value < (margin and self.best - margin or self.best * (1 - self.threshold))
  end
  return value > (margin and self.best + margin or self.best * (1 + self.threshold))
end

function Plateau:reduce()
  for i, group in ipairs(self.optimizer.param_groups) do
    local rate = Optimizer.rate(group)
    local lower = math.max(rate * self.factor, self.min_lrs[i])
    if rate - lower > self.eps then Optimizer.set_rate(group, lower) end
  end
end

-- metrics: a number, or a one-element tensor.
function Plateau:step(metrics)
  local value = torch.is_tensor(metrics) and metrics:item() or metrics
  if type(value) ~= 'number' then fail 'ReduceLROnPlateau: step() needs the metric' end
  self.last_epoch = self.last_epoch + 1
  if self:is_better(value) then
    self.best, self.num_bad_epochs = value, 0
  else
    self.num_bad_epochs = self.num_bad_epochs + 1
  end
  if self.cooldown_counter > 0 then
    self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
  end
  if self.num_bad_epochs > self.patience then
    self:reduce()
    self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
  end
  self._last_lr = self:present_rates()
end

return Plateau
