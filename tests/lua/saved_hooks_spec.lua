-- saved_hooks_spec.lua - torch.autograd.graph: hooks of saved tensors, saved tensors on the host, copies of those that are written; edges of the
-- graph, hooks of several tensors.

local torch = require 'torch'
local graph = torch.autograd.graph
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function leaf(...) return torch.tensor({ ... }, { dtype = torch.float64, device = device }):requires_grad_() end

local function f(x) return (x:exp() * x + x * x[1]):sum() end

local function gradient_of(x, y) return torch.autograd.grad(y, x) end

describe('saved_tensors_hooks', function()
  it('saved_tensors_hooks stores the result of pack and passes it to unpack', function()
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

  it('saved_tensors_hooks releases the packed values', function()
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

  it('saved_tensors_hooks rejects invalid hooks', function()
    local x = leaf(1, 2)
    local function go(pack, unpack) return function() graph.saved_tensors_hooks(pack, unpack, function() return x:exp():sum() end):backward() end end
    assert.error_matches(go(function() return 1 end, function(v) return v end), 'unpack_hook expected to be a Tensor but got result of type number')
    assert.error_matches(go(function(t) return t end, function(t) return t[1] end), 'must return a tensor of shape %[2%]')
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

describe('allow_mutation_on_saved_tensors', function()
  it('lets tensors be written after they were saved', function()
    local x = leaf(1, 2)
    local want = gradient_of(x, (x:clone() ^ 3):sum())
    graph.allow_mutation_on_saved_tensors(function()
      local y = x:clone()
      local out = (y ^ 3):sum()
      y:sin_()
      y:mul_(2)
      assert.is_true(torch.equal(want, gradient_of(x, out)))
    end)
  end)

  it('allow_mutation_on_saved_tensors copies a value once for two nodes, and only if it is written', function()
    graph.allow_mutation_on_saved_tensors(function()
      local x = leaf(1, 2)
      local y, z = x * 2, x * 3
      local out = (y ^ 2 + y:exp() + z ^ 2):sum()
      torch.no_grad(function()
        y:zero_()
        y:narrow(1, 1, 1):fill_(7)
      end)
      local e = { math.exp(2), math.exp(4) }
      local want = torch.tensor({ 8 + 2 * e[1] + 18, 16 + 2 * e[2] + 36 }, { dtype = torch.float64, device = device })
      assert.is_true(torch.allclose(want, gradient_of(x, out)))
    end)
  end)

  it('covers out=, views, results that are saved, optimizers and custom Functions', function()
    local Square = torch.autograd.Function:extend('Square')
    function Square.forward(ctx, x)
      ctx:save_for_backward(x)
      return x * x
    end
    function Square.backward(ctx, g) return g * ctx.saved_tensors[1] * 2 end
    graph.allow_mutation_on_saved_tensors(function()
      local x, w = leaf(1, 2), leaf(3, 4)
      local y = x * 1
      local squares, e, products = Square(y), (x * 1):exp(), y * w
      local out = (squares + e + products):sum()
      torch.mul(torch.zeros_like(y), 1, { out = y:detach() })
      e:detach():zero_()
      w.grad = torch.ones_like(w)
      torch.optim.SGD({ w }, { lr = 1 }):step()
      local want = torch.tensor({ 2 + math.exp(1) + 3, 4 + math.exp(2) + 4 }, { dtype = torch.float64, device = device })
      assert.is_true(torch.allclose(want, gradient_of(x, out)))
    end)
  end)

  it('ends with its scope, and does not nest', function()
    local x, y, out = leaf(1, 2), nil, nil
    graph.allow_mutation_on_saved_tensors(function()
      y = x * 2
      out = (y ^ 2):sum()
      assert.error_matches(function() graph.allow_mutation_on_saved_tensors(print) end, 'contexts cannot be nested')
    end)
    assert.same({ 8, 16 }, torch.autograd.grad(out, x, { retain_graph = true }):tolist())
    y:detach():zero_()
    assert.error_matches(function() gradient_of(x, out) end, 'modified by an inplace operation after the scope')
    local plain = x * 2
    local later = (plain ^ 2):sum()
    plain:detach():zero_()
    assert.error_matches(function() gradient_of(x, later) end, 'modified by an inplace operation')
  end)

  it('keeps nothing alive', function()
    local alive = setmetatable({}, { __mode = 'k' })
    graph.allow_mutation_on_saved_tensors(function()
      for _ = 1, 5 do
        local x = leaf(1, 2)
        alive[x] = true
        local y = x:clone()
        local out = (y ^ 2):sum()
        y:zero_()
        out:backward()
      end
    end)
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(alive))
  end)
end)

describe('increment_version', function()
  it('increment_version makes backward reject earlier saved tensors', function()
    local x = leaf(1, 2)
    local y = x * 2
    local out = (y ^ 2):sum()
    graph.increment_version(y)
    assert.equal(1, y._version)
    graph.increment_version({ x, y })
    assert.equal(2, y._version)
    assert.error_matches(function() gradient_of(x, out) end, 'modified by an inplace operation')
    assert.error_matches(function() graph.increment_version(1) end, "argument 'tensor' must be")
  end)
end)

describe('a GradientEdge', function()
  it('stands for a tensor as an input and as a root', function()
    local x = leaf(1, 2)
    local y = x * 3
    local edge = graph.get_gradient_edge(y)
    local z = (y ^ 2):sum()
    assert.equal(y.grad_fn, edge.node)
    assert.equal(1, edge.output_nr)
    assert.matches('^GradientEdge%(node=<MulBackward0 object at .*>, output_nr=1%)$', tostring(edge))
    assert.same({ 6, 12 }, torch.autograd.grad(z, edge, { retain_graph = true }):tolist())
    local a, b = torch.autograd.grad(z, { x, edge }, { retain_graph = true })
    assert.same({ 18, 36 }, a:tolist())
    assert.same({ 6, 12 }, b:tolist())
    local ones = torch.ones(2, { dtype = torch.float64, device = device })
    assert.same({ 3, 3 }, torch.autograd.grad(edge, x, ones, { retain_graph = true }):tolist())
    torch.autograd.backward({ edge }, { ones }, { retain_graph = true })
    assert.same({ 3, 3 }, x.grad:tolist())
    assert.same({ 6, 12 }, torch.autograd.grad(z, graph.GradientEdge(y.grad_fn, 1)):tolist())
  end)

  it('is there for leaves and for each result of an op', function()
    local x = leaf(3, 1)
    local edge = graph.get_gradient_edge(x)
    assert.matches('AccumulateGrad', tostring(edge.node))
    assert.same({ 2, 2 }, torch.autograd.grad((x * 2):sum(), edge):tolist())
    local Two = torch.autograd.Function:extend('Two')
    function Two.forward(_, v) return v * 2, v * 3 end
    function Two.backward(_, g, h) return g * 2 + h * 3 end
    local first, second = Two(x)
    edge = graph.get_gradient_edge(second)
    assert.equal(2, edge.output_nr)
    local before = (first + second).grad_fn.next_functions
    assert.same({ edge.node:name(), 1, edge.node:name(), 2 }, { before[1][1]:name(), before[1][2], before[2][1]:name(), before[2][2] })
    assert.same({ 5, 5 }, torch.autograd.grad((first + second * 5):sum(), edge, { retain_graph = true }):tolist())
    assert.same({ 3, 3 }, torch.autograd.grad(edge, x, torch.ones_like(x)):tolist())
  end)

  it('does not keep the memory of its tensor', function()
    local x = leaf(1, 2)
    local alive = setmetatable({}, { __mode = 'k' })
    local y = x * 2
    alive[y] = true
    local z, edge = (y * 1):sum(), graph.get_gradient_edge(y)
    y = nil
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(alive))
    assert.same({ 1, 1 }, torch.autograd.grad(z, edge):tolist())
  end)

  it('get_gradient_edge rejects tensors without a graph', function()
    assert.error_matches(function() graph.get_gradient_edge(torch.ones(2)) end, 'for a Tensor that does not require gradients')
    assert.error_matches(function() graph.GradientEdge(leaf(1).grad_fn, 1) end, "missing 1 required argument: 'node'")
    assert.error_matches(function() graph.GradientEdge((leaf(1) * 2).grad_fn, 2) end, 'has 1 results, but got result 2')
  end)
end)

describe('register_multi_grad_hook', function()
  local a, b, c, d
  before_each(function()
    a, b = leaf(1, 2), leaf(3, 4)
    c, d = a * b, a * b
  end)

  it('calls once for all gradients that a backward computes', function()
    local calls = {}
    local handle = graph.register_multi_grad_hook({ a, b, c, d }, function(grads)
      local there = {}
      for i = 1, 4 do there[i] = grads[i] and grads[i]:tolist() end
      calls[#calls + 1] = there
    end)
    c:sum():backward({ retain_graph = true })
    c:sum():backward({ retain_graph = true, inputs = { a } })
    assert.same({ { { 3, 4 }, { 1, 2 }, { 1, 1 }, false }, { { 3, 4 }, false, { 1, 1 }, false } }, calls)
    torch.autograd.grad((c + d):sum(), { a, b }, { retain_graph = true })
    assert.same({ { 6, 8 }, { 2, 4 }, { 1, 1 }, { 1, 1 } }, calls[3])
    handle:remove()
    handle:remove()
    c:sum():backward()
    assert.equal(3, #calls)
  end)

  it('calls with the first of them', function()
    local calls = {}
    graph.register_multi_grad_hook({ a, c, d }, function(grad) calls[#calls + 1] = grad:tolist() end, { mode = 'any' })
    c:sum():backward({ retain_graph = true })
    d:sum():backward({ retain_graph = true })
    assert.same({ { 1, 1 }, { 1, 1 } }, calls)
  end)

  it('is collected with its tensors', function()
    local alive = setmetatable({}, { __mode = 'k' })
    do
      local function hook() return a, b, c, d end
      alive[hook] = true
      graph.register_multi_grad_hook({ a, b, c, d }, hook)
      c:sum():backward({ retain_graph = true })
      a, b, c, d = nil, nil, nil, nil
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(alive))
  end)

  it('register_multi_grad_hook rejects invalid arguments', function()
    assert.error_matches(function() graph.register_multi_grad_hook({ a }, print, { mode = 'some' }) end, "one of %('all', 'any'%) but got some")
    assert.error_matches(function() graph.register_multi_grad_hook({ a, a:detach() }, print) end, 'tensor 2 does not require grad')
  end)
end)

describe('scopes of saved tensors', function()
  local function nothing(value) return value end
  local function hooks() return graph.saved_tensors_hooks(nothing, nothing) end

  local Exp = torch.autograd.Function:extend('Exp')
  function Exp.forward(ctx, x)
    local y = x:exp()
    ctx:save_for_backward(y)
    return y
  end
  function Exp.backward(ctx, g) return g * ctx.saved_tensors[1] end
  function Exp.jvp(ctx, t) return t * ctx.saved_tensors[1] end

  -- Whatever is saved afterwards is kept as it is, with its tangents where a custom Function saves it.
  local function assert_plain()
    collectgarbage()
    local x = leaf(1, 2)
    local plain, one = x:detach(), torch.ones_like(x)
    local _, second = torch.func.jvp(torch.func.grad(function(t) return Exp(t):sum() end), { plain }, { one })
    assert.is_true(torch.allclose(plain:exp(), second))
    local y = f(x)
    assert.error_matches(function()
      local z = x:exp()
      z:add_(1)
      z:sum():backward()
    end, 'modified by an inplace operation')
    y:backward()
  end

  local function leave(guard) getmetatable(guard).__close(guard) end

  it('may end in any order', function()
    for _, order in ipairs { { 1, 2, 3 }, { 2, 1, 3 }, { 1, 3, 2 }, { 3, 1, 2 }, { 2, 3, 1 }, { 3, 2, 1 } } do
      local opened = { hooks(), graph.allow_mutation_on_saved_tensors(), hooks() }
      f(leaf(3, 4))
      for _, i in ipairs(order) do
        leave(opened[i])
        f(leaf(3, 4))
      end
      assert_plain()
    end
  end)

  it('end once', function()
    local scope = hooks()
    leave(scope)
    leave(scope)
    assert_plain()
    torch._C.close_saved_copies()
    assert_plain()
  end)

  it('may be ended by a hook', function()
    local x, scope = leaf(1, 2), nil
    scope = graph.saved_tensors_hooks(function(t)
      leave(scope)
      return t
    end, nothing)
    f(x):backward()
    leave(scope)
    assert_plain()
  end)
end)
