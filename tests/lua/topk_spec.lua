-- topk and sort of lines of few elements, which are looked through, merged or sorted by digits as their length and the places
-- wanted go: against a sort in Lua, with equal elements, both zeros and nan, in every kind of dtype, dense lines and others.

local special = { 0 / 0, 1 / 0, -1 / 0, -0.0, 0.0, 0 / 0 }

-- The places, from 1, of a list of numbers in order: nan is the largest, of equal ones the first comes first.
local function order_of(list, largest)
  local places = {}
  for i = 1, #list do places[i] = i end
  local function less(a, b) return a < b or a == a and b ~= b end
  table.sort(places, function(i, j)
    local a, b = list[i], list[j]
    if largest then a, b = b, a end
    if less(a, b) or less(b, a) then return less(a, b) end
    return i < j
  end)
  return places
end

describe('topk of short lines', function()
  local seed = os.time() % 1000000

  for _, dtype in ipairs { 'float32', 'float64', 'float16', 'int64', 'int32', 'uint8', 'bool' } do
    it('is the beginning of the sorted line, of ' .. dtype, function()
      torch.manual_seed(seed)
      for _, n in ipairs { 1, 2, 5, 10, 31, 32, 33, 100, 127, 128, 140, 250, 256, 257 } do
        local count = n > 32 and 19 or 4 -- enough of them to be sorted side by side
        local x = (torch.rand(count, n) * 30):floor():to(torch[dtype]) -- equal ones among them
        if dtype:find 'float' and n >= 10 then
          for i, number in ipairs(special) do x[{ 2, i + 3 }] = number end
        end
        for _, largest in ipairs { true, false } do
          local orders = {}
          for line = 1, count do orders[line] = order_of(x[line]:double():tolist(), largest) end
          for _, k in ipairs { 1, 5, 31, 32, 33, n } do
            for _, lines in ipairs(k <= n and { x, x:t():contiguous():t() } or {}) do
              local values, indices = lines:topk(k, 2, largest)
              for line = 1, count do
                local wanted = torch.tensor({ table.unpack(orders[line], 1, k) })
                local words = ('seed %d, %d of %d, largest %s, line %d'):format(seed, k, n, largest, line)
                assert.is_true(torch.equal(wanted, indices[line]), words)
                local expected = x[line]:index_select(1, wanted):double()
                assert.is_true(torch.equal(expected:nan_to_num(7.5), values[line]:double():nan_to_num(7.5)), words)
              end
            end
          end
        end
      end
    end)
  end
end)

-- Candidates are collected for up to 1/128 of the elements, unless there are too many, as in lines that end with the best ones.
describe('topk of long lines', function()
  local seed = os.time() % 1000000

  for _, dtype in ipairs { 'float32', 'float64', 'int32', 'int64' } do
    it('is the beginning of the sorted line in any order of the elements, of ' .. dtype, function()
      torch.manual_seed(seed)
      local n = 20000
      local random = (torch.rand(n, { dtype = torch.float64 }) * 6000):floor()
      local few = random:clone()
      few:narrow(1, 1, n - 40):fill_(3)
      local lines = { random, random:sort(), -random:sort(), few }
      if dtype:find 'float' then
        lines[5] = random:clone()
        for i = 1, n, 50 do lines[5][i] = special[i // 50 % #special + 1] end
      end
      for i, line in ipairs(lines) do
        local x = line:to(torch[dtype])
        for _, largest in ipairs { true, false } do
          local sorted, places = x:sort(1, largest, { stable = true })
          for _, k in ipairs { 33, 100, n // 128, n // 128 + 1 } do
            local values, indices = x:topk(k, 1, largest)
            local words = ('seed %d, line %d, %d, largest %s'):format(seed, i, k, largest)
            assert.is_true(torch.equal(places:narrow(1, 1, k), indices), words)
            assert.is_true(torch.allclose(sorted:narrow(1, 1, k):double(), values:double(), { equal_nan = true, rtol = 0, atol = 0 }), words)
          end
        end
      end
    end)
  end
end)
