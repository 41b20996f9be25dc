-- Functions of double whose vector loops are polynomials of our own: against libm's, which Lua has, or values computed with 40 digits
-- (mpmath), in rounding units of the result; special values; and that an element's neighbours make no difference.

local torch = require 'torch'

local function doubles(values) return torch.tensor(values, { dtype = torch.float64 }) end

-- The largest distance of got from expected (lists of numbers) in units of the last place that expected has.
local function most_units(got, expected)
  local most = 0
  for i, y in ipairs(expected) do
    local size = math.max(math.abs(y), 2.0 ^ -1022)
    local unit = 2.0 ^ (math.floor(math.log(size, 2) + 1e-9) - 52)
    local error = math.abs(got[i] - y) / unit
    if not (error <= most) then most = error end
  end
  return most
end

local function agrees(f, of_lua, units, x)
  local expected = {}
  for i, v in ipairs(x:tolist()) do expected[i] = of_lua(v) end
  assert.is_true(most_units(f(x):tolist(), expected) <= units)
end

local function same(expected, got)
  for i, y in ipairs(expected) do
    local v = got[i]
    assert.is_true(v == y and 1 / v == 1 / y or v ~= v and y ~= y, ('element %d is %s, not %s'):format(i, v, y))
  end
end

local inf, nan, least = 1 / 0, 0 / 0, 2.0 ^ -1074

describe('functions of double', function()
  it('exp', function()
    for _, ends in ipairs { { -1, 1 }, { -40, 40 }, { -708, 709.7 } } do
      agrees(torch.exp, math.exp, 1.5, torch.linspace(ends[1], ends[2], 20011, { dtype = torch.float64 }))
    end
    same({ 1.0, 1.0, inf, 0.0, nan, inf, 0.0, 1.0, 2 * least, least, 0.0 },
      torch.exp(doubles { 0.0, -0.0, inf, -inf, nan, 710, -1e300, least, -744, -745, -746 }):tolist())
    assert.equal(math.exp(-740), torch.exp(doubles { -740 }):item()) -- below the normal range, rounded once
  end)

  it('expm1', function()
    local x = torch.linspace(-40, 709, 20011, { dtype = torch.float64 })
    agrees(torch.expm1, function(v) return math.exp(v) - 1 end, 1.5, torch.cat { x:masked_select(x:gt(3)), x:masked_select(x:lt(-5)) })
    x = torch.linspace(-1, 1, 20012, { dtype = torch.float64 }) -- sinh(x / 2) exp(x / 2), twice
    local other = torch.sinh(x / 2) * torch.exp(x / 2) * 2
    assert.is_true(((torch.expm1(x) - other) / other):abs():max():item() <= 5 * 2.0 ^ -52)
    same({ 0.0, -0.0, inf, -1.0, nan, inf, -1.0, least, -least, 2.0 ^ -1022 },
      torch.expm1(doubles { 0.0, -0.0, inf, -inf, nan, 710, -1e300, least, -least, 2.0 ^ -1022 }):tolist())
  end)

  it('log', function()
    agrees(torch.log, math.log, 1.5, torch.linspace(0.5, 2, 20011, { dtype = torch.float64 }))
    agrees(torch.log, math.log, 1.5, torch.linspace(0, 1, 20011, { dtype = torch.float64 }) + 1e-9)
    agrees(torch.log, math.log, 1.5, torch.exp(torch.linspace(-744, 709, 20011, { dtype = torch.float64 })))
    same({ -inf, -inf, inf, nan, nan, nan, nan, 0.0, math.log(least), math.log(2.0 ^ -1022) },
      torch.log(doubles { 0.0, -0.0, inf, -inf, nan, -1, -least, 1, least, 2.0 ^ -1022 }):tolist())
  end)

  it('log2 and log10', function()
    for name, base in pairs { log2 = 2, log10 = 10 } do
      local f = torch[name]
      for _, x in ipairs { torch.linspace(0.5, 2, 20011, { dtype = torch.float64 }), torch.exp(torch.linspace(-744, 709, 20011, { dtype = torch.float64 })) } do
        agrees(f, function(v) return math.log(v, base) end, name == 'log2' and 2 or 3, x) -- 2 where products are added without rounding
      end
      same({ -inf, -inf, inf, nan, nan, nan, nan, 0.0, math.log(least, base), math.log(2.0 ^ -1022, base) },
        f(doubles { 0.0, -0.0, inf, -inf, nan, -1, -least, 1, least, 2.0 ^ -1022 }):tolist())
    end
    for i = 0, 22 do assert.equal(i, torch.log10(doubles { 10.0 ^ i }):item()) end
    for i = -1074, 1023 do assert.equal(i, torch.log2(doubles { 2.0 ^ i }):item()) end
  end)

  for name, of_lua in pairs { sin = math.sin, cos = math.cos } do
    it(name, function()
      for _, most in ipairs { 1, 8, 300, 49999 } do
        agrees(torch[name], of_lua, 1.5, torch.linspace(-most, most, 20011, { dtype = torch.float64 }))
      end
      -- next to multiples of pi / 2, where all digits of the difference count; and either side of where another way begins
      local near = {}
      for n = 1, 30000, 7 do near[#near + 1] = n * (math.pi / 2) end
      agrees(torch[name], of_lua, 1.5, torch.cat { doubles(near), -doubles(near), doubles { 49999.9, 5e4, 50000.1, 1e9, 1e22, -1e300 } })
      local zero = name == 'sin'
      same({ zero and 0.0 or 1.0, zero and -0.0 or 1.0, nan, nan, nan, zero and least or 1.0, zero and -least or 1.0 },
        torch[name](doubles { 0.0, -0.0, inf, -inf, nan, least, -least }):tolist())
    end)
  end

  local exact = {
    tanh = { { 0x1.56e1fc2f8f359p-997, 0x1.56e1fc2f8f359p-997 }, { 0x1p-10, 0x1.fffff5555599ap-11 }, { 0x1.3333333333333p-2, 0x1.2a4dda7d914fap-2 },
      { 0x1.6666666666666p-1, 0x1.356fb17af2e91p-1 }, { 0x1.f0a3d70a3d70ap-1, 0x1.7f562b15d0fcfp-1 }, { 0x1.ff7ced916872bp-1, 0x1.85b89494cdea1p-1 },
      { 0x1.004189374bc6ap+0, 0x1.8626ac96d575cp-1 }, { 0x1.3333333333333p+0, 0x1.aad4c6d28dcafp-1 }, { 0x1.e666666666666p+0, 0x1.e997f4c3bcd48p-1 },
      { 0x1.b333333333333p+1, 0x1.fedc5af87e338p-1 }, { 0x1.c666666666666p+2, 0x1.ffffd24ffc2dcp-1 }, { 0x1.9p+3, 0x1.ffffffffc2eb9p-1 },
      { 0x1.2e66666666666p+4, 0x1.fffffffffffffp-1 } },
    erfc = { { 0x1p-10, 0x1.ff6f91488039ap-1 }, { 0x1.3333333333333p-2, 0x1.57be3bbf10af8p-1 }, { 0x1.f5c28f5c28f5cp-2, 0x1.f40d3c3f2d2a7p-2 },
      { 0x1.051eb851eb852p-1, 0x1.e20df5e4a97d2p-2 }, { 0x1.8p-1, 0x1.27c6d14c5e341p-2 }, { 0x1.4cccccccccccdp+0, 0x1.0e4daf646962ep-4 },
      { 0x1.4p+1, 0x1.aab859b20ac9ep-12 }, { 0x1.0cccccccccccdp+2, 0x1.8874c50bdcef9p-29 }, { 0x1.8666666666666p+2, 0x1.d1ef7651e1e24p-58 },
      { 0x1.3666666666666p+3, 0x1.1b2b76b75dd45p-140 }, { 0x1.c99999999999ap+3, 0x1.3eb55e36811cep-300 },
      { 0x1.5e66666666666p+4, 0x1.ba5029b851f90p-698 }, { 0x1.a8p+4, 0x1.3df6725a60cf5p-1019 }, { 0x1.b333333333333p+4, 0x0.0000000000002p-1022 },
      { -0x1.3333333333333p-2, 0x1.5420e22077a84p+0 }, { -0x1.3333333333333p-1, 0x1.9a965011aea7bp+0 }, { -0x1.b333333333333p+0, 0x1.fbd9b105c3a3ep+0 },
      { -0x1.4cccccccccccdp+2, 0x1.ffffffffffc9dp+0 } },
    erfinv = { { 0x1.56e1fc2f8f359p-997, 0x1.2fdf36bf69b9fp-997 }, { 0x1p-10, 0x1.c5bf9087f724cp-11 }, { 0x1.999999999999ap-4, 0x1.6bf442539fd74p-4 },
      { 0x1.3333333333333p-2, 0x1.1700774485ed2p-2 }, { 0x1p-1, 0x1.e861fbb24c00ap-2 }, { 0x1.8p-1, 0x1.a07890f6b2ba1p-1 },
      { 0x1.ccccccccccccdp-1, 0x1.29c0146770651p+0 }, { 0x1.fae147ae147aep-1, 0x1.d2466082bb20ep+0 }, { 0x1.ff6fd21ff2e49p-1, 0x1.27638aa1d0aedp+1 },
      { 0x1.fff2e48e8a71ep-1, 0x1.6022dcb01ea50p+1 }, { 0x1.fffffca501acbp-1, 0x1.e21eb9013cbe7p+1 }, { 0x1.ffffffffea028p-1, 0x1.3406f2a1d32d3p+2 },
      { 0x1.fffffffffffffp-1, 0x1.7744f8f74e94ap+2 } },
  }
  for name, values in pairs(exact) do
    it(name, function()
      local x, expected = {}, {}
      for i, pair in ipairs(values) do x[i], expected[i] = pair[1], pair[2] end
      assert.is_true(most_units(torch[name](doubles(x)):tolist(), expected) <= 3)
      for i, v in ipairs(x) do assert.is_true(most_units(torch[name](doubles { v }):tolist(), { expected[i] }) <= 3) end -- each alone
    end)
  end

  it('tanh and erfc have the values of functions near by, and special ones', function()
    local x = torch.linspace(-22, 22, 40012, { dtype = torch.float64 })
    local e = torch.expm1(x:abs() * 2)
    local units = ((torch.tanh(x):abs() - e / (e + 2)) / torch.tanh(x)):abs():max():item() * 2.0 ^ 52
    assert.is_true(units <= 4)
    same({ 0.0, -0.0, 1.0, -1.0, nan, least, -least, 1.0 }, torch.tanh(doubles { 0.0, -0.0, inf, -inf, nan, least, -least, 1e300 }):tolist())
    x = torch.linspace(-6, 0.6, 40011, { dtype = torch.float64 })
    assert.is_true((torch.erfc(x) + torch.erf(x) - 1):abs():max():item() <= 4 * 2.0 ^ -52)
    x = torch.linspace(0.5, 26, 40011, { dtype = torch.float64 }) -- its logarithm falls smoothly, whose second differences are small
    local d = torch.log(torch.erfc(x)):diff():diff()
    assert.is_true(d:lt(0):all():item() and d:max():item() - d:min():item() < 1e-6)
    same({ 1.0, 1.0, 0.0, 2.0, nan, 0.0, 2.0 }, torch.erfc(doubles { 0.0, -0.0, inf, -inf, nan, 28, -1e300 }):tolist())
  end)

  it('a function of double gives the same result at every offset', function()
    local x = torch.linspace(-3, 60000, 1003, { dtype = torch.float64 })
    local spread = torch.zeros(1003, 3, { dtype = torch.float64 })
    spread:select(2, 2):copy_(x)
    for _, name in ipairs { 'exp', 'expm1', 'log', 'tanh', 'sin', 'cos', 'erfc', 'i0', 'erfinv' } do
      local f, values = torch[name], name == 'erfinv' and x / 60001 or name == 'i0' and x / 100 or x
      local whole = f(values)
      if name ~= 'erfinv' and name ~= 'i0' then assert.is_true(torch.equal(f(spread:select(2, 2)):nan_to_num(7), whole:nan_to_num(7))) end
      for i = 1, 1003, 97 do
        assert.is_true(torch.equal(f(values:narrow(1, i, 1)):nan_to_num(7), whole:narrow(1, i, 1):nan_to_num(7)))
        assert.is_true(torch.equal(f(values:narrow(1, i, 5)):nan_to_num(7), whole:narrow(1, i, 5):nan_to_num(7)))
      end
    end
  end)

  -- Where all of some elements are near a loop has a shorter formula, of which each one gives what it gives among others.
  it('give an element the same result where one that is not near is among its neighbours', function()
    local far = { exp = 720, log = 0, log2 = -1, erf = -1.5, erfc = 1, erfinv = 0.9999 }
    for name, value in pairs(far) do
      for _, dtype in ipairs { torch.float64, torch.float32 } do
        for _, n in ipairs { 1, 15, 16, 17, 63, 64, 65, 511, 512, 513, 1100 } do
          local x = torch.linspace(0.001, 0.995, n, { dtype = dtype })
          if name == 'erf' or name == 'erfc' then x = x * torch.arange(n):remainder(2):mul(2):sub(1) end
          local f, inside = torch[name], torch[name](x)
          for _, at in ipairs { 1, n // 2 + 1, n } do
            local mixed = x:clone()
            mixed[at] = value
            local expected = inside:clone()
            expected[at] = f(torch.tensor({ value }, { dtype = dtype })):item()
            assert.is_true(torch.equal(f(mixed):nan_to_num(7), expected:nan_to_num(7)), ('%s of %d'):format(name, n))
            assert.is_true(torch.equal(torch[name](mixed, { out = mixed }):nan_to_num(7), expected:nan_to_num(7)), name) -- where it lies
          end
        end
      end
    end
  end)

  it('give an element the same result where some are near and some are not, in any order', function()
    torch.manual_seed(3)
    for name, most in pairs { erf = 2, erfc = 2, erfinv = 1.001 } do
      for _, n in ipairs { 7, 16, 100, 512, 530, 1537 } do
        local x = (torch.rand(n, { dtype = torch.float64 }) * 2 - 1) * most
        local alone = {}
        for i = 1, n do alone[i] = torch[name](x:narrow(1, i, 1)) end
        alone = torch.cat(alone):nan_to_num(7)
        assert.is_true(torch.equal(alone, torch[name](x):nan_to_num(7)), ('%s of %d'):format(name, n))
        assert.is_true(torch.equal(alone, torch[name](torch.stack({ x, x }, 2):select(2, 1)):nan_to_num(7)), name)
        assert.is_true(torch.equal(alone, torch[name](x, { out = x }):nan_to_num(7)), name)
      end
    end
  end)

  -- Bessel's I0 by its power series, whose terms are positive, and I1 as its slope's.
  it('i0, i1 and their scaled forms', function()
    local x = torch.linspace(-30, 30, 2003, { dtype = torch.float64 })
    local quarter, term, i0, i1 = x * x / 4, torch.ones_like(x), torch.zeros_like(x), torch.zeros_like(x)
    for k = 1, 80 do
      i0, i1 = i0 + term, i1 + term / k
      term = term * quarter / (k * k)
    end
    i1 = i1 * x / 2
    local special = torch.special
    local function near(got, expected) assert.is_true((got - expected):abs():le(expected:abs() * 2e-14):all():item()) end
    near(torch.i0(x), i0)
    near(special.i1(x), i1)
    near(special.i0e(x), i0 * torch.exp(-x:abs()))
    near(special.i1e(x), i1 * torch.exp(-x:abs()))
    assert.is_true((torch.i0(x:float()):double() / i0 - 1):abs():max():item() < 4e-6)
    assert.is_true((special.i1e(x:float()) - special.i1e(x)):abs():max():item() < 1e-7)
    same({ 1.0, 1.0, nan, inf, 1.0 }, torch.i0(doubles { 0.0, -0.0, nan, 800, least }):tolist())
    same({ 0.0, 0.0, nan, -inf }, special.i1(doubles { 0.0, -0.0, nan, -800 }):tolist())
  end)
end)
