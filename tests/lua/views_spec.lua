-- Views that take the place of their tensor (transpose_, squeeze_, ...), and tensors over another's memory.

local torch = require 'torch'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

describe('a view in place', function()
  local function matrix() return torch.arange(6, { dtype = torch.float32, device = device }):reshape(2, 3) end

  it('is the same tensor over the same memory in another shape', function()
    local cases = {
      transpose_ = { { 1, 2 }, { 3, 2 } }, swapaxes_ = { { 1, -1 }, { 3, 2 } }, swapdims_ = { { 2, 1 }, { 3, 2 } }, t_ = { {}, { 3, 2 } },
      unsqueeze_ = { { 2 }, { 2, 1, 3 } }, as_strided_ = { { { 2, 2 }, { 3, 1 } }, { 2, 2 } },
    }
    for name, case in pairs(cases) do
      local x, wanted = matrix(), matrix()
      local at = x:data_ptr()
      wanted = wanted[name:sub(1, -2)](wanted, table.unpack(case[1]))
      assert.is_true(rawequal(x, x[name](x, table.unpack(case[1]))), name)
      assert.same(case[2], { table.unpack(x.shape) }, name)
      assert.equal(at, x:data_ptr())
      assert.equal(wanted:is_contiguous(), x:is_contiguous())
      assert.is_true(torch.equal(wanted, x), name)
    end
    local x = matrix():unsqueeze_(1):unsqueeze_(-1)
    assert.same({ 2, 3, 1 }, { table.unpack(x:squeeze_(1).shape) })
    assert.same({ 2, 3 }, { table.unpack(x:squeeze_().shape) })
  end)

  it('has other sizes, and new memory where its own does not suffice', function()
    local x = matrix()
    local all, at = x:view(6), x:data_ptr()
    assert.is_true(rawequal(x, x:t_():resize_(3)))
    assert.same({ 0, 1, 2 }, x:tolist())
    assert.equal(at, x:data_ptr())
    assert.same({ 0, 1, 2, 3, 4, 5 }, x:resize_as_(torch.zeros(6, { device = device })):tolist())
    assert.equal(at, x:data_ptr())
    local part = all:narrow(1, 5, 2):resize_({ 2, 4 })
    assert.same({ 4, 5 }, part[1]:narrow(1, 1, 2):tolist())
    part:fill_(9)
    assert.same({ 0, 1, 2, 3, 4, 5 }, all:tolist())
    assert.same({ 0, 4 }, { table.unpack(x:resize_(0, 4).shape) })
    assert.is_truthy(failure(function() return matrix():requires_grad_():resize_(2) end):find('requires? grad'))
    assert.is_truthy(failure(function() return matrix():resize_(2, -1) end):find 'negative dimension %-1')
    assert.is_truthy(failure(function() return matrix():resize_(1 << 62, 4) end):find 'overflow')
  end)

  it('is seen by the views of the tensor, which keep their own shape', function()
    local x = matrix()
    local row = x[2]
    x:t_()
    x[{ 3, 2 }] = 10
    assert.same({ 3, 4, 10 }, row:tolist())
  end)

  it('has PyTorch\'s place in the graph', function()
    local leaf = matrix():requires_grad_()
    local y = (leaf * 2):t_()
    assert.truthy(tostring(y.grad_fn):find 'TBackward1')
    assert.truthy(tostring((leaf * 1):transpose_(1, 2).grad_fn):find 'TransposeBackward1')
    assert.truthy(tostring((leaf * 1):squeeze_().grad_fn):find 'SqueezeBackward3')
    y = y * torch.arange(6, { device = device }):reshape(3, 2)
    y:sum():backward()
    assert.same({ { 0, 4, 8 }, { 2, 6, 10 } }, leaf.grad:tolist())
    leaf.grad = nil
    local base = leaf * 1
    local part = base[1]
    part:unsqueeze_(1):mul_(3)
    base:sum():backward()
    assert.same({ { 3, 3, 3 }, { 1, 1, 1 } }, leaf.grad:tolist())
  end)

  it('counts as a change of the tensor', function()
    local leaf = matrix():requires_grad_()
    assert.truthy(failure(leaf.t_, leaf):find('a leaf Variable that requires grad is being used in an in-place operation', 1, true))
    local y = leaf * 2
    local z = y * y
    y:t_()
    assert.truthy(failure(function() z:sum():backward() end):find('modified by an inplace operation', 1, true))
  end)

  it('leaves the tensor as it is when it fails', function()
    local x = matrix()
    assert.truthy(failure(x.transpose_, x, 1, 4):find 'Dimension out of range')
    assert.truthy(failure(x.squeeze_, x, 0):find 'positions count from 1')
    assert.same({ 2, 3 }, { table.unpack(x.shape) })
  end)
end)

describe('from_numpy and numpy #cpu', function()
  it('share the memory', function()
    local x = torch.zeros(2, 2)
    local y = torch.from_numpy(x:numpy())
    y:fill_(3)
    assert.same({ { 3, 3 }, { 3, 3 } }, x:tolist())
    assert.is_false(y.requires_grad)
  end)

  it('give a table the dtypes of NumPy', function()
    assert.equal(torch.float64, torch.from_numpy({ { 1.5, 2 }, { 3, 4 } }).dtype)
    assert.equal(torch.int64, torch.from_numpy({ 1, 2 }).dtype)
    assert.equal(torch.bool, torch.from_numpy({ true }).dtype)
  end)

  it('from_numpy and numpy reject dtypes that NumPy does not have', function()
    local x = torch.ones(2):requires_grad_()
    assert.truthy(failure(x.numpy, x):find("Can't call numpy() on Tensor that requires grad", 1, true))
    assert.same({ 1, 1 }, x:numpy({ force = true }):tolist())
    assert.truthy(failure(torch.from_numpy, 'text'):find('got string', 1, true))
  end)
end)

-- Copies of short rows: of every width and size of elements, dense, repeated and filled.
describe('rows of a copy', function()
  local DTYPES = { 'bool', 'uint8', 'int16', 'float16', 'int32', 'float32', 'float64', 'complex64', 'complex128' }
  local function same(wanted, got, ...) assert.is_true(torch.equal(wanted, got), table.concat({ ... }, ' ')) end

  it('rows arrive at their destination for every width', function()
    for _, name in ipairs(DTYPES) do
      local dtype = torch[name]
      for _, width in ipairs { 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 70, 300 } do
        for _, rows in ipairs { 7, device == 'cpu' and 4000 or 60 } do
          local memory = torch.arange(rows * (width + 3), { device = device }):reshape(rows, width + 3):to(dtype)
          local places = torch.arange(3, width + 3, { device = device })
          local from = memory:narrow(2, 3, width)
          same(memory:index_select(2, places), from:clone { memory_format = torch.contiguous_format }, name, width, rows, 'dense')
          local column = memory:narrow(2, 3, 1)
          same(memory:index_select(2, places * 0 + 3), column:expand(rows, width):contiguous(), name, width, rows, 'repeated')
          local marked = memory:clone()
          marked:narrow(2, 2, width):fill_(1)
          same(memory:narrow(2, 1, 1), marked:narrow(2, 1, 1), name, width, rows, 'before what is filled')
          same(torch.ones(rows, width, { dtype = dtype, device = device }), marked:narrow(2, 2, width), name, width, rows, 'filled')
          same(memory:narrow(2, width + 2, 2), marked:narrow(2, width + 2, 2), name, width, rows, 'behind it')
        end
      end
    end
  end)

  it('may leave out every second or third entry', function()
    for _, name in ipairs(DTYPES) do
      for _, width in ipairs { 1, 2, 5, 16, 17, 31, 64, 301, 3000 } do
        for _, step in ipairs { 2, 3 } do
          local x = torch.arange(3 * width * step, { device = device }):reshape(3, width * step):to(torch[name])
          local some = x[{ {}, { 1, -1, step } }]
          local places = torch.arange(1, width * step + 1, step, { device = device })
          same(x:index_select(2, places), some:clone { memory_format = torch.contiguous_format }, name, width, step)
          same(x[2]:index_select(1, places), some[2]:contiguous(), name, width, step, 'one line')
        end
      end
    end
  end)

  it('are read from their ends', function()
    local rows = device == 'cpu' and 1200 or 120
    for _, dtype in ipairs { torch.float32, torch.float64 } do
      for _, shape in ipairs { { 300000 }, { 700, 33 }, { 3, 5, 129 }, { 2, 70000 }, { rows, 1000 }, { 4, 31 } } do
        local x, width = torch.randn(shape, { dtype = dtype, device = device }), shape[#shape]
        assert.is_true(torch.equal(x:index_select(#shape, torch.arange(width, 0, -1, { device = device })), x:flip(#shape)), table.concat(shape, 'x'))
      end
    end
  end)
end)

describe('a rolled tensor', function()
  -- Entry i of a dimension of n is what was at i - by.
  local function from(n, by) return (torch.arange(0, n, { device = device, dtype = torch.int64 }) - by):remainder(n) + 1 end

  it('has each entry where index_select brings it', function()
    local lines = device == 'cpu' and 300 or 30
    local shapes = { { 7 }, { 1 }, { 1000 }, { 3, 5 }, { 40, 333 }, { 2, 3, 700 }, { 600, 5, 3 }, { 3, 130, 2, 65 }, { 5, lines, 300 }, { 4, 0 } }
    for _, shape in ipairs(shapes) do
      for _, dtype in ipairs { torch.float32, torch.float64, torch.uint8, torch.float16, torch.complex128 } do
        local x = (torch.rand(shape, { device = device }) * 50):to(dtype)
        for d = 1, #shape do
          for _, by in ipairs { 1, -1, 2, 68, shape[d] + 1, 0, 1000001 } do
            local note = ('%s by %d along %d'):format(table.concat(shape, 'x'), by, d)
            local once = shape[d] > 0 and x:index_select(d, from(shape[d], by)) or x
            assert.is_true(torch.equal(once, x:roll(by, d)), note)
            local last = #shape
            local twice = shape[last] > 0 and once:index_select(last, from(shape[last], -2 * by)) or x
            assert.is_true(torch.equal(twice, x:roll({ by, -2 * by }, { d, last })), note)
          end
        end
      end
    end
    local x = torch.rand(4, 5, 6, { device = device })
    assert.is_true(torch.equal(x:roll(1, 1):roll(2, 2):roll(3, 3), x:roll({ 1, 2, 3 }, { 1, 2, 3 })))
    local turned = x:transpose(1, 3)
    assert.is_true(torch.equal(turned:contiguous():roll({ 2, 1 }, { 1, 2 }), turned:roll({ 2, 1 }, { 1, 2 })))
  end)
end)

describe('a result that an operation computes as a view of a temporary tensor', function()
  local x, w = torch.randn({ 2, 4, 6, 6 }, { device = device }), torch.randn({ 9, 4 }, { device = device })
  local cases = {
    embedding = function(t) return torch.embedding(t, torch.tensor({ { 1, 2 }, { 3, 9 } }, { device = device })) end,
    put = function(t) return torch.put(t, torch.tensor({ 1 }, { device = device }), torch.tensor({ 2.0 }, { device = device })) end,
    median = function(t) return (t:median(1)) end,
    pixel_shuffle = function(_, t) return torch.nn.functional.pixel_shuffle(t, 2) end,
    pixel_unshuffle = function(_, t) return torch.nn.functional.pixel_unshuffle(t, 2) end,
    fft2 = function(_, t) return torch.fft.fft2(t) end,
  }
  for name, op in pairs(cases) do
    it('can change in place, also with a gradient: ' .. name, function()
      local function gradients(change)
        local a, b = w:clone():requires_grad_(), x:clone():requires_grad_()
        change(op(a, b)):abs():sum():backward()
        return a.grad or b.grad
      end
      local expected = gradients(function(y) return y * 2 end)
      assert.is_true(torch.allclose(expected, gradients(function(y) return y:mul_(2) end)))
      local free, factor = torch.no_grad(op, w, x), torch.ones(1, { device = device }):requires_grad_()
      assert.is_true(free:mul_(factor).requires_grad)
    end)
  end
end)
