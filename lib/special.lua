-- special.lua - torch.special: the operations special_..., and torch's operations under the same or
-- another name.

local torch = require 'torch'

local special = {
  gammainc = torch.igamma, gammaincc = torch.igammac, gammaln = torch.lgamma, multigammaln = torch.mvlgamma, psi = torch.digamma,
  expit = torch.sigmoid,
}
for name in ([[digamma erf erfc erfinv exp2 expm1 i0 log1p log_softmax logit logsumexp polygamma round sinc softmax xlogy]]):gmatch '%S+' do
  special[name] = torch[name]
end
for name, value in pairs(torch) do
  local own = type(name) == 'string' and name:match '^special_(.+)$'
  if own then special[own] = value end
end

return special
