-- compile_reference_spec.lua - every reference case once more inside of a compiled function: PyTorch's values, gradients, forms in place and
-- with out=, whatever is recorded on the way. On simulated GPUs, where each chain is compiled by the host's compiler, so few elements are recorded in one case of
-- five hundred, and in all where GENERATED=1 asks for it (hours), or where there is no compiler (CXX=none): then steps are done one by one.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local sample = require 'support.sample'

local apart = { printing = true, random = true } -- data of other forms
local SHOWN = 5 -- failures of a group

local simulated = os.getenv 'LTENSOR_SIM_GPUS' and (os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu') ~= 'cpu'
local every = simulated and not os.getenv 'GENERATED' and os.getenv 'CXX' ~= 'none' and 500 or 1

local run, run_large = torch.compile(reference.run, { options = { min_numel = 1 } }), torch.compile(reference.run)

local all = 0 -- cases that were run

local function run_all(cases)
  local numbers, failures = {}, {}
  for number = 1, #cases do numbers[number] = number end
  numbers = sample(numbers)
  for _, number in ipairs(numbers) do
    all = all + 1
    local ok, message = pcall(all % every == 0 and run or run_large, cases[number], number)
    if not ok then failures[#failures + 1] = tostring(message) end
  end
  if #failures > 0 then
    error(('%d of %d cases fail\n%s'):format(#failures, #numbers, table.concat(failures, '\n\n', 1, math.min(#failures, SHOWN))), 0)
  end
end

local listing = assert(io.popen('ls "' .. here .. '../reference"'))
for file in listing:lines() do
  local group = file:match '^(.*)%.lua$'
  local cases = group and not apart[group] and reference.load(group)
  if cases and type(cases[1]) == 'table' and cases[1].op then
    describe('compiled: ' .. group .. ' #again', function()
      it(('gives PyTorch\'s results, %d cases'):format(#cases), function() run_all(cases) end)
    end)
  end
end
listing:close()
