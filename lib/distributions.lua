-- distributions.lua - torch.distributions: finds each distribution in its family's file when it is first named.

local families = {
  continuous = 'Normal LogNormal Uniform Exponential Laplace Cauchy HalfNormal',
  discrete = 'Bernoulli Geometric Binomial NegativeBinomial Poisson Categorical OneHotCategorical Multinomial',
  gamma = 'Gamma Chi2 Beta Dirichlet StudentT',
  kl = 'kl_divergence register_kl',
}

local where = { Distribution = 'distribution' }
for file, names in pairs(families) do
  for name in names:gmatch '%S+' do where[name] = file end
end

local distributions = { __names = where }

return setmetatable(distributions, {
  __index = function(_, name)
    local file = where[name]
    if not file then return nil end
    local value = require('torch.distributions.' .. file)
    if families[file] then value = value[name] end
    rawset(distributions, name, value)
    return value
  end,
})
