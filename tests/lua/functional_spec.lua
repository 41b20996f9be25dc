-- What functions of torch.nn.functional do besides returning a result: running statistics, modes, tables.

local torch = require 'torch'
local F = torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function tensor(data, options)
  options = options or {}
  options.device = options.device or device
  return torch.tensor(data, options)
end

local function close(got, want, tolerance)
  assert.is_true(torch.allclose(got:cpu(), want:cpu(), 1e-5, tolerance or 1e-6), tostring(got) .. '\n' .. tostring(want))
end

describe('batch_norm', function()
  it('moves the running statistics on, by the unbiased variance', function()
    local x = tensor { { 1.0, 2.0 }, { 3.0, 8.0 }, { 5.0, 5.0 } }
    local mean, var = torch.zeros(2, { device = device }), torch.ones(2, { device = device })
    F.batch_norm(x, mean, var, nil, nil, true, 0.25)
    close(mean, tensor { 0.75, 1.25 })
    close(var, tensor { 0.75 + 0.25 * 4, 0.75 + 0.25 * 9 })
    F.batch_norm(x, mean, var, { training = false })
    close(mean, tensor { 0.75, 1.25 })
  end)

  it('keeps running statistics of a half type in it', function()
    local x = tensor({ { 1.0, 2.0 }, { 3.0, 8.0 } }, { dtype = torch.bfloat16 })
    local mean = torch.zeros(2, { device = device, dtype = torch.bfloat16 })
    local var = torch.ones(2, { device = device, dtype = torch.bfloat16 })
    F.batch_norm(x, mean, var, nil, nil, true, 0.5)
    close(mean:float(), tensor { 1.0, 2.5 })
    close(var:float(), tensor { 1.5, 9.5 })
  end)

  it('batch_norm detects a change of a saved tensor', function()
    local x = torch.randn(4, 3, { device = device, requires_grad = true })
    local w = torch.ones(3, { device = device, requires_grad = true })
    local y = F.batch_norm(x, nil, nil, w, nil, true)
    torch.no_grad(function() w:mul_(2) end)
    assert.has_error(function() y:sum():backward() end)
  end)

  it('batch_norm normalizes long rows with a large mean', function()
    for _, n in ipairs { 1024, 4097, 20003 } do
      local x = (torch.randn({ 2, n }, { dtype = torch.float64, device = device }) + 1000):float()
      local wanted, got = F.layer_norm(x:double(), { n }), F.layer_norm(x, { n })
      assert.is_true((got:double() - wanted):abs():max():item() < 1e-3, n)
      local smaller = F.layer_norm((x - 1000):bfloat16(), { n }):double()
      assert.is_true((smaller - F.layer_norm((x - 1000):bfloat16():double(), { n })):abs():max():item() < 0.02, n)
    end
  end)

  it('agrees with layer_norm over many elements, in both directions', function()
    torch.manual_seed(4)
    local x = torch.randn(300, 40, { device = device, requires_grad = true })
    local y = torch.randn(300, 40, { device = device })
    local a = F.layer_norm(x, 40)
    a:mul(y):sum():backward()
    local by_rows = x.grad:clone()
    x.grad = nil
    local b = F.batch_norm(x:t(), nil, nil, nil, nil, true):t()
    b:mul(y):sum():backward()
    close(a, b, 1e-5)
    close(by_rows, x.grad, 1e-5)
    x.grad = nil
    local c = F.batch_norm(x:reshape(1, 300, 40), nil, nil, nil, nil, true)[1]
    c:mul(y):sum():backward()
    close(a, c, 1e-5)
    close(by_rows, x.grad, 1e-5)
  end)
end)

describe('instance_norm', function()
  it('moves the running statistics by the mean over entries', function()
    local x = tensor { { { 1.0, 3.0 }, { 0.0, 2.0 } }, { { 5.0, 7.0 }, { 2.0, 8.0 } } }
    local mean, var = torch.zeros(2, { device = device }), torch.ones(2, { device = device })
    F.instance_norm(x, mean, var, { momentum = 0.5 })
    close(mean, tensor { 2.0, 1.5 })
    close(var, tensor { 0.5 + 0.5 * 2, 0.5 + 0.5 * 10 })
  end)
end)

describe('invalid arguments of normalization', function()
  local x = torch.ones(2, 3, { device = device })
  local function refuses(message, f, ...)
    local ok, error = pcall(f, ...)
    assert.is_false(ok)
    assert(tostring(error):find(message, 1, true), tostring(error))
  end
  it('is an error', function()
    refuses("not implemented for 'Long'", F.layer_norm, tensor { 1, 2 }, 2)
    refuses('running_mean must be defined in evaluation mode', F.batch_norm, x)
    refuses('mixed dtype', F.layer_norm, x, 3, torch.ones(3, { device = device, dtype = torch.bfloat16 }))
    refuses('Expected more than 1 spatial element', F.instance_norm, x:unsqueeze(3))
  end)
end)

-- PyTorch's numbers for seed 5, on the CPU.
describe('noise #cpu', function()
  if device ~= 'cpu' then return end
  local x = torch.arange(1.0, 12.5):reshape(2, 3, 2)
  local function draws(name, values, f)
    it('of ' .. name .. " is PyTorch's", function()
      torch.manual_seed(5)
      close(f():flatten(), tensor(values), 1e-5)
    end)
  end
  draws('dropout1d', { 0.0, 0.0, 6.0, 8.0, 10.0, 12.0 }, function() return F.dropout1d(x[1]) end)
  draws('dropout2d', { 0.0, 0.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 0.0, 0.0 }, function() return F.dropout2d(x) end)
  draws('dropout3d', { 0.0, 0.0, 0.0, 0.0, 10.0, 12.0, 14.0, 16.0 }, function()
    return F.dropout3d(torch.arange(1.0, 8.5):reshape(2, 2, 2, 1))
  end)
  draws('alpha_dropout', { -0.77919, 2.552, 3.43841, 4.32481, 5.21122, -0.77919, -0.77919, -0.77919, -0.77919, 9.64324,
    10.52965, 11.41605 }, function() return F.alpha_dropout(x, 0.5, true) end)
  draws('feature_alpha_dropout', { -0.77919, -0.77919, 3.43841, 4.32481, 5.21122, 6.09762, 6.98403, 7.87043, 8.75684,
    9.64324, -0.77919, -0.77919 }, function() return F.feature_alpha_dropout(x, 0.5, true) end)
  draws('rrelu', { -1.29377, -0.71646, -0.60052, -0.38131, -0.18044, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 }, function()
    return F.rrelu(x - 6, { training = true })
  end)
  draws('gumbel_softmax', { 0.0026, 0.06272, 0.14833, 0.78635, 0.06692, 0.02078, 0.26788, 0.64441, 0.0012, 0.0253, 0.16397,
    0.80953 }, function() return F.gumbel_softmax(x:reshape(3, 4), 0.7) end)
  draws('gumbel_softmax, hard', { 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 }, function()
    return F.gumbel_softmax(x:reshape(3, 4), { tau = 0.7, hard = true })
  end)
end)

describe('noise', function()
  it('in place writes its input and returns it', function()
    local x = torch.ones(50, { device = device })
    for _, name in ipairs { 'dropout', 'alpha_dropout', 'rrelu' } do
      local y = x:clone()
      assert.is_true(F[name](y, name == 'rrelu' and { inplace = true } or { training = true, inplace = true }) == y)
    end
  end)

  it('feature dropout drops whole channels and scales the others', function()
    local y = F.dropout2d(torch.ones(20, 30, 2, 2, { device = device }), 0.25)
    assert.is_true(torch.equal(y:amin { 3, 4 }, y:amax { 3, 4 }))
    assert.is_true(y:gt(0):float():mean():item() > 0.6)
    assert(math.abs(y:max():item() - 4 / 3) < 1e-6)
  end)

  it('rrelu draws slopes between its bounds, and its derivative is the slope', function()
    local x = torch.full({ 200 }, -1.0, { device = device, requires_grad = true })
    local y = F.rrelu(x, 0.2, 0.3, true)
    assert.is_true(y:le(-0.2):all():item() and y:ge(-0.3):all():item())
    y:sum():backward()
    close(x.grad, -y:detach())
  end)

  it('of gumbel_softmax makes a one-hot with the derivative of the soft sample', function()
    local x = torch.randn(4, 6, { device = device, requires_grad = true })
    local y = F.gumbel_softmax(x, { hard = true })
    close(y:sum(2):detach(), torch.ones(4, { device = device }))
    y:mul(torch.arange(6, { device = device }):float()):sum():backward()
    assert.is_true(x.grad:abs():sum():item() > 0)
  end)
end)

describe('embedding', function()
  it('shortens the rows that it looks up, for good', function()
    local w = tensor { { 3.0, 4.0 }, { 0.3, 0.4 }, { 6.0, 8.0 } }
    F.embedding(tensor { 1, 2, 1 }, w, { max_norm = 1.0 })
    close(w, tensor { { 0.6, 0.8 }, { 0.3, 0.4 }, { 6.0, 8.0 } }, 1e-5)
  end)

  it('embedding counts positions from 1 and rejects 0', function()
    local w = torch.ones(3, 2, { device = device })
    local ok, message = pcall(F.embedding_bag, tensor { 1, 2 }, w, torch.tensor { 1, 4 })
    if device == 'cpu' then
      assert(not ok and message:find('offsets[2] is 4', 1, true), message)
      ok, message = pcall(F.embedding_bag, tensor { 1, 2 }, w, tensor { 2, 2 })
      assert(not ok and message:find('offsets[1] has to be 1', 1, true), message)
    end
    ok, message = pcall(F.embedding, tensor { 1, 2 }, w, { padding_idx = 0 })
    assert(not ok and message:find('positions count from 1', 1, true), message)
    ok, message = pcall(F.embedding, tensor { 1, 2 }, w, { padding_idx = 4 })
    assert(not ok and message:find('padding_idx must be within', 1, true), message)
  end)
end)

describe('attention', function()
  -- More than a block of queries and of keys, beside the formula.
  local function agrees(name, options, formula_mask)
    it('over many blocks is that of the whole matrix' .. name, function()
      torch.manual_seed(2)
      local function make(length) return torch.randn(1, 2, length, 8, { device = device, requires_grad = true }) end
      local q, k, v = make(300), make(300), make(300)
      local up = torch.randn(1, 2, 300, 8, { device = device })
      local scores = q:matmul(k:transpose(-2, -1)) / math.sqrt(8)
      if formula_mask then scores = scores:masked_fill(formula_mask:logical_not(), -math.huge) end
      local want = scores:softmax(-1):matmul(v)
      want:mul(up):sum():backward()
      local grads = { q.grad, k.grad, v.grad }
      q.grad, k.grad, v.grad = nil, nil, nil
      local got = F.scaled_dot_product_attention(q, k, v, options)
      close(got, want, 1e-5)
      got:mul(up):sum():backward()
      for i, x in ipairs { q, k, v } do close(x.grad, grads[i], 2e-5) end
    end)
  end
  local lower = torch.ones(300, 300, { device = device }):tril():bool()
  agrees('', {})
  agrees(', causal', { is_causal = true }, lower)
  local band = lower:logical_and(torch.ones(300, 300, { device = device }):triu(-40):bool())
  agrees(', by a mask', { attn_mask = band }, band)

  it('attention accepts strided rows', function()
    local x = torch.randn(2, 5, 3, 4, { device = device }) -- [n, length, heads, width]
    local q = x:transpose(2, 3)
    close(F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q:contiguous(), q:contiguous(), q:contiguous()))
  end)

  it('with dropout keeps the mean', function()
    torch.manual_seed(1)
    local q, v = torch.zeros(1, 64, 8, { device = device }), torch.ones(1, 400, 8, { device = device })
    local y = F.scaled_dot_product_attention(q, torch.zeros(1, 400, 8, { device = device }), v, { dropout_p = 0.5 })
    assert(math.abs(y:mean():item() - 1) < 0.05)
  end)
end)

describe('gaussian_nll_loss', function()
  it('takes a number as the variance, which does not decide the dtype', function()
    local half = F.gaussian_nll_loss(tensor(6.0, { dtype = torch.float16 }), tensor(5.0, { dtype = torch.float16 }), 2.5)
    assert.equal(torch.float16, half.dtype)
    local single = F.gaussian_nll_loss(tensor(6.0), tensor(5.0), 2.5)
    assert.equal(torch.float32, single.dtype)
    close(single, tensor(0.6581453659))
    assert.equal(torch.float32, F.gaussian_nll_loss(tensor(6, { dtype = torch.int16 }), tensor(5, { dtype = torch.int16 }), 2.5).dtype)
  end)
end)

describe('scaled_dot_product_attention', function()
  it('of queries without features is the mean of the values', function()
    local values = torch.arange(3.0):view(1, 3, 1):to(device)
    close(F.scaled_dot_product_attention(torch.zeros(1, 2, 0, { device = device }), torch.zeros(1, 3, 0, { device = device }), values), torch.ones(1, 2, 1))
  end)
end)

describe('sum_to_size', function()
  it('of a bool to no dimensions is an integer', function()
    assert.equal(torch.int64, torch.tensor(true, { device = device }):sum_to_size({}).dtype)
  end)
end)

describe('of integers', function()
  it('index_add takes the whole part of alpha', function()
    local x = tensor({ 5, 4 }, { dtype = torch.int8 })
    local sum = x:index_add(1, tensor { 1, 2 }, tensor({ -2, 2 }, { dtype = torch.int8 }), { alpha = 2.5 })
    assert.same({ 1, 8 }, sum:tolist())
  end)

  it('logspace of integers goes by powers of double', function()
    assert.same({ 1000, 0 }, torch.logspace(-1, 2.5, 2, 0.001, { dtype = torch.int64, device = device }):tolist())
    assert.same({ 999999999, 9999, 0, 0 }, torch.logspace(-3, 2, 4, 0.001, { dtype = torch.int32, device = device }):tolist())
  end)

  it('one step of logspace begins at the whole power', function()
    assert.same({ 316 }, torch.logspace(2.5, 0, 1, { dtype = torch.int64, device = device }):tolist())
    assert.same({ 1000 }, torch.logspace(-1, 1, 1, 0.001, { dtype = torch.int64, device = device }):tolist())
  end)
end)

describe('var and std', function()
  it('var and std without elements are nan for every correction', function()
    local nothing = torch.zeros(0, 2, { device = device })
    assert.is_true(torch.std(nothing, { correction = -1 }):isnan():item())
    assert.is_true(torch.var(nothing, 1, { correction = -2 }):isnan():all():item())
  end)
end)

describe('a gradient of an activation', function()
  it('goes on at nan, where the gradient of an infinite or nan input is not lost', function()
    local F, nan = torch.nn.functional, 0 / 0
    for name, slope in pairs { relu = 1, relu6 = 1, hardtanh = 1, leaky_relu = 0.01, threshold = 1, hardshrink = 1, softshrink = 1,
      elu = 1, celu = 1, selu = 1.0507009873554805 } do
      for _, n in ipairs { 1, 40 } do
        local x = torch.full({ n }, nan, { requires_grad = true, device = device })
        local y = name == 'threshold' and F.threshold(x, 0, 0) or F[name](x)
        y:backward(torch.full({ n }, 3.0, { device = device }))
        assert.near(3 * slope, x.grad[n]:item(), 1e-6, name)
      end
    end
  end)

  it('the derivative at nan is nan for slopes with an exponential, for every length', function()
    local F, nan = torch.nn.functional, 0 / 0
    for _, name in ipairs { 'silu', 'mish', 'softplus', 'gelu', 'logsigmoid' } do
      for _, n in ipairs { 1, 40 } do
        local x = torch.full({ n }, nan, { requires_grad = true, device = device })
        F[name](x):sum():backward()
        assert.is_true(x.grad:isnan():all():item(), name)
      end
    end
  end)
end)

describe('padding with elements of the tensor', function()
  local F = torch.nn.functional
  local sources = {
    reflect = function(p, n) return p < 0 and -p or p < n and p or 2 * (n - 1) - p end,
    replicate = function(p, n) return math.min(math.max(p, 0), n - 1) end,
    circular = function(p, n) return p % n end,
  }

  -- Every position looked up, a dimension after the other; amounts as pad takes them.
  local function looked_up(x, amounts, mode)
    for i = 1, #amounts // 2 do
      local d, places = x.ndim + 1 - i, {}
      local n = x:size(d)
      for p = -amounts[2 * i - 1], n + amounts[2 * i] - 1 do places[#places + 1] = sources[mode](p, n) + 1 end
      x = x:index_select(d, torch.tensor(places, { device = device }))
    end
    return x
  end

  it('finds them along one to three dimensions, of elements of any size', function()
    for mode in pairs(sources) do
      for _, dtype in ipairs { torch.uint8, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128 } do
        for _, width in ipairs { 3, 16, 67 } do
          local x = torch.randint(0, 100, { 2, 3, 4, 5, width }, { device = device }):to(dtype)
          local amounts = { 2, 1, 0, 3, 1, 2 }
          assert.is_true(F.pad(x, amounts, { mode = mode }):equal(looked_up(x, amounts, mode)), mode)
          local image = x[1]
          assert.is_true(F.pad(image, { 0, 2, 1, 0 }, { mode = mode }):equal(looked_up(image, { 0, 2, 1, 0 }, mode)), mode)
          local lines = x[{ 1, 2 }]
          assert.is_true(F.pad(lines, { 1, 2 }, { mode = mode }):equal(looked_up(lines, { 1, 2 }, mode)), mode)
        end
      end
    end
  end)

  it('padding gives the same result for every offset, row length and number of threads', function()
    local threads = torch.get_num_threads()
    for mode in pairs(sources) do
      local x = torch.rand(40, 3, 61, 59, { device = device })
      local apart = x:permute(1, 3, 4, 2):contiguous():permute(1, 4, 2, 3)
      local padded = F.pad(x, { 3, 4, 5, 6 }, { mode = mode })
      assert.is_true(padded:equal(looked_up(x, { 3, 4, 5, 6 }, mode)), mode)
      assert.is_true(padded:equal(F.pad(apart, { 3, 4, 5, 6 }, { mode = mode })), mode)
      torch.set_num_threads(1)
      assert.is_true(padded:equal(F.pad(x, { 3, 4, 5, 6 }, { mode = mode })), mode)
      torch.set_num_threads(threads)
      local long = torch.rand(2, 1, 65537, { device = device })
      assert.is_true(F.pad(long, { 2, 3 }, { mode = mode }):equal(looked_up(long, { 2, 3 }, mode)), mode)
    end
  end)
end)

describe('linspace', function()
  it('counts both halves from their own end, of any number of steps #again', function()
    for _, n in ipairs { 1, 2, 3, 4, 5, 1023, 2048, 2051, 200001 } do
      local first, last = -0.3, 0.7
      local x, step = torch.linspace(first, last, n, { dtype = torch.float64, device = device }):tolist(), n > 1 and (last - first) / (n - 1) or 0
      for i = 1, n do
        local below = n == 1 or i <= n // 2
        assert.equal(below and first + (i - 1) * step or last - (n - i) * step, x[i])
      end
    end
  end)

  it('ends at the number given, the sign of a zero too', function()
    assert.equal(-math.huge, 1 / torch.linspace(-1, -0.0, 5, { device = device })[5]:item())
    assert.equal(7, torch.linspace(1, 7, 4, { dtype = torch.int32, device = device })[4]:item())
  end)
end)

describe('interpolation by the nearest element', function()
  it('finds it in lines of any length, as it is', function()
    local F, nan = torch.nn.functional, 0 / 0
    for _, dtype in ipairs { torch.float32, torch.float64 } do
      for _, out in ipairs { 1, 7, 8, 9, 15, 16, 17, 255, 256, 257, 600 } do
        local x = torch.rand(2, 3, 5, 41, { dtype = dtype, device = device })
        local places = {}
        for i = 1, out do places[i] = math.floor((i - 1) * 41 / out + 1e-6) + 1 end
        local lines = torch.tensor({ 1, 1, 2, 2, 3, 3, 4, 4, 5, 5 }, { device = device })
        local expected = x:index_select(4, torch.tensor(places, { device = device })):index_select(3, lines)
        assert.is_true(F.interpolate(x, { 10, out }):equal(expected))
      end
    end
    local y = F.interpolate(torch.tensor({ { { 1, nan, -0.0, 1 / 0 } } }, { device = device }), { 8 }):flatten():tolist()
    assert.is_true(y[3] ~= y[3] and 1 / y[5] == -math.huge and y[8] == math.huge)
  end)
end)
