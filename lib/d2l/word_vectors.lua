-- word_vectors.lua - d2l: word2vec data: centres, contexts and negative samples (T. Mikolov et al.
-- 2013), and files of vectors.

local torch = require 'torch'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local whole_file = require 'torch.files.whole_file'
local data = require 'torch.d2l.data'
local text = require 'torch.d2l.text'

local M = {}

local function uniform() return torch.rand(1):item() end

--- Returns sentences (lists of words) without unknown words and with frequent words dropped at
--- random, and the original counts of the words: a word stays with probability sqrt(t / frequency),
--- by default t = 1e-4.
function M.subsample(sentences, vocab, t)
  local counts, total, kept = {}, 0, {}
  for _, line in ipairs(sentences) do
    for _, token in ipairs(line) do
      if vocab(token) ~= vocab.unk then counts[token], total = (counts[token] or 0) + 1, total + 1 end
    end
  end
  for i, line in ipairs(sentences) do
    kept[i] = {}
    for _, token in ipairs(line) do
      if counts[token] and uniform() < math.sqrt((t or 1e-4) * total / counts[token]) then table.insert(kept[i], token) end
    end
  end
  return kept, counts
end

--- For each word of lines with at least two words: the word, and its neighbours up to a random
-- distance of 1 to max_window_size. Two lists.
function M.get_centers_and_contexts(corpus, max_window_size)
  local centers, contexts = {}, {}
  for _, line in ipairs(corpus) do
    if #line >= 2 then
      for i, center in ipairs(line) do
        local window, around = torch.randint(1, max_window_size + 1, { 1 }):item(), {}
        for k = math.max(1, i - window), math.min(#line, i + window) do
          if k ~= i then around[#around + 1] = line[k] end
        end
        centers[#centers + 1], contexts[#contexts + 1] = center, around
      end
    end
  end
  return centers, contexts
end

--- RandomGenerator(weights): draw() returns a random position, with these weights.
M.RandomGenerator = class.Object:extend 'd2l.RandomGenerator'

function M.RandomGenerator:init(sampling_weights)
  self.weights, self._drawn, self._next = torch.tensor(sampling_weights, { dtype = torch.float32 }), {}, 1
end

function M.RandomGenerator:draw()
  if self._next > #self._drawn then self._drawn, self._next = torch.multinomial(self.weights, 10000, true):tolist(), 1 end
  self._next = self._next + 1
  return self._drawn[self._next - 1]
end

--- For each context, K times as many words outside of it, sampled by their counts to the power of
-- 0.75. Requires at least two words.
function M.get_negatives(all_contexts, vocab, counter, K)
  local weights = {}
  for i = 1, #vocab do weights[i] = (counter[vocab:to_tokens(i)] or 0) ^ 0.75 end
  weights[vocab.unk] = 0
  local generator, all = M.RandomGenerator(weights), {}
  for i, contexts in ipairs(all_contexts) do
    local is_context, negatives, tries = {}, {}, 0
    for _, token in ipairs(contexts) do is_context[token] = true end
    while #negatives < #contexts * K do
      local word = generator:draw()
      if not is_context[word] then negatives[#negatives + 1] = word end
      tries = tries + 1
      if tries > 1000 * (#contexts * K + 1) then fail 'get_negatives(): too few words of the vocabulary are outside of the context' end
    end
    all[i] = negatives
  end
  return all
end

--- A batch of samples {center, contexts, negatives} as tensors: centers (n, 1), contexts and
--- negatives (n, most), masks (1: an entry, 0: padding) and labels (1: a context). Padding is
--- position 1.
function M.batchify(samples)
  local most = 0
  for _, sample in ipairs(samples) do most = math.max(most, #sample[2] + #sample[3]) end
  local centers, joined, masks, labels = {}, {}, {}, {}
  for i, sample in ipairs(samples) do
    local row, mask, label = {}, {}, {}
    for k = 1, most do
      local context = k <= #sample[2]
      row[k] = context and sample[2][k] or sample[3][k - #sample[2]] or 1
      mask[k], label[k] = k <= #sample[2] + #sample[3] and 1. or 0., context and 1. or 0.
    end
    centers[i], joined[i], masks[i], labels[i] = { sample[1] }, row, mask, label
  end
  return torch.tensor(centers), torch.tensor(joined), torch.tensor(masks), torch.tensor(labels)
end

--- load_data_ptb(batch_size, max_window_size, num_noise_words, {path = , min_freq = 10, t = 1e-4}):
--- a loader of such batches of a text with one sentence per line, and the vocabulary. The book uses
--- the Penn Tree Bank, ptb.train.txt in the data folder.
function M.load_data_ptb(batch_size, max_window_size, num_noise_words, options)
  options = options or {}
  local raw = whole_file.read(data.find_file(options.path, 'ptb.train.txt', 'the book has it from http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz'))
  local sentences = {}
  for line in raw:gmatch '[^\n]+' do sentences[#sentences + 1] = text.tokenize(line) end
  local vocab = text.Vocab(sentences, options.min_freq or 10)
  local kept, counter = M.subsample(sentences, vocab, options.t)
  for i, line in ipairs(kept) do kept[i] = vocab(line) end
  local centers, contexts = M.get_centers_and_contexts(kept, max_window_size)
  local negatives = M.get_negatives(contexts, vocab, counter, num_noise_words)
  local dataset = {}
  for i, center in ipairs(centers) do dataset[i] = { center, contexts[i], negatives[i] } end
  return torch.utils.data.DataLoader(dataset, { batch_size = batch_size, shuffle = true, collate_fn = M.batchify }), vocab
end

--- TokenEmbedding(path): vectors from a text file with a word and its numbers on each line (GloVe,
--- fastText).
--- embedding(words) is (n, size); unknown words are zeros. idx_to_token, idx_to_vec.
M.TokenEmbedding = class.Object:extend 'd2l.TokenEmbedding'

function M.TokenEmbedding:init(path)
  self.idx_to_token, self.token_to_idx, self.unknown_idx = { '<unk>' }, { ['<unk>'] = 1 }, 1
  local rows = {}
  for line in whole_file.read(path):gmatch '[^\n]+' do
    local word, rest = line:match '^(%S+)%s+(.*)$'
    local row = {}
    for number in (rest or ''):gmatch '%S+' do row[#row + 1] = tonumber(number) or fail('%s: %s is not a number', path, number) end
    if #row > 1 then -- fastText's files begin with a header of one number
      if rows[1] and #row ~= #rows[1] then fail('%s: %d numbers for %s, and %d for others', path, #row, word, #rows[1]) end
      rows[#rows + 1] = row
      self.idx_to_token[#rows + 1], self.token_to_idx[word] = word, #rows + 1
    end
  end
  if #rows == 0 then fail('%s holds no vectors', path) end
  local vectors = torch.tensor(rows, { dtype = torch.float32 })
  self.idx_to_vec = torch.cat({ torch.zeros(1, vectors:size(2)), vectors }, 1)
end

function M.TokenEmbedding:__len() return #self.idx_to_token end

function M.TokenEmbedding:__call(words)
  local at = {}
  for i, word in ipairs(words) do at[i] = self.token_to_idx[word] or self.unknown_idx end
  return self.idx_to_vec:index_select(1, torch.tensor(at, { dtype = torch.int64 }))
end

return M
