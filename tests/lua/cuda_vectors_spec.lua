-- Kernels that move 16 bytes at a time give the CPU's results for every length, alignment and layout: lengths around the sizes of
-- vectors, warps and blocks, views that begin in the midst of a vector, rows that are broadcast. Calls that are cut into pieces of
-- fewer than LTENSOR_SIM_INDEX_LIMIT elements give the same.

local torch = require 'torch'
local F = torch.nn.functional

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local floats = { 'float32', 'float64', 'float16', 'bfloat16' }
local tolerance = { float32 = 2e-5, float64 = 1e-12, float16 = 4e-3, bfloat16 = 3e-2 }
local lengths = { 1, 3, 4, 7, 8, 16, 31, 32, 33, 36, 63, 64, 100, 129, 256, 511, 520, 1024, 1031, 4100, 9000 }

-- Numbers that begin `offset` elements after the start of their memory.
local function numbers(dtype, offset, ...)
  local sizes, n = { ... }, 1
  for _, size in ipairs(sizes) do n = n * size end
  local all = torch.randn(n + offset):to(torch[dtype])
  return all, function(t) return t:narrow(1, offset + 1, n):view(sizes) end
end

local function same(expected, actual, dtype, words)
  local difference = (expected:to(torch.float64) - actual:cpu():to(torch.float64)):abs()
  local bound = tolerance[dtype] * (1 + expected:to(torch.float64):abs():max():item())
  assert.is_true(difference:max():item() <= bound, words)
end

-- f of tensors of these shapes on the CPU and on the device, for each dtype and offset.
local function agrees(words, shapes, f, dtypes)
  for _, dtype in ipairs(dtypes or floats) do
    for _, offset in ipairs { 0, 1 } do
      local here_, there = {}, {}
      for i, shape in ipairs(shapes) do
        local all, view = numbers(dtype, offset, table.unpack(shape))
        here_[i], there[i] = view(all), view(all:to(device))
      end
      local expected, actual = table.pack(f(table.unpack(here_))), table.pack(f(table.unpack(there)))
      for i = 1, expected.n do
        same(expected[i], actual[i], dtype, ('%s, %s, offset %d, result %d'):format(words, dtype, offset, i))
      end
    end
  end
end

local function each_length(f)
  for _, n in ipairs(lengths) do f(n) end
end

describe('elements in vectors', function()
  setup(function() torch.manual_seed(11) end)

  it('are added, compared, chosen and broadcast', function()
    each_length(function(n)
      agrees('add ' .. n, { { n }, { n } }, function(x, y) return x + y, torch.where(x:lt(y), x, y), x:lt(y):to(x.dtype) end)
    end)
    for _, n in ipairs { 8, 12, 16, 40, 64 } do
      agrees('rows of ' .. n, { { 5, 3, n }, { n }, { 3, 1 }, { 5, 1, n } },
        function(x, row, one, some) return x + row, x * one, x - some, one - x, torch.where(some:gt(0), x, row) end)
      agrees('columns of ' .. n, { { 5, n }, { n, 5 } }, function(x, y) return x + y:t(), y - x:t() end)
    end
  end)

  it('are converted and copied, rows and transposes too', function()
    local all = { torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.bool }
    for _, n in ipairs { 9, 16, 24, 31, 1030 } do
      agrees('cast ' .. n, { { 3, n } }, function(x)
        local results = {}
        for _, dtype in ipairs(all) do
          results[#results + 1] = x:to(dtype):to(x.dtype)
          results[#results + 1] = (x * 3):to(torch.int64):to(dtype):to(x.dtype)
          results[#results + 1] = x:t():to(dtype):to(x.dtype)
          results[#results + 1] = x:narrow(2, 2, n - 2):to(dtype):to(x.dtype)
          results[#results + 1] = x:narrow(2, 1, n // 8 * 8):to(dtype):to(x.dtype)
        end
        return table.unpack(results)
      end)
      agrees('copies ' .. n, { { 6, n }, { 2, 6, n } }, function(x, y)
        return x:t():contiguous(), y:transpose(1, 2):contiguous(), y:permute { 3, 1, 2 }:contiguous(), x:narrow(1, 2, 4):clone(),
          y:narrow(3, 1, n // 4 * 4):contiguous(), y:narrow(3, 2, n - 2):contiguous(), x[{ 1 }]:expand(7, n):contiguous()
      end)
    end
  end)

  it('are filled, all or in rows', function()
    each_length(function(n)
      agrees('fill ' .. n, { { 4, n } }, function(x)
        x = x:clone()
        x:narrow(1, 2, 2):fill_(2.5)
        x:narrow(2, 1, (n + 1) // 2):fill_(1.5)
        return x
      end)
    end)
  end)

  it('are drawn at places of any alignment, and the same in the beginning of a longer draw', function()
    if device == 'cpu' then return end
    for _, dtype in ipairs(floats) do
      for _, how in ipairs { 'uniform_', 'normal_', 'exponential_', 'random_' } do
        local all = torch.zeros(10000, { device = device, dtype = torch[dtype] })
        local function drawn(offset, n)
          torch.manual_seed(3)
          local part = all:narrow(1, offset, n)
          return part[how](part):narrow(1, 1, 37):cpu()
        end
        local first = drawn(1, 37)
        for _, n in ipairs { 37, 4097, 8000 } do
          assert.is_true(torch.equal(first, drawn(1, n)))
          assert.is_true(torch.equal(first, drawn(2, n)))
          assert.is_true(torch.equal(first, drawn(9, n)))
        end
      end
    end
  end)

  it('vectors of random numbers have the right distribution', function()
    if device == 'cpu' then return end
    local n = 200000
    -- The largest distance from the distribution function: one time in 10^6 above 2.7 / sqrt(n) (Kolmogorov).
    local function agrees_with(x, cdf)
      local sorted = x:to(torch.float64):cpu():sort()
      local steps = torch.linspace(1 / n, 1, n, { dtype = torch.float64 })
      assert.is_true((cdf(sorted) - steps):abs():max():item() < 2.7 / n ^ 0.5)
    end
    for _, dtype in ipairs { 'float32', 'float64' } do
      local options = { device = device, dtype = torch[dtype] }
      torch.manual_seed(5)
      local z = torch.empty(n, options):normal_(3, 2)
      local function normal(x) return (torch.erf((x - 3) / 8 ^ 0.5) + 1) / 2 end
      agrees_with(z, normal)
      -- Neighbours are independent: so is their angle, and what lies far out is there on both sides.
      local pairs_ = ((z - 3) / 2):view(-1, 2):to(torch.float64):cpu()
      local x, y = pairs_:select(2, 1), pairs_:select(2, 2)
      local bound = 5 / (n / 2) ^ 0.5
      assert.is_true(math.abs((x * y):mean():item()) < bound)
      assert.is_true(math.abs((x ^ 2 * y ^ 2):mean():item() - 1) < 3 * bound)
      assert.is_true(math.abs((x ^ 3 * y):mean():item()) < 4 * bound)
      for _, turned in ipairs { x + y, x - y, x * 0.5 ^ 0.5 + y * 0.5 ^ 0.5 } do
        assert.is_true(math.abs(turned:mean():item()) < 2 * bound)
      end
      assert.is_true(z:max():item() > 3 + 2 * 3.5 and z:min():item() < 3 - 2 * 3.5)
      agrees_with(torch.empty(n, options):exponential_(2), function(v) return 1 - torch.exp(v * -2) end)
      agrees_with(torch.empty(n, options):uniform_(-1, 1), function(v) return (v + 1) / 2 end)
    end
  end)
end)

describe('rows in vectors', function()
  setup(function() torch.manual_seed(12) end)

  it('have a softmax', function()
    each_length(function(n)
      agrees('softmax ' .. n, { { 9, n }, { 9, n } }, function(x, g)
        x = x:clone():requires_grad_()
        local soft, log = F.softmax(x, { dim = -1 }), F.log_softmax(x, { dim = -1 })
        local a, b = torch.autograd.grad({ soft }, { x }, { g }), torch.autograd.grad({ log }, { x }, { g })
        return soft:detach(), log:detach(), a[1], b[1]
      end)
    end)
  end)

  it('are normalized', function()
    for _, n in ipairs { 1, 3, 8, 33, 36, 64, 257, 520, 1024, 4100, 9000 } do
      if n > 1 then
        agrees('layer_norm ' .. n, { { 6, n }, { n }, { n }, { 6, n } }, function(x, w, b, g)
          x, w, b = x:clone():requires_grad_(), w:clone():requires_grad_(), b:clone():requires_grad_()
          local y = F.layer_norm(x, { n }, { weight = w, bias = b })
          local d = torch.autograd.grad({ y }, { x, w, b }, { g })
          return y:detach(), F.rms_norm(x:detach(), { n }), d[1], d[2], d[3]
        end, { 'float32', 'float64', 'bfloat16' })
      end
    end
    for _, n in ipairs { 1, 3, 4, 16, 50 } do
      agrees('group_norm ' .. n, { { 3, 6, n + 1 }, { 6 }, { 6 }, { 3, 6, n + 1 } }, function(x, w, b, g)
        x, w, b = x:clone():requires_grad_(), w:clone():requires_grad_(), b:clone():requires_grad_()
        local y = F.group_norm(x, 2, { weight = w, bias = b })
        local d = torch.autograd.grad({ y }, { x, w, b }, { g })
        return y:detach(), d[1], d[2], d[3]
      end, { 'float32', 'float64' })
    end
  end)

  it('are normalized by channels', function()
    for _, inner in ipairs { 1, 3, 4, 8, 40 } do
      for _, channels in ipairs { 3, 8, 33 } do
        agrees(('batch_norm %d x %d'):format(channels, inner), { { 5, channels, inner }, { channels }, { channels }, { 5, channels, inner } },
          function(x, w, b, g)
            x, w, b = x:clone():requires_grad_(), w:clone():requires_grad_(), b:clone():requires_grad_()
            local mean, var = torch.zeros_like(w):detach(), torch.ones_like(w):detach()
            local y = F.batch_norm(x, mean, var, { weight = w, bias = b, training = true })
            local d = torch.autograd.grad({ y }, { x, w, b }, { g })
            local z = F.batch_norm(x:detach(), mean, var, { weight = w:detach(), bias = b:detach() })
            return y:detach(), z, mean, var, d[1], d[2], d[3]
          end, { 'float32', 'float64' })
      end
    end
  end)

  it('are summed', function()
    each_length(function(n)
      agrees('sum ' .. n, { { 4, n } }, function(x)
        return x:sum(), x:sum(2), x:mean(2), x:amax(2), x:norm(), x:gt(0):any(2):to(x.dtype), x:to(torch.int32):sum(2):to(x.dtype),
          x:narrow(2, 1, n // 2 + 1):sum(2), x:sum(1)
      end)
    end)
  end)

  it('have extremes and their positions, the first of equal ones', function()
    each_length(function(n)
      agrees('max ' .. n, { { 5, n } }, function(x)
        x = (x * 3):round()
        local values, positions = x:max(2)
        local least, where = x:min(2)
        return values, positions:to(x.dtype), least, where:to(x.dtype), x:to(torch.int64):argmax():to(torch.float64), x:argmin(1):to(x.dtype)
      end, { 'float32', 'float64' })
    end)
    agrees('long rows', { { 2, 300001 } }, function(x)
      local values, positions = x:max(2)
      return values, positions:double()
    end, { 'float32' })
  end)

  it('have running totals and extremes, of short lines and of many chunks, dense or not', function()
    local function totals(x)
      local most, where = (x * 2):round():cummax(2)
      return x:cumsum(2), (x / 50 + 1):cumprod(2), x:logcumsumexp(2), most, where:double(), (x * 9):to(torch.int32):cumsum(2):double()
    end
    for _, n in ipairs { 1, 63, 65, 512, 4095, 4097, 9000 } do
      agrees('totals ' .. n, { { 3, n } }, totals, { 'float32', 'float64' })
      agrees('totals of columns ' .. n, { { n, 3 } }, function(x) return totals(x:t()) end, { 'float64' })
    end
    agrees('long lines', { { 2, 150001 } }, function(x)
      local most, where = x:cummax(2)
      return x:cumsum(2), most, where:double()
    end, { 'float64' })
    local x = torch.randn(150000, { device = device })
    local first = x:cumsum(1)
    for _ = 1, 3 do assert.is_true(torch.equal(first, x:cumsum(1))) end
  end)

  it('are sorted with their positions, equal ones in their order', function()
    for _, dtype in ipairs { 'float32', 'float64', 'float16', 'bfloat16', 'int64', 'int32', 'int16', 'int8', 'uint8', 'bool' } do
      for _, n in ipairs { 7, 1024, 1025, 4097, 9000 } do
        local x = torch.randn(2, n) * 50
        if dtype == 'uint8' then x = x:abs() end
        x = x:to(torch[dtype])
        if dtype:find 'float' then
          for i, special in ipairs { 0 / 0, 1 / 0, -1 / 0, -0.0, 0.0, 0 / 0 } do x[{ 1, i }] = special end
        end
        for _, descending in ipairs { false, true } do
          local options = { dim = 2, descending = descending, stable = true }
          local expected, order = torch.sort(x, options)
          local actual, positions = torch.sort(x:to(device), options)
          local words = ('%s, %d, descending %s'):format(dtype, n, descending)
          assert.is_true(torch.equal(order, positions:cpu()), words)
          assert.is_true(torch.equal(expected:double():nan_to_num(7.5), actual:cpu():double():nan_to_num(7.5)), words)
        end
      end
    end
  end)

  it('have the same largest and smallest of long lines, of equal ones the first', function()
    for _, dtype in ipairs { 'float32', 'float64', 'float16', 'bfloat16', 'int64', 'int32', 'int16', 'int8', 'uint8', 'bool' } do
      for _, spread in ipairs { 2, 1000 } do
        local x = torch.randn(3, 11000) * spread
        if dtype == 'uint8' then x = x:abs() end
        x = x:clamp(-120, dtype:find '8' and 120 or 1e4):to(torch[dtype])
        if dtype:find 'float' then
          for i, special in ipairs { 0 / 0, 1 / 0, -1 / 0, -0.0, 0.0, 0 / 0 } do x[{ 2, 5000 + i }] = special end
        end
        for _, largest in ipairs { true, false } do
          for _, k in ipairs { 1, 33, 1000 } do
            local expected, order = torch.topk(x, k, 2, largest)
            local actual, positions = torch.topk(x:to(device):t(), k, 1, largest)
            local words = ('%s, %d, largest %s'):format(dtype, k, largest)
            assert.is_true(torch.equal(order, positions:t():cpu()), words)
            assert.is_true(torch.equal(expected:double():nan_to_num(7.5), actual:t():cpu():double():nan_to_num(7.5)), words)
          end
        end
      end
    end
  end)

  it('rows of complex numbers agree with the CPU, contiguous or strided', function()
    for _, dtype in ipairs { 'complex64', 'complex128' } do
      for _, n in ipairs { 1, 2, 7, 1000 } do
        local a, b = torch.randn(n + 1, { dtype = torch[dtype] }), torch.randn(n + 1, { dtype = torch[dtype] })
        for first = 1, 2 do
          local x, y = a:narrow(1, first, n), b:narrow(1, 1, n)
          local u, v = a:to(device):narrow(1, first, n), b:to(device):narrow(1, 1, n)
          for i, pair in ipairs { { x * y, u * v }, { x / y - 2, u / v - 2 }, { torch.addcmul(x, y, x), torch.addcmul(u, v, u) } } do
            local worst = (pair[1] - pair[2]:cpu()):abs() / (1 + pair[1]:abs())
            assert(worst:max():item() < 1e-5, ('%s, %d from %d, %d'):format(dtype, n, first, i))
          end
        end
      end
    end
  end)

  it('rows accept in-place addition', function()
    for _, n in ipairs { 1, 7, 64 } do
      agrees('index_add ' .. n, { { 9, n }, { 4, n } }, function(x, y)
        local rows = torch.tensor({ 2, 5, 9, 2 }, { device = x.device })
        return x:index_add(1, rows, y), x:scatter_add(1, rows:view(4, 1):expand(4, n), y)
      end)
    end
  end)

  it('take many rows, added up before they are rounded and always in the same order', function()
    for _, dtype in ipairs(floats) do
      for _, places in ipairs { 1, 5, 300 } do
        for _, shape in ipairs { { 31, 200 }, { 64, 64 }, { 520, 33 }, { 1000, 8 } } do
          local n, columns = shape[1], shape[2]
          local index, x, y = torch.randint(1, places + 1, { n }), torch.randn(places, columns):to(torch[dtype]), torch.randn(n, columns):to(torch[dtype])
          index:narrow(1, 1, n // 2):fill_(places)
          local expected = x:double():index_add(1, index, y:double())
          local function add() return x:to(device):index_add(1, index:to(device), y:to(device)):cpu() end
          local actual = add()
          local unit = ({ float32 = 1e-5, float64 = 1e-12, float16 = 2 ^ -11, bfloat16 = 2 ^ -8 })[dtype] -- of one rounding
          local off = ((actual:double() - expected):abs() / (1 + expected:abs())):max():item()
          local once = device ~= 'cpu' or dtype == 'float32' or dtype == 'float64'
          assert.is_true(not once or off <= unit * 1.01, ('%s, %d rows of %d: off by %g'):format(dtype, n, columns, off))
          assert.is_true(torch.equal(actual, add()))
        end
      end
    end
  end)

  it('half types are added at any offset without changing their neighbours', function()
    for _, dtype in ipairs { 'float16', 'bfloat16' } do
      for offset = 1, 2 do
        local all = torch.full({ 10 }, -0.0, { dtype = torch[dtype], device = device })
        local index = torch.tensor({ 1, 1, 2, 7, 7, 7, 4 }, { device = device })
        local values = torch.tensor({ 1, 2, 3, 4, 5, 6, -0.0 }, { device = device }):to(torch[dtype])
        all:narrow(1, offset, 7):scatter_add_(1, index, values)
        local expected = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
        expected[offset], expected[offset + 1], expected[offset + 6] = 3, 3, 15
        for i, value in ipairs(all:float():tolist()) do
          assert.equal(expected[i], value)
          if value == 0 then assert.equal(-1 / 0, 1 / value) end
        end
      end
    end
  end)

  it('are updated by an optimizer', function()
    for _, n in ipairs { 1, 3, 8, 1030 } do
      agrees('Adam ' .. n, { { n }, { n } }, function(x, g)
        local p = x:clone():requires_grad_()
        local optimizer = torch.optim.Adam({ p }, { lr = 0.1 })
        for _ = 1, 2 do
          p.grad = g:clone()
          optimizer:step()
        end
        return p:detach()
      end, { 'float32', 'float64' })
    end
  end)
end)

describe('pieces #cpu', function()
  it('of a call with more than 2^32 elements give the result of the whole call', function()
    local code = [[
torch.manual_seed(1)
local function all(device)
  local x, row, column = torch.randn(70, 90), torch.randn(90), torch.randn(70, 1)
  torch.manual_seed(2)
  x, row, column = x:to(device), row:to(device), column:to(device)
  local filled = torch.zeros(64, 128, {device = device})
  filled:narrow(2, 3, 100):fill_(3)
  return { x + row, x * column, x:t() - column:t():contiguous():view(1, 70):expand(90, 70), x:gt(row), x:to(torch.float16), x:t():to(torch.int32),
    x:t():contiguous(), x:narrow(2, 2, 80):contiguous(), filled, x:view(-1):abs() }
end
torch.manual_seed(1)
local expected = all 'cpu'
torch.manual_seed(1)
for i, actual in ipairs(all 'cuda') do
  local difference = (actual:cpu():to(torch.float64) - expected[i]:to(torch.float64)):abs():max():item()
  print(i, difference < 1e-6)
end]]
    for _, limit in ipairs { 1, 5000, 30000 } do
      local output, errors = process.run(('LTENSOR_SIM_INDEX_LIMIT=%d %s --no-copies --sim-gpus 1 -e %s'):format(limit, process.quote(process.ltensor),
        process.quote(code)))
      local lines = {}
      for i = 1, 10 do lines[i] = i .. '\ttrue\n' end
      assert.equal(table.concat(lines), output, errors)
    end
  end)
end)
