-- Checks products of quantized weights with inputs that are rounded to 8 bits (linear_blocks with int8_input) against the same
-- computed with float64. Without AVX2 or NEON, products are exact.

local torch = require 'torch'

-- Each 32 elements of x (float32) as the nearest multiples of their largest magnitude / 127, with a scale and its inverse in
-- float32.
local function rounded(x)
  local parts = x:unflatten(-1, { -1, 32 })
  local largest = parts:abs():amax(-1, true)
  return ((parts * (127 / largest)):round():double() * (largest / 127):double()):flatten(-2)
end

local function bytes_of(hex)
  return (hex:gsub('..', function(digits) return string.char(tonumber(digits, 16)) end))
end

return function()
  local rounds = torch.__config__.has 'avx2' or torch.__config__.has 'neon'
  for line in io.lines 'tests/files/quantized_blocks.txt' do
    local scheme, stored = line:match '^(%S+) (%x+)'
    local blocks = torch.frombuffer(bytes_of(stored), { dtype = torch.uint8 }):view(2, -1)
    for _, case in ipairs { { 1, 9, 5 }, { 1, 70, 3 }, { 3, 9, 6 }, { 70, 9, 5 }, { 5, 70, 4 } } do
      local m, length, rows = table.unpack(case)
      local weight = blocks[torch.randint(1, 3, { rows * length })]:view(rows, -1)
      local matrix = torch.dequantize_blocks(weight, scheme, { dtype = torch.float64 })
      local x = torch.randn(m, matrix:size(2))
      local expected = torch.matmul(rounds and rounded(x) or x:double(), matrix:t())
      local got = torch.linear_blocks(x, weight, scheme, { int8_input = true })
      local allowed = 1e-5 * torch.matmul(x:abs():double(), matrix:abs():t())
      assert((got - expected):abs():le(allowed):all():item(), ('%s: %d rows'):format(scheme, m))
    end
  end
  local weight = torch.ones(3, 34, { dtype = torch.uint8 })
  local exact = torch.linear_blocks(torch.zeros(1, 32), weight, 'q8_0')
  assert(torch.equal(exact, torch.linear_blocks(torch.zeros(1, 32), weight, 'q8_0', { int8_input = true })), 'zeros')
  for _, value in ipairs { math.huge, -math.huge, 0 / 0 } do
    for m = 1, 2 do
      local x = torch.ones(m, 32)
      x[1][7] = value
      local got = torch.linear_blocks(x, weight, 'q8_0', { int8_input = true })
      assert(got[1]:isfinite():logical_not():all():item() and got:narrow(1, 2, m - 1):isfinite():all():item(), 'inf or nan')
    end
  end
end
