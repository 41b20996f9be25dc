-- nn_modules_spec.lua - every layer of torch.nn against PyTorch: initial values for a seed, printed form, names of the
-- state, results, gradients of parameters and inputs, buffers.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local modules = dofile(here .. 'support/modules.lua')

describe('PyTorch\'s layers', function()
  for number, case in ipairs(modules.load 'modules') do
    it(modules.name(case, number), function() modules.run(case) end)
  end
end)
