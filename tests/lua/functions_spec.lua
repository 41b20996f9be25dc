-- functions_spec.lua - functions of torch that are no ops: dtypes and shapes that come of others, older constructors, torch.random,
-- torch.testing, and how the ops written in Lua read their arguments.

local torch = require 'torch'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function message_of(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

local function sizes(x) return { table.unpack(torch.is_tensor(x) and x.shape or x) } end

-- Values by mpmath: where terms of a formula cancel each other.
describe('derivatives keep their digits', function()
  it('of sinc about 0', function()
    local points = { 1e-6, 0.0015, 0.05, 0.0999, 0.1001, -0.02 }
    local slopes = { -3.28986813369e-06, -0.00493479124203, -0.164087892968, -0.325431955276, -0.326070561237, 0.0657713905785 }
    for dtype, tolerance in pairs { float32 = 2e-6, float64 = 1e-11 } do
      local x = torch.tensor(points, { dtype = torch[dtype], device = device, requires_grad = true })
      x:sinc():sum():backward()
      local relative = (x.grad:double():cpu() / torch.tensor(slopes, { dtype = torch.float64 }) - 1):abs():max():item()
      assert.is_true(relative < tolerance, ('%s: %g'):format(dtype, relative))
    end
  end)
end)

describe('dtypes and shapes', function()
  it('binary functions promote dtypes and broadcast shapes', function()
    assert.equal(torch.float16, torch.promote_types(torch.int64, torch.float16))
    assert.equal(torch.int16, torch.promote_types(torch.uint8, torch.int8))
    assert.equal(torch.float32, torch.promote_types(torch.float16, torch.bfloat16))
    assert.equal(torch.float32, torch.result_type(torch.ones(2, { dtype = torch.int32 }), 1.5))
    assert.equal(torch.uint8, torch.result_type(torch.ones(2, { dtype = torch.uint8 }), 300))
    assert.equal(torch.float32, torch.result_type(torch.ones(2), torch.ones({}, { dtype = torch.float64 })))
    assert.same({ true, false, false, true }, { torch.can_cast(torch.int8, torch.float16), torch.can_cast(torch.float32, torch.int64),
      torch.can_cast(torch.uint8, torch.bool), torch.can_cast(torch.float64, torch.float16) })
    assert.same({ 4, 2, 3 }, sizes(torch.broadcast_shapes({ 2, 1 }, { 4, 1, 3 }, 1)))
    assert.truthy(message_of(torch.promote_types, 3, torch.int8):find("argument 'type1' must be a dtype", 1, true))
  end)

  it('of empty tensors by strides', function()
    local x = torch.empty_permuted({ 2, 3, 4 }, { 3, 1, 2 }, { device = device })
    assert.same({ { 2, 3, 4 }, { 3, 1, 6 } }, { sizes(x), sizes(x:stride()) })
    assert.truthy(message_of(torch.empty_permuted, { 2, 3 }, { 1, 1 }):find 'Duplicate dim not allowed')
    local y = torch.ones(2, { dtype = torch.int16, device = device }):new_empty_strided({ 2, 2 }, { 1, 2 })
    assert.same({ torch.int16, { 1, 2 } }, { y.dtype, sizes(y:stride()) })
  end)
end)

describe('older constructors', function()
  it('take sizes or numbers', function()
    assert.same({ 2, 3 }, sizes(torch.FloatTensor(2, 3)))
    assert.same({ 1, 2 }, torch.LongTensor({ 1, 2 }):tolist())
    assert.equal(torch.float64, torch.DoubleTensor().dtype)
    assert.equal('torch.IntTensor', torch.typename(torch.IntTensor(1)))
    local x = torch.ones(2, { device = device })
    assert.is_true(rawequal(x, torch.asarray(x)) or torch.asarray(x):data_ptr() == x:data_ptr())
    assert.is_true(torch.asarray(x, { copy = true }):data_ptr() ~= x:data_ptr())
  end)
end)

describe('torch.random', function()
  it('forks: generators are at the end where they were', function()
    torch.manual_seed(1)
    local first = torch.rand(2):tolist()
    torch.manual_seed(1)
    do
      local _ <close> = torch.random.fork_rng()
      torch.rand(100)
    end
    assert.same(first, torch.rand(2):tolist())
    torch.manual_seed(1)
    assert.equal(7, torch.random.fork_rng(function()
      torch.rand(3)
      return 7
    end))
    pcall(torch.random.fork_rng, function() error(torch.rand(1)) end)
    assert.same(first, torch.rand(2):tolist())
  end)
end)

describe('torch.testing', function()
  local assert_close = torch.testing.assert_close

  it('torch.testing reports the largest difference and its index', function()
    local a = torch.tensor({ { 1.0, 2.0 }, { 3.0, 4.0 } }, { device = device })
    assert_close(a, a + 1e-7)
    local message = message_of(assert_close, a, torch.tensor({ { 1.0, 2.0 }, { 3.0, 4.5 } }, { device = device }))
    assert.truthy(message:find('Tensor-likes are not close!\n\nMismatched elements: 1 / 4 (25.0%)\n'
      .. 'Greatest absolute difference: 0.5 at index (2, 2) (up to 1e-05 allowed)', 1, true))
    assert.truthy(message_of(assert_close, torch.tensor { 1, 2 }, torch.tensor { 1, 3 }):find('Tensor-likes are not equal!', 1, true))
  end)

  it('looks at shapes, dtypes, numbers and tables', function()
    assert.truthy(message_of(assert_close, torch.ones(2), torch.ones(3)):find("attribute 'shape' do not match: torch.Size([2]) != torch.Size([3])", 1, true))
    assert.truthy(message_of(assert_close, torch.ones(2), torch.ones(2, { dtype = torch.float64 })):find("attribute 'dtype' do not match", 1, true))
    assert_close(torch.ones(2), torch.ones(2, { dtype = torch.float64 }), { check_dtype = false })
    assert_close(1.0, 1.0 + 1e-9)
    assert_close({ torch.ones(2), x = 3 }, { torch.ones(2), x = 3 })
    assert.truthy(message_of(assert_close, { torch.ones(2) }, { torch.zeros(2) }):find('The failure occurred for item [1]', 1, true))
    -- The relative tolerance is a part of the expected value.
    assert_close(1, 2, { rtol = 0.5, atol = 0 })
    assert.is_false((pcall(assert_close, 2, 1, { rtol = 0.5, atol = 0 })))
    assert_close(torch.tensor { 1.0 }, torch.tensor { 2.0 }, { rtol = 0.5, atol = 0 })
    assert.is_false((pcall(assert_close, torch.tensor { 2.0 }, torch.tensor { 1.0 }, { rtol = 0.5, atol = 0 })))
    assert.truthy(message_of(assert_close, 1, 2, { msg = 'mine' }):find('mine', 1, true))
    assert.truthy(message_of(assert_close, 1, 2, { rtol = 1 }):find('both be specified', 1, true))
    assert_close(torch.tensor { 0 / 0 }, torch.tensor { 0 / 0 }, { equal_nan = true })
    assert.is_false((pcall(assert_close, torch.tensor { 0 / 0 }, torch.tensor { 0 / 0 })))
  end)

  it('makes tensors', function()
    local x = torch.testing.make_tensor(3, 4, { low = 0, high = 1, noncontiguous = true, device = device })
    assert.same({ 3, 4 }, sizes(x))
    assert.is_false(x:is_contiguous())
    assert.is_true(x:ge(0):all():item() and x:le(1):all():item())
    assert.equal(torch.int8, torch.testing.make_tensor(2, { dtype = torch.int8, device = device }).dtype)
  end)
end)

describe('an op written in Lua', function()
  local x = torch.tensor({ 1.0, 4.0, 9.0 }, { device = device })

  it('takes its arguments in a row or by name, as one in C does', function()
    assert.same({ 2 }, torch.diff(x, 2):tolist())
    assert.same({ 2 }, x:diff({ n = 2 }):tolist())
    assert.same({ 3, 5 }, torch.diff({ self = x }):tolist())
    local out = torch.empty(2, { device = device })
    assert.is_true(rawequal(out, torch.diff(x, { out = out })))
    assert.same({ 3, 5 }, out:tolist())
    local parts = torch.permute_copy(torch.ones({ 2, 3, 4 }, { device = device }), 3, 1, 2)
    assert.same({ 4, 2, 3 }, sizes(parts))
  end)

  it('an op written in Lua rejects invalid arguments', function()
    assert.truthy(message_of(torch.lu, 3):find("lu(): argument 'A' must be a Tensor, not a number", 1, true))
    assert.truthy(message_of(torch.lu):find("lu() missing 1 required argument: 'A' (a Tensor)", 1, true))
    assert.truthy(message_of(torch.lu, x, { m = 1 }):find("unexpected keyword argument 'm'", 1, true))
    assert.truthy(message_of(torch.lu, x, true, { pivot = true }):find("got multiple values for argument 'pivot'", 1, true))
    assert.truthy(message_of(torch.masked_sum, x, 0):find('dim 0: positions count from 1', 1, true))
    assert.truthy(message_of(torch.lu, x, true, true, x):find('takes at most 3 positional arguments but 4 were given', 1, true))
  end)

  it('an operation of others rejects invalid arguments, in place too', function()
    assert.truthy(message_of(torch.diff, 3):find("diff(): argument 'self'", 1, true))
    assert.truthy(message_of(torch.diff, x, 1, { n = 1 }):find("got multiple values for argument 'n'", 1, true))
    assert.truthy(message_of(torch.diff, x, 1, 0):find('dim 0: positions count from 1', 1, true))
    local integers = torch.ones(2, { dtype = torch.int64, device = device })
    assert.truthy(message_of(x.deg2rad_, integers):find("result type Float can't be cast to the desired output type Long", 1, true))
    assert.truthy(message_of(x.float_power_, x, 2):find("the base given to float_power_ has dtype torch.float32 but the operation's result", 1, true))
  end)

  it('looks at the lengths that it is given', function()
    local function long(...) return torch.tensor({ ... }, { dtype = torch.long, device = device }) end
    local rows = torch.ones({ 4, 3 }, { device = device })
    assert.truthy(message_of(torch.segment_reduce, rows, 'sum', { lengths = long(5, -1) }):find('lengths contains negative value', 1, true))
    for _, lengths in ipairs { long(1, 2), long(1, 4), long(1, 1 << 40) } do
      assert.truthy(message_of(torch.segment_reduce, rows, 'sum', { lengths = lengths }):find('to sum to data.size(axis), which is 4', 1, true))
    end
    assert.truthy(message_of(torch.segment_reduce, rows, 'sum', { offsets = long(0, 3, 1, 4) }):find('offsets that do not decrease', 1, true))
    assert.same({ 2, 3 }, sizes(torch.segment_reduce(rows, 'sum', { lengths = long(1, 2), unsafe = true })))
    local scores = torch.ones({ 5, 2, 4 }, { device = device }):log_softmax(3)
    local function refused(text, targets, lengths, counts, options)
      local message = message_of(torch.nn.functional.ctc_loss, scores, targets, lengths, counts, options)
      assert(message:find(text, 1, true), message)
    end
    local table_of, row = torch.tensor({ { 2, 3 }, { 3, 4 } }, { device = device }), long(2, 3, 3, 4)
    for _, counts in ipairs { { 2, 3 }, { 2, 1 << 40 } } do refused('according to target_lengths', table_of, { 5, 5 }, counts) end
    for _, counts in ipairs { { 2, 1 }, { 2, 3 } } do refused('the sum of target_lengths, but got 4', row, { 5, 5 }, counts) end
    refused('Expected target_lengths to have value at least 0, but got value -1', row, { 5, 5 }, { 5, -1 })
    refused('Expected input_lengths to have value at least 0, but got value -1', table_of, { 5, -1 }, { 2, 2 })
    refused('abc is not a valid value for reduction', table_of, { 5, 5 }, { 2, 2 }, { reduction = 'abc' })
    local scored = torch.ones(3, { device = device })
    if device == 'cpu' then -- a GPU looks at no values
      assert.truthy(message_of(torch.nn.functional.multilabel_margin_loss, scored, long(1, -5, 2)):find('target out of range', 1, true))
    end
    assert.equal(torch.nn.functional.multilabel_margin_loss(scored, long(1, 0, 3)):item(), torch.nn.functional.multilabel_margin_loss(scored, long(1, 0, 2)):item())
  end)

  it('names the dimensions that there are', function()
    local matrix = torch.ones({ 2, 3 }, { device = device })
    local text = 'Dimension out of range (expected to be in range of [1, 2] or [-2, -1], but got 3)'
    for _, call in ipairs {
      function() torch.diff(matrix, 1, 3) end, function() torch.renorm(matrix, 2, 3, 1) end, function() torch.trapezoid(matrix, { dim = 3 }) end,
      function() torch.slice_scatter(matrix, matrix, 3) end, function() torch.hash_tensor(matrix, 3) end,
      function() torch.gradient(matrix, { dim = 3 }) end, function() torch.fft.fft(matrix, { dim = 3 }) end,
      function() torch.masked.prod(matrix, 3) end, function() torch.linalg.tensorsolve(matrix, matrix, { 3 }) end,
      function() torch.index_reduce(matrix, 3, torch.ones({ 1 }, { dtype = torch.long, device = device }), matrix, 'prod') end,
    } do
      local message = message_of(call)
      assert(message:find(text, 1, true), message)
    end
    assert.truthy(message_of(torch.hash_tensor, matrix, -3):find('but got -3)', 1, true))
    assert.truthy(message_of(torch.linalg.tensorsolve, matrix, matrix, { 1, 1 }):find('dim 1 appears multiple times', 1, true))
  end)

  it('has a form in place where it is declared', function()
    local y = torch.tensor({ 180.0 }, { device = device })
    assert.is_true(rawequal(y, y:deg2rad_()))
    assert.equal(math.pi, math.floor(y:item() * 1e6) / 1e6 > 3.141592 - 1e-6 and math.pi)
  end)
end)
