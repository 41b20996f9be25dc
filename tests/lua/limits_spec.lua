-- Sizes, counts and positions at the ends of what an integer holds: an error that says so, never a crash, a hang or
-- memory that is too small. And what a script reaches of torch._C: as safe as the rest.
local torch = require 'torch'
local F = require 'torch.nn.functional'
local nn = torch.nn

local HUGE = 2 ^ 62 | 0
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

-- f fails with a message that contains `words`.
local function refused(words, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  assert.truthy(tostring(message):find(words, 1, true), ('%q lacks %q'):format(tostring(message), words))
end

describe('sizes that no memory holds', function()
  it('are refused when a tensor is made, also when they are factors of an empty one', function()
    refused('Storage size calculation overflowed with sizes=[4294967296, 4294967296, 1]', torch.empty, 2 ^ 32 | 0, 2 ^ 32 | 0, 1)
    refused('Storage size calculation overflowed', torch.empty, HUGE, HUGE, 0)
    refused('Storage size calculation overflowed', torch.empty, 0, HUGE, HUGE)
    refused('Storage size calculation overflowed', function() return torch.zeros(0):view(0, HUGE, HUGE) end)
    assert.equal(0, torch.empty(2 ^ 61 | 0, 0):numel())
  end)

  -- UBSan looks at how far apart in bytes the elements would be.
  it('stand beside a size of 0, and nothing goes that far', function()
    local x = torch.zeros({ 0, 2 ^ 61 | 0 }, { device = device, dtype = torch.int64 })
    assert.same({ 0 }, { table.unpack(x:sum(2).shape) })
    assert.same({ 0, 2 ^ 61 | 0 }, { table.unpack((x + 1).shape) })
    assert.equal(0, #x:nonzero())
    assert.same({ 0, 2 ^ 61 | 0 }, { table.unpack(F.one_hot(torch.arange(1, 1, { device = device }), 2 ^ 61 | 0).shape) })
    assert.same({ 0, 2 ^ 61 | 0 }, { table.unpack(x:cumsum(1).shape) })
    refused('out of bounds', function() return torch.zeros(3)[math.mininteger] end)
    refused('out of bounds', function() torch.zeros(3)[math.mininteger] = 1 end)
  end)

  it('are refused by ops that compute a size', function()
    refused('overflowed', torch.triu_indices, 4, HUGE)
    refused('overflowed', torch.tril_indices, HUGE, 3)
    refused('overflowed', F.pad, torch.ones(1, 1, 3), { 2 ^ 61 | 0, 0 }, 'replicate')
    refused('overflowed', F.pad, torch.ones(1, 1, 3), { math.maxinteger, math.maxinteger })
    refused('overflowed', function() return torch.ones(3):diag_embed(math.maxinteger) end)
    refused('overflowed', function() return torch.ones(3):repeat_interleave(math.maxinteger) end)
    refused('overflowed', function() return torch.ones(3):tile { HUGE } end)
  end)

  it('are refused by ops that make lists', function()
    refused('out of memory', torch.tensor_split, torch.ones(3), HUGE)
    refused('out of memory', torch.chunk, torch.ones(3, 0), HUGE, 2)
    refused('out of memory', function() return torch.zeros(2 ^ 61 | 0, 0):unbind(1) end)
    refused('out of memory', function() return torch.zeros(2 ^ 61 | 0, 0):split(1) end)
  end)

  it('are refused by interpolate, before it looks for positions', function()
    refused('value cannot be converted to type int64_t without overflow', F.interpolate, torch.ones(1, 1, 3), { scale_factor = 1e300 })
    refused('value cannot be converted to type int64_t without overflow', F.interpolate, torch.ones(1, 1, 3), { scale_factor = 0 / 0 })
    refused('overflowed', F.interpolate, torch.ones(1, 1, 3), { scale_factor = 2 ^ 61 })
    refused('greater than 0', F.interpolate, torch.ones(1, 1, 3), { scale_factor = -2 })
    refused('out of memory', F.interpolate, torch.ones(1, 1, 3, 1), { size = { 2 ^ 42 | 0, 1 } }) -- the positions' lists, more than any machine has
    assert.same({ 1, 1, 6 }, { table.unpack(F.interpolate(torch.ones(1, 1, 3), { scale_factor = 2 }).shape) })
  end)

  it('are not walked through by local_response_norm', function()
    assert.is_true(torch.allclose(F.local_response_norm(torch.ones(1, 3, 2), 2 ^ 53 | 0), torch.ones(1, 3, 2)))
  end)

  it('combinations that exceed memory are errors before they are counted', function()
    refused('combinations', torch.combinations, torch.ones(3), 2 ^ 53 | 0, true)
    refused('out of memory', torch.combinations, torch.ones(1), HUGE, true)
    assert.same({ 0, 5 }, { table.unpack(torch.combinations(torch.ones(3), 5).shape) })
  end)
end)

describe('positions of triangles', function()
  it('tril_indices and triu_indices agree with tril and triu', function()
    for _, case in ipairs { { 3, 4, 0 }, { 3, 4, 1 }, { 3, 4, -1 }, { 4, 3, 2 }, { 4, 3, -2 }, { 5, 2, -3 }, { 0, 3, 0 },
      { 2, 0, 1 }, { 3, 3, 7 }, { 3, 3, -7 }, { 1, 1, 0 }, { 7, 3, -1 } } do
      local rows, columns, offset = table.unpack(case)
      local ones = torch.ones(rows, columns)
      assert.is_true(torch.equal(torch.tril_indices(rows, columns, offset), torch.nonzero(ones:tril(offset)):t()))
      assert.is_true(torch.equal(torch.triu_indices(rows, columns, offset), torch.nonzero(ones:triu(offset)):t()))
    end
  end)

  it('are found at once where there are none', function()
    assert.equal(0, torch.tril_indices(HUGE, 3, math.mininteger):numel())
    assert.equal(0, torch.triu_indices(HUGE, 3, math.maxinteger):numel())
    assert.equal(0, torch.tril_indices(HUGE, 0):numel())
  end)
end)

describe('diagonals of a tall matrix', function()
  it('are filled one after the other', function()
    local x = torch.zeros(300001, 1, { device = device }):fill_diagonal_(1, true)
    assert.equal(150001, x:sum():item())
    assert.same({ 1, 0, 1 }, x:flatten():narrow(1, 299999, 3):tolist())
    assert.equal(0, torch.zeros(2 ^ 40 | 0, 0, { device = device }):fill_diagonal_(1, true):numel())
  end)
end)

describe('parts', function()
  local function lengths(parts)
    local list = {}
    for i, part in ipairs(parts) do list[i] = part:size(1) end
    return list
  end

  it('split parts have the requested sizes', function()
    local x = torch.arange(7)
    assert.same({ 3, 2, 2 }, lengths(torch.tensor_split(x, 3)))
    assert.same({ 1, 1, 1, 0 }, lengths(torch.tensor_split(x:narrow(1, 1, 3), 4)))
    assert.same({ 3, 3, 1 }, lengths(x:split(3)))
    assert.same({ 2, 4, 1 }, lengths(x:split { 2, 4, 1 }))
    assert.same({ 3, 3, 1 }, lengths(x:chunk(3)))
    assert.same({ 7 }, lengths(x:split(math.maxinteger)))
    assert.equal(3, x:split { 2, 4, 1 }[2][1]:item() + 1)
  end)

  it('of any sizes need a sum that is a number', function()
    refused('sum exactly', function() return torch.arange(3):split { math.maxinteger, math.maxinteger, 5 } end)
  end)
end)

describe('integers in a range', function()
  it('are drawn from all of int64', function()
    torch.manual_seed(1)
    local x = torch.randint(math.mininteger, math.maxinteger, { 1000 })
    assert.is_true(x:min():item() < -(2 ^ 62) and x:max():item() > 2 ^ 62)
    local y = torch.zeros(1000, { dtype = torch.int64 }):random_(math.mininteger, math.maxinteger)
    assert.is_true(y:min():item() < -(2 ^ 62) and y:max():item() > 2 ^ 62)
    assert.equal(8, torch.randint_like(torch.zeros(8, { dtype = torch.int64 }), math.mininteger, math.maxinteger):numel())
  end)

  it('keep their lowest digits beyond 2^53', function()
    local low = 2 ^ 53 | 1
    for _, value in ipairs(torch.randint(low, low + 2, { 64 }):tolist()) do
      assert.is_true(value == low or value == low + 1)
    end
  end)

  it('must fit the dtype', function()
    refused('to - 1 is out of bounds for signed char', torch.randint, 0, 300, { 3 }, { dtype = torch.int8 })
    refused('from is out of bounds for unsigned char', torch.randint, -1, 3, { 3 }, { dtype = torch.uint8 })
    refused('to - 1 is out of bounds for short', function() torch.zeros(3, { dtype = torch.int16 }):random_(0, 2 ^ 15 + 1 | 0) end)
    assert.equal(3, torch.randint(-128, 128, { 3 }, { dtype = torch.int8 }):numel())
    assert.equal(3, torch.randint(0, 2, { 3 }, { dtype = torch.bool }):numel())
  end)
end)

describe('division of integers', function()
  it('does not trap where the quotient does not fit', function()
    local least, minus_one = torch.tensor { math.mininteger }, torch.tensor { -1 }
    assert.equal(0, torch.remainder(least, minus_one):item())
    assert.equal(0, torch.fmod(least, minus_one):item())
    assert.equal(math.mininteger, torch.floor_divide(least, minus_one):item())
  end)

  it('by zero is an error', function()
    for _, op in ipairs { 'remainder', 'fmod', 'floor_divide' } do
      refused('ZeroDivisionError', torch[op], torch.tensor { 1, 2 }, torch.tensor { 1, 0 })
    end
  end)
end)

describe('index_put without an index', function()
  it('index_put without an index writes all elements after earlier calls', function()
    local other = torch.zeros(5)
    other[torch.tensor { 5 }] = 1 -- leaves offsets behind
    local x = torch.zeros(2, 3)
    x:index_put_({}, torch.tensor { 7., 8, 9 })
    assert.same({ { 7, 8, 9 }, { 7, 8, 9 } }, x:tolist())
    x:index_put_({}, torch.ones(3), true)
    assert.same({ { 8, 9, 10 }, { 8, 9, 10 } }, x:tolist())
    x:t():index_put_({}, torch.tensor { 1., 2 })
    assert.same({ { 1, 1, 1 }, { 2, 2, 2 } }, x:tolist())
  end)
end)

describe('multinomial', function()
  it('multinomial rejects invalid probabilities, with and without replacement', function()
    for _, bad in ipairs { -1, 0 / 0, 1 / 0 } do
      for _, replacement in ipairs { true, false } do
        for _, where in ipairs { 'cpu', device } do
          assert.has_error(function() torch.multinomial(torch.tensor({ 1., 1., bad }, { device = where }), 2, replacement) end)
        end
      end
    end
  end)

  it('draws the numbers of PyTorch without replacement', function()
    torch.manual_seed(0)
    assert.same({ { 3, 4, 2 }, { 3, 1, 2 } },
      torch.multinomial(torch.tensor { { 1., 1, 3, 4 }, { 4., 3, 2, 0 } }, 3):tolist())
  end)
end)

describe('as_strided', function()
  it('as_strided rejects offsets beyond any memory, also without elements', function()
    for _, offset in ipairs { -1, 1 << 61, math.maxinteger } do
      refused('invalid storage offset', torch.as_strided, torch.ones(3), { 0 }, { 1 }, offset)
    end
    assert.equal(5, torch.as_strided(torch.ones(3), { 0 }, { 1 }, 5):storage_offset())
  end)
end)

describe('mvlgamma', function()
  it('mvlgamma rejects every p below 1', function()
    for _, p in ipairs { 0, -1, math.mininteger } do
      refused('p has to be greater than or equal to 1', torch.mvlgamma, torch.ones(2), p)
    end
  end)
end)

describe('torch._C', function()
  it('refuses arguments of another kind than its callers pass', function()
    refused('batch_leave(): no vmap is active', torch._C.batch_leave, torch.ones(3))
    refused('sparse', torch._C._sparse_like, torch.ones(3), torch.ones(3))
    refused('number expected', torch._C.result_type, { torch.ones(1) })
    refused('number expected', torch._C.result_type, torch.ones(1))
    refused('must be a table', torch._C.first_worker, torch.ones(1), 1)
    refused('must be a table', torch._C.store_outs, 'f', 'x', torch.ones(1))
    refused('must be a table', debug.getmetatable(torch.ones(1).shape).__index, 'abc', -1)
    refused('types and missing must be tables', torch._C.read_csv, '/dev/null', { separator = ',' })
    refused('vmap level -3, expected 0 to 0', torch._C.batch_show_below, torch.ones(1), -3)
    refused('vmap level 1, expected 0 to 0', torch._C.batch_hide_below, torch.ones(1), 1)
    refused('no vmap is active', torch._C.batch_hide, torch.ones(0, 9), 0)
    refused('no vmap is active', torch._C.batch_show, torch.ones(1), 0)
    torch.func.vmap(function(x)
      refused('vmap level 6, expected 0 to 0', torch._C.batch_hide, x, 6)
      return x
    end)(torch.ones(2, 3))
    refused('out of range for a size of 1 dim', function() return torch.ones(1).shape[math.mininteger] end)
    local endless = setmetatable({}, { __len = function() return math.maxinteger end })
    assert.is_nil(torch._C.first_worker(endless, 0))
    refused('non-empty inputs', torch.autograd.grad, torch.ones(1), endless)
    refused('does not support `nil`', torch.optim.lr_scheduler.ChainedScheduler, endless)
    assert.equal(0, #nn.Sequential(endless))
  end)

  it('makes objects with the metatables of classes alone', function()
    refused("the metatable of a class's objects", torch._C.new_object, getmetatable(torch.ones(1)), {})
    refused("the metatable of a class's objects", torch._C.new_object, getmetatable(io.stdout), {})
    refused("the metatable of a class's objects", torch._C.new_object, {}, {})
    assert.truthy(torch._C.new_object(getmetatable(nn.ReLU()), {}))
  end)
end)

describe('a module that contains itself', function()
  local function ring(depth)
    local top = nn.Module()
    local module = top
    for _ = 2, depth do
      module.part = nn.Module()
      module = module.part
    end
    module.back = top
    return top
  end

  it('a module that contains itself is an error in every traversal', function()
    for depth = 1, 3 do
      local m = ring(depth)
      for _, method in ipairs { 'state_dict', 'parameters', 'buffers', 'modules', 'train', 'eval', 'zero_grad', 'double' } do
        refused('Module contains itself: ', m[method], m)
      end
      refused('contains itself', m.load_state_dict, m, {})
      refused('contains itself', m.to, m, torch.float64)
      refused('contains itself', m.apply, m, function() end)
      refused('contains itself', tostring, m)
      refused('contains itself', nn.parallel.replicate, m, { 'cpu' })
    end
    refused("'part.part.back' is the module itself", function() ring(3):state_dict() end)
  end)

  it('is not one that appears twice', function()
    local m, shared = nn.Module(), nn.Linear(1, 1)
    m.a, m.b = shared, nn.Sequential(shared)
    assert.equal(2, #m:parameters())
    assert.equal(4, #m:state_dict())
  end)
end)
