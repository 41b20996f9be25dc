-- complex_linalg_spec.lua - complex matrices where no vectors can say what is right: factors that are free up to directions
-- multiply back, derivatives of what those directions do not change agree with differences, and what is done on the host for
-- a GPU is in the ledger. Values: the group complex_linalg of tests/reference.

local torch = require 'torch'
local linalg = torch.linalg

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function random(...)
  torch.manual_seed(6)
  return torch.randn(..., { dtype = torch.complex128 }):to(device)
end

local function near(a, b)
  assert.same(tostring(b.shape), tostring(a.shape))
  assert(a:numel() == 0 or (a - b):abs():max():item() < 1e-10, tostring(a) .. tostring(b))
end

local function hermitian(x) return (x + x.mH) / 2 end

local function one(n) return torch.eye(n, { dtype = torch.complex128, device = device }) end

describe('factors of complex matrices', function()
  for _, shape in ipairs { { 3, 3 }, { 4, 2 }, { 2, 4 }, { 2, 3, 2 }, { 0, 3 }, { 2, 0, 0 } } do
    it(('multiply back: %s'):format(table.concat(shape, 'x')), function()
      local x = random(shape)
      for _, full in ipairs { true, false } do
        local U, S, Vh = linalg.svd(x, full)
        assert.equal(torch.float64, S.dtype)
        local k = S:size(-1)
        near((U:narrow(-1, 1, k) * S:unsqueeze(-2)):matmul(Vh:narrow(-2, 1, k)), x)
      end
      local U, S, V = torch.svd(x)
      near((U * S:unsqueeze(-2)):matmul(V.mH), x)
      local Q, R = linalg.qr(x)
      near(Q:matmul(R), x)
      near(Q.mH:matmul(Q), one(Q:size(-1)):expand_as(Q.mH:matmul(Q)))
    end)
  end

  for _, upper in ipairs { 'L', 'U' } do
    it('eigh multiplies back from the triangle ' .. upper, function()
      local a = hermitian(random { 2, 3, 3 })
      local read = upper == 'L' and a:tril() or a:triu()
      local values, vectors = linalg.eigh(read, upper)
      assert.equal(torch.float64, values.dtype)
      near((vectors * values:unsqueeze(-2)):matmul(vectors.mH), a)
      near(linalg.eigvalsh(read, upper), values)
    end)
  end

  it('eig gives vectors of length 1 that a matrix stretches', function()
    for _, a in ipairs { random { 2, 4, 4 }, torch.real(random { 4, 4 }), torch.tensor({ { 0.0, 1.0 }, { -1.0, 0.0 } }, { device = device }):double() } do
      local values, vectors = linalg.eig(a)
      assert.equal(torch.complex128, values.dtype)
      near(a:to(torch.complex128):matmul(vectors), vectors * values:unsqueeze(-2))
      near(linalg.vector_norm(vectors, 2, -2), torch.ones(values.shape, { dtype = torch.float64, device = device }))
      near(linalg.eigvals(a):sum(-1), values:sum(-1))
    end
  end)

  it('lu and ldl solve', function()
    local a, b = random { 2, 4, 4 }, random { 2, 4, 2 }
    local LU, pivots = linalg.lu_factor(a)
    near(a:matmul(linalg.lu_solve(LU, pivots, b)), b)
    near(a.mH:matmul(linalg.lu_solve(LU, pivots, b, { adjoint = true })), b)
    local symmetric, own = a + a.mT, hermitian(a)
    local LD, places = linalg.ldl_factor(symmetric)
    near(symmetric:matmul(linalg.ldl_solve(LD, places, b)), b)
    LD, places = linalg.ldl_factor(own, { hermitian = true })
    near(own:matmul(linalg.ldl_solve(LD, places, b, { hermitian = true })), b)
  end)
end)

describe('derivatives of complex factors', function()
  local function agrees(f, x)
    x = x:detach():requires_grad_()
    assert.is_true(torch.autograd.gradcheck(f, { x }))
  end

  it('agree with differences', function()
    local x = random { 3, 3 }
    local weights = torch.real(random { 3, 3 })
    agrees(function(a) local U, S, Vh = linalg.svd(a) return (U:abs() * weights):sum() + S:square():sum() + (Vh:abs() * weights):sum() end, x)
    agrees(function(a) local values, vectors = linalg.eigh(hermitian(a)) return values:pow(3):sum() + (vectors:abs() * weights):sum() end, x)
    agrees(function(a) local values, vectors = linalg.eig(a) return torch.real(values * values):sum() + (vectors:abs() * weights):sum() end, x)
    agrees(function(a) local Q, R = linalg.qr(a) return (Q:abs() * weights):sum() + (R:abs() * weights):sum() end, x)
    agrees(function(a) local sign, size = linalg.slogdet(a) return torch.imag(sign) * 2 + size end, x)
    agrees(function(a) return torch.imag(torch.logdet(a)) end, x)
    agrees(function(a) return torch.det(a):abs() end, x)
    agrees(function(a) return torch.det(a) end, torch.complex(torch.ones(2, 2), torch.ones(2, 2)):to(x))
    agrees(function(a) return linalg.matrix_exp(a / 3):abs():sum() end, x)
    agrees(function(a) local _, L, U = linalg.lu(a) return (L:abs() * weights):sum() + (U:abs() * weights):sum() end, x)
  end)

  it('of eigenvalues of real matrices are real', function()
    local a = torch.tensor({ { 1.0, 2.0 }, { -3.0, 4.0 } }, { dtype = torch.float64, device = device })
    agrees(function(b) return torch.imag(linalg.eigvals(b)):abs():sum() end, a)
  end)
end)

describe('the adjoint', function()
  it('is a method and two fields', function()
    local x = random { 2, 3 }
    near(x.mH, x:transpose(1, 2):conj())
    near(x.H, x:adjoint())
    local real = torch.ones(2, 3)
    assert.equal(real:data_ptr(), real.mH:data_ptr())
    assert.error_matches(function() return torch.ones(2, 2, 2).H end, 'tensor.H is only supported on matrices %(2%-D tensors%)')
    assert.error_matches(function() return torch.ones(3).mH end, 'adjoint%(%) is only supported on matrices')
  end)
end)

if device ~= 'cpu' then
  describe('complex matrices on a GPU', function()
    it('complex matrices are copied to the host and back, and the copies are recorded', function()
      local x = random { 3, 3 }
      torch.cuda.reset_copies()
      local result = linalg.inv(x)
      assert.equal(torch.ones(1, { device = device }).device, result.device)
      near(result:matmul(x), one(3))
      assert.is_true(#torch.cuda.copies() > 0)
    end)
  end)
end
