-- transforms_spec.lua - torch.func and torch.autograd.functional against what PyTorch gives (tests/reference/transforms.lua), and
-- what no vector shows: levels inside of each other, histories of results, messages.

local torch = require 'torch'
local func, functional, nn = torch.func, torch.autograd.functional, torch.nn
local reference = require 'support.reference'
local trees = require 'torch.func.trees'

local device = reference.device
local cases = reference.load 'transforms'

local function tensor(values, options)
  options = options or {}
  options.device = device
  return torch.tensor(values, options)
end

local function made(spec)
  return torch.tensor(spec.data, { dtype = torch[spec.dtype], device = device }):reshape(spec.shape)
end

local function assert_close(expected, found, what)
  assert.same(table.move(expected.shape, 1, #expected.shape, 1, {}), table.move(found.shape, 1, #found.shape, 1, {}), what)
  assert.is_true(torch.allclose(expected, found, { rtol = 1e-9, atol = 1e-12 }),
    ('%s: expected %s, found %s'):format(what, tostring(expected), tostring(found)))
end

-- ---- the functions of the vectors -------------------------------------------------------------------------------------

local function wave(x) return (x:sin() * x):sum() end
local function rows(x) return torch.softmax(x, -1) * x:exp() end
local function two(x, y) return x:matmul(y), (x * x):sum(1) end
local function mlp(p, x) return torch.tanh(x:matmul(p.w1) + p.b1):matmul(p.w2) end
local function loss(p, x, y) return ((mlp(p, x) - y) ^ 2):mean() end
local function params(w1, b1, w2) return { w1 = w1, b1 = b1, w2 = w2 } end
local function bilinear(a, b) return (a:exp() * b * b):sum() end

local run = {}

function run.grad(x) return func.grad(wave)(x) end

function run.grad_of_grad(x)
  return func.grad(function(v) return func.grad(wave)(v):pow(2):sum() end)(x)
end

function run.grad_argnums(x, y)
  return func.grad(function(a, b) return (a * b:exp()):sum() end, { argnums = { 2, 1 } })(x, y)
end

function run.grad_of_tables(w1, b1, w2, x, y) return func.grad(loss)(params(w1, b1, w2), x, y) end

function run.grad_and_value(x)
  return func.grad_and_value(function(v) return wave(v), v * 2 end, { has_aux = true })(x)
end

function run.vjp(x, y, u, v)
  local out, f = func.vjp(two, x, y)
  return out, f(u, v)
end

function run.jvp(x, y, u, v) return func.jvp(two, { x, y }, { u, v }) end
function run.jacrev(x) return func.jacrev(rows)(x) end
function run.jacrev_of_two(x, y) return func.jacrev(two, { argnums = { 1, 2 } })(x, y) end
function run.jacfwd_of_two(x, y) return func.jacfwd(two, { argnums = { 2, 1 } })(x, y) end
function run.hessian(x) return func.hessian(function(v) return (v:cumprod(1) * v:sigmoid()):sum() end)(x) end

function run.third_derivative(x)
  return func.jacrev(func.jacfwd(func.grad(function(v) return v:prod() * v:exp():sum() end)))(x)
end

function run.linearize(x)
  local out, f = func.linearize(rows, x)
  return out, f(torch.ones_like(x)), f(x)
end

function run.product_of_products(x, u)
  return func.jvp(function(v)
    local _, slope = func.jvp(function(w) return w:sin() * w end, { v }, { u })
    return slope
  end, { x }, { u })
end

function run.functional_vjp(x, y, u, v) return functional.vjp(two, { x, y }, { u, v }) end
function run.functional_jvp(x, y, u, v) return functional.jvp(two, { x, y }, { u, v }) end
function run.functional_jacobian(x, y) return functional.jacobian(two, { x, y }) end
function run.functional_hessian(x, y) return functional.hessian(bilinear, { x, y }) end
function run.functional_hvp(x, y, u, v) return functional.hvp(bilinear, { x, y }, { u, v }) end
function run.functional_vhp(x, y, u, v) return functional.vhp(bilinear, { x, y }, { u, v }) end

local function sample(x, w) return torch.softmax(w:matmul(x), 1) * x:sum() end

function run.vmap(x, w) return func.vmap(sample, { in_dims = { 1, false } })(x, w) end
function run.vmap_dims(x, w) return func.vmap(sample, { in_dims = { 2, 1 }, out_dims = 2 })(x, w) end

function run.vmap_nested(x, w)
  return func.vmap(func.vmap(sample, { in_dims = { 1, false } }), { in_dims = { false, 1 } })(x, w)
end

function run.vmap_of_grad(x, w)
  local gradient = func.grad(function(v, u) return sample(v, u):pow(2):sum() end, { argnums = { 1, 2 } })
  return func.vmap(gradient, { in_dims = { 1, false } })(x, w)
end

function run.grad_of_vmap(x, w)
  local batch = func.vmap(sample, { in_dims = { 1, false } })
  return func.grad(function(v, u) return batch(v, u):pow(2):sum() end, { argnums = { 1, 2 } })(x, w)
end

function run.vmap_of_hessian(x) return func.vmap(func.hessian(function(v) return v:prod() * v:exp():sum() end))(x) end

function run.vmap_of_vjp(x, u)
  local _, pull = func.vjp(function(v) return v:sin() * v:sum() end, x)
  return func.vmap(pull)(u)
end

function run.vmap_of_jvp(x, u)
  return func.vmap(function(v, t) return func.jvp(rows, { v }, { t }) end)(x, u)
end

function run.vmap_of_convolutions(x, w)
  local conv2d = nn.functional.conv2d
  local image = func.vmap(function(i) return conv2d(i, w, { padding = 1 }):relu():amax { 2, 3 } end)
  local kernels = func.vmap(func.grad(function(k, i) return conv2d(i, k):pow(2):sum() end), { in_dims = { false, 1 } })
  return image(x), kernels(w, x)
end

describe('transforms', function()
  for name, case in pairs(cases) do
    it('agree with PyTorch: ' .. name, function()
      local inputs = {}
      for i, spec in ipairs(case.inputs) do inputs[i] = made(spec) end
      local results = trees.flatten { run[name](table.unpack(inputs)) }
      assert.equal(#case.results, #results)
      for i, spec in ipairs(case.results) do
        assert_close(made(spec), results[i], ('%s, result %d'):format(name, i))
        assert.is_false(results[i].requires_grad)
      end
    end)
  end

  for name in pairs(run) do
    it('have a vector: ' .. name, function() assert.is_table(cases[name]) end)
  end
end)

-- ---- levels -----------------------------------------------------------------------------------------------------------

describe('a transform inside another', function()
  it('is not confused by a variable of the outer one', function()
    -- d/dx of x * d/dy (x + y) at y = 1 is 1, not 2.
    local outer = func.grad(function(x)
      return x * func.grad(function(y) return x + y end)(tensor(1.0))
    end)
    assert.equal(1.0, outer(tensor(1.0)):item())
  end)

  it('a nested transform distinguishes its variable from the same captured tensor', function()
    local x = tensor(3.0, { requires_grad = true })
    local gradient = func.grad(function(v) return v * x end)(x)
    assert.equal(3.0, gradient:item())
    assert.equal(1.0, torch.autograd.grad(gradient, x):item())
  end)

  it('works in either order of forward and reverse', function()
    local x = tensor({ 0.3, -0.7, 1.1 }, { dtype = torch.float64 })
    local function f(v) return (v:sin() * v:prod()):sum() end
    local expected = func.jacrev(func.jacrev(f))(x)
    assert_close(expected, func.jacfwd(func.jacrev(f))(x), 'forward over reverse')
    assert_close(expected, func.jacrev(func.jacfwd(f))(x), 'reverse over forward')
    assert_close(expected, func.jacfwd(func.jacfwd(f))(x), 'forward over forward')
  end)
end)

describe('results of a transform', function()
  local function square(x) return (x * x):sum() end

  it('has no history when nothing outside requires grad', function()
    local gradient, value = func.grad_and_value(square)(tensor { 1.0, 2.0 })
    assert.is_false(gradient.requires_grad)
    assert.is_false(value.requires_grad)
  end)

  it('are differentiable with respect to captured tensors', function()
    local w = tensor({ 1.0, 2.0 }, { requires_grad = true })
    local gradient = func.grad(function(x) return (x * x * w):sum() end)(tensor { 3.0, 4.0 })
    gradient:sum():backward()
    assert.same({ 6.0, 8.0 }, w.grad:tolist())
  end)

  it('can be differentiated by an input that requires grad', function()
    local x = tensor({ 1.0, 2.0 }, { requires_grad = true })
    func.grad(function(v) return (v ^ 3):sum() end)(x):sum():backward()
    assert.same({ 6.0, 12.0 }, x.grad:tolist())
  end)

  it('has no history in a scope without gradients, where the transform itself works', function()
    local x = tensor({ 1.0, 2.0 }, { requires_grad = true })
    local gradient = torch.no_grad(function() return func.grad(square)(x) end)
    assert.same({ 2.0, 4.0 }, gradient:tolist())
    assert.is_false(gradient.requires_grad)
  end)

  it('leaves the gradients of leaves alone', function()
    local x = tensor({ 1.0, 2.0 }, { requires_grad = true })
    func.grad(square)(x)
    assert.is_nil(x.grad)
  end)

  it('is zero where the function does not depend on the input', function()
    assert.same({ 0.0, 0.0 }, func.grad(function() return tensor(1.0) end)(tensor { 1.0, 2.0 }):tolist())
    local _, tangent = func.jvp(function() return tensor { 1.0 } end, { tensor(1.0) }, { tensor(1.0) })
    assert.same({ 0.0 }, tangent:tolist())
  end)
end)

describe('vjp', function()
  it('gives a function that may be called again', function()
    local _, f = func.vjp(function(x) return x * x end, tensor { 1.0, 2.0 })
    assert.same({ 2.0, 4.0 }, f(tensor { 1.0, 1.0 }):tolist())
    assert.same({ 0.0, 4.0 }, f(tensor { 0.0, 1.0 }):tolist())
  end)

  it('takes tables and gives them', function()
    local value, f = func.vjp(function(p) return { sum = p.a + p.b, product = p.a * p.b } end, { a = tensor(2.0), b = tensor(5.0) })
    assert.equal(7.0, value.sum:item())
    local gradients = f { sum = tensor(1.0), product = tensor(10.0) }
    assert.equal(51.0, gradients.a:item())
    assert.equal(21.0, gradients.b:item())
  end)

  it('vjp returns the third result with has_aux', function()
    local value, f, aux = func.vjp(function(x) return x * 2, 'beside' end, tensor(3.0), { has_aux = true })
    assert.equal(6.0, value:item())
    assert.equal(2.0, f(tensor(1.0)):item())
    assert.equal('beside', aux)
  end)
end)

-- ---- modules ----------------------------------------------------------------------------------------------------------

describe('functional_call', function()
  it('refuses names that are no parameters with strict, which may follow the arguments', function()
    local layer, x = torch.nn.Linear(2, 1), tensor { 1.0, 2.0 }
    local values = { weight = tensor { { 3.0, 4.0 } }, bias = tensor { 5.0 }, other = tensor { 1.0 } }
    for _, call in ipairs {
      function() return func.functional_call(layer, values, x, { strict = true }) end,
      function() return func.functional_call(layer, values, x, nil, { strict = true }) end,
    } do
      local ok, message = pcall(call)
      assert.is_false(ok)
      assert.truthy(message:find('Unexpected key(s): other.', 1, true))
    end
    assert.equal(16.0, func.functional_call(layer, values, x, { strict = false }):item())
    for given, expected in pairs { [5] = 'a dict, or a list/tuple of dicts, but got number', [{ values, 5 }] = 'to be dictionaries' } do
      local ok, message = pcall(func.functional_call, layer, given, x)
      assert.is_false(ok)
      assert.truthy(message:find(expected, 1, true), message)
    end
    assert.is_false(pcall(func.functional_call, layer, { weight = values.weight }, x, { strict = true }))
  end)

  local function net() return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)):to(device) end

  it('calls with other parameters, and leaves the module as it was', function()
    local layer, x = nn.Linear(2, 1):to(device), tensor { { 1.0, 2.0 } }
    local own = layer.weight
    local y = func.functional_call(layer, { weight = tensor { { 3.0, 4.0 } }, bias = tensor { 5.0 } }, x)
    assert.equal(16.0, y:item())
    assert.is_true(own == layer.weight)
  end)

  it('restores the module after an error', function()
    local layer = nn.Linear(2, 1):to(device)
    local own = layer.weight
    assert.is_false(pcall(func.functional_call, layer, { weight = tensor { { 3.0, 4.0 } } }, tensor { 1.0, 2.0, 3.0 }))
    assert.is_true(own == layer.weight)
  end)

  it('makes a gradient by the parameters', function()
    local module, x = net():eval(), torch.randn(4, 2, { device = device })
    local parameters = {}
    for name, p in module:named_parameters() do parameters[name] = p end
    local gradients = func.grad(function(p) return func.functional_call(module, p, x):pow(2):mean() end)(parameters)
    module(x):pow(2):mean():backward()
    for name, p in module:named_parameters() do
      assert.is_true(torch.allclose(p.grad, gradients[name], { atol = 1e-6 }), name)
    end
  end)

  it('functional_call replaces tied tensors together unless tie_weights is false', function()
    local Tied = nn.Module:extend 'Tied'
    function Tied:init()
      self.a = nn.Linear(1, 1, { bias = false })
      self.b = nn.Linear(1, 1, { bias = false })
      self.b.weight = self.a.weight
    end
    function Tied:forward(x) return self.a(x) + self.b(x) end
    local module, other = Tied():to(device), { ['a.weight'] = tensor { { 10.0 } } }
    local x, own = tensor { { 1.0 } }, module.a.weight:item()
    assert.equal(20.0, func.functional_call(module, other, x):item())
    assert.is_near(10.0 + own, func.functional_call(module, other, x, nil, { tie_weights = false }):item(), 1e-5)
  end)

  it('strict functional_call names missing and unknown parameters', function()
    assert.error_matches(function()
      func.functional_call(nn.Linear(2, 1), { wait = torch.ones(1) }, torch.ones(2), nil, { strict = true })
    end, 'Unexpected key%(s%): wait. Missing key%(s%): bias, weight.')
    assert.error_matches(function()
      func.functional_call(nn.Linear(2, 1), { { weight = torch.ones(1, 2) }, { weight = torch.ones(1, 2) } }, torch.ones(2))
    end, "%['weight'%] appeared in multiple dictionaries; behavior of functional call is ambiguous")
  end)
end)

describe('stack_module_state', function()
  it('stacks parameters and buffers by name', function()
    local models = { nn.BatchNorm1d(3), nn.BatchNorm1d(3) }
    local parameters, buffers = func.stack_module_state(models)
    assert.same({ 2, 3 }, { table.unpack(parameters.weight.shape) })
    assert.is_true(parameters.weight.requires_grad and parameters.weight.is_leaf)
    assert.same({ 2, 3 }, { table.unpack(buffers.running_mean.shape) })
  end)

  it('refuses models that differ', function()
    assert.error_matches(function() func.stack_module_state {} end, 'Expected at least one model, got 0')
    assert.error_matches(function() func.stack_module_state { nn.Linear(1, 1), nn.ReLU() } end, 'to be of the same class')
    assert.error_matches(function() func.stack_module_state { nn.ReLU(), nn.ReLU():eval() } end, 'the same training/eval mode')
  end)
end)

-- ---- messages ---------------------------------------------------------------------------------------------------------

describe('errors of transforms', function()
  local x = tensor { 1.0, 2.0 }
  local refused = {
    { 'Expected f%(%*args%) to return a Tensor, got number', function() func.grad(function() return 1 end)(x) end },
    { 'to return a scalar Tensor, got tensor with 1 dims', function() func.grad(function(v) return v end)(x) end },
    { 'output of function f should be a tuple: %(output, aux%) if has_aux is True',
      function() func.grad(function(v) return v:sum() end, { has_aux = true })(x) end },
    { 'Thing passed to transform API must be Tensor, got number', function() func.grad(function(v) return v end)(1) end },
    { 'Got argnum=3, but only 1 positional inputs', function() func.grad(function(v) return v end, 3)(x) end },
    { 'argnums: positions count from 1', function() func.grad(function(v) return v end, 0)(x) end },
    { 'argnums elements must be unique', function() func.grad(function(v) return v end, { argnums = { 1, 1 } })(x) end },
    { 'expected f%(%*primals%) to return only tensors, got unsupported type number', function() func.vjp(function() return 1 end, x) end },
    { 'All outputs of f must be floating%-point or complex Tensors, got Tensor with dtype torch.int64',
      function() func.vjp(function() return torch.ones(2, { dtype = torch.int64 }) end, x) end },
    { 'Expected pytree structure of cotangents to be the same', function()
      local _, f = func.vjp(function(v) return v end, x)
      f { a = x }
    end },
    { 'Expected primals to be a tuple', function() func.jvp(function(v) return v end, x, x) end },
    { 'Expected primals and tangents to have the same structure', function() func.jvp(function(v) return v end, { x }, { x, x }) end },
    { 'Expected tangent to have the same shape as primal', function() func.jvp(function(v) return v end, { x }, { tensor(1.0) }) end },
    { 'is independent of the inputs. This is not allowed with strict=True',
      function() func.jvp(function() return tensor(1.0) end, { x }, { x }, { strict = true }) end },
    { '`chunk_size` should be greater than 0', function() func.jacrev(function(v) return v end, { chunk_size = 0 }) end },
    { 'The inputs given to vjp must be either a Tensor or a tuple of Tensors but the value at index 1 has type number',
      function() functional.vjp(function(v) return v end, { 1 }) end },
    { 'The vector v can only be None if the user%-provided function returns', function() functional.vjp(function(v) return v end, x) end },
    { 'v has invalid size: should be torch.Size%(%[2%]%) but got torch.Size%(%[%]%)',
      function() functional.vjp(function(v) return v end, x, tensor(1.0)) end },
    { 'v is a tuple of invalid length: should be 1 but got 2.', function() functional.jvp(function(v) return v end, { x }, { x, x }) end },
    { 'Output 1 of the user%-provided function does not require gradients',
      function() functional.jacobian(function() return x end, x, { strict = true }) end },
    { 'Output 1 of the user%-provided function is independent of input 2',
      function() functional.jacobian(function(a) return a end, { x, x }, { strict = true }) end },
    { 'found that the jacobian of the user%-provided function with respect to input 1 is independent of the input',
      function() functional.hessian(function(v) return v:sum() end, x, { strict = true }) end },
    { 'The function given to hvp should return a single Tensor', function() functional.hvp(function(v) return v, v end, x, x) end },
    { 'returned by the function given to vhp should contain a single element', function() functional.vhp(function(v) return v end, x, x) end },
  }
  for _, case in ipairs(refused) do
    it(case[1], function() assert.error_matches(case[2], case[1]) end)
  end
end)

describe('functional', function()
  it('functional keeps the history of its results with create_graph', function()
    local x = tensor({ 1.0, 2.0 }, { requires_grad = true })
    local jacobian = functional.jacobian(function(v) return v ^ 3 end, x, { create_graph = true })
    jacobian:sum():backward()
    assert.same({ 6.0, 12.0 }, x.grad:tolist())
  end)
end)
