-- text.lua - d2l: tokens as positions in a vocabulary, and sequences of a text to learn from.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local class = require 'torch.support.class'
local fail = require 'torch.support.fail'
local text = require 'torch.utils.data.text'
local whole_file = require 'torch.files.whole_file'
local data = require 'torch.d2l.data'
local tools = require 'torch.d2l.tools'

local M = {}

-- ---- vocabularies -------------------------------------------------------------------------------

--- Vocab(tokens, min_freq = 0, reserved_tokens = {}): tokens in a list, or in lists. vocab[token]
--- is its position, vocab[{…}] the positions of a (nested) list; unknown tokens are vocab.unk,
--- position 1. #vocab;
--- token_freqs: {token, count} by decreasing count.
M.Vocab = class.Object:extend 'd2l.Vocab'

function M.Vocab:init(tokens, min_freq, reserved_tokens)
  local known = text.Vocabulary(tokens or {}, { min_freq = min_freq or 0, reserved = reserved_tokens or {} })
  self.idx_to_token, self.token_to_idx, self.unk = known.list, known.positions, 1
  self.token_freqs = {}
  for token, count in pairs(known.counts) do self.token_freqs[#self.token_freqs + 1] = { token, count } end
  table.sort(self.token_freqs, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
end

function M.Vocab:__len() return #self.idx_to_token end

--- The position of a token, or the list of positions of a list.
function M.Vocab:indices(token)
  if type(token) ~= 'table' then return self.token_to_idx[token] or self.unk end
  local list = {}
  for i, entry in ipairs(token) do list[i] = self:indices(entry) end
  return list
end

M.Vocab.__call = M.Vocab.indices

--- The token at a position, or the list of tokens at positions (a list or a tensor).
function M.Vocab:to_tokens(indices)
  if torch.is_tensor(indices) then indices = indices:tolist() end
  if type(indices) ~= 'table' then
    return self.idx_to_token[indices] or fail('to_tokens(): positions are 1 to %d, not %s', #self, tostring(indices))
  end
  local list = {}
  for i, index in ipairs(indices) do list[i] = self:to_tokens(index) end
  return list
end

--- Lines as lists of tokens: 'word' (separated by blanks) or 'char'.
function M.tokenize(lines, by) return text.tokenize(lines, by or 'word') end

-- ---- a text -------------------------------------------------------------------------------------

local read = declare.reader [[
  d2l.TimeMachine(integer batch_size, integer num_steps, integer num_train=10000, integer num_val=5000,
    string? path)]]

--- TimeMachine(batch_size, num_steps, num_train = 10000, num_val = 5000): sequences of num_steps
--- characters of H. G. Wells' The Time Machine with the next character of each. Download
--- https://www.gutenberg.org/ebooks/35 as timemachine.txt to the data folder; {path = } reads
--- another text.
M.TimeMachine = data.DataModule:extend 'd2l.TimeMachine'

function M.TimeMachine:init(...)
  tools.keep(self, read(...))
  local corpus, vocab = self:build(self:_read())
  local n, count = self.num_steps, #corpus - self.num_steps
  if count < 1 then fail('TimeMachine(): the text has %d characters, fewer than a window of %d and one', #corpus, n) end
  self.vocab, self.corpus = vocab, corpus
  local windows = torch.tensor(corpus):unfold(1, n + 1, 1)
  self.X, self.Y = windows:narrow(2, 1, n), windows:narrow(2, 2, n)
  self.num_train = math.min(self.num_train, count)
  self.num_val = math.min(self.num_val, count - self.num_train)
end

function M.TimeMachine:_read()
  return whole_file.read(data.find_file(self.path or nil, 'timemachine.txt', 'The Time Machine is https://www.gutenberg.org/ebooks/35, as plain text'))
end

-- Letters in lower case and single spaces.
function M.TimeMachine:_preprocess(raw) return (raw:gsub('[^A-Za-z]+', ' '):lower()) end

function M.TimeMachine:_tokenize(clean) return text.tokenize(clean, 'char') end

--- The positions of all tokens of a text, as a list, and the vocabulary: vocab, or one of the
--- text's tokens.
function M.TimeMachine:build(raw_text, vocab)
  local tokens = self:_tokenize(self:_preprocess(raw_text))
  vocab = vocab or M.Vocab(tokens)
  return vocab:indices(tokens), vocab
end

function M.TimeMachine:get_dataloader(train)
  local first, n = train and 1 or self.num_train + 1, train and self.num_train or self.num_val
  return self:get_tensorloader({ self.X, self.Y }, train, { first, first + n - 1 })
end

return M
