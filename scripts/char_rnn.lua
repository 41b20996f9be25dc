-- A recurrent network that learns a text byte by byte and then generates text: a GRU or an LSTM
-- between an embedding and a linear layer, trained on fixed-length windows of the text.
--
--   ltensor scripts/char_rnn.lua --text book.txt --cell LSTM --sample 300

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local training = require 'torch.utils.training'
local nn, F, optim = torch.nn, torch.nn.functional, torch.optim

local script = experiment.new {
  name = 'char_rnn',
  summary = 'Trains a recurrent network on a text.',
  options = training.options({
    { 'text', training.TEXT, 'FILE', 'what to learn' },
    { 'cell', 'GRU', 'C', 'GRU, LSTM or RNN' },
    { 'hidden', 128, 'N', 'units of a layer', minimum = 1 },
    { 'layers', 1, 'N', 'layers', minimum = 1 },
    { 'length', 32, 'N', 'bytes of a window', minimum = 1 },
    { 'sample', 200, 'N', 'bytes to write at the end', minimum = 0 },
  }, { ['batch-size'] = 32, epochs = 20, lr = 0.003 }),
}

local Network = nn.Module:extend 'Network'

function Network:init(cell, kinds, hidden, layers)
  self.embedding = nn.Embedding(kinds, hidden)
  self.rnn = nn[cell](hidden, hidden, { num_layers = layers, batch_first = true })
  self.head = nn.Linear(hidden, kinds)
end

-- x: (n, length) symbols. Returns the scores of each next symbol, and the state.
function Network:forward(x, state)
  local output, last = self.rnn(self.embedding(x), state)
  return self.head(output), last
end

local function main(argv)
  local options = script:parse(argv)
  local device = script:device(options.device)
  if options.cell ~= 'GRU' and options.cell ~= 'LSTM' and options.cell ~= 'RNN' then script:fail('--cell wants GRU, LSTM or RNN') end
  torch.manual_seed(options.seed)
  local text = training.text(script, options.text, device)
  local net = Network(options.cell, text.kinds, options.hidden, options.layers):to(device)
  local count, window = training.windows(text.data, options.length)
  if count < 1 then script:fail(('%s is shorter than a window of %d bytes'):format(options.text, options.length)) end
  training.fit {
    script = script, options = options, device = device, net = net, n = count, clip = 1,
    optimizer = optim.Adam(net:parameters(), { lr = options.lr }),
    loss = function(picked)
      local x, y = window(picked)
      return F.cross_entropy(net(x):reshape(-1, text.kinds), y:reshape(-1))
    end,
  }
  local scores, state
  training.write(net, text, options.sample, function(symbols)
    scores, state = net(symbols:narrow(2, -1, 1), state)
    return scores:select(2, -1)
  end)
end

main(arg)
