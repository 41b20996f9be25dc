-- linalg_spec.lua - torch.linalg where no vectors can say what is right: factors are unique up to signs, so that
-- what they multiply to is compared; the forms of norm; derivatives where something is 0; ops on lists that take a row; errors.

local torch = require 'torch'
local linalg = torch.linalg

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function near(a, b, tolerance)
  assert.same(tostring(b.shape), tostring(a.shape))
  local worst = (a - b):abs():max():item()
  assert(worst <= tolerance, ('differ by %g'):format(worst))
end

local function transposed(x) return x:transpose(-2, -1) end

for _, kind in ipairs { { torch.float32, 1e-4 }, { torch.float64, 1e-12 } } do
  local dtype, tolerance = table.unpack(kind)
  local function random(...)
    torch.manual_seed(4)
    return torch.randn(..., { dtype = dtype }):to(device)
  end
  local function ones(n) return torch.eye(n, { dtype = dtype, device = device }) end

  describe('factors of ' .. tostring(dtype), function()
    for _, shape in ipairs { { 3, 3 }, { 5, 2 }, { 2, 5 }, { 2, 3, 4, 3 }, { 1, 1 } } do
      local m, n = shape[#shape - 1], shape[#shape]
      local k = math.min(m, n)
      it(('multiply back: %s'):format(table.concat(shape, 'x')), function()
        local x = random(shape)
        for _, mode in ipairs { 'reduced', 'complete' } do
          local q, r = linalg.qr(x, mode)
          assert.equal(mode == 'complete' and m or k, q.shape[q.ndim])
          near(q:matmul(r), x, tolerance)
          near(transposed(q):matmul(q), ones(q.shape[q.ndim]):expand_as(transposed(q):matmul(q)), tolerance)
          near(r:triu(), r, 0)
        end
        local none, r = linalg.qr(x, 'r')
        assert.equal(0, none:numel())
        near(r:abs(), select(2, linalg.qr(x)):abs(), tolerance)
        for _, full in ipairs { false, true } do
          local u, s, vh = linalg.svd(x, full)
          assert.equal(full and m or k, u.shape[u.ndim])
          assert.equal(full and n or k, vh.shape[vh.ndim - 1])
          near((u:narrow(-1, 1, k) * s:unsqueeze(-2)):matmul(vh:narrow(-2, 1, k)), x, tolerance)
          near(linalg.svdvals(x), s, tolerance)
        end
        local u, s, v = torch.svd(x)
        near((u * s:unsqueeze(-2)):matmul(transposed(v)), x, tolerance)
        near(x:matmul(linalg.pinv(x)):matmul(x), x, tolerance * 10)
      end)
    end
    it('of symmetric matrices multiply back', function()
      local x = random { 2, 4, 4 }
      x = x + transposed(x)
      for _, triangle in ipairs { 'L', 'U' } do
        local values, vectors = linalg.eigh(x, triangle)
        near((vectors * values:unsqueeze(-2)):matmul(transposed(vectors)), x, tolerance * 10)
      end
      local positive = x:matmul(x) + ones(4)
      local l = linalg.cholesky(positive)
      near(l:matmul(transposed(l)), positive, tolerance * 100)
      near(linalg.cholesky(positive, { upper = true }), transposed(l), tolerance * 10)
    end)
    it('of empty matrices are empty', function()
      local u, s, vh = linalg.svd(torch.ones(0, 3, { dtype = dtype, device = device }))
      assert.same({ '[0, 0]', '[0]', '[3, 3]' }, { tostring(u.shape):match '%[.*%]', tostring(s.shape):match '%[.*%]', tostring(vh.shape):match '%[.*%]' })
    end)
  end)
end

describe('linalg.norm', function()
  local x = torch.tensor({ { 3.0, -4.0 }, { 0.0, 12.0 } }, { dtype = torch.float64, device = device })
  it('without an order is that of all elements', function() assert.equal(13, linalg.norm(x):item()) end)
  it('with an order is one of matrices', function()
    assert.equal(16, linalg.norm(x, 1):item())
    assert.equal(12, linalg.norm(x, math.huge):item())
    assert.equal(13, linalg.norm(x, 'fro'):item())
  end)
  it('along one dimension is one of vectors', function()
    assert.same({ 5, 12 }, linalg.norm(x, 2, 2):tolist())
    assert.same({ 7, 12 }, linalg.norm(x, { ord = 1, dim = 2 }):tolist())
    assert.same({ { 5 }, { 12 } }, linalg.norm(x, { dim = 2, keepdim = true }):tolist())
  end)
end)

describe('linalg.lstsq', function()
  it('gives the solution and the rank', function()
    local a = torch.tensor({ { 1.0, 0.0 }, { 1.0, 1.0 }, { 1.0, 2.0 } }, { dtype = torch.float64, device = device })
    local solution, _, rank = linalg.lstsq(a, torch.tensor({ 1.0, 3.0, 5.0 }, { dtype = torch.float64, device = device }))
    near(solution, torch.tensor({ 1.0, 2.0 }, { dtype = torch.float64, device = device }), 1e-12)
    assert.equal(2, rank:item())
  end)
end)

-- Batches of small matrices, batches of large ones and single ones go different ways on a GPU.
describe('batches of matrices', function()
  for _, case in ipairs { { 1, 6 }, { 5, 6 }, { 3, 40 }, { 2, 300 } } do
    local count, n = table.unpack(case)
    local x
    before_each(function()
      torch.manual_seed(count + n)
      x = (torch.randn(count, n, n, { dtype = torch.float64 }) + n ^ 0.5 * torch.eye(n, { dtype = torch.float64 })):to(device)
    end)
    local what = ('%d of %dx%d'):format(count, n, n)
    it(what .. ' are solved, inverted, have determinants', function()
      local b = torch.ones(count, n, 2, { dtype = torch.float64, device = device })
      near(x:matmul(linalg.solve(x, b)), b, 1e-9)
      near(linalg.inv(x):matmul(x), torch.eye(n, { dtype = torch.float64, device = device }):expand_as(x), 1e-9)
      local sign, logarithm = linalg.slogdet(x)
      local each = linalg.eigvalsh(x:matmul(transposed(x))):log():sum(-1) / 2
      near(logarithm, each, 1e-7)
      near(sign:abs(), torch.ones_like(sign), 0)
      if n < 100 then near(linalg.det(x), sign * logarithm:exp(), linalg.det(x):abs():max():item() * 1e-9) end
      near(linalg.solve_triangular(x, b, { upper = true }), linalg.solve(x:triu(), b), 1e-6)
    end)
    it(what .. ' are factorized', function()
      local q, r = linalg.qr(x)
      near(q:matmul(r), x, 1e-9)
      local u, s, vh = linalg.svd(x)
      near((u * s:unsqueeze(-2)):matmul(vh), x, 1e-9)
      local values, vectors = linalg.eigh(x + transposed(x))
      near((vectors * values:unsqueeze(-2)):matmul(transposed(vectors)), x + transposed(x), 1e-9)
      local positive = x:matmul(transposed(x))
      local l = linalg.cholesky(positive)
      near(l:matmul(transposed(l)), positive, 1e-8)
    end)
  end

  it('of large numbers have singular values', function()
    torch.manual_seed(2)
    for _, sizes in ipairs { { 5, 3 }, { 3, 5 }, { 2, 4, 4 }, { 40, 36 }, { 2, 36, 40 } } do
      local x = torch.randn(table.unpack(sizes)):mul(1e25):to(device)
      local k = math.min(sizes[#sizes], sizes[#sizes - 1])
      for _, full in ipairs { true, false } do
        local u, s, vh = linalg.svd(x, full)
        near((u:narrow(-1, 1, k) * s:unsqueeze(-2)):matmul(vh:narrow(-2, 1, k)) / 1e25, x / 1e25, 1e-4)
        near(linalg.svdvals(x) / 1e25, s / 1e25, 1e-4)
      end
    end
  end)

  it('of 520 rows are solved one by one', function()
    torch.manual_seed(1)
    local n = 520
    local x = (torch.randn(2, n, n, { dtype = torch.float64 }) + n * torch.eye(n, { dtype = torch.float64 })):to(device)
    local b = torch.ones(2, n, 1, { dtype = torch.float64, device = device })
    near(x:matmul(linalg.solve(x, b)), b, 1e-9)
    near(x:triu():matmul(linalg.solve_triangular(x, b, { upper = true })), b, 1e-9)
    local l = linalg.cholesky(x + transposed(x))
    near(l:matmul(transposed(l)), x + transposed(x), 1e-8)
  end)

  it('have inverses without zeros below zero where the matrix is diagonal', function()
    for _, dtype in ipairs { torch.float32, torch.float64, torch.complex64 } do
      local inverse = linalg.inv(torch.eye(3, { dtype = dtype, device = device }) * 2)
      assert.is_true(torch.equal(torch.eye(3, { dtype = dtype, device = device }) / 2, inverse))
      assert.equal(0, torch.view_as_real(inverse:to(torch.complex128)):signbit():sum():item())
    end
  end)

  it('may be none, and of empty matrices', function()
    for _, shape in ipairs { { 0, 3, 3 }, { 2, 0, 0 } } do
      local x = torch.ones(shape, { device = device })
      assert.same(tostring(x.shape), tostring(linalg.inv(x).shape))
      assert.equal(shape[1], linalg.det(x):numel())
      assert.same(tostring(x.shape), tostring(linalg.cholesky(x).shape))
      assert.equal(shape[1] * shape[2], linalg.eigvalsh(x):numel())
    end
  end)
end)

describe('a matrix that cannot be dealt with', function()
  local function says(words, f, ...)
    local ok, message = pcall(f, ...)
    assert.is_false(ok)
    assert.truthy(tostring(message):find(words, 1, true), tostring(message))
  end
  local singular = torch.tensor({ { 1.0, 2.0 }, { 2.0, 4.0 } }, { device = device })
  local both = torch.stack { torch.eye(2, { device = device }), singular }

  it('is an error of inv and solve', function()
    says('linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because the input matrix is singular.',
      linalg.inv, singular)
    says('linalg.inv: (Batch element 2): The diagonal element 2 is zero', linalg.inv, both)
    says('torch.linalg.solve: The solver failed because the input matrix is singular.', linalg.solve, singular, singular)
    says('torch.linalg.solve: (Batch element 2): The solver failed', linalg.solve, both, both)
  end)
  it('is an error of cholesky', function()
    says('linalg.cholesky: The factorization could not be completed because the input is not positive-definite ' ..
      '(the leading minor of order 2 is not positive-definite).', linalg.cholesky, singular - torch.eye(2, { device = device }) * 0.5)
    says('linalg.cholesky: (Batch element 2)', linalg.cholesky, both - torch.eye(2, { device = device }) * 0.5)
    local late = torch.ones(130, { device = device })
    late[120] = -1
    says('(the leading minor of order 120 is not positive-definite)', linalg.cholesky, torch.diag(late))
    says('(the leading minor of order 120 is not positive-definite)', linalg.cholesky, torch.diag(late), { upper = true })
  end)
  it('has a determinant, 0', function()
    assert.same({ 1.0, 0.0 }, linalg.det(both):tolist())
    local sign, logarithm = linalg.slogdet(both)
    assert.same({ 1.0, 0.0 }, sign:tolist())
    assert.same({ 0.0, -math.huge }, logarithm:tolist())
  end)
  it('gives infinities as a triangle', function()
    local x = linalg.solve_triangular(torch.tensor({ { 1.0, 2.0 }, { 0.0, 0.0 } }, { device = device }),
      torch.ones(2, 1, { device = device }), { upper = true })
    assert.same({ { -math.huge }, { math.huge } }, x:tolist())
  end)
end)

if device ~= 'cpu' then
  describe('a factorization on a GPU', function()
    it('a factorization copies only its status to the host, and the copy is recorded', function()
      local x = torch.randn(3, 4, 4):to(device)
      torch.cuda.synchronize()
      torch.cuda.reset_copies()
      linalg.inv(x)
      local entries = torch.cuda.copies()
      assert.equal(1, #entries)
      assert.equal('linalg.inv', entries[1].cause)
      assert.equal(3 * 4, entries[1].bytes)
      torch.cuda.reset_copies()
      linalg.qr(x)
      linalg.det(x)
      linalg.solve_triangular(x, x, { upper = true })
      assert.equal(0, #torch.cuda.copies())
    end)
    it('is refused while a graph is captured, which goes on', function()
      local x, y = torch.eye(3, { device = device }), nil
      local graph = torch.cuda.CUDAGraph()
      torch.cuda.set_device(device)
      torch.cuda.graph(graph, function()
        local ok, message = pcall(linalg.inv, x)
        assert.is_false(ok)
        assert.truthy(tostring(message):find('operation not permitted when stream is capturing', 1, true), message)
        y = x + 1
      end)
      graph:replay()
      assert.equal(2, y[1][1]:item())
    end)
  end)
end

-- Derivatives at places where the usual formulas divide by 0, against what the others multiply to.
describe('a derivative where something is 0', function()
  it('of det: the cofactors of singular matrices', function()
    local a = torch.tensor({ { { 1.0, 2.0 }, { 2.0, 4.0 } }, { { 0.0, 0.0 }, { 0.0, 3.0 } }, { { 1.0, 2.0 }, { 3.0, 4.0 } } },
      { dtype = torch.float64, requires_grad = true, device = device })
    linalg.det(a):sum():backward()
    near(a.grad, torch.tensor({ { { 4.0, -2.0 }, { -2.0, 1.0 } }, { { 3.0, 0.0 }, { 0.0, 0.0 } }, { { 4.0, -3.0 }, { -2.0, 1.0 } } },
      { dtype = torch.float64, device = device }), 1e-12)
  end)

  it('of scatter_reduce by products', function()
    local x = torch.tensor({ 1.0, 2.0, 3.0 }, { requires_grad = true, device = device })
    local src = torch.tensor({ 0.0, 4.0, 0.0, 3.0, 0.0 }, { requires_grad = true, device = device })
    local index = torch.tensor({ 1, 1, 2, 2, 2 }, { device = device })
    x:scatter_reduce(1, index, src, 'prod'):sum():backward()
    assert.same({ 4, 0, 0, 0, 0 }, src.grad:tolist())
    assert.same({ 0, 0, 1 }, x.grad:tolist())
    src.grad = nil
    x:scatter_reduce(1, torch.tensor({ 1, 1, 2, 2, 3 }, { device = device }), src, 'prod', { include_self = false }):sum():backward()
    assert.same({ 4, 0, 3, 0, 1 }, src.grad:tolist())
    local ok, message = pcall(torch.autograd.grad, x:scatter_reduce(1, index, src, 'prod'):sum(), src, { create_graph = true })
    assert.is_false(ok)
    assert.truthy(message:find("second derivative of 'prod'", 1, true))
  end)
end)

describe('ops on lists', function()
  local a, b = torch.arange(2, { device = device }), torch.arange(3, { device = device })
  it('take a row, and return as many', function()
    local x, y = torch.meshgrid(a, b)
    assert.same({ { 0, 0, 0 }, { 1, 1, 1 } }, x:tolist())
    assert.same({ { 0, 1, 2 }, { 0, 1, 2 } }, y:tolist())
    x = torch.meshgrid(a, b, { indexing = 'xy' })
    assert.same({ { 0, 1 }, { 0, 1 }, { 0, 1 } }, x:tolist())
  end)
  it('take a table, and return one', function() assert.equal(2, #torch.meshgrid({ a, b })) end)
  it('take a row after an argument', function()
    assert.same({ { 0, 0, 0 }, { 0, 1, 2 } }, torch.einsum('i,j->ij', a, b):tolist())
  end)
end)

describe('factors made in Lua', function()
  local function random(...) return torch.randn(..., { dtype = torch.float64, device = device }) end

  it('of LU have first and second derivatives, of square, tall and wide matrices', function()
    torch.manual_seed(3)
    for _, shape in ipairs { { 3, 3 }, { 4, 2 }, { 2, 4 }, { 2, 3, 3 } } do
      local x = random(shape):requires_grad_()
      local function factors(a) return select(2, torch.linalg.lu(a)) end
      assert.is_true(torch.autograd.gradcheck(factors, { x }))
      assert.is_true(torch.autograd.gradgradcheck(factors, { x }))
      local P, L, U = torch.linalg.lu(x)
      near(P:matmul(L):matmul(U), x, 1e-12)
    end
  end)

  it('solve from either side, and with the transposed matrix', function()
    torch.manual_seed(4)
    local a, b, c = random { 2, 3, 3 }, random { 2, 3, 2 }, random { 2, 2, 3 }
    local LU, pivots = torch.linalg.lu_factor(a)
    near(a:matmul(torch.linalg.lu_solve(LU, pivots, b)), b, 1e-10)
    near(a.mT:matmul(torch.linalg.lu_solve(LU, pivots, b, { adjoint = true })), b, 1e-10)
    near(torch.linalg.lu_solve(LU, pivots, c, { left = false }):matmul(a), c, 1e-10)
  end)

  it('batched factors report the singular matrix instead of raising', function()
    local a = torch.tensor({ { { 2.0, 0.0 }, { 0.0, 4.0 } }, { { 1.0, 2.0 }, { 2.0, 4.0 } } }, { dtype = torch.float64, device = device })
    local inverse, info = torch.linalg.inv_ex(a)
    assert.same({ { 0.5, 0 }, { 0, 0.25 } }, inverse[1]:tolist())
    assert.same({ true, false }, info:eq(0):tolist())
    local _, solved = torch.linalg.solve_ex(a, torch.ones({ 2, 2, 1 }, { dtype = torch.float64, device = device }))
    assert.same({ true, false }, solved:eq(0):tolist())
    assert.equal(math.huge, torch.linalg.cond(a, 1)[2]:item())
  end)

  it('low-rank factors approximate the factors of the whole matrix', function()
    torch.manual_seed(5)
    local a = random { 20, 4 }:matmul(random { 4, 12 })
    local U, S, V = torch.svd_lowrank(a, 5)
    near((U * S):matmul(V.mT), a, 1e-9)
    U, S, V = torch.svd_lowrank(a.mT, 5, 2, a.mT:mean(1, true))
    near((U * S):matmul(V.mT), a.mT - a.mT:mean(1, true), 1e-9)
    U, S, V = torch.pca_lowrank(a, 5)
    near((U * S):matmul(V.mT), a - a:mean(1, true), 1e-9)
    assert.same({ 20, 5 }, { table.unpack(U.shape) })
    assert.same({ 5 }, { table.unpack(S.shape) })
    assert.same({ 12, 5 }, { table.unpack(V.shape) })
  end)
end)

describe('factors that are no factors', function()
  local function random(...) return torch.randn({ ... }, { dtype = torch.float64, device = device }) end
  local function refused(text, f, ...)
    local ok, message = pcall(f, ...)
    assert.is_false(ok)
    assert(message:find(text, 1, true), message)
  end

  it('are refused by their pivots', function()
    local matrix, b = random(2, 3, 3), random(2, 3, 1)
    local LU, pivots = linalg.lu_factor(matrix)
    local LD = linalg.ldl_factor(matrix:matmul(matrix.mT))
    for _, wrong in ipairs { pivots[1], pivots['1:1'], pivots[':, 1:2'] } do
      refused('Expected pivots with shape torch.Size([2, 3])', torch.lu_unpack, LU, wrong)
      refused('Expected pivots with shape torch.Size([2, 3])', linalg.lu_solve, LU, wrong, b)
      refused('Expected pivots with shape torch.Size([2, 3])', linalg.ldl_solve, LD, wrong, b)
    end
    refused('torch.int32', linalg.lu_solve, LU, pivots:long(), b)
    for _, wrong in ipairs { { 0, 1, 1 }, { 1, 4, 3 }, { 1, 2, -3 }, { -1, 2, 3 }, { -4, -4, 3 }, { 1, 2000000000, 3 } } do
      refused('torch.linalg.ldl_solve: expected pivots from 1 to 3, and the negatives of these in pairs', linalg.ldl_solve, LD,
        torch.tensor({ { 1, 2, 3 }, wrong }, { dtype = torch.int32, device = device }), b)
    end
  end)

  it('are refused by their reflectors', function()
    local A, tau, b = random(5, 3), random(3), random(5, 2)
    refused('tau.shape[-1] must be equal to min(other.shape[-2], input.shape[-1])', torch.ormqr, A, tau[{ { 1, 2 } }], b)
    refused('Expected tau to have one dimension less than input', torch.ormqr, A, tau:unsqueeze(1), b)
    refused('Expected other to have the same number of dimensions as input', torch.ormqr, A, tau, b:unsqueeze(1))
    refused('torch.ormqr: other.shape[-1] must be equal to input.shape[-2]', torch.ormqr, A, tau, random(2, 4), false)
    refused('does not match input dtype', linalg.householder_product, A, tau:float())
    refused('Expected tau to have one dimension less than input', linalg.householder_product, A, random(2, 3))
    refused('Expected batch dimensions of tau', linalg.householder_product, random(2, 5, 3), random(1, 3))
  end)

  it('are refused beside a right side of other rows', function()
    local A, b = torch.eye(3, { device = device }), torch.ones(4, 2, { device = device })
    refused('cholesky_solve: Incompatible matrix sizes: each A matrix is 3 by 3 but each b matrix is 4 by 2', torch.cholesky_solve, b, A)
    refused('triangular_solve: Incompatible matrix sizes: each A matrix is 3 by 3 but each b matrix is 4 by 2', torch.triangular_solve, b, A)
    refused('linalg.solve_triangular: The input tensor B must have at least 2 dimensions.', linalg.solve_triangular, A, b[1], { upper = true })
    refused('linalg.vander: N must be greater than 1, but got 1', linalg.vander, A, { N = 1 })
  end)
end)

describe('the derivative of eigh', function()
  local function hermitian(dtype)
    local x = torch.randn(4, 4, { dtype = dtype, device = device })
    return x + x:adjoint()
  end
  -- Of the vectors only what does not depend on their phases.
  local function value(x, weights, uplo)
    local values, vectors = torch.linalg.eigh(x, uplo)
    return (vectors:abs():square() * weights):sum() + (values ^ 3):sum()
  end
  local function gradient(x, weights, uplo)
    x = x:detach():requires_grad_()
    return (torch.autograd.grad(value(x, weights, uplo), x))
  end
  local function product(a, b) return (a:conj() * b):sum().real:item() end

  for _, dtype in ipairs { torch.float64, torch.complex128 } do
    for _, uplo in ipairs { 'L', 'U' } do
      it(('by %s, of its triangle %s, is as symmetric as the matrix and the slope of the function'):format(dtype, uplo), function()
        torch.manual_seed(8)
        local x, way, weights = hermitian(dtype), hermitian(dtype), torch.rand(4, 4, { dtype = torch.float64, device = device })
        local slope = gradient(x, weights, uplo)
        assert.is_true(torch.allclose(slope, slope:adjoint(), { rtol = 1e-10 }))
        local step = 1e-6
        local numeric = (value(x + step * way, weights, uplo) - value(x - step * way, weights, uplo)):item() / (2 * step)
        assert.near(numeric, product(slope, way), 1e-6 * math.max(1, math.abs(numeric)))
      end)
    end

    it(('by %s is differentiated again'):format(dtype), function()
      torch.manual_seed(9)
      local x, way, weights = hermitian(dtype), hermitian(dtype), torch.rand(4, 4, { dtype = torch.float64, device = device })
      local leaf = x:clone():requires_grad_()
      local slope = torch.autograd.grad(value(leaf, weights), leaf, { create_graph = true })
      slope = torch.is_tensor(slope) and slope or slope[1]
      local second = torch.autograd.grad((slope * way:conj()):sum().real, leaf)
      second = torch.is_tensor(second) and second or second[1]
      local step = 1e-5
      local numeric = (product(gradient(x + step * way, weights), way) - product(gradient(x - step * way, weights), way)) / (2 * step)
      assert.near(numeric, product(second, way), 1e-5 * math.max(1, math.abs(numeric)))
    end)
  end
end)

describe('arguments of torch.linalg', function()
  local x, b = torch.tensor({ { 4.0, 1.0 }, { 1.0, 3.0 } }, { device = device }), torch.tensor({ { 1.0, 2.0 }, { 3.0, 5.0 } }, { device = device })

  it("have the names of PyTorch's documentation, A and B", function()
    for _, name in ipairs { 'det', 'inv', 'slogdet', 'qr', 'cholesky', 'svdvals', 'pinv', 'matrix_rank', 'matrix_exp', 'matrix_norm', 'norm', 'diagonal', 'eigvalsh' } do
      assert(torch.equal(linalg[name](x), (linalg[name] { A = x })), name)
    end
    near(linalg.solve { A = x, B = b }, linalg.solve(x, b), 0)
    near(linalg.solve(x, { B = b }), linalg.solve(x, b), 0)
    near(linalg.solve_triangular { A = x, B = b, upper = true }, linalg.solve_triangular(x, b, { upper = true }), 0)
    near((linalg.lstsq { A = x, B = b }), (linalg.lstsq(x, b)), 0)
    near(linalg.norm { A = x, ord = 1 }, linalg.norm(x, 1), 0)
    near(linalg.matrix_exp { input = x }, linalg.matrix_exp(x), 0)
  end)

  it('are not given twice, or under names of no argument', function()
    assert.error_matches(function() linalg.matrix_exp(x, { A = x }) end, "got multiple values for argument 'A'")
    assert.error_matches(function() linalg.matrix_exp { C = x } end, "unknown argument 'C'")
    assert.error_matches(function() linalg.pinv { A = x, C = 1 } end, "unexpected keyword argument 'C'")
    assert.error_matches(function() linalg.pinv { C = x } end, "unexpected keyword argument 'C'")
  end)
end)
