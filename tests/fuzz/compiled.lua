-- compiled.lua - random programs (tests/lua/support/programs.lua) as they stand and compiled, until the minutes are over: views, writes in place, random
-- numbers, loops and decisions by values, gradients. What is left must be the same to the bit.
--
--   ltensor [--sim-gpus N] compiled.lua MINUTES SEED [device]

local torch = require 'torch'

local here = arg[0]:match '^(.*)/' or '.'
local programs = dofile(here .. '/../lua/support/programs.lua')

local minutes, seed, device = tonumber(arg[1]), math.tointeger(tonumber(arg[2])), arg[3]
-- Each chain of a simulated GPU is compiled by the host's compiler: fewer steps, of which more are seen before.
local options = { device = device, most = device and 12 or 40 }

local round, bad, stop = 0, 0, torch.time() + minutes * 60
while torch.time() < stop do
  round = round + 1
  local text = programs.difference(seed, round, options)
  if text then
    bad = bad + 1
    print(text)
    io.stdout:flush()
  end
end
print(('compiled: %d programs%s, %d with differences'):format(round, device and ' on ' .. device or '', bad))
os.exit(bad == 0)
