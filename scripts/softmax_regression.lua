-- Softmax regression on the full Fashion-MNIST set: a linear layer, cross-entropy, minibatch SGD.
--
--   ltensor scripts/softmax_regression.lua --epochs 5
--
-- The data (Debian: the package dataset-fashion-mnist) is read once into one tensor per split; a
-- minibatch is index_select by a slice of a random permutation. Loss and accuracy are summed on the
-- device and read once per epoch, so a GPU is not synchronized in between. The learning rate decays
-- linearly to zero; with momentum, this reaches 83% in five epochs for every seed.

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local training = require 'torch.utils.training'
local nn, F, optim = torch.nn, torch.nn.functional, torch.optim

local script = experiment.new {
  name = 'softmax_regression',
  summary = 'Trains a linear layer on Fashion-MNIST.',
  options = {
    {'device', 'cpu', 'D', 'cpu, cuda, cuda:1 ...'},
    {'epochs', 5, 'N', 'passes over the data', minimum = 1},
    {'batch-size', 256, 'N', 'images per step', minimum = 1},
    {'lr', 0.1, 'X', 'learning rate of the first epoch'},
    {'momentum', 0.9, 'X', 'of SGD'},
    {'seed', 0, 'N', 'for the initial weights and the order of the images'},
    {'data', training.FASHION_MNIST, 'DIR', 'folder of the four idx files'},
  },
}

local function correct(output, labels)
  return output:argmax(2):eq(labels):sum()
end

-- Progress bar on stderr, only if stderr is a terminal.
local on_terminal = os.execute 'test -t 2 2>/dev/null'

local function progress(epoch, epochs, done, total)
  if not on_terminal then return end
  local width = 40
  local filled = done * width // total
  io.stderr:write(('\repoch %d/%d [%s%s] %3d%%'):format(
    epoch, epochs, ('='):rep(filled), (' '):rep(width - filled), done * 100 // total))
  if done == total then io.stderr:write '\r\27[K' end
end

local function train_epoch(net, optimizer, split, options, epoch)
  local batch, n = options['batch-size'], split.n
  local order = torch.randperm(n):to(options.device)
  local loss_sum = torch.zeros(1, {device = options.device})
  local hits = torch.zeros(1, {device = options.device, dtype = torch.int64})
  local shown = 0
  for first = 1, n, batch do
    local size = math.min(batch, n - first + 1)
    local picked = order:narrow(1, first, size)
    local x, y = split.images:index_select(1, picked), split.labels:index_select(1, picked)
    local output = net(x)
    local loss = F.cross_entropy(output, y)
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
    loss_sum:add_(loss:detach(), {alpha = size})
    hits:add_(correct(output, y))
    local done = first + size - 1
    if (done - shown) * 50 >= n or done == n then
      shown = done
      progress(epoch, options.epochs, done, n)
    end
  end
  return loss_sum:item() / n, hits:item() / n
end

local function accuracy(net, split)
  local _ <close> = torch.no_grad()
  return correct(net(split.images), split.labels):item() / split.n
end

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  options.device = device
  torch.manual_seed(options.seed)

  local train = training.fashion_mnist(script, options.data, 'train', device)
  local test = training.fashion_mnist(script, options.data, 't10k', device)
  local net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)):to(device)
  local optimizer = optim.SGD(net:parameters(), {
    lr = options.lr, momentum = options.momentum,
  })

  for epoch = 1, options.epochs do
    local start = torch.time()
    for _, group in ipairs(optimizer.param_groups) do
      group.lr = options.lr * (1 - (epoch - 1) / options.epochs)
    end
    local loss, train_accuracy = train_epoch(net, optimizer, train, options, epoch)
    local seconds = torch.time() - start
    print(('epoch %d  loss %.4f  train acc %.4f  test acc %.4f  %s'):format(epoch, loss, train_accuracy,
      accuracy(net, test), experiment.has_speed(device) and ('%.3f s'):format(seconds) or 'time not stated'))
  end
  if not experiment.has_speed(device) then print(experiment.NO_SPEED) end
end

main(arg)
