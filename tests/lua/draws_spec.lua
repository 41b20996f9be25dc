-- Draws with a parameter per element (gamma, Dirichlet, Poisson, binomial): PyTorch's numbers for a seed on the CPU, on
-- every device what has the right moments, the derivatives of gamma and Dirichlet numbers, odd parameters.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local device = reference.device

local function op(name) return torch[name] or torch._C[name] end

describe('for a seed, PyTorch\'s numbers are drawn by', function()
  for _, case in ipairs(reference.load 'draws') do
    if case.after and device == 'cpu' then
      it(('%s, %s'):format(case.name, case.result.dtype), function()
        local inputs = {}
        for i, input in ipairs(case.inputs) do inputs[i] = reference.tensor(input) end
        torch.manual_seed(17)
        reference.compare(op(case.name)(table.unpack(inputs)), case.result, case.name)
        assert.equal(case.after, torch.rand({ 1 }, { dtype = torch.float64 }):item())
      end)
    elseif not case.after then
      it('(the derivative) ' .. case.name, function()
        local inputs = {}
        for i, input in ipairs(case.inputs) do inputs[i] = reference.tensor(input) end
        reference.compare(op(case.name)(table.unpack(inputs)), case.result, case.name, false, 100)
        for i, input in ipairs(inputs) do inputs[i] = input:float() end
        local got, expected = op(case.name)(table.unpack(inputs)):double(), reference.tensor(case.result)
        local errors = (got - expected):abs() / expected:abs():clamp_min(1e-30)
        assert.is_true(errors:max():item() < 1e-2, tostring(errors:max()))
        assert.is_true(errors:median():item() < 1e-6)
      end)
    end
  end
end)

describe('drawing', function()
  local function given(...) return torch.tensor({ ... }, { device = device }) end

  -- How many standard errors the mean of n draws is from what it should be.
  local function off(draws, mean, variance)
    local n = draws:size(1)
    return ((draws:double():mean { dim = 1 } - mean) / (variance / n):sqrt()):abs():max():item()
  end

  -- Philox by counter and arithmetic in double: a real GPU draws these too. All that comes to the host is whether a rate was wrong.
  it('Poisson numbers on a GPU copies nothing and follows the seed', function()
    if device == 'cpu' then return end
    local rates = given(0.5, 3, 9.9, 10, 12.5, 100, 1e4, 3e6)
    torch.manual_seed(7)
    torch.cuda.reset_copies()
    local counts, more = torch.poisson(rates), torch.poisson(rates:double())
    local copied = 0
    for _, copy in ipairs(torch.cuda.copies()) do copied = copied + copy.bytes end
    assert.is_true(copied <= 2, copied)
    assert.same({ 1.0, 3.0, 7.0, 9.0, 10.0, 95.0, 10096.0, 2998810.0 }, counts:tolist())
    assert.same({ 0.0, 1.0, 14.0, 9.0, 10.0, 110.0, 10017.0, 2999712.0 }, more:tolist())
  end)

  it('has the right mean and variance, in every method', function()
    torch.manual_seed(3)
    local n = 4000
    local function many(x) return x:expand(n, x:size(1)) end
    local a = given(0.2, 1.0, 5.0, 50.0)
    local gammas = torch._C._standard_gamma(many(a))
    assert.is_true(off(gammas, a, a) < 5)
    assert.is_true(off((gammas - a):square(), a, 2 * a * a + 6 * a) < 5)
    local rates = given(0.5, 9.0, 11.0, 500.0)
    local counts = torch.poisson(many(rates))
    assert.is_true(off(counts, rates, rates) < 5)
    assert.is_true(off((counts - rates):square(), rates, 2 * rates * rates + rates) < 5)
    local trials, p = given(5.0, 40.0, 300.0, 1e6), given(0.9, 0.2, 0.3, 0.7)
    local successes = torch.binomial(many(trials), many(p))
    assert.is_true(off(successes, trials * p, trials * p * (1 - p)) < 5)
    assert.is_true(successes:ge(0):all():item() and successes:le(trials):all():item())
    assert.is_true(successes:eq(successes:floor()):all():item())
  end)

  it('gives the same numbers for a seed, others after that', function()
    local a = torch.full({ 100 }, 0.5, { device = device })
    torch.manual_seed(1)
    local first, second = torch._C._standard_gamma(a), torch._C._standard_gamma(a)
    torch.manual_seed(1)
    assert.is_true(torch.equal(first, torch._C._standard_gamma(a)))
    assert.is_false(torch.equal(first, second))
    local g = torch.Generator(device)
    g:manual_seed(1)
    assert.is_true(torch.equal(first, torch._C._standard_gamma(a, g)))
    assert.equal(100, #first:unique())
  end)

  it('uniform numbers never gives the upper bound', function()
    torch.manual_seed(3)
    for _, dtype in ipairs { torch.float16, torch.bfloat16, torch.float32, torch.float64 } do
      local options = { dtype = dtype, device = device }
      for _, x in ipairs { torch.rand(70000, options), torch.rand_like(torch.empty(70000, options)), torch.nn.init.uniform_(torch.empty(70000, options)) } do
        assert.is_true(x:lt(1):all():item() and x:ge(0):all():item())
      end
      local from, to = torch.tensor(1, options), torch.tensor(1.07, options)
      local x = torch.empty(70000, options):uniform_(1, 1.07)
      assert.is_true(x:lt(to):all():item() and x:ge(from):all():item())
    end
  end)

  it('integers of a wide range favours none', function()
    torch.manual_seed(4)
    for _, n in ipairs { 1 << 27, 1 << 28, 3000000000, (1 << 31) + (1 << 30), 4000000000, (1 << 32) - 1, 1 << 33 } do
      local x = torch.randint(0, n, { 200000 }, { device = device }):cpu()
      local counts = torch.bincount(x * 10 // n + 1)['1:10']
      assert.is_true((counts - 20000):abs():max():item() < 1000, tostring(n))
    end
  end)

  it('of half types is in float', function()
    for _, dtype in ipairs { torch.float16, torch.bfloat16 } do
      local a = torch.full({ 64 }, 2, { dtype = dtype, device = device })
      for _, draws in ipairs { torch._C._standard_gamma(a), torch._C._sample_dirichlet(a), torch.poisson(a),
        torch.binomial(a, a * 0.25) } do
        assert.equal(dtype, draws.dtype)
        assert.is_true(draws:isfinite():all():item())
      end
    end
  end)

  it('drawing ends for all parameters', function()
    local inf, nan = math.huge, 0 / 0
    for _, dtype in ipairs { torch.float32, torch.float64 } do
      local function make(...) return torch.tensor({ ... }, { dtype = dtype, device = device }) end
      local gammas = torch._C._standard_gamma(make(0.0, inf, nan, -0.5, -3.0, 1e-30, 1e30)):tolist()
      assert.equal(inf, gammas[2])
      assert.is_true(gammas[1] > 0 and gammas[6] > 0)
      local trials = make(nan, 10.0, inf, -1.0, 10.0, 10.0, 1e30, 10.0, 1e30)
      local drawn = torch.binomial(trials, make(0.5, nan, 0.5, 0.5, 0.0, 1.0, 0.5, 1e-38, 1e-30)):tolist()
      for i = 1, 3 do assert.is_true(drawn[i] ~= drawn[i]) end
      assert.same({ 0, 0, 10 }, { drawn[4], drawn[5], drawn[6] })
      assert.equal(inf, torch.poisson(make(inf)):item())
      assert.near(1, torch.poisson(make(1e30)):item() / 1e30, 1e-6)
    end
  end)

  it('takes expanded and transposed parameters, and none', function()
    local a = given(0.5, 2.0, 30.0):unsqueeze(2):expand(3, 50)
    torch.manual_seed(1)
    local plain = torch._C._standard_gamma(a:contiguous())
    torch.manual_seed(1)
    assert.is_true(torch.equal(plain, torch._C._standard_gamma(a)))
    assert.same({ 50, 3 }, { table.unpack(torch.binomial(given(5.0, 6.0, 7.0):expand(50, 3), given(0.5)).shape) })
    assert.equal(0, torch.poisson(torch.empty({ 0, 3 }, { device = device })):numel())
    assert.equal(0, torch._C._sample_dirichlet(torch.empty({ 0, 3 }, { device = device })):numel())
  end)

  it('drawing rejects parameters outside of the domain', function()
    fails_with('invalid Poisson rate, expected rate to be non-negative', torch.poisson, given(-1.0))
    fails_with('invalid Poisson rate', torch.poisson, given(0 / 0))
    fails_with('binomial only supports floating-point dtypes for count, got: Long', torch.binomial, given(1), given(0.5))
    fails_with('Found dtype Double but expected Float', torch.binomial, given(1.0), given(0.5):double())
    fails_with("The size of tensor a (2) must match the size of tensor b (3)", torch.binomial, given(1.0, 2.0), given(0.5, 0.5, 0.5))
    fails_with('"gamma_cpu" not implemented for', torch._C._standard_gamma, given(1))
  end)

  it('has no derivative where PyTorch has none', function()
    local p = given(0.5, 0.5):requires_grad_()
    local drawn = torch.binomial(given(3.0, 4.0), p)
    assert.is_true(drawn.requires_grad)
    fails_with("the derivative for 'binomial' is not implemented.", function() drawn:sum():backward() end)
    local x = torch._C._standard_gamma(p)
    local slope = torch.autograd.grad(x:sum(), p, { create_graph = true })[1]
    fails_with("the derivative for '_standard_gamma_grad' is not implemented.", torch.autograd.grad, slope:sum(), p)
  end)
end)
