-- complex_spec.lua - complex numbers as a user meets them: values of Lua, dtypes and promotion, printing, files, memory that is shared
-- with the parts, derivatives. What the ops give is compared with PyTorch's in reference_spec.lua (tests/reference/complex.lua).

local torch = require 'torch'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local z = torch.complex

local function tensor(...) return torch.tensor({ ... }, { device = device }) end
local function on(options)
  options.device = device
  return options
end

describe('a complex number', function()
  it('has arithmetic with others and with numbers', function()
    local a, b = z(1, 2), z(3, -1)
    assert.equal(z(4, 1), a + b)
    assert.equal(z(-2, 3), a - b)
    assert.equal(z(5, 5), a * b)
    assert.equal(z(0.5, 1), a / 2)
    assert.equal(z(2, 4), 2 * a)
    assert.equal(z(-1, -2), -a)
    assert.equal(z(-3, 4), a ^ 2)
    assert.are_not.equal(a, b)
  end)

  it('has parts, a conjugate, a magnitude and an angle', function()
    local a = z(3, 4)
    assert.equal(3.0, a.real)
    assert.equal(4.0, a.imag)
    assert.equal(z(3, -4), a:conj())
    assert.equal(5.0, a:abs())
    assert.near(math.atan(4, 3), a:angle(), 1e-15)
    assert.error_matches(function() return a.size end, "no field 'size'")
  end)

  it('prints as Python prints it', function()
    assert.equal('(1+2j)', tostring(z(1, 2)))
    assert.equal('(1.5-0.25j)', tostring(z(1.5, -0.25)))
    assert.equal('2j', tostring(z(0, 2)))
    assert.equal('(-0-1j)', tostring(z(-0.0, -1)))
    assert.equal('(nan+infj)', tostring(z(0 / 0, 1 / 0)))
    assert.equal('(0.1+1e-07j)', tostring(z(0.1, 1e-7)))
  end)

  it('stands beside tensors as an operand', function()
    local x = tensor(1.0, 2.0)
    assert.equal(torch.complex64, (x * z(0, 1)).dtype)
    assert.same({ z(0, 1), z(0, 2) }, (z(0, 1) * x):tolist())
    assert.same({ z(0.5, 0), z(1, 0) }, (x / z(2, 0)):tolist())
    assert.same({ z(1, -1), z(0, -1) }, (z(2, -1) - x):tolist())
  end)

  it('a complex number has the value of a complex element', function()
    local t = tensor(z(1, 2), 3, 0.5)
    assert.equal(z(1, 2), t[1]:item())
    assert.same({ z(1, 2), z(3, 0), z(0.5, 0) }, t:tolist())
    t[2] = z(0, -1)
    assert.equal(z(0, -1), t[2]:item())
    assert.equal(z(7, 7), torch.full({ 2 }, z(7, 7), on {})[2]:item())
  end)

  it('is refused where there is room for a real number alone', function()
    assert.error_matches(function() torch.tensor({ z(1, 1) }, { dtype = torch.float32 }) end, 'must be real number, not complex')
    assert.error_matches(function() torch.ones(2, on {}):fill_(z(1, 1)) end, 'value cannot be converted to type float without overflow')
    assert.error_matches(function() return z(1, 1) + {} end, 'complex number and a table')
  end)
end)

describe('complex dtypes', function()
  it('follow the width of the floats they meet', function()
    local c64, c128 = torch.ones(2, on { dtype = torch.complex64 }), torch.ones(2, on { dtype = torch.complex128 })
    assert.equal(torch.complex64, (c64 + torch.ones(2, on {})).dtype)
    assert.equal(torch.complex128, (c64 + torch.ones(2, on { dtype = torch.float64 })).dtype)
    assert.equal(torch.complex64, (c64 + torch.ones({}, on { dtype = torch.float64 })).dtype)
    assert.equal(torch.complex128, (c64 + c128).dtype)
    assert.equal(torch.complex64, (torch.ones(2, on { dtype = torch.int32 }) * z(0, 1)).dtype)
    assert.equal(torch.complex128, (torch.ones(2, on { dtype = torch.float64 }) * z(0, 1)).dtype)
  end)

  it('complex dtypes report their properties', function()
    assert.is_true(torch.complex64.is_complex)
    assert.is_false(torch.complex64.is_floating_point)
    assert.equal(16, torch.complex128.itemsize)
    assert.is_true(torch.is_complex(torch.zeros(1, on { dtype = torch.cfloat })))
    assert.is_false(torch.zeros(1, on {}):is_complex())
  end)

  it('convert: the imaginary part is dropped, or 0, and counts for truth', function()
    local t = tensor(z(1.5, 2), z(0, 1), 0)
    assert.same({ 1.5, 0.0, 0.0 }, t:to(torch.float64):tolist())
    assert.same({ true, true, false }, t:to(torch.bool):tolist())
    assert.same({ z(1, 0), z(2, 0) }, tensor(1, 2):to(torch.complex64):tolist())
    assert.same({ z(1.5, 2), z(0, 1), z(0, 0) }, t:to(torch.complex32):to(torch.complex128):tolist())
    assert.same({ z(1.5, 2), z(0, 1), z(0, 0) }, t:reshape(3, 1):t():to(torch.complex128):reshape(-1):tolist())
  end)

  it('print as PyTorch prints them', function()
    local t = torch.tensor { z(1, 2), z(-0.5, -1.25) }
    assert.equal('tensor([ 1.0000+2.0000j, -0.5000-1.2500j])', tostring(t))
    assert.equal('tensor([1.+2.j], dtype=torch.complex128)', tostring(torch.tensor({ z(1, 2) }, { dtype = torch.complex128 })))
    assert.equal('tensor(1.+2.j)', tostring(torch.tensor(z(1, 2))))
    assert.equal('tensor([], dtype=torch.complex64)', tostring(torch.zeros(0, { dtype = torch.complex64 })))
  end)
end)

describe('the parts of a complex tensor', function()
  it('share its memory', function()
    local t = torch.zeros(2, on { dtype = torch.complex64 })
    torch.real(t):fill_(1)
    torch.imag(t)[2] = 5
    assert.same({ z(1, 0), z(1, 5) }, t:tolist())
    torch.view_as_real(t)[{ 1, 2 }] = -3
    assert.equal(z(1, -3), t[1]:item())
  end)

  it('are fields, and may be assigned', function()
    local t = tensor(z(1, 2), z(3, 4))
    t.real:mul_(2)
    t.imag = torch.tensor({ 5.0, 6.0 }, on {})
    assert.same({ z(2, 5), z(6, 6) }, t:tolist())
    local x = torch.tensor({ 1.0, 2.0 }, on { requires_grad = true })
    local w = torch.zeros(2, on { dtype = torch.complex64 })
    w.imag = x * 3
    w.imag:sum():backward()
    assert.same({ 3.0, 3.0 }, x.grad:tolist())
    assert.equal(x:data_ptr(), x.real:data_ptr())
    assert.error_matches(function() return x.imag end, 'imag')
    assert.error_matches(function() t.real = 1 end, "a Tensor's field 'real' cannot be assigned anything but a Tensor", 1, true)
  end)

  it('are drawn apart, each with half of the variance', function()
    torch.manual_seed(1)
    local t = torch.randn(20000, on { dtype = torch.complex64 })
    assert.near(1, t:var():item(), 0.05)
    assert.near(0.5, torch.imag(t):var():item(), 0.03)
  end)

  it('have no marks: a conjugate is a copy', function()
    local t = tensor(z(1, 2))
    local turned = t:conj()
    turned:zero_()
    assert.equal(z(1, 2), t[1]:item())
    assert.is_false(turned:is_conj())
    local x = tensor(1.0)
    assert.equal(x:data_ptr(), x:conj():data_ptr())
  end)
end)

describe('derivatives of complex numbers', function()
  local gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck

  local function leaf(...)
    local n = 1
    for i = 1, select('#', ...) do n = n * select(i, ...) end
    local data = {}
    for i = 1, 2 * n do data[i] = -1.5 + 3 * (i * 0.6180339887 % 1) end
    local pairs_of = torch.tensor(data, { dtype = torch.float64 }):reshape(n, 2)
    return torch.view_as_complex(pairs_of):reshape(...):to(device):detach():requires_grad_()
  end

  local functions = {
    prod = function(x) return x:prod() end,
    ['prod along a dimension'] = function(x) return x:prod(2) end,
    cumprod = function(x) return x:cumprod(1) end,
    cumsum = function(x) return x:cumsum(2) end,
    var = function(x) return x:var(1) end,
    std = function(x) return x:std() end,
    norm = function(x) return x:norm() end,
    logsumexp = function(x) return x:logsumexp(1) end,
    ['a product of matrices'] = function(x) return x:matmul(x:t():conj()) end,
    ['a quotient by a real number'] = function(x) return x / (x:abs() + 1) end,
    ['a power'] = function(x) return x ^ z(1.5, 0.5) end,
    ['a chain that becomes real'] = function(x) return torch.real(x * x:conj()) end,
    ['an index'] = function(x) return x[{ {}, { 1, 2 } }] end,
  }
  for name, f in pairs(functions) do
    it('are right to the second order: ' .. name, function()
      assert.is_true(gradcheck(f, leaf(2, 3)))
      assert.is_true(gradgradcheck(f, leaf(2, 3)))
    end)
  end

  it('are real for a real input', function()
    local x = torch.tensor({ 1.0, 2.0 }, on { requires_grad = true })
    local y = (x * z(1, 1)):sum()
    torch.view_as_real(y):sum():backward()
    assert.same({ 2.0, 2.0 }, x.grad:tolist())
  end)

  it('go through writes to a part', function()
    local function write(x, part)
      local y = x * 1
      torch.imag(y):copy_(part)
      return y * y
    end
    local part = torch.tensor({ 0.5, -1 }, on { dtype = torch.float64, requires_grad = true })
    assert.is_true(gradcheck(write, { leaf(2), part }))
  end)

  it('a complex result needs an explicit gradient', function()
    assert.error_matches(function() leaf(2):sum():backward() end,
      'grad can be implicitly created only for real scalar outputs but got torch.complex128')
  end)
end)

describe('operations that complex numbers do not support', function()
  it('is refused by name', function()
    local t = torch.ones(2, 2, on { dtype = torch.complex64 })
    assert.error_matches(function() t:erf() end, [["erf" not implemented for 'ComplexFloat']])
    assert.error_matches(function() t:softmax(1) end, "not implemented for 'ComplexFloat'")
    assert.error_matches(function() t:clamp(0) end, 'clamp is not supported for complex types')
  end)
end)

describe('files of complex tensors', function()
  local path = os.tmpname()
  teardown(function() os.remove(path) end)

  for _, suffix in ipairs { 'npy', 'pt', 'safetensors' } do
    it('come back from .' .. suffix, function()
      local name = path .. '.' .. suffix
      local t = torch.tensor({ { z(1, 2), z(0, -1) } }, { dtype = torch.complex64 })
      torch.save(t, name)
      local back = torch.load(name)
      os.remove(name)
      assert.equal(torch.complex64, back.dtype)
      assert.same(t:tolist(), back:tolist())
    end)
  end

  it('of complex128 too, but for safetensors, which has none', function()
    local t = torch.tensor({ z(1, 2) }, { dtype = torch.complex128 })
    torch.save(t, path .. '.npy')
    assert.same(t:tolist(), torch.load(path .. '.npy'):tolist())
    os.remove(path .. '.npy')
    assert.error_matches(function() torch.save(t, path .. '.safetensors') end, 'the format has no elements of complex128')
  end)

  it('of NumPy and of PyTorch are read', function()
    local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
    assert.is_true(torch.load(here .. '../files/complex.npy'):is_complex())
    local saved = torch.load(here .. '../files/complex.pt')
    assert.is_true((torch.is_tensor(saved) and saved or select(2, next(saved))):is_complex())
  end)
end)
