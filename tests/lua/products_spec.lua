-- Products of matrices, and triangles, of each set of loops that this processor has.

local process = require 'support.process'

local function holds(check, dtype, set)
  local script = ("local torch = require 'torch'; torch.manual_seed(5); require 'support.%s'(torch.%s)"):format(check, dtype)
  local output, message, status = process.lua(script, '--no-copies', 'LTENSOR_CPU=' .. set)
  assert.same({ '', '', 0 }, { output, message, status })
end

for _, set in ipairs { 'baseline', 'avx2', 'avx512' } do
  describe('by the loops of ' .. set, function()
    for _, dtype in ipairs { 'float32', 'float64', 'float16', 'bfloat16' } do
      it(('products of %s are exact in whole numbers'):format(dtype), function() holds('products', dtype, set) end)
    end
    it('products of quantized weights with rounded inputs have the error of the rounding', function()
      local script = "local torch = require 'torch'; torch.manual_seed(5); require 'support.block_products'()"
      assert.same({ '', '', 0 }, { process.lua(script, '--no-copies', 'LTENSOR_CPU=' .. set) })
    end)
    for _, dtype in ipairs { 'float32', 'float64' } do
      it(('triangles of %s are exact in whole numbers'):format(dtype), function() holds('triangles', dtype, set) end)
    end
  end)
end
