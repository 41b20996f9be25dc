-- Cholesky's factors of whole numbers, and solutions by them, which floats find without rounding: the diagonals are powers of two. Sizes about the
-- loops' and their edges; nan where nothing is read. Prints the first that differs.

local torch = require 'torch'

local function lower(n)
  return torch.randint(-1, 2, { n, n }):tril(-1) + torch.eye(n, { dtype = torch.int64 }) * torch.pow(2, torch.randint(0, 2, { n, 1 }))
end

-- A triangle with nan beside it that lies as `how` says.
local function beside_nan(t, upper, how)
  local n = t:size(1)
  local beside = torch.ones(n, n, { dtype = torch.bool })
  local x = t:masked_fill(upper and beside:tril(-1) or beside:triu(1), 0 / 0)
  if how == 'turned' then return x:t():contiguous():t() end
  if how == 'apart' then
    local wide = torch.full({ n, n + 3 }, 0 / 0, { dtype = t.dtype })
    wide:narrow(2, 2, n):copy_(x)
    return wide:narrow(2, 2, n)
  end
  return x
end

local function check_factor(n, l, dtype, upper)
  local product = l:mm(l:t()):to(dtype)
  local factor = torch.linalg.cholesky(beside_nan(product, upper, 'dense'), { upper = upper })
  if not torch.equal(factor, (upper and l:t() or l):to(dtype)) then error(('the factor of %d rows differs, upper: %s'):format(n, upper), 0) end
end

local function check_solution(n, columns, l, dtype, upper, how)
  local whole = upper and l:t() or l
  local x = torch.randint(-4, 5, { n, columns })
  local solution = torch.linalg.solve_triangular(beside_nan(whole:to(dtype), upper, how), whole:mm(x):to(dtype), { upper = upper })
  if not torch.equal(solution, x:to(dtype)) then
    error(('%d columns of %d rows differ, upper: %s, %s'):format(columns, n, upper, how), 0)
  end
end

return function(dtype)
  for _, n in ipairs { 1, 2, 3, 8, 11, 12, 13, 24, 31, 95, 96, 97, 109, 211 } do
    local l = lower(n)
    for _, upper in ipairs { false, true } do
      check_factor(n, l, dtype, upper)
      for _, columns in ipairs { 1, 2, 15, 16, 17, 33, 100 } do
        for _, how in ipairs { 'dense', 'turned', 'apart' } do check_solution(n, columns, l, dtype, upper, how) end
      end
    end
  end
end
