-- The programs of programs.lua as they stand and compiled: of each a line of its name, the milliseconds until the first result of the compiled
-- one, the best of its other steps and the best of the eager ones. A program is made anew for each of the two. DEVICE: where they run (cpu).

local torch = require 'torch'
local programs = dofile((arg[0]:match '^(.*/)' or './') .. 'programs.lua')

local SECONDS = 0.3 -- that the steps of a measurement take together, at least LEAST of them
local LEAST = 5

local on_gpu = torch.get_default_device().type == 'cuda'

local function milliseconds(f)
  local start = torch.time()
  f()
  if on_gpu then torch.cuda.synchronize() end
  return (torch.time() - start) * 1e3
end

local function best(step)
  local least, all, steps = math.huge, 0, 0
  while all < SECONDS * 1e3 or steps < LEAST do
    local took = milliseconds(step)
    least, all, steps = math.min(least, took), all + took, steps + 1
  end
  return least
end

for _, p in ipairs(programs) do
  torch.manual_seed(0)
  local compiled = torch.compile(p.make())
  local first = milliseconds(compiled)
  print(('%s\t%.4f\t%.4f\t%.4f'):format(p.name, first, best(compiled), best(p.make())))
  io.stdout:flush() -- for a run that a time limit ends
end
