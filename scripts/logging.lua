-- A log of one number per step: read on the host at each step, or kept on the device and copied
-- once.
--
--   ltensor scripts/logging.lua --size 100 --steps 1000
--
-- item() blocks until the device has finished all queued work, so the queue is empty after each
-- step.

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'

local script = experiment.new {
  name = 'logging',
  summary = 'Times products of matrices whose trace is logged on the host, or on the device.',
  options = {
    {'device', false, 'D', 'cpu, cuda, cuda:1 ... (the first GPU, else the CPU)'},
    {'size', 100, 'N', 'rows and columns of the matrices', minimum = 1},
    {'steps', 1000, 'N', 'products, and numbers in the log', minimum = 1},
    {'repeats', 5, 'N', 'runs of each way', minimum = 1},
    {'seed', 0, 'N', 'for the matrix'},
  },
}

-- One step: the next matrix, kept at norm 1, and the number to log.
local function step(a)
  a = a:mm(a)
  a:div_(a:norm())
  return a, a:mm(a.T):trace()
end

local function log_on_host(start, steps)
  local a, log, number = start, {}
  for i = 1, steps do
    a, number = step(a)
    log[i] = number:item()
  end
  return torch.tensor(log)
end

local function log_on_device(start, steps)
  local a, log = start, torch.empty(steps, {device = start.device})
  for i = 1, steps do a, log[i] = step(a) end
  return log:cpu()
end

local function measure(way, start, options)
  torch.cuda.reset_copies()
  local log = way(start, options.steps)
  local copies = torch.cuda.copies()
  local time = experiment.median(function() way(start, options.steps) end, options.repeats)
  return {log = log, count = copies.count, bytes = copies.bytes, time = time}
end

local function explain(device, host, kept, steps)
  if device.type == 'cpu' then
    print 'On the CPU there is nothing to wait for and nothing to copy. `--device cuda` names a GPU.'
    return
  end
  print(('The log on the host took %d copies, one for each step; the log on the device took %d.'):format(
    host.count, kept.count))
  if not experiment.has_speed(device) then
    print(experiment.NO_SPEED)
    return
  end
  print(('Reading each number cost %s a step: the host waits for the GPU, and the GPU then for the host.'):format(
    experiment.seconds(math.max(0, host.time - kept.time) / steps)))
end

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  torch.manual_seed(options.seed)
  local start = torch.rand(options.size, options.size, {device = device})
  print(experiment.describe(device))

  local host, kept = measure(log_on_host, start, options), measure(log_on_device, start, options)
  local rows = {}
  for i, way in ipairs{{'on the host', host}, {'on the device', kept}} do
    local result = way[2]
    rows[i] = {way[1], options.steps, result.count, result.bytes, experiment.time_on(device, result.time)}
  end
  experiment.print_table({'log', 'steps', 'copies', 'bytes', 'median'}, rows)
  if not torch.allclose(host.log, kept.log, {rtol = 1e-4}) then script:fail 'the two logs differ' end
  explain(device, host, kept, options.steps)
end

main(arg)
