-- integer_numbers_spec.lua - numbers given beside int64 tensors, which no double holds: they keep all their digits in every op.

local torch = require 'torch'
local F = torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function t(...) return torch.tensor({ ... }, { device = device }) end
local function m(x) return t(x):reshape(1, 1) end
local function b(x) return t(x):reshape(1, 1, 1) end

-- What each op makes of x, and what it should be.
local ops = {
  { 'F.pad', function(x) return F.pad(t(1), { 0, 1 }, 'constant', x) end, function(x) return { 1, x } end },
  { 'F.pad by name', function(x) return F.pad(b(1), { 1, 0 }, { value = x }) end, function(x) return { x, 1 } end },
  { 'constant_pad_nd', function(x) return torch.constant_pad_nd(t(1), { 0, 1 }, x) end, function(x) return { 1, x } end },
  { 'ConstantPad1d', function(x) return torch.nn.ConstantPad1d(1, x)(b(1)) end, function(x) return { x, 1, x } end },
  { 'pad_sequence', function(x) return torch.nn.utils.rnn.pad_sequence({ t(1), t(1, 1) }, { padding_value = x }) end, function(x) return { 1, 1, x, 1 } end },
  { 'addmm alpha', function(x) return torch.addmm(m(0), m(1), m(1), { alpha = x }) end },
  { 'addmm beta', function(x) return torch.addmm(m(1), m(0), m(1), { beta = x }) end },
  { 'addmm alpha and beta', function(x) return torch.addmm(m(1), m(2), m(3), { alpha = x, beta = x }) end, function(x) return { 7 * x } end },
  { 'addmm_', function(x) return m(1):addmm_(m(2), m(3), { alpha = x, beta = x }) end, function(x) return { 7 * x } end },
  { 'addmm of a broadcast row', function(x) return torch.addmm(t(1, 2), t(1, 1):reshape(2, 1), t(3, 4):reshape(1, 2), { alpha = x }) end,
    function(x) return { 3 * x + 1, 4 * x + 2, 3 * x + 1, 4 * x + 2 } end },
  { 'addmv alpha', function(x) return torch.addmv(t(0), m(1), t(1), { alpha = x }) end },
  { 'addmv beta', function(x) return torch.addmv(t(1), m(0), t(1), { beta = x }) end },
  { 'addr alpha', function(x) return torch.addr(m(0), t(1), t(1), { alpha = x }) end },
  { 'addr beta', function(x) return torch.addr(m(1), t(0), t(1), { beta = x }) end },
  { 'addbmm alpha', function(x) return torch.addbmm(m(0), b(1), b(1), { alpha = x }) end },
  { 'baddbmm alpha', function(x) return torch.baddbmm(b(0), b(1), b(1), { alpha = x }) end },
  { 'baddbmm beta', function(x) return torch.baddbmm(b(1), b(0), b(1), { beta = x }) end },
  { 'add alpha', function(x) return torch.add(t(0), t(1), { alpha = x }) end },
  { 'sub alpha', function(x) return torch.sub(t(0), t(1), { alpha = x }) end, function(x) return { -x } end },
  { 'addcmul value', function(x) return torch.addcmul(t(0), t(1), t(1), { value = x }) end },
  { 'fill_', function(x) return t(0):fill_(x) end },
  { 'full', function(x) return torch.full({ 1 }, x, { device = device }) end },
  { 'full_like', function(x) return torch.full_like(t(1), x) end },
  { 'new_full', function(x) return t(1):new_full({ 1 }, x) end },
  { 'masked_fill', function(x) return t(1):masked_fill(t(true), x) end },
  { 'index_fill', function(x) return t(1):index_fill(1, t(1), x) end },
  { 'index_add alpha', function(x) return t(0):index_add(1, t(1), t(1), { alpha = x }) end },
  { 'scatter', function(x) return t(1):scatter(1, t(1), x) end },
  { 'fill_diagonal_', function(x) return m(0):fill_diagonal_(x) end },
  { 'where', function(x) return torch.where(t(true), x, t(2)) end },
  { 'clamp', function(x) return t(0):clamp(x, math.maxinteger) end, function(x) return { math.max(0, x) } end },
  { 'clamp_max', function(x) return t(math.maxinteger):clamp_max(x) end },
  { 'clamp_min', function(x) return t(math.mininteger):clamp_min(x) end },
  { 'a subscript', function(x) local y = t(1) y[1] = x return y end },
  { 'a mask', function(x) local y = t(1) y[y:gt(0)] = x return y end },
  { 'eq', function(x) return t(x, x - 1):eq(x) end, function() return { true, false } end },
  { 'isin', function(x) return torch.isin(t(x, x - 1), x) end, function() return { true, false } end },
  { 'remainder', function(x) return t(5) % x end, function(x) return { 5 % x } end },
  { 'floor_divide', function(x) return t(x) // 1 end },
  { 'bitwise_xor', function(x) return t(0) ~ x end },
}

describe('an int64 tensor beside a number of more than 53 bits', function()
  for _, op in ipairs(ops) do
    local name, run, expected = table.unpack(op, 1, 3)
    it('keeps its digits in ' .. name, function()
      for _, x in ipairs { (1 << 53) + 1, math.maxinteger, math.maxinteger - 1, math.mininteger + 1 } do
        assert.same(expected and expected(x) or { x }, run(x):reshape(-1):tolist())
      end
    end)
  end

  it('has factors without a fraction in a product, as PyTorch has', function()
    assert.same({ 3 }, torch.addmm(m(1), m(1), m(1), { alpha = 2.5 }):reshape(-1):tolist())
    assert.same({ 3 }, torch.addmv(t(1), m(1), t(1), { beta = 2.5 }):tolist())
    assert.same({ 3 }, torch.baddbmm(b(1), b(1), b(1), { alpha = 2.0 }):reshape(-1):tolist())
  end)

  it('is padded by complex numbers and bools where it can hold them', function()
    assert.same({ 1, 1 }, F.pad(t(1), { 0, 1 }, { value = true }):tolist())
    assert.error_matches(function() F.pad(torch.zeros(1, { dtype = torch.uint8, device = device }), { 0, 1 }, 'constant', 300) end, 'without overflow', 1, true)
  end)
end)
