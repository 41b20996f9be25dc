-- sample.lua - a random part of the cases of a long sweep. Returns a function of a list of cases: all of them in their order, or, where
-- LTENSOR_TEST_SAMPLE=n is set (tests/run.sh ci), n percent of them and at least one. LTENSOR_TEST_SAMPLE_SEED decides which.

local state = math.tointeger(tonumber(os.getenv 'LTENSOR_TEST_SAMPLE_SEED')) or 1

-- A linear congruential generator (Knuth, MMIX): sampling leaves math.random and torch's generators to the tests.
local function random()
  state = state * 6364136223846793005 + 1442695040888963407
  return (state >> 33) / 2.0 ^ 31
end

return function(cases)
  local percent = tonumber(os.getenv 'LTENSOR_TEST_SAMPLE') or 100
  if percent >= 100 then return cases end
  local wanted, chosen = math.max(1, math.ceil(#cases * percent / 100)), {}
  for i, case in ipairs(cases) do
    if random() * (#cases - i + 1) < wanted - #chosen then chosen[#chosen + 1] = case end
  end
  return chosen
end
