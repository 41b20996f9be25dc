-- measure(name, f): the time of a call of f, after warm ones, as a line name TAB us TAB value: the least of some samples, each the mean of many calls, as what
-- else goes on in a machine only adds to it. SAMPLE is how many seconds a sample lasts, ROWS a Lua pattern: only rows whose names have it are measured. Where TURN_FROM and TURN_TO name pipes, each sample waits for
-- its turn, so that PyTorch's sample of the row lies between two of ours: a machine that is slow for a second is slow for both.

local clock = require('torch')._C.clock

local SAMPLES, SECONDS = 5, tonumber(os.getenv 'SAMPLE') or 0.03
local WARM, WARM_SECONDS = 24, 0.25 -- calls before the first sample, if they take no longer
local REST = 0.01 -- seconds after which the other's threads no longer look for work
local only = os.getenv 'ROWS'

local from, to = os.getenv 'TURN_FROM', os.getenv 'TURN_TO'
if from then
  from, to = assert(io.open(from, 'r')), assert(io.open(to, 'w'))
  from:setvbuf 'no'
  to:setvbuf 'no'
end

-- What f returns, done when it is our turn. At the end of the other's rows nobody waits any longer.
local function in_turn(f)
  if from and not from:read(1) then from = nil end
  if not from then return f() end
  local begin = clock()
  repeat until clock() - begin > REST
  local result = f()
  to:write '.'
  return result
end

return function(name, f)
  if only and not name:find(only) then return end
  local function run(n)
    local start = clock()
    for _ = 1, n do f() end
    return clock() - start
  end
  -- How many calls a sample is of.
  local function calls_of_sample()
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
    return math.max(1, math.floor(n * SECONDS / took))
  end
  local n = in_turn(calls_of_sample)
  local function sample()
    f()
    return run(n) / n
  end
  local least = math.huge
  for _ = 1, SAMPLES do least = math.min(least, in_turn(sample)) end
  print(('%s\tus\t%.6g'):format(name, least * 1e6))
end
