-- Functions of float whose vector loops are polynomials of our own, against the same functions of double: special values
-- in every combination, and errors over a range, in rounding units of the result. Long enough to fill vectors.

local torch = require 'torch'

local special = torch.tensor { 0.0, -0.0, 1 / 0, -1 / 0, 0 / 0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, 1e-40, -1e-40, 3e38, -3e38, 1e8, -7.0, 89.0 }
local n = special:numel()

-- f of float and of double, which agree to so many units in the last place, signs of zeros too.
local function agree(f, units, ...)
  local wide = {}
  for i, x in ipairs { ... } do wide[i] = x:double() end
  local got, exact = f(...):double():cpu(), f(table.unpack(wide)):cpu()
  local expected = exact:float():double()
  local finite = torch.isfinite(expected)
  local same = got:eq(expected) | (got:isnan() & expected:isnan())
  assert.is_true((same | finite):all():item())
  local one = torch.ones_like(got)
  assert.is_true((one:copysign(got):eq(one:copysign(expected)) | got:isnan()):all():item())
  local unit = torch.clamp(exact:abs(), { min = 2.0 ^ -126 }) * 2.0 ^ -23
  local errors = torch.where(finite, ((got - exact) / unit):abs(), 0.0)
  assert.is_true(errors:max():item() <= units, ('%g units'):format(errors:max():item()))
end

describe('functions of float', function()
  for name, units in pairs { erf = 4, erfc = 1, expm1 = 2 } do
    it(name, function()
      agree(torch[name], units, special)
      agree(torch[name], units, torch.linspace(-20, 88, 100003))
      agree(torch[name], units, torch.linspace(-4.5, 4.5, 100003))
    end)
  end

  for name, units in pairs { pow = 1, atan2 = 3 } do
    it(name, function()
      local a, b = special:unsqueeze(2):expand(n, n):flatten(), special:unsqueeze(1):expand(n, n):flatten()
      agree(torch[name], units, a, b)
      agree(torch[name], units, torch.exp(torch.linspace(-80, 80, 100003)), torch.linspace(-1.2, 1.1, 100003))
      agree(torch[name], units, torch.linspace(-9, 9, 19):expand(19, 19):flatten(), torch.linspace(-9, 9, 19):repeat_interleave(19))
    end)
  end

  it('erf does not pass 1', function() assert.is_true(torch.erf(torch.linspace(3, 5, 100003)):max():item() <= 1) end)
end)

-- Against Kummer's series, 2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n + 1) / (1 3 5 ... (2n + 1)), whose terms are all of one sign.
describe('erf of double', function()
  local function series(x)
    local term, sum = x, x
    for n = 1, 40 do
      term = term * (x * x) * (2 / (2 * n + 1))
      sum = sum + term
    end
    return sum * torch.exp(-(x * x)) * 1.1283791670955126
  end

  it('has an error of a few rounding units of the result', function()
    local x = torch.cat { torch.linspace(-2, 2, 20012):double(), torch.linspace(0.99, 1.01, 2003):double() }
    local expected = series(x)
    assert.is_true(((torch.erf(x) - expected) / expected):abs():max():item() < 2e-15) -- most of it the series'
    local far = torch.linspace(0.5, 6.2, 20011):double()
    assert.is_true((torch.erf(far) + torch.erfc(far) - 1):abs():max():item() < 3.4e-16)
  end)

  it('keeps signs, infinities, nan and what is below the normal range', function()
    local x = torch.tensor({ 0.0, -0.0, 1 / 0, -1 / 0, 1e300, -7.0, 2.0 ^ -1074, -2.0 ^ -1074, 2.0 ^ -1030 }, { dtype = torch.float64 })
    assert.same({ 0.0, -0.0, 1.0, -1.0, 1.0, -1.0, 2.0 ^ -1074, -2.0 ^ -1074, 2.0 ^ -1030 * 1.1283791670955126 }, torch.erf(x):tolist())
    assert.equal(-1 / 0, torch.erf(x)[2]:reciprocal():item())
    assert.is_true(torch.erf(torch.full({ 40 }, 0 / 0, { dtype = torch.float64 })):isnan():all():item())
  end)
end)
