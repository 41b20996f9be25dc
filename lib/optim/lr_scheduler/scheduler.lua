-- scheduler.lua - lr_scheduler.LRScheduler: the base class of schedulers. A derived class reads its
-- arguments, sets its fields and calls start. It defines get_lr(), the rates of the groups at
-- self.last_epoch, usually from the current ones, so that schedulers can be chained; and optionally
-- closed_form(), the same from self.base_lrs.
--
-- Epochs are values, counted from 0 as in PyTorch. The constructor does the first step.

--[=[ arguments
epoch: Number of the epoch; the next one if absent.
get_lr(): The learning rates of the groups after this step; define it in your class.
load_state_dict(): Restores the state of a checkpoint.
]=]

--[=[ examples
LRScheduler
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    for epoch = 1, 1 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:state_dict().last_epoch
    --> 1
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local Optimizer = require 'torch.optim.optimizer'

local Scheduler = class.Object:extend('LRScheduler')

-- Fields that are not part of the state.
local NOT_SAVED = { optimizer = true, schedulers = true }

-- Declares the arguments of a class's constructor between the optimizer and last_epoch; its init
-- receives all by name, in one table.
function Scheduler.declare(made, arguments)
  declare.named(made, ('init(self, Optimizer optimizer, %s, integer last_epoch=-1)'):format(arguments))
end

-- One value for each group from a number or a list of them.
function Scheduler.per_group(optimizer, name, value)
  local list = {}
  if type(value) == 'table' then
    if #value ~= #optimizer.param_groups then
      fail('%s must have the same length as optimizer.param_groups. %s has %d values, param_groups has %d.', name, name,
        #value, #optimizer.param_groups)
    end
    return table.move(value, 1, #value, 1, list)
  end
  for i = 1, #optimizer.param_groups do list[i] = value end
  return list
end

function Scheduler.check_optimizer(optimizer)
  if not Optimizer:is_instance(optimizer) then fail('%s is not an Optimizer', torch.type(optimizer)) end
end

-- Records the initial rates, and makes the first step. last_epoch: -1, or the last epoch of a
-- resumed run.
function Scheduler:start(optimizer, last_epoch)
  Scheduler.check_optimizer(optimizer)
  self.optimizer, self.base_lrs = optimizer, {}
  for i, group in ipairs(optimizer.param_groups) do
    if last_epoch == -1 then
      group.initial_lr = group.initial_lr or Optimizer.rate(group)
    elseif not group.initial_lr then
      fail("param 'initial_lr' is not specified in param_groups[%d] when resuming an optimizer", i)
    end
    self.base_lrs[i] = group.initial_lr
  end
  self.last_epoch = last_epoch
  self:initial_step()
end

function Scheduler:initial_step()
  self._step_count, self._is_initial = 0, true
  self:step()
  self._is_initial = false
end

-- The present rates, changed by f(rate, i).
function Scheduler:each_rate(f)
  local rates = {}
  for i, group in ipairs(self.optimizer.param_groups) do rates[i] = f(Optimizer.rate(group), i) end
  return rates
end

function Scheduler:present_rates() return self:each_rate(function(rate) return rate end) end

-- The initial rates, changed by f(rate, i).
function Scheduler:each_base(f)
  if not self.base_lrs then fail('a %s keeps no initial rates', self.__classname) end
  local rates = {}
  for i, rate in ipairs(self.base_lrs) do rates[i] = f(rate, i) end
  return rates
end

function Scheduler:get_lr() fail(self.__classname .. ' defines no get_lr') end

function Scheduler:update(epoch)
  local rates
  if epoch == nil then
    self.last_epoch = self.last_epoch + 1
    rates = self:get_lr()
  else
    self.last_epoch = epoch
    rates = self.closed_form and self:closed_form() or self:get_lr()
  end
  self:set_rates(rates)
end

function Scheduler:set_rates(rates)
  for i, group in ipairs(self.optimizer.param_groups) do
    kinds.check('set_rates', ('rates[%d]'):format(i), rates[i], 'number|Tensor')
    Optimizer.set_rate(group, rates[i])
  end
  self._last_lr = self:present_rates()
end

-- Advances to the next epoch, or to `epoch`.
function Scheduler:step(epoch)
  self._step_count = self._step_count + 1
  self:update(epoch)
end

-- The rates that were set last, by group.
function Scheduler:get_last_lr() return self._last_lr end

-- Deep copy that preserves shared and cyclic references.
local function copy(value, seen)
  if type(value) ~= 'table' then return value end
  if seen[value] then return seen[value] end
  local made = {}
  seen[value] = made
  for key, entry in pairs(value) do made[key] = copy(entry, seen) end
  return made
end

-- All fields but the optimizer and functions.
function Scheduler:state_dict()
  local dict, seen = {}, {}
  for name, value in pairs(class.fields(self)) do
    if not NOT_SAVED[name] and type(value) ~= 'function' then dict[name] = copy(value, seen) end
  end
  if self.schedulers then
    dict.schedulers = {}
    for i, scheduler in ipairs(self.schedulers) do dict.schedulers[i] = scheduler:state_dict() end
  end
  return dict
end

function Scheduler:load_state_dict(state_dict)
  local dict = state_dict
  local seen = {}
  for name, value in pairs(dict) do
    if not NOT_SAVED[name] then self[name] = copy(value, seen) end
  end
  for i, saved in ipairs(dict.schedulers or {}) do self.schedulers[i]:load_state_dict(saved) end
end

return Scheduler
