-- kernel_elementwise_spec.lua - torch.kernel.elementwise: formulas from text give the bits of the operations that they name, for all
-- dtypes and layouts, with their derivatives; errors name the column. Runs on LTENSOR_TEST_DEVICE, too.

local torch = require 'torch'
local F = torch.nn.functional
local autograd = torch.autograd
local elementwise = torch.kernel.elementwise

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local programs = dofile(here .. 'support/programs.lua')
local process = dofile(here .. 'support/process.lua')
local device = torch.device(os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu')

local function assert_same(expected, got)
  assert.equal(expected.dtype, got.dtype)
  assert.is_true(programs.same(expected, got), ('expected %s\ngot %s'):format(expected, got))
end

local function draw(...) return torch.randn(...):to(device) end

local function assert_fails(message, f, ...)
  local ok, got = pcall(f, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(got):find(message, 1, true), tostring(got))
end

-- A GPU compiles a kernel for each formula, dtype and layout: fewer of them there.
local on_gpu = device.type == 'cuda'
local dtypes = on_gpu and { 'float32', 'bfloat16' } or { 'float32', 'float64', 'float16', 'bfloat16' }
local function some(list) return on_gpu and { list[1], list[5] } or list end

-- Formulas with the same formula as operations.
local cases = {
  { 'x * exp(-x / (y + 1))', function(x, y) return x * torch.exp(-x / (y + 1)) end },
  { 'x * 0.5 * (1 + erf(x * 0.7071067811865476)) + y', function(x, y) return x * 0.5 * (1 + torch.erf(x * 0.7071067811865476)) + y end },
  { '2 ^ x - x ^ 2 * 3 // 2 % 5 + y', function(x, y) return 2 ^ x - x ^ 2 * 3 // 2 % 5 + y end },
  { 'where(x >= 0, x, y * -2)', function(x, y) return torch.where(x:ge(0), x, y * -2) end },
  { 's = sigmoid(x); s * (1 - s) + tanh(y)', function(x, y)
    local s = torch.sigmoid(x)
    return s * (1 - s) + torch.tanh(y)
  end },
  { 'maximum(x, 0.25) - minimum(y, 1)', function(x, y) return torch.maximum(x, torch.full_like(x, 0.25)) - torch.minimum(y, torch.ones_like(y)) end },
  { '(x < y) == (y > 0.1)', function(x, y) return x:lt(y):eq(y:gt(0.1)) end },
  { 'softplus(x) + silu(y) + gelu(x) + leaky_relu(y, 0.2) + clamp(x, -1, 1)', function(x, y)
    return F.softplus(x) + F.silu(y) + F.gelu(x) + F.leaky_relu(y, 0.2) + x:clamp(-1, 1)
  end },
}

describe('torch.kernel.elementwise', function()
  it('gives the bits of the operations for equal shapes, in the first call and in later ones', function()
    for _, case in ipairs(cases) do
      local f = elementwise(case[1])
      for _, dtype in ipairs(dtypes) do
        for _ = 1, 3 do
          local x, y = draw(300, 70):to(torch[dtype]), draw(300, 70):to(torch[dtype])
          assert_same(case[2](x, y), f(x, y))
        end
      end
    end
  end)

  it('broadcasts, and accepts strided, empty, 0-dim and small tensors', function()
    for _, case in ipairs(some(cases)) do
      local f = elementwise(case[1])
      for _, pair in ipairs {
        { draw(40, 1, 30), draw(50, 1) }, { draw(200, 300):t(), draw(300, 200) }, { draw(200, 300), draw(300) }, { draw(0, 3), draw(3) },
        { torch.tensor(0.3, { device = device }), torch.tensor(-2.0, { device = device }) }, { draw(5), torch.tensor(0.7, { device = device }) }, { draw(1), draw(1) }, { draw(64, 64):narrow(2, 3, 50), draw(64, 1) },
        { draw(8, 3, 16, 16):contiguous { memory_format = torch.channels_last }, draw(8, 3, 16, 16) },
      } do
        assert_same(case[2](pair[1], pair[2]), f(pair[1], pair[2]))
      end
    end
  end)

  it('promotes tensors of several dtypes and numbers as the operations do', function()
    local f = elementwise 'x * 3 + y'
    local whole, small = torch.arange(12):to(device), torch.arange(12):to(torch.uint8):to(device)
    local real, half = draw(12), draw(12):half()
    local mask = whole:gt(4)
    for _, x in ipairs { whole, small, real, half, mask } do
      for _, y in ipairs { whole, small, real, half, mask, 2, 2.5, true } do
        if not (x == mask and y == mask) then assert_same(x * 3 + y, f(x, y)) end
        assert_same(x * 3 + y, f(x, y))
      end
    end
    assert_same(torch.full({ 12 }, 2, { device = device }) * torch.sqrt(torch.tensor(2, { dtype = torch.float64 })):item(),
      elementwise 'x * sqrt(2)'(torch.full({ 12 }, 2, { device = device })))
    assert_same(torch.tensor(7), elementwise 'x * 3 + 1'(2))
    assert_same(torch.tensor(7.5), elementwise 'x * 3 + 1.5'(2))
  end)

  it('takes arguments by name and defaults, and returns several results', function()
    local f = elementwise('alpha * x + beta', { inputs = { 'x', 'alpha', 'beta' }, defaults = { alpha = 2, beta = 0.5 }, name = 'affine' })
    local x = draw(100)
    assert_same(2 * x + 0.5, f(x))
    assert_same(3 * x + 0.5, f(x, 3))
    assert_same(2 * x + 1, f(x, { beta = 1 }))
    local g = elementwise('r = sqrt(x * x + y * y)\n a = atan2(y, x)', { outputs = { 'r', 'a' } })
    local y = draw(100)
    for _ = 1, 2 do
      local r, a = g(x, y)
      assert_same(torch.sqrt(x * x + y * y), r)
      assert_same(torch.atan2(y, x), a)
    end
    assert_same((x + 1):double(), elementwise('x + 1', { dtype = torch.float64 })(x))
    local kept = elementwise 'x'(x)
    kept:add_(1)
    assert.is_false(torch.equal(kept, x))
  end)

  it('does not read memory that two inputs shared in an earlier call', function()
    local f, x, y = elementwise 'x - y', draw(100), draw(100)
    assert_same(x - x, f(x, x))
    assert_same(x - y, f(x, y))
    assert_same(x - y, f(x, y))
  end)

  it('has the derivatives of the operations, of first and second order', function()
    torch.manual_seed(3)
    for _, text in ipairs(some { 'x * exp(-x / (y * y + 1))', 'x * 0.5 * (1 + erf(x * 0.7071)) * y', '0.5 * x * (1 + tanh(0.79 * (x + 0.044 * x ^ 3))) / (y * y + 2)',
      'where(x > y, x * y, sin(x) * y ^ 2)', 's = sigmoid(x * y); s * log(s + 1)' }) do
      local f = elementwise(text)
      local x, y = draw(2, 3):double():requires_grad_(), draw(3):double():requires_grad_()
      assert.is_true(autograd.gradcheck(f, { x, y }))
      assert.is_true(autograd.gradgradcheck(f, { x, y }))
      assert.is_true(autograd.gradcheck(function(a) return f(a, a) end, { x }))
      assert.is_true(autograd.gradgradcheck(function(a) return f(a, a) end, { x }))
    end
  end)

  describe('with compile = true #cpu', function()
    local compiled = { compile = true }
    local formulas = {
      'x * 0.5 * (1 + erf(x / sqrt(2))) + y', '0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ^ 3))) - y', 'x / (1 + exp(-x)) * y',
      'where((x < y) == (y > 0.1), x * y, sigmoid(x) * log(y * y + 1))', 'x ^ 2 + y ^ 0.5 + abs(x) ^ -0.5 + y ^ -1 + x ^ -2 + abs(x) ^ 1.7',
      'softplus(x) + silu(y) + gelu(x) + leaky_relu(y, 0.2) + clamp(x, -1, 1)', 'logical_and(x > 0, y > 0)',
      'floor(x) + ceil(y) + round(x) + trunc(y) + sign(x) + relu(y) + rsqrt(abs(x))', 'maximum(x, 0.25) - minimum(y, 1) + fmax(x, y) + copysign(x, y)',
      'expm1(x) + log1p(abs(y)) + exp2(x) + log2(abs(y)) + log10(abs(x)) + sinh(x) + cosh(y) + atan(x) + asin(x / 9) + acos(y / 9)',
    }
    local special = torch.tensor { 0, -0.0, 1, -1, math.huge, -math.huge, 0 / 0, 1e-42, -3e38, 88.5, -104.5, 0.5 }
    local no_compiler = not os.execute 'cc --version >/dev/null 2>&1'

    it('gives the bits of the interpreter #again', function()
      if no_compiler then return pending 'no C compiler' end
      for _, text in ipairs(formulas) do
        local f, g = elementwise(text, compiled), elementwise(text)
        for _, pair in ipairs { { draw(3000), draw(3000) }, { special, special:flip(1) }, { draw(3000), 2 }, { draw(300000), draw(300000) } } do
          for _ = 1, 2 do assert_same(g(table.unpack(pair)), f(table.unpack(pair))) end
        end
      end
    end)

    it('compiles each of these formulas once, whatever the numbers and sizes', function()
      local C = torch._C
      for _, text in ipairs(formulas) do
        local formula = C.formula(text, 'own')
        local source = C.formula_source(formula, torch.randn(5), torch.randn(5))
        assert.is_string(source, text)
        assert.equal(source, C.formula_source(formula, torch.randn(8), torch.randn(8)))
        C.formula_set_loop(formula, nil, torch.randn(8), torch.randn(8))
        assert.is_nil(C.formula_source(formula, torch.randn(5), torch.randn(5)))
      end
      local formula = C.formula('x * a', 'own')
      assert.equal(C.formula_source(formula, torch.randn(5), 2.5), C.formula_source(formula, torch.randn(5), 3.5))
    end)

    it('interprets other dtypes, layouts and operations, and computes derivatives', function()
      if no_compiler then return pending 'no C compiler' end
      local formula = torch._C.formula('sin(x)', 'own')
      assert.is_false(torch._C.formula_source(formula, draw(5)))
      local text = 'x * exp(-x / (y * y + 1)) + sin(x)'
      local f, g, x, y = elementwise(text, compiled), elementwise(text), draw(30, 20), draw(30, 20)
      for _, pair in ipairs { { x, y }, { x:double(), y:double() }, { x:half(), y:half() }, { x:t(), y:t() }, { x, y[1] }, { x:long(), y }, { x, y:gt(0) } } do
        assert_same(g(table.unpack(pair)), f(table.unpack(pair)))
      end
      local a, b = torch.randn(5):double():requires_grad_(), torch.randn(5):double():requires_grad_()
      assert.is_true(autograd.gradcheck(f, { a, b }))
      assert.is_true(autograd.gradgradcheck(f, { a, b }))
      local z = x:clone():requires_grad_()
      assert_same(autograd.grad(g(z, y):sum(), z)[1], autograd.grad(elementwise(text, compiled)(z, y):sum(), z)[1])
      local r, s = elementwise('r = x + y; s = x < y', { outputs = { 'r', 's' }, compile = true })(x, y)
      assert_same(x + y, r)
      assert_same(x:lt(y), s)
    end)

    it('names a compiler that is missing #native', function()
      local _, message = process.lua("torch.kernel.elementwise('x * 3', {compile = true})(torch.ones(4))", '', 'CC=/no/compiler')
      assert.is_truthy(message:find("elementwise(): the C compiler '/no/compiler' was not found; install one (Debian: apt install gcc), or set CC to its path", 1, true), message)
    end)
  end)

  it('computes the gradients of the operations in one node', function()
    for _, case in ipairs(some(cases)) do
      local f = elementwise(case[1], { name = 'own' })
      local a, b = draw(200, 100), draw(100)
      local function gradients(g)
        local x, y = a:clone():requires_grad_(), b:clone():requires_grad_()
        local z = g(x, y)
        if not z.requires_grad then return z end
        z:sum():backward()
        return x.grad, y.grad, z.grad_fn
      end
      local dx, dy = gradients(case[2])
      local ex, ey, node = gradients(f)
      if node then
        assert.equal('OwnBackward0', node:name())
        assert.is_true(torch.allclose(dx, ex, { rtol = 1e-5, atol = 1e-6 }))
        assert.is_true(torch.allclose(dy, ey, { rtol = 1e-4, atol = 1e-4 }))
      end
    end
    local x = draw(3):requires_grad_()
    local y = elementwise 'floor(x) + (x > 0)'(x)
    y:sum():backward()
    assert_same(torch.zeros(3, { device = device }), x.grad)
  end)

  it('works under vmap, in forward mode and in compiled functions', function()
    local f = elementwise 'x * exp(y)'
    local x, y = draw(4, 30), draw(30)
    assert_same((x * torch.exp(y)):t(), torch.vmap(f, { in_dims = { 2, 1 } })(x, y))
    local _, tangent = torch.func.jvp(function(a) return f(a, y) end, { x }, { torch.ones_like(x) })
    assert.is_true(torch.allclose(torch.exp(y):expand(4, 30), tangent))
    local notes
    local run = torch.compile(function(a, b) return f(a, b) * 2 + f(b, a) end, { options = { min_numel = 1 }, explain = function(list) notes = list end })
    local a, b = draw(50, 40), draw(50, 40)
    local got = run(a, b)
    assert_same(a * torch.exp(b) * 2 + b * torch.exp(a), got)
    assert.equal(1, #notes)
    if _VERSION ~= 'Lua 5.3' then assert.equal(1, notes[1].written) end -- it writes values that the program has dropped
  end)

  it('is exported to ONNX as its operations', function()
    local folder = process.run('mktemp -d'):gsub('\n', '')
    local Model = torch.nn.Module:extend 'Model'
    function Model:init() self.f = elementwise('s = sigmoid(x * 2.5); s * x', { name = 'swish' }) end
    function Model:forward(x) return self.f(x) end
    local model, x = Model(), torch.randn(3, 4)
    torch.onnx.export(model, { x }, folder .. '/model.onnx')
    local loaded = torch.onnx.load(folder .. '/model.onnx')
    assert.is_true(torch.allclose(model(x), loaded(x), { rtol = 1e-5 }))
    process.run('rm -rf ' .. folder)
  end)

  it('reports errors in the text with the column and a suggestion', function()
    assert_fails("column 5 of 'x * sigmod(x)': unknown function 'sigmod'; did you mean 'sigmoid'?", elementwise, 'x * sigmod(x)')
    assert_fails("line 2, column 5 of '2 * valu': unknown name 'valu'; add it to the inputs", elementwise, 'y = 1\n2 * valu', { inputs = { 'x' } })
    assert_fails("column 5 of 'x + valu': unknown name 'valu'; did you mean 'value'?", elementwise, 'x + valu', { inputs = { 'x', 'value' } })
    assert_fails("column 3 of 'x ** 2': unknown operator '**'; use ^", elementwise, 'x ** 2')
    assert_fails("use logical_and(a, b)", elementwise, 'x > 0 and x < 1')
    assert_fails("the text ends where a value is expected", elementwise, 'x +')
    assert_fails("column 6 of 'exp(x': the text ends where an operator, ',' or ')' is expected", elementwise, 'exp(x')
    assert_fails('exp() has at most 1 argument', elementwise, 'exp(x, y)')
    assert_fails('where() has at least 3 arguments, not 1', elementwise, 'where(x)')
    assert_fails('has no input', elementwise, '1 + 2')
    assert_fails('more than 100 levels', elementwise, ('('):rep(200) .. 'x' .. (')'):rep(200))
    assert_fails("output 'z' is not assigned", elementwise, 'y = x', { outputs = { 'z' } })
    assert_fails('the text contains a zero byte', elementwise, 'x\0y')
  end)

  it('reports errors of arguments like built-in operations', function()
    local f = elementwise('x + 2 * y', { name = 'f' })
    assert_fails("f(): argument 'y' is missing; the inputs are x, y", f, draw(3))
    assert_fails('f(): 3 arguments, but the formula has 2 inputs', f, 1, 2, 3)
    assert_fails("f(): argument 'y' must be Tensor or number, not string", f, draw(3), 'a')
    assert_fails('unexpected', f, draw(3), { z = 1 })
    assert_fails('The size of tensor a (3) must match the size of tensor b (4)', f, draw(3), draw(4))
    local g = elementwise 'bitwise_and(x, 1)'
    local ok, message = pcall(g, draw(3))
    local _, expected = pcall(torch.bitwise_and, draw(3), 1)
    assert.is_false(ok)
    assert.equal(expected:match ': (.*)', message:match ': (.*)')
  end)
end)
