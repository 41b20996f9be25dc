-- CUDA graphs: what is captured runs at each replay, on the memory, the inputs and the random numbers of then.

local torch = require 'torch'
local nn, F = torch.nn, torch.nn.functional
local cuda = torch.cuda

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
if device == 'cpu' then device = 'cuda' end

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

local function says(words, f, ...)
  local message = failure(f, ...)
  assert.truthy(message:find(words, 1, true), message)
end

-- Captures, replays and reads; then once more. Prints what became of the second time.
local TWICE = [[
local function step()
  local x = torch.ones(4, {device = 'cuda'})
  local g, y = torch.cuda.CUDAGraph(), nil
  torch.cuda.graph(g, function() y = (torch.rand(1, 4, {device = 'cuda'}) * x):mm(x:view(4, 1)) end)
  g:replay()
  g:reset()
  return y:sum():item()
end
local first, message = pcall(step)
assert(first or tostring(message):find 'CUDA', message)
if not torch.cuda.is_available() then return io.stdout:write 'no GPU' end -- the backend could not start
assert(not torch.cuda.is_current_stream_capturing())
local second = pcall(step)
io.stdout:write(first and 'done' or 'error', ' ', second and 'done' or 'error')
]]

describe('a capture and its replay #cpu', function()
  it('survive the failure of any call of the runtime #again', function()
    local n, undisturbed = 0, 0
    repeat -- until the call that would fail comes after the end
      n = n + 1
      local output, message, status = process.run(("LTENSOR_CUDA_FAULT=%d %s --sim-gpus 1 --no-copies -e %s"):format(
        n, process.quote(process.ltensor), process.quote(TWICE)))
      assert.equal(0, status, n .. ': ' .. message)
      undisturbed = output == 'done done' and undisturbed + 1 or 0
      assert.is_true(output == 'done done' or output == 'error done' or output == 'done error' or output == 'no GPU',
        n .. ': ' .. output)
    until undisturbed == 20 or n == 500
    assert.is_true(n > 50 and n < 500, n)
  end)
end)

if not cuda.is_available() then
  describe('torch.cuda.graph without a GPU', function()
    it('captures nothing', function() assert.is_false(cuda.is_current_stream_capturing()) end)
    it('torch.cuda.graph without a GPU is an error with the remedy', function() says('no CUDA GPUs are available', cuda.CUDAGraph) end)
  end)
  return
end

describe('torch.cuda.graph', function()
  local x, before

  before_each(function()
    before = cuda.current_device()
    cuda.set_device(device)
    torch.manual_seed(1)
    x = torch.arange(4, {dtype = torch.float32, device = device})
  end)

  after_each(function()
    assert.is_false(cuda.is_current_stream_capturing())
    cuda.set_device(before)
  end)

  it('runs nothing when it captures, and all of it at each replay', function()
    local g, y = cuda.CUDAGraph(), torch.zeros(4, {device = device})
    cuda.graph(g, function()
      assert.is_true(cuda.is_current_stream_capturing())
      y:add_(x * 2 + 1)
    end)
    cuda.synchronize()
    assert.same({0.0, 0.0, 0.0, 0.0}, y:tolist())
    g:replay()
    assert.same({1.0, 3.0, 5.0, 7.0}, y:tolist())
    x:copy_(torch.tensor{10.0, 20.0, 30.0, 40.0})
    g:replay()
    assert.same({22.0, 44.0, 66.0, 88.0}, y:tolist())
  end)

  it('has a form for blocks, which restores the stream', function()
    local g, stream, y = cuda.CUDAGraph(), cuda.current_stream(), nil
    do
      local _ <close> = cuda.graph(g)
      assert.is_false(cuda.current_stream() == stream)
      y = x:exp()
    end
    assert.is_true(cuda.current_stream() == stream)
    g:replay()
    assert.is_true(torch.equal(y, x:exp()))
  end)

  -- A net, its optimizer, and a step on static inputs.
  local function training()
    torch.manual_seed(7)
    local net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)):to(device)
    local optimizer = torch.optim.SGD(net:parameters(), {lr = 0.1, momentum = 0.9})
    local input, target = torch.zeros(8, 6, {device = device}), torch.ones(8, {device = device, dtype = torch.int64})
    local loss
    local function step()
      optimizer:zero_grad{set_to_none = true}
      loss = F.cross_entropy(net(input), target)
      loss:backward()
      optimizer:step()
    end
    return {net = net, input = input, target = target, step = step, loss = function() return loss end}
  end

  it('replays a training step that equals the eager one', function()
    local eager, static = training(), training()
    local stream = cuda.Stream()
    stream:wait_stream(cuda.current_stream())
    cuda.stream(stream, function() for _ = 1, 3 do static.step() end end) -- momentum buffers are there now
    cuda.current_stream():wait_stream(stream)
    for _ = 1, 3 do eager.step() end

    local g = cuda.CUDAGraph()
    cuda.graph(g, static.step)
    local loss = static.loss()
    for i = 1, 10 do
      torch.manual_seed(i)
      local input, target = torch.rand(8, 6), torch.randint(1, 4, {8})
      eager.input:copy_(input)
      eager.target:copy_(target)
      eager.step()
      static.input:copy_(input)
      static.target:copy_(target)
      g:replay()
      assert.equal(eager.loss():item(), loss:item())
      collectgarbage()
    end
    local expected = eager.net:state_dict()
    for name, value in pairs(static.net:state_dict()) do
      assert.is_true(torch.equal(value, expected[name]), name)
    end
  end)

  it('each replay draws the random numbers of an eager call', function()
    cuda.manual_seed(5)
    local expected = {}
    for i = 1, 3 do expected[i] = {torch.rand(1000, {device = device}), torch.randn(10, {device = device})} end
    local after = torch.rand(1, {device = device})

    local g, u, n = cuda.CUDAGraph(), nil, nil
    cuda.graph(g, function()
      u = torch.rand(1000, {device = device})
      n = torch.randn(10, {device = device})
    end)
    cuda.manual_seed(5)
    for i = 1, 3 do
      g:replay()
      assert.is_true(torch.equal(u, expected[i][1]))
      assert.is_true(torch.equal(n, expected[i][2]))
    end
    assert.is_true(torch.equal(torch.rand(1, {device = device}), after))
  end)

  -- A replay on another stream reads where the numbers stand after its graph is gone, and the memory is used again.
  it('draws the right numbers after it was dropped, and its memory taken', function()
    local capturing, replaying = cuda.Stream(), cuda.Stream()
    cuda.manual_seed(5)
    local expected = torch.rand(1000, {device = device})
    local size, big = 16, torch.ones(700, 700, {device = device})
    cuda.synchronize()
    for _ = 1, 5 do
      local g, u = cuda.CUDAGraph(), nil
      cuda.graph(g, { stream = capturing }, function()
        local _ = big:mm(big):mm(big)
        u = torch.rand(1000, {device = device})
      end)
      cuda.manual_seed(5)
      local result = cuda.stream(replaying, function()
        g:replay()
        return u:clone()
      end)
      g = nil
      collectgarbage()
      collectgarbage()
      cuda.stream(capturing, function()
        for _ = 1, 64 do torch.full({size}, 7.0, {device = device}) end
      end)
      cuda.synchronize()
      assert.is_true(torch.equal(result, expected))
    end
  end)

  it('captures other streams that are waited for', function()
    local g, side, a, b = cuda.CUDAGraph(), cuda.Stream(), nil, nil
    cuda.graph(g, function()
      local main = cuda.current_stream()
      a = x + 1
      side:wait_stream(main)
      cuda.stream(side, function() b = a * 2 end)
      main:wait_stream(side)
      b = b + a
    end)
    g:replay()
    assert.same({3.0, 6.0, 9.0, 12.0}, b:tolist())
  end)

  it('refuses streams that are left behind, and work from before', function()
    local g, side = cuda.CUDAGraph(), cuda.Stream()
    says('unjoined', cuda.graph, g, function()
      side:wait_stream(cuda.current_stream())
      cuda.stream(side, function() return x + 1 end)
    end)
    local early = cuda.Event()
    early:record(cuda.default_stream())
    says('uncaptured work', cuda.graph, cuda.CUDAGraph(), function() early:wait() end)
  end)

  it('a synchronizing call during a capture is an error, and the session continues', function()
    local g, y, pageable = cuda.CUDAGraph(), nil, torch.ones(4)
    local event = cuda.Event()
    event:record()
    cuda.graph(g, function()
      y = x + 1
      for _, forbidden in ipairs {
        function() return y:item() end, function() return y[1]:item() end, function() return tostring(y) end,
        function() return y:cpu() end, function() y:copy_(pageable) end, function() return y:nonzero() end,
        cuda.synchronize, function() cuda.current_stream():synchronize() end,
        function() cuda.current_stream():query() end, function() event:synchronize() end, function() event:query() end,
      } do
        failure(forbidden)
      end
      says('operation not permitted when stream is capturing', function() return y[1]:item() end)
      y:mul_(2)
    end)
    g:replay()
    assert.same({2.0, 4.0, 6.0, 8.0}, y:tolist())
  end)

  it('captures copies of pinned memory', function()
    local g, pinned, y = cuda.CUDAGraph(), torch.ones(4):pin_memory(), torch.zeros(4, {device = device})
    cuda.graph(g, function() y:copy_(pinned, {non_blocking = true}) end)
    pinned:fill_(3)
    g:replay()
    assert.same({3.0, 3.0, 3.0, 3.0}, y:tolist())
  end)

  it('captures nothing when the function fails', function()
    local g, stream = cuda.CUDAGraph(), cuda.current_stream()
    says('on purpose', cuda.graph, g, function()
      local _ = x + 1
      error 'on purpose'
    end)
    assert.is_true(cuda.current_stream() == stream)
    says('without a preceding successful capture', g.replay, g)
    local y
    cuda.graph(g, function() y = x + 1 end) -- and may be used for another
    g:replay()
    assert.same({1.0, 2.0, 3.0, 4.0}, y:tolist())
  end)

  it('refuses calls out of order', function()
    local g = cuda.CUDAGraph()
    says('non-default stream', g.capture_begin, g)
    says('without a capture_begin', g.capture_end, g)
    says('without a preceding successful capture', g.replay, g)
    says('without a preceding successful capture', g.pool, g)
    says('graph_pool_handle', g.capture_begin, g, 'pool')
    says('unexpected keyword', g.capture_begin, g, {stream = 1})
    cuda.graph(g, function()
      local other = cuda.CUDAGraph()
      says('do not nest', other.capture_begin, other)
      says('without a preceding successful capture', other.replay, other)
    end)
    says('already owns a captured graph', cuda.graph, g, function() end)
  end)

  it('refuses generators of the user', function()
    local generator = torch.Generator(device)
    cuda.graph(cuda.CUDAGraph(), function()
      says('default generator', torch.rand, 3, {device = device, generator = generator})
    end)
  end)

  it('keeps its memory apart until it is reset', function()
    collectgarbage()
    cuda.empty_cache()
    local reserved = cuda.memory_reserved(device)
    local g, y = cuda.CUDAGraph(), nil
    cuda.graph(g, function()
      for _ = 1, 4 do y = torch.full({1 << 20}, 2.0, {device = device}) end
      y = y * 3
    end)
    local held = cuda.memory_reserved(device)
    assert.is_true(held > reserved)
    g:replay()
    local others = {}
    for i = 1, 8 do others[i] = torch.zeros(1 << 20, {device = device}) end
    g:replay()
    assert.equal(6.0, y:mean():item())
    for i = 1, 8 do assert.equal(0.0, others[i]:sum():item()) end
    others, y = nil, nil
    collectgarbage()
    cuda.empty_cache()
    assert.is_true(cuda.memory_reserved(device) > reserved)
    g:reset()
    says('without a preceding successful capture', g.replay, g)
    g = nil
    collectgarbage()
    collectgarbage()
    cuda.empty_cache()
    assert.is_true(cuda.memory_reserved(device) <= reserved)
  end)

  -- Both sizes of segments; what the graph computed on its way is free in its pool, and the cache is emptied.
  it('replays on memory of its own after empty_cache', function()
    for _, size in ipairs { 1000, 1 << 20 } do
      local input = torch.ones(size, {device = device})
      local g, y = cuda.CUDAGraph(), nil
      cuda.graph(g, function() y = ((input * 2 + 1) * 3 + 1):exp():log():sum() end)
      g:replay()
      assert.is_near(10.0, y:item() / size, 1e-3)
      collectgarbage()
      cuda.empty_cache()
      local others = {}
      for i = 1, 8 do others[i] = torch.zeros(size, {device = device}) end
      input:fill_(2)
      g:replay()
      assert.is_near(16.0, y:item() / size, 1e-3)
      for i = 1, 8 do assert.equal(0.0, others[i]:abs():sum():item()) end
    end
  end)

  -- Blocks are ordered by pool and stream: one of these streams is the last that has blocks outside of the pools.
  it('the memory of a graph is not reused by later work of its stream', function()
    local streams = { cuda.Stream(), cuda.Stream(), cuda.Stream(), cuda.Stream() }
    for i = 1, 2 * #streams do
      local size = i <= #streams and 1000 or 1 << 20
      collectgarbage()
      cuda.empty_cache()
      cuda.stream(streams[(i - 1) % #streams + 1], function()
        local input = torch.ones(size, {device = device})
        local g, y = cuda.CUDAGraph(), nil
        g:capture_begin()
        y = ((input * 2 + 1) * 3 + 1):exp():log():sum()
        g:capture_end()
        local others = {}
        for k = 1, 12 do others[k] = torch.zeros(size, {device = device}) end
        g:replay()
        assert.is_near(10.0, y:item() / size, 1e-3)
        for k = 1, 12 do assert.equal(0.0, others[k]:abs():sum():item()) end
      end)
    end
  end)

  it('shares a pool with others', function()
    local pool = cuda.graph_pool_handle()
    local first, second, a, b = cuda.CUDAGraph(), cuda.CUDAGraph(), nil, nil
    cuda.graph(first, {pool = pool}, function() a = x + 1 end)
    cuda.graph(second, {pool = first:pool()}, function() b = a + 1 end)
    assert.equal(pool, second:pool())
    first:replay()
    second:replay()
    assert.same({2.0, 3.0, 4.0, 5.0}, b:tolist())
    first:reset()
    second:replay()
    assert.same({2.0, 3.0, 4.0, 5.0}, b:tolist())
  end)

  -- Making or destroying a handle of cuBLAS or cuDNN waits for the GPU, which ends a capture. The libraries' stand-ins refuse.
  it('captures the first product and the first convolution of a process #cpu', function()
    local output, message = process.lua([[
      local x, g, y = torch.full({1, 1, 2, 2}, 3.0, {device = 'cuda'}), torch.cuda.CUDAGraph(), nil
      local one = torch.ones(1, 1, 1, 1, {device = 'cuda'})
      torch.cuda.graph(g, function()
        y = torch.nn.functional.conv2d(x, one):view(2, 2)
        y = torch.nn.functional.linear(y:mm(y), y, y[1])
      end)
      g:replay()
      print(y:sum():item())
    ]], '--sim-gpus 1 --no-copies')
    assert.equal('444.0\n', output, message)
  end)

  it('goes on when another graph, with products, is reset meanwhile', function()
    local first, second, y = cuda.CUDAGraph(), cuda.CUDAGraph(), nil
    local m = torch.ones(2, 2, {device = device})
    cuda.graph(first, function() return m:mm(m) end)
    cuda.graph(second, function()
      y = m:mm(m)
      first:reset()
      y = y:mm(m)
    end)
    second:replay()
    assert.equal(16, y:sum():item())
  end)

  -- The stand-in of cuBLAS leaves rubbish in a product's workspace.
  it('keeps the workspaces of its products while another graph holds the pool', function()
    local first, second, a, b = cuda.CUDAGraph(), cuda.CUDAGraph(), nil, nil
    local m = torch.ones(2, 2, {device = device})
    local stream = cuda.Stream()
    cuda.graph(first, {stream = stream}, function() a = m:mm(m) end)
    cuda.graph(second, {pool = first:pool(), stream = stream}, function() b = torch.addmm(m[1], m, m) end)
    first:reset()
    cuda.empty_cache()
    local others = {}
    cuda.stream(stream, function()
      for i = 1, 8 do others[i] = torch.zeros(2^(2 * i), {device = device}) end
    end)
    stream:synchronize()
    second:replay()
    assert.same({{3.0, 3.0}, {3.0, 3.0}}, b:tolist())
    for _, other in ipairs(others) do assert.equal(0, other:abs():max():item()) end
    local product = m:mm(m) -- and of an ordinary product
    assert.equal(8, product:sum():item())
  end)

  it('frees tensors of other streams when the capture is over', function()
    local side = cuda.Stream()
    local y = torch.ones(1000, {device = device})
    y:record_stream(side)
    cuda.graph(cuda.CUDAGraph(), function()
      y = nil
      collectgarbage()
      collectgarbage()
      y = x + 1
    end)
    cuda.synchronize()
    assert.equal(0.0, torch.zeros(1000, {device = device}):sum():item())
  end)

  it('dropping a graph ends its capture', function()
    local stream = cuda.Stream()
    cuda.stream(stream, function()
      local g = cuda.CUDAGraph()
      g:capture_begin()
      local _ = x + 1
      g = nil
      collectgarbage()
      collectgarbage()
    end)
    assert.equal(6.0, x:sum():item())
  end)

  -- What a step keeps would be made again by each replay, and the number of the step stay the same.
  it('refuses a step of an optimizer that replays would repeat', function()
    local w = torch.ones(2, {device = device, requires_grad = true})
    local function capture(optimizer) cuda.graph(cuda.CUDAGraph(), function() optimizer:step() end) end
    w.grad = torch.ones(2, {device = device})
    says('SGD: the first step creates the state', capture, torch.optim.SGD({w}, {momentum = 0.9}))
    local adam = torch.optim.Adam({w})
    says('Adam: the first step creates the state', capture, adam)
    adam:step()
    says("Adam: it counts its steps in the host's memory", capture, adam)
    says('(make it with capturable = true)', capture, adam)
    local nadam = torch.optim.NAdam({w})
    nadam:step()
    says("NAdam: it counts its steps in the host's memory", capture, nadam)
    assert.equal(1, adam:state_dict().state[0].step:item())
  end)

  it('counts the steps of an optimizer that can be captured', function()
    local w = torch.ones(2, {device = device, requires_grad = true})
    w.grad = torch.ones(2, {device = device})
    local adam = torch.optim.Adam({w}, {capturable = true})
    adam:step()
    local g = cuda.CUDAGraph()
    cuda.graph(g, function() adam:step() end)
    g:replay()
    g:replay()
    local saved = adam:state_dict()
    assert.equal(3, saved.state[0].step:item())
    local again = torch.optim.Adam({w}, {capturable = true})
    again:load_state_dict(saved)
    again:step()
    assert.equal(4, again:state_dict().state[0].step:item())
    assert.equal(3, saved.state[0].step:item())
  end)

  it('is of no use once its __gc was called', function()
    local g = cuda.CUDAGraph()
    local metatable = getmetatable(g)
    metatable.__gc(g)
    for _, name in ipairs { 'capture_begin', 'capture_end', 'replay', 'reset', 'pool' } do
      says('this CUDAGraph has been collected', metatable.__index[name], g)
    end
    metatable.__gc(g)
  end)
end)
