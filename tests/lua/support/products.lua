-- Products of small whole numbers, which floats add up without rounding, against those of integers: sizes about the tiles' and their
-- edges, operands as they lie, turned, and with nan between their rows. Prints the first that differs.

local torch = require 'torch'

-- A matrix of whole numbers and the same of dtype, that lies as `how` says.
local function operand(rows, columns, dtype, how)
  local whole = torch.randint(-4, 5, { rows, columns })
  local t = whole:to(dtype)
  if how == 'turned' then
    t = t:t():contiguous():t()
  elseif how == 'apart' then
    local wide = torch.full({ rows, columns + 3 }, 0 / 0, { dtype = dtype })
    wide:narrow(2, 2, columns):copy_(t)
    t = wide:narrow(2, 2, columns)
  end
  return whole, t
end

local function check(m, n, k, dtype, how_a, how_b)
  local whole_a, a = operand(m, k, dtype, how_a)
  local whole_b, b = operand(k, n, dtype, how_b)
  local expected = whole_a:mm(whole_b)
  local start = torch.randint(-4, 5, { m, n })
  local same = torch.equal(a:mm(b), expected:to(dtype))
    and torch.equal(torch.addmm(start:to(dtype), a, b, { beta = 3, alpha = -2 }), (start * 3 - expected * 2):to(dtype))
  if not same then error(('%dx%d by %dx%d, %s and %s, differs'):format(m, k, k, n, how_a, how_b), 0) end
end

return function(dtype)
  local lies = { 'dense', 'turned', 'apart' }
  for _, how_a in ipairs(lies) do
    for _, how_b in ipairs(lies) do
      for m = 1, 29 do check(m, 33, 7, dtype, how_a, how_b) end
      for n = 1, 70, 3 do check(25, n, 9, dtype, how_a, how_b) end
      check(13, 40, 0, dtype, how_a, how_b)
      check(61, 47, 1037, dtype, how_a, how_b)  -- sums in parts
      check(40, 530, 65, dtype, how_a, how_b)   -- rows side by side
      check(530, 40, 65, dtype, how_a, how_b)
      check(37, 150, 1024, dtype, how_a, how_b) -- rows 4 KB apart
      check(311, 520, 130, dtype, how_a, how_b) -- several pieces
      check(140, 64, 300, dtype, how_a, how_b) -- whole lines of B, read where they lie
    end
  end
end
