-- benchmark.lua - torch.utils.benchmark.Timer{fn = f}:timeit(n): times f n times, waiting for every GPU
-- before each reading of the clock. The result has median, mean, min, max, iqr (seconds), times, number.

local torch = require 'torch'
local class = require 'torch.class'
local options_of = require 'torch.options'

local Timer = class.Object:extend('Timer')

function Timer:init(options)
  options = options_of('Timer', options, { fn = false, warmup = 1, label = '' })
  if type(options.fn) ~= 'function' then error('Timer(): fn must be a function', 3) end
  self.fn, self.warmup, self.label = options.fn, options.warmup, options.label
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

function Measurement:init(times, label)
  table.sort(times)
  local sum = 0
  for _, time in ipairs(times) do sum = sum + time end
  self.times, self.number, self.label = times, #times, label
  self.median, self.mean = quantile(times, 0.5), sum / #times
  self.min, self.max = times[1], times[#times]
  self.iqr = quantile(times, 0.75) - quantile(times, 0.25)
end

function Measurement:__tostring()
  return ('%s%.3f us median of %d runs (IQR %.3f us)'):format(self.label ~= '' and self.label .. ': ' or '',
    self.median * 1e6, self.number, self.iqr * 1e6)
end

-- Times `number` runs (default 100), each on its own, after a warm-up.
function Timer:timeit(number)
  number = number or 100
  if math.type(number) ~= 'integer' or number < 1 then error('timeit(): number must be a positive integer', 2) end
  for _ = 1, self.warmup do self.fn() end
  local times = {}
  for i = 1, number do
    wait_for_devices()
    local start = torch.time()
    self.fn()
    wait_for_devices()
    times[i] = torch.time() - start
  end
  return Measurement(times, self.label)
end

return { Timer = Timer, Measurement = Measurement }
