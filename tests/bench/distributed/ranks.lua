-- What ranks of ltensor need for all_reduce by size, and for training steps, with DistributedDataParallel and without: a line each on rank
-- 0, name TAB unit TAB value. NATIVE=1: sums are the MPI's own.

local torch = require 'torch'
local models = require 'torch.utils.models'
local dist, F = torch.distributed, torch.nn.functional

dist.init_process_group('mpi', { native_reductions = os.getenv 'NATIVE' == '1' })
local rank = dist.get_rank()

local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end

-- Seconds of one call of each function, of many together, in rounds that alternate between them.
local function seconds(calls, rounds, ...)
  local functions, samples = { ... }, {}
  for k, f in ipairs(functions) do
    for _ = 1, math.max(1, calls // 5) do f() end
    samples[k] = {}
  end
  for i = 1, rounds do
    for k, f in ipairs(functions) do
      dist.barrier()
      local start = torch.time()
      for _ = 1, calls do f() end
      samples[k][i] = (torch.time() - start) / calls
    end
  end
  for k, list in ipairs(samples) do samples[k] = median(list) end
  return table.unpack(samples)
end

local function say(name, unit, value)
  if rank == 0 then print(('%s\t%s\t%.6g'):format(name, unit, value)) end
end

for _, bytes in ipairs { 4, 1 << 10, 4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20 } do
  local x = torch.zeros(bytes // 4)
  local time = seconds(bytes <= 4096 and 2000 or math.max(4, (64 << 20) // bytes), 5, function() dist.all_reduce(x) end)
  local name = bytes < 1024 and bytes .. ' B' or bytes < 1 << 20 and (bytes >> 10) .. ' KiB' or (bytes >> 20) .. ' MiB'
  if bytes <= 4096 then say('all_reduce, ' .. name, 'us', time * 1e6) else say('all_reduce, ' .. name, 'GB/s', bytes / time / 1e9) end
end

-- The part of a step's time that is this rank's own work: without the others as fast as with them would be 1.
local function efficiency(name, build, loss_of, steps)
  local function trained(wrap)
    torch.manual_seed(1)
    local net = wrap(build())
    local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.01 })
    return function()
      optimizer:zero_grad()
      loss_of(net):backward()
      optimizer:step()
    end
  end
  local alone, together = seconds(steps, 15, trained(function(net) return net end),
    trained(function(net) return torch.nn.parallel.DistributedDataParallel(net, { gradient_as_bucket_view = true }) end))
  say(name .. ', step of one rank', 'ms', alone * 1e3)
  say(name .. ', efficiency of DDP', '1', alone / together)
end

local images, classes = torch.rand(64, 1, 28, 28), torch.randint(1, 11, { 64 })
efficiency('LeNet', models.lenet, function(net) return F.cross_entropy(net(images), classes) end, 20)
local kinds = 64
local symbols = torch.randint(1, kinds + 1, { 16, 65 })
local x, y = symbols:narrow(2, 1, 64):contiguous(), symbols:narrow(2, 2, 64):reshape(-1)
efficiency('GPT', function() return models.GPT(kinds, { width = 128, heads = 4, layers = 2, length = 64, dropout = 0.0 }) end,
  function(net) return F.cross_entropy(net(x):reshape(-1, kinds), y) end, 10)
dist.barrier()
