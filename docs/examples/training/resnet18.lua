-- resnet18.lua - the training of resnet18.c in Lua, with the same numbers.

local torch = require 'torch'
local nn, F = torch.nn, torch.nn.functional

local Residual = nn.Module:extend 'Residual'

function Residual:init(inputs, outputs, stride)
  self.conv1 = nn.Conv2d(inputs, outputs, 3, { padding = 1, stride = stride, bias = false })
  self.conv2 = nn.Conv2d(outputs, outputs, 3, { padding = 1, bias = false })
  self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
  if stride ~= 1 or inputs ~= outputs then
    self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, { stride = stride, bias = false }), nn.BatchNorm2d(outputs))
  end
end

function Residual:forward(x)
  local y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
  return F.relu(y + (self.shortcut and self.shortcut(x) or x))
end

local path, device = arg[1], arg[2] or 'cpu'
torch.manual_seed(1)
local width = 16
local net = nn.Sequential(
  nn.Conv2d(3, width, 7, { stride = 2, padding = 3, bias = false }), nn.BatchNorm2d(width), nn.ReLU(),
  nn.MaxPool2d(3, { stride = 2, padding = 1 }))
local channels = width
for i = 0, 7 do
  local outputs = width << (i // 2)
  net:append(Residual(channels, outputs, outputs == channels and 1 or 2))
  channels = outputs
end
net:append(nn.AdaptiveAvgPool2d(1)):append(nn.Flatten()):append(nn.Linear(channels, 10)):to(device)

local optimizer = torch.optim.SGD(net:parameters(), { lr = 0.02, momentum = 0.9, weight_decay = 5e-4 })
local images = torch.randn(8, 3, 64, 64):to(device)
local labels = torch.randint(1, 11, { 8 }):to(device)
for step = 1, 5 do
  local loss = F.cross_entropy(net(images), labels)
  print(('step %d: loss %.9g'):format(step, loss:item()))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
end
if path then torch.save(net:state_dict(), path) end
