-- distributions_spec.lua - torch.distributions: against PyTorch's densities and moments, draws against their own
-- moments, gradients through rsample, errors.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local D = torch.distributions
local device = reference.device

local function parameters_of(case)
  local named = {}
  for name, value in pairs(case.parameters) do
    named[name] = type(value) == 'table' and reference.tensor(value) or value
  end
  return named
end

describe('PyTorch\'s distributions', function()
  for _, case in ipairs(reference.load 'distributions') do
    it(case.name, function()
      local d = D[case.name](parameters_of(case))
      local function compare(got, what) reference.compare(got, case[what], what, false, 10) end
      local value = reference.tensor(case.value)
      compare(d:log_prob(value), 'log_prob')
      for _, what in ipairs { 'mean', 'variance', 'stddev' } do
        if case[what] then compare(d[what], what) end
      end
      if case.entropy then compare(d:entropy(), 'entropy') end
      if case.cdf then compare(d:cdf(value), 'cdf') end
      if case.icdf then
        compare(d:icdf(torch.tensor({ 0.1, 0.5, 0.8 }, { dtype = torch.float64, device = device })), 'icdf')
      end
      if case.kl then
        local other = parameters_of(case)
        for name, parameter in pairs(other) do
          if torch.is_tensor(parameter) and case.name ~= 'Uniform' then other[name] = parameter:flip { -1 } end
        end
        compare(D.kl_divergence(d, D[case.name](other)), 'kl')
      end
      if case.sample and device == 'cpu' then
        torch.manual_seed(5)
        compare(d:sample { 4 }, 'sample')
      end
    end)

    if case.gradients then
      it(case.name .. ' draws with gradients by its parameters', function()
        local leaves = parameters_of(case)
        for _, leaf in pairs(leaves) do leaf:requires_grad_() end
        torch.manual_seed(5)
        local drawn = D[case.name](leaves):rsample { 4 }
        assert.is_true(drawn.requires_grad)
        assert.is_false(D[case.name](leaves):sample({ 4 }).requires_grad)
        local weights = torch.arange(1, drawn:numel() + 1, { dtype = torch.float64, device = device }):view_as(drawn)
        ;(drawn * weights):sum():backward()
        for name, leaf in pairs(leaves) do
          -- On a GPU other numbers are drawn for a seed: there the gradients are finite, and not nothing.
          if device == 'cpu' then reference.compare(leaf.grad, case.gradients[name], name, false, 10) end
          assert.is_true(leaf.grad:isfinite():all():item())
          assert.is_true(leaf.grad:ne(0):any():item())
        end
      end)
    end

    it(case.name .. ' draws what has its mean and variance', function()
      torch.manual_seed(11)
      local d = D[case.name](parameters_of(case))
      local drawn = d:sample { 2000 }
      assert.equal(torch.float64, d:log_prob(d:sample { 3 }).dtype)
      assert.same({ 2000, table.unpack(d.batch_shape) }, { table.unpack(drawn.shape, 1, 1 + #d.batch_shape) })
      if case.mean and case.name ~= 'StudentT' then
        local error = (drawn:mean { dim = 1 } - d.mean):abs() / (d.variance / 2000):sqrt()
        assert(error:max():item() < 5, tostring(error))
      end
    end)

    it(case.name .. ' expands', function()
      local d = D[case.name](parameters_of(case))
      local wide = d:expand { 2, table.unpack(d.batch_shape) }
      assert.equal(torch.Size { 2, table.unpack(d.batch_shape) }, wide.batch_shape)
      assert.equal(d.event_shape, wide.event_shape)
      assert.equal(torch.Size { 4, 2, table.unpack(d.batch_shape) },
        torch.Size { table.unpack(wide:sample({ 4 }).shape, 1, 2 + #d.batch_shape) })
    end)
  end
end)

describe('distributions', function()
  local function fails_with(text, fn, ...)
    local ok, message = pcall(fn, ...)
    assert.is_false(ok)
    assert(tostring(message):find(text, 1, true), message)
  end

  it('let gradients through what rsample draws', function()
    for _, name in ipairs { 'Normal', 'Laplace', 'LogNormal', 'Cauchy' } do
      local loc = torch.tensor({ 0.0, 1.0 }, { device = device, requires_grad = true })
      assert.is_true(D[name](loc, 1.0):rsample({ 3 }).requires_grad)
      assert.is_false(D[name](loc, 1.0):sample({ 3 }).requires_grad)
    end
    fails_with('has no rsample', function() D.Poisson(1.0):rsample() end)
  end)

  it('take numbers and print their parameters', function()
    assert.equal('Normal(loc: 0.0, scale: 1.0)', tostring(D.Normal(0, 1)))
    assert.equal('Normal(loc: torch.Size([2]), scale: torch.Size([2]))', tostring(D.Normal(torch.zeros(2), torch.ones(2))))
    assert.equal(torch.Size {}, D.Normal(0, 1):sample().shape)
  end)

  it('count categories from 1', function()
    local d = D.Categorical { probs = torch.tensor({ 0.0, 1.0 }, { device = device }) }
    assert.equal(2, d:sample():item())
    assert.near(0, d:log_prob(torch.tensor(2, { device = device })):item(), 1e-6)
    assert.same({ 1, 2 }, d:enumerate_support():tolist())
    local m = D.Multinomial(10, { probs = torch.tensor({ 0.5, 0.5 }, { device = device }) })
    assert.equal(10, m:sample():sum():item())
    assert.equal(torch.Size { 3, 2 }, m:sample({ 3 }).shape)
  end)

  it('refuse parameters and values that are out of range', function()
    fails_with('to satisfy the constraint GreaterThan(lower_bound=0.0), but found invalid values', D.Normal, 0.0, -1.0)
    fails_with('Uniform is not defined when low>= high', D.Uniform, 1.0, 1.0)
    fails_with('Either `probs` or `logits` must be specified, but not both.', D.Bernoulli)
    fails_with('to be within the support (Boolean())', function() D.Bernoulli(0.5):log_prob(torch.tensor(2.0)) end)
    fails_with('No KL(p || q) is implemented for p type Normal and q type Uniform', D.kl_divergence, D.Normal(0, 1),
      D.Uniform(0, 1))
    D.Normal(0.0, -1.0, { validate_args = false })
  end)

  it('take no length on trust', function()
    local endless = setmetatable({}, { __len = function() return math.maxinteger end })
    fails_with('element 1 is nil', function() D.Normal(0.0, 1.0):sample(endless) end)
  end)
end)
