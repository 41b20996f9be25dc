-- attention_spec.lua - scaled dot product attention in sizes that kernels cut into tiles: against the formula in float64 on
-- the CPU, forward and backward, in every dtype. On GPUs by our own kernels: cuDNN's attention is cuda_attention_spec's.

local torch = require 'torch'
local attention = torch.nn.functional.scaled_dot_product_attention
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local on_gpu = device:find 'cuda' ~= nil

-- How far results may lie from those of float64: the inputs are of that dtype, in both. Half types round probabilities and
-- results to 11 and 8 bits.
local tolerance = { float64 = 1e-12, float32 = 2e-5, float16 = 4e-3, bfloat16 = 3e-2 }

local function inputs(dtype, shapes)
  local list = {}
  for i, shape in ipairs(shapes) do list[i] = torch.randn(shape, { dtype = torch.float64 }):to(torch[dtype]) end
  return list
end

-- The definition, in float64: softmax(q k^T / sqrt(width) + mask) v.
local function by_formula(q, k, v, options)
  local shared = q:size(2) // k:size(2)
  k, v = k:repeat_interleave(shared, 2), v:repeat_interleave(shared, 2)
  local scores = torch.matmul(q, k:transpose(-2, -1)) * (options.scale or 1 / math.sqrt(q:size(-1)))
  local mask = options.attn_mask
  if options.is_causal then mask = torch.ones(q:size(3), k:size(3), { dtype = torch.bool }):tril() end
  if mask and mask.dtype == torch.bool then scores = scores:masked_fill(mask:logical_not(), -math.huge)
  elseif mask then scores = scores + mask:double() end
  local p = torch.softmax(scores, -1)
  p = torch.where(p:isnan(), torch.zeros_like(p), p)
  return torch.matmul(p, v)
end

local function close(name, wanted, got, limit)
  local difference = (wanted - got:cpu():double()):abs():max():item()
  local size = wanted:abs():max():item() + 1e-3
  if not (difference <= limit * math.max(size, 1)) then
    error(('%s differs by %g of %g'):format(name, difference, size), 0)
  end
end

-- Results and gradients of the device's attention beside those of the formula.
local function compare(dtype, q, k, v, options)
  options = options or {}
  local there, here = {}, {}
  for i, t in ipairs { q, k, v } do
    there[i] = t:to(device):clone():requires_grad_()
    here[i] = t:detach():double():clone():requires_grad_()
  end
  local moved = {}
  for name, value in pairs(options) do moved[name] = torch.is_tensor(value) and value:to(device) or value end
  moved.enable_gqa = q:size(2) ~= k:size(2)
  local got = attention(there[1], there[2], there[3], moved)
  local wanted = by_formula(here[1], here[2], here[3], options)
  local limit = tolerance[dtype]
  close('the result', wanted, got, limit)
  local grad = torch.randn(wanted.shape, { dtype = torch.float64 }):to(torch[dtype])
  got:backward(grad:to(device))
  wanted:backward(grad:double())
  for i, name in ipairs { 'query', 'key', 'value' } do
    close('the gradient of ' .. name, here[i].grad, there[i].grad, 4 * limit)
  end
end

describe('attention', function()
  setup(function() torch.backends.cudnn.enabled = false end)
  teardown(function() torch.backends.cudnn.enabled = true end)

  before_each(function() torch.manual_seed(11) end)

  for _, dtype in ipairs { 'float64', 'float32', 'float16', 'bfloat16' } do
    it('of heads of any width is that of the formula, in ' .. dtype, function()
      for _, width in ipairs { 1, 8, 33, 64 } do
        compare(dtype, table.unpack(inputs(dtype, { { 1, 2, 21, width }, { 1, 2, 35, width }, { 1, 2, 35, width } })))
      end
      for _, width in ipairs { 72, 128, 200, 264 } do
        compare(dtype, table.unpack(inputs(dtype, { { 1, 1, 18, width }, { 1, 1, 19, width }, { 1, 1, 19, width } })))
      end
    end)

    it('goes over more queries and keys than a tile has, in ' .. dtype, function()
      local q, k, v = table.unpack(inputs(dtype, { { 1, 1, 150, 16 }, { 1, 1, 140, 16 }, { 1, 1, 140, 24 } }))
      compare(dtype, q, k, v)
      compare(dtype, q, k, v, { is_causal = true })
      compare(dtype, k, q, q, { is_causal = true, scale = 0.1 })
    end)

    it('takes masks, in ' .. dtype, function()
      local q, k, v = table.unpack(inputs(dtype, { { 2, 2, 37, 16 }, { 2, 2, 70, 16 }, { 2, 2, 70, 16 } }))
      local some = torch.rand(2, 1, 37, 70):gt(0.4)
      some[{ 1, 1, 5 }] = false -- a query without any key
      compare(dtype, q, k, v, { attn_mask = some })
      compare(dtype, q, k, v, { attn_mask = torch.randn(37, 70):to(torch[dtype]) })
      compare(dtype, q, k, v, { attn_mask = torch.randn(2, 2, 1, 70):to(torch[dtype]) })
    end)

    it('has several heads of queries share one of keys, in ' .. dtype, function()
      local q, k, v = table.unpack(inputs(dtype, { { 2, 6, 20, 8 }, { 2, 2, 33, 8 }, { 2, 2, 33, 8 } }))
      compare(dtype, q, k, v)
      compare(dtype, q, k, v, { is_causal = true })
    end)
  end

  it('attention reads heads inside a larger tensor without a copy', function()
    local all = torch.randn(2, 40, 3, 4, 16)
    local function part(i) return all:select(3, i):transpose(2, 3) end
    compare('float32', part(1), part(2), part(3), { is_causal = true })
    compare('float16', part(1):half(), part(2):half(), part(3):half())
    local odd = torch.randn(1, 2, 20, 17):narrow(4, 2, 15) -- rows that are not aligned
    compare('float32', odd, odd, odd)
    compare('bfloat16', odd:bfloat16(), odd:bfloat16(), odd:bfloat16())
  end)

  it('the result of attention has the strides of query, so adjacent heads merge without a copy', function()
    local parted = torch.randn(2, 5, 3, 4):to(device):transpose(2, 3):requires_grad_()
    local dense = parted:detach():contiguous():requires_grad_()
    local a, b = attention(parted, parted, parted, { is_causal = true }), attention(dense, dense, dense, { is_causal = true })
    assert.same({ 60, 4, 12, 1 }, a:stride())
    assert.same({ 60, 20, 4, 1 }, b:stride())
    assert.equal(a:data_ptr(), a:transpose(2, 3):reshape(2, 5, 12):data_ptr())
    assert.is_true(torch.allclose(a, b))
    local factor = torch.randn(2, 3, 5, 4):to(device)
    for _, t in ipairs { a, b } do (t * factor):sum():backward() end
    assert.is_true(torch.allclose(parted.grad, dense.grad))
  end)

  it('keeps a number that is none', function()
    local q, k = torch.randn(1, 1, 20, 8), torch.randn(1, 1, 20, 8)
    k[{ 1, 1, 3, 1 }] = 0 / 0
    local out = attention(q:to(device), k:to(device), k:nan_to_num():to(device), nil, 0.0, true):cpu()
    assert.is_false(out:narrow(3, 1, 2):isnan():any():item())
    assert.is_true(out:narrow(3, 3, 18):isnan():all():item())
  end)
end)

describe('attention with dropout', function()
  setup(function() torch.backends.cudnn.enabled = false end)
  teardown(function() torch.backends.cudnn.enabled = true end)

  local n = 48
  local q, k, v

  before_each(function()
    torch.manual_seed(5)
    q, k = torch.randn(1, 2, n, 16), torch.randn(1, 2, n, 16)
    v = torch.eye(n):expand(1, 2, n, n) -- so that the result is the probabilities
  end)

  local function dropped(dtype, p)
    return attention(q:to(device, torch[dtype]), k:to(device, torch[dtype]), v:to(device, torch[dtype]), nil, p):cpu():double()
  end

  for _, dtype in ipairs { 'float32', 'float16' } do
    it('dropout zeroes the given fraction of probabilities and scales the others, in ' .. dtype, function()
      local p = torch.softmax(torch.matmul(q:double(), k:double():transpose(-2, -1)) / 4, -1)
      local got = dropped(dtype, 0.25)
      local gone = got:eq(0)
      local share = gone:double():mean():item()
      assert(math.abs(share - 0.25) < 0.02, 'dropped a share of ' .. share)
      local rest = torch.where(gone, torch.zeros_like(p), p / 0.75)
      assert.is_true(torch.allclose(got, rest, { atol = 2 * tolerance[dtype], rtol = 2 * tolerance[dtype] }))
    end)
  end

  it('is the same after the same seed, and another the next time', function()
    torch.manual_seed(9)
    local first, second = dropped('float32', 0.5), dropped('float32', 0.5)
    torch.manual_seed(9)
    assert.is_true(torch.equal(first, dropped('float32', 0.5)))
    assert.is_false(torch.equal(first, second))
  end)

  for _, width in ipairs { 16, 200 } do
    it('backward drops the same probabilities as forward, heads ' .. width .. ' wide', function()
      local queries, keys = torch.randn(1, 2, n, width), torch.randn(1, 2, n, width)
      local there = {}
      for i, t in ipairs { queries, keys, v } do there[i] = t:to(device):clone():requires_grad_() end
      local out = attention(there[1], there[2], there[3], nil, 0.4, true)
      local kept = out:detach():cpu():double():ne(0):double() / 0.6
      local here = {}
      for i, t in ipairs { queries, keys, v } do here[i] = t:detach():double():clone():requires_grad_() end
      local scores = torch.matmul(here[1], here[2]:transpose(-2, -1)) / math.sqrt(width)
      local low = torch.ones(n, n, { dtype = torch.bool }):tril():logical_not()
      local wanted = torch.matmul(torch.softmax(scores:masked_fill(low, -math.huge), -1) * kept, here[3])
      close('the result', wanted, out, 2e-5)
      local grad = torch.randn(1, 2, n, n)
      out:backward(grad:to(device))
      wanted:backward(grad:double())
      for i, name in ipairs { 'query', 'key', 'value' } do close('the gradient of ' .. name, here[i].grad, there[i].grad, 1e-4) end
    end)
  end
end)

describe('attention over many keys', function()
  setup(function() torch.backends.cudnn.enabled = false end)
  teardown(function() torch.backends.cudnn.enabled = true end)

  it('takes no memory for scores', function()
    if not on_gpu then return end
    local length = 512
    local q = torch.randn(1, 64, length, 8, { device = device })
    torch.cuda.reset_peak_memory_stats(device)
    local before = torch.cuda.memory_allocated(device)
    attention(q, q, q)
    local most = torch.cuda.max_memory_allocated(device) - before
    assert(most < 4 * 64 * length * length, 'took ' .. most .. ' bytes')
  end)
end)

describe('torch.nn.attention.sdpa_kernel', function()
  local backends, sdpa = torch.backends.cuda, torch.nn.attention
  local ways = sdpa.SDPBackend
  local attend = torch.nn.functional.scaled_dot_product_attention

  local function allowed()
    return { backends.math_sdp_enabled(), backends.flash_sdp_enabled(), backends.mem_efficient_sdp_enabled(), backends.cudnn_sdp_enabled() }
  end

  it('allows the ways that it names until its scope ends, also by an error', function()
    assert.same({ true, true, true, true }, allowed())
    local within = sdpa.sdpa_kernel({ ways.MATH, ways.CUDNN_ATTENTION }, allowed)
    assert.same({ true, false, false, true }, within)
    assert.has_error(function() sdpa.sdpa_kernel(ways.MATH, function() error 'an error of the body' end) end)
    do
      local _ <close> = sdpa.sdpa_kernel(ways.FLASH_ATTENTION)
      assert.same({ false, true, false, false }, allowed())
    end
    assert.same({ true, true, true, true }, allowed())
  end)

  it('sdpa_kernel selects the same backends as torch.backends.cuda', function()
    finally(function() backends.enable_flash_sdp(true) end)
    backends.enable_flash_sdp(false)
    assert.same({ true, false, true, true }, allowed())
    assert.error_matches(function() backends.enable_flash_sdp(1) end, "argument 'enabled' must be true or false")
    assert.error_matches(function() sdpa.sdpa_kernel(3) end, 'must be an instance of SDPBackend')
    assert.error_matches(function() return ways.FLASH end, "has no 'FLASH'")
    assert.equal('SDPBackend.MATH', tostring(ways.MATH))
  end)

  it('gives the same numbers by a formula and by a kernel, and an error by none', function()
    torch.manual_seed(1)
    local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
    local q, k, v = torch.randn(2, 3, 7, 8), torch.randn(2, 3, 9, 8), torch.randn(2, 3, 9, 8)
    q, k, v = q:to(device):requires_grad_(), k:to(device), v:to(device)
    local function run() return attend(q, k, v, { is_causal = true }) end
    local kernel, formula = sdpa.sdpa_kernel(ways.FLASH_ATTENTION, run), sdpa.sdpa_kernel(ways.MATH, run)
    assert.is_true(torch.allclose(kernel, formula, { atol = 1e-5 }))
    assert.truthy(tostring(kernel.grad_fn):find 'ScaledDotProduct')
    assert.falsy(tostring(formula.grad_fn):find 'ScaledDotProduct')
    local none = 'No viable backend for scaled_dot_product_attention was found'
    assert.error_matches(function() sdpa.sdpa_kernel({}, run) end, none)
    if device == 'cpu' then assert.error_matches(function() sdpa.sdpa_kernel(ways.EFFICIENT_ATTENTION, run) end, none) end
    -- cuDNN's takes half types alone.
    assert.error_matches(function() sdpa.sdpa_kernel(ways.CUDNN_ATTENTION, run) end, device == 'cpu' and none or 'No available kernel')
    if device ~= 'cpu' then
      assert.is_true(torch.allclose(kernel, sdpa.sdpa_kernel({ ways.CUDNN_ATTENTION, ways.MATH }, run), { atol = 1e-5 }))
    end
  end)
end)
