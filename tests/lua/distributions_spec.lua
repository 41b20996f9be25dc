-- distributions_spec.lua - torch.distributions: against PyTorch's densities, moments, draws and divergences; draws
-- against their own moments, gradients through rsample, transforms and constraints, errors.

local torch = require 'torch'
local fails_with = require 'support.fails_with'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local D = torch.distributions
local device = reference.device

-- A value as the generator spells it: a tensor, a list, a distribution or transform made of others.
local function value_of(spec)
  if type(spec) ~= 'table' then return spec end
  if spec.dtype then return reference.tensor(spec) end
  local values = {}
  if spec.list then
    for i, item in ipairs(spec.list) do values[i] = value_of(item) end
    return values
  end
  for i, item in ipairs(spec.arguments) do values[i] = value_of(item) end
  local named = {}
  for name, item in pairs(spec.parameters) do named[name] = value_of(item) end
  if spec.made:find 'Transform$' and named.dim == nil and #values > 0 then return D[spec.made](table.unpack(values)) end
  if #values == 2 and next(named) == nil then return D[spec.made](values[1], values[2]) end
  if #values == 1 then return D[spec.made](values[1], named) end
  return D[spec.made](named)
end

local function parameters_of(case)
  local named = {}
  for name, value in pairs(case.parameters) do named[name] = value_of(value) end
  return named
end

local cases = { distributions = {}, divergences = {}, transforms = {}, constraints = {} }
for _, case in ipairs(reference.load 'distributions') do
  local list = case.kl and 'divergences' or case.transform and 'transforms' or case.constraint and 'constraints' or 'distributions'
  table.insert(cases[list], case)
end

-- Their mean is not what draws of them come near to: it is not there, its variance is not, or it is one of their parts.
local no_mean = { StudentT = true, Categorical = true, Cauchy = true, HalfCauchy = true, InverseGamma = true, Pareto = true,
  FisherSnedecor = true, VonMises = true }

describe('PyTorch\'s distributions', function()
  for _, case in ipairs(cases.distributions) do
    local function make() return D[case.name](parameters_of(case)) end

    it(case.name, function()
      local d = make()
      local function compare(got, what) reference.compare(got, case[what], what, false, 100) end
      local value = reference.tensor(case.value)
      if case.text then assert.equal(case.text, tostring(d)) end
      assert.same(case.batch_shape, { table.unpack(d.batch_shape) })
      assert.same(case.event_shape, { table.unpack(d.event_shape) })
      compare(d:log_prob(value), 'log_prob')
      for _, what in ipairs { 'mean', 'mode', 'variance', 'stddev' } do
        if case[what] then compare(d[what], what) end
      end
      if case.entropy then compare(d:entropy(), 'entropy') end
      if case.cdf then compare(d:cdf(value), 'cdf') end
      if case.icdf then
        local u = torch.tensor({ 0.1, 0.5, 0.8 }, { dtype = torch.float64, device = device })
        compare(d:icdf(#case.icdf.data % 3 == 0 and u or u:narrow(1, 1, 1)), 'icdf')
      end
      if case.enumerate_support then compare(d:enumerate_support(), 'enumerate_support') end
      assert.is_true(d.support:check(value):all():item())
      if device == 'cpu' then
        torch.manual_seed(5)
        compare(d:sample { 4 }, 'sample')
      end
    end)

    if case.gradients then
      it(case.name .. ' draws with gradients by its parameters', function()
        local leaves, parameters = {}, parameters_of(case)
        for name in pairs(case.gradients) do leaves[name] = parameters[name]:requires_grad_() end
        torch.manual_seed(5)
        local drawn = D[case.name](parameters):rsample { 4 }
        assert.is_true(drawn.requires_grad)
        assert.is_false(D[case.name](parameters):sample({ 4 }).requires_grad)
        local weights = torch.arange(1, drawn:numel() + 1, { dtype = torch.float64, device = device }):view_as(drawn)
        ;(drawn * weights):sum():backward()
        for name, leaf in pairs(leaves) do
          -- On a GPU other numbers are drawn for a seed: there the gradients are finite, and not nothing.
          if device == 'cpu' then reference.compare(leaf.grad, case.gradients[name], name, false, 100) end
          assert.is_true(leaf.grad:isfinite():all():item())
          assert.is_true(leaf.grad:ne(0):any():item() or case.name:find 'Straight' ~= nil)
        end
      end)
    end

    it(case.name .. ' draws what has its mean and variance', function()
      torch.manual_seed(11)
      local d = make()
      local drawn = d:sample { 2000 }
      assert.equal(torch.float64, d:log_prob(d:sample { 3 }).dtype)
      assert.same({ 2000, table.unpack(case.batch_shape) }, { table.unpack(drawn.shape, 1, 1 + #d.batch_shape) })
      if case.mean and not no_mean[case.name] then
        local error = (drawn:mean { dim = 1 } - d.mean):abs() / (d.variance / 2000 + 1e-30):sqrt()
        assert(error:max():item() < 5, tostring(error))
      end
    end)

    it(case.name .. ' expands', function()
      local d = make()
      local wide = d:expand { 2, table.unpack(d.batch_shape) }
      assert.equal(torch.type(d), torch.type(wide))
      assert.equal(torch.Size { 2, table.unpack(d.batch_shape) }, wide.batch_shape)
      assert.equal(d.event_shape, wide.event_shape)
      assert.equal(torch.Size { 4, 2, table.unpack(d.batch_shape) },
        torch.Size { table.unpack(wide:sample({ 4 }).shape, 1, 2 + #d.batch_shape) })
      if #case.log_prob.shape == #case.batch_shape then
        reference.compare(wide:log_prob(reference.tensor(case.value))[2], case.log_prob, 'log_prob', false, 100)
      end
    end)
  end

  for _, case in ipairs(cases.divergences) do
    it(('diverge: %s from %s'):format(case.p.made, case.q.made), function()
      reference.compare(D.kl_divergence(value_of(case.p), value_of(case.q)), case.result, 'kl', false, 100)
    end)
  end
end)

describe('PyTorch\'s transforms', function()
  for _, case in ipairs(cases.transforms) do
    it(case.made.made, function()
      local transform, x = value_of(case.made), reference.tensor(case.x)
      local y = transform(x)
      reference.compare(y, case.y, 'y', false, 100)
      reference.compare(transform.inv(y), case.inverse, 'inverse', false, 1000)
      assert.same(case.shape, { table.unpack(transform:forward_shape(x.shape)) })
      assert.is_true(transform.codomain:check(y):all():item())
      if case.jacobian then
        reference.compare(transform:log_abs_det_jacobian(x, y), case.jacobian, 'jacobian', false, 1000)
        reference.compare(-transform.inv:log_abs_det_jacobian(y, x), case.jacobian, 'jacobian of the inverse', false, 1000)
      end
    end)
  end

  it('keep their last pair, and are equal when their parameters are', function()
    local cached = D.ExpTransform():with_cache(1)
    local x = torch.ones(2, { device = device })
    assert.equal(x, cached.inv(cached(x)))
    assert.is_true(D.ExpTransform() == D.ExpTransform())
    assert.is_true(D.AffineTransform(0, 2) == D.AffineTransform(0, 2))
    assert.is_false(D.AffineTransform(0, 2) == D.AffineTransform(1, 2))
    assert.is_true(D.ComposeTransform { D.ExpTransform() }.inv == D.ComposeTransform { D.ExpTransform().inv })
    assert.equal(D.ExpTransform(), D.ExpTransform().inv.inv)
    assert.equal('ComposeTransform(\n    ExpTransform(),\n    _InverseTransform(TanhTransform())\n)',
      tostring(D.ComposeTransform { D.ExpTransform(), D.TanhTransform().inv }))
  end)

  it('reshape and stack, with dims from 1', function()
    local reshape = D.ReshapeTransform({ 2, 3 }, { 6 })
    local x = torch.randn(4, 2, 3, { device = device })
    assert.equal(torch.Size { 4, 6 }, reshape(x).shape)
    assert.is_true(torch.equal(x, reshape.inv(reshape(x))))
    assert.equal(torch.Size { 4 }, reshape:log_abs_det_jacobian(x, reshape(x)).shape)
    local stacked = D.StackTransform({ D.ExpTransform(), D.identity_transform }, 1)
    local y = stacked(torch.zeros(2, 3, { device = device }))
    assert.same({ { 1, 1, 1 }, { 0, 0, 0 } }, y:tolist())
  end)
end)

describe('PyTorch\'s constraints', function()
  for _, case in ipairs(cases.constraints) do
    it(case.constraint, function()
      local constraint = load('return torch.distributions.constraints.' .. case.constraint, 'constraint', 't', { torch = torch })()
      local x = reference.tensor(case.x)
      assert.equal(case.text, tostring(constraint))
      if case.mask then reference.compare(constraint:check(x), case.mask, 'mask') end
      for _, registry in ipairs { 'biject_to', 'transform_to' } do
        if case[registry] then
          local y = D[registry](constraint)(x)
          reference.compare(y, case[registry], registry, false, 100)
          assert.is_true(constraint:check(y):all():item())
        end
      end
    end)
  end
end)

describe('distributions', function()
  it('rsample propagates gradients to the parameters', function()
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
    fails_with('Expected parameter low (Tensor of shape ()) of distribution Uniform(low: 1.0, high: 1.0) to satisfy the constraint '
      .. 'LessThan(upper_bound=1.0), but found invalid values:\n1.0', D.Uniform, 1.0, 1.0)
    fails_with('Expected parameter probs (Tensor of shape ()) of distribution Geometric(probs: 0.0) to be positive but found '
      .. 'invalid values:\ntensor([0.])', D.Geometric, 0.0)
    fails_with('Value is not broadcastable with batch_shape+event_shape: torch.Size([2]) vs torch.Size([3]).',
      function() D.Normal(torch.zeros(3), 1):log_prob(torch.zeros(2)) end)
    fails_with('The right-most size of value must match event_shape: torch.Size([3]) vs torch.Size([2]).',
      function() D.MultivariateNormal(torch.zeros(2), torch.eye(2)):log_prob(torch.zeros(3)) end)
    fails_with('of distribution Exponential(rate: -1.0) to satisfy the constraint GreaterThan(lower_bound=0.0)', D.Pareto, 0.0, -1.0)
    fails_with('to satisfy the constraint PositiveDefinite()', D.MultivariateNormal, torch.zeros(2), -torch.eye(2))
    fails_with('Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.', D.MultivariateNormal, torch.zeros(2))
    fails_with('Value of df=1 expected to be greater than ndim - 1 = 1.', D.Wishart, 1, torch.eye(2))
    fails_with('Expected dim to be an integer greater than or equal to 2. Found dim=1.', D.LKJCholesky, 1)
    fails_with('Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual 1 vs 0', D.Independent, D.Normal(0, 1), 1)
    fails_with('cache_size must be 0 or 1', D.ExpTransform, { cache_size = 2 })
    fails_with('Cannot transform Boolean constraints', D.biject_to, D.constraints.boolean)
    fails_with('Cannot determine validity of dependent constraint', function() D.constraints.dependent:check(torch.ones(1)) end)
    fails_with('VonMises has no rsample', function() D.VonMises(0.0, 1.0):rsample() end)
    fails_with('Either `probs` or `logits` must be specified, but not both.', D.Bernoulli)
    fails_with('to be within the support (Boolean())', function() D.Bernoulli(0.5):log_prob(torch.tensor(2.0)) end)
    fails_with('No KL(p || q) is implemented for p type Normal and q type Weibull', D.kl_divergence, D.Normal(0, 1),
      D.Weibull(1, 1))
    D.Normal(0.0, -1.0, { validate_args = false })
  end)

  it('are classes to derive from', function()
    local Die = D.Distribution:extend('Die')
    Die.getters.mean = function(self) return (self.sides + 1) / 2 end
    Die.getters.support = function(self) return D.constraints.integer_interval(1, self.sides) end
    Die:constrain { { 'sides', D.constraints.positive_integer } }
    function Die:init(sides)
      self.sides = torch.tensor(sides, { device = device })
      self:setup({}, {})
    end
    function Die:log_prob(value)
      self:check_value(value)
      return -self.sides:to(torch.float32):log():expand_as(value)
    end
    local die = Die(6)
    assert.equal('Die(sides: 6)', tostring(die))
    assert.equal(3.5, die.mean:item())
    assert.near(-math.log(6), die:log_prob(torch.tensor(3, { device = device })):item(), 1e-6)
    fails_with('to be within the support (IntegerInterval(lower_bound=1, upper_bound=6))', function()
      die:log_prob(torch.tensor(7, { device = device }))
    end)
    fails_with('Expected parameter sides', Die, 0)
    D.register_kl(Die, Die, function(p, q) return (q.sides / p.sides):log() end)
    assert.near(math.log(2), D.kl_divergence(Die(6), Die(12)):item(), 1e-6)
    assert.is_true(D.Normal:is_instance(D.Normal(0, 1)) and D.ExponentialFamily:is_instance(D.Normal(0, 1)))
  end)

  it('distributions check their arguments unless validate_args is false', function()
    D.Distribution.set_default_validate_args(false)
    D.Normal(0.0, -1.0)
    D.Distribution.set_default_validate_args(true)
    fails_with('to satisfy the constraint', D.Normal, 0.0, -1.0)
  end)

  it('take no length on trust', function()
    local endless = setmetatable({}, { __len = function() return math.maxinteger end })
    fails_with('element 1 is nil', function() D.Normal(0.0, 1.0):sample(endless) end)
    fails_with('element 1 must be a Transform, not nil', D.TransformedDistribution, D.Normal(0.0, 1.0), endless)
    fails_with('element 1 must be a Transform, not nil', D.transforms.CatTransform, endless)
  end)
end)
