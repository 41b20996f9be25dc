-- benchmark.lua - torch.utils.benchmark.Timer{stmt = f, label = '', num_threads = n}: times a
-- function, and synchronizes every GPU before each reading of the clock. timeit(n) times n calls
-- individually;
-- blocked_autorange() times blocks of calls, each long enough for the clock, until min_run_time
-- seconds have passed.
--
-- The result, a Measurement, has median, mean, min, max, iqr (seconds of one call), times, number
-- (of measurements), number_per_run (calls in each).

--[=[ arguments
times: Seconds of each measurement.
label: Name in the output.
number_per_run: Number of calls of each measurement.
threads: Number of threads.
stmt: Function to measure.
fn: Function to measure, instead of `stmt`.
setup: Function that is called once before.
warmup: Number of calls before the measurement.
description: Second name in the output.
num_threads: Number of threads during the measurement.
min_run_time: Seconds that the measurements take at least.
number: Number of calls.
Timer(): Measures the time of a function.
Measurement(): The result of a measurement: median, mean, min, max, iqr and times in seconds.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local scope = require 'torch.autograd.scope'

local Timer = class.Object:extend('Timer')

-- fn is stmt by its older name.
local read_timer = declare.reader [[
  Timer(any? stmt, function? setup, *, any? fn, integer warmup=1, string label='', string description='', integer? num_threads)]]
function Timer:init(...)
  local options = read_timer(...)
  self.fn = options.stmt or options.fn
  if not kinds.fits(self.fn, 'function?') or self.fn == nil then fail 'Timer(): stmt must be a function' end
  self.warmup, self.label, self.description = options.warmup, options.label, options.description
  self.setup, self.num_threads = options.setup, options.num_threads
end

local function wait_for_devices()
  if not torch.cuda.is_available() then return end
  for i = 0, torch.cuda.device_count() - 1 do torch.cuda.synchronize(i) end
end

local Measurement = class.Object:extend('Measurement')

-- The q-quantile of a sorted list, interpolated.
local function quantile(sorted, q)
  local at = 1 + (#sorted - 1) * q
  local low = math.floor(at)
  local high = math.min(low + 1, #sorted)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
end

function Measurement:init(times, label, number_per_run, threads)
  kinds.check('Measurement', 'times', times, 'times')
  if #times == 0 then fail 'Measurement(): times is an empty list' end
  table.sort(times)
  local sum = 0
  for _, time in ipairs(times) do sum = sum + time end
  self.times, self.number, self.label = times, #times, label
  self.number_per_run, self.num_threads = number_per_run or 1, threads or torch.get_num_threads()
  self.median, self.mean = quantile(times, 0.5), sum / #times
  self.min, self.max = times[1], times[#times]
  self.iqr = quantile(times, 0.75) - quantile(times, 0.25)
end

local UNITS = { { 1, 's' }, { 1e-3, 'ms' }, { 1e-6, 'us' }, { 0, 'ns' } }

local function unit_of(seconds)
  for _, unit in ipairs(UNITS) do
    if seconds >= unit[1] then return math.max(unit[1], 1e-9), unit[2] end
  end
end

local function counted(n, what) return ('%d %s%s'):format(n, what, n == 1 and '' or 's') end

function Measurement:__tostring()
  local scale, unit = unit_of(self.median)
  local lines = {}
  if self.label ~= '' then lines[1] = self.label end
  lines[#lines + 1] = ('  Median: %.2f %s'):format(self.median / scale, unit)
  lines[#lines + 1] = ('  IQR:    %.2f %s (%.2f to %.2f)'):format(self.iqr / scale, unit,
    quantile(self.times, 0.25) / scale, quantile(self.times, 0.75) / scale)
  lines[#lines + 1] = ('  %s, %s per measurement, %s'):format(counted(self.number, 'measurement'),
    counted(self.number_per_run, 'run'), counted(self.num_threads, 'thread'))
  return table.concat(lines, '\n')
end

-- Runs body with the requested number of threads; by default the current one.
local function with_threads(self, body)
  local previous = torch.get_num_threads()
  return scope.open('num_threads', function()
    if self.num_threads then torch.set_num_threads(self.num_threads) end
  end, function() torch.set_num_threads(previous) end, function()
    if self.setup then self.setup() end
    for _ = 1, self.warmup do self.fn() end
    return body()
  end)
end

-- Seconds of n calls.
local function seconds_of(self, n)
  wait_for_devices()
  local start = torch.time()
  for _ = 1, n do self.fn() end
  wait_for_devices()
  return torch.time() - start
end

function Timer:result(times, number_per_run)
  local label = self.description ~= '' and ('%s: %s'):format(self.label, self.description) or self.label
  return Measurement(times, label, number_per_run, self.num_threads or nil)
end

--- Times `number` calls (default 100) individually, after a warm-up.
function Timer:timeit(number)
  number = number or 100
  if math.type(number) ~= 'integer' or number < 1 then fail 'timeit(): number must be a positive integer' end
  return with_threads(self, function()
    local times = {}
    for i = 1, number do times[i] = seconds_of(self, 1) end
    return self:result(times, 1)
  end)
end

--- Times blocks of calls for at least {min_run_time = 0.2} seconds; a block lasts at least a
--- hundredth of it.
function Timer:blocked_autorange(min_run_time)
  return with_threads(self, function()
    local number, least = 1, min_run_time / 100
    while seconds_of(self, number) < least and number < 1 << 40 do number = number * 2 end
    local times, total = {}, 0
    while total < min_run_time or #times < 3 do
      local seconds = seconds_of(self, number)
      total = total + seconds
      times[#times + 1] = seconds / number
    end
    return self:result(times, number)
  end)
end
declare.methods(Timer, 'blocked_autorange(self, number min_run_time=0.2)')

return { Timer = Timer, Measurement = Measurement }
