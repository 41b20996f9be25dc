-- optim.lua - torch.optim: optimizers, and lr_scheduler, each loaded from its file on first use.

local where = {
  Optimizer = 'optimizer', SGD = 'sgd', Adam = 'adam', AdamW = 'adamw', Adam8bit = 'adam8bit', AdamW8bit = 'adamw8bit', NAdam = 'nadam', RAdam = 'radam',
  Adagrad = 'adagrad', Adadelta = 'adadelta', Adamax = 'adamax', RMSprop = 'rmsprop', SparseAdam = 'sparse_adam', ASGD = 'asgd', Rprop = 'rprop',
  LBFGS = 'lbfgs', Muon = 'muon', Adafactor = 'adafactor', swa_utils = 'swa_utils', lr_scheduler = 'lr_scheduler',
}

local optim = { __names = where }

return setmetatable(optim, {
  __index = function(_, name)
    if not where[name] then return nil end
    local value = require('torch.optim.' .. where[name])
    rawset(optim, name, value)
    return value
  end,
})
