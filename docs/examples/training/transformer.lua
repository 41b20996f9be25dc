-- transformer.lua - the training of transformer.c in Lua, with the same numbers.

local torch = require 'torch'
local nn, F = torch.nn, torch.nn.functional

local text = 'the quick brown fox jumps over the lazy dog and the lazy dog sleeps while the quick '
  .. 'brown fox jumps over it again and again'
local WINDOWS, LENGTH, KINDS, WIDTH, HEADS, BLOCKS = 8, 16, 27, 32, 4, 2

local Block = nn.Module:extend 'Block'

function Block:init()
  self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
  self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
  self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
end

function Block:attend(x)
  local heads = self.qkv(x):chunk(3, 3)
  for i = 1, 3 do heads[i] = heads[i]:reshape(WINDOWS, LENGTH, HEADS, -1):transpose(2, 3) end
  local mixed = F.scaled_dot_product_attention(heads[1], heads[2], heads[3], { is_causal = true })
  return self.out(mixed:transpose(2, 3):reshape(WINDOWS, LENGTH, WIDTH))
end

function Block:forward(x)
  x = x + self:attend(self.norm1(x))
  return x + self.down(F.gelu(self.up(self.norm2(x))))
end

local GPT = nn.Module:extend 'GPT'

function GPT:init()
  self.tokens = nn.Embedding(KINDS, WIDTH, { _weight = torch.empty(KINDS, WIDTH):normal_(0, 0.02) })
  self.positions = nn.Embedding(LENGTH, WIDTH, { _weight = torch.empty(LENGTH, WIDTH):normal_(0, 0.02) })
  self.blocks = nn.Sequential()
  for _ = 1, BLOCKS do self.blocks:append(Block()) end
  self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, KINDS)
end

function GPT:forward(letters)
  local positions = torch.arange(1, LENGTH + 1, { device = letters.device })
  return self.head(self.norm(self.blocks(self.tokens(letters) + self.positions(positions))))
end

-- The letters of the windows, which begin every LENGTH / 2 letters, and the letters that follow.
local function read_text(device)
  local letters, following = {}, {}
  local function kind(i)
    local c = text:byte(i)
    return c == 32 and 1 or c - 95 -- a space, then the letters from a
  end
  for w = 0, WINDOWS - 1 do
    local row = {}
    for j = 1, LENGTH do
      row[j] = kind(w * LENGTH // 2 + j)
      following[#following + 1] = kind(w * LENGTH // 2 + j + 1)
    end
    letters[w + 1] = row
  end
  return torch.tensor(letters, { device = device }), torch.tensor(following, { device = device })
end

local path, device = arg[1], arg[2] or 'cpu'
torch.manual_seed(1)
local net = GPT():to(device)
local optimizer = torch.optim.AdamW(net:parameters(), { lr = 3e-3, weight_decay = 0.01 })
local letters, targets = read_text(device)
for step = 1, 20 do
  local loss = F.cross_entropy(net(letters):flatten(1, 2), targets)
  print(('step %d: loss %.9g'):format(step, loss:item()))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
end
if path then torch.save(net:state_dict(), path) end
