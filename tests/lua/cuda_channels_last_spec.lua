-- Convolutions, norms and pools on a GPU of images whose channels lie last: cuDNN and the kernels take them as they lie, results lie so too,
-- by PyTorch's rules. Values are those of the same numbers in order.

local torch = require 'torch'
local F = torch.nn.functional

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

-- How many calls of the runtime another round of a body makes, with cuDNN.
local function calls(body)
  local function all(rounds)
    local program = ([[
      local F, last = torch.nn.functional, torch.channels_last
      local x, w = torch.randn(2, 8, 6, 6):cuda(), torch.randn(4, 8, 3, 3):cuda()
      local g = torch.randn(2, 4, 4, 4):cuda()
      local xl, wl, gl = x:to { memory_format = last }, w:to { memory_format = last }, g:to { memory_format = last }
      local y
      for n = 1, %d do %s end
      torch.cuda.synchronize()]]):format(rounds, body)
    local _, message, status = process.run(('LTENSOR_SIM_REPORT=1 %s --sim-gpus 1 --no-copies -e %s'):format(
      process.quote(process.ltensor), process.quote(program)))
    assert.equal(0, status, message)
    return tonumber(message:match '(%d+) runtime calls')
  end
  return (all(30) - all(10)) / 20
end

describe('a convolution of channels-last images #cpu', function()
  local gradients = 'torch.autograd.grad(F.conv2d(%s:requires_grad_(), %s:requires_grad_()), {%s, %s}, %s)'

  it('copies nothing', function()
    assert.equal(calls 'y = F.conv2d(x, w)', calls 'y = F.conv2d(xl, wl)')
    assert.equal(calls(gradients:format('x', 'w', 'x', 'w', 'g')), calls(gradients:format('xl', 'wl', 'xl', 'wl', 'gl')))
  end)

  it('copies nothing with its batch_norm and pool', function()
    local step = [[
      local net = function(i, k) return F.max_pool2d(F.batch_norm(F.conv2d(i, k), nil, nil, nil, nil, true):relu(), 2) end
      y = net(%s:requires_grad_(), %s:requires_grad_())
      torch.autograd.grad(y, {%s, %s}, torch.zeros_like(y))]]
    assert.equal(calls(step:format('x', 'w', 'x', 'w')), calls(step:format('xl', 'wl', 'xl', 'wl')))
  end)

  it('copies the one operand with another layout', function()
    assert.equal(calls 'y = F.conv2d(x, w)' + 1, calls 'y = F.conv2d(xl, w)')
    assert.equal(calls 'y = F.conv2d(x, w)' + 1, calls 'y = F.conv2d(x, wl)')
  end)
end)

if device == 'cpu' then return end

local last, last_3d = torch.channels_last, torch.channels_last_3d

local function near(wanted, got, tolerance)
  assert.same(tostring(wanted.shape), tostring(got.shape))
  local worst = (wanted:cpu():double() - got:cpu():double()):abs():max():item()
  assert(worst <= tolerance, ('differ by %g'):format(worst))
end

-- f(x, w, b) and its gradients, of tensors in order on the host and of the same with their channels last on the GPU.
local function compare(f, x, w, b, format, dtype)
  local function run(on)
    local leaves = {}
    for i, t in ipairs { x, w, b } do
      local there = t:to(dtype):to(on)
      if on ~= 'cpu' and t:dim() > 3 then there = there:contiguous { memory_format = format } end
      leaves[i] = there:requires_grad_()
    end
    local y = f(table.unpack(leaves))
    return { y, torch.autograd.grad(y:mul(y):sum(), leaves) }
  end
  local tolerance = dtype == torch.float32 and 2e-2 or 0.6
  local wanted, got = run 'cpu', run(device)
  for i, t in ipairs(got) do
    near(wanted[i], t, tolerance * math.max(1, wanted[i]:double():abs():max():item()) / 10)
    if t:dim() > 3 then assert(t:is_contiguous { memory_format = format }, 'result ' .. i .. ' lies otherwise') end
  end
end

describe('a convolution of channels-last images on a GPU', function()
  for _, dtype in ipairs { torch.float32, torch.float16, torch.bfloat16 } do
    it('has the values of one in order, with stride, padding, dilation and groups: ' .. tostring(dtype), function()
      torch.manual_seed(1)
      compare(function(x, w, b) return F.conv2d(x, w, b, { stride = { 2, 1 }, padding = { 1, 2 }, dilation = { 1, 2 }, groups = 2 }) end,
        torch.randn(2, 4, 7, 9), torch.randn(6, 2, 3, 2), torch.randn(6), last, dtype)
    end)
    it('of three dimensions: ' .. tostring(dtype), function()
      torch.manual_seed(2)
      compare(function(x, w, b) return F.conv3d(x, w, b, { padding = 1 }) end,
        torch.randn(2, 3, 3, 4, 5), torch.randn(2, 3, 2, 2, 2), torch.randn(2), last_3d, dtype)
    end)
    it('transposed: ' .. tostring(dtype), function()
      torch.manual_seed(3)
      compare(function(x, w, b) return F.conv_transpose2d(x, w, b, { stride = 2, padding = 1 }) end,
        torch.randn(2, 4, 5, 3), torch.randn(4, 3, 3, 3), torch.randn(3), last, dtype)
    end)
  end

  -- As PyTorch's cudnn_conv_suggest_memory_format: strides of the input and the weight, and whether the result lies so.
  it('the result has the layout of PyTorch\'s result', function()
    local x, w = torch.randn(2, 3, 5, 5):to(device), torch.randn(4, 3, 3, 3):to(device)
    local xl, wl = x:contiguous { memory_format = last }, w:contiguous { memory_format = last }
    local function lies(a, b) return F.conv2d(a, b):is_contiguous { memory_format = last } end
    assert.same({ false, true, true, true }, { lies(x, w), lies(xl, w), lies(x, wl), lies(xl, wl) })
    local doubles = F.conv2d(xl:double(), wl:double())
    assert.is_true(doubles:is_contiguous())
    near(F.conv2d(x:double(), w:double()), doubles, 1e-12)
    -- One channel: strides [25, 25, 5, 1] are in order, [25, 1, 5, 1] are those of channels last.
    local one, thin = torch.randn(2, 1, 5, 5):to(device), torch.randn(4, 1, 3, 3):to(device)
    assert.is_false(lies(one, thin))
    assert.is_true(lies(one:as_strided({ 2, 1, 5, 5 }, { 25, 1, 5, 1 }), thin))
    -- Every second row of an image: its channels lie last, with gaps.
    local gaps = xl:narrow(3, 1, 4)
    assert.is_true(lies(gaps, wl))
    near(F.conv2d(gaps:contiguous(), w), F.conv2d(gaps, wl), 1e-2)
  end)

  it('is computed by our own kernels where cuDNN is off, in order', function()
    local x, w = torch.randn(2, 3, 5, 5):to(device), torch.randn(4, 3, 3, 3):to(device)
    torch.backends.cudnn.enabled = false
    local ok, y = pcall(F.conv2d, x:contiguous { memory_format = last }, w)
    torch.backends.cudnn.enabled = true
    assert(ok, y)
    assert.is_true(y:is_contiguous())
    near(F.conv2d(x, w), y, 1e-2)
  end)

  it('adds a bias', function()
    local x, w, b = torch.randn(2, 3, 5, 5):to(device), torch.randn(4, 3, 3, 3):to(device), torch.randn(4):to(device)
    local y = F.conv2d(x:contiguous { memory_format = last }, w:contiguous { memory_format = last }, b, { padding = 1 })
    near(F.conv2d(x, w, b, { padding = 1 }), y, 1e-2)
  end)
end)

-- f(x), a list of tensors, and the gradient of x, of one in order on the host and one with its channels last on the GPU.
local function compare_layers(f, x, format, dtype)
  local function run(on)
    local leaf = x:to(dtype):to(on)
    if on ~= 'cpu' then leaf = leaf:contiguous { memory_format = format } end
    local results = { f(leaf:requires_grad_(), on) }
    results[#results + 1] = torch.autograd.grad(results[1]:mul(results[1]):sum(), leaf)
    return results
  end
  local wanted, got = run 'cpu', run(device)
  for i, t in ipairs(got) do
    near(wanted[i], t, dtype == torch.float32 and 1e-4 or 0.05)
    assert(t:is_contiguous { memory_format = format }, 'result ' .. i .. ' lies otherwise')
  end
end

describe('on a GPU, of channels-last images,', function()
  local flat = {
    ['batch_norm with statistics of the batch'] = function(x, on)
      local mean, var = torch.zeros(6):to(on), torch.ones(6):to(on)
      return F.batch_norm(x, mean, var, torch.arange(1., 7.):to(on), torch.arange(6.):to(on), true, 0.3)
    end,
    ['batch_norm with statistics that are given'] = function(x, on)
      return F.batch_norm(x, torch.arange(6.):to(on), torch.arange(1., 7.):to(on), torch.arange(1., 7.):to(on), nil)
    end,
    max_pool2d = function(x) return F.max_pool2d(x, 3, { stride = 2, padding = 1, return_indices = true }) end,
    ['max_pool2d with dilation'] = function(x) return F.max_pool2d(x, { 2, 3 }, { stride = { 1, 2 }, dilation = { 2, 1 }, ceil_mode = true }) end,
    avg_pool2d = function(x) return F.avg_pool2d(x, 3, { stride = 2, padding = 1, count_include_pad = false }) end,
    adaptive_avg_pool2d = function(x) return F.adaptive_avg_pool2d(x, { 3, 4 }) end,
    adaptive_max_pool2d = function(x) return F.adaptive_max_pool2d(x, { 3, 4 }) end,
    ['cat of channels'] = function(x) return torch.cat({ x, x * 2 }, 2) end,
    ['interpolate bilinear'] = function(x) return F.interpolate(x, { scale_factor = 2, mode = 'bilinear' }) end,
  }
  for name, f in pairs(flat) do
    for _, dtype in ipairs { torch.float32, torch.bfloat16 } do
      it(name .. ' gives such a result, of ' .. tostring(dtype), function()
        torch.manual_seed(4)
        compare_layers(f, torch.randn(2, 6, 7, 9), last, dtype)
      end)
    end
  end

  it('pools of three dimensions and running statistics are the same', function()
    torch.manual_seed(5)
    local x = torch.randn(2, 3, 4, 5, 6)
    compare_layers(function(t) return F.max_pool3d(t, 2) end, x, last_3d, torch.float32)
    compare_layers(function(t) return F.avg_pool3d(t, 2, { padding = 1 }) end, x, last_3d, torch.float32)
    local statistics = {}
    for i, t in ipairs { x, x:to(device):contiguous { memory_format = last_3d } } do
      local norm = torch.nn.BatchNorm3d(3):to(t.device)
      norm(t)
      statistics[i] = torch.cat { norm.running_mean, norm.running_var }
    end
    near(statistics[1], statistics[2], 1e-5)
  end)
end)
