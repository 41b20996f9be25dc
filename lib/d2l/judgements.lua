-- judgements.lua - d2l: sentiment of reviews, and inference between two sentences. Classes count
-- from 1: reviews 1 negative, 2 positive; pairs 1 entailment, 2 contradiction, 3 neutral.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local outside = require 'torch.files.outside'
local whole_file = require 'torch.files.whole_file'
local data = require 'torch.d2l.data'
local sequences = require 'torch.d2l.sequences'
local text = require 'torch.d2l.text'

local nn = torch.nn

local M = {}

-- ---- reviews ------------------------------------------------------------------------------------

--- read_imdb(data_dir, is_train): lists of the texts and classes of reviews in the form of aclImdb
--- (download it from https://ai.stanford.edu/~amaas/data/sentiment/). The files of train/pos,
--- train/neg, test/pos and test/neg are read in the order of their names.
function M.read_imdb(data_dir, is_train)
  local texts, labels = {}, {}
  for class, label in ipairs { 'neg', 'pos' } do
    local folder = ('%s/%s/%s'):format(data_dir, is_train and 'train' or 'test', label)
    -- 12500 files of a class: 0_score.txt to 12499_score.txt; the score is 1 to 10.
    local number = 0
    while true do
      local found
      for score = 0, 10 do
        local path = ('%s/%d_%d.txt'):format(folder, number, score)
        local file = outside.open(path, 'rb')
        if file then
          file:close()
          found = path
          break
        end
      end
      if not found then break end
      texts[#texts + 1], labels[#labels + 1] = whole_file.read(found):gsub('\n', ' '), class
      number = number + 1
    end
    if number == 0 then fail('read_imdb(): %s holds no reviews; they are https://ai.stanford.edu/~amaas/data/sentiment/', folder) end
  end
  return texts, labels
end

--- Loaders of reviews, truncated or padded to num_steps words, and the vocabulary:
--- load_data_imdb(batch_size, num_steps, {train = {texts, classes}, test = {texts, classes},
--- min_freq = 5}); with data_dir instead of both, the data of read_imdb.
function M.load_data_imdb(batch_size, num_steps, options)
  local train = options.train or { M.read_imdb(options.data_dir, true) }
  local test = options.test or { M.read_imdb(options.data_dir, false) }
  local tokens = text.tokenize(train[1])
  local vocab = text.Vocab(tokens, options.min_freq or 5, { '<pad>' })
  local function features(texts)
    local rows = {}
    for i, line in ipairs(text.tokenize(texts)) do rows[i] = sequences.truncate_pad(vocab(line), num_steps, vocab '<pad>') end
    return torch.tensor(rows)
  end
  return data.load_array({ features(train[1]), torch.tensor(train[2]) }, batch_size),
    data.load_array({ features(test[1]), torch.tensor(test[2]) }, batch_size, false), vocab
end

--- 'positive' or 'negative', for a review (words separated by spaces).
function M.predict_sentiment(net, vocab, sequence)
  local device = net:parameters()[1].device
  local words = torch.tensor({ vocab(text.tokenize(sequence)) }, { device = device })
  return torch.no_grad(function() return net(words):argmax(2):item() end) == 2 and 'positive' or 'negative'
end

--- BiRNN(vocab_size, embed_size, num_hiddens, num_layers): a bidirectional LSTM; classifies by its
-- first and last outputs.
M.BiRNN = nn.Module:extend 'd2l.BiRNN'

function M.BiRNN:init(vocab_size, embed_size, num_hiddens, num_layers)
  self.embedding = nn.Embedding(vocab_size, embed_size)
  self.encoder = nn.LSTM(embed_size, num_hiddens, { num_layers = num_layers or 1, bidirectional = true })
  self.decoder = nn.Linear(4 * num_hiddens, 2)
end

function M.BiRNN:forward(inputs)
  local outputs = self.encoder(self.embedding(inputs.T))
  return self.decoder(torch.cat({ outputs[1], outputs[-1] }, 2))
end

--- TextCNN(vocab_size, embed_size, kernel_sizes, num_channels): convolutions over words, with the
--- maximum of each channel (Y. Kim 2014); the second embedding is not trained.
M.TextCNN = nn.Module:extend 'd2l.TextCNN'

function M.TextCNN:init(vocab_size, embed_size, kernel_sizes, num_channels)
  self.embedding, self.constant_embedding = nn.Embedding(vocab_size, embed_size), nn.Embedding(vocab_size, embed_size)
  self.constant_embedding.weight.requires_grad = false
  self.dropout, self.convs = nn.Dropout(0.5), nn.ModuleList {}
  local sum = 0
  for i, channels in ipairs(num_channels) do
    self.convs:append(nn.Conv1d(2 * embed_size, channels, kernel_sizes[i]))
    sum = sum + channels
  end
  self.decoder = nn.Linear(sum, 2)
end

function M.TextCNN:forward(inputs)
  local X = torch.cat({ self.embedding(inputs), self.constant_embedding(inputs) }, 3):permute(1, 3, 2)
  local found = {}
  for i, conv in ipairs(self.convs) do found[i] = conv(X):amax(3):relu() end
  return self.decoder(self.dropout(torch.cat(found, 2)))
end

-- ---- pairs of sentences -------------------------------------------------------------------------

M.SNLI_LABELS = { 'entailment', 'contradiction', 'neutral' }

--- Premises, hypotheses and classes of the SNLI corpus (download it from
--- https://nlp.stanford.edu/projects/snli/): snli_1.0_train.txt or snli_1.0_test.txt in data_dir.
function M.read_snli(data_dir, is_train)
  local name = is_train and 'snli_1.0_train.txt' or 'snli_1.0_test.txt'
  local raw = whole_file.read(data.find_file(data_dir and data_dir .. '/' .. name, name, 'SNLI is https://nlp.stanford.edu/projects/snli/'))
  local class_of, premises, hypotheses, labels = {}, {}, {}, {}
  for class, label in ipairs(M.SNLI_LABELS) do class_of[label] = class end
  for line in raw:gmatch '[^\n]+' do
    local label, premise, hypothesis = line:match '^([^\t]*)\t([^\t]*)\t([^\t]*)'
    if class_of[label] then
      local function words(parse) return (parse:gsub('[()]', ''):gsub('%s+', ' '):gsub('^ ', ''):gsub(' $', '')) end
      premises[#premises + 1], hypotheses[#hypotheses + 1], labels[#labels + 1] = words(premise), words(hypothesis), class_of[label]
    end
  end
  return premises, hypotheses, labels
end

--- SNLIDataset({premises, hypotheses, classes}, num_steps, vocab): a sample is a list {premise,
--- hypothesis} of positions and the class.
M.SNLIDataset = torch.utils.data.Dataset:extend 'd2l.SNLIDataset'

function M.SNLIDataset:init(dataset, num_steps, vocab)
  local premises, hypotheses = text.tokenize(dataset[1]), text.tokenize(dataset[2])
  if not vocab then
    local all = table.move(premises, 1, #premises, 1, {})
    vocab = text.Vocab(table.move(hypotheses, 1, #hypotheses, #all + 1, all), 5, { '<pad>' })
  end
  self.vocab = vocab
  local function array(lines)
    local rows = {}
    for i, line in ipairs(lines) do rows[i] = sequences.truncate_pad(vocab(line), num_steps, vocab '<pad>') end
    return torch.tensor(rows)
  end
  self.premises, self.hypotheses, self.labels = array(premises), array(hypotheses), torch.tensor(dataset[3])
end

function M.SNLIDataset:__len() return #self.labels end
function M.SNLIDataset:__getitem(i) return { self.premises[i], self.hypotheses[i] }, self.labels[i] end

--- Loaders of such pairs and the vocabulary: load_data_snli(batch_size, num_steps, train, test),
--- each {premises, hypotheses, classes}; without them the data of read_snli.
function M.load_data_snli(batch_size, num_steps, train, test)
  local train_set = M.SNLIDataset(train or { M.read_snli(nil, true) }, num_steps)
  local test_set = M.SNLIDataset(test or { M.read_snli(nil, false) }, num_steps, train_set.vocab)
  local DataLoader = torch.utils.data.DataLoader
  return DataLoader(train_set, { batch_size = batch_size, shuffle = true }), DataLoader(test_set, { batch_size = batch_size }), train_set.vocab
end

local function mlp(num_hiddens, flatten)
  local net = nn.Sequential(nn.Dropout(0.2), nn.LazyLinear(num_hiddens), nn.ReLU(), nn.Dropout(0.2), nn.LazyLinear(num_hiddens), nn.ReLU())
  if flatten then net:append(nn.Flatten()) end
  return net
end

--- DecomposableAttention(vocab_size, embed_size, num_hiddens): words of both sentences are aligned,
--- compared and summed up (A. Parikh et al. 2016). forward {premises, hypotheses}.
M.DecomposableAttention = nn.Module:extend 'd2l.DecomposableAttention'

function M.DecomposableAttention:init(vocab_size, embed_size, num_hiddens)
  self.embedding = nn.Embedding(vocab_size, embed_size)
  self.attend, self.compare = mlp(num_hiddens), mlp(num_hiddens)
  self.aggregate, self.linear = mlp(num_hiddens, true), nn.LazyLinear(3)
end

function M.DecomposableAttention:forward(X)
  local A, B = self.embedding(X[1]), self.embedding(X[2])
  local e = torch.bmm(self.attend(A), self.attend(B):transpose(2, 3))
  local beta = torch.bmm(e:softmax(-1), B)
  local alpha = torch.bmm(e:transpose(2, 3):softmax(-1), A)
  local V_A, V_B = self.compare(torch.cat({ A, beta }, 3)):sum(2), self.compare(torch.cat({ B, alpha }, 3)):sum(2)
  return self.linear(self.aggregate(torch.cat({ V_A, V_B }, 2)))
end

--- The name of the class of two sentences, lists of words.
function M.predict_snli(net, vocab, premise, hypothesis)
  net:eval()
  local device = net:parameters()[1].device
  local function positions(words) return torch.tensor({ vocab(words) }, { device = device }) end
  local class = torch.no_grad(function() return net { positions(premise), positions(hypothesis) }:argmax(2):item() end)
  return M.SNLI_LABELS[class]
end

return M
