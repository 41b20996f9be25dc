-- lr_scheduler.lua - torch.optim.lr_scheduler: schedulers, each loaded from its file on first use.
--
-- Arguments after the optimizer are positional in PyTorch's order, or named in a last table:
-- StepLR(optimizer, 30, {gamma = 0.1}).

local where = {
  LRScheduler = 'scheduler', LambdaLR = 'lambda', MultiplicativeLR = 'lambda', StepLR = 'decay', MultiStepLR = 'decay',
  ConstantLR = 'decay', LinearLR = 'decay', ExponentialLR = 'decay', PolynomialLR = 'decay', CosineAnnealingLR = 'cosine',
  CosineAnnealingWarmRestarts = 'cosine', OneCycleLR = 'cycle', CyclicLR = 'cycle', ReduceLROnPlateau = 'plateau',
  SequentialLR = 'composed', ChainedScheduler = 'composed',
}

local schedulers = { __names = where }

return setmetatable(schedulers, {
  __index = function(_, name)
    if not where[name] then return nil end
    local value = require('torch.optim.lr_scheduler.' .. where[name])
    value = value[name] or value
    rawset(schedulers, name, value)
    return value
  end,
})
