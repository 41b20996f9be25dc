-- torch.use_deterministic_algorithms: sums into places that are named several times come out the same every time, on
-- a GPU too, where threads come in any order otherwise.

local torch = require 'torch'

local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function setting(on, options, body)
  local _ <close> = setmetatable({}, { __close = function() torch.use_deterministic_algorithms(false) end })
  torch.use_deterministic_algorithms(on, options)
  return body()
end

describe('use_deterministic_algorithms', function()
  it('use_deterministic_algorithms switches on and off', function()
    assert.is_false(torch.are_deterministic_algorithms_enabled())
    setting(true, nil, function()
      assert.is_true(torch.are_deterministic_algorithms_enabled())
      assert.is_false(torch.is_deterministic_algorithms_warn_only_enabled())
    end)
    setting(true, { warn_only = true }, function()
      assert.is_true(torch.are_deterministic_algorithms_enabled())
      assert.is_true(torch.is_deterministic_algorithms_warn_only_enabled())
    end)
    assert.is_false(torch.are_deterministic_algorithms_enabled())
    assert.has_error(function() torch.use_deterministic_algorithms(1) end)
    assert.has_error(function() torch.use_deterministic_algorithms(true, { warn = true }) end)
  end)

  -- Numbers whose sum depends on the order; the CPU adds in the order of the elements.
  torch.manual_seed(11)
  local n, places = 5000, 7
  local values = torch.randn(n) * torch.tensor(10):pow(torch.randint(-4, 5, { n }):to(torch.float32))
  local at = torch.randint(1, places + 1, { n })

  local ops = {
    index_add = function(v, i) return torch.zeros(places, { device = v.device, dtype = v.dtype }):index_add_(1, i, v) end,
    scatter_add = function(v, i) return torch.zeros(places, { device = v.device, dtype = v.dtype }):scatter_add_(1, i, v) end,
    index_put = function(v, i) return torch.zeros(places, { device = v.device, dtype = v.dtype }):index_put_({ i }, v, true) end,
    put = function(v, i) return torch.zeros(places, { device = v.device, dtype = v.dtype }):put_(i, v, true) end,
    ['index_put of two indices'] = function(v, i)
      return torch.zeros(places, places, { device = v.device, dtype = v.dtype }):index_put_({ i, i }, v, true)
    end,
    ['scatter_add of columns'] = function(v, i)
      return torch.zeros(places, 2, { device = v.device, dtype = v.dtype })
        :scatter_add_(1, torch.stack({ i, i:flip(1) }, 2), torch.stack({ v, v }, 2))
    end,
    ['scatter_reduce prod'] = function(v, i)
      return torch.ones(places, { device = v.device, dtype = v.dtype }):scatter_reduce_(1, i, v:tanh() + 1, 'prod')
    end,
    ['assignment to one place'] = function(v, i)
      local x = torch.zeros(places, { device = v.device, dtype = v.dtype })
      x[i] = v
      return x
    end,
    ["embedding's gradient"] = function(v, i)
      local weight = torch.zeros(places, 3, { device = v.device, dtype = v.dtype, requires_grad = true })
      torch.nn.functional.embedding(i, weight):backward(v:unsqueeze(2):expand(-1, 3))
      return weight.grad
    end,
  }

  for name, op in pairs(ops) do
    for _, dtype in ipairs { torch.float32, torch.float64, torch.bfloat16 } do
      it(('makes %s of %s the same every time, and as on the CPU'):format(name, tostring(dtype)), function()
        setting(true, nil, function()
          local want = op(values:to(dtype), at)
          for _ = 1, 3 do
            local got = op(values:to(dtype):to(device), at:to(device)):cpu()
            if dtype == torch.bfloat16 or name:match '^embedding' or name:match 'prod' then
              assert.is_true(torch.allclose(want, got, { rtol = 0.02, atol = 1 }))
              assert.is_true(torch.equal(got, op(values:to(dtype):to(device), at:to(device)):cpu()))
            else
              assert(torch.equal(want, got), tostring(want - got))
            end
          end
        end)
      end)
    end
  end

  it('reports positions that are out of range', function()
    setting(true, nil, function()
      assert.has_error(function()
        torch.zeros(3, { device = device }):index_add_(1, torch.tensor({ 1, 9 }, { device = device }), torch.ones(2, { device = device }))
        if device ~= 'cpu' then torch.cuda.synchronize(device) end
      end)
    end)
  end)
end)
