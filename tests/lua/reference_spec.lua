-- Every op against PyTorch's results (tests/reference): values, dtypes, shapes, gradients, errors.
-- The same cases run on any device, see support/reference.lua.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

for _, group in ipairs {'pointwise', 'reduce', 'matmul', 'shape', 'index', 'nn', 'elementwise_more', 'order',
  'arrange', 'products', 'positions'} do
  describe('PyTorch\'s results: ' .. group, function()
    for number, case in ipairs(reference.load(group)) do
      it(('%s #%d %s'):format(group, number, case.op), function()
        reference.run(case, number)
      end)
    end
  end)
end

-- LAPACK works on the CPU; a GPU says that it does not.
if reference.device == 'cpu' then
  describe('PyTorch\'s results: linalg', function()
    for number, case in ipairs(reference.load 'linalg') do
      it(('linalg #%d %s'):format(number, case.op), function() reference.run(case, number) end)
    end
  end)
end
