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

-- A line of every way: one in a lane, less and more than a vector, rows of lanes, several of them, pieces.
local LENGTHS = { 1, 2, 3, 4, 5, 8, 9, 10, 16, 17, 24, 25, 32, 33, 63, 64, 65, 100, 255, 256, 257, 511, 1000, 1024, 1025, 2049, 8192, 9000 }

describe('a product', function()
  it('may leave the range of float on its way', function()
    if device ~= 'cpu' then return end
    for _, n in ipairs { 24, 200, 260 } do
      local x = torch.full({ 20, n }, 2 ^ -7)
      x:narrow(2, 1, n // 2):fill_(2 ^ 7)
      for _, lines in ipairs { x, x:t():contiguous():t() } do
        assert.is_true(lines:prod(2):equal(torch.ones(20)))
      end
    end
  end)

  it('of every length is that in float64', function()
    torch.manual_seed(1)
    for _, n in ipairs(LENGTHS) do
      for _, count in ipairs { 1, 16, 19 } do
        local x = torch.rand(count, n, { device = device }) * 0.1 + 0.95
        local wanted = x:double():prod(2)
        assert.is_true(torch.allclose(x:prod(2):double(), wanted, 1e-5, 0), ('lines of %d'):format(n))
        assert.is_true(torch.allclose(x:t():contiguous():prod(1):double(), wanted, 1e-5, 0), ('columns of %d'):format(n))
        if device == 'cpu' then assert.is_true(torch.compile(function() return (x * 1):prod(2) end)():equal(x:prod(2))) end
      end
    end
    local x = torch.full({ 3, 300 }, -1.0, { device = device })
    x[2][299], x[3][7] = 0 / 0, 1 / 0
    local p = x:prod(2)
    assert.equal(1, p[1]:item())
    assert.is_true(p[2]:isnan():item())
    assert.equal(-1 / 0, p[3]:item())
  end)
end)

describe('logsumexp', function()
  it('of many lines is that of each', function()
    torch.manual_seed(1)
    for _, name in ipairs { 'float32', 'float64' } do
      for _, n in ipairs(LENGTHS) do
        local x = (torch.randn(35, n, { device = device }) * 3 + torch.arange(35, { device = device }):unsqueeze(2) * 40 - 700):to(torch[name])
        local wide = x:double()
        local most = wide:amax(2, true)
        local wanted = (wide - most):exp():sum(2):log() + most:squeeze(2)
        assert.is_true(torch.allclose(x:logsumexp(2):double(), wanted, name == 'float32' and 1e-6 or 1e-14, 0), ('%s, %d'):format(name, n))
      end
    end
  end)

  it('of infinities and nan', function()
    for _, n in ipairs { 10, 100, 1000, 3001, 9000 } do
      local x = torch.zeros(20, n, { device = device })
      x[2], x[3], x[4][n // 2], x[5][6], x[6][n] = -1 / 0, 1 / 0, 1 / 0, 0 / 0, -1 / 0
      local y = x:logsumexp(2)
      assert.equal(-1 / 0, y[2]:item())
      assert.equal(1 / 0, y[3]:item())
      assert.equal(1 / 0, y[4]:item())
      assert.is_true(y[5]:isnan():item())
      assert.is_true(math.abs(y[6]:item() - math.log(n - 1)) < 2e-6)
      assert.is_true(math.abs(y[7]:item() - math.log(n)) < 2e-6)
    end
  end)
end)

describe('statistics', function()
  -- GPUs read lines of up to 8192 elements (4096 of float64) once for both steps: one run of eight for each thread, up to four, longer ones.
  it('statistics of rows at every offset agree with float64 on the CPU', function()
    torch.manual_seed(1)
    for name, close in pairs { float32 = 1e-5, float64 = 1e-12, float16 = 2e-3, bfloat16 = 1e-2 } do
      for _, n in ipairs { 33, 64, 255, 1000, 1001, 2048, 2049, 4100, 8192, 8200, 20000 } do
        local wide = (torch.randn(9, n + 5) * 2 + torch.arange(9):unsqueeze(2)):to(torch[name])
        local here = wide:to(device)
        for first = 1, 3, 2 do
          local x, exact = here:narrow(2, first, n), wide:double():narrow(2, first, n)
          local off = exact - exact:mean(2, true)
          local var, most = (off * off):sum(2) / (n - 1), exact:amax(2, true)
          local wanted = { var = var, std = var:sqrt(), logsumexp = (exact - most):exp():sum(2):log() + most:squeeze(2) }
          for _, lines in ipairs { x, x:contiguous() } do
            for op, w in pairs(wanted) do
              assert.is_true(torch.allclose(lines[op](lines, 2):double():cpu(), w, close, 0), ('%s of %d %s from %d'):format(op, n, name, first))
            end
            assert.is_true(torch.allclose(torch.var(lines, 2, false):double():cpu(), var * ((n - 1) / n), close, 0), ('var of %d %s'):format(n, name))
          end
        end
      end
    end
  end)

  -- Simulated GPUs round a product before it is added, in a step as between two ops.
  -- A GPU joins the moments of such rows' parts in one pass.
  it('var and std of long rows are accurate beside a large mean, and nan where elements are not finite', function()
    for _, n in ipairs { 8193, 20001, 300000 } do
      local x = torch.randn(3, n, { device = device }) + 1000
      x[3][n] = 1 / 0
      local exact = x:cpu():double()
      for dim, name in pairs { 'std', 'var' } do
        local expected = dim == 1 and exact:narrow(1, 1, 2):std() or exact:var(2)
        local got = dim == 1 and x:narrow(1, 1, 2):std() or x:var(2)
        assert.is_true(torch.allclose(expected, got:cpu():double(), { rtol = 1e-5, equal_nan = true }), name .. n)
      end
      assert.is_true(x:narrow(1, 1, 1):fill_(1e30):std():eq(0):item(), 'equal elements')
    end
  end)

  -- With so many rows, a warp of a GPU reduces each.
  it('of thousands of rows agree with float64 on the CPU', function()
    for _, n in ipairs { 33, 1000 } do
      local x = torch.randn(4100, n, { device = device }) + 2
      local exact = x:cpu():double()
      for _, f in ipairs { 'sum', 'var', 'logsumexp', 'amax' } do
        local expected = exact[f](exact, 2)
        assert.is_true(torch.allclose(expected, x[f](x, 2):cpu():double(), { rtol = 1e-5, atol = 1e-4 }), f .. n)
      end
    end
  end)

  it('logsumexp gives the bits of its separate steps', function()
    if device == 'cpu' or not os.getenv 'LTENSOR_SIM_GPUS' then return end
    torch.manual_seed(1)
    for _, name in ipairs { 'float32', 'float64' } do
      for _, n in ipairs { 33, 64, 1000, 1001, 2048, 2049, 4100, 8192, 8200, 20000 } do
        local x = torch.randn(9, n, { device = device }):to(torch[name]) * 3
        local most = x:amax(2, true)
        assert.is_true(x:logsumexp(2):equal((x - most):exp():sum(2):log() + most:squeeze(2)), ('logsumexp of %d %s'):format(n, name))
      end
    end
  end)

  it('of all elements, of several dimensions, of infinities', function()
    torch.manual_seed(1)
    local wide = torch.randn(7, 20, 50)
    local x, exact = wide:to(device), wide:double()
    assert.is_true(torch.allclose(x:var():double():cpu(), exact:var(), 1e-5, 0))
    assert.is_true(torch.allclose(x:std({ 2, 3 }):double():cpu(), exact:std({ 2, 3 }), 1e-5, 0))
    assert.is_true(torch.allclose(x:logsumexp({ 2, 3 }):double():cpu(), exact:logsumexp({ 2, 3 }), 1e-5, 0))
    x[1][20][50], x[2][1][1] = 1 / 0, 0 / 0
    local var = x:var({ 2, 3 })
    assert.equal(2, var:isnan():sum():item())
    assert.is_true(torch.allclose(var:narrow(1, 3, 5):double():cpu(), exact:var({ 2, 3 }):narrow(1, 3, 5), 1e-5, 0))
  end)
end)

describe('a norm', function()
  local F = torch.nn.functional

  it('the norm of a short row does not depend on neighbouring rows', function()
    torch.manual_seed(1)
    for _, name in ipairs { 'float32', 'float64' } do
      local dtype = torch[name]
      local close = name == 'float32' and 2e-5 or 1e-12
      for n = 1, 34 do
        local x = torch.randn(35, n, { dtype = dtype, device = device }) * 2 + 5
        local w, b = torch.rand(n, { dtype = dtype, device = device }), torch.rand(n, { dtype = dtype, device = device })
        local wide = x:double()
        local normal = (wide - wide:mean(2, true)) / (wide:var(2, { unbiased = false, keepdim = true }) + 1e-5):sqrt()
        local function check(got, wanted, what)
          assert.is_true(torch.allclose(got:double(), wanted, close, close), ('%s, %s of %d'):format(what, name, n))
        end
        check(F.layer_norm(x, n), normal, 'plain')
        check(F.layer_norm(x, n, w), normal * w, 'weight')
        check(F.layer_norm(x, n, nil, b), normal + b, 'bias')
        local all = F.layer_norm(x, n, w, b)
        check(all, normal * w + b, 'both')
        check(F.rms_norm(x, n, w, 1e-5), wide / ((wide * wide):mean(2, true) + 1e-5):sqrt() * w, 'rms_norm')
        for _, rows in ipairs { 1, 15, 17 } do assert.is_true(F.layer_norm(x:narrow(1, 3, rows), n, w, b):equal(all:narrow(1, 3, rows))) end
      end
    end
  end)

  it('of columns, of any number of rows', function()
    torch.manual_seed(1)
    for _, rows in ipairs { 2, 3, 4, 5, 6, 7, 255, 256, 257, 258, 515 } do
      for _, columns in ipairs { 1, 5, 64, 100 } do
        local x = torch.randn(rows, columns, { device = device }) * 2 + 5
        local wide = x:double()
        local wanted = (wide - wide:mean(1, true)) / (wide:var(1, { unbiased = false, keepdim = true }) + 1e-5):sqrt()
        assert.is_true(torch.allclose(F.batch_norm(x, nil, nil, nil, nil, true):double(), wanted, 2e-5, 2e-5), rows .. 'x' .. columns)
      end
    end
  end)
end)

describe('smooth_l1_loss', function()
  local F = torch.nn.functional

  it('is its two formulas, with every beta', function()
    local sizes = { 0, 1e-30, 0.1, 0.3, 0.5, 1, 1.5, 7, 1e10, 1 / 0 }
    for _, beta in ipairs { 0, 1e-50, 1e-39, 1e-3, 0.3, 1, 3, 1e30, 1 / 0 } do
      local x = torch.tensor(sizes, { device = device })
      local loss = F.smooth_l1_loss(x, torch.zeros_like(x), 'none', beta)
      for i, size in ipairs(sizes) do
        local wanted = size < beta and 0.5 * size * size / beta or size - 0.5 * beta
        local got = loss[i]:item()
        if wanted == wanted then
          assert.is_true(got == wanted or math.abs(got - wanted) <= 1e-6 * wanted + 1e-37, ('%g, beta %g: %g'):format(size, beta, got))
        else
          assert.is_true(got ~= got)
        end
      end
    end
    assert.is_true(F.smooth_l1_loss(torch.tensor { 0 / 0 }, torch.tensor { 0 }):isnan():item())
  end)
end)

describe('the gradient of a product', function()
  it('is that of the other elements where one is 0 and another not finite', function()
    local inf, nan = math.huge, 0 / 0
    for _, case in ipairs { { { inf, 1, 0 }, { 0, nan, inf } }, { { nan, 1, 0 }, { 0, nan, nan } }, { { 2, 3, 0 }, { 0, 0, 6 } },
      { { inf, 0, 0 }, { 0, 0, 0 }, { 0, nan, nan } }, { { inf, -inf, 0 }, { nan, nan, -inf } }, { { 1e30, 1e30, 0 }, { 0, 0, inf } } } do
      local x = torch.tensor(case[1], { dtype = torch.float32, device = device, requires_grad = true })
      local rows = torch.tensor({ { 2, 4, 8 }, case[1] }, { dtype = torch.float32, device = device, requires_grad = true })
      x:prod():backward()
      rows:prod(2):sum():backward()
      assert.equal(tostring(torch.tensor(case[2]):float()), tostring(x.grad:cpu()))
      assert.equal(tostring(torch.tensor(case[3] or case[2]):float()), tostring(rows.grad[2]:cpu()))
      assert.same({ 32, 16, 8 }, rows.grad[1]:tolist())
    end
  end)
end)

describe('isin', function()
  it('refuses bool and complex elements, as PyTorch does', function()
    for dtype, name in pairs { bool = 'Bool', complex64 = 'ComplexFloat', complex128 = 'ComplexDouble' } do
      local x = torch.ones(2, { dtype = torch[dtype], device = device })
      for _, arguments in ipairs { { x, x }, { x, 1 }, { 1, x }, { torch.ones(2, { device = device }), x } } do
        assert.error_matches(function() torch.isin(table.unpack(arguments)) end, 'Unsupported input type encountered for isin(): ' .. name, 1, true)
      end
    end
  end)
end)

describe('any and all over an empty list of dims', function()
  it('leave each element as its truth, uint8 as uint8', function()
    local x = torch.tensor({ { 0, 2 }, { 3, 0 } }, { device = device })
    assert.same({ { false, true }, { true, false } }, x:any({ dim = {}, keepdim = true }):tolist())
    assert.same({ { 0, 1 }, { 1, 0 } }, x:to(torch.uint8):all({ dim = {} }):tolist())
    local flags = x:gt(0)
    flags:any({ dim = {} }):fill_(false)
    assert.is_true(flags:any():item())
  end)
end)

describe('a sort of many short lines', function()
  it('is that of each, stable both ways, nan the largest #again', function()
    torch.manual_seed(1)
    for _, name in ipairs { 'float32', 'float64', 'int32', 'int64', 'float16' } do
      for _, n in ipairs { 1, 2, 10, 31, 32, 33, 64, 65, 129 } do
        for _, count in ipairs { 4, 16, 35 } do
          local x = torch.randint(-4, 5, { count, n }, { device = device }):to(torch[name])
          if x:is_floating_point() then
            x[1][1] = 0 / 0
            x[2] = x[2] * -0.0
            x[3][1 + n // 2] = -1 / 0
            x[2][n] = 1 / 0
          end
          for _, descending in ipairs { false, true } do
            local what = ('%s, %d of %d, %s'):format(name, count, n, descending)
            local values, places = x:sort(2, descending)
            for r = 1, count do
              local line = x[r]:tolist()
              local order = {}
              for i = 1, n do order[i] = i end
              local function before(a, b) -- of places
                local u, v = line[a], line[b]
                if descending then u, v = v, u end
                if u ~= u or v ~= v then
                  if u ~= u and v ~= v then return a < b end
                  return v ~= v
                end
                if u ~= v then return u < v end
                return a < b
              end
              table.sort(order, before)
              local got, of = values[r]:tolist(), places[r]:tolist()
              for i = 1, n do
                assert.equal(order[i], of[i], what)
                local wanted = line[order[i]]
                assert.is_true(got[i] == wanted and 1 / got[i] == 1 / wanted or got[i] ~= got[i] and wanted ~= wanted, what)
              end
            end
            assert.is_true(places:equal(x:argsort(2, descending)), what)
            local k = math.max(1, n // 3)
            local some, where = x:topk(k, 2, descending)
            assert.is_true(torch.equal(some:nan_to_num(7), values:narrow(2, 1, k):nan_to_num(7)), what)
            assert.is_true(torch.equal(x:gather(2, where):nan_to_num(7), some:nan_to_num(7)), what)
          end
        end
      end
    end
  end)

  it('of parts of a tensor, too', function()
    torch.manual_seed(1)
    local x = torch.randn(5, 20, 12, { device = device })
    local part = x:narrow(2, 3, 17):narrow(3, 2, 9)
    local values, places = part:sort(3)
    local wanted, wanted_places = part:contiguous():sort(3)
    assert.is_true(values:equal(wanted) and places:equal(wanted_places))
    assert.is_true(values:equal((x:transpose(2, 3):narrow(3, 3, 17):narrow(2, 2, 9):sort(2)):transpose(2, 3)))
  end)
end)

describe('adaptive_avg_pool2d', function()
  it('to one element is the mean of the plane', function()
    torch.manual_seed(1)
    for _, size in ipairs { 1, 3, 8, 33, 56, 100 } do
      local x = torch.randn(2, 3, size, size, { device = device }) + 3
      local y = torch.nn.functional.adaptive_avg_pool2d(x, 1)
      local close = device == 'cpu' and 1e-6 or 2e-5 -- one thread of a GPU adds up the whole plane
      assert.is_true(torch.allclose(y:view(2, 3):double(), x:double():mean { 3, 4 }, close, 0))
    end
  end)
end)

describe('a square in a chain', function()
  it('written as a power is the eager one', function()
    if device ~= 'cpu' then return end
    torch.manual_seed(1)
    for _, name in ipairs { 'float32', 'float64', 'bfloat16', 'float16' } do
      local x, y = torch.randn(70001):to(torch[name]), torch.randn(70001):to(torch[name])
      for _, power in ipairs { 2, 3, 2.5, 1, 0.5 } do
        for i, f in ipairs {
          function() return (x - 0.5) ^ power end, function() return ((x * y) ^ power):sum() end, function() return ((x + y) ^ power):mean() end,
          function() return power ^ (x - y) end,
        } do
          local eager, compiled = f(), torch.compile(f)()
          assert.is_true(compiled:nan_to_num(9):equal(eager:nan_to_num(9)), ('%s, power %g, %d'):format(name, power, i))
        end
      end
    end
  end)
end)

describe('running totals', function()
  it('of short lines, some or many of them, dense, apart or the same ones again', function()
    for _, name in ipairs { 'float32', 'float64', 'int64' } do
      for _, n in ipairs { 1, 2, 7, 8, 10, 31, 32, 33, 70 } do
        for _, count in ipairs { 1, 3, 4, 7, 1000 } do
          local wide = torch.randint(-3, 4, { count, n + 3 }, { device = device }):to(torch[name])
          for _, x in ipairs { wide:narrow(2, 2, n), wide:narrow(2, 1, n):contiguous(), wide:narrow(2, 1, n):unsqueeze(1):expand(2, count, n) } do
            local columns = x:transpose(1, -1):contiguous()
            assert.is_true(x:cumsum(-1):equal(columns:cumsum(1):transpose(1, -1)), ('cumsum of %s, %d lines of %d'):format(name, count, n))
            assert.is_true(torch.allclose(x:cumprod(-1), columns:cumprod(1):transpose(1, -1)), ('cumprod of %s, %d lines of %d'):format(name, count, n))
          end
        end
      end
    end
  end)
end)

-- Beyond two grains of the CPU's threads (src/core/cpu/common/threads.h) a row is reduced in parts.
describe('a reduction of a row of several parts #cpu', function()
  local N = 2 * 131072
  local before = torch.get_num_threads()
  after_each(function() torch.set_num_threads(before) end)

  it('finds an extreme value in each part, the first of equal ones', function()
    for _, n in ipairs { N - 1, N, N + 1, 3 * 131072 + 5 } do
      for _, at in ipairs { 1, 131072, 131073, N - 1, n } do
        local x = torch.zeros(2, n, { device = device })
        x[{ 2, at }], x[{ 1, n - at + 1 }] = 7, -7
        for _, threads in ipairs { 1, 4 } do
          torch.set_num_threads(threads)
          local most, first = x:max(2)
          assert.same({ { 0, 7 }, at }, { most:tolist(), first[2]:item() }, ('%d of %d'):format(at, n))
          local least, where = x:min(2)
          assert.same({ { -7, 0 }, n - at + 1 }, { least:tolist(), where[1]:item() }, ('%d of %d'):format(at, n))
          assert.equal(at, x[2]:argmax():item())
          assert.equal(n - at + 1, x[1]:argmin():item())
          assert.same({ 0, 7 }, x:amax(2):tolist())
          assert.same({ -7, 0 }, x:amin(2):tolist())
        end
      end
    end
  end)

  it('equals the reduction of its pieces', function()
    torch.manual_seed(4)
    local n = 3 * 131072
    local x = torch.randint(-8, 9, { n }, { device = device }):to(torch.float32)
    local pieces = x:reshape(-1, 384)
    for _, threads in ipairs { 1, 4 } do
      torch.set_num_threads(threads)
      for _, op in ipairs { 'sum', 'amax', 'amin', 'count_nonzero' } do
        assert.is_true(x[op](x):eq(pieces[op](pieces, 2)[op == 'count_nonzero' and 'sum' or op](pieces[op](pieces, 2))):item(), op)
      end
      assert.equal((pieces * pieces):sum(2):sum():sqrt():item(), x:norm():item())
      assert.equal(pieces:gt(7):any(2):any():item(), x:gt(7):any():item())
      assert.is_true(x:lt(9):all():item() and not x:lt(8):all():item())
      local sorted = x:sort()
      assert.equal(sorted[(n + 1) // 2]:item(), x:median():item())
      local totals = pieces:sum(2):cumsum(1)
      assert.is_true(x:cumsum(1)[{ { 384, n, 384 } }]:equal(totals))
      assert.is_true(x:cummax(1)[{ { 384, n, 384 } }]:equal((pieces:amax(2):cummax(1))))
      assert.is_true(torch.allclose(x:softmax(1), x:exp() / pieces:exp():sum(2):double():sum():float(), { rtol = 1e-5, atol = 0 }))
      assert.near(pieces:double():logsumexp(2):logsumexp(1):item(), x:logsumexp(1):item(), 1e-4)
      assert.near(pieces:double():var({ 1, 2 }):item(), x:var():item(), 1e-3)
    end
  end)
end)
