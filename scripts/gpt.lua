-- A small transformer that learns a text byte by byte: blocks of causal self-attention and a
-- perceptron, each after a LayerNorm (A. Radford et al. 2019), AdamW. The last tenth of the text is
-- the test set; its loss is printed beside that of a bigram table.
--
--   ltensor scripts/gpt.lua --text book.txt --layers 4 --width 256 --sample 300

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local models = require 'torch.utils.models'
local training = require 'torch.utils.training'
local F, optim = torch.nn.functional, torch.optim

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

-- ---- measuring ----------------------------------------------------------------------------------

-- The mean loss on `test` of a bigram table counted in `train`, with 1 added to every count.
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

-- ---- training -----------------------------------------------------------------------------------

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  if options.width % options.heads ~= 0 then script:fail('--width must be a multiple of --heads') end
  torch.manual_seed(options.seed)
  local text = training.text(script, options.text, device)
  local n = #text.data * 9 // 10
  local train, test = text.data:narrow(1, 1, n), text.data:narrow(1, n + 1, #text.data - n)
  local count, window = training.windows(train, options.length)
  local test_count, test_window = training.windows(test, options.length)
  if test_count < 1 then script:fail(('%s is too short for windows of %d bytes'):format(options.text, options.length)) end
  local net = models.GPT(text.kinds, options):to(device)
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
