-- The training rows of make bench: prints name TAB unit TAB value, the same rows as training.py.

local torch = require 'torch'
local nn, F, optim = torch.nn, torch.nn.functional, torch.optim

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

-- ---- models ---------------------------------------------------------------------------------------------------------

local function lenet()
  return nn.Sequential(
    nn.Conv2d(1, 6, 5, { padding = 2 }), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
end

local Recurrent = nn.Module:extend 'Recurrent'

function Recurrent:init(kinds, hidden)
  self.embedding, self.rnn = nn.Embedding(kinds, hidden), nn.GRU(hidden, hidden, { batch_first = true })
  self.head = nn.Linear(hidden, kinds)
end

function Recurrent:forward(x) return self.head((self.rnn(self.embedding(x)))):flatten(1, 2) end

local Block = nn.Module:extend 'Block'

function Block:init(width, heads)
  self.heads = heads
  self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
  self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
  self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
end

function Block:forward(x)
  local b, t, width = x:size(1), x:size(2), x:size(3)
  local parts = self.qkv(self.norm1(x)):chunk(3, 3)
  for i = 1, 3 do parts[i] = parts[i]:reshape(b, t, self.heads, -1):transpose(2, 3) end
  local mixed = F.scaled_dot_product_attention(parts[1], parts[2], parts[3], { is_causal = true })
  x = x + self.out(mixed:transpose(2, 3):reshape(b, t, width))
  return x + self.down(F.gelu(self.up(self.norm2(x))))
end

local Transformer = nn.Module:extend 'Transformer'

function Transformer:init(kinds, length, width, heads, layers)
  self.tokens, self.places = nn.Embedding(kinds, width), nn.Parameter(torch.zeros(length, width))
  self.blocks = nn.Sequential()
  for i = 1, layers do self.blocks:add_module(tostring(i - 1), Block(width, heads)) end
  self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, kinds)
end

function Transformer:forward(x)
  return self.head(self.norm(self.blocks(self.tokens(x) + self.places))):flatten(1, 2)
end

-- ---- rows -----------------------------------------------------------------------------------------------------------

torch.manual_seed(0)

for _, inputs in ipairs { 20, 784 } do
  local net = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 10))
  local step = step_of(net, optim.SGD(net:parameters(), { lr = 0.1 }), torch.rand(32, inputs), classes(10, 32))
  report(('MLP training step, 32 x %d, 256, 10'):format(inputs), 'us', median(many(step, 200), 7) / 200)
end

do
  local net = lenet()
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
  local net = Recurrent(64, 128)
  local step = step_of(net, optim.Adam(net:parameters()), classes(64, 32, 32), classes(64, 1024))
  report('GRU training step, 32 x 32', 'ms', median(many(step, 3), 5) / 3)
end

do
  local net = Transformer(64, 64, 128, 4, 2)
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
