-- ResNet-18 (K. He et al. 2015) on Fashion-MNIST: eight residual blocks of two convolutions, batch
-- normalization, SGD with momentum and weight decay and a one-cycle learning rate. Sized for a GPU;
-- for a CPU, use --limit and --width.
--
--   ltensor scripts/resnet18.lua --device cuda --checkpoint resnet18.safetensors

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local training = require 'torch.utils.training'
local nn, F, optim = torch.nn, torch.nn.functional, torch.optim

local script = experiment.new {
  name = 'resnet18',
  summary = 'Trains ResNet-18 on Fashion-MNIST.',
  options = training.options({
    { 'width', 64, 'N', 'channels of the first blocks', minimum = 1 },
    { 'amp', 0, 'N', '1: products in the lower precision', minimum = 0 },
    { 'limit', 0, 'N', 'images to use; 0: all', minimum = 0 },
    { 'data', training.FASHION_MNIST, 'DIR', 'folder of the four idx files' },
  }, { ['batch-size'] = 128, epochs = 10, lr = 0.1 }),
}

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

-- width: of the first stage; each of the other three has twice the channels and half the height.
local function resnet18(width)
  local net = nn.Sequential(
    nn.Conv2d(1, width, 7, { stride = 2, padding = 3, bias = false }), nn.BatchNorm2d(width), nn.ReLU(),
    nn.MaxPool2d(3, { stride = 2, padding = 1 }))
  local inputs = width
  for stage = 0, 3 do
    local outputs = width << stage
    net:append(Residual(inputs, outputs, stage == 0 and 1 or 2))
    net:append(Residual(outputs, outputs, 1))
    inputs = outputs
  end
  net:append(nn.AdaptiveAvgPool2d(1))
  net:append(nn.Flatten())
  net:append(nn.Linear(inputs, 10))
  return net
end

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  torch.manual_seed(options.seed)
  local net = resnet18(options.width):to(device)
  local optimizer = optim.SGD(net:parameters(), { lr = options.lr, momentum = 0.9, weight_decay = 5e-4 })
  local train = training.fashion_mnist(script, options.data, 'train', device, options.limit)
  local test = training.fashion_mnist(script, options.data, 't10k', device, options.limit)
  training.fit {
    script = script, options = options, device = device, net = net, optimizer = optimizer, n = train.n,
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, options.lr, { total_steps = options.epochs + 1 }),
    loss = function(picked)
      local _ <close> = torch.autocast(device.type, { enabled = options.amp == 1, dtype = torch.bfloat16 })
      local x = train.images:index_select(1, picked):unsqueeze(2)
      return F.cross_entropy(net(x), train.labels:index_select(1, picked))
    end,
    report = function() return ('test acc %.4f'):format(training.accuracy(net, test, { 1, 28, 28 })) end,
  }
end

main(arg)
