-- torch.compile with mode = 'reduce-overhead': what is done on a GPU is captured and replayed, with the results of eager calls; the other modes,
-- and the host, where all are the same.

local torch = require 'torch'
local nn = torch.nn
local cuda = torch.cuda

local MODE = { mode = 'reduce-overhead' }

local function chain(x, k) return ((x * k + 1):relu() - 0.5):tanh():mm(x:t()) end

describe('the arguments of torch.compile #cpu', function()
  it('are PyTorch\'s', function()
    local x = torch.randn(200, 100)
    for _, options in ipairs {
      { mode = 'default' }, { mode = 'reduce-overhead' }, { mode = 'max-autotune' }, { mode = 'max-autotune-no-cudagraphs' },
      { fullgraph = true, dynamic = false }, { backend = 'inductor' }, { backend = 'eager' },
    } do
      assert.is_true(torch.equal(chain(x, 2), torch.compile(chain, options)(x, 2)))
    end
    assert.equal(chain, torch.compile(chain, { backend = 'eager' }))
  end)

  it('are refused with the ways that there are', function()
    for message, options in pairs {
      ["unrecognized mode 'fast', should be one of: default, reduce-overhead,"] = { mode = 'fast' },
      ["unknown backend 'onnxrt'"] = { backend = 'onnxrt' },
      ['either mode or options'] = { mode = 'default', options = { min_numel = 1 } },
    } do
      local ok, said = pcall(torch.compile, chain, options)
      assert.is_false(ok)
      assert.truthy(tostring(said):find(message, 1, true), said)
    end
  end)
end)

if not cuda.is_available() then return end

-- How many ops f does, by the profiler.
local function ops_of(f, ...)
  local arguments, n = { ... }, 0
  local prof = torch.profiler.profile(function() f(table.unpack(arguments)) end)
  for _, row in ipairs(prof:key_averages()) do n = n + row.count end
  return n
end

describe('mode = reduce-overhead on a GPU', function()
  local function random(...) return torch.randn({ ... }, { device = 'cuda' }) end

  it('a graph replays the second call on new inputs', function()
    local calls = {}
    local function f(x, k)
      calls[#calls + 1] = true
      local y = chain(x, k)
      return y, x, { sum = y:sum(), again = y }
    end
    local fast = torch.compile(f, MODE)
    for round = 1, 5 do
      local x = random(32, 16)
      local y, same, more = fast(x, 2)
      assert.is_true(torch.equal(chain(x, 2), y))
      assert.equal(x, same)
      assert.is_true(torch.equal(y:sum(), more.sum))
      assert.equal(y, more.again)
      assert.equal(math.min(round, 2), #calls)
    end
    local first, second = fast(random(32, 16), 2), fast(random(32, 16), 2)
    assert.is_false(torch.equal(first, second)) -- results have memory of their own
    fast(random(8, 4), 2)
    fast(random(32, 16), 3)
    assert.equal(4, #calls) -- other shapes and numbers are other kinds of calls
  end)

  it('gives a GPU few things to do', function()
    local x = random(32, 16)
    local fast = torch.compile(chain, MODE)
    for _ = 1, 2 do fast(x, 2) end
    local eager = ops_of(chain, x, 2)
    assert.is_true(eager >= 6, eager)
    assert.is_true(ops_of(fast, x, 2) <= 2) -- the argument goes in, the result out
  end)

  it('captures a step of training with its backward pass and its optimizer', function()
    local function step_of(net)
      local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.1, momentum = 0.9 })
      return function(x)
        optimizer:zero_grad()
        local loss = (net(x) ^ 2):mean()
        loss:backward()
        optimizer:step()
        return loss:detach()
      end
    end
    torch.manual_seed(1)
    local net = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.3), nn.Linear(32, 4)):to 'cuda'
    local twin = net:deepcopy()
    local eager, fast = step_of(twin), torch.compile(step_of(net), MODE)
    for round = 1, 5 do
      local x = random(8, 16)
      torch.manual_seed(round)
      local expected = eager(x)
      torch.manual_seed(round)
      assert.is_true(torch.equal(expected, fast(x)), round)
    end
    assert.is_true(torch.equal(twin[1].weight, net[1].weight))
    assert.is_true(ops_of(fast, random(8, 16)) <= 2)
  end)

  it('a new state of a module is captured again', function()
    local net = nn.Sequential(nn.Linear(16, 8), nn.Dropout(0.5), nn.BatchNorm1d(8)):to 'cuda'
    local fast = torch.compile(net, MODE)
    local x = random(4, 16)
    torch.no_grad(function()
      for _ = 1, 3 do fast(x) end
      net:eval()
      for _ = 1, 3 do assert.is_true(torch.equal(net(x), fast(x))) end
      net[1].weight:mul_(2)
      assert.is_true(torch.equal(net(x), fast(x)))
      net[1] = nn.Linear(16, 8):to 'cuda'
      assert.is_true(torch.equal(net(x), fast(x)))
    end)
    assert.is_true(fast(x).requires_grad) -- gradients of parameters are recorded in each call
  end)

  it('sees upvalues that changed', function()
    local scale, offset = 2, random(16)
    local function f(x) return x * scale + offset end
    local fast = torch.compile(f, MODE)
    local x = random(4, 16)
    for _ = 1, 3 do assert.is_true(torch.equal(f(x), fast(x))) end
    scale = 3
    assert.is_true(torch.equal(f(x), fast(x)))
    offset = random(16)
    assert.is_true(torch.equal(f(x), fast(x)))
    offset:zero_()
    for _ = 1, 3 do assert.is_true(torch.equal(f(x), fast(x))) end
  end)

  it('calls that no graph can capture run normally each time', function()
    local calls
    local function check(f, ...)
      calls = 0
      local fast = torch.compile(f, MODE)
      for round = 1, 4 do
        fast(...)
        assert.equal(round, calls)
      end
    end
    local function counted(f) return function(...) return (function(...) return ... end)(f(...)) end end
    local function called() calls = calls + 1 end
    check(counted(function(x) called() return x:sum():item() end), random(4))
    check(counted(function(x) called() return x:add_(1) end), random(4))
    check(counted(function(x) called() return x:view(2, 2) end), random(4))
    check(counted(function(x) called() return (x * 2):cpu() end), random(4))
    check(counted(function(x) called() return x * 2 end), torch.randn(4))
    check(counted(function(x) called() return x * 2 end), random(4):requires_grad_())
  end)

  it('an error during the capture reaches the caller', function()
    local fast = torch.compile(function(x, y) return x:mm(y) end, MODE)
    for _ = 1, 3 do assert.has_error(function() fast(random(2, 3), random(2, 3)) end) end
    assert.is_false(cuda.is_current_stream_capturing())
  end)
end)
