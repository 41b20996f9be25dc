-- lambda.lua - schedulers by functions of the epoch: LambdaLR(optimizer, lr_lambda), the initial
-- rate times it; MultiplicativeLR(optimizer, lr_lambda), the last rate times it. lr_lambda: a
-- function, or one for each group.

--[=[ arguments
lr_lambda: Function of the epoch's number that returns a factor, or a list with one for each group.
LambdaLR(): The initial rate times a function of the epoch.
MultiplicativeLR(): Multiplies the rate by a function of the epoch, every epoch.
]=]

--[=[ examples
LambdaLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, function(epoch) return 1 / (epoch + 1) end)
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.25
MultiplicativeLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, function() return 0.5 end)
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.125
]=]

local Scheduler = require 'torch.optim.lr_scheduler.scheduler'
local fail = require 'torch.support.fail'

local function init(self, a)
  local functions = Scheduler.per_group(a.optimizer, 'lr_lambda', a.lr_lambda)
  for _, f in ipairs(functions) do
    if type(f) ~= 'function' then fail('%s: lr_lambda must be a function or a list of them', self.__classname) end
  end
  self.lambda_of = function(i) return functions[i] end -- functions are not part of the state
  Scheduler.start(self, a.optimizer, a.last_epoch)
end

local LambdaLR = Scheduler:extend('LambdaLR')
LambdaLR.init = init
Scheduler.declare(LambdaLR, 'function|table lr_lambda')

function LambdaLR:get_lr()
  return self:each_base(function(base, i) return base * self.lambda_of(i)(self.last_epoch) end)
end

local MultiplicativeLR = Scheduler:extend('MultiplicativeLR')
MultiplicativeLR.init = init
Scheduler.declare(MultiplicativeLR, 'function|table lr_lambda')

function MultiplicativeLR:get_lr()
  if self._is_initial then return self:present_rates() end
  return self:each_rate(function(rate, i) return rate * self.lambda_of(i)(self.last_epoch) end)
end

return { LambdaLR = LambdaLR, MultiplicativeLR = MultiplicativeLR }
