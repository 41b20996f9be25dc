-- adversarial.lua - d2l: the two steps of adversarial training (I. Goodfellow et al. 2014). loss is
-- a function of scores and targets, such as BCEWithLogitsLoss.

local torch = require 'torch'

local M = {}

--- A step of the discriminator: real data against the generator's output for the noise Z. Returns
--- the loss.
function M.update_D(X, Z, net_D, net_G, loss, trainer_D)
  trainer_D:zero_grad()
  local fake = torch.no_grad(function() return net_G(Z) end)
  local real_Y, fake_Y = net_D(X), net_D(fake)
  local loss_D = (loss(real_Y, torch.ones_like(real_Y)) + loss(fake_Y, torch.zeros_like(fake_Y))) / 2
  loss_D:backward()
  trainer_D:step()
  return loss_D:detach()
end

--- A step of the generator: its output should be classified as real. Returns the loss.
function M.update_G(Z, net_D, net_G, loss, trainer_G)
  trainer_G:zero_grad()
  local fake_Y = net_D(net_G(Z))
  local loss_G = loss(fake_Y, torch.ones_like(fake_Y))
  loss_G:backward()
  trainer_G:step()
  return loss_G:detach()
end

return M
