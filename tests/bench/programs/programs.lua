-- Whole programs, as a list of {name, make}: make() gives a step of one, that is a function. times.lua and memory.lua measure them; programs.py has the
-- same programs under the same names. ROWS: a pattern; only programs with such names. DEVICE: where they run (cpu).

local torch = require 'torch'
package.path = (arg[0]:match '^(.*/)' or './') .. '../?.lua;' .. package.path
local models = require 'models'
local nn, F, optim = torch.nn, torch.nn.functional, torch.optim
torch.set_default_device(os.getenv 'DEVICE' or 'cpu') -- before the functions below are looked up
local rand, randn, randint = torch.rand, torch.randn, torch.randint

local function train(optimizer, loss_of)
  return function()
    optimizer:zero_grad()
    loss_of():backward()
    optimizer:step()
  end
end

local function without_gradients(f)
  return function() return torch.no_grad(f) end
end

local programs = {}
local function program(name, make)
  if name:find(os.getenv 'ROWS' or '') then programs[#programs + 1] = { name = name, make = make } end
end

program('MLP, training, 32 of 784', function()
  local net, x, y = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)), rand(32, 784), randint(1, 11, { 32 })
  return train(optim.SGD(net:parameters(), { lr = 0.1 }), function() return F.cross_entropy(net(x), y) end)
end)

program('LeNet, training, 64 images', function()
  local net, x, y = models.lenet(), rand(64, 1, 28, 28), randint(1, 11, { 64 })
  return train(optim.SGD(net:parameters(), { lr = 0.01, momentum = 0.9 }), function() return F.cross_entropy(net(x), y) end)
end)

local Residual = nn.Module:extend 'Residual'

function Residual:init(inputs, outputs, stride)
  self.conv1 = nn.Conv2d(inputs, outputs, 3, { padding = 1, stride = stride, bias = false })
  self.conv2 = nn.Conv2d(outputs, outputs, 3, { padding = 1, bias = false })
  self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
  if stride ~= 1 then self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, { stride = stride, bias = false }), nn.BatchNorm2d(outputs)) end
end

function Residual:forward(x)
  local y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
  return F.relu(y + (self.shortcut and self.shortcut(x) or x))
end

local function resnet18()
  local net = nn.Sequential(nn.Conv2d(3, 64, 7, { stride = 2, padding = 3, bias = false }), nn.BatchNorm2d(64), nn.ReLU(),
    nn.MaxPool2d(3, { stride = 2, padding = 1 }))
  for stage = 0, 3 do
    local inputs, outputs = 64 << math.max(stage - 1, 0), 64 << stage
    net:append(Residual(inputs, outputs, stage == 0 and 1 or 2))
    net:append(Residual(outputs, outputs, 1))
  end
  net:append(nn.AdaptiveAvgPool2d(1))
  net:append(nn.Flatten())
  net:append(nn.Linear(512, 10))
  return net
end

program('ResNet-18, training, 8 of 3x96x96', function()
  local net, x, y = resnet18(), rand(8, 3, 96, 96), randint(1, 11, { 8 })
  return train(optim.SGD(net:parameters(), { lr = 0.01, momentum = 0.9 }), function() return F.cross_entropy(net(x), y) end)
end)

program('ResNet-18, inference, 8 of 3x96x96', function()
  local net, x = resnet18():eval(), rand(8, 3, 96, 96)
  return without_gradients(function() return net(x) end)
end)

program('GPT, training, 16 x 64', function()
  local net, x, y = models.Transformer(64, 64, 128, 4, 2), randint(1, 65, { 16, 64 }), randint(1, 65, { 1024 })
  return train(optim.AdamW(net:parameters()), function() return F.cross_entropy(net(x), y) end)
end)

program('GPT, inference, 1 x 64', function()
  local net, x = models.Transformer(64, 64, 128, 4, 2), randint(1, 65, { 1, 64 })
  return without_gradients(function() return net(x) end)
end)

program('GRU, training, 32 x 32', function()
  local net, x, y = models.Recurrent(64, 128), randint(1, 65, { 32, 32 }), randint(1, 65, { 1024 })
  return train(optim.Adam(net:parameters()), function() return F.cross_entropy(net(x), y) end)
end)

program('LSTM, training, 35 steps of 32x128', function()
  local net, x = nn.LSTM(128, 128), randn(35, 32, 128)
  return train(optim.SGD(net:parameters(), { lr = 0.1 }), function() return net(x):square():mean() end)
end)

program('LSTM, inference, 35 steps of 4x256', function()
  local net, x = nn.LSTM(256, 256), randn(35, 4, 256)
  return without_gradients(function() return net(x) end)
end)

program('RNN by hand, training, 35 steps of 32x128', function()
  local w, u, x = randn(128, 128) * 0.05, randn(128, 128) * 0.05, randn(35, 32, 128)
  w:requires_grad_()
  u:requires_grad_()
  return train(optim.SGD({ w, u }, { lr = 0.1 }), function()
    local h = torch.zeros(32, 128)
    for t = 1, 35 do h = torch.tanh(x[t]:mm(w) + h:mm(u)) end
    return h:square():mean()
  end)
end)

program('scalar loop with gradient, 100 steps', function()
  local w = torch.tensor(0.9, { requires_grad = true })
  return train(optim.SGD({ w }, { lr = 0.01 }), function()
    local h = torch.tensor(1.0)
    for _ = 1, 100 do h = torch.tanh(h * w) end
    return h
  end)
end)

program('k-means, 20000 of 32, 64 centres', function()
  local points, centres, ones = rand(20000, 32), rand(64, 32), torch.ones(20000)
  return without_gradients(function()
    local nearest = torch.cdist(points, centres):argmin(2)
    local sums = torch.zeros(64, 32):index_add(1, nearest, points)
    local counts = torch.zeros(64):index_add(1, nearest, ones)
    return sums / counts:clamp_min(1):unsqueeze(2)
  end)
end)

program('DCGAN, generator and critic, 16 of 32x32', function()
  local g = nn.Sequential(nn.ConvTranspose2d(64, 64, 4), nn.BatchNorm2d(64), nn.ReLU(), nn.ConvTranspose2d(64, 32, 4, { stride = 2, padding = 1 }),
    nn.BatchNorm2d(32), nn.ReLU(), nn.ConvTranspose2d(32, 16, 4, { stride = 2, padding = 1 }), nn.BatchNorm2d(16), nn.ReLU(),
    nn.ConvTranspose2d(16, 3, 4, { stride = 2, padding = 1 }), nn.Tanh())
  local d = nn.Sequential(nn.Conv2d(3, 16, 4, { stride = 2, padding = 1 }), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, { stride = 2, padding = 1 }),
    nn.BatchNorm2d(32), nn.LeakyReLU(0.2), nn.Conv2d(32, 1, 8), nn.Flatten())
  local noise, real, one, zero = randn(16, 64, 1, 1), rand(16, 3, 32, 32), torch.ones(16, 1), torch.zeros(16, 1)
  local judged = F.binary_cross_entropy_with_logits
  local teach_d = train(optim.Adam(d:parameters(), { lr = 2e-4 }), function() return judged(d(real), one) + judged(d(g(noise):detach()), zero) end)
  local teach_g = train(optim.Adam(g:parameters(), { lr = 2e-4 }), function() return judged(d(g(noise)), one) end)
  return function()
    teach_d()
    teach_g()
  end
end)

program('word2vec, training, 512 pairs, 5 others each', function()
  local inner, outer = nn.Embedding(5000, 64), nn.Embedding(5000, 64)
  local centre, near, others = randint(1, 5001, { 512 }), randint(1, 5001, { 512, 1 }), randint(1, 5001, { 512, 5 })
  return train(optim.SGD({ inner.weight, outer.weight }, { lr = 0.05 }), function()
    local v = inner(centre):unsqueeze(3)
    return -(F.logsigmoid(outer(near):bmm(v)):sum() + F.logsigmoid(-outer(others):bmm(v)):sum()) / 512
  end)
end)

program('attention by hand, 4x8x256x64', function()
  local q, k, v = randn(4, 8, 256, 64), randn(4, 8, 256, 64), randn(4, 8, 256, 64)
  return without_gradients(function() return F.softmax(q:matmul(k:transpose(3, 4)) / 8, -1):matmul(v) end)
end)

program('Adam, 200 parameters of 100x100', function()
  local parameters = {}
  for i = 1, 200 do
    parameters[i] = rand(100, 100, { requires_grad = true })
    parameters[i].grad = rand(100, 100)
  end
  local optimizer = optim.Adam(parameters)
  return function() optimizer:step() end
end)

program('Gaussian process, 300 points', function()
  local x, at = rand(300, 2), rand(100, 2)
  local y = torch.sin(x:sum(2, true) * 3)
  local function kernel(a, b) return torch.exp(-torch.cdist(a, b):square() * 2) end
  return without_gradients(function()
    local l = torch.linalg.cholesky(kernel(x, x) + 0.01 * torch.eye(300))
    local across = kernel(at, x)
    local spread = torch.linalg.solve_triangular(l, across:t(), { upper = false })
    return across:mm(torch.cholesky_solve(y, l)), 1 - spread:square():sum(1)
  end)
end)

program('images resized and normalized, 8 of 3x256x256', function()
  local x = randint(0, 256, { 8, 3, 256, 256 }):to(torch.uint8)
  local mean, std = torch.tensor({ 0.485, 0.456, 0.406 }):view(3, 1, 1), torch.tensor({ 0.229, 0.224, 0.225 }):view(3, 1, 1)
  return without_gradients(function()
    return (F.interpolate(x:float() / 255, { size = { 224, 224 }, mode = 'bilinear', align_corners = false }) - mean) / std
  end)
end)

program('beam search, 16 steps, 8 of 10000 words', function()
  local w, h = randn(64, 10000), randn(8, 64)
  return without_gradients(function()
    local scores, state = torch.zeros(8, 1), h
    for _ = 1, 16 do
      local best, place = (F.log_softmax(state:mm(w), 2) + scores):flatten():topk(8)
      scores = best:unsqueeze(2)
      state = torch.tanh(state:index_select(1, (place - 1):div(10000, { rounding_mode = 'floor' }) + 1) + h)
    end
    return scores
  end)
end)

program('game of life, 512x512', function()
  local board = rand(512, 512):gt(0.5):float()
  return without_gradients(function()
    local near = -board
    for down = -1, 1 do
      for right = -1, 1 do near = near + board:roll({ down, right }, { 1, 2 }) end
    end
    return (near:eq(3) | (near:eq(2) & board:gt(0))):float()
  end)
end)

program('linear layers of 8 rows, inference', function()
  local net, x = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 256)), randn(8, 256)
  return without_gradients(function() return net(x) end)
end)

program('1-d convolution and pooling, 8x16x20000', function()
  local w, x = randn(16, 16, 5), randn(8, 16, 20000)
  return without_gradients(function() return F.avg_pool1d(F.max_pool1d(F.relu(F.conv1d(x, w)), 3, { stride = 1 }), 4) end)
end)

return programs
