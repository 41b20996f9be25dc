-- distributions.lua - torch.distributions: finds each distribution in its family's file when it is
-- first named.

local families = {
  continuous = 'Normal Uniform Exponential Laplace Cauchy VonMises GeneralizedPareto',
  derived = 'LogNormal LogisticNormal HalfNormal HalfCauchy Gumbel Weibull Pareto Kumaraswamy InverseGamma',
  discrete = 'Bernoulli ContinuousBernoulli Geometric Binomial NegativeBinomial Poisson',
  categories = 'Categorical OneHotCategorical OneHotCategoricalStraightThrough Multinomial LogitRelaxedBernoulli '
    .. 'RelaxedBernoulli ExpRelaxedCategorical RelaxedOneHotCategorical',
  gamma = 'Gamma Chi2 Beta Dirichlet StudentT FisherSnedecor',
  multivariate = 'MultivariateNormal LowRankMultivariateNormal Wishart LKJCholesky',
  composed = 'TransformedDistribution Independent MixtureSameFamily',
  distribution = 'ExponentialFamily',
  kl = 'kl_divergence register_kl',
  constraint_registry = 'biject_to transform_to',
  ['transforms.transform'] = 'Transform ComposeTransform IndependentTransform ReshapeTransform identity_transform',
  ['transforms.elementwise'] = 'ExpTransform SigmoidTransform SoftplusTransform TanhTransform AbsTransform PowerTransform '
    .. 'AffineTransform CumulativeDistributionTransform',
  ['transforms.vector'] = 'SoftmaxTransform StickBreakingTransform LowerCholeskyTransform PositiveDefiniteTransform '
    .. 'CorrCholeskyTransform CatTransform StackTransform',
}

-- Files that return a single value.
local where = {
  Distribution = 'distribution', constraints = 'constraints', transforms = 'transforms', kl = 'kl',
  constraint_registry = 'constraint_registry', utils = 'utils',
}
local family_of = {}
for file, names in pairs(families) do
  for name in names:gmatch '%S+' do where[name], family_of[name] = file, true end
end

local distributions = { __names = where }

return setmetatable(distributions, {
  __index = function(_, name)
    local file = where[name]
    if not file then return nil end
    local value = require('torch.distributions.' .. file)
    if family_of[name] then value = value[name] end
    rawset(distributions, name, value)
    return value
  end,
})
