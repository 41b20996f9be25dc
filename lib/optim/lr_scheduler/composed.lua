-- composed.lua - schedulers of schedulers: SequentialLR(optimizer, schedulers, milestones), one
-- after the other, and ChainedScheduler(schedulers, optimizer), all at every step.

--[=[ arguments
milestones: Numbers of the epochs at which the next scheduler takes over.
ChainedScheduler(): Several schedulers that all step together.
SequentialLR(): Several schedulers, one after the other, which change at the given epochs.
]=]

--[=[ examples
SequentialLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    S = torch.optim.lr_scheduler
    scheduler = S.SequentialLR(optimizer, {S.ConstantLR(optimizer, {factor = 0.5}), S.ExponentialLR(optimizer, 0.5)}, {2})
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.5
ChainedScheduler
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    S = torch.optim.lr_scheduler
    scheduler = S.ChainedScheduler({S.ExponentialLR(optimizer, 0.5), S.StepLR(optimizer, 2, 0.1)}, optimizer)
    for epoch = 1, 2 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.025
]=]

local Optimizer = require 'torch.optim.optimizer'
local Scheduler = require 'torch.optim.lr_scheduler.scheduler'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local function check(what, optimizer, schedulers)
  if type(schedulers) ~= 'table' or #schedulers < 1 then
    fail('%s expects at least one scheduler to be chained, but got no scheduler.', what)
  end
  for i = 1, #schedulers do
    local each = schedulers[i]
    if not Scheduler:is_instance(each) or each.__classname == 'ReduceLROnPlateau' then
      fail('%s does not support `%s` scheduler as it requires additional kwargs to be specified when calling `step`, '
        .. 'but got one at index %d in the given schedulers sequence.', what,
        Scheduler:is_instance(each) and each.__classname or type(each), i)
    end
    if each.optimizer ~= optimizer then
      fail('%s expects all schedulers to belong to the same optimizer, but got scheduler %s at index %d, which is '
        .. 'different from %s.', what, each.__classname, i, optimizer.__classname)
    end
  end
end

local SequentialLR = Scheduler:extend('SequentialLR')

-- Reverts the first step of a scheduler, which its constructor made.
local function undo(scheduler)
  for _, each in ipairs(scheduler.schedulers or {}) do undo(each) end
  if not scheduler.schedulers then scheduler.last_epoch = scheduler.last_epoch - 1 end
end

function SequentialLR:init(a)
  local optimizer = a.optimizer
  check('SequentialLR', optimizer, a.schedulers)
  if #a.milestones ~= #a.schedulers - 1 then
    fail('Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone '
      .. 'points, but got number of schedulers %d and the number of milestones to be equal to %d', #a.schedulers,
      #a.milestones)
  end
  self.optimizer, self.schedulers, self.milestones, self.last_epoch = optimizer, a.schedulers, a.milestones, a.last_epoch + 1
  for _, group in ipairs(optimizer.param_groups) do Optimizer.set_rate(group, group.initial_lr) end
  undo(self)
  local first = self:scheduler_at(0) -- also in a resumed run: the others begin at their milestones
  first:initial_step()
  self._last_lr = first:get_last_lr()
end
Scheduler.declare(SequentialLR, 'table schedulers, table milestones')

-- The scheduler of an epoch, and true if it starts there.
function SequentialLR:scheduler_at(epoch)
  local passed = 0
  for _, milestone in ipairs(self.milestones) do
    if milestone <= epoch then passed = passed + 1 end
  end
  return self.schedulers[passed + 1], passed > 0 and self.milestones[passed] == epoch
end

function SequentialLR:initial_step() self:scheduler_at(self.last_epoch):initial_step() end

function SequentialLR:step()
  self.last_epoch = self.last_epoch + 1
  local scheduler, begins = self:scheduler_at(self.last_epoch)
  if begins then scheduler:update(0) else scheduler:step() end
  self._last_lr = scheduler:get_last_lr()
end

local ChainedScheduler = Scheduler:extend('ChainedScheduler')

function ChainedScheduler:init(schedulers, optimizer)
  local first = type(schedulers) == 'table' and schedulers[1]
  optimizer = optimizer or (Scheduler:is_instance(first) and first.optimizer)
  check('ChainedScheduler', optimizer, schedulers)
  self.optimizer, self.schedulers = optimizer, schedulers
  self._last_lr = self:present_rates()
end
declare.methods(ChainedScheduler, 'init(self, any schedulers, Optimizer? optimizer)')

function ChainedScheduler:initial_step()
  for _, each in ipairs(self.schedulers) do each:initial_step() end
end

function ChainedScheduler:step()
  for _, each in ipairs(self.schedulers) do each:step() end
  self._last_lr = self:present_rates()
end

return { SequentialLR = SequentialLR, ChainedScheduler = ChainedScheduler }
