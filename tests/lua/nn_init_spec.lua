-- nn_init_spec.lua - torch.nn.init: PyTorch's numbers for a seed.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

describe('PyTorch\'s initial values', function()
  for number, case in ipairs(reference.load 'init') do
    it(('#%d %s'):format(number, case.name), function()
      torch.manual_seed(case.seed)
      local fill, t = torch.nn.init[case.name], torch.empty(case.shape)
      local result = case.named.val and fill(t, case.named.val) or fill(t, case.named)
      assert.is_true(rawequal(result, t))
      reference.compare(t, case.out, 'result', false, 4)
    end)
  end
end)
