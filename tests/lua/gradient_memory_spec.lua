-- gradient_memory_spec.lua - where the engine writes over gradients: only where nobody else could see it. The peaks are those of tensors, in elements.

local torch = require 'torch'

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function randn(...) return torch.randn { ... }:to(device) end

-- What backward holds above what was there before, as a multiple of a tensor of n floats.
local function peak_of(n, backward)
  collectgarbage()
  torch._C.memory_peak()
  local before = torch._C.memory_live()
  backward()
  return (torch._C.memory_peak() - before) / (4 * n)
end

describe('an unshared gradient', function()
  it('has the next one in its place #cpu', function()
    local n = 1000000
    local x, g = torch.randn(n):requires_grad_(), torch.rand(n)
    local y = (x * 1):relu():exp():tanh():sigmoid()
    assert.is_true(peak_of(n, function() y:backward(g) end) < 1.5)
  end)

  it('takes a sum of two', function()
    local n = 100000
    local function f(x)
      local y = x:sigmoid()
      return y:tanh() + y:exp():relu() + y
    end
    local x, g = randn(n):requires_grad_(), torch.rand(n):to(device)
    f(x):backward(g)
    local s = x:detach():sigmoid()
    local want = ((1 - s:tanh():square()) + s:exp() + 1) * s * (1 - s) * g
    assert.is_true(torch.allclose(want, x.grad, { rtol = 1e-5 }))
  end)
end)

describe('a shared gradient is not written:', function()
  local function chain(x) return (x * 2):tanh():sigmoid() end

  it('the caller\'s', function()
    local x, g = randn(50):requires_grad_(), torch.rand(50):to(device)
    local before = g:clone()
    chain(x):backward(g)
    assert.is_true(torch.equal(before, g))
  end)

  it('one that a hook kept', function()
    local x, kept, copies = randn(50):requires_grad_(), {}, {}
    local y = (x * 2):tanh()
    y:register_hook(function(grad) kept[#kept + 1], copies[#copies + 1] = grad, grad:clone() end)
    y:sigmoid():exp():backward(torch.ones(50):to(device))
    assert.equal(1, #kept)
    assert.is_true(torch.equal(copies[1], kept[1]))
  end)

  it('a returned or retained gradient', function()
    local x = randn(50):requires_grad_()
    local y = (x * 2):tanh()
    y:retain_grad()
    local z = y:sigmoid():exp()
    local want = (z * y:sigmoid() * (1 - y:sigmoid())):detach()
    local gy = torch.autograd.grad({ z:sum() }, { y, x }, { retain_graph = true })
    assert.is_true(torch.allclose(want, gy, { rtol = 1e-5 }))
    y.grad = nil
    z:sum():backward()
    assert.is_true(torch.allclose(want, y.grad, { rtol = 1e-5 }))
    assert.is_true(torch.allclose(want * (1 - y:square()) * 2, x.grad, { rtol = 1e-4, atol = 1e-6 }))
  end)

  it('one that goes two ways', function()
    local a, b = randn(50):requires_grad_(), randn(50):requires_grad_()
    local y = a:tanh() + b:sigmoid()
    y:exp():backward(torch.ones(50):to(device))
    local e = y:detach():exp()
    assert.is_true(torch.allclose(e * (1 - a:detach():tanh():square()), a.grad, { rtol = 1e-4, atol = 1e-6 }))
    local s = b:detach():sigmoid()
    assert.is_true(torch.allclose(e * s * (1 - s), b.grad, { rtol = 1e-4, atol = 1e-6 }))
  end)

  it('while the graph is run again, and while gradients are differentiated', function()
    local x = randn(50):double():requires_grad_()
    local y = chain(x)
    local g = torch.rand(50):double():to(device)
    y:backward(g, { retain_graph = true })
    local once = x.grad:clone()
    x.grad = nil
    y:backward(g, { retain_graph = true })
    assert.is_true(torch.equal(once, x.grad))
    local first = torch.autograd.grad({ y:sum() }, { x }, { create_graph = true })
    first = torch.is_tensor(first) and first or first[1]
    first:sum():backward()
    assert.is_true(torch.autograd.gradgradcheck(chain, { randn(5):double():requires_grad_() }))
  end)
end)

describe('a gradient keeps its place only where the next one has the same:', function()
  it('other dtypes, strides and shapes', function()
    for number, make in ipairs {
      function(x) return (x:half():float() * 1):tanh():double():sigmoid():float() end,
      function(x) return x:t():tanh():contiguous():sigmoid():t():exp() end,
      function(x) return (x:tanh() * torch.ones({ 3, 1, 1 }, { device = device })):sum(1):sigmoid() end,
      function(x) return x:narrow(1, 2, 2):relu():tanh():square() end,
    } do
      local x = torch.linspace(-1, 1, 12):reshape(4, 3):to(device):requires_grad_()
      local y = make(x)
      y:backward(torch.ones_like(y))
      -- What is to be differentiated is never written over.
      local g = torch.autograd.grad({ make(x):sum() }, { x }, { create_graph = true })
      g = torch.is_tensor(g) and g or g[1]
      assert.is_true(torch.equal(g:detach(), x.grad), tostring(number))
    end
  end)
end)
