-- Runs elementwise functions over given bit patterns: ltensor ours.lua inputs.safetensors results.safetensors name...
-- The file of inputs has the tensors a, b, c; that of results a tensor for every name. The functions stand in functions.lua.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local functions = dofile(here .. 'functions.lua')

local inputs = torch.load(arg[1])
local results = {}
for i = 3, #arg do
  local f = functions[arg[i]]
  results[arg[i]] = f.call(inputs.a, inputs.b, inputs.c)
end
torch.save(results, arg[2])
