-- Ops at sizes just below, at and above those where the source takes another way: vectors, blocks, tiles, chunks, rows that are
-- flushed, sorts of other kinds, threads. A large result is compared with the same op of small pieces, or of the other
-- layout, where another way was taken.

local torch = require 'torch'
local F = torch.nn.functional
local reference = dofile((debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. 'support/reference.lua')
local sample = require 'support.sample'
local device = reference.device

local SIZES = { 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 257, 511, 513, 1025, 2049 }

local function random(...) return torch.randn({ ... }, { dtype = torch.float64 }):to(device) end

local function close(got, wanted, what)
  local off = (got:double() - wanted:double()):abs():max():item()
  local scale = math.max(wanted:double():abs():max():item(), 1)
  if not (off <= 2e-5 * scale) then error(('%s: off by %g'):format(what, off), 0) end
end

-- The ways in which a matrix can lie.
local layouts = {
  contiguous = function(x) return x:contiguous() end,
  transposed = function(x) return x:t():contiguous():t() end,
  strided = function(x)
    local wide = torch.full({ x:size(1), 2 * x:size(2) }, 0 / 0, { dtype = x.dtype, device = x.device })
    local view = wide[{ {}, { 1, -1, 2 } }]
    view:copy_(x)
    return view
  end,
  offset = function(x)
    local line = torch.zeros(x:numel() + 1, { dtype = x.dtype, device = x.device })
    local view = line:narrow(1, 2, x:numel()):view(x:size(1), x:size(2))
    view:copy_(x)
    return view
  end,
}

-- f along dimension 1 of a matrix of n rows is f of each of its columns as a line of its own.
local along = {
  sum = function(x, d) return x:sum(d) end, mean = function(x, d) return x:mean(d) end,
  prod = function(x, d) return (x * 0.1 + 1):prod(d) end, amax = function(x, d) return x:amax(d) end,
  amin = function(x, d) return x:amin(d) end, var = function(x, d) return x:var(d, { unbiased = false }) end,
  logsumexp = function(x, d) return x:logsumexp(d) end, norm = function(x, d) return x:norm(2, d) end,
  argmax = function(x, d) return x:argmax(d) end, argmin = function(x, d) return x:argmin(d) end,
  median = function(x, d) return (x:median(d)) end, count_nonzero = function(x, d) return torch.count_nonzero(x, d) end,
}
local scans = {
  cumsum = function(x, d) return x:cumsum(d) end, cumprod = function(x, d) return (x * 0.01 + 1):cumprod(d) end,
  cummax = function(x, d) return (x:cummax(d)) end, logcumsumexp = function(x, d) return x:logcumsumexp(d) end,
  softmax = function(x, d) return F.softmax(x, d) end, log_softmax = function(x, d) return F.log_softmax(x, d) end,
  sort = function(x, d) return (x:sort(d)) end, argsort = function(x, d) return x:argsort(d) end,
  softmax_gradient = function(x, d)
    local leaf = x:detach():clone():requires_grad_()
    F.softmax(leaf, d):backward(x * x)
    return leaf.grad
  end,
  log_softmax_gradient = function(x, d)
    local leaf = x:detach():clone():requires_grad_()
    F.log_softmax(leaf, d):backward(x * x)
    return leaf.grad
  end,
}

describe('columns agree with separate rows', function()
  -- Of few columns each is brought together; others are worked on side by side, in tiles of hundreds.
  local function compare(name, f, rows, columns, dim)
    local x = random(rows, columns):float()
    local wanted
    if columns == 3 then
      local lines = {}
      for c = 1, 3 do lines[c] = f(x[{ {}, c }]:contiguous(), 1) end
      wanted = torch.stack(lines, dim)
    else
      wanted = f(x:t():contiguous(), 2)
      if dim == 2 then wanted = wanted:t() end
    end
    for layout, view in pairs(layouts) do
      close(f(view(x), 1), wanted, ('%s of %d rows of %d, %s'):format(name, rows, columns, layout))
    end
  end

  for _, group in ipairs { along, scans } do
    local dim = group == along and 1 or 2
    for name, f in pairs(group) do
      it(name, function()
        for _, n in ipairs(sample(SIZES)) do compare(name, f, n, 3, dim) end
        for _, n in ipairs(sample { 2, 3, 5, 9, 17, 33, 64, 129, 257, 1025 }) do compare(name, f, n, 37, dim) end
        for _, n in ipairs(sample { 3, 130 }) do compare(name, f, n, 2049, dim) end
      end)
    end
  end

  it('in half types and double', function()
    for _, dtype in ipairs { 'float16', 'bfloat16', 'float64' } do
      for _, n in ipairs { 5, 64, 129, 513 } do
        local x = random(n, 4):to(torch[dtype])
        for _, name in ipairs { 'sum', 'amax', 'logsumexp' } do
          local wanted = along[name](x:double(), 1):to(torch[dtype])
          local got = along[name](x, 1)
          local off = (got:double() - wanted:double()):abs():max():item()
          local unit = dtype == 'bfloat16' and 2.0 ^ -7 or dtype == 'float16' and 2.0 ^ -10 or 1e-12
          assert(off <= unit * math.max(wanted:double():abs():max():item(), 1), ('%s of %d rows in %s: %g'):format(name, n, dtype, off))
        end
      end
    end
  end)
end)

describe('sums of large vectors', function()
  it('sums of large vectors equal the sums of their parts', function()
    for _, n in ipairs { 2047, 2048, 2049, 32767, 32769, 131071, 131073, 300001 } do
      local x = torch.rand(n, { dtype = torch.float64 }):to(device)
      local total = 0
      for _, piece in ipairs(x:split(1000)) do total = total + piece:sum():item() end
      assert.is_true(math.abs(x:sum():item() / total - 1) < 1e-12)
      assert.is_true(math.abs(x:float():sum():item() / total - 1) < 1e-5)
      assert.is_true(math.abs(x:float():mean():item() * n / total - 1) < 1e-5)
    end
  end)

  it('and so are elementwise results and running sums', function()
    for _, n in ipairs { 511, 513, 131071, 131073, 262145 } do
      local x = torch.rand(n, { dtype = torch.float64 }):to(device)
      local sums, exps, before = x:cumsum(1), x:exp(), 0
      local at = 1
      for _, piece in ipairs(x:split(50021)) do
        local m = #piece
        close(sums:narrow(1, at, m), piece:cumsum(1) + before, 'cumsum')
        assert.is_true(exps:narrow(1, at, m):eq(piece:exp()):all():item())
        before, at = sums[at + m - 1]:item(), at + m
      end
    end
  end)
end)

describe('nan', function()
  it('wins in every row of a column', function()
    for _, rows in ipairs { 1, 2, 4, 5, 6, 9, 17, 130 } do
      for row = 1, rows, math.max(rows // 7, 1) do
        local x = random(rows, 5):float()
        x[{ row, 3 }] = 0 / 0
        for _, name in ipairs { 'amax', 'amin' } do
          local nans = x[name](x, 1):isnan():tolist()
          assert.same({ false, false, true, false, false }, nans)
        end
        local values, places = x:max(1)
        assert.is_true(values[3]:isnan():item())
        assert.equal(row, places[3]:item())
      end
    end
  end)

  it('of two the first is the place of the extreme', function()
    for _, n in ipairs { 4, 9, 40, 700 } do
      local x = random(n):float()
      local first, second = n // 3 + 1, n - 1
      x[first], x[second] = 0 / 0, 0 / 0
      assert.equal(first, x:argmin():item())
      assert.equal(first, x:argmax():item())
      for _, width in ipairs { 3, 40 } do
        local columns = x:reshape(n, 1):expand(n, width):contiguous()
        for _, name in ipairs { 'argmin', 'argmax' } do
          local places = columns[name](columns, 1)
          assert.same({ first, first }, { places:min():item(), places:max():item() })
        end
        local greatest, least = select(2, columns:max(1)), select(2, columns:min(1))
        assert.same({ first, first }, { greatest:max():item(), least:max():item() })
      end
    end
  end)
end)

describe('a loss', function()
  it('a loss with label smoothing excludes ignore_index', function()
    local logits = random(6, 4):requires_grad_()
    local targets = torch.tensor({ 1, 4, 2, 2, 3, 1 }, { device = device })
    for _, weights in ipairs { false, torch.tensor({ 1.0, 2.0, 0.5, 3.0 }, { dtype = torch.float64, device = device }) } do
      local p = F.log_softmax(logits, 2)
      local sum, count = 0, 0
      for i = 1, 6 do
        local t = targets[i]:item()
        if t ~= 2 then
          local w = weights and weights[t]:item() or 1
          local smooth = weights and (p[i] * weights):sum() or p[i]:sum()
          sum = sum - 0.7 * w * p[{ i, t }] - 0.3 / 4 * smooth
          count = count + w
        end
      end
      local options = { ignore_index = 2, label_smoothing = 0.3, weight = weights or nil }
      local loss = F.cross_entropy(logits, targets, options)
      close(loss, sum / count, 'cross_entropy')
      local got = torch.autograd.grad(loss, { logits }, { retain_graph = true })
      local wanted = torch.autograd.grad(sum / count, { logits }, { retain_graph = true })
      got, wanted = torch.is_tensor(got) and got or got[1], torch.is_tensor(wanted) and wanted or wanted[1]
      close(got, wanted, 'its gradient')
      assert.equal(0, got[3]:abs():sum():item())
    end
  end)
end)

describe('instance_norm', function()
  it('keeps running statistics and, given them, normalizes by them in eval()', function()
    local x = random(3, 2, 40):float() * 2 + 1
    local net = torch.nn.InstanceNorm1d(2, { track_running_stats = true }):to { device = device }
    net(x)
    close(net.running_mean, x:mean { dim = { 1, 3 } } * 0.1, 'running_mean')
    close(net.running_var, x:var(3):mean(1) * 0.1 + 0.9, 'running_var')
    net:eval()
    local shape = { 1, 2, 1 }
    close(net(x), (x - net.running_mean:reshape(shape)) / (net.running_var:reshape(shape) + 1e-5):sqrt(), 'by running statistics')
    local plain = torch.nn.InstanceNorm1d(2)
    close(plain:eval()(x), (x - x:mean(3):unsqueeze(3)) / (x:var(3, { unbiased = false }):unsqueeze(3) + 1e-5):sqrt(), 'by its own in eval()')
  end)
end)

describe('short lines', function()
  it('short rows agree with single elements for every length and dtype', function()
    for _, dtype in ipairs { 'float32', 'float64', 'int64', 'int32' } do
      for _, n in ipairs(sample { 1, 2, 4, 5, 24, 25, 32, 33, 128, 129 }) do
        -- A simulated GPU takes a second for a thousand ops.
        for _, lines in ipairs(device == 'cpu' and { 15, 16, 17, 31, 33, 65 } or { 3 }) do
          local x = (random(2, lines, n + 1) * 20):to(torch[dtype])[{ {}, {}, { 1, n } }]
          local values, places = x:max(3)
          local got = { x:amin(3), values, places, x:argmin(3), x:sum(3), x:cumsum(3), x:flip(3) }
          for l = 1, lines do
            local line = x[{ 2, l }]:contiguous()
            local most, place = line:max(1)
            local wanted = { line:amin(1), most, place, line:argmin(1), line:sum(1), line:cumsum(1), line:flip(1) }
            for i, tensor in ipairs(wanted) do close(got[i][{ 2, l }], tensor, ('%d of %d lines of %d %s'):format(i, lines, n, dtype)) end
          end
        end
      end
    end
  end)

  it('are read from their end, elements of 4 and of 8 bytes', function()
    for _, dtype in ipairs { 'float32', 'int64', 'float16' } do
      for _, n in ipairs { 31, 32, 33, 100 } do
        local x = (random(3, n) * 20):to(torch[dtype])
        for _, dim in ipairs { 1, 2 } do
          local back = x:flip(dim)
          for i = 1, x:size(dim) do assert.is_true(back:select(dim, i):equal(x:select(dim, x:size(dim) + 1 - i))) end
        end
      end
    end
  end)
end)

describe('losses of so many elements that their steps are done together', function()
  local options = { smooth_l1_loss = { beta = 0.3 }, huber_loss = { delta = 0.3 } }
  for _, name in ipairs { 'smooth_l1_loss', 'huber_loss', 'l1_loss', 'mse_loss', 'binary_cross_entropy', 'binary_cross_entropy_with_logits', 'kl_div',
    'poisson_nll_loss', 'soft_margin_loss' } do
    it(('%s is that of its pieces'):format(name), function()
      local n = 65536
      local x = (torch.rand(2 * n) * 0.9 + 0.05):to(device):requires_grad_()
      local y = (torch.rand(2 * n) * 0.9 + 0.05):to(device)
      local function loss(a, b, reduction)
        local named = { reduction = reduction }
        for key, value in pairs(options[name] or {}) do named[key] = value end
        return F[name](a, b, named)
      end
      local piece = n - 1 -- smaller than what is done together
      local small = loss(x:narrow(1, 1, piece), y:narrow(1, 1, piece), 'none')
      local whole = loss(x, y, 'none')
      assert.is_true(whole:narrow(1, 1, piece):equal(small))
      close(loss(x, y, 'sum'), whole:sum(), 'the sum')
      local wanted = torch.autograd.grad(small:sum(), { x })
      local got = torch.autograd.grad(loss(x, y, 'sum'), { x })
      wanted, got = torch.is_tensor(wanted) and wanted or wanted[1], torch.is_tensor(got) and got or got[1]
      close(got:narrow(1, 1, piece), wanted:narrow(1, 1, piece), 'its gradient')
    end)
  end

  it('and failing ones give the memory back', function()
    local x, y = torch.rand(70000), torch.rand(70001)
    assert.error_matches(function() return F.smooth_l1_loss(x, y) end, 'must match the size')
    assert.equal(0, F.smooth_l1_loss(x, x):item()) -- no window is left open
  end)
end)

describe('interpolation', function()
  it('of lines is that of each line, there and back', function()
    for _, lines in ipairs(device == 'cpu' and { 1, 3, 15, 16, 17, 33 } or { 3 }) do
      for _, sizes in ipairs { { 1, 5 }, { 7, 3 }, { 20, 41 }, { 100, 37 } } do
        for _, mode in ipairs { 'linear', 'nearest' } do
          local x = random(1, lines, sizes[1]):float():requires_grad_()
          local y = F.interpolate(x, { size = sizes[2], mode = mode })
          local g = random(1, lines, sizes[2]):float()
          y:backward(g)
          for l = 1, lines do
            local line = x:detach()[{ {}, { l, l } }]:clone():requires_grad_()
            local alone = F.interpolate(line, { size = sizes[2], mode = mode })
            alone:backward(g[{ {}, { l, l } }])
            assert.is_true(alone:equal(y[{ {}, { l, l } }]))
            assert.is_true(line.grad:equal(x.grad[{ {}, { l, l } }]))
          end
        end
      end
    end
  end)

  it('of an image is that of its transpose', function()
    local x = random(2, 3, 40, 60)
    for _, mode in ipairs { 'nearest', 'bilinear', 'bicubic' } do
      for _, size in ipairs { { 80, 90 }, { 13, 17 }, { 40, 7 } } do
        local turned = F.interpolate(x:transpose(3, 4), { size = { size[2], size[1] }, mode = mode })
        close(F.interpolate(x, { size = size, mode = mode }), turned:transpose(3, 4), mode)
      end
    end
  end)

  it('by places with weights, one for each, is done along every dimension', function()
    local x = random(3000, 40) -- more than a job's
    local places, starts = torch.arange(39, -1, -3, { device = device }), torch.arange(15, { device = device })
    local weights = random(14)
    local lists = { starts, places, weights, starts, places, weights } -- those of the way back are not read
    local wanted = x:index_select(2, places + 1) * weights
    assert.is_true(wanted:equal(torch._C._resample(x, 2, table.unpack(lists))))
    assert.is_true(wanted:t():equal(torch._C._resample(x:t(), 1, table.unpack(lists))))
  end)

  it('of planes agrees with one dimension after the other, for many and distant rows', function()
    local function lists(n, out, taps, spread)
      local starts, places = { 0 }, {}
      for o = 1, out do
        for k = 1, taps(o) do places[#places + 1] = math.min(n - 1, (o * spread + k * k) % n) end
        starts[o + 1] = #places
      end
      places = torch.tensor(places, { dtype = torch.int64, device = device })
      return torch.tensor(starts, { dtype = torch.int64, device = device }), places, random(places:size(1))
    end
    local function one() return 1 end
    local function varied(o) return o % 5 end
    local function many(o) return o % 50 end
    for _, of_rows in ipairs { one, varied, many } do
      for _, of_columns in ipairs { one, varied, many } do
        for _, spread in ipairs { 1, 7 } do
          local x = random(5, 70, 90)
          local rows, columns = { lists(70, 130, of_rows, spread) }, { lists(90, 300, of_columns, spread) }
          local back = { rows[1], rows[2], rows[3] } -- those of the way back are not read
          local wanted = torch._C._resample(x, 3, columns[1], columns[2], columns[3], table.unpack(back))
          wanted = torch._C._resample(wanted, 2, rows[1], rows[2], rows[3], table.unpack(back))
          local got = torch._C._resample_planes(x, rows[1], rows[2], rows[3], back[1], back[2], back[3], columns[1], columns[2],
            columns[3], table.unpack(back))
          assert.is_true(wanted:equal(got))
        end
      end
    end
    local x = random(3, 40, 60) -- chosen, not weighted: lines of the result are copied
    local chosen = torch.nn.functional.interpolate(x:unsqueeze(1), { size = { 97, 55 } }):squeeze(1)
    local function places(from, to) return torch.arange(to, { device = device }) * from // to + 1 end
    assert.is_true(chosen:equal(x:index_select(2, places(40, 97)):index_select(3, places(60, 55))))
  end)

  it('refuses lists that lead out of its input', function()
    local x = torch.rand(2, 3)
    local function list(...) return torch.tensor({ ... }, { dtype = torch.int64 }) end
    local weights, back = torch.ones(2), { list(0, 1, 2, 2), list(0, 1), torch.ones(2) }
    local function resample(starts, sources) return torch._C._resample(x, 2, starts, sources, weights, table.unpack(back)) end
    assert.same({ { x[{ 1, 1 }]:item(), x[{ 1, 3 }]:item() }, { x[{ 2, 1 }]:item(), x[{ 2, 3 }]:item() } }, resample(list(0, 1, 2), list(0, 2)):tolist())
    assert.error_matches(function() resample(list(0, 1, 2), list(0, 3)) end, 'out of range')
    assert.error_matches(function() resample(list(0, 1, 2), list(-1, 1)) end, 'out of range')
    assert.error_matches(function() resample(list(0, 3, 2), list(0, 1)) end, 'out of range')
    assert.error_matches(function() resample(list(0, 1, 3), list(0, 1)) end, 'out of range')
    assert.error_matches(function() resample(list(0, 1, 2), list(0)) end, 'as many sources as weights')
  end)
end)
