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
          for _, k in ipairs { 1, 5, 31, 32, 33, n } do
            for _, lines in ipairs(k <= n and { x, x:t():contiguous():t() } or {}) do
              local values, indices = lines:topk(k, 2, largest)
              for line = 1, count do
                local places = order_of(x[line]:double():tolist(), largest)
                local wanted = torch.tensor({ table.unpack(places, 1, k) })
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
