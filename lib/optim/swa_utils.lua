-- swa_utils.lua - torch.optim.swa_utils: averages of a model's parameters during training:
-- AveragedModel, the schedule for its rate (SWALR), and update_bn, which recomputes the statistics
-- of the average's batch normalizations.

--[=[ arguments
decay: Weight of the old average, between 0 and 1.
loader: Iterable of batches: inputs, or lists with the input as their first entry.
model: Model with the parameters to average.
update_bn.model: Model with the running statistics to compute.
avg_fn: Function `avg_fn(average, value, n)` that returns the new average; the mean if absent.
multi_avg_fn: Function of the same kind for lists of tensors, which changes them in place.
use_buffers: Whether buffers are averaged, too; otherwise they are copied.
swa_lr: Learning rate at the end: a number, or one for each group.
anneal_epochs: Number of epochs until the rate is reached.
anneal_strategy: Path to the rate: `'cos'` or `'linear'`.
get_swa_avg_fn(): A function of a tensor's average, of a new value and of the number of values so far, which returns the new mean.
get_swa_multi_avg_fn(): The same of lists of tensors, in place.
get_lr(): The learning rates of the groups after this step.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local for_loops = require 'torch.support.for_loops'
local Module = require 'torch.nn.module'
local Scheduler = require 'torch.optim.lr_scheduler.scheduler'

local swa_utils = {}

-- ---- averages -----------------------------------------------------------------------------------

local function check_decay(decay)
  if type(decay) ~= 'number' or decay < 0 or decay > 1 then
    fail('Invalid decay value %s provided. Please provide a value in [0,1] range.', tostring(decay))
  end
  return decay
end

--- Returns f(average, value, n): the exponential moving average, with weight 1 - decay for the new
--- value;
-- get_swa_avg_fn: the equal-weight average after n values.
function swa_utils.get_ema_avg_fn(decay)
  decay = check_decay(decay)
  return function(average, value) return decay * average + (1 - decay) * value end
end
function swa_utils.get_swa_avg_fn()
  return function(average, value, n) return average + (value - average) / (n + 1) end
end

-- Applies fn to lists of tensors, in place.
local function of_lists(fn)
  return function(averages, values, n)
    torch.no_grad(function()
      for i, average in ipairs(averages) do average:copy_(fn(average, values[i], n)) end
    end)
  end
end
--- The same for lists of tensors, in place.
function swa_utils.get_ema_multi_avg_fn(decay) return of_lists(swa_utils.get_ema_avg_fn(decay)) end
function swa_utils.get_swa_multi_avg_fn() return of_lists(swa_utils.get_swa_avg_fn()) end

--- AveragedModel(model, {device =, avg_fn =, multi_avg_fn =, use_buffers = false}): `module` is a
--- copy of the model with its parameters averaged over the calls of update_parameters(model).
--- avg_fn(average, value, n) is the mean by default; with use_buffers, buffers are averaged, too,
--- otherwise copied.
local AveragedModel = Module:extend('AveragedModel')
swa_utils.AveragedModel = AveragedModel

function AveragedModel:init(model, device, avg_fn, multi_avg_fn, use_buffers)
  if avg_fn and multi_avg_fn then fail 'Only one of avg_fn and multi_avg_fn should be provided' end
  self.module = model:deepcopy()
  if device then self.module:to(device) end
  self:register_buffer('n_averaged', torch.tensor(0, { device = device }))
  self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers
end

function AveragedModel:forward(...) return self.module(...) end

local function tensors_of(model, with_buffers)
  local list = model:parameters()
  if with_buffers then table.move(model:buffers(), 1, #model:buffers(), #list + 1, list) end
  return list
end

--- Includes the model's parameters in the average.
function AveragedModel:update_parameters(model)
  torch.no_grad(function()
    local averages, values = tensors_of(self.module, self.use_buffers), tensors_of(model, self.use_buffers)
    local n = self.n_averaged:item()
    for i, average in ipairs(averages) do
      averages[i], values[i] = average:detach(), values[i]:detach():to(average.device)
    end
    if n == 0 then
      for i, average in ipairs(averages) do average:copy_(values[i]) end
    elseif self.multi_avg_fn then
      self.multi_avg_fn(averages, values, n)
    else
      of_lists(self.avg_fn or swa_utils.get_swa_avg_fn())(averages, values, n)
    end
    if not self.use_buffers then
      local buffers = model:buffers()
      for i, buffer in ipairs(self.module:buffers()) do buffer:copy_(buffers[i]) end
    end
    self.n_averaged:add_(1)
  end)
end

--- Recomputes the running statistics of all batch normalizations in one pass over the loader's
--- inputs (the first value of several).
function swa_utils.update_bn(loader, model, device)
  local momenta = {}
  for _, module in ipairs(model:modules()) do
    if module.running_mean ~= nil and torch.type(module):find 'BatchNorm' then
      module:reset_running_stats()
      momenta[#momenta + 1] = { module, module.momentum }
      module.momentum = false
    end
  end
  if #momenta == 0 then return end
  local was_training = model.training
  model:train()
  torch.no_grad(function()
    local function pass(input)
      if type(input) == 'table' then input = input[1] end
      if device ~= nil then input = input:to(device) end
      model(input)
    end
    if for_loops.is_plain(loader) then
      for _, input in ipairs(loader) do pass(input) end
    else
      for input in loader do pass(input) end
    end
  end)
  for _, entry in ipairs(momenta) do entry[1].momentum = entry[2] end
  model:train(was_training)
end

-- ---- the rate -----------------------------------------------------------------------------------

--- SWALR(optimizer, swa_lr, {anneal_epochs = 10, anneal_strategy = 'cos'}): anneals from the
--- current rates to swa_lr (a number, or one for each group) by 'cos' or 'linear', and then stays
--- there.
local SWALR = Scheduler:extend('SWALR')
swa_utils.SWALR = SWALR

function SWALR:init(optimizer, swa_lr, anneal_epochs, anneal_strategy, last_epoch)
  if anneal_strategy ~= 'cos' and anneal_strategy ~= 'linear' then
    fail("anneal_strategy must be one of 'cos' or 'linear', instead got %s", tostring(anneal_strategy))
  end
  if anneal_epochs < 0 then fail('anneal_epochs must be equal or greater than 0, got %d', anneal_epochs) end
  for i, rate in ipairs(Scheduler.per_group(optimizer, 'swa_lr', swa_lr)) do optimizer.param_groups[i].swa_lr = rate end
  self.anneal_epochs, self.anneal_strategy = anneal_epochs, anneal_strategy
  self:start(optimizer, last_epoch)
end
declare.methods(SWALR, "init(self, Optimizer optimizer, number|table swa_lr, integer anneal_epochs=10, any anneal_strategy='cos', integer last_epoch=-1)")

-- The annealing progress after this number of epochs, from 0 to 1.
local function progress(self, epochs)
  local t = math.max(0, math.min(1, epochs / math.max(1, self.anneal_epochs)))
  return self.anneal_strategy == 'linear' and t or (1 - math.cos(math.pi * t)) / 2
end

function SWALR:get_lr()
  local epochs = self._step_count - 1
  if self.anneal_epochs == 0 then epochs = math.max(1, epochs) end
  local before, now = progress(self, epochs - 1), progress(self, epochs)
  return self:each_rate(function(rate, i)
    local goal = self.optimizer.param_groups[i].swa_lr
    local from = before == 1 and goal or (rate - before * goal) / (1 - before)
    return goal * now + from * (1 - now)
  end)
end

declare.methods(AveragedModel, [[
  init(self, Module model, device? device, function? avg_fn, function? multi_avg_fn, boolean use_buffers=false)
  update_parameters(self, Module model)
]])

return declare.functions(swa_utils, [[
  get_ema_avg_fn(any decay=0.999)
  get_ema_multi_avg_fn(any decay=0.999)
  get_swa_avg_fn()
  get_swa_multi_avg_fn()
  update_bn(any loader, Module model, device? device)
]])
