-- Two tasks on two GPUs in parallel, or one after the other on one.
--
--   ltensor scripts/two_gpus.lua --size 2048 --steps 20
--
-- The host only queues work: if it queues both tasks before it waits for either GPU, they run in
-- parallel.

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'

local script = experiment.new {
  name = 'two_gpus',
  summary = 'Times two series of matrix products on two GPUs at once and on one.',
  options = {
    {'device', 'cuda:0', 'D', 'the first GPU'},
    {'other', 'cuda:1', 'D', 'the second'},
    {'size', 2048, 'N', 'rows and columns of the matrices', minimum = 1},
    {'steps', 20, 'N', 'products of a task', minimum = 1},
    {'repeats', 5, 'N', 'runs of each way', minimum = 1},
    {'seed', 0, 'N', 'for the matrix'},
  },
}

local function task(start, steps)
  local m = start
  for _ = 1, steps do
    m = m:mm(m)
    m:div_(m:norm())
  end
  return m
end

local function wait(device)
  if device.type == 'cuda' then torch.cuda.synchronize(device) end
end

-- Each way runs the task twice; where there are two devices, on starts that are equal.
local function ways(a, b, steps)
  return {
    {'one after the other on one', function() return task(a, steps), task(a, steps) end},
    {'on two, waiting in between', function()
      local x = task(a, steps)
      wait(a.device)
      return x, task(b, steps)
    end},
    {'on two at once', function() return task(a, steps), task(b, steps) end},
  }
end

local function explain(device, seconds)
  if device.type == 'cpu' then
    print 'Both tasks ran on the CPU, which finishes an operation before it begins the next.'
    return
  end
  if not experiment.has_speed(device) then
    print(experiment.NO_SPEED)
    return
  end
  local share = seconds[3] / seconds[1]
  print(('Two GPUs at once took %.2f of the time that one took for both tasks (0.5 is the best there is).'):format(share))
  if share > 0.8 then
    print 'They hardly overlapped: queueing takes the host as long as the GPUs need. Try a larger --size.'
  end
end

local function main(argv)
  local options = script:parse(argv)
  local count = torch.cuda.device_count()
  if count < 2 and options.other == 'cuda:1' and options.device ~= 'cpu' then
    script:fail(('two GPUs are needed and there %s. `ltensor --sim-gpus 2` simulates them, without figures of speed'):format(
      count == 0 and 'is none' or 'is one'))
  end
  local first = script:device(options.device)
  local second = first.type == 'cpu' and first or script:device(options.other)
  torch.manual_seed(options.seed)
  local a = torch.rand(options.size, options.size)
  local b = a:to(second)
  a = a:to(first)
  print(experiment.describe(first))
  if second ~= first then print(experiment.describe(second)) end

  local rows, seconds = {}, {}
  for i, way in ipairs(ways(a, b, options.steps)) do
    local x, y = way[2]()
    if not torch.allclose(x:cpu(), y:cpu(), {rtol = 1e-4}) then script:fail(way[1] .. ': the two results differ') end
    seconds[i] = experiment.median(way[2], options.repeats)
    rows[i] = {way[1], ('%s, %s'):format(x.device, y.device), experiment.time_on(first, seconds[i])}
  end
  experiment.print_table({'two tasks', 'devices', 'median'}, rows)
  explain(first, seconds)
end

main(arg)
