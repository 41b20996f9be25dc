-- compile_spec.lua - torch.compile: the results are eager ones to the bit, whatever the function does; what runs together. The reference cases
-- run compiled in compile_reference_spec.lua. Random programs: ROUNDS=1000 runs more of them, SEED=n the same ones again.

local torch = require 'torch'
local F = torch.nn.functional

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local programs = dofile(here .. 'support/programs.lua')

local function gelu(x) return 0.5 * x * (1 + torch.tanh(0.798 * (x + 0.045 * x ^ 3))) end

-- f compiled so that ops on any number of elements are recorded, and the notes of its last call.
local function compiled(f)
  local seen = {}
  local run = torch.compile(f, { options = { min_numel = 1 }, explain = function(notes, all) seen.notes, seen.all = notes, all end })
  return run, seen
end

local function assert_same(expected, got)
  assert.is_true(programs.same(expected, got), ('expected %s\ngot %s'):format(expected, got))
end

-- Of all results of two calls, as table.pack has them.
local function assert_all_same(expected, got)
  assert.equal(expected.n, got.n)
  for i = 1, expected.n do assert_same(expected[i], got[i]) end
end

describe('a compiled function', function()
  it('a compiled function gives eager results in one pass and does not write unreachable values #lua54', function()
    local x = torch.randn(300, 700)
    local run, seen = compiled(gelu)
    assert_same(gelu(x), run(x))
    assert.equal(1, #seen.notes)
    local note = seen.notes[1]
    assert.same({ 8, 1, 1, 210000, 'end' }, { note.ops, note.passes, note.written, note.elements, note.reason })
  end)

  it('a compiled function does not write values of local variables and arguments #lua54', function()
    local a, b, c = torch.randn(100, 100), torch.randn(100, 100), torch.randn(100, 100)
    local function add(x, y) return x + y end
    for _, f in ipairs {
      function()
        local product = a * b
        local twice = product * 2
        return twice + c
      end,
      function() return add(a * b, c) end,
      function() return add(add(a, b), add(b, c)), 1, nil end,
    } do
      local run, seen = compiled(f)
      assert_same(f(), (run()))
      assert.same({ 1, 1, 'end' }, { #seen.notes, seen.notes[1].written, seen.notes[1].reason })
    end
  end)

  it('is eager where tensors are small', function()
    local notes
    local run = torch.compile(gelu, { explain = function(list) notes = list end })
    local x = torch.randn(100)
    assert_same(gelu(x), run(x))
    assert.same({}, notes)
  end)

  it('takes each call as it comes: shapes, dtypes, strides, numbers', function()
    local run = compiled(function(x, k) return (x * k + 1):exp() end)
    for _, x in ipairs { torch.randn(5), torch.randn(3, 4), torch.randn(3, 4):t(), torch.randn(2, 6):double(), torch.randn(7):half(),
      torch.arange(6), torch.randn(4, 1, 5):expand(4, 3, 5), torch.tensor(2.5), torch.empty(0) } do
      for _, k in ipairs { 2, 0.5 } do assert_same((x * k + 1):exp(), run(x, k)) end
    end
  end)

  it('runs as it stands: prints, counts and decides each time', function()
    local calls, x = 0, torch.tensor { 1.0, 2.0 }
    local run, seen = compiled(function(y)
      calls = calls + 1
      local twice = y * 2
      if twice:sum():item() > 0 then return twice + calls end
      return twice - calls
    end)
    assert_same(torch.tensor { 3.0, 5.0 }, run(x))
    assert_same(torch.tensor { -4.0, -6.0 }, run(-x))
    assert.equal(2, calls)
    assert.equal('sum', seen.notes[1].reason)
    assert.truthy(seen.notes[1].where:find 'compile_spec.lua:%d+')
  end)

  it('a compiled function reads changes of the tensors that it captures', function()
    local weight = torch.ones(3)
    local run = compiled(function(x) return x * weight + 1 end)
    local x = torch.tensor { 1.0, 2.0, 3.0 }
    assert_same(torch.tensor { 2.0, 3.0, 4.0 }, run(x))
    weight:mul_(10)
    assert_same(torch.tensor { 11.0, 21.0, 31.0 }, run(x))
    weight = torch.zeros(3)
    assert_same(torch.ones(3), run(x))
  end)

  it('a compiled function computes the readers of a tensor before the tensor is written', function()
    local run, seen = compiled(function(x)
      local before = x + 1
      x:mul_(2)
      local between = before * x
      before:sub_(1)
      x[1] = 7
      return before, between, x + 0
    end)
    local a, b, c = run(torch.tensor { 1.0, 2.0 })
    assert_same(torch.tensor { 1.0, 2.0 }, a)
    assert_same(torch.tensor { 4.0, 12.0 }, b)
    assert_same(torch.tensor { 7.0, 4.0 }, c)
    assert.equal('write', seen.notes[1].reason)
  end)

  it('gives equal results memory of their own #lua54', function()
    local run, seen = compiled(function(x) return x * 2, x * 2, (x * 2):exp() end)
    local x = torch.randn(50)
    local a, b, c = run(x)
    assert.equal(3, seen.notes[1].written)
    assert.equal(3, seen.notes[1].steps) -- one product, a copy of it, exp
    a:zero_()
    assert_same(x * 2, b)
    assert_same((x * 2):exp(), c)
  end)

  it('a compiled function keeps values that are referenced elsewhere', function()
    local kept = {}
    local run = compiled(function(x)
      kept.hidden = x:exp()
      kept.view = kept.hidden:narrow(1, 2, 2)
      return kept.hidden + 1
    end)
    local x = torch.randn(6)
    run(x)
    assert_same(x:exp(), kept.hidden)
    assert_same(x:exp():narrow(1, 2, 2), kept.view)
  end)

  it('draws the same random numbers', function()
    local function f(x) return (x + torch.rand(5)) * torch.randn(5) end
    local x = torch.randn(5)
    torch.manual_seed(3)
    local expected = f(x)
    torch.manual_seed(3)
    assert_same(expected, (compiled(f))(x))
  end)

  it('broadcasts, casts and gathers on the way #lua54', function()
    local function f(x, row, column) return ((x:t() + row) * column):half():float():exp() end
    local x, row, column = torch.randn(30, 40), torch.randn(30), torch.randn(40, 1)
    local run, seen = compiled(f)
    assert_same(f(x, row, column), run(x, row, column))
    assert.equal(1, seen.notes[1].written)
  end)

  it('takes the shorter way of a power of one element', function()
    for _, exponent in ipairs { 2, 3, 0.5, -0.5, -1 } do
      for value = 1, 20 do
        local x, e = torch.tensor(value / 7), torch.tensor(exponent - 1)
        local function f() return (x + 0.1) ^ (e + 1) end
        assert_same(f(), compiled(f)())
      end
    end
  end)

  it('clamps within a chain, by numbers and by tensors', function()
    local x, low = torch.randn(50, 3000), torch.rand(50, 3000)
    local function f(t) return (t * 2 - 1):clamp(-1, 1), (t + 1):clamp { min = low }, (t - 1):clamp { max = low } end
    local run, seen = compiled(f)
    local expected, got = table.pack(f(x)), table.pack(run(x))
    for i = 1, 3 do assert_same(expected[i], got[i]) end
    assert.same({ 1, 1, 'end' }, { #seen.notes, seen.notes[1].passes, seen.notes[1].reason })
  end)

  it('has blocks of any number of elements, of any sizes', function()
    local x = torch.randn(70001)
    local function f(t)
      local half, whole = t:bfloat16(), (t * 100):to(torch.int16)
      return half * 2 + 1, whole // 3 + whole, t:double():exp() - 3, 3 - t, t:gt(0.5):bitwise_not(), torch.where(t:lt(0), whole, 7), 1.5 * half
    end
    for _, n in ipairs { 1, 63, 64, 511, 513, 4097, 70001 } do
      local expected, got = table.pack(f(x:narrow(1, 1, n))), table.pack(compiled(f)(x:narrow(1, 1, n)))
      assert_all_same(expected, got)
    end
  end)

  it('does two steps at once as it does them one by one #lua54', function()
    local special = torch.tensor { 0.0, -0.0, math.huge, -math.huge, 0 / 0, 1e-40, -3e38, 3e38, 0.1, -7.25 }
    local x, y, z = special:repeat_interleave(100), special:repeat_interleave(10):tile { 10 }, special:tile { 100 }
    local function mul(a, b) return a * b end
    local function add(a, b) return a + b end
    local function sub(a, b) return a - b end
    local function half_more(a, b) return torch.add(a, b, { alpha = 0.5 }) end
    local firsts, seconds = { mul, add, sub, half_more }, { mul, add, sub, half_more, function(a, b) return b - a end }
    for _, name in ipairs { 'relu', 'abs', 'sqrt', 'square' } do seconds[#seconds + 1] = function(a) return a[name](a) end end
    local function check(f)
      local run, seen = compiled(f)
      assert_same(f(), run())
      assert.same({ 2, 1, 1 }, { seen.notes[1].steps, seen.notes[1].passes, seen.notes[1].written })
    end
    for _, dtype in ipairs { torch.float32, torch.float64, torch.float16, torch.bfloat16 } do
      local a, b, c = x:to(dtype), y:to(dtype), z:to(dtype)
      for _, first in ipairs(firsts) do
        for _, pair in ipairs { { a, b }, { a, 0.3 }, { torch.tensor(0.3, { dtype = dtype }), b } } do
          for _, second in ipairs(seconds) do
            for _, other in ipairs { c, 0.7 } do
              check(function() return second(first(pair[1], pair[2]), other) end)
            end
          end
        end
      end
    end
  end)

  it('has more values than fit into one chain', function()
    local function f(x)
      local all = {}
      for i = 1, 400 do
        x = x * 1.001 + i
        all[i] = x
      end
      return x, all[7], all[200]
    end
    local x = torch.randn(20)
    local a, b, c = (compiled(f))(x)
    local d, e, g = f(x)
    assert_same(d, a)
    assert_same(e, b)
    assert_same(g, c)
  end)

  it('a compiled function reads a rolled tensor without a copy #lua54', function()
    local function check(what, x, f, ...)
      local run, seen = compiled(f)
      assert_same(f(x), run(x))
      for i, wanted in ipairs { ... } do
        local note = seen.notes[i]
        assert.same(wanted, { note.passes, note.written }, what)
      end
    end
    local function shifted(t, by, along) return t * 2 + t:roll(by, along) end
    for _, shape in ipairs { { 7 }, { 1000 }, { 3, 5 }, { 40, 333 }, { 2, 3, 700 }, { 600, 5, 3 }, { 3, 130, 2, 65 } } do
      for _, dtype in ipairs { torch.float32, torch.float64, torch.int8, torch.bfloat16 } do
        local x = (torch.randn(shape) * 50):to(dtype)
        for d = 1, #shape do
          for _, by in ipairs { 1, -1, 2, shape[d], 1000001 } do
            check('one', x, function(t) return shifted(t, by, d) end, { 1, 1 })
            check('two', x, function(t) return shifted(t, { by, -2 * by }, { d, #shape }) end, { 1, 1 })
          end
        end
        check('flat', x, function(t) return shifted(t, 3) end)
      end
    end
    local x = torch.randn(50, 30)
    check('life', x, function(t)
      local near = -t
      for down = -1, 1 do
        for right = -1, 1 do near = near + t:roll({ down, right }, { 1, 2 }) end
      end
      return near:gt(0) | near:lt(t)
    end, { 1, 1 })
    check('summed', x, function(t) return (t:roll({ 3, 4 }, { 1, 2 }) * 2):sum() end, { 1, 0 })
    check('fed', x, function(t) return t:roll(3, 2):sum() end, { 1, 0 })
    check('lines', x, function(t) return F.softmax(t:roll(3, 2) + t, 2) end, { 1, 0 })
    check('what is computed before it', x, function(t) return (t * 2):roll(3, 1) + t end, { 2, 2 })
    check('a roll of a roll', x, function(t) return t:roll(3, 1):roll(5, 1) + t end, { 2, 2 })
    check('three dimensions', torch.randn(4, 5, 6), function(t) return t:roll({ 1, 2, 3 }, { 1, 2, 3 }) * 2 end)
    check('strided', x, function(t) return t:t():roll(3, 1) + 1 end)
    check('itself', x, function(t) return t:roll({ 3, 1 }, { 1, 2 }) end, { 1, 1 })
    check('what it moves is written later', x:clone(), function(t)
      local y = t:clone()
      local moved = y:roll(7, 2)
      y:fill_(3)
      return moved + y
    end)
    local run = compiled(function(t) return (t:roll({ 3, 1 }, { 1, 2 }) * t):sum() end)
    local a, b = x:clone():requires_grad_(), x:clone():requires_grad_()
    run(a):backward()
    local eager = (b:roll({ 3, 1 }, { 1, 2 }) * b):sum()
    eager:backward()
    assert_same(b.grad, a.grad)
    local moved, added = (compiled(function(t) local r = t:roll(2, 1) return r, r + t end))(x)
    assert_same(x:roll(2, 1), moved)
    assert_same(x:roll(2, 1) + x, added)
  end)

  it('a fused reduction gives the same bits without writing its input', function()
    local function check(reason, x, f)
      local run, seen = compiled(f)
      assert_same(f(x), run(x))
      local note = seen.notes[1]
      assert.same({ reason, 1, 0 }, { note.reason, note.passes, note.written })
    end
    for _, shape in ipairs { { 300001 }, { 20, 4000 }, { 37, 1001 }, { 10000, 2 }, { 5000, 9 }, { 3000, 17 }, { 2000, 24 }, { 12, 12000 }, { 2, 262144 }, { 50, 3, 70 } } do
      local x = torch.randn(shape)
      for _, name in ipairs { 'sum', 'mean', 'prod', 'any', 'norm', 'nansum', 'count_nonzero' } do check(name, x, function(t) return torch[name]((t * 2 + 1):tanh()) end) end
      for _, name in ipairs { 'sum', 'mean', 'all', 'norm', 'nansum' } do check(name, x, function(t) return torch[name]((t * 2 + 1):tanh(), { dim = -1 }) end) end
      check('max', x, function(t) return (t * 2 + 1):amax(-1) end)
      check('min', x:bfloat16(), function(t) return (t * 2 + 1):amin() end)
      check('sum', (x * 10):int(), function(t) return (t * 2 + 1):sum() end)
      for _, name in ipairs { 'sum', 'prod', 'norm' } do check(name, x:double(), function(t) return torch[name](t * 1.001) end) end
      if #shape > 1 and shape[#shape] <= 8192 then
        for _, name in ipairs { 'var', 'std', 'logsumexp' } do check(name, x, function(t) return torch[name](t * 2 + 1, -1) end) end
      end
    end
  end)

  it('finds the extremes of a long line that has nan, infinities, or zeros of both signs alone', function()
    local run = compiled(function(t) return (t * 1):amax(), (t * 1):amin() end)
    for _, numbers in ipairs { { 0, -0.0 }, { -0.0, 0 }, { math.huge, -math.huge }, { 0 / 0, 1 } } do
      local x = torch.full({ 30000 }, numbers[1])
      for i = 9000, 29000, 4999 do x[i] = numbers[2] end
      local largest, least = run(x)
      assert_same(x:amax(), largest)
      assert_same(x:amin(), least)
    end
  end)

  it('reduces down columns without writing, to the same bits', function()
    local function check(written, x, f)
      local run, seen = compiled(f)
      local expected, got = table.pack(f(x)), table.pack(run(x))
      assert_all_same(expected, got)
      assert.same({ 1, written }, { seen.notes[1].passes, seen.notes[1].written }, ('%s of %s'):format(seen.notes[1].reason, x.shape))
    end
    for _, shape in ipairs { { 300, 70 }, { 5000, 4 }, { 4001, 5 }, { 3000, 31 }, { 900, 33 }, { 3, 2048 }, { 70, 2047 }, { 9001, 100 }, { 20000, 64 }, { 5, 6, 70 } } do
      local x = torch.randn(shape)
      for _, name in ipairs { 'sum', 'mean', 'any', 'norm', 'nansum', 'amax' } do
        check(0, x, function(t) return torch[name](torch.tanh(t * 2 + 1), { dim = 1 }) end)
      end
      check(0, x:bfloat16(), function(t) return (t * 2 + 1):sum(1) end)
      check(0, (x * 10):int(), function(t) return (t * 2 + 1):sum(1) end)
      x[2][3] = 0 / 0
      check(0, x, function(t) return (t * 2 + 1):amin(1) end)
      local run = compiled(function(t)
        local y = t * 2 + 1
        return y:sum(1), y:sum(1), y
      end)
      local a, b, y = run(x)
      assert_same((x * 2 + 1):sum(1), a)
      assert_same(a, b)
      assert_same(x * 2 + 1, y)
    end
    check(1, torch.randn(30, 3000), function(t) return (t * 2):sum(1) end) -- too many columns
    check(1, torch.randn(300, 70), function(t) return (t * 2):var(1) end) -- goes over them twice
  end)

  -- What takes lines of its argument: of any width.
  local of_lines = {
    softmax = function(t) return t:softmax(-1) end,
    log_softmax = function(t) return t:log_softmax(-1) end,
    layer_norm = function(t, weight, bias) return F.layer_norm(t, t.shape[t.ndim], { weight = weight, bias = bias }) end,
    rms_norm = function(t, weight) return F.rms_norm(t, t.shape[t.ndim], { weight = weight }) end,
    group_norm = function(t) return F.group_norm(t, t.shape[2] % 2 == 0 and 2 or 1) end,
  }
  local shapes_of_lines = { { 500, 2 }, { 500, 10 }, { 7, 130, 32 }, { 40, 33 }, { 300, 64 }, { 101, 1000 }, { 2, 4, 9000 }, { 2, 65536 } }

  it('gives softmax and norms the lines that it computes without writing them, to the same bits', function()
    for name, take in pairs(of_lines) do
      for _, shape in ipairs(shapes_of_lines) do
        for _, dtype in ipairs { torch.float32, torch.float64, torch.float16, torch.bfloat16 } do
          local x, weight = torch.randn(shape):to(dtype), torch.randn(shape[#shape]):to(dtype)
          local f = function(t) return take((t * 2 + 1):tanh(), weight, weight) end
          local run, seen = compiled(f)
          assert_same(f(x), run(x))
          assert.same({ 1, 0 }, { seen.notes[1].passes, seen.notes[1].written }, ('%s of %s'):format(name, x.shape))
        end
      end
    end
  end)

  it('a fused reduction passes gradients on and writes saved values in the same pass', function()
    for name, take in pairs(of_lines) do
      for _, shape in ipairs(shapes_of_lines) do
        for _, dtype in ipairs { torch.float32, torch.float64, torch.bfloat16 } do
          local x, factor = torch.randn(shape):to(dtype), torch.randn(shape):to(dtype)
          local parameters = { torch.randn(shape[#shape]):to(dtype), torch.randn(shape[#shape]):to(dtype) }
          local function step(t)
            local leaf, weight, bias = t:clone():requires_grad_(), parameters[1]:clone():requires_grad_(), parameters[2]:clone():requires_grad_()
            local loss = (take(leaf * 2 + 1, weight, bias) * factor * 0.5):sum()
            loss:backward()
            return loss:detach(), leaf.grad, weight.grad or loss, bias.grad or loss
          end
          local run, seen = compiled(step)
          local expected, got = table.pack(step(x)), table.pack(run(x))
          assert_all_same(expected, got)
          local noted = {}
          for _, note in ipairs(seen.notes) do noted[note.reason] = note.written end
          local softmax = name:find 'softmax' ~= nil
          assert.same({ softmax and 0 or 1, 0 }, { noted[softmax and name or 'layer_norm'], noted[softmax and name .. '_backward' or 'layer_norm_backward'] }, name)
        end
      end
    end
  end)

  it('a compiled function reads rows from memory if they are strided, long, or were computed before', function()
    local x = torch.randn(6, 5, 4)
    for _, f in ipairs {
      function(t) return (t * 2):softmax(1), (t * 2):transpose(1, 3):softmax(-1), F.layer_norm((t * 2):transpose(1, 3), 6) end,
      function(t) return (t * 2):softmax(-1, { dtype = torch.float64 }), (t * 2)[2]:softmax(-1), F.layer_norm((t * 2)[2], 4) end,
      function(t)
        local y = t * 2
        return y:softmax(-1), y:log_softmax(-1), F.layer_norm(y, { 5, 4 }), y
      end,
      function(t)
        local y = t * 2
        return y:softmax(-1), (t * 2):add_(1), (t * 2):softmax(-1)
      end,
    } do
      local expected, got = table.pack(f(x)), table.pack((compiled(f))(x))
      assert_all_same(expected, got)
    end
    local long = torch.randn(2, 70000)
    local run, seen = compiled(function(t) return (t * 2):softmax(-1) end)
    assert_same((long * 2):softmax(-1), run(long))
    assert.equal(1, seen.notes[1].written)
    local empty = compiled(function(t) return (t * 2):softmax(-1), F.layer_norm(t * 2, 3) end)
    assert.equal(torch.Size { 0, 3 }, (empty(torch.empty(0, 3))).shape)
    local scalar = compiled(function(t) return (t * 2):softmax(-1) end)
    assert.equal(1, scalar(torch.tensor(3.0)):item())
  end)

  -- What takes planes of its argument, with windows of every kind that the kernels know.
  local of_planes = {
    ['max_pool1d, stride 1'] = { { 3, 5, 1001 }, function(t) return F.max_pool1d(t, 3, { stride = 1 }) end },
    ['max_pool2d'] = { { 2, 3, 30, 41 }, function(t) return F.max_pool2d(t, 3, { stride = 2, padding = 1 }) end },
    ['max_pool2d of one plane'] = { { 1, 250, 260 }, function(t) return F.max_pool2d(t, 2) end },
    ['max_pool3d'] = { { 2, 3, 5, 6, 7 }, function(t) return F.max_pool3d(t, 2, { stride = 1, dilation = 2 }) end },
    ['adaptive_max_pool2d'] = { { 2, 3, 30, 41 }, function(t) return F.adaptive_max_pool2d(t, { 4, 5 }) end },
    ['avg_pool1d of four'] = { { 3, 5, 4099 }, function(t) return F.avg_pool1d(t, 4) end },
    ['avg_pool2d'] = { { 2, 3, 30, 41 }, function(t) return F.avg_pool2d(t, 3, { stride = 1, padding = 1, count_include_pad = false }) end },
    ['avg_pool2d of four'] = { { 2, 3, 30, 42 }, function(t) return F.avg_pool2d(t, 2) end },
    ['avg_pool3d'] = { { 2, 5, 6, 7 }, function(t) return F.avg_pool3d(t, 2) end },
    ['adaptive_avg_pool2d'] = { { 9, 64, 7, 7 }, function(t) return F.adaptive_avg_pool2d(t, 1) end },
  }

  it('gives pools the planes that it computes without writing them, to the same bits', function()
    for name, case in pairs(of_planes) do
      for _, dtype in ipairs { torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64 } do
        local shape, take = case[1], case[2]
        if dtype ~= torch.int64 or not name:find '^a' then
          local x = (torch.randn(shape) * 3):to(dtype)
          local f = function(t) return take(t * 2 + 1) end
          local run, seen = compiled(f)
          assert_same(f(x), run(x))
          assert.same({ 1, 0 }, { seen.notes[1].passes, seen.notes[1].written }, name)
          if dtype ~= torch.int64 then
            local function step(t)
              local leaf = t:clone():requires_grad_()
              take((leaf * 2 + 1):relu()):sum():backward()
              return leaf.grad
            end
            assert_same(step(x), (compiled(step))(x))
          end
        end
      end
    end
  end)

  it('a compiled function does not fuse planes into pools if they are channels-last, large, or of narrow integers', function()
    local function pool(t) return F.max_pool2d(t * 2, 2), F.avg_pool2d(t * 2, 3) end
    for _, x in ipairs { torch.randn(2, 8, 20, 20):to { memory_format = torch.channels_last }, torch.randn(1, 2, 300, 300), torch.randn(2, 8, 20, 20):transpose(3, 4) } do
      local expected, got = table.pack(pool(x)), table.pack((compiled(pool))(x))
      assert_all_same(expected, got)
    end
    local bytes = torch.randint(0, 100, { 2, 3, 20, 20 }):to(torch.uint8)
    local run = compiled(function(t) return F.max_pool2d(t + 1, 2) end)
    assert_same(F.max_pool2d(bytes + 1, 2), run(bytes))
    local bad = compiled(function(t) return F.max_pool2d(t * 2, 50) end)
    assert.has_error(function() bad(torch.randn(2, 3, 20, 20)) end)
  end)

  it('reads lines that are repeated, short and long ones, and of every width', function()
    for _, n in ipairs { 1, 3, 33, 700 } do
      for _, m in ipairs { 2, 7, 100 } do
        for _, dtype in ipairs { torch.float32, torch.float64, torch.bfloat16, torch.uint8 } do
          local a, b = (torch.randn(5, n) * 9):to(dtype), (torch.randn(m, n) * 9):to(dtype)
          local wide = (torch.randn(5, 2 * n) * 9):to(dtype)[{ {}, { 1, 2 * n, 2 } }]
          local function apart(x) return (x:unsqueeze(2) - b:unsqueeze(1)) * 2 end
          local function total(x) return apart(x):float():abs():sum(-1), (x:t():unsqueeze(2) * 2 + x:t():unsqueeze(1)):amax(1) end
          for _, f in ipairs { apart, total } do
            for _, x in ipairs { a, wide } do
              local expected, got = table.pack(f(x)), table.pack((compiled(f))(x))
              assert_all_same(expected, got)
            end
          end
        end
      end
    end
  end)

  it('a compiled function writes a value that is read again', function()
    local x = torch.randn(300, 70)
    local run, seen = compiled(function(t)
      local y = t * 2
      return y:sum() + y:amax() + y:norm(), y
    end)
    local total, kept = run(x)
    assert_same((x * 2):sum() + (x * 2):amax() + (x * 2):norm(), total)
    assert_same(x * 2, kept)
    assert.equal(0, seen.notes[1].written)
    assert.equal(1, seen.notes[2].written)
  end)

  -- How many objects, each held during one call of f, were there at once at most.
  local function most_waiting(f)
    local held, most = setmetatable({}, { __mode = 'k' }), 0
    for _ = 1, 40 do
      do
        local object = {}
        held[object] = true
        f()
      end
      local n = 0
      for _ in pairs(held) do n = n + 1 end
      most = math.max(most, n)
    end
    return most
  end

  it('a compiled function collects at most once in a call, so that values of its caller stay young', function()
    local x = torch.randn(2000000)
    local most = most_waiting(torch.compile(function() return torch.exp(-x * x) end))
    assert.is_true(most <= 4, ('%d objects waited for a full collection'):format(most))
  end)

  it('collects also where nothing is recorded', function()
    local x = torch.randn(2000000)
    local most = most_waiting(torch.compile(function() return x:cumsum(1) end))
    assert.is_true(most <= 4, ('%d objects waited for a full collection'):format(most))
  end)

  it('may call another one', function()
    local inner = compiled(function(x) return x * 3 end)
    local run, seen = compiled(function(x) return inner(x) + 1 end)
    assert_same(torch.tensor { 4.0 }, run(torch.tensor { 1.0 }))
    assert.equal(1, #seen.notes)
  end)

  it('a compiled function raises the errors of ops at the call and keeps earlier results', function()
    local kept
    local run = compiled(function(x)
      kept = x * 2
      return kept + torch.ones(5)
    end)
    local ok, message = pcall(run, torch.ones(3))
    assert.is_false(ok)
    assert.truthy(tostring(message):find('must match the size of tensor b (5)', 1, true))
    assert_same(torch.full({ 3 }, 2.0), kept)
  end)

  it('works inside coroutines that are left', function()
    local run = compiled(function(x)
      local y = x * 2
      coroutine.yield()
      return y + 1
    end)
    local thread = coroutine.create(run)
    coroutine.resume(thread, torch.ones(2))
    assert_same(torch.tensor { 3.0, 3.0 }, torch.ones(2) * 3) -- meanwhile
    local _, result = coroutine.resume(thread)
    assert_same(torch.tensor { 3.0, 3.0 }, result)
  end)
end)

describe('gradients through a compiled function', function()
  local function gradients(f, ...)
    local leaves = { ... }
    for i, x in ipairs(leaves) do leaves[i] = x:clone():requires_grad_() end
    local y = f(table.unpack(leaves))
    y:backward(torch.ones_like(y) * 0.5)
    local list = { y:detach() }
    for _, x in ipairs(leaves) do list[#list + 1] = x.grad end
    return list
  end

  it('are eager ones', function()
    local function f(x, b) return gelu(x + b) * x - x:sigmoid() / (b * b + 1) end
    local x, b = torch.randn(30, 50), torch.randn(50)
    local expected, got = gradients(f, x, b), gradients((compiled(f)), x, b)
    for i = 1, #expected do assert_same(expected[i], got[i]) end
  end)

  it('are computed inside, too, with steps of an optimizer', function()
    local function train(step)
      torch.manual_seed(1)
      local w = torch.randn(40, 40):requires_grad_()
      local optimizer = torch.optim.SGD({ w }, { lr = 0.1, momentum = 0.9 })
      for _ = 1, 3 do step(w, optimizer) end
      return w:detach()
    end
    local function step(w, optimizer)
      optimizer:zero_grad()
      local loss = gelu(w:mm(w)):square():mean()
      loss:backward()
      optimizer:step()
    end
    assert_same(train(step), train((compiled(step))))
  end)

  it('of second order are eager ones', function()
    local function f(x)
      local g = torch.autograd.grad({ (gelu(x) * x):sum() }, { x }, { create_graph = true })
      return g
    end
    local function second(run)
      local x = torch.linspace(-1, 1, 30):requires_grad_()
      local g = run(x)
      g = torch.is_tensor(g) and g or g[1]
      g:sum():backward()
      return x.grad
    end
    assert_same(second(f), second((compiled(f))))
  end)

  it('a compiled training step writes only its gradients and recomputes saved values #lua54', function()
    local x, got = torch.randn(100, 300, { requires_grad = true }), nil
    local function polynomial(t) return ((t * 0.1 + 0.2) * t + 0.3) * t + 0.4 end
    local run, seen = compiled(function(t) polynomial(t):sum():backward() end)
    run(x)
    got, x.grad = x.grad, nil
    polynomial(x):sum():backward()
    assert_same(x.grad, got)
    local written = 0
    for _, note in ipairs(seen.notes) do written = written + note.written end
    assert.same({ 2, 1 }, { #seen.notes, written })
  end)
end)

describe('torch.compile', function()
  it('takes a module, which stays the same module', function()
    torch.manual_seed(2)
    local net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4))
    local run = torch.compile(net, { options = { min_numel = 1 } })
    local x = torch.randn(5, 8)
    assert_same(net(x):detach(), run(x):detach())
    run:eval()
    assert.is_false(net.training)
    assert.equal(#net:state_dict(), #run:state_dict())
    assert.truthy(run:state_dict()['_orig_mod.0.weight'])
  end)

  it('module:compile() compiles the module with its hooks but not its copies', function()
    local net, seen = torch.nn.Sequential(torch.nn.GELU(), torch.nn.Tanh()), {}
    local x, calls = torch.randn(20, 30), 0
    net:register_forward_hook(function(_, _, output)
      calls = calls + 1
      return output * 2
    end)
    local expected = net(x)
    assert.is_nil(net:compile { options = { min_numel = 1 }, explain = function(notes) seen[#seen + 1] = notes end })
    assert_same(expected, net(x))
    assert.same({ 2, 1, 1, 'end' }, { calls, #seen, seen[1][1].passes, seen[1][1].reason })
    assert_same(expected, net:deepcopy()(x) * 2) -- functions among the hooks are not copied either
    assert.equal(1, #seen)
    net:compile { disable = true }
    assert_same(expected, net(x))
    assert.equal(1, #seen)
    assert.has_error(function() net:compile { expalin = true } end)
  end)

  it('does nothing where it is disabled', function() assert.equal(gelu, torch.compile(gelu, { disable = true })) end)

  it('torch.compile rejects unknown options', function()
    assert.has_error(function() torch.compile(3) end)
    assert.has_error(function() torch.compile(gelu, { expalin = true }) end)
    assert.has_error(function() torch.compile(gelu, { options = { min_numel = 0 } }) end)
  end)
end)

describe('random programs', function()
  it('leave the same compiled, gradients too', function()
    local seed = tonumber(os.getenv 'SEED') or os.time()
    for round = 1, tonumber(os.getenv 'ROUNDS') or 100 do
      local text = programs.difference(seed, round, {})
      assert(text == nil, text)
    end
  end)
end)
