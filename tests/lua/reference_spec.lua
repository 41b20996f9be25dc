-- Every op against PyTorch's results (tests/reference): values, dtypes, shapes, gradients, errors.
-- The same cases run on any device, see support/reference.lua.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

for _, group in ipairs {'pointwise', 'reduce', 'matmul', 'shape', 'index', 'nn', 'elementwise_more', 'order',
  'arrange', 'products', 'positions', 'conv', 'pool'} do
  describe('PyTorch\'s results: ' .. group, function()
    for number, case in ipairs(reference.load(group)) do
      it(('%s #%d %s'):format(group, number, case.op), function()
        reference.run(case, number)
      end)
    end
  end)
end

-- LAPACK works on the CPU; a GPU says that it does not.
describe('PyTorch\'s results: linalg', function()
  if reference.device == 'cpu' then
    for number, case in ipairs(reference.load 'linalg') do
      it(('linalg #%d %s'):format(number, case.op), function() reference.run(case, number) end)
    end
    return
  end
  it('are not to be had on a GPU, which says so', function()
    local torch = require 'torch'
    local ok, message = pcall(torch.linalg.inv, torch.eye(2, { device = reference.device }))
    assert.is_false(ok)
    assert(tostring(message):find('linalg.inv: not available on cuda:%d'), message)
  end)
end)
