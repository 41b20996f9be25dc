-- Attention on a GPU by cuDNN and by our own kernels: the same numbers as on the host, and which of them does what.

local torch = require 'torch'
local attention = torch.nn.functional.scaled_dot_product_attention

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

-- How many calls of the runtime one more attention makes.
local function calls(setting, tensors, arguments, environment)
  local function all(rounds)
    local program = ([[
      %s
      local function half(...) return torch.randn(...):half():cuda() end
      local q, k, v = %s
      local y
      for n = 1, %d do y = torch.nn.functional.scaled_dot_product_attention(q, k, v, %s) end
      torch.cuda.synchronize()]]):format(setting, tensors, rounds, arguments)
    local _, message, status = process.run(('LTENSOR_SIM_REPORT=1 %s %s --sim-gpus 1 --no-copies -e %s'):format(
      environment or '', process.quote(process.ltensor), process.quote(program)))
    assert.equal(0, status, message)
    return tonumber(message:match '(%d+) runtime calls')
  end
  return (all(20) - all(10)) / 10
end

describe('attention #cpu', function()
  local halves = 'half(2, 4, 8, 16), half(2, 4, 8, 16), half(2, 4, 8, 16)'
  local off = 'torch.backends.cudnn.enabled = false'

  it('is cuDNN\'s for half types, unless it is told not to', function()
    for _, arguments in ipairs { '{}', '{ is_causal = true }' } do
      local by_cudnn, by_us = calls('', halves, arguments), calls(off, halves, arguments)
      assert(by_cudnn > by_us, ('%g and %g calls'):format(by_cudnn, by_us))
      assert.equal(by_us, calls('torch.use_deterministic_algorithms(true)', halves, arguments))
      assert.equal(by_us, calls('torch.backends.cuda.enable_cudnn_sdp(false)', halves, arguments))
    end
  end)

  it('is ours where cuDNN is older than its masks', function()
    local old, causal = 'LTENSOR_SIM_CUDNN=91900', '{ is_causal = true }'
    assert.equal(calls(off, halves, causal), calls('', halves, causal, old))
    assert.equal(calls('', halves, '{}'), calls('', halves, '{}', old))
  end)

  it('uses our kernels for arguments that cuDNN does not support #again', function()
    for _, tensors in ipairs { 'half(2, 4, 8, 12), half(2, 4, 8, 12), half(2, 4, 8, 12)', 'half(2, 4, 8, 160), half(2, 4, 8, 160), half(2, 4, 8, 160)',
      'half(2, 4, 1, 16), half(2, 4, 8, 16), half(2, 4, 8, 16)',
      'torch.randn(2, 4, 8, 16):cuda(), torch.randn(2, 4, 8, 16):cuda(), torch.randn(2, 4, 8, 16):cuda()' } do
      assert.equal(calls(off, tensors, '{}'), calls('', tensors, '{}'))
    end
    local mask = '{ attn_mask = torch.ones(8, 8, {dtype = torch.bool, device = "cuda"}) }'
    assert.equal(calls(off, halves, mask), calls('', halves, mask))
    assert.equal(calls(off, halves, '{ dropout_p = 0.5 }'), calls('', halves, '{ dropout_p = 0.5 }'))
  end)
end)

if device == 'cpu' then return end

-- Outputs and gradients of attention on the host in float32, and on the GPU in a half type.
local function compare(dtype, q, k, v, options, arrange)
  arrange = arrange or function(t) return t end
  local function run(on, as)
    local leaves = {}
    for i, t in ipairs { q, k, v } do leaves[i] = arrange(t:to(dtype):to(as):to(on)):detach():requires_grad_() end
    local y = attention(leaves[1], leaves[2], leaves[3], options)
    local weights = torch.linspace(-1, 1, y:numel()):reshape(y.shape):to(dtype):to(as):to(on)
    return { y, torch.autograd.grad(y, leaves, weights) }
  end
  local wanted, got = run('cpu', torch.float32), run(device, dtype)
  local tolerance = dtype == torch.float16 and 4e-3 or 3e-2
  for i, t in ipairs(got) do
    assert.same(tostring(wanted[i].shape), tostring(t.shape))
    local worst = (wanted[i] - t:cpu():float()):abs():max():item()
    local scale = math.max(1, wanted[i]:abs():max():item())
    assert(worst <= tolerance * scale, ('result %d differs by %g'):format(i, worst))
  end
end

describe('attention on a GPU', function()
  for _, dtype in ipairs { torch.float16, torch.bfloat16 } do
    for _, causal in ipairs { false, true } do
      local name = ('%s, %s'):format(tostring(dtype), causal and 'causal' or 'of all keys')
      it('has the values of the host\'s: ' .. name, function()
        torch.manual_seed(1)
        compare(dtype, torch.randn(2, 3, 9, 32), torch.randn(2, 3, 9, 32), torch.randn(2, 3, 9, 32), { is_causal = causal })
      end)
      it('of other lengths and widths: ' .. name, function()
        torch.manual_seed(2)
        compare(dtype, torch.randn(2, 2, 5, 24), torch.randn(2, 2, 12, 24), torch.randn(2, 2, 12, 8), { is_causal = causal, scale = 0.3 })
        compare(dtype, torch.randn(1, 2, 12, 16), torch.randn(1, 2, 5, 16), torch.randn(1, 2, 5, 16), { is_causal = causal })
      end)
      it('of keys that heads share: ' .. name, function()
        torch.manual_seed(3)
        compare(dtype, torch.randn(2, 6, 7, 16), torch.randn(2, 2, 7, 16), torch.randn(2, 2, 7, 16), { is_causal = causal, enable_gqa = true })
      end)
      it('of adjacent heads: ' .. name, function()
        torch.manual_seed(4)
        compare(dtype, torch.randn(2, 3, 9, 32), torch.randn(2, 3, 9, 32), torch.randn(2, 3, 9, 32), { is_causal = causal },
          function(t) return t:transpose(2, 3):contiguous():transpose(2, 3) end)
      end)
    end
  end

  it('attention computes the requested gradients only', function()
    local function half() return torch.randn(2, 2, 8, 16):half():to(device) end
    local q, k, v = half(), half():requires_grad_(), half()
    local one = torch.autograd.grad(attention(q, k, v):sum(), k)
    q:requires_grad_()
    v:requires_grad_()
    local all = { torch.autograd.grad(attention(q, k, v):sum(), { q, k, v }) }
    assert.is_true(torch.equal(all[2], one))
  end)

  it('runs in a recorded graph', function()
    local q = torch.randn(2, 2, 8, 16):half():cuda() -- the current device's stream is recorded
    local graph, y = torch.cuda.CUDAGraph(), attention(q, q, q, { is_causal = true })
    torch.cuda.graph(graph, function() y = attention(q, q, q, { is_causal = true }) end)
    q:copy_(torch.randn(2, 2, 8, 16))
    graph:replay()
    assert.is_true(torch.equal(attention(q, q, q, { is_causal = true }), y))
  end)
end)
