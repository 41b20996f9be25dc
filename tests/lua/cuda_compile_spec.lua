-- cuda_compile_spec.lua - torch.compile on GPUs: chains of elementwise ops as generated kernels, whose results are eager ones to the bit; streams and
-- graphs; what is kept on disk. Simulated GPUs have the host's compiler in NVRTC's place, which each kernel takes a quarter of a second of: the
-- kernels here are few and long.

local torch = require 'torch'
local cuda = torch.cuda

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')
local programs = dofile(here .. 'support/programs.lua')

if not cuda.is_available() then return end

local device = os.getenv 'LTENSOR_TEST_DEVICE'
device = device and device:find '^cuda' and device or 'cuda'

local function compiled(f)
  local seen = {}
  local run = torch.compile(f, { options = { min_numel = 1 }, explain = function(notes, all, why_not) seen.notes, seen.all, seen.why_not = notes, all, why_not end })
  return run, seen
end

local function random(...) return torch.randn { ... }:to(device) end

local function assert_same(expected, got)
  assert.equal(expected.device, got.device)
  assert.is_true(programs.same(expected:cpu(), got:cpu()), ('expected %s\ngot %s'):format(expected, got))
end

-- Without a compiler, and in a build with checks, nothing is recorded.
local _, probe = compiled(function(x) return x + 1 end)
_(random(4))
local generates = not probe.why_not

-- f's results compiled beside eager ones; generated: by so many kernels.
local function check(kernels, f, ...)
  local expected = table.pack(f(...))
  local run, seen = compiled(f)
  local got = table.pack(run(...))
  for i = 1, expected.n do assert_same(expected[i], got[i]) end
  if not generates then return end
  local passes = 0
  for _, note in ipairs(seen.notes) do passes = passes + note.passes end
  assert.equal(kernels, passes)
end

local function gelu(x) return 0.5 * x * (1 + torch.tanh(0.798 * (x + 0.045 * x ^ 3))) end

describe('a compiled function on a GPU', function()
  it('is one kernel, for any sizes and numbers', function()
    for _, x in ipairs { random(300, 700), random(5), random(70, 3):t(), random(3, 1, 1) } do check(1, gelu, x) end
    check(1, function(x) return x * 2 + 3 end, random(1001))
    check(1, function(x) return x * -7 + 0.1 end, random(1001))
  end)

  it('a fused kernel reads strided elements: rows, columns, views, single ones', function()
    local function f(x, row, column, one) return ((x.t and x:t() or x) + row) * column - one end
    check(1, f, random(40, 30), random(40), random(30, 1), random(1))
    check(1, f, random(41, 7), random(41), random(7, 1), random(1, 1))
    local wide = random(64, 64)
    check(1, function(x) return x * 2 + 1 end, wide:narrow(2, 3, 33))
    check(1, function(a, b) return (a + b) * a end, wide:narrow(1, 1, 32), wide:select(1, 5))
    check(1, function(a, b) return (a + b):exp() end, random(4, 5, 6), random(6, 4, 5):permute(2, 3, 1))
    check(1, function(a, b) return a * b - a end, wide:reshape(-1):narrow(1, 2, 999), wide:reshape(-1):narrow(1, 4, 999))
  end)

  it('rounds between steps as tensors in memory do', function()
    local function f(a, b, c) return a * b + c, (a * b - c) * 3.5, torch.add(a, b * c, { alpha = 0.3 }), (a * a) * (b * b) - c * c, -(a * b) + 1 end
    for _, dtype in ipairs { torch.float32, torch.float64, torch.float16, torch.bfloat16 } do
      check(1, f, random(1003):to(dtype), random(1003):to(dtype), random(1003):to(dtype))
    end
  end)

  it('has more steps than a kernel, results of many dtypes, casts', function()
    local function f(x)
      local whole = (x * 100):to(torch.int16)
      return whole // 3 + whole, x:gt(0.5), torch.where(x:lt(0), whole, 7), x:bfloat16() * 2 + 1, x:double():exp() - 3, x:half():float() + x, x:bool(),
        whole:to(torch.uint8), (x * 3):to(torch.int64):bitwise_xor(5), x:gt(0):logical_not():float() * 2
    end
    check(2, f, random(777))
    check(3, function(x)
      for i = 1, 30 do x = x * 1.01 + i end
      return x
    end, random(100))
  end)

  -- The same, where a reduction looks at what was computed: `written` values of it had to be.
  local function check_reduced(written, f, ...)
    check(1, f, ...)
    if not generates then return end
    local run, seen = compiled(f)
    run(...)
    local all = 0
    for _, note in ipairs(seen.notes) do all = all + note.written end
    assert.equal(written, all)
  end

  it('a fused kernel reduces rows of computed values without writing them #lua54', function()
    local reductions = { 'sum', 'mean', 'amax', 'amin', 'logsumexp', 'var', 'std', 'nansum', 'count_nonzero' }
    local x, rows, row = random(3001), random(12, 40), random(40)
    for _, name in ipairs(reductions) do
      check_reduced(0, function(v) return torch[name](v * 0.5 + 0.75, 1) end, x)
      check_reduced(0, function(v, w) return torch[name](v * w, 2) end, rows, row)
    end
    for _, p in ipairs { 0, 1, 2, 3, math.huge, -math.huge } do check_reduced(0, function(v) return (v - 0.5):norm(p) end, x) end
    for _, dtype in ipairs { torch.float64, torch.float16, torch.bfloat16 } do
      check_reduced(0, function(v) return (v * 3):sum() end, x:to(dtype))
      check_reduced(0, function(v, w) return (v + w):logsumexp(2) end, rows:to(dtype), row:to(dtype))
    end
    check_reduced(0, function(v) return (v * 2):sum(3) end, random(5, 7, 64))
    check_reduced(0, function(v) return (v * 2):mean() end, random(300, 700))
    check_reduced(0, function(v) return (v * 2):amax(2) end, random(3, 70000))
    check(2, function(v) -- the second is for y, at the end
      local y = v * 2 + 1
      return y:sum(2), y
    end, rows)
    -- Short lines, lines that begin anywhere, lines apart, and what no kernel is generated for.
    check_reduced(1, function(v) return (v * 2):sum(2) end, random(9, 32))
    check_reduced(1, function(v) return (v * 2):sum(2) end, random(9, 41))
    check_reduced(1, function(v) return (v * 2):sum(1) end, random(64, 40))
    check_reduced(1, function(v) return (v * 2):sum() end, torch.arange(100):to(device))
    local far = random(2, 3, 2, 3, 2, 3, 2):permute(7, 6, 5, 4, 3, 2, 1)
    local function f(v) return (v * 2 + torch.ones(v.shape, { device = device })):sum() end
    assert_same(f(far), compiled(f)(far))
  end)

  -- A line of 32768 elements is the shortest of two shares, one of 524288 of as many as a warp has lanes. The sums are exact.
  it('joins shares of long lines: one after the other, on several streams, in graphs', function()
    local f, before = compiled(function(v) return (v * 0.5):sum(-1) end), cuda.current_device()
    cuda.set_device(device)
    local streams = { cuda.Stream { device = device }, cuda.Stream { device = device } }
    for _, n in ipairs { 32760, 32768, 40000, 524280, 524288, 700000 } do
      local lines = torch.randint(-4, 9, { 3, n }):float()
      for _, host in ipairs { lines, lines[2] } do
        local x, sum, graph, once, twice = host:to(device), host:sum(-1), cuda.CUDAGraph(), nil, nil
        assert_same((sum * 0.5):to(device), f(x))
        cuda.graph(graph, { stream = streams[1] }, function() once, twice = x:sum(-1), f(x) + f(x * 2) end)
        cuda.synchronize()
        for _ = 1, 3 do
          local got = {}
          for i, stream in ipairs(streams) do
            cuda.stream(stream, function()
              if i == 2 then graph:replay() end -- beside what runs on the stream that it was recorded on
              got[i] = { x:sum(-1), f(x), x:sum(-1) }
            end)
          end
          cuda.synchronize()
          for _, of in ipairs(got) do
            assert.is_true(of[1]:cpu():equal(sum) and of[2]:cpu():equal(sum * 0.5) and of[3]:cpu():equal(sum))
          end
          assert.is_true(once:cpu():equal(sum) and twice:cpu():equal(sum * 1.5))
          once:zero_()
          twice:zero_()
          cuda.synchronize()
        end
      end
    end
    cuda.set_device(before)
  end)

  -- Lines that teams hold, by one run of each thread or several, and longer ones.
  it('a fused kernel computes the input of variance and logsumexp once #lua54', function()
    local function statistics(v, w) return (v * w):logsumexp(-1), (v * w):var(-1), (v * w):std(-1) end
    local function check_statistics(x, row)
      check(3, statistics, x, row)
      local at, n = x:clone(), x.shape[x:dim()]
      if x:dim() == 1 then return end
      at[1][n // 2], at[2][n], at[3] = 1 / 0, 0 / 0, -1 / 0
      check(3, statistics, at, row)
    end
    for _, dtype in ipairs { torch.float32, torch.float64, torch.float16 } do
      for _, n in ipairs { 40, 64, 1000, 2048, 2056, 4104, 8192, 8200, 20000 } do check_statistics(random(5, n):to(dtype), random(n):to(dtype)) end
    end
    for _, n in ipairs { 33, 1001, 3001, 8191, 8193 } do check_statistics(random(n), random(n)) end
    for _, n in ipairs { 1000, 8192 } do check_statistics(random(3, n):bfloat16(), random(n):bfloat16()) end
  end)

  it('a compiled function passes computed rows to softmax and norms #lua54', function()
    local F = torch.nn.functional
    -- One warp to 512 threads; rows that these hold, and longer ones.
    for dtype, lengths in pairs { [torch.float32] = { 40, 1000, 2048, 4096, 4104, 9000 }, [torch.float64] = { 72, 5000 }, [torch.float16] = { 72, 9000 }, [torch.bfloat16] = { 4096 } } do
      for _, length in ipairs(lengths) do
        local x, row, weight = random(3, length):to(dtype), random(length):to(dtype), random(length):to(dtype)
        check_reduced(0, function(v, w) return F.softmax(v * 0.5 + w, -1) end, x, row)
        check_reduced(0, function(v, w, g) return F.layer_norm(v + w, { length }, g, w) end, x, row, weight)
        if dtype == torch.float32 then
          check_reduced(0, function(v) return F.log_softmax(v * 3, -1) end, x)
          check_reduced(0, function(v, g) return F.rms_norm(v - 0.25, { length }, g) end, x, weight)
        end
      end
    end
    check_reduced(0, function(v) return F.layer_norm(v * 2, { 64 }) end, random(5, 64))
    -- The derivative, of three kernels: softmax, its derivative, that of the product. One line.
    check(3, function(v)
      local leaf = v:detach():requires_grad_()
      local y = F.softmax(leaf * 2, -1)
      y:backward(y:detach() * 3)
      return leaf.grad
    end, random(5, 64))
    check_reduced(0, function(v) return F.softmax(v + 1, -1) end, random(2000))
    check(2, function(v) -- the second is for y, at the end
      local y = v * 2 + 1
      return F.softmax(y, -1), y
    end, random(3, 64))
    local x, row = random(7, 48), random(48)
    local function norm_and_gradients(v, g)
      local leaf, weight = v:detach():requires_grad_(), g:detach():requires_grad_()
      F.layer_norm(leaf * 2, { 48 }, weight):square():sum():backward()
      return leaf.grad, weight.grad
    end
    assert_same(norm_and_gradients(x, row), compiled(norm_and_gradients)(x, row))
    -- Rows of halves with parameters of float.
    check_reduced(0, function(v, g) return F.layer_norm(v + 1, { 64 }, g) end, random(3, 64):half(), random(64))
    -- Short rows, rows that are no whole runs, another dimension, groups.
    check_reduced(1, function(v) return F.softmax(v * 2, -1) end, random(9, 32))
    check_reduced(1, function(v) return F.softmax(v * 2, -1) end, random(9, 41))
    check_reduced(1, function(v) return F.softmax(v * 2, 1) end, random(64, 40))
    check_reduced(1, function(v) return F.group_norm(v * 2, 2) end, random(3, 4, 16))
  end)

  it('has every formula for every dtype', function()
    local unary = { 'neg', 'abs', 'exp', 'exp2', 'expm1', 'tanh', 'sigmoid', 'relu', 'sin', 'cos', 'tan', 'asin', 'atan', 'sinh', 'sqrt', 'rsqrt', 'square', 'sign',
      'floor', 'ceil', 'round', 'trunc', 'frac', 'erf', 'erfc', 'erfinv', 'log', 'log1p', 'log2', 'reciprocal', 'asinh', 'acosh', 'atanh', 'isnan', 'isinf', 'isfinite',
      'logical_not', 'bitwise_not' }
    local binary = { 'add', 'sub', 'mul', 'div', 'maximum', 'minimum', 'pow', 'lt', 'le', 'eq', 'ne', 'ge', 'gt', 'atan2', 'fmod', 'remainder', 'floor_divide', 'hypot',
      'logaddexp', 'xlogy', 'copysign', 'heaviside', 'fmax', 'fmin', 'bitwise_and', 'bitwise_or', 'bitwise_xor', 'logical_and', 'logical_or' }
    local nn = { 'gelu', 'silu', 'mish', 'softplus', 'elu', 'hardswish', 'hardsigmoid', 'leaky_relu', 'logsigmoid', 'softsign' }
    local special = torch.tensor { 0.0, -0.0, math.huge, -math.huge, 0 / 0, 1e-40, -3e38, 0.1, -7.25, 2, 3, -1, 0.5, 100 }
    local a, b = special:repeat_interleave(14):to(device), special:tile { 14 }:to(device)
    for _, dtype in ipairs { torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool } do
      local x = dtype.is_floating_point and a:to(dtype) or torch.arange(196):remainder(23):sub(7):to(dtype):to(device)
      local y = dtype.is_floating_point and b:to(dtype) or torch.arange(196):remainder(5):add(1):to(dtype):to(device)
      local function all()
        local results = {}
        local function try(f, ...)
          local ok, result = pcall(f, ...)
          if ok and torch.is_tensor(result) then results[#results + 1] = result end
        end
        for _, name in ipairs(unary) do try(torch[name], x) end
        for _, name in ipairs(binary) do try(torch[name], x, y) end
        for _, name in ipairs(nn) do try(torch.nn.functional[name], x) end
        return table.unpack(results)
      end
      local expected, got = table.pack(all()), table.pack(compiled(all)())
      assert.equal(expected.n, got.n)
      for i = 1, expected.n do
        assert.is_true(programs.same(expected[i]:cpu(), got[i]:cpu()), ('%s, result %d:\n%s\n%s'):format(dtype, i, expected[i], got[i]))
      end
    end
  end)

  it('differentiates', function()
    local function gradients(run)
      local x, b = torch.linspace(-2, 2, 600):reshape(20, 30):to(device):requires_grad_(), torch.linspace(0, 1, 30):to(device):requires_grad_()
      local y = run(x, b)
      y:backward(torch.ones_like(y) * 0.5)
      return { y:detach(), x.grad, b.grad }
    end
    local function f(x, b) return gelu(x + b) * x - x:sigmoid() / (b * b + 1) end
    local expected, got = gradients(f), gradients((compiled(f)))
    for i = 1, 3 do assert_same(expected[i], got[i]) end
  end)

  it('a compiled function computes the readers of a tensor before the tensor is written or printed', function()
    local function f(x)
      local before = x + 1
      x:mul_(2)
      local between = before * x
      local sum = between:sum()
      return before, between, sum, between + sum:item()
    end
    local x = random(100)
    local expected, got = table.pack(f(x:clone())), table.pack((compiled(f))(x:clone()))
    for i = 1, 4 do assert_same(expected[i], got[i]) end
  end)

  it('computes values on the stream on which they were made', function()
    local side = cuda.Stream { device = device }
    local x = random(5000)
    local expected = (x * 2 + 1) * 3
    local run = compiled(function(t)
      local y = t * 2 + 1
      local marked = cuda.current_stream(device):record_event()
      side:wait_event(marked)
      local z
      cuda.stream(side, function() z = y * 3 end)
      cuda.current_stream(device):wait_stream(side)
      return z
    end)
    for _ = 1, 3 do assert_same(expected, run(x)) end
  end)

  it('a compiled function computes values after earlier work in the stream, on every read', function()
    local side, x = cuda.Stream { device = device }, random(500, 500)
    local product = x:mm(x):mm(x):mm(x):mm(x)
    local run = compiled(function(w)
      local z
      cuda.stream(side, function()
        w:copy_(x:mm(x):mm(x):mm(x):mm(x)) -- takes a while
        z = w + 1
      end)
      cuda.current_stream(device):wait_stream(side)
      return z
    end)
    for _ = 1, 3 do
      local w = torch.zeros(500, 500, { device = device })
      cuda.synchronize(device)
      assert_same(product + 1, run(w))
    end
  end)

  it('is recorded in graphs: by the kernel where that has run before', function()
    local function f(x) return (x * 1.5 - 2):tanh() * x end
    local x, before = random(400), cuda.current_device()
    cuda.set_device(device)
    for _, kernels in ipairs { 4, 1 } do
      local run, seen = compiled(f)
      local graph, y = cuda.CUDAGraph(), nil
      cuda.graph(graph, function() y = run(x) end)
      for _ = 1, 2 do
        x:copy_(torch.randn(400))
        graph:replay()
        assert_same(f(x), y)
      end
      if generates then assert.equal(kernels, seen.notes[1].passes) end
      compiled(f)(x)
    end
    cuda.set_device(before)
  end)

  it('leaves random programs the same', function()
    for round = 1, tonumber(os.getenv 'ROUNDS') or 6 do
      local text = programs.difference(7, round, { device = device, most = 12 })
      assert(text == nil, text)
    end
  end)

  it('has values of several GPUs', function()
    if cuda.device_count() < 2 then return end
    local a, b = torch.randn(300):to 'cuda:0', torch.randn(300):to 'cuda:1'
    check(2, function(x, y) return x * 2 + 1, y * 2 + 1 end, a, b)
  end)
end)

-- The rest makes processes of simulated GPUs.
if not os.getenv 'LTENSOR_SIM_GPUS' or not generates then return end

describe('generated kernels in processes', function()
  local folder
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute('mkdir -p ' .. folder))
    local script = assert(io.open(folder .. '/cxx', 'w'))
    script:write('#!/bin/sh\necho x >>', folder, '/calls\nexec ${LTENSOR_TEST_CXX-c++} "$@"\n')
    script:close()
    assert(os.execute('chmod +x ' .. folder .. '/cxx'))
  end)
  after_each(function() os.execute('chmod -R u+w ' .. folder .. '; rm -rf ' .. folder) end)

  local function compilations()
    local file = io.open(folder .. '/calls')
    if not file then return 0 end
    local text = file:read 'a'
    file:close()
    os.remove(folder .. '/calls')
    return #text // 2
  end

  -- A collection while f runs would release intermediate results: the kernel would be another one.
  local PROGRAM = [[
    collectgarbage 'stop'
    local x = torch.linspace(-1, 1, 20000, {device = 'cuda'})
    local function f(x) return ((x * 2 + 1):tanh() - x):exp() end
    local y = torch.compile(f, {explain = true})(x)
    print(torch.equal(y, f(x)))]]

  local function run(environment, program)
    local out, message, status = process.run(('XDG_CACHE_HOME=%s CXX=%s %s %s --sim-gpus 1 --no-copies -e %s'):format(folder, folder .. '/cxx', environment,
      process.quote(process.ltensor), process.quote(program or PROGRAM)))
    assert.equal(0, status, message)
    return out, message
  end

  local function cached()
    local listing = assert(io.popen('find ' .. folder .. '/ltensor/kernels -type f'))
    local path = listing:read 'l'
    listing:close()
    return path
  end

  it('are compiled once, and kept for the next process', function()
    assert.equal('true\n', (run ''))
    assert.equal(1, compilations())
    local out, message = run ''
    assert.equal('true\n', out)
    assert.truthy(message:find('5 ops as 5 in 1 pass ', 1, true), message)
    assert.equal(0, compilations())
  end)

  it('are compiled anew where the file is damaged, cut, empty, or may be written by others', function()
    run ''
    compilations()
    local path = cached()
    local file = assert(io.open(path, 'rb'))
    local whole = file:read 'a'
    file:close()
    for _, content in ipairs { whole:sub(1, -2), whole:sub(1, 30), '', whole:sub(1, 3000) .. '?' .. whole:sub(3002), ('x'):rep(#whole), whole .. 'x' } do
      file = assert(io.open(path, 'wb'))
      file:write(content)
      file:close()
      assert.equal('true\n', (run ''))
      assert.equal(1, compilations())
    end
    os.execute('chmod 666 ' .. path)
    run ''
    assert.equal(1, compilations())
  end)

  it('are not kept where nothing can be written', function()
    for _ = 1, 2 do
      assert.equal('true\n', (run 'XDG_CACHE_HOME=/proc/nowhere'))
      assert.equal(1, compilations())
    end
  end)

  it('without a compiler, or if it fails, no kernels are generated and explain reports that', function()
    local out, message = run 'CXX= PATH=/nonexistent'
    assert.equal('true\n', out)
    assert.truthy(message:find('[compile] ops on the GPU run one by one: no C++ compiler was found', 1, true), message)
    out, message = run 'LTENSOR_TEST_CXX=false'
    assert.equal('true\n', out)
    assert.truthy(message:find('5 ops as 5 in 5 passes', 1, true), message)
    assert.truthy((select(2, run 'LTENSOR_NVRTC=0')):find('LTENSOR_NVRTC is 0', 1, true))
  end)

  it('are launched once for a chain', function()
    local function calls(body)
      local function all(rounds)
        local _, message = run('LTENSOR_SIM_REPORT=1 env -u LTENSOR_SIM_INDEX_LIMIT', ([[
          local x, y = torch.linspace(-1, 1, 20000, {device = 'cuda'})
          local f = torch.compile(function(x) for i = 1, 5 do x = x * 0.5 + i end return x end)
          f(x)
          for n = 1, %d do %s end
          torch.cuda.synchronize()]]):format(rounds, body))
        return tonumber(message:match '(%d+) runtime calls')
      end
      return (all(30) - all(10)) / 20
    end
    -- Now and then memory is asked for.
    assert.truthy(calls 'y = f(x)' < 1.5)
    assert.truthy(calls 'y = x; for i = 1, 5 do y = y * 0.5 + i end' > 9.5)
  end)

  it('are launched once for all shares of a line, for any variance, and for both steps of a logsumexp #lua54', function()
    local function calls(op, n)
      local function all(rounds)
        local _, message = run('LTENSOR_SIM_REPORT=1 env -u LTENSOR_SIM_INDEX_LIMIT', ([[
          local x = torch.linspace(-1, 1, 2 * %d, {device = 'cuda'}):reshape(2, -1)
          local f = torch.compile(function(v) return torch.%s(v * 0.5, 2) end, {options = {min_numel = 1}})
          for n = 1, %d do f(x) end
          torch.cuda.synchronize()]]):format(n, op, rounds))
        return tonumber(message:match '(%d+) runtime calls')
      end
      return (all(30) - all(10)) / 20
    end
    assert.truthy(calls('amax', 40000) < 1.5)
    for _, op in ipairs { 'var', 'logsumexp' } do
      assert.truthy(calls(op, 1000) < 1.5)
      assert.truthy(calls(op, 8192) < 1.5)
    end
    assert.truthy(calls('var', 8200) < 1.5)
    assert.truthy(calls('logsumexp', 8200) > 1.5) -- each step on its own
  end)
end)
