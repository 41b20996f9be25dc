-- ltensor's side of make bench: prints name TAB unit TAB value, the same rows as bench.py.
-- Every op makes a fresh result, which the collector has to take back within the loop.

local torch = require 'torch'

local clock = torch._C.clock

local UNITS = {ns = 1e9, us = 1e6, ms = 1e3}
local SAMPLES, SECONDS = 5, 0.1

-- Prints the median over samples of the time of one call; a sample lasts about SECONDS.
local function measure(name, unit, run)
  local n = 1
  run(1) -- warm: libraries loaded, threads started, blocks cached
  while true do
    local start = clock()
    run(n)
    local took = clock() - start
    if took > SECONDS / 4 then
      n = math.max(1, math.floor(n * SECONDS / took))
      break
    end
    n = n * 2
  end
  local samples = {}
  for i = 1, SAMPLES do
    local start = clock()
    run(n)
    samples[i] = (clock() - start) / n
  end
  table.sort(samples)
  print(('%s\t%s\t%.6g'):format(name, unit, samples[(SAMPLES + 1) // 2] * UNITS[unit]))
end

torch.manual_seed(0)

do
  local a, b = torch.rand(2, 3), torch.rand(2, 3)
  measure('a + b, 2x3', 'ns', function(n)
    for _ = 1, n do local _ = a + b end
  end)
end

for _, size in ipairs {5, 1000} do
  local a, b = torch.rand(size, size), torch.rand(size, size)
  measure(('mm, %dx%d'):format(size, size), size < 100 and 'ns' or 'ms', function(n)
    for _ = 1, n do local _ = a:mm(b) end
  end)
end

do
  local a, b = torch.rand(10000000), torch.rand(10000000)
  measure('+, 10 million', 'ms', function(n)
    for _ = 1, n do local _ = a + b end
  end)
  for _, op in ipairs {'exp', 'tanh', 'sum'} do
    measure(op .. ', 10 million', 'ms', function(n)
      for _ = 1, n do local _ = a[op](a) end
    end)
  end
end

do
  local x = torch.rand(3, {requires_grad = true})
  measure('(x * x):sum():backward()', 'us', function(n)
    for _ = 1, n do (x * x):sum():backward() end
  end)
end
