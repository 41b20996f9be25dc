-- optim8bit_spec.lua - torch.optim.Adam8bit and AdamW8bit: the steps and codes of bitsandbytes' formulas by plain loops, training beside
-- AdamW, saved state, dtypes and layouts, errors. Runs on LTENSOR_TEST_DEVICE.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local optim = torch.optim

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

-- The table of a dynamic data type, by its definition.
local function dynamic_map(signed)
  local values = { 0, 1 }
  for power = 0, 6 do
    local n = 2 ^ (signed and power or power + 1)
    for i = 0, n - 1 do
      local middle = (0.1 + 0.9 * (i + 0.5) / n) * 10 ^ (power - 6)
      values[#values + 1] = middle
      if signed then values[#values + 1] = -middle end
    end
  end
  table.sort(values)
  return values
end

local function nearest(map, value)
  local low, high = 1, #map
  while high - low > 1 do
    local middle = (low + high) // 2
    if map[middle] <= value then low = middle else high = middle end
  end
  return value - map[low] <= map[high] - value and low or high
end

-- Replaces numbers by those that their codes stand for, by blocks of 256.
local function rounded(numbers, map)
  local codes = {}
  for first = 1, #numbers, 256 do
    local last, most = math.min(first + 255, #numbers), 0
    for i = first, last do most = math.max(most, math.abs(numbers[i])) end
    for i = first, last do
      codes[i] = nearest(map, most > 0 and numbers[i] / most or 0)
      if map[1] == 0 and numbers[i] > 0 then codes[i] = math.max(codes[i], 2) end -- a mean of squares does not become 0
      numbers[i] = map[codes[i]] * most
      codes[i] = codes[i] - 1
    end
  end
  return codes
end

local function list(t) return t:detach():cpu():double():flatten():tolist() end
local function leaf(t) return t:to(device):requires_grad_() end

describe('an optimizer with a state of 8 bits', function()
  it('has the table of bitsandbytes', function()
    local signed, unsigned = dynamic_map(true), dynamic_map(false)
    assert.equal(256, #signed)
    assert.equal(256, #unsigned)
    -- printed by bitsandbytes 0.50
    for i, value in pairs { [1] = -0.992968738079071, [64] = -0.10703125596046448, [128] = 0, [130] = 3.250000190746505e-06, [256] = 1 } do
      assert.near(value, signed[i], 1e-7 * math.abs(value))
    end
    for i, value in pairs { [1] = 0, [2] = 3.2500003044333425e-07, [64] = 0.010703125968575478, [201] = 0.6167968511581421, [256] = 1 } do
      assert.near(value, unsigned[i], 1e-7 * math.abs(value))
    end
  end)

  it('steps by the formula, with codes of blocks of 256', function()
    torch.manual_seed(2)
    local maps = { dynamic_map(true), dynamic_map(false) }
    local n, lr, beta1, beta2, eps, decay = 600, 0.01, 0.9, 0.99, 1e-8, 0.1
    local start = torch.randn(30, 20)
    local parameter = leaf(start:clone())
    local optimizer = optim.AdamW8bit({ parameter }, { lr = lr, betas = { beta1, beta2 }, eps = eps, weight_decay = decay, min_8bit_size = 600 })
    local w, m, v = list(start), {}, {}
    for i = 1, n do m[i], v[i] = 0, 0 end
    for step = 1, 4 do
      local grad = torch.randn(30, 20)
      local g = list(grad)
      parameter.grad = grad:to(device)
      optimizer:step()
      for i = 1, n do
        m[i], v[i] = beta1 * m[i] + (1 - beta1) * g[i], beta2 * v[i] + (1 - beta2) * g[i] ^ 2
        w[i] = w[i] * (1 - lr * decay) - lr / (1 - beta1 ^ step) * m[i] / (math.sqrt(v[i] / (1 - beta2 ^ step)) + eps)
      end
      local state, differ = optimizer.state[parameter], 0
      for k, numbers in ipairs { m, v } do
        local codes, got = rounded(numbers, maps[k]), list(state['state' .. k])
        for i = 1, n do
          if codes[i] ~= got[i] then differ = differ + 1 end -- a number in the middle of two, rounded in float32
          assert.near(codes[i], got[i], 1)
        end
      end
      assert.is_true(differ <= 4, differ)
      local most = 0
      for i, value in ipairs(list(parameter)) do most = math.max(most, math.abs(value - w[i])) end
      assert.is_true(most < (differ == 0 and 1e-5 or 2e-3), most)
    end
    local state = optimizer.state[parameter]
    assert.equal(torch.uint8, state.state1.dtype)
    assert.same({ 3 }, { table.unpack(state.absmax2.shape) })
  end)

  it('does not divide by a mean of squares that is small beside its block', function()
    local parameter = leaf(torch.zeros(256))
    local optimizer = optim.Adam8bit({ parameter }, { lr = 0.1, min_8bit_size = 1 })
    local grad = torch.full({ 256 }, 1e-5)
    grad[1] = 1e3
    for _ = 1, 20 do
      parameter.grad = grad:to(device)
      optimizer:step()
    end
    assert.is_true(parameter:detach():abs():max():item() < 2.5)
  end)

  it('trains as AdamW does', function()
    local losses = {}
    for _, name in ipairs { 'AdamW', 'AdamW8bit' } do
      torch.manual_seed(3)
      local net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 8)):to(device)
      local x, y = torch.randn(128, 64):to(device), torch.randint(1, 9, { 128 }):to(device)
      local optimizer = optim[name](net:parameters(), { lr = 3e-3 })
      losses[name] = {}
      for step = 1, 60 do
        optimizer:zero_grad()
        local loss = torch.nn.functional.cross_entropy(net(x), y)
        loss:backward()
        optimizer:step()
        losses[name][step] = loss:item()
      end
    end
    assert.is_true(losses.AdamW[60] < 0.1 * losses.AdamW[1])
    for step, loss in ipairs(losses.AdamW) do assert.near(loss, losses.AdamW8bit[step], 0.02) end
  end)

  it('has the steps of AdamW for small parameters', function()
    local a, b = leaf(torch.ones(10)), leaf(torch.ones(10))
    local one, other = optim.AdamW8bit({ a }, { lr = 0.1 }), optim.AdamW({ b }, { lr = 0.1 })
    for step = 1, 3 do
      a.grad, b.grad = torch.full({ 10 }, step * 0.5):to(device), torch.full({ 10 }, step * 0.5):to(device)
      one:step()
      other:step()
    end
    assert.equal(torch.float32, one.state[a].state1.dtype)
    assert.is_true(torch.equal(a, b))
  end)

  it('goes on from a saved state with the same bits, for bfloat16 parameters, too', function()
    torch.manual_seed(4)
    local start = torch.randn(80, 60)
    for _, dtype in ipairs { torch.float32, torch.bfloat16 } do
      local grads = torch.randn(6, 80, 60):to(dtype):to(device)
      local path = os.tmpname()
      local whole, first = leaf(start:to(dtype):clone()), leaf(start:to(dtype):clone())
      local optimizers = { optim.Adam8bit({ whole }, { lr = 0.01 }), optim.Adam8bit({ first }, { lr = 0.01 }) }
      for step = 1, 6 do
        whole.grad, first.grad = grads[step], grads[step]
        for _, optimizer in ipairs(optimizers) do optimizer:step() end
        if step == 3 then
          torch.save(optimizers[2]:state_dict(), path)
          optimizers[2] = optim.Adam8bit({ first }, { lr = 0.5 })
          optimizers[2]:load_state_dict(torch.load(path))
          assert.equal(torch.float32, optimizers[2].state[first].absmax1.dtype)
        end
      end
      os.remove(path)
      assert.equal(dtype, whole.dtype)
      assert.is_true(torch.equal(whole, first))
      assert.is_true((whole:detach():cpu():float() - start):abs():mean():item() > 0.005)
    end
  end)

  it('updates parameters of every layout, and of many parts', function()
    torch.manual_seed(5)
    local start, grad = torch.randn(600, 700), torch.randn(600, 700)
    local results = {}
    for i, form in ipairs { function(t) return t end, function(t) return t:t():contiguous():t() end } do
      local parameter = leaf(form(start:clone()))
      local optimizer = optim.Adam8bit({ parameter }, { lr = 0.1 })
      parameter.grad = form(grad:to(device))
      optimizer:step()
      results[i] = parameter:detach():cpu()
    end
    assert.is_true(torch.equal(results[1], results[2]))
    assert.is_true(torch.allclose(start - 0.1 * grad:sign(), results[1], { atol = 1e-3 }))
  end)

  it('refuses', function()
    fails_with('Adam8bit does not support complex parameters', function()
      local p = leaf(torch.ones(2, { dtype = torch.complex64 }))
      p.grad = p:detach()
      optim.Adam8bit({ p }):step()
    end)
    fails_with('Invalid min_8bit_size: -1', optim.AdamW8bit, { leaf(torch.ones(1)) }, { min_8bit_size = -1 })
    fails_with('Adam8bit does not support sparse gradients', function()
      local p = leaf(torch.ones(2, 2))
      p.grad = p:detach():to_sparse()
      optim.Adam8bit({ p }):step()
    end)
  end)
end)
