-- Every op against PyTorch's results (tests/reference): values, dtypes, shapes, gradients, errors.
-- The same cases run on any device, see support/reference.lua.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

-- Groups with a spec of their own; LAPACK's is below.
local apart = { printing = true, random = true, optim = true, scheduler = true, linalg = true }

local listing = assert(io.popen('ls "' .. here .. '../reference"'))
for file in listing:lines() do
  local group = file:match '^(.*)%.lua$'
  if group and not apart[group] then
    describe('PyTorch\'s results: ' .. group, function()
      for number, case in ipairs(reference.load(group)) do
        it(('%s #%d %s'):format(group, number, case.op), function() reference.run(case, number) end)
      end
    end)
  end
end
listing:close()

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
