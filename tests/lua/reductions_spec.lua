-- Reductions whose loops depend on how elements lie: the same numbers, whichever way they are read.

local torch = require 'torch'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

describe('a reduction down the columns', function()
  -- Rows of few columns are taken several at once; what is left of a group goes beside it.
  local DTYPES = { 'float32', 'float64', 'float16', 'int64', 'uint8', 'bool' }
  for _, name in ipairs(DTYPES) do
    it('of few of them equals that along lines: ' .. name, function()
      torch.manual_seed(1)
      for _, columns in ipairs { 4, 5, 10, 16, 31, 32, 33 } do
        for _, rows in ipairs { 1, 2, 7, 389, 2000 } do
          local x = torch.randint(0, 2, { rows, columns }, { device = device }):to(torch[name])
          local lines = x:t():contiguous()
          for _, op in ipairs { 'sum', 'amax', 'amin', 'count_nonzero' } do
            assert.is_true(x[op](x, 1):equal(lines[op](lines, 2)), ('%s of %d x %d'):format(op, rows, columns))
          end
        end
      end
    end)
  end

  it('with parameters of the columns, too', function()
    torch.manual_seed(1)
    local x = torch.rand(1003, 10, { dtype = torch.float64, device = device })
    local lines = x:t():contiguous()
    assert.is_true(torch.allclose(x:std(1), lines:std(2)))
    assert.is_true(torch.allclose(x:logsumexp(1), lines:logsumexp(2)))
    assert.is_true(torch.allclose(x:norm(3, 1), lines:norm(3, 2)))
  end)

  it('keeps nan', function()
    local x = torch.zeros(1003, 10, { device = device })
    x[1003][3] = 0 / 0
    assert.equal(1, x:amax(1):isnan():sum():item())
    assert.equal(1, x:sum(1):isnan():sum():item())
  end)
end)
