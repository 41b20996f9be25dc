-- tagger.lua - the training of tagger.c in Lua, with the same numbers.

local torch = require 'torch'
local nn = torch.nn

local WORDS, TAGS, WIDTH, HIDDEN = 50, 5, 16, 32
local Tagger = nn.Module:extend 'Tagger'

function Tagger:init()
  self.embedding = nn.Embedding(WORDS, WIDTH)
  self.lstm = nn.LSTM(WIDTH, HIDDEN, { batch_first = true, bidirectional = true })
  self.linear = nn.Linear(2 * HIDDEN, TAGS)
end

function Tagger:forward(words) return self.linear((self.lstm(self.embedding(words)))) end

local path, device = arg[1], arg[2] or 'cpu'
torch.manual_seed(1)
local net = Tagger():to(device)
local optimizer = torch.optim.Adam(net:parameters(), { lr = 0.01 })
local words = torch.randint(0, WORDS, { 16, 10 }):to(device)
local tags = (words + words:roll(1, 2)) % TAGS
for step = 1, 20 do
  local loss = nn.functional.cross_entropy(net(words + 1):flatten(1, 2), tags:flatten() + 1) -- positions count from 1
  print(('step %d: loss %.9g'):format(step, loss:item()))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
end
if path then torch.save(net:state_dict(), path) end
