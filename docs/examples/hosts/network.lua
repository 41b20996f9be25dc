-- network.lua - a small network for the hosts of this folder: it learns the square of a number.
-- Each Lua state that requires it has a network of its own.

local torch = require 'torch'
local nn, F = torch.nn, torch.nn.functional

local network = {}

torch.manual_seed(1)
local net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
local optimizer = torch.optim.Adam(net:parameters(), {lr = 0.05})
local x = torch.linspace(-1, 1, 64):reshape(64, 1)

-- Trains the network for a number of steps and returns the loss of the last one.
function network.train(steps)
  local loss
  for _ = 1, steps do
    optimizer:zero_grad()
    loss = F.mse_loss(net(x), x * x)
    loss:backward()
    optimizer:step()
  end
  return loss:item()
end

-- Returns the network's value for a number.
function network.predict(number)
  return torch.no_grad(function() return net(torch.tensor {{number}}):item() end)
end

-- Returns the text of an answer: "train" trains for 100 steps, every other request predicts 0.5^2.
function network.answer(request)
  if request == 'train' then return ('loss %.4f\n'):format(network.train(100)) end
  return ('value %.4f\n'):format(network.predict(0.5))
end

return network
