-- autograd_function_spec.lua - torch.autograd.Function: derivatives that users write.

local torch = require 'torch'
local autograd = torch.autograd
local fails_with = require 'support.fails_with'
local device = os.getenv('LTENSOR_TEST_DEVICE') or 'cpu'

local function leaf(values)
  return torch.tensor(values, { dtype = torch.float64, device = device, requires_grad = true })
end

local function constant(values) return torch.tensor(values, { dtype = torch.float64, device = device }) end

local function values(tensor) return tensor:detach():cpu():tolist() end

local Function = autograd.Function

local Exp = Function:extend('Exp')
function Exp.forward(ctx, x)
  local y = x:exp()
  ctx:save_for_backward(y)
  return y
end
function Exp.backward(ctx, grad)
  local y = table.unpack(ctx.saved_tensors)
  return grad * y
end

local Cube = Function:extend('Cube')
function Cube.forward(ctx, x)
  ctx:save_for_backward(x)
  return x * x * x
end
function Cube.backward(ctx, grad)
  local x = ctx.saved_tensors[1]
  return grad * x * x * 3
end

-- ---- anomaly mode, gradcheck ------------------------------------------------------------------------------------

describe('Function', function()
  it('is applied by call and by apply, and names its node', function()
    local x = leaf(1.0)
    local y = Exp(x)
    assert.equal('ExpBackward', y.grad_fn:name())
    assert.near(math.exp(1), y:item(), 1e-12)
    y:backward()
    assert.near(math.exp(1), x.grad:item(), 1e-12)
    assert.equal('ExpBackward', Exp.apply(x).grad_fn:name())
    assert.is_truthy(tostring(y:detach()))
  end)

  it('has derivatives of any order', function()
    for _, f in ipairs { Exp, Cube } do
      local x = leaf(2.0)
      local first = autograd.grad(f(x), x, nil, { create_graph = true })
      local second = autograd.grad(first, x, nil, { create_graph = true })
      local third = autograd.grad(second, x)
      local expected = f == Exp and { math.exp(2), math.exp(2), math.exp(2) } or { 12.0, 12.0, 6.0 }
      assert.near(expected[1], first:item(), 1e-9)
      assert.near(expected[2], second:item(), 1e-9)
      assert.near(expected[3], third:item(), 1e-9)
    end
  end)

  it('passes gradcheck and gradgradcheck', function()
    local x = leaf { 0.5, -1.0 }
    assert.is_true(autograd.gradcheck(Cube.apply, { x }))
    assert.is_true(autograd.gradgradcheck(Cube.apply, { x }))
    assert.is_true(autograd.gradcheck(Exp.apply, { x }))
    assert.is_true(autograd.gradgradcheck(Exp.apply, { x }))
  end)

  it('may be called inside the backward of another', function()
    local Outer = Function:extend('Outer')
    function Outer.forward(ctx, x)
      ctx:save_for_backward(x)
      return x ^ 4 / 4
    end
    function Outer.backward(ctx, grad) return grad * Cube(ctx.saved_tensors[1]) end
    local x = leaf(2.0)
    local first = autograd.grad(Outer(x), x, nil, { create_graph = true })
    collectgarbage()
    local second = autograd.grad(first, x)
    assert.near(8.0, first:item(), 1e-12)
    assert.near(12.0, second:item(), 1e-12)
  end)

  it('takes other arguments beside tensors, and fields on ctx', function()
    local Scale = Function:extend('Scale')
    function Scale.forward(ctx, x, factor, options)
      ctx.factor = factor * options.times
      return x * ctx.factor
    end
    function Scale.backward(ctx, grad)
      assert.same({ true, false, false }, ctx.needs_input_grad)
      return grad * ctx.factor, nil, nil
    end
    local x = leaf { 1.0, 2.0 }
    Scale(x, 3, { times = 2 }):sum():backward()
    assert.same({ 6.0, 6.0 }, values(x.grad))
  end)

  it('has several outputs; gradients that are missing come as zeros', function()
    local seen
    local Both = Function:extend('Both')
    function Both.forward(ctx, a, b)
      ctx:save_for_backward(a, b)
      return a + b, a * b
    end
    function Both.backward(ctx, sum, product)
      local a, b = table.unpack(ctx.saved_tensors)
      seen = { values(sum), values(product) }
      return sum + product * b, sum + product * a
    end
    local a, b = leaf { 2.0 }, leaf { 3.0 }
    local sum, product = Both(a, b)
    product:sum():backward { retain_graph = true }
    assert.same({ { 0.0 }, { 1.0 } }, seen)
    assert.same({ 3.0 }, values(a.grad))
    sum:sum():backward()
    assert.same({ 4.0 }, values(a.grad))
    assert.same({ 3.0 }, values(b.grad))
  end)

  it('a Function receives nil for missing gradients if materialize_grads is off', function()
    local seen
    local Two = Function:extend('Two')
    function Two.forward(ctx, x)
      ctx:set_materialize_grads(false)
      return x * 2, x * 3
    end
    function Two.backward(_, a, b)
      seen = { a == nil, b == nil }
      return a and a * 2 or b * 3
    end
    local x = leaf { 1.0 }
    local _, second = Two(x)
    second:sum():backward()
    assert.same({ true, false }, seen)
    assert.same({ 3.0 }, values(x.grad))
  end)

  it('counts the gradients it gets back', function()
    local Wrong = Function:extend('Wrong')
    function Wrong.forward(_, x) return x * 2 end
    function Wrong.backward(_, grad) return grad, grad end
    local y = Wrong(leaf(1.0))
    fails_with('function WrongBackward returned an incorrect number of gradients (expected 1, got 2)', y.backward, y)
  end)

  it('accepts nil as surplus gradients', function()
    local Double = Function:extend('Double')
    function Double.forward(_, x) return x * 2 end
    function Double.backward(_, grad) return grad * 2, nil, nil end
    local x = leaf { 1.0 }
    Double(x):sum():backward()
    assert.same({ 2.0 }, values(x.grad))
  end)

  it('names the colon or the dot that its methods lack', function()
    local F = Function:extend('F')
    for _, name in ipairs { 'save_for_backward', 'save_for_forward', 'mark_dirty', 'mark_non_differentiable', 'set_materialize_grads' } do
      function F.forward(ctx, x)
        ctx[name](x)
        return x
      end
      fails_with(("%s(): argument 'self' must be a FunctionCtx, not a Tensor (a method is called with a colon: ctx:%s())"):format(name, name), F, leaf(1.0))
    end
    local G = Function:extend('G')
    fails_with('G.forward is defined with a colon, so its first argument is self; write function G.forward(ctx, ...)', function()
      function G:forward(ctx, x) return self, ctx, x end
    end)
    fails_with('write function G.backward(ctx, ...)', function()
      function G:backward(ctx, grad) return self, ctx, grad end
    end)
    function G:forward(x) -- the context is called self
      self:save_for_backward(x)
      return x * 2
    end
    assert.equal(2.0, G(leaf(1.0)):item())
  end)

  it('wants tensors as gradients', function()
    local Wrong = Function:extend('Wrong')
    function Wrong.forward(_, x) return x * 2 end
    function Wrong.backward() return 'text' end
    local y = Wrong(leaf(1.0))
    fails_with('expected a Tensor or nil as gradient', y.backward, y)
  end)

  it('a Function sums gradients to the shape of the input and rejects other shapes', function()
    local Other = Function:extend('Other')
    function Other.forward(ctx, x, shape)
      ctx.shape = shape
      return x * 2
    end
    function Other.backward(ctx) return torch.ones(ctx.shape, { device = device }), nil end
    local function gradient_of(sizes, shape)
      local x = torch.zeros(sizes, { device = device, requires_grad = true })
      local y = Other(x, shape)
      y:sum():backward()
      return x.grad:tolist()
    end
    assert.same({ { 6.0 }, { 6.0 } }, gradient_of({ 2, 1 }, { 2, 2, 3 }))
    for sizes, shape in pairs { [{ 3, 4 }] = { 2, 4 }, [{ 4, 3 }] = { 4, 2 }, [{ 2, 3, 4 }] = { 2, 2, 4 }, [{ 1, 3 }] = { 3, 1 }, [{ 2, 2 }] = { 2 } } do
      local ok, message = pcall(gradient_of, sizes, shape)
      assert.is_false(ok)
      assert(message:find('Function OtherBackward returned an invalid gradient at index 1 - got', 1, true), message)
    end
  end)

  it('marks outputs that have no derivative', function()
    local Sort = Function:extend('Sort')
    function Sort.forward(ctx, x)
      local order = x * 0
      ctx:mark_non_differentiable(order)
      return x * 2, order, x:gt(0)
    end
    function Sort.backward(_, grad) return grad * 2 end
    local x = leaf { 1.0, -1.0 }
    local y, order, positive = Sort(x)
    assert.is_true(y.requires_grad)
    assert.is_false(order.requires_grad)
    assert.is_false(positive.requires_grad)
    y:sum():backward()
    assert.same({ 2.0, 2.0 }, values(x.grad))
  end)

  it('may return its input', function()
    local Reverse = Function:extend('Reverse')
    function Reverse.forward(_, x) return x end
    function Reverse.backward(_, grad) return -grad end
    local x = leaf { 1.0 }
    local y = Reverse(x)
    assert.is_true(x.is_leaf)
    y:sum():backward()
    assert.same({ -1.0 }, values(x.grad))
  end)

  it('a Function may modify an input in place after mark_dirty', function()
    local Double = Function:extend('Double')
    function Double.forward(ctx, x)
      x:mul_(2)
      ctx:mark_dirty(x)
      return x
    end
    function Double.backward(_, grad) return grad * 2 end
    local x = leaf { 1.0, 2.0 }
    fails_with('a leaf Variable that requires grad is being used in an in-place operation.', Double.apply, leaf { 1.0 })
    local y = x * 3
    local z = Double(y)
    assert.is_true(z == y)
    z:sum():backward()
    assert.same({ 6.0, 6.0 }, values(x.grad))
    local whole = x * 1
    Double(whole:narrow(1, 2, 1))
    local gradient = autograd.grad(whole:sum(), x)
    assert.same({ 1.0, 2.0 }, values(gradient))
  end)

  it('a Function checks the versions of its saved tensors', function()
    local x = leaf { 1.0, 2.0 } * 1
    local y = Cube(x)
    x:add_(1)
    local z = y:sum()
    local message = fails_with('one of the variables needed for gradient computation has been modified by an inplace '
      .. 'operation', z.backward, z)
    assert.is_truthy(message:find('is at version 1; expected version 0 instead', 1, true), message)
  end)

  it('a Function frees its saved tensors after backward', function()
    local y = Cube(leaf { 1.0 }):sum()
    y:backward { retain_graph = true }
    y:backward()
    fails_with('Trying to backward through the graph a second time', y.backward, y)
  end)

  it('records nothing under no_grad or for constants', function()
    local x = leaf(1.0)
    assert.is_false(torch.no_grad(Cube, x).requires_grad)
    assert.is_false(Cube(constant(1.0)).requires_grad)
  end)

  it('is collected with its outputs, though it saved them', function()
    local gone = setmetatable({}, { __mode = 'k' })
    local Marked = Function:extend('Marked')
    function Marked.forward(ctx, x)
      local y = x:exp()
      ctx.marker = {}
      gone[ctx.marker] = true
      ctx:save_for_backward(y)
      return y
    end
    Marked.backward = Exp.backward
    local x = leaf { 1.0 }
    local y = (Marked(x) * 2):sum()
    collectgarbage()
    assert.is_not_nil(next(gone))
    y:backward()
    assert.near(2 * math.exp(1), values(x.grad)[1], 1e-12)
    y = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(gone))
  end)

  it('may be differentiable once only', function()
    local Once = Function:extend('Once')
    function Once.forward(ctx, x)
      ctx:save_for_backward(x)
      return x * x
    end
    Once.backward = autograd.once_differentiable(function(ctx, grad) return grad * ctx.saved_tensors[1] * 2 end)
    local x = leaf(3.0)
    assert.equal(6.0, autograd.grad(Once(x), x):item())
    local first = autograd.grad(Once(x), x, leaf(1.0), { create_graph = true })
    fails_with('once_differentiable', first.backward, first)
  end)

  it('a Function without forward or backward is an error that names the missing method', function()
    local Empty = Function:extend('Empty')
    fails_with('You must implement the forward function', Empty.apply, leaf(1.0))
    function Empty.forward(_, x) return x * 2 end
    local y = Empty(leaf(1.0))
    fails_with('You must implement', y.backward, y)
  end)
end)
