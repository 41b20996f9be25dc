-- A multilayer perceptron on Fashion-MNIST in two versions: from scratch (layers, loss and
-- optimizer in a few lines each, with tensors and autograd only) and concise (nn.Sequential,
-- cross_entropy, optim.SGD). Both compute the same.
--
--   ltensor scripts/mlp.lua --epochs 5 --plot mlp.svg
--   ltensor scripts/mlp.lua --model scratch --checkpoint mlp.safetensors

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local training = require 'torch.utils.training'
local nn, F, optim = torch.nn, torch.nn.functional, torch.optim

local script = experiment.new {
  name = 'mlp',
  summary = 'Trains a multilayer perceptron on Fashion-MNIST.',
  options = training.options({
    { 'model', 'concise', 'M', 'scratch or concise' },
    { 'hidden', 256, 'N', 'units of the hidden layer', minimum = 1 },
    { 'limit', 0, 'N', 'images to use; 0: all', minimum = 0 },
    { 'data', training.FASHION_MNIST, 'DIR', 'folder of the four idx files' },
  }, { ['batch-size'] = 256, epochs = 10, lr = 0.1 }),
}

-- ---- from scratch -------------------------------------------------------------------------------

local Scratch = nn.Module:extend 'Scratch'

function Scratch:init(inputs, hidden, outputs)
  self.W1 = nn.Parameter(torch.randn(inputs, hidden) * 0.01)
  self.b1 = nn.Parameter(torch.zeros(hidden))
  self.W2 = nn.Parameter(torch.randn(hidden, outputs) * 0.01)
  self.b2 = nn.Parameter(torch.zeros(outputs))
end

function Scratch:forward(x)
  local h = torch.matmul(x:reshape(-1, 784), self.W1) + self.b1
  h = torch.maximum(h, torch.zeros_like(h))
  return torch.matmul(h, self.W2) + self.b2
end

-- The mean over the samples of log(sum(exp(o))) - o[label].
local function scratch_loss(output, labels)
  local largest = output:max(2, true)
  local total = (output - largest):exp():sum(2):log() + largest:squeeze(2)
  return (total - output:gather(2, labels:unsqueeze(2)):squeeze(2)):mean()
end

local Descent = optim.Optimizer:extend 'Descent'

function Descent:init(params, lr) optim.Optimizer.init(self, params, { lr = lr }) end
function Descent:update(parameter, grad, group) parameter:sub_(grad * group.lr) end

-- ---- concise ------------------------------------------------------------------------------------

local function init_weights(module)
  if nn.Linear:is_instance(module) then
    nn.init.normal_(module.weight, { std = 0.01 })
    nn.init.zeros_(module.bias)
  end
end

local function concise(hidden)
  local net = nn.Sequential(nn.Flatten(), nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, 10))
  net:apply(init_weights)
  return net
end

-- ---- training -----------------------------------------------------------------------------------

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  if options.model ~= 'scratch' and options.model ~= 'concise' then script:fail('--model wants scratch or concise') end
  torch.manual_seed(options.seed)
  local train = training.fashion_mnist(script, options.data, 'train', device, options.limit)
  local test = training.fashion_mnist(script, options.data, 't10k', device, options.limit)
  local net, optimizer, loss
  if options.model == 'scratch' then
    net, loss = Scratch(784, options.hidden, 10):to(device), scratch_loss
    optimizer = Descent(net:parameters(), options.lr)
  else
    net, loss = concise(options.hidden):to(device), F.cross_entropy
    optimizer = optim.SGD(net:parameters(), { lr = options.lr })
  end
  training.fit {
    script = script, options = options, device = device, net = net, optimizer = optimizer, n = train.n,
    loss = function(picked)
      return loss(net(train.images:index_select(1, picked)), train.labels:index_select(1, picked))
    end,
    report = function() return ('test acc %.4f'):format(training.accuracy(net, test)) end,
  }
end

main(arg)
