-- What the steps of a program of programs.lua need: memory.lua NAME [compiled]. A line of bytes: the most that tensors held at once, what they hold
-- between two steps, and the most that the process had of the system above what it had before the program was made.

local torch = require 'torch'
local resident = dofile((arg[0]:match '^(.*/)' or './') .. 'resident.lua')
local name, compiled = arg[1], arg[2] == 'compiled'

local STEPS = 8

local make
for _, p in ipairs(dofile((arg[0]:match '^(.*/)' or './') .. 'programs.lua')) do
  if p.name == name then make = p.make end
end

collectgarbage()
local before = resident.now()
torch.manual_seed(0)
local step = make()
if compiled then step = torch.compile(step) end
for _ = 1, STEPS do step() end
local most = torch._C.memory_peak()
collectgarbage()
print(('%d\t%d\t%d'):format(most, torch._C.memory_live(), resident.most() - before))
