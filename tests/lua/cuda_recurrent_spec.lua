-- Recurrent networks that cuDNN does at once equal those of the CPU, and our own kernels do what it is not asked for.

local torch = require 'torch'
local nn = torch.nn
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

-- f with one of torch._C's functions replaced.
local function with(name, replacement, f)
  local original = torch._C[name]
  torch._C[name] = replacement
  local results = table.pack(pcall(f))
  torch._C[name] = original
  assert(results[1], results[2])
  return table.unpack(results, 2, results.n)
end
-- f, in which no layer may be done by our own kernels, and how often the library did a network.
local function by_library(f)
  local count, network = 0, torch._C._recurrent_network
  local function counted(...)
    local found = network(...)
    if #found > 0 then count = count + 1 end
    return found
  end
  with('recurrent_layer', function() error 'our own kernels' end, function() with('_recurrent_network', counted, f) end)
  return count
end
-- f, in which no network may be done by the library.
local function by_kernels(f)
  local network = torch._C._recurrent_network
  return with('_recurrent_network', function(...)
    assert.equal(0, #network(...))
    return {}
  end, f)
end

-- The results of dropout in a process of its own, by the library and without it.
local DROPOUT = [[
torch.backends.cudnn.allow_tf32 = false
torch.manual_seed(4)
local net = torch.nn.GRU(3, 4, 3, { dropout = 0.5, bidirectional = true }):cuda()
local x = torch.randn(5, 2, 3):cuda():requires_grad_()
local y, h = net(x)
local loss = y:square():sum() + h:sum()
loss:backward()
local list = {}
for _, t in ipairs { y, h, x.grad, net.weight_hh_l1.grad, net.bias_ih_l2_reverse.grad } do
  list[#list + 1] = ('%.4g'):format(t:double():square():sum():item())
end
print(table.concat(list, ' '))
]]

describe('dropout in a recurrent network #cpu', function()
  it('draws the same numbers by cuDNN and by our own kernels', function()
    local function run(environment)
      local output, message, status = process.run(('%s %s --no-copies --sim-gpus 1 -e %s'):format(environment,
        process.quote(process.ltensor), process.quote(DROPOUT)))
      assert.equal(0, status, message)
      return output
    end
    assert.equal(run 'LTENSOR_CUDNN=0', run '')
  end)
end)

if device == 'cpu' then return end

local function near(a, b, tolerance, what)
  assert.same(tostring(b.shape), tostring(a.shape))
  local worst = (a:detach():cpu():double() - b:detach():cpu():double()):abs():max():item()
  assert(worst <= tolerance, ('%s: differ by %g'):format(what, worst))
end

-- Results and gradients of a module with a state to begin with, walked twice through the same graph.
local function everything(net, x, states, on, dtype)
  net = net:to(on):to(dtype)
  net:zero_grad()
  local function there(t) return t:detach():to(on):to(dtype):requires_grad_() end
  local input, given = there(x), {}
  for i, state in ipairs(states) do given[i] = there(state) end
  local output, last = net(input, #given == 2 and given or given[1])
  if torch.is_tensor(last) then last = { last } end
  local loss = output:square():sum() + last[1]:sum() + (last[2] and last[2]:square():sum() or 0)
  loss:backward { retain_graph = true }
  loss:backward()
  local list = { output, last[1], last[2] or last[1], input.grad }
  for _, state in ipairs(given) do list[#list + 1] = state.grad end
  for _, parameter in ipairs(net:parameters()) do list[#list + 1] = parameter.grad end
  return list
end

local function compare(net, x, states, dtype, tolerance, what)
  local host = everything(net, x, states, 'cpu', dtype)
  local found
  assert.equal(1, by_library(function() found = everything(net, x, states, device, dtype) end))
  assert.equal(#host, #found)
  for i = 1, #host do near(found[i], host[i], tolerance, what .. ' ' .. i) end
end

describe('a recurrent network by cuDNN', function()
  before_each(function() torch.manual_seed(5) end)

  local function states(lstm, layers, batch)
    local h = torch.randn(layers, batch, 4)
    return lstm and { h, torch.randn(layers, batch, 4) } or { h }
  end

  for _, name in ipairs { 'RNN', 'GRU', 'LSTM' } do
    it('is the CPU\'s, with its gradients: ' .. name, function()
      for _, ways in ipairs { false, true } do
        for _, bias in ipairs { true, false } do
          for layers = 1, 3, 2 do
            local what = ('%s %s %s %d'):format(name, ways, bias, layers)
            local net = nn[name](5, 4, layers, { bidirectional = ways, bias = bias, batch_first = layers == 3 })
            local x = torch.randn(3, 3, 5)
            local s = states(name == 'LSTM', layers * (ways and 2 or 1), 3)
            compare(net, x, s, torch.float64, 1e-10, what)
            compare(net, x, s, torch.float32, 1e-4, what)
          end
        end
      end
    end)
    it('keeps half types within their rounding: ' .. name, function()
      local net = nn[name](5, 4, 2)
      local x, s = torch.randn(3, 2, 5), states(name == 'LSTM', 2, 2)
      compare(net, x, s, torch.float16, 0.1, name)
      compare(net, x, s, torch.bfloat16, 0.5, name)
    end)
  end
  it('of relu is the CPU\'s', function()
    compare(nn.RNN(5, 4, 2, { nonlinearity = 'relu' }), torch.randn(3, 2, 5), states(false, 2, 2), torch.float64, 1e-10, 'relu')
  end)

  it('is differentiated, once and twice', function()
    local net = nn.LSTM(2, 3, 2, { bidirectional = true }):to(device):double()
    local function leaf(...) return torch.randn(..., { dtype = torch.float64 }):to(device):requires_grad_() end
    local inputs = { leaf { 3, 2, 2 }, leaf { 4, 2, 3 }, leaf { 4, 2, 3 }, net.weight_hh_l1 }
    local function run(x, h, c)
      local y, last = net(x, { h, c })
      return y, last[1], last[2]
    end
    assert.is_true(torch.autograd.gradcheck(run, inputs))
    assert.is_true(torch.autograd.gradgradcheck(run, inputs))
  end)
  it('leaves out the gradient of weights that want none', function()
    local net = nn.GRU(2, 3):to(device)
    for _, parameter in ipairs(net:parameters()) do parameter.requires_grad = false end
    local x = torch.ones(2, 1, 2, { device = device, requires_grad = true })
    net(x):sum():backward()
    assert.is_truthy(x.grad)
    assert.is_nil(net.weight_hh_l0.grad)
  end)
  it('a recurrent network by cuDNN saves nothing without gradients', function()
    local net, x = nn.GRU(2, 3):to(device), torch.ones(2, 1, 2, { device = device })
    local function bytes(run)
      collectgarbage()
      local before = torch.cuda.memory_allocated(device)
      local output = { run() }
      collectgarbage()
      return torch.cuda.memory_allocated(device) - before, output
    end
    local without = bytes(function() return torch.no_grad(net, x) end)
    local with_gradients, output = bytes(function() return net(x) end)
    assert.equal(1024, without) -- the output and the last states, in blocks of 512 bytes
    assert.is_true(with_gradients > without)
    assert.equal('RecurrentNetworkBackward', tostring(output[2].grad_fn):match '<(%w+)')
  end)
  it('a recurrent network by cuDNN accepts operands of any strides', function()
    local net = nn.LSTM(3, 4):to(device)
    local all, s = torch.randn(1 + 2 * 2 * 3):to(device), torch.randn(1 + 2 * 8):to(device)
    local x = all:narrow(1, 2, 12):view(2, 2, 3) -- at an odd address
    local h, c = s:narrow(1, 2, 8):view(1, 2, 4), s:narrow(1, 10, 8):view(1, 4, 2):transpose(2, 3)
    local y
    by_library(function() y = net(x, { h, c }) end)
    near(y, net:to 'cpu'(x:cpu(), { h:cpu(), c:cpu() }), 1e-5, 'views')
  end)

  it('is captured in a graph, and trains there', function()
    torch.cuda.set_device(device)
    local net = nn.LSTM(3, 4, 2):to(device)
    local x = torch.randn(4, 2, 3):to(device)
    local function step()
      net:zero_grad()
      net(x):square():sum():backward()
      return net.weight_ih_l0.grad
    end
    local stream, graph, grad = torch.cuda.Stream(), torch.cuda.CUDAGraph(), nil
    torch.cuda.stream(stream, function() step() end)
    stream:synchronize()
    torch.cuda.graph(graph, { stream = stream }, function() grad = step() end)
    x:mul_(2)
    graph:replay()
    torch.cuda.synchronize()
    near(grad, step(), 1e-6, 'replayed')
    torch.cuda.set_device(0)
  end)
  it('may be the first thing that a process captures', function()
    local output, message = process.lua([[
      local net = torch.nn.GRU(2, 2):cuda()
      local x, g, y = torch.ones(1, 1, 2, {device = 'cuda'}), torch.cuda.CUDAGraph(), nil
      torch.cuda.graph(g, function() y = torch.no_grad(net, x) end)
      g:replay()
      local again = torch.no_grad(net, x)
      print(torch.allclose(y, again))
    ]], '--sim-gpus 1 --no-copies')
    assert.equal('true\n', output, message)
  end)

  it('rounds to TF32 only where that is allowed', function()
    local net = nn.RNN(64, 4):to(device)
    local x = torch.randn(1, 2, 64):to(device)
    local function run() return torch.no_grad(net, x) end
    local exact = run()
    torch.backends.cudnn.allow_tf32 = true
    local ok, rounded = pcall(run)
    torch.backends.cudnn.allow_tf32 = false
    assert(ok, rounded)
    local worst = (exact - rounded):abs():max():item()
    assert.is_true(worst > 0 and worst < 1e-2, worst)
  end)
end)

describe('a recurrent network without cuDNN', function()
  it('has to give the same again', function()
    torch.use_deterministic_algorithms(true)
    local ok, message = pcall(by_kernels, function()
      return nn.GRU(2, 3):to(device)(torch.ones(2, 1, 2, { device = device })):sum():backward()
    end)
    torch.use_deterministic_algorithms(false)
    assert(ok, message)
  end)
  it('runs while cuDNN is switched off', function()
    torch.backends.cudnn.enabled = false
    local ok, message = pcall(with, '_recurrent_network', function() error 'asked' end, function()
      nn.GRU(2, 3):to(device)(torch.ones(2, 1, 2, { device = device })):sum():backward()
    end)
    torch.backends.cudnn.enabled = true
    assert(ok, message)
  end)
  it('is a packed sequence or has projections', function()
    with('_recurrent_network', function() error 'asked' end, function()
      local x = torch.ones(3, 2, 2, { device = device })
      nn.LSTM(2, 3, { proj_size = 2 }):to(device)(x)
      nn.LSTM(2, 3):to(device)(nn.utils.rnn.pack_padded_sequence(x, { 3, 2 }))
    end)
  end)
  it('a recurrent network rejects sizes that do not match', function()
    local function fails(text, ...)
      local ok, message = pcall(torch._C._recurrent_network, ...)
      assert.is_false(ok)
      assert(tostring(message):find(text, 1, true), message)
    end
    local x, h = torch.ones(2, 1, 3, { device = device }), torch.ones(1, 1, 4, { device = device })
    local w = { torch.ones(4, 3, { device = device }), torch.ones(4, 4, { device = device }) }
    fails('hx has 1 states, which do not fit 2 layers', x, h, nil, w, 'tanh', 2, false)
    fails('expected two or four weights for each of 1 states, but got 1', x, h, nil, { w[1] }, 'tanh', 1, false)
    fails('expected a weight of size [4, 3], but got [4, 4]', x, h, nil, { w[2], w[1] }, 'tanh', 1, false)
    fails('an LSTM, and no other cell, needs cx', x, h, nil, w, 'lstm', 1, false)
    fails('expected hx to have dtype Float, but got Double', x, h:double(), nil, w, 'tanh', 1, false)
    fails('Unknown mode: sine', x, h, nil, w, 'sine', 1, false)
    fails('"recurrent" not implemented for \'Long\'', x:long(), h, nil, w, 'tanh', 1, false)
  end)
end)
