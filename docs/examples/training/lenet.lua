-- lenet.lua - the training of lenet.c in Lua, with the same numbers.

local torch = require 'torch'
local models = require 'torch.utils.models'

local path, device = arg[1], arg[2] or 'cpu'
torch.manual_seed(1)
local net = models.lenet():to(device)
local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.05, momentum = 0.9 })
local images = torch.randn(16, 1, 28, 28):to(device)
local labels = torch.randint(1, 11, { 16 }):to(device)
for step = 1, 10 do
  local loss = torch.nn.functional.cross_entropy(net(images), labels)
  print(('step %d: loss %.9g'):format(step, loss:item()))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
end
if path then torch.save(net:state_dict(), path) end
