-- cycle.lua - rates that increase and decrease, with momentum in the opposite direction:
-- OneCycleLR(optimizer, max_lr, ...) once over a number of steps (L. Smith, N. Topin 2017),
-- CyclicLR(optimizer, base_lr, max_lr, ...) repeatedly (L. Smith 2015). Call step() after every
-- batch.

--[=[ arguments
base_lr: Minimum of the learning rate: a number, or one for each group.
max_lr: Maximum of the learning rate: a number, or one for each group.
step_size_up: Number of steps of the rising half of a cycle.
step_size_down: Number of steps of the falling half of a cycle; `step_size_up` if absent.
mode: Form of the cycles: `'triangular'`, `'triangular2'` or `'exp_range'`.
gamma: Base of the decay, for the mode `'exp_range'`.
scale_fn: Function that scales the amplitude, instead of a mode.
scale_mode: Argument of `scale_fn`: the number of the `'cycle'`, or of `'iterations'`.
cycle_momentum: Whether the momentum moves against the learning rate.
base_momentum: Minimum of the momentum: a number, or one for each group.
max_momentum: Maximum of the momentum: a number, or one for each group.
total_steps: Number of steps of the cycle.
epochs: Number of epochs, with `steps_per_epoch` instead of `total_steps`.
steps_per_epoch: Number of steps of an epoch.
pct_start: Share of the cycle in which the learning rate rises.
anneal_strategy: Path of the learning rate: `'cos'` or `'linear'`.
div_factor: The learning rate begins at max_lr / div_factor.
final_div_factor: The learning rate ends at its beginning / final_div_factor.
three_phase: Whether a third phase ends the cycle, which is symmetric otherwise.
CyclicLR(): Rises and falls between two rates in cycles.
OneCycleLR(): Rises once to a maximum and falls below the initial rate.
]=]

--[=[ examples
OneCycleLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, {max_lr = 1.0, total_steps = 10})
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.9504846320134737
CyclicLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 1.0, {step_size_up = 4, cycle_momentum = false})
    for epoch = 1, 4 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 1.0
]=]

local Optimizer = require 'torch.optim.optimizer'
local Scheduler = require 'torch.optim.lr_scheduler.scheduler'
local fail = require 'torch.support.fail'

-- The optimizer's name of the cycled value: momentum, or the first of betas.
local function check_momentum(optimizer)
  if optimizer.defaults.momentum == nil and optimizer.defaults.betas == nil then
    fail 'optimizer must support momentum or beta1 with `cycle_momentum` option enabled'
  end
end

local function set_momentum(group, value)
  if group.betas then
    group.betas = { value, table.unpack(group.betas, 2) }
  else
    group.momentum = value
  end
end

-- ---- OneCycleLR ---------------------------------------------------------------------------------

local OneCycleLR = Scheduler:extend('OneCycleLR')

local function cosine(from, to, part) return to + (from - to) / 2 * (1 + math.cos(math.pi * part)) end
local function linear(from, to, part) return (to - from) * part + from end

local function number_of_steps(a)
  if a.total_steps then
    if math.type(a.total_steps) ~= 'integer' or a.total_steps <= 0 then
      fail('Expected positive integer total_steps, but got %s', tostring(a.total_steps))
    end
    return a.total_steps
  end
  if not a.epochs or not a.steps_per_epoch then
    fail 'You must define either total_steps OR (epochs AND steps_per_epoch)'
  end
  if math.type(a.epochs) ~= 'integer' or a.epochs <= 0 then
    fail('Expected positive integer epochs, but got %s', tostring(a.epochs))
  end
  if math.type(a.steps_per_epoch) ~= 'integer' or a.steps_per_epoch <= 0 then
    fail('Expected positive integer steps_per_epoch, but got %s', tostring(a.steps_per_epoch))
  end
  return a.epochs * a.steps_per_epoch
end

-- The phases: the last step of each, and the names of the rates and momenta at its ends.
local function phases_of(a, total)
  local up = a.pct_start * total - 1
  if a.three_phase then
    return {
      { last = up, 'initial_lr', 'max_lr', 'max_momentum', 'base_momentum' },
      { last = 2 * a.pct_start * total - 2, 'max_lr', 'initial_lr', 'base_momentum', 'max_momentum' },
      { last = total - 1, 'initial_lr', 'min_lr', 'max_momentum', 'max_momentum' },
    }
  end
  return {
    { last = up, 'initial_lr', 'max_lr', 'max_momentum', 'base_momentum' },
    { last = total - 1, 'max_lr', 'min_lr', 'base_momentum', 'max_momentum' },
  }
end

function OneCycleLR:init(a)
  local optimizer = a.optimizer
  self.total_steps = number_of_steps(a)
  if a.pct_start < 0 or a.pct_start > 1 then
    fail('Expected float between 0 and 1 pct_start, but got %s', tostring(a.pct_start))
  end
  if a.anneal_strategy ~= 'cos' and a.anneal_strategy ~= 'linear' then
    fail("anneal_strategy must be one of 'cos' or 'linear', instead got %s", tostring(a.anneal_strategy))
  end
  self.anneal_strategy, self.cycle_momentum, self.phases = a.anneal_strategy, a.cycle_momentum, phases_of(a, self.total_steps)
  local max_lrs = Scheduler.per_group(optimizer, 'max_lr', a.max_lr)
  if a.last_epoch == -1 then
    for i, group in ipairs(optimizer.param_groups) do
      group.initial_lr, group.max_lr = max_lrs[i] / a.div_factor, max_lrs[i]
      group.min_lr = group.initial_lr / a.final_div_factor
    end
  end
  if a.cycle_momentum then
    check_momentum(optimizer)
    local most = Scheduler.per_group(optimizer, 'max_momentum', a.max_momentum)
    local least = Scheduler.per_group(optimizer, 'base_momentum', a.base_momentum)
    for i, group in ipairs(a.last_epoch == -1 and optimizer.param_groups or {}) do
      group.max_momentum, group.base_momentum = most[i], least[i]
      set_momentum(group, most[i])
    end
  end
  self:start(optimizer, a.last_epoch)
end
Scheduler.declare(OneCycleLR, [[
  number|table max_lr, any total_steps=false, any epochs=false, any steps_per_epoch=false, number pct_start=0.3, any anneal_strategy='cos',
  boolean cycle_momentum=true, number|table base_momentum=0.85, number|table max_momentum=0.95, number div_factor=25.0,
  number final_div_factor=1e4, boolean three_phase=false]])

function OneCycleLR:get_lr()
  local step, anneal = self.last_epoch, self.anneal_strategy == 'cos' and cosine or linear
  if step > self.total_steps then
    fail('Tried to step %d times. The specified number of total steps is %d', step, self.total_steps)
  end
  local first, phase = 0, nil
  for i, each in ipairs(self.phases) do
    phase = each
    if step <= each.last or i == #self.phases then break end
    first = each.last
  end
  local part = (step - first) / (phase.last - first)
  return self:each_rate(function(_, i)
    local group = self.optimizer.param_groups[i]
    if self.cycle_momentum then set_momentum(group, anneal(group[phase[3]], group[phase[4]], part)) end
    return anneal(group[phase[1]], group[phase[2]], part)
  end)
end

-- ---- CyclicLR -----------------------------------------------------------------------------------

local CyclicLR = Scheduler:extend('CyclicLR')

-- By mode: the factor of the amplitude, of the cycle or the step that scale_mode names.
local SCALES = {
  triangular = { scale_mode = 'cycle', factor = function() return 1.0 end },
  triangular2 = { scale_mode = 'cycle', factor = function(cycle) return 1 / 2.0 ^ (cycle - 1) end },
  exp_range = { scale_mode = 'iterations', factor = function(step, gamma) return gamma ^ step end },
}

function CyclicLR:init(a)
  local optimizer = a.optimizer
  local base = Scheduler.per_group(optimizer, 'base_lr', a.base_lr)
  for i, group in ipairs(a.last_epoch == -1 and optimizer.param_groups or {}) do Optimizer.set_rate(group, base[i]) end
  self.max_lrs = Scheduler.per_group(optimizer, 'max_lr', a.max_lr)
  self.total_size = a.step_size_up + (a.step_size_down or a.step_size_up)
  self.step_ratio = a.step_size_up / self.total_size
  if not SCALES[a.mode] and not a.scale_fn then fail 'mode is invalid and scale_fn is None' end
  self.mode, self.gamma, self.scale_fn = a.mode, a.gamma, a.scale_fn or nil
  self.scale_mode = a.scale_fn and a.scale_mode or SCALES[a.mode].scale_mode
  self.cycle_momentum = a.cycle_momentum
  if a.cycle_momentum then
    check_momentum(optimizer)
    self.base_momentums = Scheduler.per_group(optimizer, 'base_momentum', a.base_momentum)
    self.max_momentums = Scheduler.per_group(optimizer, 'max_momentum', a.max_momentum)
    for i, group in ipairs(a.last_epoch == -1 and optimizer.param_groups or {}) do
      set_momentum(group, self.max_momentums[i])
      group.max_momentum, group.base_momentum = self.max_momentums[i], self.base_momentums[i]
    end
  end
  self.cycle_base = base
  self:start(optimizer, a.last_epoch)
end
Scheduler.declare(CyclicLR, [[
  number|table base_lr, number|table max_lr, integer step_size_up=2000, integer|boolean step_size_down=false, string mode='triangular',
  number gamma=1.0, function|boolean scale_fn=false, string scale_mode='cycle', boolean cycle_momentum=true, number|table base_momentum=0.8,
  number|table max_momentum=0.9]])

function CyclicLR:get_lr()
  local cycle = math.floor(1 + self.last_epoch / self.total_size)
  local x = 1 + self.last_epoch / self.total_size - cycle
  local part = x <= self.step_ratio and x / self.step_ratio or (x - 1) / (self.step_ratio - 1)
  local scale = (self.scale_fn or SCALES[self.mode].factor)(self.scale_mode == 'cycle' and cycle or self.last_epoch, self.gamma)
  return self:each_rate(function(_, i)
    if self.cycle_momentum then
      local least, most = self.base_momentums[i], self.max_momentums[i]
      set_momentum(self.optimizer.param_groups[i], most - (most - least) * part * scale)
    end
    return self.cycle_base[i] + (self.max_lrs[i] - self.cycle_base[i]) * part * scale
  end)
end

return { OneCycleLR = OneCycleLR, CyclicLR = CyclicLR }
