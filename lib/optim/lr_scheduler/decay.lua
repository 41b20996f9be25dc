-- decay.lua - schedulers that lower (or raise) the rate by a rule of the epoch: StepLR(optimizer,
-- step_size, gamma), MultiStepLR(optimizer, milestones, gamma), ConstantLR(optimizer, factor,
-- total_iters), LinearLR(optimizer, start_factor, end_factor, total_iters),
-- ExponentialLR(optimizer, gamma), PolynomialLR(optimizer, total_iters, power).

--[=[ arguments
gamma: Factor by which the learning rate is multiplied.
factor: Factor of the learning rate until `total_iters`.
start_factor: Factor of the learning rate at the beginning.
end_factor: Factor of the learning rate at the end.
milestones: Numbers of the epochs at which the rate changes.
power: Exponent of the polynomial.
step_size: Number of epochs between changes of the rate.
StepLR(): Multiplies the rate by gamma every step_size epochs.
ConstantLR(): Multiplies the rate by factor until total_iters.
LinearLR(): Changes the factor of the rate linearly from start_factor to end_factor.
ExponentialLR(): Multiplies the rate by gamma every epoch.
PolynomialLR(): Lets the rate fall to 0 as a power of the remaining steps.
]=]

--[=[ examples
StepLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.5
MultiStepLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, {1, 3}, 0.5)
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.25
ConstantLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, {factor = 0.5, total_iters = 2})
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 1.0
LinearLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, {start_factor = 0.5, total_iters = 2})
    for epoch = 1, 1 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.75
ExponentialLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.125
PolynomialLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, {total_iters = 4})
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.25
]=]

local Scheduler = require 'torch.optim.lr_scheduler.scheduler'
local fail = require 'torch.support.fail'

-- A class with an init that stores the declared arguments in fields of the same names; check(a)
-- rejects invalid ones.
local function scheduler(name, arguments, check)
  local class = Scheduler:extend(name)
  function class:init(a)
    if check then check(a) end
    for key, value in pairs(a) do
      if key ~= 'last_epoch' and key ~= 'optimizer' then self[key] = value end
    end
    self:start(a.optimizer, a.last_epoch)
  end
  Scheduler.declare(class, arguments)
  return class
end

local StepLR = scheduler('StepLR', 'integer step_size, number gamma=0.1')

function StepLR:get_lr()
  if self.last_epoch == 0 or self.last_epoch % self.step_size ~= 0 then return self:present_rates() end
  return self:each_rate(function(rate) return rate * self.gamma end)
end

function StepLR:closed_form()
  return self:each_base(function(base) return base * self.gamma ^ (self.last_epoch // self.step_size) end)
end

-- A milestone may occur several times.
local MultiStepLR = scheduler('MultiStepLR', 'any milestones, number gamma=0.1', function(a)
  if type(a.milestones) ~= 'table' then fail 'MultiStepLR: milestones must be a list of epochs' end
end)

function MultiStepLR:get_lr()
  local times = 0
  for _, milestone in ipairs(self.milestones) do
    if milestone == self.last_epoch then times = times + 1 end
  end
  return self:each_rate(function(rate) return times == 0 and rate or rate * self.gamma ^ times end)
end

function MultiStepLR:closed_form()
  local passed = 0
  for _, milestone in ipairs(self.milestones) do
    if milestone <= self.last_epoch then passed = passed + 1 end
  end
  return self:each_base(function(base) return base * self.gamma ^ passed end)
end

local ConstantLR = scheduler('ConstantLR', 'number factor=1/3, number total_iters=5', function(a)
  if a.factor > 1 or a.factor < 0 then fail 'Constant multiplicative factor expected to be between 0 and 1.' end
end)

function ConstantLR:get_lr()
  if self.last_epoch == 0 then return self:each_rate(function(rate) return rate * self.factor end) end
  if self.last_epoch ~= self.total_iters then return self:present_rates() end
  return self:each_rate(function(rate) return rate * (1 / self.factor) end)
end

function ConstantLR:closed_form()
  local factor = self.last_epoch >= self.total_iters and 1 or self.factor
  return self:each_base(function(base) return base * factor end)
end

local LinearLR = scheduler('LinearLR', 'number start_factor=1/3, number end_factor=1.0, number total_iters=5', function(a)
    if a.start_factor > 1 or a.start_factor <= 0 then
      fail 'Starting multiplicative factor expected to be greater than 0 and less or equal to 1.'
    end
    if a.end_factor > 1 or a.end_factor < 0 then fail 'Ending multiplicative factor expected to be between 0 and 1.' end
  end)

function LinearLR:get_lr()
  if self.last_epoch == 0 then return self:each_rate(function(rate) return rate * self.start_factor end) end
  if self._is_initial or self.last_epoch > self.total_iters then return self:present_rates() end
  local change = self.end_factor - self.start_factor
  local factor = 1 + change / (self.total_iters * self.start_factor + (self.last_epoch - 1) * change)
  return self:each_rate(function(rate) return rate * factor end)
end

function LinearLR:closed_form()
  local done = math.min(self.total_iters, self.last_epoch) / self.total_iters
  local factor = self.start_factor + (self.end_factor - self.start_factor) * done
  return self:each_base(function(base) return base * factor end)
end

local ExponentialLR = scheduler('ExponentialLR', 'number gamma')

function ExponentialLR:get_lr()
  if self._is_initial then return self:present_rates() end
  return self:each_rate(function(rate) return rate * self.gamma end)
end

function ExponentialLR:closed_form()
  return self:each_base(function(base) return base * self.gamma ^ self.last_epoch end)
end

local PolynomialLR = scheduler('PolynomialLR', 'number total_iters=5, number power=1.0')

function PolynomialLR:get_lr()
  if self._is_initial or self.last_epoch > self.total_iters then return self:present_rates() end
  local total = self.total_iters
  local factor = ((1 - self.last_epoch / total) / (1 - (self.last_epoch - 1) / total)) ^ self.power
  return self:each_rate(function(rate) return rate * factor end)
end

function PolynomialLR:closed_form()
  local factor = (1 - math.min(self.total_iters, self.last_epoch) / self.total_iters) ^ self.power
  return self:each_base(function(base) return base * factor end)
end

return { StepLR = StepLR, MultiStepLR = MultiStepLR, ConstantLR = ConstantLR, LinearLR = LinearLR,
  ExponentialLR = ExponentialLR, PolynomialLR = PolynomialLR }
