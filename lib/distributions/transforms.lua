-- transforms.lua - torch.distributions.transforms: all of them, as torch.distributions has them
-- too.

local all = {}
for _, file in ipairs { 'transform', 'elementwise', 'vector' } do
  for name, value in pairs(require('torch.distributions.transforms.' .. file)) do all[name] = value end
end
return all
