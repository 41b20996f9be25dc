-- softmax and log_softmax of lines of any length: whole vectors, what is left over of a line, lines that are their own result, and lines apart.

local torch = require 'torch'

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function lines(count, length, dtype) return (torch.rand({ count, length }, { dtype = dtype, device = device }) - 0.5) * 20 end

-- By exponentials and sums in float64.
local function plain(x, log)
  local d = x:double()
  local rest = d - d:amax(2, true)
  return log and rest - rest:exp():sum(2, true):log() or rest:exp() / rest:exp():sum(2, true)
end

local lengths = { 1, 2, 15, 16, 17, 31, 32, 33, 40, 47, 48, 63, 64, 65, 100, 127, 128, 129, 1000, 1024, 1030, 2047, 2048, 2049, 5000 }

for _, dtype in ipairs { torch.float32, torch.float64 } do
  describe(('softmax of %s'):format(dtype), function()
    local near = dtype == torch.float32 and 3e-6 or 1e-14
    for _, name in ipairs { 'softmax', 'log_softmax' } do
      it(name .. ' is what exponentials and sums give', function()
        torch.manual_seed(3)
        for _, length in ipairs(lengths) do
          local x = lines(5, length, dtype)
          assert.is_true(torch.allclose(x[name](x, 2):double(), plain(x, name == 'log_softmax'), { rtol = near, atol = near }), ('of %d'):format(length))
        end
      end)

      it(name .. ' gives a line apart, and one that becomes its own result, the same bits', function()
        torch.manual_seed(4)
        for _, length in ipairs(lengths) do
          local x = lines(5, length, dtype)
          local expected = x[name](x, 2)
          local wide = torch.full({ 5, length + 3 }, 0 / 0, { dtype = dtype, device = device })
          local apart = wide:narrow(2, 2, length)
          apart:copy_(x)
          assert.is_true(torch.equal(apart[name](apart, 2), expected), ('of %d, apart'):format(length))
          torch[name](x, 2, { out = x })
          assert.is_true(torch.equal(x, expected), ('of %d, its own result'):format(length))
        end
      end)
    end

    -- Enough rows for a GPU to hold each in the registers of one warp.
    it('and its derivative are the same for thousands of rows #again', function()
      torch.manual_seed(5)
      local x, g = lines(4096, 301, dtype), lines(4096, 301, dtype)
      x.requires_grad = true
      local y = x:log_softmax(2)
      y:backward(g)
      local expected = plain(x:detach():cpu(), true)
      assert.is_true(torch.allclose(y:detach():cpu():double(), expected, { rtol = near, atol = near }))
      local gradient = g:cpu():double()
      expected = gradient - expected:exp() * gradient:sum(2, true)
      assert.is_true(torch.allclose(x.grad:cpu():double(), expected, { rtol = near, atol = near * 300 }))
    end)

    it('sums to one where most of a line is masked', function()
      local x = torch.full({ 4, 50 }, -1 / 0, { dtype = dtype, device = device })
      x:narrow(2, 48, 2):zero_()
      assert.is_true(torch.equal(x:softmax(2):narrow(2, 48, 2), torch.full({ 4, 2 }, 0.5, { dtype = dtype, device = device })))
      assert.equal(4, x:softmax(2):sum():item())
    end)
  end)
end
