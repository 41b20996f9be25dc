-- lobpcg_spec.lua - torch.lobpcg: values against eigh's, vectors by what they are to be, derivatives against eigh's.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local lobpcg = torch.lobpcg

local function positive(m, dtype)
  local x = torch.randn(m, m, { dtype = dtype, device = device })
  return x:mm(x:t()) / m + torch.diag(torch.arange(m, { dtype = dtype, device = device }))
end

-- E and X hold A X = B X E with X' B X = 1.
local function check(A, B, E, X, tolerance)
  local BX = B and B:mm(X) or X
  assert.is_true((A:mm(X) - BX * E):abs():max():item() < tolerance * E:abs():max():item())
  local ones = torch.eye(E:size(1), { dtype = E.dtype, device = device })
  assert.is_true((X:t():mm(BX) - ones):abs():max():item() < tolerance)
end

describe('torch.lobpcg', function()
  before_each(function() torch.manual_seed(3) end)

  for _, method in ipairs { 'ortho', 'basic' } do
    for dtype, tolerance in pairs { float32 = 2e-3, float64 = 1e-6 } do
      it(('finds the largest and smallest eigenvalues by %s, %s'):format(method, dtype), function()
        local A, B = positive(40, torch[dtype]), positive(40, torch[dtype]) + torch.eye(40, { dtype = torch[dtype], device = device })
        local all = torch.linalg.eigvalsh(A)
        local E, X = lobpcg(A, 3, { method = method })
        assert.is_true(torch.allclose(E, all:flip(1):narrow(1, 1, 3), { rtol = tolerance }))
        check(A, nil, E, X, tolerance)
        E, X = lobpcg(A, 3, { method = method, largest = false })
        assert.is_true(torch.allclose(E, all:narrow(1, 1, 3), { rtol = tolerance }))
        check(A, nil, E, X, tolerance)
        E, X = lobpcg(A, 2, B, { method = method, n = 4 })
        assert.same({ 2 }, { table.unpack(E.shape) })
        check(A, B, E, X, tolerance)
      end)
    end
  end

  it('takes batches, sparse matrices, a start, a preconditioner and a number of steps', function()
    local A = torch.stack { positive(12, torch.float64), positive(12, torch.float64) }
    local E, X = lobpcg(A, 2)
    assert.same({ { 2, 2 }, { 2, 12, 2 } }, { { table.unpack(E.shape) }, { table.unpack(X.shape) } })
    for i = 1, 2 do check(A[i], nil, E[i], X[i], 1e-6) end
    local diagonal = torch.arange(1, 31, { dtype = torch.float64, device = device })
    local steps = {}
    local function count(worker) steps[#steps + 1] = worker.ivars.istep end
    E = lobpcg(torch.diag(diagonal):to_sparse_csr(), 2, { largest = false, iK = torch.diag(1 / diagonal), tracker = count })
    assert.is_true(torch.allclose(E, diagonal:narrow(1, 1, 2)))
    assert.same({ 0, #steps - 1 }, { steps[1], steps[#steps] })
    local start = torch.eye(30, 2, { dtype = torch.float64, device = device })
    E = lobpcg(torch.diag(diagonal), { X = start, niter = 0 })
    assert.is_true(torch.allclose(E, diagonal:narrow(1, 1, 2):flip(1)))
    assert.same({ 1 }, { table.unpack(lobpcg(torch.diag(diagonal)).shape) })
  end)

  it('has the derivative of eigh', function()
    local A0, weights = positive(9, torch.float64), torch.randn(9, 2, { dtype = torch.float64, device = device })
    local function gradient(eigen)
      local A = A0:clone():requires_grad_()
      local E, X = eigen((A + A:t()) / 2)
      ;(E:square():sum() + (X:square() * weights):sum()):backward()
      return A.grad
    end
    local found = gradient(function(A) return lobpcg(A, 2, { tol = 1e-10, niter = 200 }) end)
    local exact = gradient(function(A)
      local E, X = torch.linalg.eigh(A)
      return E:flip(1):narrow(1, 1, 2), X:flip(2):narrow(2, 1, 2)
    end)
    assert.is_true(torch.allclose(found, exact, { rtol = 1e-7, atol = 1e-7 }))
  end)

  it('lobpcg rejects unsupported arguments', function()
    fails_with('LPBPCG algorithm is not applicable when the number of A rows (=5) is smaller than 3 x the number of requested eigenpairs (=2)', lobpcg,
      torch.eye(5, { device = device }), 2)
    fails_with('must be batches of square matrices', lobpcg, torch.ones(3, 4, { device = device }))
    fails_with('must be of float32 or float64', lobpcg, torch.eye(4, { dtype = torch.int64, device = device }))
    fails_with("method must be 'basic' or 'ortho', but got 'fast'", lobpcg, torch.eye(4, { device = device }), { method = 'fast' })
    fails_with('k must be from 1 to the 1 columns of X, but got 2', lobpcg, torch.eye(9, { device = device }), 2, { n = 1 })
    local sparse = torch.eye(9, { device = device }):to_sparse():requires_grad_()
    fails_with('lobpcg.backward() currently does not support sparse input yet.', lobpcg, sparse)
  end)
end)
