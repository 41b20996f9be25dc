-- measure(name, f): the median time of a call of f, after a warm one, as a line name TAB us TAB value. SECONDS is how long
-- a sample lasts, ROWS a Lua pattern: only rows whose names have it are measured.

local clock = require('torch')._C.clock

local SAMPLES, SECONDS = 3, tonumber(os.getenv 'SECONDS') or 0.03
local only = os.getenv 'ROWS'

return function(name, f)
  if only and not name:find(only) then return end
  local function run(n)
    local start = clock()
    for _ = 1, n do f() end
    return clock() - start
  end
  run(1) -- libraries loaded, threads started, blocks cached
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
