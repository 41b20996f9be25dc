-- Sparse tensors: what comes out of expressions, and gradients, as in PyTorch (tests/reference/sparse.lua); construction and its
-- errors, printing, what ops refuse, optimizers, other devices.

local torch = require 'torch'
local nn = require 'torch.nn'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local device = reference.device

local function refused(words, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  assert.is_truthy(message:find(words, 1, true), message)
end

-- ---- PyTorch's results -----------------------------------------------------------------------------------------------------

-- The tensor that a description in the data stands for.
local function made(spec)
  local t
  if not spec.size then
    t = reference.tensor(spec)
  elseif spec.indices then
    t = torch.sparse_coo_tensor(reference.tensor(spec.indices), reference.tensor(spec.values), spec.size)
  else
    t = torch.sparse_compressed_tensor(reference.tensor(spec.compressed), reference.tensor(spec.plain), reference.tensor(spec.values), spec.size,
      { layout = spec.layout })
  end
  return spec.grad and not t.requires_grad and t:requires_grad_() or t
end

local function dense(t) return t.layout == torch.strided and t or t:to_dense() end

local function weighted(t)
  local weights = (torch.arange(t:numel(), { dtype = torch.float64 }) * 7 % 5 - 1.5):reshape(t.shape)
  return (t * weights:to { dtype = t.dtype, device = t.device }):sum()
end

local function run(case)
  local environment = { torch = torch, F = nn.functional }
  for name, spec in pairs(case.inputs) do environment[name] = made(spec) end
  local got = assert(load('return ' .. case.lua, case.lua, 't', environment))()
  reference.compare(dense(got), case.out, 'result', false, 4)
  if case.layout then assert(got.layout == case.layout, ('layout %s, expected %s'):format(got.layout, case.layout)) end
  if not case.grads then return end
  weighted(dense(got)):backward()
  for name, want in pairs(case.grads) do
    local grad = environment[name].grad
    assert(grad.layout == environment[name].layout or environment[name].layout == torch.strided, 'the layout of a gradient')
    reference.compare(dense(grad), want, 'gradient of ' .. name, false, 4)
  end
end

describe('sparse tensors', function()
  for number, case in ipairs(reference.load 'sparse') do
    it(('give what PyTorch does: %d: %s'):format(number, case.lua), function() run(case) end)
  end
end)

-- ---- how they are made -----------------------------------------------------------------------------------------------------

local function example()
  return torch.sparse_coo_tensor({ { 1, 2, 2 }, { 3, 1, 3 } }, { 3., 4., 5. }, { 2, 3 }, { device = device })
end

describe('a sparse tensor', function()
  it('is made of tables, with a size that follows from the positions', function()
    local x = torch.sparse_coo_tensor({ { 1, 2, 2 }, { 3, 1, 3 } }, { 3., 4., 5. }, { device = device })
    assert.same({ 2, 3 }, { table.unpack(x.shape) })
    assert.same({ { 0, 0, 3 }, { 4, 0, 5 } }, x:to_dense():tolist())
    assert.equal(3, x:_nnz())
    assert.same({ 2, 0 }, { x:sparse_dim(), x:dense_dim() })
    assert.equal('torch.sparse_coo', x.layout)
    assert.is_true(x.is_sparse)
    assert.is_false(x.is_sparse_csr)
    assert.equal(torch.strided, torch.ones(2).layout)
  end)

  it('may have dense dimensions, no values, no dimensions of places but one', function()
    local x = torch.sparse_coo_tensor({ { 2 } }, torch.ones(1, 2, { device = device }), { 3, 2 })
    assert.same({ { 0, 0 }, { 1, 1 }, { 0, 0 } }, x:to_dense():tolist())
    local zeros = torch.sparse_coo_tensor({ 2, 3 }, { device = device })
    assert.equal(0, zeros:_nnz())
    assert.equal(0, zeros:to_dense():sum():item())
    assert.equal(0, zeros:coalesce():_nnz())
  end)

  it('adds values of one place up', function()
    local x = torch.sparse_coo_tensor({ { 1, 1 }, { 2, 2 } }, { 1., 2. }, { 2, 3 }, { device = device })
    assert.is_false(x:is_coalesced())
    refused('uncoalesced', x.values, x)
    local y = x:coalesce()
    assert.is_true(y:is_coalesced())
    assert.same({ 3 }, y:values():tolist())
    assert.same({ { 1 }, { 2 } }, y:indices():tolist())
  end)

  it('of rows or columns has positions from 1', function()
    local x = torch.sparse_csr_tensor({ 1, 2, 4 }, { 3, 1, 3 }, { 3., 4., 5. }, { 2, 3 }, { device = device })
    assert.same({ { 0, 0, 3 }, { 4, 0, 5 } }, x:to_dense():tolist())
    assert.same({ 1, 2, 4 }, x:crow_indices():tolist())
    assert.same({ 3, 1, 3 }, x:col_indices():tolist())
    assert.same({ 1, 2, 2, 4 }, x:to_sparse_csc():ccol_indices():tolist())
    assert.same({ 2, 1, 2 }, x:to_sparse_csc():row_indices():tolist())
    assert.equal(torch.sparse_csc, x:t().layout)
    assert.same(x:to_dense():t():tolist(), x:t():to_dense():tolist())
  end)

  it('is refused where components do not fit', function()
    local make, csr = torch.sparse_coo_tensor, torch.sparse_csr_tensor
    refused('must be from 1 to 3', make, { { 1, 2 }, { 4, 1 } }, { 1., 2. }, { 2, 3 })
    refused('must be from 1 to 2', make, { { 0, 2 }, { 3, 1 } }, { 1., 2. }, { 2, 3 })
    refused('same nnz', make, { { 1 }, { 2 } }, { 1., 2. }, { 2, 3 })
    refused('number of dimensions must be', make, { { 1 }, { 2 } }, { 1. }, { 2, 3, 4 })
    refused('do not match the size', make, { { 1 } }, torch.ones(1, 2), { 2, 3 })
    refused('must be integers', make, torch.ones(2, 1), { 1. }, { 2, 3 })
    refused('must have 3 entries', csr, { 1, 2 }, { 1 }, { 1. }, { 2, 3 })
    refused('not decrease', csr, { 1, 3, 2 }, { 1 }, { 1. }, { 2, 3 })
    refused('must begin with 1', csr, { 2, 2, 2 }, { 1 }, { 1. }, { 2, 3 })
    refused('in order and distinct', csr, { 1, 3, 3 }, { 2, 2 }, { 1., 1. }, { 2, 3 })
    refused('col_indices must be from 1 to 3', csr, { 1, 2, 2 }, { 4 }, { 1. }, { 2, 3 })
    refused('layout', torch.sparse_compressed_tensor, { 1, 2 }, { 1 }, { 1. }, { 1, 1 }, { layout = 'sparse_bsr' })
    refused('unexpected keyword argument', make, { { 1 }, { 2 } }, { 1. }, { 2, 3 }, { colour = 1 })
  end)

  it('prints as PyTorch has it, positions from 1', function()
    assert.equal([=[
tensor(indices=tensor([[1, 2, 2],
                       [3, 1, 3]]),
       values=tensor([3., 4., 5.]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo)]=], tostring(example():cpu()))
    assert.equal([=[
tensor(crow_indices=tensor([1, 2, 4]),
       col_indices=tensor([3, 1, 3]),
       values=tensor([3., 4., 5.]), size=(2, 3), nnz=3, dtype=torch.float64,
       layout=torch.sparse_csr, requires_grad=True)]=], tostring(example():cpu():to_sparse_csr():double():requires_grad_()))
    assert.equal([=[
tensor(indices=tensor([], size=(2, 0)),
       values=tensor([], size=(0,)),
       size=(2, 3), nnz=0, layout=torch.sparse_coo)]=], tostring(torch.sparse_coo_tensor { 2, 3 }))
    assert.is_truthy(tostring(nn.Parameter(example())):find '^Parameter containing:\ntensor%(indices=')
  end)

  it('a sparse tensor is an error for ops without a sparse implementation and for readers of elements', function()
    local x = example()
    refused('exp() does not support sparse tensors', torch.exp, x)
    refused('does not support sparse tensors', torch.where, torch.ones(2, 3, { device = device }):gt(0), x, 1)
    refused('does not support sparse tensors', torch.stack, { x, x })
    refused('does not support sparse tensors', torch.exp, torch.ones(2, 3, { device = device }), { out = x })
    refused('does not support sparse tensors', x.view, x, 6)
    refused('item()', function() return torch.sparse_coo_tensor({ { 1 } }, { 1. }, { 1 }):item() end)
    for _, name in ipairs { 'tolist', 'data_ptr', 'stride', 'exp_', 'contiguous' } do
      refused('does not support sparse tensors', x[name], x)
    end
    refused('does not support sparse tensors', torch.utils.dlpack.to_dlpack, x)
    refused('cannot be added', function() return x + 1 end)
    refused('divided only by a number', function() return x / x end)
    refused('same size', function() return x + torch.ones(3, 3, { device = device }) end)
    refused('has the layout', x.add_, x, torch.ones(2, 3, { device = device }))
    assert.has_error(function() x[1] = 2 end)
  end)
end)

-- ---- gradients -------------------------------------------------------------------------------------------------------------

describe('the gradient of a sparse tensor', function()
  it('has its layout and its places', function()
    for _, layout in ipairs { torch.sparse_coo, torch.sparse_csr, torch.sparse_csc } do
      local x = example():to_sparse { layout = layout }:detach():requires_grad_();
      (x:mm(torch.ones(3, 2, { device = device })) * 2):sum():backward()
      assert.equal(layout, x.grad.layout)
      assert.same({ { 0, 0, 4 }, { 4, 0, 4 } }, x.grad:to_dense():tolist())
      x:sum():backward()
      assert.same({ { 0, 0, 5 }, { 5, 0, 5 } }, x.grad:to_dense():tolist())
    end
  end)

  it('reaches the values it was made of', function()
    local values = torch.tensor({ 1., 2., 3. }, { device = device }):requires_grad_()
    local x = torch.sparse_coo_tensor({ { 1, 1, 2 }, { 2, 2, 1 } }, values, { 2, 2 })
    assert.equal('SparseCooTensorBackward0', x.grad_fn:name())
    weighted(x:to_dense()):backward()
    assert.same({ 0.5, 0.5, 2.5 }, values.grad:tolist())
  end)

  it('is checked by differences, and so is that of second order', function()
    local d = torch.randn(3, 2, { dtype = torch.float64, device = device }):requires_grad_()
    local v = torch.randn(4, { dtype = torch.float64, device = device }):requires_grad_()
    local places = { { 1, 2, 2, 2 }, { 3, 1, 3, 3 } }
    local function matrix(values) return torch.sparse_coo_tensor(places, values, { 2, 3 }) end
    local forms = {
      function(values, dense) return torch.sparse.mm(matrix(values), dense) end,
      function(values, dense) return (matrix(values):coalesce():to_sparse_csr():mm(dense)) ^ 2 end,
      function(values, dense) return torch.sparse.mm(matrix(values), matrix(values):t()):to_dense() * dense:sum() end,
      function(values) return torch.sparse.softmax(matrix(values), 2):to_dense() end,
      function(values, dense) return (matrix(values) * dense:t()):to_dense() end,
      function(values) return (matrix(values):sin() * matrix(values)):to_dense() end,
    }
    for _, form in ipairs(forms) do
      assert.is_true(torch.autograd.gradcheck(form, { v, d }))
      assert.is_true(torch.autograd.gradgradcheck(form, { v, d }))
    end
  end)

  it('of an embedding has the rows that were looked up, and adds up', function()
    local e = nn.Embedding(5, 3, { sparse = true, padding_idx = 5, device = device })
    e(torch.tensor({ 2, 2, 5, 4 }, { device = device })):sum():backward()
    assert.equal(torch.sparse_coo, e.weight.grad.layout)
    assert.same({ 2, 2, 4 }, e.weight.grad:_indices()[1]:tolist())
    e(torch.tensor({ 1 }, { device = device })):sum():backward()
    assert.same({ 1, 2, 0, 1, 0 }, e.weight.grad:to_dense():select(2, 1):tolist())
    refused('scale_grad_by_freq', function()
      nn.functional.embedding(torch.tensor({ 1 }, { device = device }), e.weight, { sparse = true, scale_grad_by_freq = true }):sum():backward()
    end)
    refused('max mode', function() nn.EmbeddingBag(3, 2, { sparse = true, mode = 'max', device = device })(torch.tensor({ { 1 } }, { device = device })) end)
    e:zero_grad { set_to_none = false }
    assert.equal(0, e.weight.grad:to_dense():abs():sum():item())
  end)

  it('meets dense ones, hooks, and anomaly mode', function()
    local e, seen = nn.Embedding(3, 2, { sparse = true, device = device }), nil
    e.weight:register_hook(function(grad) seen = grad.layout return grad * 2 end)
    local i = torch.tensor({ 3, 3 }, { device = device })
    torch.autograd.set_detect_anomaly(true)
    e(i):sum():backward()
    torch.autograd.set_detect_anomaly(false)
    assert.equal(torch.sparse_coo, seen)
    assert.same({ 0, 0, 4 }, e.weight.grad:to_dense():select(2, 1):tolist())
    e.weight.grad = nil;
    (e(i):sum() + e.weight:sum()):backward()
    assert.equal(torch.strided, e.weight.grad.layout)
    assert.same({ 2, 2, 6 }, e.weight.grad:select(2, 1):tolist())
  end)

  it('autograd.grad returns a sparse gradient, and retain_grad keeps it', function()
    local x = example():requires_grad_()
    local y = x * 3
    y:retain_grad()
    y:sum():backward { retain_graph = true }
    assert.equal(torch.sparse_coo, y.grad.layout)
    local grad = torch.autograd.grad(y:sum(), x)
    assert.same({ 3, 3, 3 }, (torch.is_tensor(grad) and grad or grad[1]):coalesce():values():tolist())
    refused('autograd does not support in-place operations', function() y:mul_(2) end)
  end)
end)

-- ---- optimizers --------------------------------------------------------------------------------------------------------------

describe('a product of a matrix in CSR', function()
  -- Rows without values, one with all, few and many columns, more work than one thread has.
  local function matrix(rows, columns, dtype)
    local kept = torch.rand(rows, columns, { device = device }):lt(0.3)
    kept['3:5'] = false
    kept[2] = true
    return (torch.randn(rows, columns, { dtype = dtype, device = device }) * kept:to(dtype))
  end

  it('a CSR product accepts dense matrices with overlapping or single rows', function()
    local a, one = matrix(7, 90, torch.float64), torch.randn(7, 1, { dtype = torch.float64, device = device })
    local x = torch.randn(200, { dtype = torch.float64, device = device })
    for _, dense in ipairs { x:narrow(1, 1, 5):expand(90, 5), x:as_strided({ 90, 5 }, { 1, 1 }), x:as_strided({ 90, 5 }, { 2, 1 }) } do
      assert.is_true(torch.allclose(a:mm(dense), a:to_sparse_csr():mm(dense)))
    end
    assert.is_true(torch.allclose(one:mm(x:view(1, 200)), one:to_sparse_csr():mm(x:as_strided({ 1, 200 }, { 1, 1 }))))
  end)

  for _, dtype in ipairs { torch.float32, torch.float64, torch.complex64 } do
    it('is that of the matrix: ' .. tostring(dtype), function()
      torch.manual_seed(1)
      local tolerance = { rtol = dtype == torch.float64 and 1e-12 or 1e-4, atol = dtype == torch.float64 and 1e-12 or 1e-4 }
      for _, rows in ipairs { 7, 300 } do
        local a = matrix(rows, 90, dtype)
        local sparse = a:to_sparse_csr()
        for _, width in ipairs { 0, 1, 3, 32, 33, 70, 300 } do
          local x = torch.randn(90, width, { dtype = dtype, device = device })
          assert.is_true(torch.allclose(a:mm(x), sparse:mm(x), tolerance))
          assert.is_true(torch.allclose(a:mm(x), sparse:mm(x:t():contiguous():t()), tolerance))
          local wide = torch.randn(90, 2 * width, { dtype = dtype, device = device })
          assert.is_true(torch.allclose(a:mm(wide:narrow(2, 1, width)), sparse:mm(wide:narrow(2, 1, width)), tolerance))
        end
        local v = torch.randn(180, { dtype = dtype, device = device })['::2']
        assert.is_true(torch.allclose(a:mv(v), sparse:mv(v), tolerance))
        assert.is_true(torch.allclose(a:mv(v) * 2 + 1, torch.addmm(torch.ones(1, { dtype = dtype, device = device }), sparse, v:unsqueeze(2), { alpha = 2 }):squeeze(2), tolerance))
      end
      local none = torch.zeros(3, 4, { dtype = dtype, device = device }):to_sparse_csr()
      assert.equal(0, none:mm(torch.ones(4, 2, { dtype = dtype, device = device })):abs():sum():item())
    end)
  end
end)

-- ---- systems of equations -------------------------------------------------------------------------------------------------

describe('a system of equations #cpu', function()
  local layouts = { 'to_sparse_csr', 'to_sparse_csc', 'to_sparse' }
  local solve = torch.sparse.spsolve
  local installed = package.loadlib('libcxsparse.so.4', '*') or package.loadlib('libcxsparse.so.3', '*')

  -- Without symmetry, some rows of few values, a diagonal with a 0: rows have to be exchanged.
  local function system(n, dtype)
    torch.manual_seed(3)
    local a = torch.randn(n, n, { dtype = dtype }) * torch.rand(n, n):lt(0.3):to(dtype) + torch.eye(n, { dtype = dtype }) * 3
    a[1][1] = 0
    a[1][2] = 2
    a[2][1] = 1
    return a, torch.randn(n, { dtype = dtype })
  end

  it('a singular or non-square system is an error', function()
    local eye = torch.eye(3):to_sparse_csr()
    refused('expected a square sparse matrix of numbers, got one of size [3, 4]', solve, torch.ones(3, 4):to_sparse_csr(), torch.ones(3))
    refused('expected a square sparse matrix of numbers, got one of size [2, 2, 2]', solve, torch.ones(2, 2, 2):to_sparse(), torch.ones(2))
    refused('expected a right side of size [3], got [4]', solve, eye, torch.ones(4))
    refused('expected a right side of size [3], got [3, 1]', solve, eye, torch.ones(3, 1))
    refused('the right side must be dense', solve, eye, torch.ones(3):to_sparse())
    refused("argument 'input' must be a sparse tensor", solve, torch.eye(3), torch.ones(3))
    refused('to have the same dtype, but got: float32 != float64', solve, eye, torch.ones(3, { dtype = torch.float64 }))
    refused("not implemented for 'Long'", solve, torch.ones(2, 2, { dtype = torch.int64 }):to_sparse_csr(), torch.ones(2, { dtype = torch.int64 }))
    refused('only left = true is supported', solve, eye, torch.ones(3), { left = false })
  end)

  if not installed then
    it('spsolve without CXSparse is an error that names the package', function() refused('libcxsparse3', solve, torch.eye(3):to_sparse_csr(), torch.ones(3)) end)
    return
  end

  for _, dtype in ipairs { torch.float32, torch.float64, torch.complex64, torch.complex128 } do
    it('has the solution of the ordinary one, and its gradients: ' .. tostring(dtype), function()
      local tolerance = (dtype == torch.float64 or dtype == torch.complex128) and { rtol = 1e-10, atol = 1e-10 } or { rtol = 2e-3, atol = 2e-3 }
      local a, b = system(20, dtype)
      local wanted, leaves = nil, { a:clone():requires_grad_(), b:clone():requires_grad_() }
      wanted = torch.linalg.solve(leaves[1], leaves[2])
      wanted:abs():square():sum():backward()
      for _, layout in ipairs(layouts) do
        local sparse, right = a[layout](a):requires_grad_(), b:clone():requires_grad_()
        local x = solve(sparse, right)
        assert.is_true(torch.allclose(wanted, x, tolerance))
        x:abs():square():sum():backward()
        assert.equal(sparse.layout, sparse.grad.layout)
        assert.is_true(torch.allclose(leaves[1].grad * a:ne(0), sparse.grad:to_dense(), tolerance))
        assert.is_true(torch.allclose(leaves[2].grad, right.grad, tolerance))
      end
    end)
  end

  it('has derivatives forward and of second order', function()
    for _, dtype in ipairs { torch.float64, torch.complex128 } do
      local values = torch.tensor({ 2., 1., 3. }, { dtype = dtype, requires_grad = true })
      local right = torch.tensor({ 1., 2. }, { dtype = dtype, requires_grad = true })
      for _, make in ipairs { torch.sparse_csr_tensor, torch.sparse_csc_tensor } do
        local function f(v, b) return solve(make({ 1, 3, 4 }, { 1, 2, 2 }, v, { 2, 2 }), b) end
        assert.is_true(torch.autograd.gradcheck(f, { values, right }, { check_forward_ad = true }))
        assert.is_true(torch.autograd.gradgradcheck(f, { values, right }))
      end
    end
  end)

  it('of values that add up, of nothing, and of a singular matrix', function()
    local twice = torch.sparse_coo_tensor({ { 1, 1, 2 }, { 1, 1, 2 } }, { 1., 1., 4. }, { 2, 2 })
    assert.same({ 0.5, 0.25 }, solve(twice, torch.ones(2)):tolist())
    assert.same({}, solve(torch.zeros(0, 0):to_sparse_csr(), torch.ones(0)):tolist())
    for _, layout in ipairs(layouts) do
      local singular = torch.tensor { { 1., 2. }, { 2., 4. } }
      refused('the matrix is singular', solve, singular[layout](singular), torch.ones(2))
      local nan = torch.tensor { { 0 / 0, 2. }, { 2., 4. } }
      refused('the matrix is singular', solve, nan[layout](nan), torch.ones(2))
    end
  end)
end)

describe('an optimizer with sparse gradients', function()
  -- The table after three steps; PyTorch 2.13's, of the same indices.
  local after = {
    { 'SparseAdam', {}, { 0.0, 0.14211301505565643, 0.28378263115882874, 0.4266396164894104, 0.5714285969734192, 0.7142857313156128, 0.8553141951560974, 0.998171329498291 } },
    { 'SGD', { lr = 0.1 }, { 0.0, 0.11428572237491608, 0.1371428668498993, 0.20571430027484894, 0.5714285969734192, 0.7142857313156128, 0.4114286005496979, 0.47999998927116394 } },
    { 'SGD', { lr = 0.1, momentum = 0.9 }, { 0.0, 0.08857143670320511, -0.08914285898208618, -0.13371428847312927, 0.5714285969734192, 0.7142857313156128, 0.18000000715255737, 0.21000002324581146 } },
    { 'SGD', { lr = 0.1, momentum = 0.9, nesterov = true }, { 0.0, 0.06542856991291046, -0.14448000490665436, -0.21671998500823975, 0.5714285969734192, 0.7142857313156128, -0.03075426071882248, -0.03587997704744339 } },
    { 'Adagrad', { lr = 0.1, lr_decay = 0.1 }, { 0.0, 0.05194805562496185, 0.1576155722141266, 0.29603180289268494, 0.5714285969734192, 0.7142857313156128, 0.6846214532852173, 0.8271535038948059 } },
  }
  for _, row in ipairs(after) do
    local name, options, want = table.unpack(row)
    it(('steps as PyTorch does: %s %s'):format(name, options.nesterov and 'nesterov' or options.momentum or ''), function()
      local e = nn.Embedding(4, 2, { sparse = true, device = device })
      torch.no_grad(function() e.weight:copy_(torch.arange(8.):reshape(4, 2) / 7) end)
      local optimizer = torch.optim[name](e:parameters(), options)
      for _, indices in ipairs { { 2, 2, 4 }, { 1, 2 }, { 4, 4 } } do
        optimizer:zero_grad();
        (e(torch.tensor(indices, { device = device })) ^ 2):sum():backward()
        optimizer:step()
      end
      for i, value in ipairs(e.weight:detach():reshape(-1):tolist()) do assert.near(want[i], value, 2e-7) end
    end)
  end

  it('an optimizer without support for sparse gradients is an error', function()
    local e = nn.Embedding(4, 2, { sparse = true, device = device })
    e(torch.tensor({ 1 }, { device = device })):sum():backward()
    for _, name in ipairs { 'Adam', 'RMSprop', 'Adadelta' } do
      local optimizer = torch.optim[name](e:parameters())
      refused(name .. ' does not support sparse gradients', optimizer.step, optimizer)
    end
    refused('weight_decay', function() torch.optim.SGD(e:parameters(), { lr = 1, weight_decay = 1 }):step() end)
    local dense = torch.ones(2, { device = device }):requires_grad_()
    dense:sum():backward()
    refused('does not support dense gradients', function() torch.optim.SparseAdam({ dense }):step() end)
  end)
end)

-- ---- elsewhere ---------------------------------------------------------------------------------------------------------------

describe('a sparse tensor', function()
  it('is saved and loaded, by PyTorch too', function()
    local path = os.tmpname()
    for _, suffix in ipairs { '.safetensors', '.pt' } do
      local x = torch.sparse_coo_tensor({ { 1, 1 }, { 2, 2 } }, { 1., 2. }, { 2, 3 })
      torch.save({ x = x, rows = { example():cpu():to_sparse_csr(), example():cpu():to_sparse_csc() }, dense = torch.ones(2) }, path .. suffix)
      local loaded = torch.load(path .. suffix)
      assert.equal(tostring(x), tostring(loaded.x))
      assert.equal(tostring(example():cpu():to_sparse_csr()), tostring(loaded.rows[1]))
      assert.equal(torch.sparse_csc, loaded.rows[2].layout)
      assert.same({ 1, 1 }, loaded.dense:tolist())
      os.remove(path .. suffix)
    end
    os.remove(path)
    local written = torch.load(here .. '../files/sparse.pt')
    assert.same(torch.eye(2):tolist(), written:to_dense():tolist())
    assert.is_true(written:is_coalesced())
  end)

  it('takes data from another, becomes a Parameter, is detached', function()
    local x, y = example(), torch.ones(2, 3, { device = device })
    y.data = x
    assert.equal(torch.sparse_coo, y.layout)
    assert.same(x:to_dense():tolist(), y:to_dense():tolist())
    assert.is_nil(x:requires_grad_():detach().grad_fn)
    assert.equal(x:to_dense():sum():item(), x.data:sum():item())
  end)

  it('holds no memory when it is over', function()
    collectgarbage() collectgarbage()
    local before = torch.cuda.is_available() and device ~= 'cpu' and torch.cuda.memory_allocated(device)
    for _ = 1, 100 do
      local x = example():requires_grad_()
      x:mm(torch.ones(3, 200, { device = device })):sum():backward()
    end
    collectgarbage() collectgarbage()
    if before then assert.is_true(torch.cuda.memory_allocated(device) <= before) end
  end)
end)

describe('a sparse tensor on a GPU', function()
  if device == 'cpu' then return end

  it('is moved with its places, and the ledger has it', function()
    local x = example():cpu()
    torch.cuda.reset_copies()
    local there = x:to(device)
    assert.is_true(there.is_cuda)
    local where = torch.ones(1, { device = device }).device
    assert.equal(where, there:_values().device)
    assert.equal(where, there:_indices().device)
    assert.equal(2, torch.cuda.copies().count)
    assert.same(x:to_dense():tolist(), there:cpu():to_dense():tolist())
    assert.is_truthy(tostring(there):find(("device='%s', size=(2, 3), nnz=3"):format(where), 1, true))
    refused('same device', function() return x + there end)
    refused('must match device of values', torch._C.sparse_coo_tensor, x:_indices(), there:_values(), { 2, 3 })
  end)
end)
