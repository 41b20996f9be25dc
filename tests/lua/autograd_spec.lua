-- autograd_spec.lua - the graph as its users know it: backward, grad, hooks, modes, in-place changes,
-- anomaly mode. Values are small enough to be worked out by hand.

local torch = require 'torch'
local autograd = torch.autograd
local support = require 'support.process'
local fails_with = require 'support.fails_with'
local device = os.getenv('LTENSOR_TEST_DEVICE') or 'cpu'

local function leaf(values)
  return torch.tensor(values, { dtype = torch.float64, device = device, requires_grad = true })
end

local function constant(values) return torch.tensor(values, { dtype = torch.float64, device = device }) end

local function values(tensor) return tensor:detach():cpu():tolist() end

describe('backward', function()
  it('fills grad of the leaves and leaves other tensors alone', function()
    local x, w, c = leaf { 1.0, 2.0 }, leaf { 3.0, 4.0 }, constant { 5.0, 6.0 }
    local y = x * w + c
    y:sum():backward()
    assert.same({ 3.0, 4.0 }, values(x.grad))
    assert.same({ 1.0, 2.0 }, values(w.grad))
    assert.is_nil(c.grad)
    assert.is_nil(y.grad)
  end)

  it('accumulates, until grad is cleared', function()
    local x = leaf { 1.0, 2.0 }
    for _ = 1, 3 do (x * 2):sum():backward() end
    assert.same({ 6.0, 6.0 }, values(x.grad))
    x.grad:zero_();
    (x * 2):sum():backward()
    assert.same({ 2.0, 2.0 }, values(x.grad))
    x.grad = nil;
    (x * 3):sum():backward()
    assert.same({ 3.0, 3.0 }, values(x.grad))
  end)

  it('sums over all paths and all uses', function()
    local x = leaf(3.0)
    local y = x * x
    local z = y + y * x
    z:backward()
    assert.equal(2 * 3 + 3 * 9, x.grad:item())
  end)

  it('takes a gradient for outputs of several elements', function()
    local x = leaf { 1.0, 2.0 }
    local y = x * 3
    fails_with('grad can be implicitly created only for scalar outputs', y.backward, y)
    y:backward(constant { 1.0, 10.0 })
    assert.same({ 3.0, 30.0 }, values(x.grad))
  end)

  it('refuses a gradient of another shape', function()
    local x = leaf { 1.0, 2.0 }
    local y = x * 3
    fails_with('Mismatch in shape', y.backward, y, constant { 1.0, 1.0, 1.0 })
  end)

  it('refuses tensors without a graph', function()
    local x = constant { 1.0 }
    fails_with('element 1 of tensors does not require grad and does not have a grad_fn', x.backward, x)
  end)

  it('needs retain_graph for a second time', function()
    local x = leaf { 2.0 }
    local y = (x * x):sum()
    y:backward { retain_graph = true }
    y:backward()
    assert.same({ 8.0 }, values(x.grad))
    local message = fails_with('Trying to backward through the graph a second time', y.backward, y)
    assert.is_truthy(message:find('retain_graph=True', 1, true))
  end)

  it('takes several tensors at once', function()
    local x = leaf { 1.0, 2.0 }
    local y = x * x
    autograd.backward({ y:sum(), y }, { [2] = constant { 1.0, 0.0 } })
    assert.same({ 4.0, 4.0 }, values(x.grad))
    fails_with('got 1 tensors and 2 gradients', autograd.backward, y, { constant { 1.0 }, constant { 1.0 } })
  end)

  it('accumulates into named inputs only', function()
    local x, w = leaf { 1.0 }, leaf { 2.0 }
    local y = (x * w):sum()
    y:backward { inputs = { w } }
    assert.is_nil(x.grad)
    assert.same({ 1.0 }, values(w.grad))
    fails_with("'inputs' argument to backward() cannot be empty.", y.backward, y, nil, { inputs = {} })
  end)

  it('backward rejects unknown named arguments', function()
    local y = leaf { 1.0 }:sum()
    fails_with("unexpected keyword argument 'retain'", y.backward, y, nil, { retain = true })
    fails_with("unexpected keyword argument 'retain'", autograd.grad, y, y, { retain = true })
    fails_with("multiple values for argument 'inputs'", autograd.grad, y, y, { inputs = { y } })
  end)

  it('fits broadcast operands', function()
    local x, b = leaf { { 1.0, 2.0 }, { 3.0, 4.0 } }, leaf { 10.0, 20.0 }
    local s = leaf(2.0);
    (x * b * s):sum():backward()
    assert.same({ 8.0, 12.0 }, values(b.grad))
    assert.equal(160.0, s.grad:item())
  end)

  it('runs through graphs that are deep', function()
    local x = leaf(1.0)
    local y = x
    for _ = 1, 20000 do y = y + 1 end
    y:backward()
    assert.equal(1.0, x.grad:item())
  end)

  it('names the line of the call in its errors', function()
    local x = constant { 1.0 }
    local message = fails_with('does not require grad', function() x:backward() end)
    assert.is_truthy(message:find('autograd_spec.lua:%d+: '), message)
  end)
end)

describe('grad', function()
  it('returns a gradient per input and leaves grad alone', function()
    local x, w = leaf { 1.0, 2.0 }, leaf { 3.0, 4.0 }
    local dx, dw = autograd.grad((x * w):sum(), { x, w })
    assert.same({ 3.0, 4.0 }, values(dx))
    assert.same({ 1.0, 2.0 }, values(dw))
    assert.is_nil(x.grad)
  end)

  it('stops at tensors inside the graph', function()
    local x = leaf(2.0)
    local y = x * x
    local z = y * y
    local dy = autograd.grad(z, y)
    assert.equal(8.0, dy:item())
  end)

  it('grad reports inputs that do not affect the output', function()
    local x, w = leaf(1.0), leaf(2.0)
    local y = x * 3
    fails_with('The differentiated Tensor at index 2 appears to not have been used in the graph',
      autograd.grad, y, { x, w }, nil, { retain_graph = true })
    local dx, dw = autograd.grad(y, { w, x }, nil, { allow_unused = true, retain_graph = true })
    assert.is_nil(dx)
    assert.equal(3.0, dw:item())
    local zero = autograd.grad(y, w, nil, { materialize_grads = true })
    assert.equal(0.0, zero:item())
  end)

  it('refuses inputs that require no grad', function()
    local x = leaf(1.0)
    fails_with('One of the differentiated Tensors does not require grad', autograd.grad, x * 2, constant(1.0))
    fails_with('grad requires non-empty inputs.', autograd.grad, x * 2, {})
  end)

  it('makes graphs of gradients: the third derivative of x^4', function()
    local x = leaf(2.0)
    local y = x ^ 4
    local first = autograd.grad(y, x, { create_graph = true })
    local second = autograd.grad(first, x, { grad_outputs = torch.ones_like(first), create_graph = true })
    local third = autograd.grad(second, x)
    assert.near(32.0, first:item(), 1e-12)
    assert.near(48.0, second:item(), 1e-12)
    assert.near(48.0, third:item(), 1e-12)
    assert.is_true(second.requires_grad)
    assert.is_false(third.requires_grad)
  end)

  it('of gradients, added up by backward with create_graph', function()
    local x = leaf { 1.0, 2.0 };
    (x ^ 3):sum():backward { create_graph = true }
    local penalty = (x.grad * x.grad):sum()
    local second = autograd.grad(penalty, x)
    -- d/dx 9 x^4 = 36 x^3
    assert.near(36.0, values(second)[1], 1e-9)
    assert.near(288.0, values(second)[2], 1e-9)
    x.grad = nil -- its graph leads back to x
  end)
end)

describe('grad of a batch of gradients', function()
  it('is the gradient for each of them', function()
    local x, w = torch.tensor({ 1.0, 2.0, 3.0 }, { requires_grad = true }), torch.tensor({ 2.0 }, { requires_grad = true })
    local y = x * x * w
    local dx, dw = torch.autograd.grad(y, { x, w }, torch.eye(3), { is_grads_batched = true })
    assert.same({ { 4, 0, 0 }, { 0, 8, 0 }, { 0, 0, 12 } }, dx:tolist())
    assert.same({ { 1 }, { 4 }, { 9 } }, dw:tolist())
    fails_with('second time', torch.autograd.grad, y, x, torch.eye(3), { is_grads_batched = true })
  end)

  it('takes several outputs, leaves out unused inputs and refuses gradients without a dimension more', function()
    local x, other = torch.ones(2, { requires_grad = true }), torch.ones(1, { requires_grad = true })
    local y, z = x * 3, x:sum()
    local dx, none = torch.autograd.grad({ y, z }, { x, other }, { torch.eye(2), torch.tensor { 10.0, 20.0 } },
      { is_grads_batched = true, allow_unused = true, create_graph = true })
    assert.same({ { 13, 10 }, { 20, 23 } }, dx:tolist())
    assert.is_nil(none)
    fails_with('need a first dimension of one size', torch.autograd.grad, { x * 3, x:sum() }, x, { torch.eye(2), torch.ones(3) }, { is_grads_batched = true })
  end)
end)

describe('hooks', function()
  it('see the gradient, and may replace it', function()
    local x = leaf { 1.0, 2.0 }
    local y = x * 2
    local seen
    y:register_hook(function(grad) seen = values(grad) end)
    local handle = y:register_hook(function(grad) return grad * 10 end);
    (y * 3):sum():backward { retain_graph = true }
    assert.same({ 3.0, 3.0 }, seen)
    assert.same({ 60.0, 60.0 }, values(x.grad))
    handle:remove()
    handle:remove()
    x.grad = nil;
    (y * 3):sum():backward()
    assert.same({ 6.0, 6.0 }, values(x.grad))
  end)

  it('run on leaves before grad is added to', function()
    local x = leaf { 1.0 }
    x:register_hook(function(grad) return grad + 1 end);
    (x * 5):sum():backward()
    assert.same({ 6.0 }, values(x.grad))
    collectgarbage();
    (x * 5):sum():backward()
    assert.same({ 12.0 }, values(x.grad))
  end)

  it('post-accumulate hooks of leaves run after grad was added to', function()
    local x = leaf { 1.0 }
    local seen = {}
    x:register_hook(function(grad) return grad * 2 end)
    local handle = x:register_post_accumulate_grad_hook(function(t)
      assert.equal(x:data_ptr(), t:data_ptr())
      seen[#seen + 1] = t.grad:item()
    end);
    (x * x + x * 3):sum():backward() -- two paths, one addition
    collectgarbage();
    (x * 5):sum():backward()
    assert.same({ 10.0, 20.0 }, seen)
    torch.autograd.grad((x * 5):sum(), x) -- adds to no grad
    handle:remove();
    (x * 5):sum():backward()
    assert.equal(2, #seen)
    -- what makes an optimizer's step while backward goes on
    x:register_post_accumulate_grad_hook(function(t) t.grad = nil end);
    (x * 5):sum():backward()
    assert.is_nil(x.grad)
    fails_with('post accumulate grad hooks cannot be registered on non-leaf tensors', x.register_post_accumulate_grad_hook, x * 2, print)
    fails_with("cannot register a hook on a tensor that doesn't require gradient", x.register_post_accumulate_grad_hook, constant { 1.0 }, print)
  end)

  it('pass their errors on as they are', function()
    local x = leaf { 1.0 }
    local mine = { 'an error value' }
    x:register_hook(function() error(mine) end)
    local ok, caught = pcall(function() (x * 2):sum():backward() end)
    assert.is_false(ok)
    assert.equal(mine, caught)
  end)

  it('are refused on tensors that require no grad', function()
    local x = constant { 1.0 }
    fails_with("cannot register a hook on a tensor that doesn't require gradient", x.register_hook, x, print)
  end)

  it('may call backward themselves', function()
    local x, w = leaf(2.0), leaf(3.0)
    local y = x * x
    y:register_hook(function()
      torch.enable_grad(function() (w * w):backward() end)
    end)
    y:backward()
    assert.equal(4.0, x.grad:item())
    assert.equal(6.0, w.grad:item())
  end)

  it('are collected with their tensor, cycle or not', function()
    local gone = setmetatable({}, { __mode = 'k' })
    do
      local x = leaf { 1.0 }
      local y = x * 2
      local marker = {}
      gone[marker] = true
      y:register_hook(function() return marker and y * 0 end)
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(gone))
  end)

  it('retain_grad keeps the gradient of an inner tensor', function()
    local x = leaf { 1.0, 2.0 }
    local y = x * 2
    y:retain_grad()
    assert.is_true(y.retains_grad);
    (y * y):sum():backward()
    assert.same({ 4.0, 8.0 }, values(y.grad))
  end)
end)

describe('grad modes', function()
  it('no_grad as a guard', function()
    local x = leaf(1.0)
    do
      local _ <close> = torch.no_grad()
      assert.is_false(torch.is_grad_enabled())
      assert.is_false((x * 2).requires_grad)
      do
        local _ <close> = torch.enable_grad()
        assert.is_true((x * 2).requires_grad)
      end
      assert.is_false(torch.is_grad_enabled())
    end
    assert.is_true((x * 2).requires_grad)
  end)

  it('no_grad with a function returns the results of the function', function()
    local a, b, c = torch.no_grad(function(...) return torch.is_grad_enabled(), nil, ... end, 7)
    assert.is_false(a)
    assert.is_nil(b)
    assert.equal(7, c)
    assert.is_true(torch.is_grad_enabled())
  end)

  it('both restore when an error passes', function()
    fails_with('inner', torch.no_grad, function() error('inner') end)
    assert.is_true(torch.is_grad_enabled())
    fails_with('inner', function()
      local _ <close> = torch.no_grad()
      error('inner')
    end)
    assert.is_true(torch.is_grad_enabled())
  end)

  it('set_grad_enabled acts at once', function()
    local guard = torch.set_grad_enabled(false)
    assert.is_false(torch.is_grad_enabled())
    torch.set_grad_enabled(true)
    assert.is_true(torch.is_grad_enabled())
    assert.is_not_nil(guard)
  end)

  it('inference_mode records nothing', function()
    local x = leaf(1.0)
    local y = torch.inference_mode(function() return x * 2 end)
    assert.is_false(y.requires_grad)
    assert.is_true(torch.inference_mode(false, function() return x * 2 end).requires_grad)
  end)
end)

describe('detach', function()
  it('shares memory, not history', function()
    local x = leaf { 1.0, 2.0 }
    local y = (x * 2):detach()
    assert.is_false(y.requires_grad)
    assert.is_true(y.is_leaf)
    local z = (x * y):sum()
    z:backward()
    assert.same({ 2.0, 4.0 }, values(x.grad))
    torch.no_grad(function() x:detach():fill_(7) end)
    assert.same({ 7.0, 7.0 }, values(x))
  end)
end)

describe('detach_', function()
  it('takes the history away', function()
    local x = leaf { 1.0, 2.0 }
    local y = x * 2
    assert.is_true(y:detach_() == y)
    assert.is_false(y.requires_grad)
    assert.is_true(y.is_leaf)
    local whole = x * 2
    fails_with("Can't detach views in-place", whole[1].detach_, whole[1])
  end)
end)

describe('leaves', function()
  it('leaves are tensors that the user created or detached', function()
    local x = leaf(1.0)
    local y = x * 2
    assert.is_true(x.is_leaf)
    assert.is_nil(x.grad_fn)
    assert.is_false(y.is_leaf)
    assert.equal('MulBackward0', y.grad_fn:name())
    assert.is_true(y:detach().is_leaf)
  end)

  it('may not be written in place while recording', function()
    local x = leaf { 1.0, 2.0 }
    fails_with('a leaf Variable that requires grad is being used in an in-place operation.', x.add_, x, 1)
    fails_with('a view of a leaf Variable that requires grad is being used in an in-place operation.',
      function() x[1] = 5 end)
    torch.no_grad(function() x:add_(1) end)
    assert.same({ 2.0, 3.0 }, values(x))
  end)

  it('requires_grad of inner tensors cannot be switched off', function()
    local y = leaf(1.0) * 2
    fails_with('you can only change requires_grad flags of leaf variables', y.requires_grad_, y, false)
  end)

  it('only floating dtypes require grad', function()
    fails_with('only Tensors of floating point', function() torch.tensor({ 1, 2 }, { device = device }):requires_grad_() end)
  end)
end)

describe('in-place ops', function()
  it('on inner tensors are part of the graph', function()
    local x = leaf { 1.0, 2.0 }
    local y = x * 2
    y:mul_(x)
    y:sum():backward()
    assert.same({ 4.0, 8.0 }, values(x.grad))
  end)

  it('an in-place change of a value that a derivative needs is an error with both versions', function()
    local x = leaf { 1.0, 2.0 }
    local y = x * 2
    local z = (y * y):sum()
    y:add_(1)
    local message = fails_with('one of the variables needed for gradient computation has been modified by an inplace '
      .. 'operation', z.backward, z)
    assert.is_truthy(message:find('DoubleTensor [2]]', 1, true), message)
    assert.is_truthy(message:find('is at version 1; expected version 0 instead', 1, true), message)
  end)

  it('that change saved outputs are an error too', function()
    local y = leaf { 1.0 }:exp()
    local z = y:sum()
    y:add_(1)
    fails_with('modified by an inplace operation', z.backward, z)
  end)

  it('on views change the history of the whole', function()
    local x = leaf { 1.0, 2.0, 3.0 }
    local y = x * 2
    y[2] = 10
    y:narrow(1, 3, 1):mul_(5)
    y:sum():backward()
    assert.same({ 2.0, 0.0, 10.0 }, values(x.grad))
  end)

  it('on the whole change the history of views', function()
    local x = leaf { 1.0, 2.0, 3.0 }
    local y = x * 2
    local view = y:narrow(1, 1, 2)
    y:mul_(3)
    view:sum():backward()
    assert.same({ 6.0, 6.0, 0.0 }, values(x.grad))
  end)

  it('storing into a constant makes it part of the graph', function()
    local x = leaf { 1.0, 2.0 }
    local y = torch.zeros(3, { dtype = torch.float64, device = device })
    y[{ { 2, 3 } }] = x * 3
    assert.is_true(y.requires_grad);
    (y * constant { 1.0, 10.0, 100.0 }):sum():backward()
    assert.same({ 30.0, 300.0 }, values(x.grad))
  end)
end)

describe('anomaly mode', function()
  it('anomaly mode names the line of the forward op with a nan derivative', function()
    local _ <close> = autograd.detect_anomaly()
    local x = leaf { 0.0 }
    local here = debug.getinfo(1, 'l').currentline + 1
    local y = x:sqrt() * 0
    local message = fails_with("returned nan values in its", function() y:sum():backward() end)
    assert.is_truthy(message:find('SqrtBackward0', 1, true), message)
    assert.is_truthy(message:find('autograd_spec.lua:' .. here, 1, true), message)
  end)

  it('is off afterwards, and off by default', function()
    autograd.detect_anomaly(function() end)
    local x = leaf { 0.0 };
    (x:sqrt() * 0):sum():backward()
    local g = values(x.grad)[1]
    assert.is_true(g ~= g)
  end)

  it('names the line in version errors', function()
    local _ <close> = autograd.set_detect_anomaly(true)
    local y = leaf { 1.0 } * 2
    local here = debug.getinfo(1, 'l').currentline + 1
    local z = (y * y):sum()
    y:add_(1)
    local message = fails_with('modified by an inplace operation', z.backward, z)
    assert.is_truthy(message:find('autograd_spec.lua:' .. here, 1, true), message)
  end)
end)

describe('gradcheck', function()
  it('finds a wrong derivative', function()
    local Wrong = autograd.Function:extend('Wrong')
    function Wrong.forward(ctx, x)
      ctx:save_for_backward(x)
      return x * x
    end
    function Wrong.backward(ctx, grad) return grad * ctx.saved_tensors[1] end
    local x = leaf { 1.0, 2.0 }
    local message = fails_with('Jacobian mismatch for output 1 with respect to input 1', autograd.gradcheck, Wrong.apply, { x })
    assert.is_truthy(message:find('numerical:', 1, true))
    assert.is_false(autograd.gradcheck(Wrong.apply, { x }, { raise_exception = false }))
  end)

  it('finds a wrong second derivative', function()
    local Wrong = autograd.Function:extend('Wrong')
    function Wrong.forward(ctx, x)
      ctx:save_for_backward(x)
      return x * x
    end
    function Wrong.backward(ctx, grad) return grad * ctx.saved_tensors[1]:detach() * 2 end
    local x = leaf { 1.0, 2.0 }
    assert.is_true(autograd.gradcheck(Wrong.apply, x))
    fails_with('Jacobian mismatch', autograd.gradgradcheck, Wrong.apply, x)
  end)

  it('leaves its inputs as they were', function()
    local x = leaf { 1.0, 2.0 }
    assert.is_true(autograd.gradcheck(function(a) return a:exp(), a * 2 end, { x }))
    assert.same({ 1.0, 2.0 }, values(x))
    assert.is_nil(x.grad)
  end)

  it('wants something to differentiate', function()
    fails_with('gradcheck expects at least one input tensor to require gradient', autograd.gradcheck, torch.exp,
      { constant { 1.0 } })
  end)
end)

describe('the end of a program', function()
  it('comes clean with hooks and Functions still in the graph', function()
    local output, errors, status = support.lua [[
      local torch = require 'torch'
      local F = torch.autograd.Function:extend('F')
      function F.forward(ctx, x) ctx:save_for_backward(x) return x * 2 end
      function F.backward(ctx, g) return g * 2 end
      x = torch.ones(3, {requires_grad = true})
      y = F(x)
      y:register_hook(print)
      print(y:sum():item())
    ]]
    assert.equal('6.0\n', output, errors)
    assert.equal(0, status)
  end)
end)
