-- A large and a small matrix product, on the CPU and on a GPU: the faster device depends on the
-- size.
--
--   ltensor scripts/big_and_small.lua --big 1000 --small 5
--
-- Each run is timed on its own, with the device synchronized at both ends; the figures are medians.

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'

local script = experiment.new {
  name = 'big_and_small',
  summary = 'Times products of big and of small square matrices on the CPU and on a GPU.',
  options = {
    {'device', false, 'D', 'beside the CPU: cuda, cuda:1 ... (the first GPU, when there is one)'},
    {'big', 1000, 'N', 'rows and columns of the big matrices', minimum = 1},
    {'small', 5, 'N', 'rows and columns of the small matrices', minimum = 1},
    {'big-runs', 20, 'N', 'products of big matrices', minimum = 1},
    {'small-runs', 1000, 'N', 'products of small matrices', minimum = 1},
    {'seed', 0, 'N', 'for the matrices'},
  },
}

local function product_time(size, runs, device)
  local a, b = torch.rand(size, size, {device = device}), torch.rand(size, size, {device = device})
  return experiment.median(function() return a:matmul(b) end, runs)
end

-- "35 times as fast as", of two times.
local function faster(slow, quick)
  return ('%.3g times as fast as'):format(slow / quick)
end

local function explain(device, big, small)
  if device.type == 'cpu' then
    print 'No GPU took part: the CPU is shown alone. `--device cuda` names one.'
    return
  end
  if not experiment.has_speed(device) then
    print(experiment.NO_SPEED)
    return
  end
  for _, case in ipairs{big, small} do
    local cpu, gpu = case.cpu, case.gpu
    local verdict = gpu < cpu and ('%s is %s the CPU'):format(device, faster(cpu, gpu))
      or ('the CPU is %s %s'):format(faster(gpu, cpu), device)
    print(('%dx%d: %s.'):format(case.size, case.size, verdict))
  end
  if small.gpu > small.cpu then
    print(('A product on %s takes no less than %s, however small: what it costs to launch a kernel and to\n'
      .. 'wait for its end. Many small tasks belong on the CPU, or into one big one.'):format(
      device, experiment.seconds(small.gpu)))
  end
  if big.gpu > big.cpu then
    print 'The big product is too small for this GPU to win; try a larger --big.'
  end
end

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  torch.manual_seed(options.seed)
  local cpu = torch.device 'cpu'
  local devices = device.type == 'cpu' and {cpu} or {cpu, device}
  for _, d in ipairs(devices) do print(experiment.describe(d)) end

  local rows, cases = {}, {}
  for _, name in ipairs{'big', 'small'} do
    local size, runs = options[name], options[name .. '-runs']
    local case = {size = size}
    cases[name] = case
    for _, d in ipairs(devices) do
      local time = product_time(size, runs, d)
      case[d.type == 'cpu' and 'cpu' or 'gpu'] = time
      local rate = experiment.has_speed(d) and ('%.3g'):format(2 * size ^ 3 / time / 1e9) or 'not stated'
      rows[#rows + 1] = {name, ('%dx%d'):format(size, size), d, runs, experiment.time_on(d, time), rate}
    end
  end
  experiment.print_table({'product', 'matrices', 'device', 'runs', 'median', 'GFLOP/s'}, rows)
  explain(device, cases.big, cases.small)
end

main(arg)
