-- Activations and dropout in place, as modules and as functions: they write into their input, and gradients are those
-- of the form that does not.

local torch = require 'torch'

local nn, F = torch.nn, torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

local function input() return torch.tensor({ -4, -2, -1, -0.5, -0.1, 0.2, 0.7, 2.5, 3.5, 7 }, { device = device }) end

-- The result of make(x) for a computed x, and the gradient of the leaf below it.
local function gradient(make)
  local leaf = input():requires_grad_()
  local x = leaf * 1.5
  torch.manual_seed(5)
  local y = make(x)
  ;(y * y):sum():backward()
  return y, leaf.grad, x
end

local modules = {
  ReLU = {}, ReLU6 = {}, SELU = {}, SiLU = {}, Mish = {}, Hardswish = {}, Hardsigmoid = {}, ELU = { alpha = 0.7 },
  CELU = { alpha = 0.7 }, LeakyReLU = { negative_slope = 0.2 }, Hardtanh = { min_val = -2, max_val = 3 },
  Threshold = { threshold = 0.5, value = -3 }, RReLU = {}, Dropout = { p = 0.5 }, AlphaDropout = { p = 0.5 },
}

local function with(options, inplace)
  local copy = { inplace = inplace }
  for name, value in pairs(options) do copy[name] = value end
  return copy
end

describe('in place', function()
  for name, options in pairs(modules) do
    for _, training in ipairs { true, false } do
      it(('nn.%s%s gives the gradients of the other form'):format(name, training and '' or ' in eval()'), function()
        local want, want_grad = gradient(nn[name](with(options, false)):train(training))
        local got, got_grad, x = gradient(nn[name](with(options, true)):train(training))
        assert.is_true(torch.equal(want, got))
        assert.is_true(torch.equal(want_grad, got_grad))
        assert.is_true(got == x)
      end)
    end
  end

  local functions = { relu = {}, relu6 = {}, selu = {}, silu = {}, mish = {}, hardswish = {}, hardsigmoid = {},
    elu = { 0.7 }, celu = { 0.7 }, leaky_relu = { 0.2 }, hardtanh = { -2, 3 }, threshold = { 0.5, -3 },
    rrelu = { 0.1, 0.3, false }, dropout = { 0.5, true } }
  for name, arguments in pairs(functions) do
    it('F.' .. name .. ' takes inplace by name and by position', function()
      local want, want_grad = gradient(function(x) return F[name](x, table.unpack(arguments)) end)
      local by_name = table.move(arguments, 1, #arguments, 1, {})
      by_name[#by_name + 1] = { inplace = true }
      local by_place = table.move(arguments, 1, #arguments, 1, {})
      by_place[#by_place + 1] = true
      for _, list in ipairs { by_name, by_place } do
        local got, got_grad, x = gradient(function(y) return F[name](y, table.unpack(list)) end)
        assert.is_true(torch.equal(want, got) and torch.equal(want_grad, got_grad))
        assert.is_true(got == x)
      end
      local x = input()
      by_place[#by_place] = false
      assert.is_false(F[name](x, table.unpack(by_place)) == x)
    end)
  end

  it('refuses a leaf that requires a gradient', function()
    local leaf = input():requires_grad_()
    for _, name in ipairs { 'ReLU', 'LeakyReLU', 'Hardtanh', 'Dropout' } do
      local ok, message = pcall(nn[name] { inplace = true }, leaf)
      assert.is_false(ok)
      assert(tostring(message):find('a leaf Variable that requires grad is being used in an in-place operation', 1, true), message)
    end
  end)

  it('is noticed by a derivative that needs the input', function()
    local leaf = input():requires_grad_()
    local x = leaf * 1
    local square = x * x
    F.elu(x, { inplace = true })
    local ok, message = pcall(function() square:sum():backward() end)
    assert.is_false(ok)
    assert(tostring(message):find('modified by an inplace operation', 1, true), message)
  end)

  it('keeps other options', function()
    local x = input()
    assert.is_true(torch.equal(F.leaky_relu(x, 0.3), F.leaky_relu(x:clone(), { negative_slope = 0.3, inplace = true })))
  end)
end)
