-- What a GPU does by NVIDIA's libraries equals what the CPU does: linear layers (cuBLASLt), convolutions (cuDNN, and our own
-- kernels where it is not), Fourier transforms that share a plan (cuFFT), products of sparse matrices (cuSPARSE, and a formula where it
-- is not). Factorizations are linalg_spec's.

local torch = require 'torch'
local F = torch.nn.functional

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

-- Convolutions of all parts in a process of its own: what they sum to.
local CONVOLUTIONS = [[
torch.manual_seed(3)
local F, sums = torch.nn.functional, {}
for _, dtype in ipairs { torch.float64, torch.float32, torch.float16 } do
  local x = torch.randn(2, 4, 7, 6):to(dtype):cuda():requires_grad_()
  local w = torch.randn(6, 2, 3, 2):to(dtype):cuda():requires_grad_()
  local b = torch.randn(6):to(dtype):cuda():requires_grad_()
  local y = F.conv2d(x, w, b, { stride = { 2, 1 }, padding = { 1, 2 }, dilation = { 1, 2 }, groups = 2 })
  y:mul(y):sum():backward()
  for _, t in ipairs { y, x.grad, w.grad, b.grad } do
    sums[#sums + 1] = ('%.2g'):format(t:double():abs():mean():item())
  end
end
print(table.concat(sums, ' '))
]]

describe('convolutions #cpu', function()
  it('are the same by cuDNN and by our own kernels', function()
    local function run(environment)
      local command = ('%s %s --no-copies --sim-gpus 1 -e %s'):format(environment, process.quote(process.ltensor),
        process.quote(CONVOLUTIONS))
      local output, message, status = process.run(command)
      assert.equal(0, status, message)
      return output
    end
    assert.equal(run 'LTENSOR_CUDNN=0', run '')
  end)
end)

-- Transforms of one length: on two streams at once, and in a graph that is replayed when many other plans have come.
local TRANSFORMS = [[
local fft, cuda = torch.fft, torch.cuda
local a, b = torch.randn(3, 1000):cuda(), torch.randn(3, 1000):cuda()
local first, second = fft.rfft(a), fft.rfft(b)
local one, other = cuda.Stream(), cuda.Stream()
cuda.synchronize()
for _ = 1, 20 do
  local x, y
  cuda.stream(one, function() x = fft.rfft(a) end)
  cuda.stream(other, function() y = fft.rfft(b) end)
  cuda.synchronize()
  assert(torch.equal(x, first) and torch.equal(y, second), 'streams')
end
local graph, out = cuda.CUDAGraph(), nil
cuda.graph(graph, function() out = fft.rfft(a) end)
for n = 1, 1100 do fft.fft(a[1]:narrow(1, 1, n % 900 + 1):reshape(1, -1):expand(n // 900 + 1, -1)) end
a:copy_(b)
graph:replay()
assert(torch.equal(out, second), 'graph')
]]

describe('Fourier transforms #cpu', function()
  it('share their plans between streams and with graphs', function()
    local output, message, status = process.run(('%s --no-copies --sim-gpus 1 -e %s'):format(process.quote(process.ltensor), process.quote(TRANSFORMS)))
    assert.equal(0, status, message .. output)
  end)
end)

-- Products of a matrix in CSR, their derivatives, and a graph that was captured before any: by the library the result is all the memory
-- that a product takes beside some workspace, by the formula a row of it for each value.
local SPARSE = [[
torch.manual_seed(4)
local cuda, by_library = torch.cuda, os.getenv 'LTENSOR_CUSPARSE' ~= '0'
local sums = {}
for _, dtype in ipairs { torch.float32, torch.float64 } do
  local dense = torch.randn(60, 50, { dtype = dtype }) * torch.rand(60, 50):lt(0.3):to(dtype)
  local a, x = dense:cuda():to_sparse_csr(), torch.randn(50, 64, { dtype = dtype, device = 'cuda' })
  local tolerance = { rtol = 1e-4, atol = 1e-4 }
  local function peak()
    cuda.synchronize()
    cuda.reset_peak_memory_stats()
    local before = cuda.memory_allocated()
    local y = a:mm(x)
    assert(torch.allclose(y:cpu(), dense:mm(x:cpu()), tolerance))
    return cuda.max_memory_allocated() - before, y
  end

  local function captured()
    local graph, out = cuda.CUDAGraph(), nil
    cuda.graph(graph, function() out = a:mm(x) end)
    x:mul_(2)
    graph:replay()
    assert(torch.allclose(out:cpu(), dense:mm(x:cpu()), tolerance), 'graph')
  end
  captured()
  local bytes = peak()
  local of_result, of_formula = 60 * 64 * dtype.itemsize, a:values():numel() * 64 * dtype.itemsize
  assert((bytes < of_result + 8192) == by_library and (bytes >= of_formula) ~= by_library, bytes)
  captured()

  torch.use_deterministic_algorithms(true)
  local _, y = peak()
  torch.use_deterministic_algorithms(false)

  local one, other = cuda.Stream(), cuda.Stream()
  cuda.synchronize()
  for _ = 1, 5 do
    local p, q
    cuda.stream(one, function() p = a:mm(x) end)
    cuda.stream(other, function() q = a:mm(x * 3) end)
    cuda.synchronize()
    assert(torch.allclose(p, y, tolerance) and torch.allclose(q, y * 3, tolerance), 'streams')
  end

  local leaves = { a:detach():requires_grad_(), x:clone():requires_grad_() }
  local z = leaves[1]:mm(leaves[2])
  z:mul(z):sum():backward()
  for _, t in ipairs { z, leaves[1].grad:values(), leaves[2].grad } do sums[#sums + 1] = ('%.3g'):format(t:double():abs():mean():item()) end
end
print(table.concat(sums, ' '))
]]

describe('products of a matrix in CSR #cpu', function()
  it('are the same by cuSPARSE and by the formula', function()
    local function run(environment)
      local output, message, status = process.run(('%s %s --no-copies --sim-gpus 1 -e %s'):format(environment, process.quote(process.ltensor),
        process.quote(SPARSE)))
      assert.equal(0, status, message .. output)
      return output
    end
    assert.equal(run 'LTENSOR_CUSPARSE=0', run '')
  end)
end)

if device == 'cpu' then return end

local function near(a, b, tolerance)
  assert.same(tostring(b.shape), tostring(a.shape))
  local worst = (a:cpu():double() - b:cpu():double()):abs():max():item()
  assert(worst <= tolerance, ('differ by %g'):format(worst))
end

describe('a linear layer on a GPU', function()
  -- x, weight and bias as f makes them of tensors on the host, on both devices.
  local function compare(x, w, b, tolerance, f)
    local function run(on)
      local leaves = {}
      for i, t in ipairs { x, w, b } do leaves[i] = t:clone():to(on):requires_grad_() end
      local y = (f or F.linear)(table.unpack(leaves))
      y:mul(y):sum():backward()
      return y:detach(), leaves[1].grad, leaves[2].grad, leaves[3].grad
    end
    local there, here_ = { run(device) }, { run 'cpu' }
    for i = 1, 4 do near(there[i], here_[i], tolerance) end
  end

  before_each(function() torch.manual_seed(9) end)

  it('adds its bias within the product, in every dtype', function()
    for _, kind in ipairs { { torch.float32, 1e-3 }, { torch.float64, 1e-10 }, { torch.float16, 0.5 }, { torch.bfloat16, 2 } } do
      compare(torch.randn(5, 8):to(kind[1]), torch.randn(6, 8):to(kind[1]), torch.randn(6):to(kind[1]), kind[2])
      compare(torch.randn(2, 3, 8):to(kind[1]), torch.randn(1, 8):to(kind[1]), torch.randn(1):to(kind[1]), kind[2])
    end
  end)
  it('a linear layer on a GPU accepts operands of any strides', function()
    local x, w, b = torch.randn(8, 5), torch.randn(8, 6), torch.randn(7)
    compare(x, w, b, 1e-3, function(a, c, d) return F.linear(a:t(), c:t(), d:narrow(1, 2, 6)) end) -- a bias at an odd address
    compare(x, w, torch.randn(12), 1e-3, function(a, c, d) return F.linear(a:t(), c:t(), d:view(6, 2):select(2, 1)) end)
    compare(torch.randn(1, 3), torch.randn(4, 3), torch.randn(1, 4), 1e-3, function(a, c, d) return torch.addmm(d, a, c:t()) end)
    compare(torch.randn(5, 3), torch.randn(3, 4), torch.randn(4), 1e-3,
      function(a, c, d) return torch.addmm(d, a, c, { beta = 2, alpha = 3 }) + torch.addmm(d, a, c, { alpha = 3 }) end)
  end)
  it('of no inputs gives its bias', function()
    near(F.linear(torch.ones(2, 0, { device = device }), torch.ones(3, 0, { device = device }), torch.arange(3.0, { device = device })),
      torch.tensor { { 0.0, 1.0, 2.0 }, { 0.0, 1.0, 2.0 } }, 0)
  end)
end)

describe('a convolution on a GPU', function()
  local function both(f)
    torch.manual_seed(2)
    near(f(device), f 'cpu', 1e-4)
  end
  it('is the CPU\'s in one, two and three dimensions, transposed and grouped', function()
    both(function(on)
      torch.manual_seed(2)
      return F.conv1d(torch.randn(2, 3, 9):to(on), torch.randn(4, 3, 3):to(on), torch.randn(4):to(on), { stride = 2, padding = 1 })
    end)
    both(function(on)
      torch.manual_seed(2)
      return F.conv3d(torch.randn(1, 4, 3, 4, 5):to(on), torch.randn(2, 2, 2, 2, 2):to(on), { groups = 2, padding = 1 })
    end)
    both(function(on)
      torch.manual_seed(2)
      return F.conv_transpose2d(torch.randn(1, 4, 3, 3):to(on), torch.randn(4, 2, 3, 3):to(on), torch.randn(4):to(on),
        { stride = 2, output_padding = 1, groups = 2 })
    end)
  end)
  -- Our own kernels write the windows out: nine times the image here.
  it('is cuDNN\'s work, in each of its parts', function()
    torch.cuda.set_device(device)
    local x = torch.ones(4, 16, 32, 32, { device = device, requires_grad = true })
    local w = torch.ones(16, 16, 3, 3, { device = device, requires_grad = true })
    local function peak(f)
      torch.cuda.synchronize()
      torch.cuda.reset_peak_memory_stats()
      local before = torch.cuda.memory_allocated()
      local result = f()
      return torch.cuda.max_memory_allocated() - before, result
    end
    local image = 4 * 16 * 32 * 32 * 4
    local forward, y = peak(function() return F.conv2d(x, w, { padding = 1 }) end)
    assert.is_true(forward < 2 * image, forward)
    local g = torch.ones_like(y)
    local backward = peak(function() return torch.autograd.grad(y, { x, w }, g) end)
    assert.is_true(backward < 2 * image, backward)
    torch.cuda.set_device(0)
  end)
  it('is our own kernels\' while cuDNN is switched off', function()
    torch.cuda.set_device(device)
    local x, w = torch.ones(1, 8, 32, 32, { device = device }), torch.ones(8, 8, 3, 3, { device = device })
    torch.backends.cudnn.enabled = false
    torch.cuda.reset_peak_memory_stats()
    local before = torch.cuda.memory_allocated()
    local ok, y = pcall(F.conv2d, x, w, { padding = 1 })
    local columns = torch.cuda.max_memory_allocated() - before
    torch.backends.cudnn.enabled = true
    torch.cuda.set_device(0)
    assert(ok, y)
    assert.is_true(columns > 8 * 9 * 32 * 32 * 4, columns)
    near(y, F.conv2d(x, w, { padding = 1 }), 1e-4)
  end)
  it('a convolution uses a deterministic algorithm in deterministic mode', function()
    torch.use_deterministic_algorithms(true)
    local ok, message = pcall(both, function(on)
      torch.manual_seed(2)
      return F.conv2d(torch.randn(1, 2, 5, 5):to(on), torch.randn(3, 2, 3, 3):to(on))
    end)
    torch.use_deterministic_algorithms(false)
    assert(ok, message)
  end)
  it('takes views at addresses that cuDNN does not', function()
    both(function(on)
      torch.manual_seed(2)
      local all = torch.randn(1 + 2 * 25):to(on)
      return F.conv2d(all:narrow(1, 2, 50):view(1, 2, 5, 5), torch.randn(3, 2, 3, 3):to(on))
    end)
  end)
end)
