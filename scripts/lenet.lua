-- LeNet (Y. LeCun et al. 1998), with ReLU and max-pooling, on Fashion-MNIST: two convolutions,
-- three linear layers, SGD with momentum and cosine annealing. The learning rate is low, so that
-- small differences stay small: for equal seeds, the losses equal PyTorch's
-- (tests/bench/training.py).
--
--   ltensor scripts/lenet.lua --checkpoint lenet.safetensors --plot lenet.svg

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local models = require 'torch.utils.models'
local training = require 'torch.utils.training'
local F, optim = torch.nn.functional, torch.optim

local script = experiment.new {
  name = 'lenet',
  summary = 'Trains LeNet on Fashion-MNIST.',
  options = training.options({
    { 'momentum', 0.9, 'X', 'of SGD' },
    { 'limit', 0, 'N', 'images to use; 0: all', minimum = 0 },
    { 'data', training.FASHION_MNIST, 'DIR', 'folder of the four idx files' },
  }, { ['batch-size'] = 64, epochs = 10, lr = 0.01 }),
}

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  torch.manual_seed(options.seed)
  local net = models.lenet():to(device)
  local optimizer = optim.SGD(net:parameters(), { lr = options.lr, momentum = options.momentum })
  local train = training.fashion_mnist(script, options.data, 'train', device, options.limit)
  local test = training.fashion_mnist(script, options.data, 't10k', device, options.limit)
  training.fit {
    script = script, options = options, device = device, net = net, optimizer = optimizer, n = train.n,
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, options.epochs),
    loss = function(picked)
      local x = train.images:index_select(1, picked):unsqueeze(2)
      return F.cross_entropy(net(x), train.labels:index_select(1, picked))
    end,
    report = function() return ('test acc %.4f'):format(training.accuracy(net, test, { 1, 28, 28 })) end,
  }
end

main(arg)
