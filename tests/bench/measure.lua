-- measure(name, f): the median time of a call of f, after warm ones, as a line name TAB us TAB value. SECONDS is how long
-- a sample lasts, ROWS a Lua pattern: only rows whose names have it are measured.

local clock = require('torch')._C.clock

local SAMPLES, WARM, SECONDS = 3, 8, tonumber(os.getenv 'SECONDS') or 0.03
local only = os.getenv 'ROWS'

return function(name, f)
  if only and not name:find(only) then return end
  local function run(n)
    local start = clock()
    for _ = 1, n do f() end
    return clock() - start
  end
  run(WARM) -- libraries loaded, threads started, and so many results made that what becomes free is taken again
  local n, took = 1
  while true do
    took = run(n)
    if took > SECONDS / 4 then break end
    n = n * 2
  end
  n = math.max(1, math.floor(n * SECONDS / took))
  local samples = {}
  for i = 1, SAMPLES do samples[i] = run(n) / n end
  table.sort(samples)
  print(('%s\tus\t%.6g'):format(name, samples[(SAMPLES + 1) // 2] * 1e6))
end
