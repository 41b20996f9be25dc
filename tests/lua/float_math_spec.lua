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

-- A float from each of so many steps over all bit patterns, in no order of size.
local function patterns(count)
  local bits = torch.arange(count):mul((2 ^ 32 // count) | 1):sub(2 ^ 31)
  return bits:to(torch.int32):view(torch.float32)
end

describe('functions of float', function()
  local every = patterns(300007)
  local units = {
    exp = 1.25, exp2 = 1.25, expm1 = 1.75, tanh = 1.25, sinh = 1.5, cosh = 1.25, log = 1, log1p = 1, log2 = 2, log10 = 2, asin = 1.25, acos = 1.25, atan = 1.25,
    sin = 1, cos = 1, tan = 1.75, erf = 6, erfc = 1, digamma = 1,
  }
  -- Where a function changes its formula, overflows, or leaves the normal range.
  local edges = {
    exp = { 88.72283, 88.72284, 89, 90, -87.33654, -87.4, -103.2, -103.97, -103.98, -104, -105 }, exp2 = { 127.99999, 128, 129, 130, -126, -126.5, -149, -149.9, -150, -151, -152 },
    expm1 = { 88.72283, 88.72284, 89, 90, -17.9, -18, -19 }, tanh = { 0.62499994, 0.625, 0.62500006, 9, 9.01, 9.02, 9.03, 20 },
    sinh = { 88.72283, 89.41598, 89.41599, 89.5, 90 }, cosh = { 88.72283, 89.41598, 89.41599, 89.5, 90 },
    log = { 0.70710677, 0.70710683, 0.99999994, 1.0000001, 1.1754942e-38, 1.1754944e-38 }, log2 = { 0.70710677, 0.70710683, 0.99999994, 1.0000001, 1024, 0.125 },
    log10 = { 0.70710677, 0.70710683, 0.99999994, 1.0000001, 10, 1000 }, log1p = { -0.99999994, -0.25, -0.24999999, 0.49999997, 0.5, 1.9999999, 1e30 },
    asin = { 0.49999997, 0.5, 0.50000006, 0.99999994, 1.0000001 }, acos = { 0.49999997, 0.5, 0.50000006, 0.99999994, 1.0000001 },
    atan = { 0.99999994, 1.0000001 }, sin = { 1999.9999, 2000, 2000.0001, 3.1415927, 838.805237, 117435.99, 1e20 }, cos = { 1999.9999, 2000, 2000.0001, 1.5707964, 1e20 },
    tan = { 1999.9999, 2000, 2000.0001, 1.5707964, 3.1415927, 838.805237, 1e20 },
  }

  for name, most in pairs(units) do
    it(name .. ' is as exact as is said', function()
      agree(torch[name], most, special)
      agree(torch[name], most, every)
      agree(torch[name], most, torch.linspace(-104, 89, 100003))
      agree(torch[name], most, torch.linspace(-1, 2.5, 100003))
      local at = torch.tensor(edges[name] or { 3.92 })
      agree(torch[name], most, torch.cat { at, -at })
    end)

    it(name .. ' gives an element what it gives among others', function()
      local x = torch.cat { special, torch.linspace(-3, 3, 1003), torch.tensor { 2500.0, -1e9 }, torch.linspace(0, 1, 1003) }
      local whole = torch[name](x)
      local bits = whole:view(torch.int32)
      local strided = torch.stack({ x, x }, 2):select(2, 1)
      assert.is_true((torch[name](strided):view(torch.int32):eq(bits) | whole:isnan()):all():item())
      for i = 1, x:numel(), 61 do
        local alone = torch[name](x[{ { i, i } }])
        assert.is_true(alone:view(torch.int32)[1]:item() == bits[i]:item() or alone:isnan():item(), name)
      end
    end)
  end

  for name, most in pairs { pow = 1, atan2 = 3 } do
    it(name, function()
      local a, b = special:unsqueeze(2):expand(n, n):flatten(), special:unsqueeze(1):expand(n, n):flatten()
      agree(torch[name], most, a, b)
      agree(torch[name], most, torch.exp(torch.linspace(-80, 80, 100003)), torch.linspace(-1.2, 1.1, 100003))
      agree(torch[name], most, torch.linspace(-9, 9, 19):expand(19, 19):flatten(), torch.linspace(-9, 9, 19):repeat_interleave(19))
    end)
  end

  it('erf does not pass 1', function() assert.is_true(torch.erf(torch.linspace(3, 5, 100003)):max():item() <= 1) end)
end)

describe('gamma functions of float', function()
  it('lgamma: factorials, reflection, poles', function()
    local factorial, x, expected = 1.0, {}, {}
    for n = 1, 30 do
      x[n], expected[n] = n, math.log(factorial)
      factorial = factorial * n
    end
    local got = torch.lgamma(torch.tensor(x, { dtype = torch.float32 })):tolist()
    for n = 1, 30 do assert.is_true(math.abs(got[n] - expected[n]) <= expected[n] * 2.0 ^ -23) end
    assert.equal(0.0, got[1])
    assert.equal(0.0, got[2])
    local inf = 1 / 0
    assert.same({ inf, inf, inf, inf, inf, inf, inf }, torch.lgamma(torch.tensor { 0.0, -0.0, -1, -7, inf, -inf, 1e38 }):tolist())
    assert.is_true(torch.lgamma(torch.tensor { 0 / 0, 1 }):isnan():tolist()[1])
    local wide = torch.cat { torch.linspace(-30.1, 30, 20011), torch.exp(torch.linspace(-87, 80, 2003)), -torch.exp(torch.linspace(-87, 2, 2003)) }
    local exact = torch.lgamma(wide:double())
    local far = exact:abs():gt(0.01) & torch.isfinite(exact)
    assert.is_true(((torch.lgamma(wide) - exact) / exact):masked_select(far):abs():max():item() <= 2.0 ^ -23)
  end)

  it('igamma and igammac of float agree with double for every neighbour', function()
    torch.manual_seed(3)
    local a = torch.cat { torch.rand(1003), torch.rand(1003) * 30, torch.tensor { 0.0, 1, 1, 20, 20.5, 1 / 0, -1, 1, 3 } }
    local x = torch.cat { torch.rand(1003), torch.rand(1003) * 30, torch.tensor { 1.0, 0, 1 / 0, 20.9, 20.9, 1, 1, 0 / 0, 4 } }
    for _, name in ipairs { 'igamma', 'igammac' } do
      local f = torch[name]
      local got, exact = f(a, x), f(a:double(), x:double())
      assert.is_true((got:isnan():eq(exact:isnan())):all():item())
      assert.is_true((got - exact):abs():nan_to_num(0):le(exact:abs():nan_to_num(0) * 2.0 ^ -23 + 1e-37):all():item())
      for i = 1, a:numel(), 89 do
        local one = f(a:narrow(1, i, 1), x:narrow(1, i, 1))
        assert.is_true(torch.equal(one:nan_to_num(7), got:narrow(1, i, 1):nan_to_num(7)))
      end
      assert.is_true(torch.equal(f(a:narrow(1, 5, 1), x:narrow(1, 1, 40)), f(a:narrow(1, 5, 1):expand(40):contiguous(), x:narrow(1, 1, 40))))
    end
  end)
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

  it('erf of double preserves signs, infinities, nan and subnormal numbers', function()
    local x = torch.tensor({ 0.0, -0.0, 1 / 0, -1 / 0, 1e300, -7.0, 2.0 ^ -1074, -2.0 ^ -1074, 2.0 ^ -1030 }, { dtype = torch.float64 })
    assert.same({ 0.0, -0.0, 1.0, -1.0, 1.0, -1.0, 2.0 ^ -1074, -2.0 ^ -1074, 2.0 ^ -1030 * 1.1283791670955126 }, torch.erf(x):tolist())
    assert.equal(-1 / 0, torch.erf(x)[2]:reciprocal():item())
    assert.is_true(torch.erf(torch.full({ 40 }, 0 / 0, { dtype = torch.float64 })):isnan():all():item())
  end)
end)

describe('a smooth function #cpu', function()
  -- The numbers of the formulas (src/core/formulas): at some of them the formula changes.
  local root = (debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. '../../'
  local numbers = {}
  for path in io.popen('ls ' .. root .. 'src/core/formulas/*.inc ' .. root .. 'src/core/formulas/*.h'):lines() do
    for line in io.lines(path) do
      for literal in line:gmatch '%f[%w.][%d.]+e?[-+]?%d*' do
        local number = tonumber(literal)
        if number and number < 1e300 then numbers[number], numbers[-number] = true, true end
      end
    end
  end
  local list = {}
  for number in pairs(numbers) do list[#list + 1] = number end

  local functions = {}
  for name in ([[asinh acosh atanh asin acos atan sinh cosh tanh exp exp2 expm1 log log1p log2 log10 erf erfc sigmoid sqrt rsqrt]]):gmatch '%S+' do functions[name] = torch[name] end
  for name in ([[erfcx i0e i1e ndtr log_ndtr entr bessel_j0 bessel_j1]]):gmatch '%S+' do functions[name] = torch.special[name] end
  for name in ([[gelu silu mish logsigmoid elu selu]]):gmatch '%S+' do functions[name] = torch.nn.functional[name] end

  it('has no jump at the numbers of its formula', function()
    for dtype, tolerance in pairs { float32 = 2e-5, float64 = 1e-11 } do
      local x = torch.tensor(list, { dtype = torch[dtype] })
      for name, f in pairs(functions) do
        local y = f(x)
        for _, direction in ipairs { -1 / 0, 1 / 0 } do
          local other = f(x:nextafter(torch.full_like(x, direction)))
          local slope = name:find '^bessel' and x:abs() or 1 -- their phase is x
          local jumps = (y - other):abs():gt((y:abs() + slope) * tolerance):logical_and(y:isfinite()):logical_and(other:isfinite())
          if name:find '^a[cs]' or name == 'atanh' then jumps = jumps:logical_and(x:abs():ne(1)) end -- an infinite slope
          assert.is_false(jumps:any():item(), ('%s of %s at %s'):format(name, dtype, tostring(x[jumps])))
        end
      end
    end
  end)
end)
