-- A small transformer that learns a text byte by byte: blocks of causal self-attention and a perceptron, each after a
-- LayerNorm (A. Radford et al. 2019), AdamW. The last tenth of the text is kept to measure; beside its loss stands that
-- of a table of pairs, which knows how often each byte follows each.
--
--   ltensor scripts/gpt.lua --text book.txt --layers 4 --width 256 --sample 300

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local training = require 'torch.utils.training'
local nn, F, optim = torch.nn, torch.nn.functional, torch.optim

local script = experiment.new {
  name = 'gpt',
  summary = 'Trains a small transformer on a text.',
  options = training.options({
    { 'text', training.TEXT, 'FILE', 'what to learn' },
    { 'length', 64, 'N', 'bytes that are seen at a time', minimum = 1 },
    { 'width', 64, 'N', 'numbers that stand for a byte', minimum = 1 },
    { 'heads', 4, 'N', 'of the attention', minimum = 1 },
    { 'layers', 2, 'N', 'blocks', minimum = 1 },
    { 'dropout', 0.0, 'X', 'part of the numbers that are dropped' },
    { 'sample', 200, 'N', 'bytes to write at the end', minimum = 0 },
  }, { ['batch-size'] = 16, epochs = 20, lr = 0.003 }),
}

-- ---- the model ------------------------------------------------------------------------------------------------------

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
  -- For every symbol the mean of the values of itself and those before it, by how well their keys fit its query.
  local mixed = F.scaled_dot_product_attention(parts[1], parts[2], parts[3], { is_causal = true })
  return self.out(mixed:transpose(2, 3):reshape(n, length, width))
end

function Block:forward(x)
  x = x + self.dropout(self:attend(self.norm1(x)))
  return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))
end

local GPT = nn.Module:extend 'GPT'

function GPT:init(kinds, options)
  local width = options.width
  self.tokens, self.places = nn.Embedding(kinds, width), nn.Embedding(options.length, width)
  self.blocks = nn.Sequential()
  for i = 1, options.layers do self.blocks:add_module(tostring(i - 1), Block(width, options.heads, options.dropout)) end
  self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, kinds)
  for _, embedding in ipairs { self.tokens, self.places } do nn.init.normal_(embedding.weight, { std = 0.02 }) end
end

-- x: (n, length) symbols. Gives the scores of the symbol after each.
function GPT:forward(x)
  local places = torch.arange(1, x:size(2) + 1, { device = x.device })
  return self.head(self.norm(self.blocks(self.tokens(x) + self.places(places))))
end

-- ---- measuring --------------------------------------------------------------------------------------------------------

-- The mean loss of a table of pairs that was counted in `train`, where every pair was seen once more than it was.
local function loss_of_pairs(train, test, kinds)
  local counts, totals = {}, {}
  local symbols = train:tolist()
  for i = 2, #symbols do
    local pair = symbols[i - 1] * (kinds + 1) + symbols[i]
    counts[pair] = (counts[pair] or 0) + 1
    totals[symbols[i - 1]] = (totals[symbols[i - 1]] or 0) + 1
  end
  local sum
  symbols, sum = test:tolist(), 0
  for i = 2, #symbols do
    local before, pair = symbols[i - 1], symbols[i - 1] * (kinds + 1) + symbols[i]
    sum = sum - math.log(((counts[pair] or 0) + 1) / ((totals[before] or 0) + kinds))
  end
  return sum / (#symbols - 1)
end

local function mean_loss(net, count, window, kinds)
  local _ <close> = torch.no_grad()
  local sum = torch.zeros(1)
  net:eval()
  for first = 1, count, 64 do
    local size = math.min(64, count - first + 1)
    local x, y = window(torch.arange(first, first + size))
    sum = sum + F.cross_entropy(net(x):reshape(-1, kinds), y:reshape(-1)):cpu() * size
  end
  net:train()
  return sum:item() / count
end

-- ---- training ---------------------------------------------------------------------------------------------------------

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  if options.width % options.heads ~= 0 then script:fail('--width wants a multiple of --heads') end
  torch.manual_seed(options.seed)
  local text = training.text(script, options.text, device)
  local n = #text.data * 9 // 10
  local train, test = text.data:narrow(1, 1, n), text.data:narrow(1, n + 1, #text.data - n)
  local count, window = training.windows(train, options.length)
  local test_count, test_window = training.windows(test, options.length)
  if test_count < 1 then script:fail(('%s is too short for windows of %d bytes'):format(options.text, options.length)) end
  local net = GPT(text.kinds, options):to(device)
  local pairs_loss = loss_of_pairs(train, test, text.kinds)
  local on_device = function(picked) return test_window(picked:to(device)) end
  training.fit {
    script = script, options = options, device = device, net = net, n = count, clip = 1,
    optimizer = optim.AdamW(net:parameters(), { lr = options.lr }),
    loss = function(picked)
      local x, y = window(picked)
      return F.cross_entropy(net(x):reshape(-1, text.kinds), y:reshape(-1))
    end,
    report = function()
      return ('test loss %.4f (pairs: %.4f)'):format(mean_loss(net, test_count, on_device, text.kinds), pairs_loss)
    end,
  }
  training.write(net, text, options.sample, function(symbols)
    local seen = math.min(symbols:size(2), options.length)
    return net(symbols:narrow(2, -seen, seen)):select(2, -1)
  end)
end

main(arg)
