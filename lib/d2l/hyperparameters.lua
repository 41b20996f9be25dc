-- hyperparameters.lua - d2l: hyperparameter search: searchers, schedulers, and a record of the
-- trials.
--
-- A configuration is a table of numbers by name; a space maps each name to an object with sample().

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local Trainer = require('torch.d2l.trainer').Trainer
local board = require 'torch.d2l.board'
local tools = require 'torch.d2l.tools'

local M = {}

local function uniform() return torch.rand(1):item() end

--- LogUniform(low, high): numbers with a uniform logarithm.
M.LogUniform = class.Object:extend 'd2l.LogUniform'
function M.LogUniform:init(low, high)
  if not (low > 0 and high >= low) then fail('LogUniform(): expected 0 < low <= high, but got %s and %s', tostring(low), tostring(high)) end
  self.low, self.high = low, high
end
function M.LogUniform:sample() return self.low * (self.high / self.low) ^ uniform() end

--- RandInt(low, high): integers from low to high - 1, as scipy's randint.
M.RandInt = class.Object:extend 'd2l.RandInt'
function M.RandInt:init(low, high)
  if not (high > low) then fail('RandInt(): expected low < high, but got %s and %s', tostring(low), tostring(high)) end
  self.low, self.high = low, high
end
function M.RandInt:sample() return torch.randint(self.low, self.high, { 1 }):item() end

-- A sample of the space. Names are sorted, so that a seed reproduces it.
local function sample(space)
  local names, config = {}, {}
  for name in pairs(space) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do config[name] = space[name]:sample() end
  return config
end

--- A trainer that returns the error on the validation data: validation_error().
M.HPOTrainer = Trainer:extend 'd2l.HPOTrainer'

function M.HPOTrainer:validation_error()
  self.model:eval()
  local _ <close> = torch.no_grad()
  local accuracy, n = 0, 0
  for X, y in self.val_dataloader do
    local batch = self:prepare_batch { X, y }
    accuracy, n = accuracy + self.model:accuracy(self.model(batch[1]), batch[2]):cpu():item(), n + 1
  end
  return 1 - accuracy / n
end

--- Proposes configurations: a derived class defines sample_configuration(), and update(config,
-- error) after a trial.
M.HPOSearcher = tools.HyperParameters:extend 'd2l.HPOSearcher'
function M.HPOSearcher:sample_configuration(...) fail('%s has no method sample_configuration()', torch.type(self)) end
function M.HPOSearcher:update() end

--- RandomSearcher(config_space, initial_config): starts with initial_config, if any; then random
--- samples.
M.RandomSearcher = M.HPOSearcher:extend 'd2l.RandomSearcher'
function M.RandomSearcher:init(config_space, initial_config) self.config_space, self.initial_config = config_space, initial_config end

function M.RandomSearcher:sample_configuration()
  local first = self.initial_config
  self.initial_config = nil
  return first or sample(self.config_space)
end

--- Selects the next trial and its duration: suggest(), update(config, error).
M.HPOScheduler = tools.HyperParameters:extend 'd2l.HPOScheduler'
function M.HPOScheduler:suggest(...) fail('%s has no method suggest()', torch.type(self)) end
function M.HPOScheduler:update(...) fail('%s has no method update(config, error)', torch.type(self)) end

--- BasicScheduler(searcher): runs one configuration after the other.
M.BasicScheduler = M.HPOScheduler:extend 'd2l.BasicScheduler'
function M.BasicScheduler:init(searcher) self.searcher = searcher end
function M.BasicScheduler:suggest() return self.searcher:sample_configuration() end
function M.BasicScheduler:update(config, error) self.searcher:update(config, error) end

--- SuccessiveHalvingScheduler(searcher, eta, r_min, r_max, prefact = 1): starts many configurations
--- with r_min epochs; of each rung, the best 1/eta continue with eta times as many, up to r_max (K.
--- Jamieson, A. Talwalkar 2016). A configuration has max_epochs.
M.SuccessiveHalvingScheduler = M.HPOScheduler:extend 'd2l.SuccessiveHalvingScheduler'

function M.SuccessiveHalvingScheduler:init(searcher, eta, r_min, r_max, prefact)
  self.searcher, self.eta, self.prefact = searcher, eta, prefact or 1
  self.rungs, self.size_of, self.queue, self.observed = {}, {}, {}, {}
  local r = r_min
  repeat
    self.rungs[#self.rungs + 1] = r
    r = r * eta
  until r > r_max
  local top = #self.rungs
  for i, epochs in ipairs(self.rungs) do
    self.size_of[epochs] = math.floor(self.prefact * eta ^ (top - i))
    self.observed[epochs] = {}
  end
end

local function copy(config)
  local result = {}
  for name, value in pairs(config) do result[name] = value end
  return result
end

function M.SuccessiveHalvingScheduler:suggest()
  if #self.queue == 0 then
    local first = self.rungs[1]
    for _ = 1, self.size_of[first] do
      local config = copy(self.searcher:sample_configuration())
      config.max_epochs = first
      table.insert(self.queue, config)
    end
    for _, epochs in ipairs(self.rungs) do self.observed[epochs] = {} end
  end
  return table.remove(self.queue, 1)
end

function M.SuccessiveHalvingScheduler:update(config, error)
  local epochs, rung = config.max_epochs, nil
  self.searcher:update(config, error)
  for i, r in ipairs(self.rungs) do
    if r == epochs then rung = i end
  end
  if not rung then fail('update(): %s epochs are not a rung of this scheduler', tostring(epochs)) end
  local seen, above = self.observed[epochs], self.rungs[rung + 1]
  seen[#seen + 1] = { config = config, error = error }
  if not above or #seen < self.size_of[epochs] then return end
  table.sort(seen, function(a, b) return a.error < b.error end)
  for i = 1, math.min(self.size_of[above], #seen) do
    local better = copy(seen[i].config)
    better.max_epochs = above
    table.insert(self.queue, i, better)
  end
end

--- HPOTuner(scheduler, objective): run(number_of_trials) calls objective(config), which returns the
--- error, for each trial. incumbent, incumbent_error: the best; incumbent_trajectory and
--- cumulative_runtime: after each trial.
M.HPOTuner = tools.HyperParameters:extend 'd2l.HPOTuner'

function M.HPOTuner:init(scheduler, objective)
  self.scheduler, self.objective = scheduler, objective
  self.incumbent_error, self.incumbent_trajectory, self.cumulative_runtime, self.current_runtime = math.huge, {}, {}, 0
end

function M.HPOTuner:run(number_of_trials)
  for _ = 1, number_of_trials do
    local timer = tools.Timer()
    local config = self.scheduler:suggest()
    local err = self.objective(config)
    self.scheduler:update(config, err)
    self:bookkeeping(config, err, timer:stop())
  end
end

function M.HPOTuner:bookkeeping(config, err, runtime)
  if err < self.incumbent_error then self.incumbent, self.incumbent_error = config, err end
  self.incumbent_trajectory[#self.incumbent_trajectory + 1] = self.incumbent_error
  self.current_runtime = self.current_runtime + runtime
  self.cumulative_runtime[#self.cumulative_runtime + 1] = self.current_runtime
end

--- The best error over the time, as a figure.
function M.HPOTuner:figure()
  return board.plot(self.cumulative_runtime, self.incumbent_trajectory, { xlabel = 'seconds', ylabel = 'error' })
end

return M
