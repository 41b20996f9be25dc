-- optim.lua - torch.optim: optimizers, found in their own modules when first named.

local where = { Optimizer = 'optimizer', SGD = 'sgd' }

local optim = { __names = where }

return setmetatable(optim, {
  __index = function(_, name)
    if not where[name] then return nil end
    local value = require('torch.optim.' .. where[name])
    rawset(optim, name, value)
    return value
  end,
})
