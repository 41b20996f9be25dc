-- The networks of training.lua and programs/programs.lua; those of training.py.

local torch = require 'torch'
local nn, F = torch.nn, torch.nn.functional

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

return { lenet = lenet, Recurrent = Recurrent, Transformer = Transformer }
