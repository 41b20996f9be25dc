-- Every op against PyTorch's results (tests/reference): values, dtypes, shapes, gradients, errors.
-- The same cases run on any device, see support/reference.lua.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')

-- Data of other forms, and some groups, have a spec of their own; LAPACK's is below.
local apart = { printing = true, random = true, linalg = true }

local function is_case(row) return type(row) == 'table' and row.op ~= nil end

local listing = assert(io.popen('ls "' .. here .. '../reference"'))
for file in listing:lines() do
  local group = file:match '^(.*)%.lua$'
  local cases = group and not apart[group] and reference.load(group)
  if cases and is_case(cases[1]) then
    describe('PyTorch\'s results: ' .. group, function()
      for number, case in ipairs(cases) do
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
