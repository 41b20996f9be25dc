-- cosine.lua - rates that decrease along half a cosine: CosineAnnealingLR(optimizer, T_max,
-- eta_min), and CosineAnnealingWarmRestarts(optimizer, T_0, T_mult, eta_min), which restarts after
-- T_0 epochs, then after T_mult times as many, and so on (I. Loshchilov, F. Hutter 2016).

--[=[ arguments
T_max: Number of steps of half a period.
T_0: Number of steps until the first restart.
T_mult: Factor by which the distance between restarts grows.
eta_min: Minimum of the learning rate.
epoch: Number of the epoch, which may be a fraction; the next one if absent.
CosineAnnealingLR(): Half a cosine from the initial rate to eta_min.
CosineAnnealingWarmRestarts(): Half a cosine again and again, over longer and longer periods.
]=]

--[=[ examples
CosineAnnealingLR
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 0.5
CosineAnnealingWarmRestarts
    optimizer = torch.optim.SGD({torch.ones(1, {requires_grad = true})}, {lr = 1.0})
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3)
    for epoch = 1, 3 do
      optimizer:step()
      scheduler:step()
    end
    scheduler:get_last_lr()[1]
    --> 1.0
]=]

local Scheduler = require 'torch.optim.lr_scheduler.scheduler'
local fail = require 'torch.support.fail'

local CosineAnnealingLR = Scheduler:extend('CosineAnnealingLR')

function CosineAnnealingLR:init(a)
  self.T_max, self.eta_min = a.T_max, a.eta_min
  self:start(a.optimizer, a.last_epoch)
end
Scheduler.declare(CosineAnnealingLR, 'number T_max, number eta_min=0.0')

function CosineAnnealingLR:get_lr()
  local epoch, T_max, eta_min = self.last_epoch, self.T_max, self.eta_min
  if self._is_initial then return self:present_rates() end
  if self._step_count == 1 and epoch > 0 then return self:closed_form() end
  if (epoch - 1 - T_max) % (2 * T_max) == 0 then -- at the minimum, where the quotient below would divide by 0
    return self:each_rate(function(rate, i)
      return rate + (self.base_lrs[i] - eta_min) * (1 - math.cos(math.pi / T_max)) / 2
    end)
  end
  local factor = (1 + math.cos(math.pi * epoch / T_max)) / (1 + math.cos(math.pi * (epoch - 1) / T_max))
  return self:each_rate(function(rate) return factor * (rate - eta_min) + eta_min end)
end

function CosineAnnealingLR:closed_form()
  local factor = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
  return self:each_base(function(base) return self.eta_min + (base - self.eta_min) * factor end)
end

local WarmRestarts = Scheduler:extend('CosineAnnealingWarmRestarts')

function WarmRestarts:init(a)
  if math.type(a.T_0) ~= 'integer' or a.T_0 <= 0 then
    fail('Expected positive integer T_0, but got %s', tostring(a.T_0))
  end
  if math.type(a.T_mult) ~= 'integer' or a.T_mult < 1 then
    fail('Expected integer T_mult >= 1, but got %s', tostring(a.T_mult))
  end
  self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = a.T_0, a.T_0, a.T_mult, a.eta_min, a.last_epoch
  self:start(a.optimizer, a.last_epoch)
end
Scheduler.declare(WarmRestarts, 'any T_0, any T_mult=1, number eta_min=0.0')

function WarmRestarts:get_lr()
  local factor = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
  return self:each_base(function(base) return self.eta_min + (base - self.eta_min) * factor end)
end

-- epoch may have a fraction: the progress within the epoch.
function WarmRestarts:step(epoch)
  self._step_count = self._step_count + 1
  if epoch == nil and self.last_epoch < 0 then epoch = 0 end
  if epoch == nil then
    epoch = self.last_epoch + 1
    self.T_cur = self.T_cur + 1
    if self.T_cur >= self.T_i then
      self.T_cur = self.T_cur % self.T_i
      self.T_i = self.T_i * self.T_mult
    end
  elseif epoch < 0 then
    fail('Expected non-negative epoch, but got %s', tostring(epoch))
  elseif epoch < self.T_0 then
    self.T_i, self.T_cur = self.T_0, epoch
  elseif self.T_mult == 1 then
    self.T_cur = epoch % self.T_0
  else
    local n = math.floor(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1) / math.log(self.T_mult))
    self.T_i = math.tointeger(self.T_0 * self.T_mult ^ n)
    self.T_cur = epoch - self.T_0 * (self.T_mult ^ n - 1) / (self.T_mult - 1)
  end
  self.last_epoch = math.floor(epoch)
  self:set_rates(self:get_lr())
end

return { CosineAnnealingLR = CosineAnnealingLR, CosineAnnealingWarmRestarts = WarmRestarts }
