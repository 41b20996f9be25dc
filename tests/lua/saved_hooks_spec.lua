-- saved_hooks_spec.lua - torch.autograd.graph: hooks of saved tensors, saved tensors on the host.

local torch = require 'torch'
local graph = torch.autograd.graph
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function leaf(...) return torch.tensor({ ... }, { dtype = torch.float64, device = device }):requires_grad_() end

local function f(x) return (x:exp() * x + x * x[1]):sum() end

local function gradient_of(x, y) return torch.autograd.grad(y, x) end

describe('saved_tensors_hooks', function()
  it('keep what pack gives, and give backward what unpack makes of it', function()
    local x, packed, unpacked = leaf(1, 2), 0, 0
    local y = graph.saved_tensors_hooks(function(t)
      packed = packed + 1
      assert.is_false(t.requires_grad)
      return { t:tolist() }
    end, function(value)
      unpacked = unpacked + 1
      return torch.tensor(value[1], { dtype = torch.float64, device = device })
    end, f, x)
    assert.is_true(packed > 0)
    assert.equal(0, unpacked)
    assert.is_true(torch.equal(gradient_of(x, f(x)), gradient_of(x, y)))
    assert.equal(packed, unpacked)
    f(x) -- outside of their scope
    assert.equal(packed, unpacked)
  end)

  it('leave second derivatives as they are', function()
    local function kept(x) return graph.saved_tensors_hooks(function(t) return t end, function(t) return t end, f, x) end
    assert.is_true(torch.autograd.gradgradcheck(kept, leaf(0.3, 0.4)))
  end)

  it('are called innermost first, and restored also after an error', function()
    local x, calls = leaf(1, 2), {}
    local function named(name) return function(t)
      calls[#calls + 1] = name
      return t
    end end
    local function back(t) return t end
    graph.saved_tensors_hooks(named 'outer', back, function()
      graph.saved_tensors_hooks(named 'inner', back, function() return x:exp() end)
      assert.error_matches(function() graph.saved_tensors_hooks(named 'failed', back, function() error('inside', 0) end) end, 'inside')
      return x:exp()
    end)
    assert.same({ 'inner', 'outer' }, calls)
  end)

  it('serve custom Functions', function()
    local Square = torch.autograd.Function:extend('Square')
    function Square.forward(ctx, x)
      ctx:save_for_backward(x)
      return x * x
    end
    function Square.backward(ctx, g) return g * ctx.saved_tensors[1] * 2 end
    local x = leaf(1, 2)
    local y = graph.saved_tensors_hooks(function(t) return { t * 3 } end, function(p) return p[1] / 3 end, function() return Square(x):sum() end)
    assert.same({ 2, 4 }, gradient_of(x, y):tolist())
  end)

  it('let go of what they kept', function()
    local x, alive = leaf(1, 2), setmetatable({}, { __mode = 'k' })
    for _ = 1, 20 do
      graph.saved_tensors_hooks(function(t)
        local box = { t }
        alive[box] = true
        return box
      end, function(box) return box[1] end, function() f(x):backward() end)
    end
    f(x):backward()
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(alive))
  end)

  it('say what is wrong with them', function()
    local x = leaf(1, 2)
    local function go(pack, unpack) return function() graph.saved_tensors_hooks(pack, unpack, function() return x:exp():sum() end):backward() end end
    assert.error_matches(go(function() return 1 end, function(v) return v end), 'unpack_hook expected to be a Tensor but got result of type number')
    assert.error_matches(go(function(t) return t end, function(t) return t[1] end), 'has to give a tensor like the one that was packed, of shape %[2%]')
    assert.error_matches(go(function() end, function(t) return t end), 'pack_hook returned nil')
    assert.error_matches(go(function() error('no room', 0) end, function(t) return t end), 'no room')
  end)

  it('can be disabled', function()
    assert.error_matches(function()
      graph.disable_saved_tensors_hooks('not here', function() graph.save_on_cpu(function() end) end)
    end, 'not here')
    graph.save_on_cpu(function() end)
  end)
end)

describe('save_on_cpu', function()
  for _, pin in ipairs { false, true } do
    it('gives the same gradients, pinned: ' .. tostring(pin), function()
      local x = leaf(1, 2)
      assert.is_true(torch.equal(gradient_of(x, f(x)), gradient_of(x, graph.save_on_cpu(pin, f, x))))
    end)
  end
end)
