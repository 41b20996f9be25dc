-- linalg_spec.lua - torch.linalg where no vectors can say what is right: factors are unique up to signs, so that
-- what they multiply to is compared; the forms of norm; derivatives where something is 0; ops on lists that take a row.
-- Only the CPU has LAPACK.

local torch = require 'torch'
local linalg = torch.linalg

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function near(a, b, tolerance)
  assert.same(tostring(b.shape), tostring(a.shape))
  local worst = (a - b):abs():max():item()
  assert(worst <= tolerance, ('differ by %g'):format(worst))
end

local function transposed(x) return x:transpose(-2, -1) end

if device == 'cpu' then
  for _, kind in ipairs { { torch.float32, 1e-4 }, { torch.float64, 1e-12 } } do
    local dtype, tolerance = table.unpack(kind)
    local function random(...)
      torch.manual_seed(4)
      return torch.randn(..., { dtype = dtype })
    end
    local function ones(n) return torch.eye(n, { dtype = dtype }) end

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
        local u, s, vh = linalg.svd(torch.ones(0, 3, { dtype = dtype }))
        assert.same({ '[0, 0]', '[0]', '[3, 3]' }, { tostring(u.shape):match '%[.*%]', tostring(s.shape):match '%[.*%]', tostring(vh.shape):match '%[.*%]' })
      end)
    end)
  end

  describe('linalg.norm', function()
    local x = torch.tensor({ { 3.0, -4.0 }, { 0.0, 12.0 } }, { dtype = torch.float64 })
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
      local a = torch.tensor({ { 1.0, 0.0 }, { 1.0, 1.0 }, { 1.0, 2.0 } }, { dtype = torch.float64 })
      local solution, _, rank = linalg.lstsq(a, torch.tensor({ 1.0, 3.0, 5.0 }, { dtype = torch.float64 }))
      near(solution, torch.tensor({ 1.0, 2.0 }, { dtype = torch.float64 }), 1e-12)
      assert.equal(2, rank:item())
    end)
  end)
end

-- Derivatives at places where the usual formulas divide by 0, against what the others multiply to.
describe('a derivative where something is 0', function()
  if device == 'cpu' then
    it('of det: the cofactors of singular matrices', function()
      local a = torch.tensor({ { { 1.0, 2.0 }, { 2.0, 4.0 } }, { { 0.0, 0.0 }, { 0.0, 3.0 } }, { { 1.0, 2.0 }, { 3.0, 4.0 } } },
        { dtype = torch.float64, requires_grad = true, device = device })
      linalg.det(a):sum():backward()
      near(a.grad, torch.tensor({ { { 4.0, -2.0 }, { -2.0, 1.0 } }, { { 3.0, 0.0 }, { 0.0, 0.0 } }, { { 4.0, -3.0 }, { -2.0, 1.0 } } },
        { dtype = torch.float64, device = device }), 1e-12)
    end)
  end

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
