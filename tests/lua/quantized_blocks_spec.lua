-- quantized_blocks_spec.lua - quantized weights on a GPU: blocks of every format have the CPU's floats, products with few and many rows
-- of every floating dtype and their gradients are those of the decoded matrix, also where rows begin and end at any even address.

local torch = require 'torch'

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

-- Elements and bytes of a block, and the positions of its scales (float16).
local formats = {
  q4_0 = { 32, 18, 0 }, q4_1 = { 32, 20, 0, 2 }, q5_0 = { 32, 22, 0 }, q5_1 = { 32, 24, 0, 2 }, q8_0 = { 32, 34, 0 }, iq4_nl = { 32, 18, 0 },
  q2_k = { 256, 84, 80, 82 }, q3_k = { 256, 110, 108 }, q4_k = { 256, 144, 0, 2 }, q5_k = { 256, 176, 0, 2 }, q6_k = { 256, 210, 208 },
}

-- Random weights [rows, columns], with scales from -0.01 to 0.01.
local function random_weight(name, rows, columns)
  local format = formats[name]
  local n = rows * columns // format[1]
  local blocks = torch.randint(0, 256, { n, format[2] }, { dtype = torch.uint8 })
  for i = 3, #format do
    blocks:narrow(2, format[i] + 1, 2):copy_(((torch.rand(n, 1) - 0.5) / 50):half():view(torch.uint8))
  end
  return blocks:view(rows, -1)
end

local function assert_near(expected, got, tolerance, message)
  local difference = (expected - got:cpu():double()):abs():max():item()
  assert(difference <= tolerance, ('%s: %g, at most %g'):format(message, difference, tolerance))
end

-- The product and the gradient of the input; `relative` is the error of the dtype.
local function check_product(name, weight, m, dtype, relative)
  local matrix = torch.dequantize_blocks(weight, name):double()
  local rows, columns = matrix:size(1), matrix:size(2)
  local x = torch.randn(m, columns):to(dtype)
  local where = ('%s, %d x %d x %d, %s'):format(name, m, rows, columns, tostring(dtype))
  local on = x:to(device):requires_grad_()
  local y = torch.linear_blocks(on, weight:to(device), name)
  assert.equal(dtype, y.dtype)
  assert.equal(torch.device(device).type, y.device.type)
  local scale = torch.matmul(x:double():abs(), matrix:abs():t()):max():item()
  assert_near(torch.matmul(x:double(), matrix:t()), y, relative * scale, where)
  local g = torch.randn(m, rows):to(dtype)
  y:backward(g:to(device))
  scale = torch.matmul(g:double():abs(), matrix:abs()):max():item()
  assert_near(torch.matmul(g:double(), matrix), on.grad, relative * scale, where .. ', gradient')
end

describe('quantized weights', function()
  it('have the CPU\'s floats in every format and dtype', function()
    torch.manual_seed(3)
    for name, format in pairs(formats) do
      local bytes = torch.randint(0, 256, { 3, 5, 3 * format[2] }, { dtype = torch.uint8 })
      for _, dtype in ipairs { torch.float32, torch.float16, torch.bfloat16, torch.float64 } do
        local expected = torch.dequantize_blocks(bytes, name, { dtype = dtype })
        local got = torch.dequantize_blocks(bytes:to(device), name, { dtype = dtype })
        assert.equal(dtype, got.dtype)
        assert.is_true(torch.allclose(expected, got:cpu(), { rtol = 0, atol = 0, equal_nan = true }), name)
      end
    end
  end)

  it('are decoded from any address', function()
    local bytes = torch.randint(0, 256, { 7 * 34 + 5 }, { dtype = torch.uint8 })
    local there = bytes:to(device)
    for _, from in ipairs { 2, 3, 6 } do
      local part, same = bytes:narrow(1, from, 5 * 34), there:narrow(1, from, 5 * 34)
      assert.is_true(torch.allclose(torch.dequantize_blocks(part, 'q8_0'), torch.dequantize_blocks(same, 'q8_0'):cpu(), { rtol = 0, atol = 0, equal_nan = true }))
    end
    local weight = random_weight('q8_0', 3, 64)
    local flat = torch.cat { torch.zeros(3, { dtype = torch.uint8 }), weight:flatten() }
    local x = torch.randn(1 + 2 * 64)
    local y = torch.linear_blocks(x:to(device):narrow(1, 2, 128):view(2, 64), flat:to(device):narrow(1, 4, 3 * 68):view(3, 68), 'q8_0')
    local matrix = torch.dequantize_blocks(weight, 'q8_0'):double()
    assert_near(torch.matmul(x:narrow(1, 2, 128):view(2, 64):double(), matrix:t()), y, 1e-4, 'misaligned')
  end)

  it('are multiplied with few rows', function()
    torch.manual_seed(4)
    for name, format in pairs(formats) do
      for _, case in ipairs { { 1, 1, 1 }, { 1, 9, 3 }, { 3, 6, 2 }, { 8, 5, 5 } } do
        check_product(name, random_weight(name, case[2], case[3] * format[1]), case[1], torch.float32, 1e-6)
      end
    end
    for _, columns in ipairs { 480, 512, 544, 2048, 2080, 4128 } do
      for m = 1, 8 do check_product('q4_0', random_weight('q4_0', 3, columns), m, torch.float32, 1e-6) end
    end
  end)

  it('are multiplied with many rows', function()
    for name, format in pairs(formats) do
      check_product(name, random_weight(name, 70, format[1]), 9, torch.float32, 1e-6)
      check_product(name, random_weight(name, 3, 2 * format[1]), 33, torch.float32, 1e-6)
    end
  end)

  it('are multiplied with half types', function()
    for _, m in ipairs { 1, 2, 8, 20 } do
      check_product('q4_k', random_weight('q4_k', 6, 768), m, torch.float16, 2e-3)
      check_product('q6_k', random_weight('q6_k', 6, 768), m, torch.bfloat16, 2e-2)
    end
  end)

  it('are decoded in several tiles #again', function()
    local weight = random_weight('q4_0', 4200, 2048)
    check_product('q4_0', weight, 9, torch.float32, 1e-6)
  end)

  it('must be on the device of the input', function()
    if device == 'cpu' then return end
    local ok, message = pcall(torch.linear_blocks, torch.ones(1, 32), random_weight('q4_0', 2, 32):to(device), 'q4_0')
    assert.is_false(ok)
    assert.is_truthy(message:find('Expected all tensors to be on the same device', 1, true), message)
  end)
end)
