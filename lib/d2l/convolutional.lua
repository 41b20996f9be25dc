-- convolutional.lua - d2l: convolutional networks: LeNet (Y. LeCun et al. 1998), residual networks
-- (K. He et al. 2016; S. Xie et al. 2017).

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local models = require 'torch.d2l.models'
local tools = require 'torch.d2l.tools'

local nn, F = torch.nn, torch.nn.functional

local M = {}

--- The cross-correlation of a matrix with a kernel, element by element by its definition.
function M.corr2d(X, K)
  local h, w = K:size(1), K:size(2)
  local Y = torch.zeros(X:size(1) - h + 1, X:size(2) - w + 1)
  for i = 1, Y:size(1) do
    for j = 1, Y:size(2) do Y[{ i, j }] = (X[{ { i, i + h - 1 }, { j, j + w - 1 } }] * K):sum() end
  end
  return Y
end

local function weight_of(module)
  local name = torch.type(module)
  return (name == 'Linear' or name == 'Conv2d') and module.weight
end

--- For apply_init: Xavier's uniform weights for linear and convolutional layers.
function M.init_cnn(module)
  local weight = weight_of(module)
  if weight then nn.init.xavier_uniform_(weight) end
end

local read = declare.reader 'd2l.LeNet(number|Tensor lr=0.1, integer num_classes=10)'

--- LeNet {lr = 0.1, num_classes = 10}: two convolutions with sigmoids and average pooling, three
-- linear layers; for images (n, 1, 28, 28).
M.LeNet = models.Classifier:extend 'd2l.LeNet'

function M.LeNet:init(...)
  tools.keep(self, read(...))
  self.net = nn.Sequential(
    nn.LazyConv2d(6, 5, { padding = 2 }), nn.Sigmoid(), nn.AvgPool2d(2, 2),
    nn.LazyConv2d(16, 5), nn.Sigmoid(), nn.AvgPool2d(2, 2), nn.Flatten(),
    nn.LazyLinear(120), nn.Sigmoid(), nn.LazyLinear(84), nn.Sigmoid(), nn.LazyLinear(self.num_classes))
end

local read_residual = declare.reader 'd2l.Residual(integer num_channels, boolean use_1x1conv=false, integer strides=1)'

--- Residual(num_channels, use_1x1conv = false, strides = 1): two 3 x 3 convolutions, added to the
--- input.
M.Residual = nn.Module:extend 'd2l.Residual'

function M.Residual:init(...)
  local options = read_residual(...)
  self.conv1 = nn.LazyConv2d(options.num_channels, 3, { padding = 1, stride = options.strides })
  self.conv2 = nn.LazyConv2d(options.num_channels, 3, { padding = 1 })
  if options.use_1x1conv then self.conv3 = nn.LazyConv2d(options.num_channels, 1, { stride = options.strides }) end
  self.bn1, self.bn2 = nn.LazyBatchNorm2d(), nn.LazyBatchNorm2d()
end

function M.Residual:forward(X)
  local Y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(X)))))
  return F.relu(Y + (self.conv3 and self.conv3(X) or X))
end

local read_next = declare.reader [[
  d2l.ResNeXtBlock(integer num_channels, integer groups, integer bot_mul, boolean use_1x1conv=false,
    integer strides=1)]]

--- ResNeXtBlock(num_channels, groups, bot_mul, use_1x1conv = false, strides = 1): the same with a
--- grouped convolution between two of 1 x 1; bot_mul: the number of channels between them over
--- num_channels.
M.ResNeXtBlock = nn.Module:extend 'd2l.ResNeXtBlock'

function M.ResNeXtBlock:init(...)
  local options = read_next(...)
  local channels = options.num_channels
  local middle = math.floor(channels * options.bot_mul + 0.5)
  self.conv1 = nn.LazyConv2d(middle, 1)
  self.conv2 = nn.LazyConv2d(middle, 3, { stride = options.strides, padding = 1, groups = middle // options.groups })
  self.conv3 = nn.LazyConv2d(channels, 1)
  self.bn1, self.bn2, self.bn3 = nn.LazyBatchNorm2d(), nn.LazyBatchNorm2d(), nn.LazyBatchNorm2d()
  if options.use_1x1conv then
    self.conv4, self.bn4 = nn.LazyConv2d(channels, 1, { stride = options.strides }), nn.LazyBatchNorm2d()
  end
end

function M.ResNeXtBlock:forward(X)
  local Y = F.relu(self.bn1(self.conv1(X)))
  Y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(Y)))))
  return F.relu(Y + (self.conv4 and self.bn4(self.conv4(X)) or X))
end

local read_resnet = declare.reader 'd2l.ResNet(table arch, number|Tensor lr=0.1, integer num_classes=10)'

-- num_residuals blocks; the first of a stage halves the size.
local function stage(num_residuals, num_channels, is_first)
  local blocks = nn.Sequential()
  for i = 1, num_residuals do
    local shrinks = i == 1 and not is_first
    blocks:append(M.Residual(num_channels, { use_1x1conv = shrinks, strides = shrinks and 2 or 1 }))
  end
  return blocks
end

--- ResNet(arch, lr = 0.1, num_classes = 10): arch is a list of stages {num_residuals,
--- num_channels}; {{2, 64}, {2, 128}, {2, 256}, {2, 512}} is ResNet-18.
M.ResNet = models.Classifier:extend 'd2l.ResNet'

function M.ResNet:init(...)
  tools.keep(self, read_resnet(...))
  self.net = nn.Sequential(self:b1())
  for i, blocks in ipairs(self.arch) do self.net:append(stage(blocks[1], blocks[2], i == 1)) end
  self.net:append(nn.Sequential(nn.AdaptiveAvgPool2d { 1, 1 }, nn.Flatten(), nn.LazyLinear(self.num_classes)))
  self.net:apply(M.init_cnn)
end

--- The layers before the stages.
function M.ResNet:b1()
  return nn.Sequential(nn.LazyConv2d(64, 7, { stride = 2, padding = 3 }), nn.LazyBatchNorm2d(), nn.ReLU(),
    nn.MaxPool2d(3, { stride = 2, padding = 1 }))
end

--- resnet18(num_classes, in_channels = 1): ResNet-18 for small images, as a plain nn.Sequential.
function M.resnet18(num_classes, in_channels)
  local net = nn.Sequential(nn.Conv2d(in_channels or 1, 64, 3, { padding = 1 }), nn.BatchNorm2d(64), nn.ReLU())
  for i, channels in ipairs { 64, 128, 256, 512 } do net:add_module('resnet_block' .. i, stage(2, channels, i == 1)) end
  net:add_module('global_avg_pool', nn.AdaptiveAvgPool2d { 1, 1 })
  net:add_module('fc', nn.Sequential(nn.Flatten(), nn.Linear(512, num_classes)))
  return net
end

return M
