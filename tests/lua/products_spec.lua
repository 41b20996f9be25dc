-- Products of matrices, of each set of loops that this processor has.

local process = require 'support.process'

describe('products of matrices', function()
  for _, set in ipairs { 'baseline', 'avx2', 'avx512' } do
    for _, dtype in ipairs { 'float32', 'float64' } do
      it(('of %s are exact in whole numbers, by the loops of %s'):format(dtype, set), function()
        local script = ("local torch = require 'torch'; torch.manual_seed(5); require 'support.products'(torch.%s)"):format(dtype)
        local output, message, status = process.lua(script, '--no-copies', 'LTENSOR_CPU=' .. set)
        assert.same({ '', '', 0 }, { output, message, status })
      end)
    end
  end
end)
