-- Every op against PyTorch's results (tests/reference): values, dtypes, shapes, gradients, errors.
-- The same cases run on any device, see support/reference.lua.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local obligations = dofile(here .. 'support/obligations.lua')

-- Data of other forms have a spec of their own.
local apart = { printing = true, random = true }

local function is_case(row) return type(row) == 'table' and row.op ~= nil end

local SHOWN = 5 -- failures of an op

-- Runs cases of one op. All are run, whichever fail.
local function run_cases(cases, numbers)
  local failures = {}
  for _, number in ipairs(numbers) do
    local ok, message = pcall(reference.run, cases[number], number)
    if not ok then failures[#failures + 1] = tostring(message) end
  end
  if #failures == 0 then return end
  local text = table.concat(failures, '\n\n', 1, math.min(#failures, SHOWN))
  error(('%d of %d cases fail\n%s'):format(#failures, #numbers, text), 0)
end

-- The cases of a group, and then that they left nothing behind. Those of an op are one test: a test costs more than
-- running its case does. They are there as long as they are run: collecting garbage costs more than the cases do when it
-- has those of all groups to go through.
local function run_all(group)
  local cases, ops, numbers, before = reference.load(group), {}, {}, nil
  if not is_case(cases[1]) then return end
  for number, case in ipairs(cases) do
    if not numbers[case.op] then
      ops[#ops + 1], numbers[case.op] = case.op, {}
    end
    table.insert(numbers[case.op], number)
  end
  setup(function() before = obligations.bytes_held() end)
  for _, op in ipairs(ops) do
    it(('%s: %s, %d cases'):format(group, op, #numbers[op]), function() run_cases(cases, numbers[op]) end)
  end
  it(group .. ' holds no memory when it is over', function()
    local held = obligations.bytes_held(before)
    assert.is_true(held <= before, ('%d bytes are held, %d before'):format(held, before))
  end)
  teardown(function() cases = nil end)
end

local listing = assert(io.popen('ls "' .. here .. '../reference"'))
for file in listing:lines() do
  local group = file:match '^(.*)%.lua$'
  if group and not apart[group] then
    describe('PyTorch\'s results: ' .. group, function() run_all(group) end)
  end
end
listing:close()
