-- x[key] and x[key] = value: slices whose ends are clamped, keys as strings, tensors written out as tables, and the
-- place of the dimensions that index tensors leave. The figures are PyTorch's.

local torch = require 'torch'
local F = torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function grid() return torch.arange(12, { device = device }):reshape(3, 4) end
local function failure(f)
  local ok, message = pcall(f)
  assert.is_false(ok)
  return tostring(message)
end

describe('a slice', function()
  it('is clamped to the dimension', function()
    local x = grid()
    assert.same(x[{ { 2, 3 } }]:tolist(), x[{ { 2, 9 } }]:tolist())
    assert.same(x[{ { 1, 2 } }]:tolist(), x[{ { -9, 2 } }]:tolist())
    for _, empty in ipairs { { 5, 9 }, { 3, 2 }, { 1, 0 }, { -1, -2 }, { -9, -8 }, { math.maxinteger, math.mininteger } } do
      assert.same({ 0, 4 }, { table.unpack(x[{ empty }].shape) })
    end
    assert.same({ 3, 4 }, { table.unpack(x[{ { math.mininteger, math.maxinteger } }].shape) })
    assert.same({ { 0, 1, 2, 3 } }, x[{ { 1, 3, math.maxinteger } }]:tolist())
    x[{ { 3, 100 }, { 4, 100 } }] = -1
    assert.equal(-1, x[{ 3, 4 }]:item())
  end)

  it('still counts from 1, and goes forward', function()
    local x = grid()
    assert.truthy(failure(function() return x[{ { 0, 2 } }] end):find 'index 0: positions count from 1')
    assert.truthy(failure(function() return x[{ { 1, 2, 0 } }] end):find 'slice step must be positive')
  end)
end)

describe('a key as a string', function()
  it('holds positions, slices with both ends included, steps, dots and new axes', function()
    local x = grid()
    local same = {
      ['-1'] = x[-1], ['2'] = x[2], ['2,'] = x[2], ['1, 2'] = x[{ 1, 2 }], [':, -1'] = x[{ {}, -1 }], ['2:3'] = x[{ { 2, 3 } }],
      ['2:9, :'] = x[{ { 2, 3 }, {} }], ['-2:, 2:3'] = x[{ { 2, 3 }, { 2, 3 } }], [':2'] = x[{ { 1, 2 } }],
      ['::2'] = x[{ { 1, 3, 2 } }], ['1:9:2'] = x[{ { 1, 3, 2 } }], ['..., ::2'] = x[{ '...', { 1, 4, 2 } }],
      ['None, :3'] = x[{ torch.newaxis, { 1, 3 } }], ['newaxis,...,None'] = x[{ torch.newaxis, '...', torch.newaxis }],
      [' 2 : 3 '] = x[{ { 2, 3 } }], ['...'] = x, [':,None,:'] = x[{ {}, torch.newaxis, {} }], ['1:0'] = x[{ { 1, 0 } }],
    }
    for _ = 1, 2 do -- parsed, then remembered
      for key, wanted in pairs(same) do
        assert.same({ table.unpack(wanted.shape) }, { table.unpack(x[key].shape) }, key)
        assert.same(wanted:tolist(), x[key]:tolist(), key)
        assert.equal(wanted:data_ptr(), x[key]:data_ptr(), key)
      end
    end
  end)

  it('assigns', function()
    local x = grid()
    x['2:, ::2'] = -1
    x['..., -1'] = torch.tensor { 7, 8, 9 }
    assert.same({ { 0, 1, 2, 7 }, { -1, 5, -1, 8 }, { -1, 9, -1, 9 } }, x:tolist())
    assert.truthy(failure(function() x[':, 1:2'] = torch.ones(4, { device = device }) end):find 'must match the existing size')
  end)

  it('is remembered for as long as there is room', function()
    local x = torch.arange(1000, { device = device })
    for round = 1, 2 do
      for i = 1, 600 do assert.equal(i - 1, x[('%d:%d'):format(i, i + round)][1]:item()) end
    end
  end)

  it('an invalid string index is an error', function()
    local x = grid()
    for _, key in ipairs { '1.5', '1 2', '.', '..', ',', '- 1', '--1', '1:2:3:4', ':None', '2None' } do
      assert.truthy(failure(function() return x[key] end):find(("invalid index '%s'"):format(key), 1, true), key)
      assert.truthy(failure(function() x[key] = 1 end):find(("invalid index '%s'"):format(key), 1, true), key)
    end
    for key, words in pairs { ['0'] = 'positions count from 1', ['2:0'] = 'positions count from 1', ['::-1'] = 'slice step must be positive',
      [':,:,:'] = 'too many indices', ['...,...'] = "a single '...'", ['4'] = 'out of bounds', [('9'):rep(30)] = 'too large',
      [(':,'):rep(40)] = 'too many indices' } do
      assert.truthy(failure(function() return x[key] end):find(words, 1, true), key)
    end
  end)
end)

describe('positions of every integer dtype', function()
  local F = torch.nn.functional
  local x = torch.arange(12.0, { device = device }):reshape(3, 4)
  local rows = x[{ { 1, 2 } }]
  for name, f in pairs {
    ['[]'] = function(i) return i.dtype == torch.uint8 and x[i:long()] or x[i] end, -- uint8 is a mask
    index_select = function(i) return x:index_select(1, i) end, gather = function(i) return x:gather(1, i:unsqueeze(2)) end,
    take = function(i) return x:take(i) end, take_along_dim = function(i) return torch.take_along_dim(x, i:unsqueeze(2), 1) end,
    scatter = function(i) return x:scatter(1, i:unsqueeze(2), 7) end, scatter_add = function(i) return x:scatter_add(1, i:unsqueeze(2), rows) end,
    index_add = function(i) return x:index_add(1, i, rows) end, index_copy = function(i) return x:index_copy(1, i, rows) end,
    index_fill = function(i) return x:index_fill(1, i, 7) end, put = function(i) return x:put(i, torch.ones(2, { device = device })) end,
    embedding = function(i) return F.embedding(i, x) end, embedding_bag = function(i) return F.embedding_bag(i:unsqueeze(1), x) end,
    nll_loss = function(i) return F.nll_loss(rows, i) end, cross_entropy = function(i) return F.cross_entropy(rows, i) end,
    multi_margin_loss = function(i) return F.multi_margin_loss(rows, i) end, one_hot = function(i) return F.one_hot(i, 4) end,
  } do
    it('count from 1, and 0 is an error: ' .. name, function()
      local expected, refusal
      for _, dtype in ipairs { torch.int64, torch.uint8, torch.int8, torch.int16, torch.int32 } do
        local result = f(torch.tensor({ 3, 1 }, { dtype = dtype, device = device }))
        expected = expected or result
        assert.is_true(result:equal(expected), tostring(dtype))
        if device == 'cpu' then -- a GPU reports it later
          local message = failure(function() f(torch.tensor({ 3, 0 }, { dtype = dtype })) end)
          refusal = refusal or message
          assert.truthy(message:find('count from 1', 1, true), message)
          assert.equal(refusal, message)
        end
      end
    end)
  end
end)

describe('a key of many subscripts', function()
  it('takes 16 positions with a new axis after each, and no more', function()
    local x = torch.arange(65536, { device = device }):reshape(table.unpack(torch.full({ 16 }, 2):tolist()))
    local key, value = {}, 0
    for d = 1, 16 do
      key[2 * d - 1], key[2 * d] = d % 3 == 0 and 2 or 1, torch.newaxis
      value = 2 * value + key[2 * d - 1] - 1
    end
    assert.equal(16, x[key]:dim())
    assert.equal(value, x[key]:item())
    x[key] = -5
    assert.equal(-5, x[key]:item())
    key[33] = torch.newaxis
    assert.truthy(failure(function() return x[key] end):find('too many indices: 33', 1, true))
  end)
end)

describe('index tensors', function()
  local function P(t) return torch.tensor(t, { device = device }) end

  it('may be written out', function()
    local x = grid()
    assert.same({ { { 0, 1, 2, 3 }, { 8, 9, 10, 11 } } }, x[{ { { 1, 3 } } }]:tolist())
    assert.same({ { 1, 5 }, { 9, 9 } }, x[{ { { 1, 2 }, { 3, 3 } }, 2 }]:tolist())
    assert.same({ { 0, 1, 2, 3 }, { 8, 9, 10, 11 } }, x[{ true, false, true }]:tolist())
    assert.same({ { 1, 2 }, { 9, 10 } }, x[{ { true, false, true }, { 2, 3 } }]:tolist())
    x[{ { { 1 }, { 2 } }, { { 1, 2 } } }] = 55
    assert.same({ { 55, 55, 2, 3 }, { 55, 55, 6, 7 }, { 8, 9, 10, 11 } }, x:tolist())
    assert.truthy(failure(function() return x[{ { { 1, 2 }, { 3 } } }] end):find 'expected sequence of length 2')
  end)

  it('follow a mask of several dimensions', function()
    local x = torch.arange(12, { device = device }):reshape(1, 4, 3)
    assert.same({ 5, 8, 11 }, x[{ P { { false, true, true, true } }, P { -1, 3, 3 } }]:tolist())
    x[{ P { { false, true, false, false } }, P { 1, 2 } }] = -7
    assert.same({ -7, -7, 5 }, x[{ 1, 2 }]:tolist())
  end)

  it('of no dimension are positions: the result is a view, and slices keep their place', function()
    local x = torch.arange(24, { device = device }):reshape(2, 3, 4)
    assert.equal(x[2]:data_ptr(), x[P(2)]:data_ptr())
    assert.same({ 3, 2 }, { table.unpack(x[{ P(1), {}, P { 4, 2 } }].shape) })
    assert.same({ { 3, 1 }, { 7, 5 }, { 11, 9 } }, x[{ P(1), {}, P { 4, 2 } }]:tolist())
    assert.same({ 2, 3 }, { table.unpack(x[{ P { 1, 2 }, {}, P { 4, 2 } }].shape) }) -- two with a slice between come first
    assert.truthy(failure(function() return x[P(0)] end):find 'positions count from 1')
    assert.truthy(failure(function() return x[P(3)] end):find 'index 3 is out of bounds for dimension 1 with size 2')
  end)
end)

describe('addition at indices', function()
  local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

  it('adds to the same elements for every stride', function()
    local index = torch.tensor({ 3, 1, 3 }, { device = device })
    local values = torch.rand(600, 3, { device = device })
    local function zeros(...) return torch.zeros(..., { device = device }) end
    local whole = zeros({ 600, 4 }):index_add_(2, index, values)
    assert(torch.equal(zeros({ 4, 600 }):t():index_add_(2, index, values:t():contiguous():t()), whole), 'in columns')
    assert(torch.equal(zeros({ 600, 4, 2 }):select(3, 1):index_add_(2, index, values), whole), 'in every other column')
    local one = values:narrow(1, 1, 1):narrow(2, 1, 1):expand(600, 3)
    assert(torch.equal(zeros({ 600, 4 }):index_add_(2, index, one), zeros({ 600, 4 }):index_add_(2, index, one:contiguous())), 'of one value')
  end)
end)

describe('gather and scatter_add', function()
  local function example(n, size)
    local x, where = torch.rand(3, size, { dtype = torch.float64, device = device }), torch.randint(1, size + 1, { 3, n }, { device = device })
    where[{ 2, n }] = -size -- from the end
    return x, where
  end

  it('find every place, of any number of them', function()
    for _, n in ipairs { 1, 7, 8, 9, 255, 256, 257, 1000 } do
      for _, dtype in ipairs { torch.float64, torch.float32, torch.bfloat16, torch.uint8 } do
        local x, where = example(n, 50)
        x = (x * 100):floor():to(dtype)
        local rows, places = x:tolist(), where:tolist()
        local picked, ones = x:gather(2, where):tolist(), torch.ones(3, n, { dtype = torch.float64, device = device })
        local sums = x:double():scatter_add(2, where, ones):tolist()
        for i = 1, 3 do
          local counts = x[i]:tolist()
          for j = 1, n do
            local place = places[i][j] < 0 and places[i][j] + 51 or places[i][j]
            assert.equal(rows[i][place], picked[i][j])
            counts[place] = counts[place] + 1
          end
          assert.same(counts, sums[i])
        end
      end
    end
  end)

  it('scatter of a scalar refuses a source without elements', function()
    local x, where, none = torch.tensor(0.5, { device = device }), torch.tensor(1, { device = device }), torch.zeros(0, { device = device })
    for _, f in ipairs { torch.scatter, torch.scatter_add, function(a, dim, at, src) return torch.scatter_reduce(a, dim, at, src, 'sum') end } do
      assert.error_matches(function() f(x, 1, where, none) end, 'no larger size than src %[0%]')
    end
  end)

  it('gather and scatter_add accept strided indices', function()
    local x, where = example(300, 50)
    local apart = where:t():contiguous():t()
    assert.is_true(x:gather(2, where):equal(x:gather(2, apart)))
    assert.is_true(x:gather(2, where[{ {}, { 1, 300, 3 } }]):equal(x:gather(2, where)[{ {}, { 1, 300, 3 } }]))
  end)

  if device == 'cpu' then
    it('gather and scatter_add reject an index out of range before they write', function()
      for _, n in ipairs { 1, 8, 9, 300 } do
        for _, bad in ipairs { 0, 51, -51, math.maxinteger, math.mininteger } do
          for _, at in ipairs { 1, n // 2 + 1, n } do
            local x, where = example(n, 50)
            where[{ 3, at }] = bad
            local before = x:clone()
            assert.truthy(failure(function() return x:gather(2, where) end):find 'index %-?%d+')
            assert.truthy(failure(function() return x:scatter_add_(2, where, torch.ones(3, n, { dtype = torch.float64 })) end):find 'index %-?%d+')
            assert.is_true(x:equal(before))
          end
        end
      end
    end)
  end
end)

describe('one value for many elements', function()
  -- Added and multiplied by the loops of elementwise ops, some of which take numbers in another dtype.
  for _, name in ipairs { 'bfloat16', 'float16', 'float32', 'int16' } do
    it('of ' .. name .. ' is added and multiplied as it is', function()
      local dtype, index = torch[name], torch.tensor({ 2, 4, 2 }, { device = device })
      for _, columns in ipairs { 1, 2, 33, 700 } do
        local x = torch.arange(5 * columns, { dtype = torch.float64, device = device }):view(5, columns):remainder(7)
        for _, number in ipairs { 3, -2 } do
          local value = torch.tensor(number, { dtype = dtype, device = device }):expand(3, columns)
          local added, scattered = x:clone(), x:clone()
          for row = 1, 3 do added[index[row]:item()]:add_(number) end
          assert.is_true(torch.equal(added:to(dtype), x:to(dtype):index_add(1, index, value)), ('%d columns'):format(columns))
          for row = 2, 3 do scattered[index[row]:item()]:mul_(number) end
          local places = index:narrow(1, 2, 2):view(2, 1):expand(2, columns)
          assert.is_true(torch.equal(scattered:to(dtype), x:to(dtype):scatter_reduce(1, places, value:narrow(1, 1, 2), 'prod')))
          assert.is_true(torch.equal(added:to(dtype), x:to(dtype):index_put({ index }, value, true)))
        end
      end
    end)
  end

  -- Rows are combined as one; long ones are shared by threads.
  it('adds and writes rows of any width', function()
    for _, width in ipairs { 1, 2, 7, 31, 32, 33, 64, 257, 1000 } do
      local places, values = torch.randint(1, 301, { 3000 }, { device = device }), torch.randint(-9, 10, { 3000, width }, { device = device })
      local which = F.one_hot(places, 300):double():t() -- sums of small integers are exact
      for _, dtype in ipairs { torch.float32, torch.float64, torch.int64 } do
        local added = torch.ones(300, width, { dtype = dtype, device = device }):index_add(1, places, values:to(dtype))
        assert.is_true(torch.equal(which:mm(values:double()) + 1, added:double()), ('%s, %d wide'):format(dtype, width))
        local turned = torch.randperm(3000, { device = device })
        local written = torch.zeros(3000, width, { dtype = dtype, device = device }):index_put({ turned }, values:to(dtype))
        assert.is_true(torch.equal(values:to(dtype), written:index_select(1, turned)), ('%s, %d wide'):format(dtype, width))
      end
    end
  end)

  -- Few elements are counted in tables, of which each thread has two.
  it('counts many indices as it adds their numbers one by one', function()
    for _, size in ipairs { 1, 2, 999, 4096, 5000 } do
      for _, n in ipairs { 7, 4001, 300001 } do
        local index = torch.randint(1, size + 1, { n }, { device = device })
        local either = torch.where(torch.rand(n, { device = device }):gt(0.5), index, -index)
        local start = torch.arange(1, size + 1, { device = device })
        local one_by_one = start:scatter_add(1, either, torch.full({ n }, 3, { dtype = torch.int64, device = device }))
        assert.is_true(torch.equal(one_by_one, start:scatter(1, either, 3, { reduce = 'add' })), ('%d of %d'):format(n, size))
        assert.is_true(torch.equal(torch.zeros(size, { dtype = torch.int64, device = device }):scatter_add(1, index, torch.ones_like(index)), index:bincount { minlength = size }))
      end
    end
  end)

  it('leaves a scalar as it is without indices, and holds the widest numbers', function()
    local none = torch.empty(0, { dtype = torch.int64, device = device })
    assert.equal(7, torch.tensor(7, { device = device }):index_fill(1, none, 2):item())
    local z = torch.zeros(3, { dtype = torch.complex128, device = device })
    local filled = z:scatter(1, torch.tensor({ 2 }, { device = device }), torch.complex(1, 2)):cpu()
    assert.is_true(torch.equal(filled, torch.tensor { 0, torch.complex(1, 2), 0 }:to(torch.complex128)))
  end)

  it('counts nothing where an index is out of range', function()
    local index, counts = torch.randint(1, 1000, { 300000 }), torch.zeros(999, { dtype = torch.int64 })
    index[299999] = 1000
    assert.has_error(function() counts:scatter_(1, index, 1, { reduce = 'add' }) end, 'index 1000 is out of bounds for dimension 1 with size 999')
    assert.equal(0, counts:sum():item())
  end)
end)
