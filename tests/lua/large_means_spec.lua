-- large_means_spec.lua - means, variances and normalizations of numbers whose mean is large beside their spread, and of equal ones.

local torch = require 'torch'
local F = torch.nn.functional
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'

-- Sizes and reduced dimension of each way that the kernels go: short, middle and long lines, lines in pieces, columns, many and few of them.
local ways = {
  { name = 'short lines', shape = { 50, 10 }, dim = 2 },
  { name = 'lines', shape = { 7, 768 }, dim = 2 },
  { name = 'long lines', shape = { 2, 20001 }, dim = 2 },
  { name = 'lines in pieces', shape = { 1, 300001 }, dim = 2 },
  { name = 'columns', shape = { 1000, 64 }, dim = 1 },
  { name = 'few columns', shape = { 3001, 5 }, dim = 1 },
  { name = 'columns in pieces', shape = { 9001, 70 }, dim = 1 },
}

-- Numbers of a mean, and the same ones in double.
local function numbers(shape, mean, dtype)
  local x = (torch.randn(shape, { dtype = torch.float64 }) + mean):to(dtype or torch.float32)
  return x:to(device), x:double()
end

local function relative_error(got, expected) return ((got:cpu():double() - expected):abs() / expected:abs()):max():item() end

describe('a variance of float32 keeps its digits', function()
  setup(function() torch.manual_seed(5) end)

  for _, way in ipairs(ways) do
    for _, mean in ipairs { 0, 1e3, 1e5, 1e6 } do
      it(('in %s of mean %g'):format(way.name, mean), function()
        local x, exact = numbers(way.shape, mean)
        local variance = exact:var(way.dim)
        assert.is_true(relative_error(x:var(way.dim), variance) < 5e-7)
        assert.is_true(relative_error(x:std(way.dim), variance:sqrt()) < 5e-7)
        assert.is_true(relative_error((torch.var_mean(x, way.dim)), variance) < 5e-7)
        assert.is_true(relative_error((torch.std_mean(x, way.dim)), variance:sqrt()) < 5e-7)
      end)
    end
  end

  it('is exact for float16 values in float32', function()
    local x, exact = numbers({ 20, 300 }, 1000, torch.float16)
    assert.is_true(relative_error(x:var(2), exact:var(2)) < 1e-3)
  end)

  it('where a row begins with an outlier', function()
    for _, n in ipairs { 500, 20001 } do
      local x, exact = numbers({ 4, n }, 10)
      x['..., 1'], exact['..., 1'] = 1e6, 1e6
      assert.is_true(relative_error(x:var(2), exact:var(2)) < 5e-7)
    end
  end)

  it('and is nan where a number is', function()
    for _, value in ipairs { 0 / 0, math.huge, -math.huge } do
      local x = numbers({ 3, 100 }, 1)
      x[{ 1, 1 }], x[{ 2, 50 }] = value, value
      local variance = x:var(2):cpu()
      assert.is_true(variance[1]:isnan():item() and variance[2]:isnan():item() and not variance[3]:isnan():item())
    end
  end)
end)

describe('of equal numbers', function()
  for _, way in ipairs(ways) do
    for _, value in ipairs { 0.1, 1000.1, 1e6 + 0.1, -7.3 } do
      it(('in %s, of %g, the variance is 0 and the mean at most 6 units in the last place off'):format(way.name, value), function()
        local x = torch.full(way.shape, value, { device = device })
        local one = torch.tensor(value):double():item()
        assert.equal(0, x:var(way.dim):abs():max():item())
        assert.equal(0, x:std(way.dim):abs():max():item())
        local ulp = 2.0 ^ (math.floor(math.log(math.abs(one), 2)) - 23)
        local off = (x:mean(way.dim):cpu():double() - one):abs():max():item()
        local most = device == 'cpu' and 6 or 24 -- a GPU's threads add more elements to one number, as PyTorch's do
        assert.is_true(off <= most * ulp, ('%g units'):format(off / ulp))
      end)
    end
  end

  it('each normalization is 0', function()
    for _, length in ipairs { 5, 20, 100, 3000, 20001 } do
      for _, value in ipairs { 0.1, 1000.1, 1e6 + 0.1 } do
        local x = torch.full({ 6, 4, length }, value, { device = device })
        assert.equal(0, F.layer_norm(x, { length }):abs():max():item())
        assert.equal(0, F.group_norm(x, 2):abs():max():item())
        assert.equal(0, F.instance_norm(x):abs():max():item())
        assert.equal(0, F.batch_norm(x, nil, nil, { training = true }):abs():max():item())
        assert.equal(0, F.batch_norm(x:reshape(-1, length), nil, nil, { training = true }):abs():max():item())
      end
    end
  end)
end)

describe('a normalization of numbers with a large mean', function()
  setup(function() torch.manual_seed(6) end)

  -- The mean is a float32, half a unit in the last place off at most; what remains is the spread.
  local function check(normalized, exact, mean)
    local most = 1e-5 + 0.6 * 2.0 ^ (math.floor(math.log(mean, 2)) - 23)
    local off = (normalized:cpu():double() - exact):abs():max():item()
    assert.is_true(off <= 4 * most, ('%g, at most %g'):format(off, 4 * most))
  end

  for _, mean in ipairs { 1e3, 1e5, 1e6 } do
    for _, length in ipairs { 10, 100, 768, 5000 } do
      it(('%g, of %d elements'):format(mean, length), function()
        local x, exact = numbers({ 8, 4, length }, mean)
        check(F.layer_norm(x, { length }), F.layer_norm(exact, { length }), mean)
        check(F.group_norm(x, 2), F.group_norm(exact, 2), mean)
        check(F.instance_norm(x), F.instance_norm(exact), mean)
        check(F.batch_norm(x, nil, nil, { training = true }), F.batch_norm(exact, nil, nil, { training = true }), mean)
        local columns, rows = x:reshape(32, length), exact:reshape(32, length)
        check(F.batch_norm(columns, nil, nil, { training = true }), F.batch_norm(rows, nil, nil, { training = true }), mean)
      end)
    end
  end

  it('has the running variance of the numbers', function()
    local x, exact = numbers({ 64, 3, 50 }, 1e6)
    local layer = torch.nn.BatchNorm1d(3, { momentum = 1.0 }):to(device)
    layer(x)
    assert.is_true(relative_error(layer.running_var, exact:transpose(1, 2):reshape(3, -1):var(2)) < 5e-7)
  end)
end)
