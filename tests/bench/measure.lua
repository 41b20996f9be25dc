-- measure(name, f): the median time of a call of f, after warm ones, as a line name TAB us TAB value. SECONDS is how long
-- a sample lasts, ROWS a Lua pattern: only rows whose names have it are measured.

local clock = require('torch')._C.clock

local SAMPLES, SECONDS = 3, tonumber(os.getenv 'SECONDS') or 0.03
local WARM, WARM_SECONDS = 24, 0.25 -- calls before the first sample, if they take no longer
local only = os.getenv 'ROWS'

return function(name, f)
  if only and not name:find(only) then return end
  local function run(n)
    local start = clock()
    for _ = 1, n do f() end
    return clock() - start
  end
  local begin, calls = clock(), 0
  repeat -- libraries loaded, threads started, and so many results made that the collector has been round
    f()
    calls = calls + 1
  until calls == WARM or clock() - begin > WARM_SECONDS
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
