-- The training rows of make bench: prints name TAB unit TAB value, the same rows as training.py.

local torch = require 'torch'
local nn, F, optim = torch.nn, torch.nn.functional, torch.optim
package.path = (arg[0]:match '^(.*/)' or './') .. '?.lua;' .. package.path
local models = require 'models'

local clock = torch._C.clock
local IMAGES, BATCH = 6400, 64
local SCALE = { us = 1e6, ms = 1e3, s = 1 }

local function report(name, unit, seconds) print(('%s\t%s\t%.6g'):format(name, unit, seconds * SCALE[unit])) end

local function median(run, samples)
  run()
  local times = {}
  for i = 1, samples do
    local start = clock()
    run()
    times[i] = clock() - start
  end
  table.sort(times)
  return times[samples // 2 + 1]
end

local function step_of(net, optimizer, x, y)
  return function()
    local loss = F.cross_entropy(net(x), y)
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
  end
end

local function many(step, n)
  return function()
    for _ = 1, n do step() end
  end
end

local function classes(n, ...) return torch.randint(1, n + 1, { ... }) end

-- ---- rows -----------------------------------------------------------------------------------------------------------

torch.manual_seed(0)

for _, inputs in ipairs { 20, 784 } do
  local net = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 10))
  local step = step_of(net, optim.SGD(net:parameters(), { lr = 0.1 }), torch.rand(32, inputs), classes(10, 32))
  report(('MLP training step, 32 x %d, 256, 10'):format(inputs), 'us', median(many(step, 200), 7) / 200)
end

do
  local net = models.lenet()
  local images, labels = torch.rand(IMAGES, 1, 28, 28), classes(10, IMAGES)
  local optimizer = optim.SGD(net:parameters(), { lr = 0.01, momentum = 0.9 })
  report(('LeNet training epoch, %d images'):format(IMAGES), 's', median(function()
    local order = torch.randperm(IMAGES)
    for first = 1, IMAGES, BATCH do
      local picked = order:narrow(1, first, BATCH)
      local loss = F.cross_entropy(net(images:index_select(1, picked)), labels:index_select(1, picked))
      optimizer:zero_grad()
      loss:backward()
      optimizer:step()
    end
  end, 3))
end

do
  local net = models.Recurrent(64, 128)
  local step = step_of(net, optim.Adam(net:parameters()), classes(64, 32, 32), classes(64, 1024))
  report('GRU training step, 32 x 32', 'ms', median(many(step, 3), 5) / 3)
end

do
  local net = models.Transformer(64, 64, 128, 4, 2)
  local step = step_of(net, optim.AdamW(net:parameters()), classes(64, 16, 64), classes(64, 1024))
  report('transformer training step, 16 x 64', 'ms', median(many(step, 3), 5) / 3)
end

do
  local params = {}
  for i = 1, 5 do
    params[i] = torch.rand(1000, 1000, { requires_grad = true })
    params[i].grad = torch.rand(1000, 1000)
  end
  local optimizer = optim.Adam(params)
  report('Adam, 5 million parameters', 'ms', median(function() optimizer:step() end, 9))
end
