-- models.lua - models shared by several scripts: LeNet (Y. LeCun et al. 1998), with ReLU and max
-- pooling, and a small GPT (A. Radford et al. 2019).

local torch = require 'torch'
local nn, F = torch.nn, torch.nn.functional

local M = {}

--- For images (n, 1, 28, 28): the scores of ten classes.
function M.lenet()
  return nn.Sequential(
    nn.Conv2d(1, 6, 5, { padding = 2 }), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
end

-- ---- GPT ----------------------------------------------------------------------------------------

local Block = nn.Module:extend 'Block'

function Block:init(width, heads, dropout)
  self.heads = heads
  self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
  self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
  self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
  self.dropout = nn.Dropout(dropout)
end

-- x: (n, length, width).
function Block:attend(x)
  local n, length, width = x:size(1), x:size(2), x:size(3)
  local parts = self.qkv(x):chunk(3, 3)
  for i = 1, 3 do parts[i] = parts[i]:reshape(n, length, self.heads, -1):transpose(2, 3) end
  -- Causal attention: for each symbol, the mean of the values up to it, weighted by query and keys.
  local mixed = F.scaled_dot_product_attention(parts[1], parts[2], parts[3], { is_causal = true })
  return self.out(mixed:transpose(2, 3):reshape(n, length, width))
end

function Block:forward(x)
  x = x + self.dropout(self:attend(self.norm1(x)))
  return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))
end

--- GPT(kinds of symbols, {width =, heads =, layers =, length =, dropout =})
local GPT = nn.Module:extend 'GPT'
M.GPT = GPT

function GPT:init(kinds, options)
  local width = options.width
  self.tokens, self.places = nn.Embedding(kinds, width), nn.Embedding(options.length, width)
  self.blocks = nn.Sequential()
  for i = 1, options.layers do self.blocks:add_module(tostring(i - 1), Block(width, options.heads, options.dropout)) end
  self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, kinds)
  for _, embedding in ipairs { self.tokens, self.places } do nn.init.normal_(embedding.weight, { std = 0.02 }) end
end

-- x: (n, length) symbols. Returns the scores of the next symbol for each.
function GPT:forward(x)
  local places = torch.arange(1, x:size(2) + 1, { device = x.device })
  return self.head(self.norm(self.blocks(self.tokens(x) + self.places(places))))
end

return M
