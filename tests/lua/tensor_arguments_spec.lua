-- Tensors where PyTorch takes them for numbers, and the forms of arguments that only PyTorch's Python functions have.

local torch = require 'torch'
local F, linalg = torch.nn.functional, torch.linalg
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function T(data, dtype) return torch.tensor(data, { device = device, dtype = dtype }) end
local function grid() return torch.arange(6, { device = device, dtype = torch.float32 }):reshape(2, 3) end
local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end
local function lists(...)
  local all = { ... }
  for i, tensor in ipairs(all) do all[i] = tensor:tolist() end
  return all
end

describe('a 0-dim tensor', function()
  it('stands for its number, in a row, by name and in a shape', function()
    local x = grid()
    assert.same({ { 1 }, { 4 } }, x:narrow(2, T(2), 1):tolist())
    assert.same({ 3, 5, 7 }, x:sum(T(1)):tolist())
    assert.same({ { 0, 9 }, { 9, 0 } }, torch.cdist(x, x, T(1)):tolist())
    assert.same({ 0, 1, 2 }, torch.arange(T(3)):tolist())
    assert.same({ 3, 2 }, { table.unpack(x:view(T(3), -1).shape) })
    assert.same({ 3, 2 }, { table.unpack(x:reshape({ T(3), 2 }).shape) })
    assert.same({ 4.5, 4.5 }, torch.full({ T(2) }, T(4.5)):tolist())
    assert.same({ 2, 4, 6 }, T({ 1, 2, 3 }):add(T({ 1, 2, 3 }), { alpha = T(1) }):tolist())
  end)

  it('is refused as ever where it cannot', function()
    local x = grid()
    assert.truthy(failure(x.narrow, x, 2, T(1.5), 1):find("argument 'start' (position 3) must be int, not Tensor", 1, true))
    assert.truthy(failure(x.narrow, x, 2, T { 1, 2 }, 1):find("must be int, not Tensor", 1, true))
    assert.truthy(failure(x.narrow, x, 2, T(0), 1):find 'positions count from 1')
    assert.truthy(failure(torch.cdist, x, x, T(2.0):requires_grad_()):find("must be float, not Tensor", 1, true))
  end)
end)

describe('where and nonzero', function()
  it('give the positions along each dimension', function()
    local x = T { { 0, 3, 0 }, { 5, 0, 7 } }
    assert.same({ { 1, 2, 2 }, { 2, 1, 3 } }, lists(torch.where(x)))
    assert.same({ { 1, 2, 2 }, { 2, 1, 3 } }, lists(x:nonzero { as_tuple = true }))
    assert.same({ 3, 5, 7 }, x[{ torch.where(x) }]:tolist())
    assert.same({ { 1, 2 }, { 2, 1 }, { 2, 3 } }, x:nonzero { as_tuple = false }:tolist())
    assert.same({ { 1 } }, lists(torch.nonzero(T(3), { as_tuple = true })))
    assert.truthy(failure(torch.nonzero, x, { as = true }):find "unknown argument 'as'")
  end)

  it('where and nonzero are methods with the condition as an argument', function()
    local x = grid()
    assert.same({ { -1, -1, 2 }, { 3, 4, 5 } }, x:where(x:gt(1), -1):tolist())
    assert.same({ { -1, -1, 2 }, { 3, 4, 5 } }, x:where { condition = x:gt(1), other = -1 }:tolist())
    assert.same({ { -1, -1, 2 }, { 3, 4, 5 } }, x:where(x:gt(1), { other = -1 }):tolist())
    local leaf = grid():requires_grad_()
    leaf:where(leaf:gt(1), 0):sum():backward()
    assert.same({ { 0, 0, 1 }, { 1, 1, 1 } }, leaf.grad:tolist())
    assert.truthy(failure(x.where, x):find 'accepts %(condition, other%)')
  end)
end)

describe('type', function()
  it('converts to a dtype or to a name of one', function()
    local x = grid()
    assert.equal(torch.int32, x:type(torch.int32).dtype)
    assert.equal(torch.float16, x:type { dtype = torch.half }.dtype)
    assert.equal(torch.int64, x:type('torch.int64').dtype)
    assert.is_true(rawequal(x, x:type(torch.float32)))
    assert.equal(torch.float64, grid():cpu():type('torch.DoubleTensor').dtype)
    assert.equal('cpu', tostring(x:type('torch.LongTensor').device))
    assert.equal('Int', x:type(torch.int32):type():match '(%a+)Tensor$')
    assert.truthy(failure(x.type, x, 'torch.FooTensor'):find("invalid type: 'torch.FooTensor'", 1, true))
    assert.truthy(failure(x.type, x, 3):find 'must be a torch.dtype or its name, got number')
  end)
end)

describe('lists as PyTorch has them', function()
  it('in atleast_1d and its kin, and in tensordot', function()
    local a, b = torch.atleast_2d(T(1), T { 2, 3 })
    assert.same({ { 1 } }, a:tolist())
    assert.same({ { 2, 3 } }, b:tolist())
    assert.same({ 1, 1, 1 }, { table.unpack(torch.atleast_3d { T(1), T(2) }[2].shape) })
    local x, y = torch.rand(2, 3, 4, { device = device }), torch.rand(4, 3, 5, { device = device })
    local wanted = torch.tensordot(x, y, { 2, 3 }, { 2, 1 })
    assert.is_true(torch.equal(wanted, torch.tensordot(x, y, { { 2, 3 }, { 2, 1 } })))
    assert.is_true(torch.equal(wanted, torch.tensordot(x, y, { dims = { { 2, 3 }, { 2, 1 } } })))
    assert.is_true(torch.equal(wanted, torch.tensordot(x, y, T { { 2, 3 }, { 2, 1 } })))
  end)

  it('in the output_size of max_unpool', function()
    local values, indices = F.max_pool2d(torch.rand(1, 1, 5, 5, { device = device }), 2, { return_indices = true })
    for _, size in ipairs { { 5, 5 }, { 1, 1, 5, 5 }, torch.Size { 1, 1, 5, 5 } } do
      assert.same({ 1, 1, 5, 5 }, { table.unpack(F.max_unpool2d(values, indices, 2, { output_size = size }).shape) })
      assert.same({ 1, 1, 5, 5 }, { table.unpack(torch.nn.MaxUnpool2d(2)(values, indices, { output_size = size }).shape) })
    end
    assert.truthy(failure(F.max_unpool2d, values, indices, 2, nil, nil, { 9, 9 }):find('invalid output_size "(9, 9)"', 1, true))
    assert.truthy(failure(F.max_unpool2d, values, indices, 2, nil, nil, { 9 }):find('containing 2 or 4 elements', 1, true))
  end)
end)

describe('many parts', function()
  it('of given sizes, or cut at many positions, are more than the dimensions of a tensor', function()
    local x, sizes, positions = torch.arange(46, { device = device }):reshape(2, 23), {}, {}
    for i = 1, 23 do sizes[i], positions[i] = i == 5 and 0 or i == 9 and 2 or 1, i end
    for _, parts in ipairs { x:split(sizes, 2), torch.split(x, sizes, { dim = -1 }) } do
      assert.equal(23, #parts)
      for i, part in ipairs(parts) do assert.same({ 2, sizes[i] }, { table.unpack(part.shape) }) end
      assert.same(x:tolist(), torch.cat(parts, 2):tolist())
    end
    for _, parts in ipairs { x:tensor_split(positions, 2), x:tensor_split(T(positions), 2), x:tensor_split(positions, { dim = 2 }) } do
      assert.equal(24, #parts)
      assert.equal(0, parts[1]:numel())
      for i = 2, 24 do assert.same(x:narrow(2, i - 1, 1):tolist(), parts[i]:tolist()) end
    end
    local leaf = torch.ones(20, { device = device, requires_grad = true })
    sizes = table.move(sizes, 1, 20, 1, {})
    leaf:split(sizes)[9]:sum():backward()
    assert.equal(2, leaf.grad:sum():item())
  end)

  it('are cut at the positions of a tensor', function()
    local x = torch.arange(5, { device = device })
    assert.same({ { 0, 1 }, { 2 }, { 3, 4 } }, lists(table.unpack(x:tensor_split(T { 3, 4 }))))
    assert.same({ { 0, 1, 2, 3, 4 } }, lists(table.unpack(x:tensor_split(T({}, torch.int64)))))
    assert.truthy(failure(x.tensor_split, x, T { { 3, 4 } }):find 'a zero%-dimensional or one%-dimensional tensor, but got a tensor with 2 dims')
    assert.truthy(failure(x.tensor_split, x, T { 1.5 }):find 'to have dtype of long, but got torch.float32')
  end)

  it('of sizes that do not fit are refused', function()
    local x, sizes = torch.ones(20, { device = device }), {}
    for i = 1, 20 do sizes[i] = 1 end
    sizes[3] = 2
    assert.truthy(failure(x.split, x, sizes):find('to sum exactly to 20', 1, true))
    sizes[4] = -1
    assert.truthy(failure(x.split, x, sizes):find('have only non-negative entries', 1, true))
  end)
end)

describe('linalg', function()
  local a = torch.tensor { { 3.0, 0.0 }, { 0.0, 0.5 }, { 0.0, 0.0 } }

  it('takes absolute and relative tolerances', function()
    assert.equal(2, linalg.matrix_rank(a):item())
    assert.equal(1, linalg.matrix_rank(a, { atol = 0.6 }):item())
    assert.equal(1, linalg.matrix_rank(a, { rtol = 0.2 }):item())
    assert.equal(2, linalg.matrix_rank(a, { atol = 0.4, rtol = 0.1 }):item())
    assert.equal(0, linalg.matrix_rank(a, 4):item())
    assert.same({ 1, 2 }, linalg.matrix_rank(torch.stack { a, a }, { atol = torch.tensor { 0.6, 0.1 } }):tolist())
    assert.same({ { { 1 / 3, 0, 0 }, { 0, 0, 0 } }, { { 1 / 3, 0, 0 }, { 0, 2, 0 } } },
      linalg.pinv(torch.stack { a, a }:double(), { atol = torch.tensor { 0.6, 0.1 } }):mul(3):round():div(3):tolist())
    assert.near(0, linalg.pinv(a, { atol = 0.6 })[{ 2, 2 }]:item(), 1e-6)
    assert.near(0, linalg.pinv(a, { rtol = torch.tensor(0.2) })[{ 2, 2 }]:item(), 1e-6)
    assert.near(2, linalg.pinv(a, 1e-3)[{ 2, 2 }]:item(), 1e-5)
    assert.truthy(failure(linalg.pinv, a, { atl = 1 }):find "unexpected keyword argument 'atl'")
  end)

  it('linalg accepts the names of LAPACK drivers', function()
    local b = torch.tensor { { 3.0 }, { 1.0 }, { 2.0 } }
    local solution, residuals, rank, values = linalg.lstsq(a, b, { driver = 'gelsd' })
    assert.near(1, solution[{ 1, 1 }]:item(), 1e-5)
    assert.near(4, residuals:item(), 1e-5)
    assert.equal(2, rank:item())
    assert.near(3, values[1]:item(), 1e-5)
    assert.equal(0, select(2, linalg.lstsq(a, b)):numel())
    assert.truthy(failure(linalg.lstsq, a, b, { driver = 'x' }):find 'should be one of %(gels, gelsy, gelsd, gelss%)')
    assert.truthy(failure(linalg.svd, a, { driver = 'gesvd' }):find 'only supported on CUDA inputs')
  end)

  it('has the diagonal of the last two dimensions', function()
    assert.same({ 2, 3 }, { table.unpack(linalg.diagonal(torch.zeros(2, 3, 4)).shape) })
    assert.same({ 2, 3 }, { table.unpack(linalg.diagonal(torch.zeros(2, 3, 4), { offset = 1 }).shape) })
  end)
end)

describe('a size', function()
  it('size accepts a position or the name of the argument', function()
    local x = torch.zeros(2, 3, 4):transpose(1, 3)
    assert.same({ 4, 3, 2 }, { x:size(1), x:size { dim = 2 }, x:size { dim = -1 } })
    assert.same({ 1, 4, 12 }, { x:stride(1), x:stride { dim = 2 }, x:stride { dim = -1 } })
  end)
end)
