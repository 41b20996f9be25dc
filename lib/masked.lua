-- masked.lua - torch.masked: reductions and normalizations with a mask (src/ops/masked.lua), called
-- masked_... in torch.

local torch = require 'torch'

local masked = {}
for name in ([[sum prod amax amin argmax argmin mean median logsumexp logaddexp norm var std cumsum cumprod softmax log_softmax softmin
  normalize]]):gmatch '%S+' do
  masked[name] = torch['masked_' .. name]
end

return masked
