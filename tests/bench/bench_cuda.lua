-- ltensor's side of make bench-cuda: prints name TAB unit TAB value for each measurement on one GPU, the same
-- rows as bench_cuda.py. --dry-run runs each once with tiny sizes and prints the names alone.
--
-- Simulated GPUs are refused: their times say nothing. The clock is read after waiting for the device, at both
-- ends, except where the row is about what an op costs the host.

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local cuda = torch.cuda

local script = experiment.new {
  name = 'bench_cuda',
  summary = 'Measures a GPU: launches, copies, kernels, products, allocations.',
  options = {
    {'device', 'cuda', 'D', 'cuda, cuda:1 ...'},
    {'samples', 7, 'N', 'of which the median is printed', minimum = 1},
    {'seconds', 0.05, 'X', 'that a sample lasts, about', minimum = 0},
    {'dry-run', 'no', 'yes|no', 'run each measurement once with tiny sizes, print only names'},
  },
}

local options = script:parse(arg)
local dry = options['dry-run'] == 'yes'
local device = script:device(options.device)
if device.type ~= 'cuda' then script:fail 'a GPU is wanted' end
if not dry and not experiment.has_speed(device) then script:fail(experiment.NO_SPEED) end
cuda.set_device(device)
torch.manual_seed(0)

local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end

local function row(name, unit, value)
  print(dry and name or ('%s\t%s\t%.6g'):format(name, unit, value))
end

-- Seconds of one call of f, of which n are queued between two waits. With host_only the second wait is not timed.
local function sample(f, n, host_only)
  cuda.synchronize()
  local start = torch.time()
  for _ = 1, n do f() end
  local queued = torch.time()
  cuda.synchronize()
  return ((host_only and queued or torch.time()) - start) / n
end

local function measure(f)
  if dry then return sample(f, 1) end
  f()
  local n = math.max(1, math.floor(options.seconds / sample(f, 1)))
  n = math.max(1, math.floor(options.seconds / sample(f, math.min(n, 100))))
  local times = {}
  for i = 1, options.samples do times[i] = sample(f, n) end
  return median(times)
end

-- Few enough launches that the device's queue never fills up and makes the host wait.
local QUEUED = 400

local function host_cost(f)
  if dry then return sample(f, 1, true) end
  sample(f, QUEUED, true)
  local times = {}
  for i = 1, options.samples * 3 do times[i] = sample(f, QUEUED, true) end
  return median(times)
end

local function rand(...)
  local sizes = {...}
  sizes[#sizes + 1] = {device = device}
  return torch.rand(table.unpack(sizes))
end

-- ---- launching: what an op costs the host ----
do
  local a, b, m = rand(2, 3), rand(2, 3), rand(5, 5)
  for _, case in ipairs {
    {'a + b, 2x3', function() return a + b end}, {'a:add_(b), 2x3', function() return a:add_(b) end},
    {'relu, 2x3', function() return a:relu() end}, {'sum, 2x3', function() return a:sum() end},
    {'mm, 5x5', function() return m:mm(m) end},
  } do
    row('launch: ' .. case[1], 'us', host_cost(case[2]) * 1e6)
  end
  row('launch and wait: a + b, 2x3', 'us', measure(function()
    local _ = a + b
    cuda.synchronize()
  end) * 1e6)
end

-- ---- copies between host and device ----
do
  local n = dry and 256 or 64 * 1024 * 1024 -- float32: 256 MiB
  local on_device, pageable = rand(n), torch.rand(n)
  local pinned = pageable:pin_memory()
  local rate = function(f) return n * 4 / measure(f) / 1e9 end
  row('host to device, pageable, 256 MiB', 'GB/s', rate(function() on_device:copy_(pageable) end))
  row('host to device, pinned, 256 MiB', 'GB/s', rate(function() on_device:copy_(pinned, {non_blocking = true}) end))
  row('device to host, pageable, 256 MiB', 'GB/s', rate(function() pageable:copy_(on_device) end))
  row('device to host, pinned, 256 MiB', 'GB/s', rate(function() pinned:copy_(on_device, {non_blocking = true}) end))
end

-- ---- memory: bytes read and written a second ----
do
  local n = dry and 256 or 256 * 1024 * 1024 -- float32: 1 GiB
  local a, b, out = rand(n), rand(n), torch.empty(n, {device = device})
  local function rate(tensors, f) return tensors * n * 4 / measure(f) / 1e9 end
  row('copy, 1 GiB', 'GB/s', rate(2, function() out:copy_(a) end))
  row('add, 1 GiB', 'GB/s', rate(3, function() torch.add(a, b, {out = out}) end))
  row('mul by a number, 1 GiB', 'GB/s', rate(2, function() torch.mul(a, 2.0, {out = out}) end))
  row('exp, 1 GiB', 'GB/s', rate(2, function() torch.exp(a, {out = out}) end))
  row('sum, 1 GiB', 'GB/s', rate(1, function() return a:sum() end))
  row('fill, 1 GiB', 'GB/s', rate(1, function() out:fill_(1.0) end))
  local side = dry and 16 or 16384
  local square, turned = a:view(side, -1), torch.empty(n // side, side, {device = device})
  row('copy of a transpose, 1 GiB', 'GB/s', rate(2, function() turned:copy_(square.T) end))
  row('std, 1 GiB', 'GB/s', rate(1, function() return a:std() end))
  row('var of rows, 1 GiB', 'GB/s', rate(1, function() return square:var(2) end))
  row('logsumexp of rows, 1 GiB', 'GB/s', rate(1, function() return square:logsumexp(2) end))
  row('softmax of rows, 1 GiB', 'GB/s', rate(2, function() return square:softmax(2) end))
  row('log_softmax of rows, 1 GiB', 'GB/s', rate(2, function() return square:log_softmax(2) end))
end

-- ---- products ----
for _, case in ipairs {
  {'float32', 4096}, {'float32, TF32', 8192}, {'float16', 8192}, {'bfloat16', 8192},
} do
  local name, n = table.unpack(case)
  local label = ('mm %s, %dx%d'):format(name, n, n)
  if dry then n = 8 end
  local a, b = rand(n, n):to(torch[name:match '%w+']), rand(n, n):to(torch[name:match '%w+'])
  local out = torch.empty_like(a)
  torch.backends.cuda.matmul.allow_tf32 = name == 'float32, TF32'
  row(label, 'TFLOP/s', 2 * n ^ 3 / measure(function() torch.mm(a, b, {out = out}) end) / 1e12)
  torch.backends.cuda.matmul.allow_tf32 = false
end

-- ---- the allocator ----
do
  local function allocation(size)
    return host_cost(function() return torch.empty(size, {device = device, dtype = torch.uint8}) end)
  end
  row('allocate 512 B, cached', 'ns', allocation(512) * 1e9)
  row('allocate 1 MiB, cached', 'ns', allocation(dry and 2048 or 1 << 20) * 1e9)
  local big = dry and 4096 or 1 << 28
  row('allocate 256 MiB, nothing cached', 'us', measure(function()
    do local _ = torch.empty(big, {device = device, dtype = torch.uint8}) end
    collectgarbage()
    cuda.empty_cache()
  end) * 1e6)
end

-- ---- the exercises' loops ----
do
  local n, steps = dry and 8 or 100, dry and 3 or 1000
  local start = rand(n, n)
  local function step(a)
    a = a:mm(a)
    a:div_(a:norm())
    return a, a:mm(a.T):trace()
  end
  row('1000 products, each logged on the host', 'ms', measure(function()
    local a, log, number = start, {}
    for i = 1, steps do
      a, number = step(a)
      log[i] = number:item()
    end
  end) * 1e3)
  row('1000 products, logged on the device', 'ms', measure(function()
    local a, log = start, torch.empty(steps, {device = device})
    for i = 1, steps do a, log[i] = step(a) end
    return log:cpu()
  end) * 1e3)
end
