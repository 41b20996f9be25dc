-- bert.lua - d2l: BERT (J. Devlin et al. 2018): its encoder, its two tasks, and their data.
-- Segments are 1 and 2; masked words are given by their positions; in the second task, class 1
-- means "does not follow", class 2 "follows".

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
local text = require 'torch.d2l.text'
local transformer = require 'torch.d2l.transformer'

local nn = torch.nn

local M = {}

--- <cls> a <sep> b <sep> and the segment of each token; b may be nil.
function M.get_tokens_and_segments(tokens_a, tokens_b)
  local all, segments = { '<cls>' }, { 1 }
  local function add(list, segment)
    for _, token in ipairs(list) do all[#all + 1], segments[#segments + 1] = token, segment end
    all[#all + 1], segments[#segments + 1] = '<sep>', segment
  end
  add(tokens_a, 1)
  if tokens_b then add(tokens_b, 2) end
  return all, segments
end

local read = declare.reader [[
  d2l.BERTEncoder(integer vocab_size, integer num_hiddens, integer ffn_num_hiddens, integer num_heads,
    integer num_blks, number dropout=0.1, integer max_len=1000)]]

--- BERTEncoder(vocab_size, num_hiddens, ffn_num_hiddens, num_heads, num_blks, dropout = 0.1,
--- max_len = 1000): forward(tokens, segments, valid_lens).
M.BERTEncoder = nn.Module:extend 'd2l.BERTEncoder'

function M.BERTEncoder:init(...)
  local o = read(...)
  self.token_embedding, self.segment_embedding = nn.Embedding(o.vocab_size, o.num_hiddens), nn.Embedding(2, o.num_hiddens)
  self.blks = nn.ModuleList {}
  kinds.check_count(self.__classname, 'num_blks', o.num_blks)
  for _ = 1, o.num_blks do
    self.blks:append(transformer.TransformerEncoderBlock(o.num_hiddens, o.ffn_num_hiddens, o.num_heads, o.dropout, true))
  end
  self.pos_embedding = nn.Parameter(torch.randn(1, o.max_len, o.num_hiddens))
end

function M.BERTEncoder:forward(tokens, segments, valid_lens)
  local X = self.token_embedding(tokens) + self.segment_embedding(segments) + self.pos_embedding:narrow(2, 1, tokens:size(2))
  for _, block in ipairs(self.blks) do X = block(X, valid_lens) end
  return X
end

--- MaskLM(vocab_size, num_hiddens): the scores of the words at pred_positions (batch, n) of the
--- encoder's output X.
M.MaskLM = nn.Module:extend 'd2l.MaskLM'

function M.MaskLM:init(vocab_size, num_hiddens)
  self.mlp = nn.Sequential(nn.LazyLinear(num_hiddens), nn.ReLU(), nn.LayerNorm(num_hiddens), nn.LazyLinear(vocab_size))
end

function M.MaskLM:forward(X, pred_positions)
  local at = pred_positions:unsqueeze(3):expand(-1, -1, X:size(3))
  return self.mlp(X:gather(2, at))
end

--- NextSentencePred(): the scores of the two classes.
M.NextSentencePred = nn.Module:extend 'd2l.NextSentencePred'
function M.NextSentencePred:init() self.output = nn.LazyLinear(2) end
function M.NextSentencePred:forward(X) return self.output(X) end

local read_model = declare.reader [[
  d2l.BERTModel(integer vocab_size, integer num_hiddens, integer ffn_num_hiddens, integer num_heads,
    integer num_blks, number dropout=0.1, integer max_len=1000)]]

--- BERTModel(the same): forward(tokens, segments, valid_lens, pred_positions) returns the encoder's
--- output, the scores of masked words (nil without pred_positions) and the scores of the next
--- sentence.
M.BERTModel = nn.Module:extend 'd2l.BERTModel'

function M.BERTModel:init(...)
  local o = read_model(...)
  self.encoder = M.BERTEncoder(o.vocab_size, o.num_hiddens, o.ffn_num_hiddens, o.num_heads, o.num_blks, o.dropout, o.max_len)
  self.hidden = nn.Sequential(nn.LazyLinear(o.num_hiddens), nn.Tanh())
  self.mlm, self.nsp = M.MaskLM(o.vocab_size, o.num_hiddens), M.NextSentencePred()
end

function M.BERTModel:forward(tokens, segments, valid_lens, pred_positions)
  local encoded = self.encoder(tokens, segments, valid_lens)
  local words = pred_positions and self.mlm(encoded, pred_positions) or nil
  return encoded, words, self.nsp(self.hidden(encoded:select(2, 1)))
end

-- ---- data ---------------------------------------------------------------------------------------

local function uniform() return torch.rand(1):item() end
local function one_of(list) return list[torch.randint(1, #list + 1, { 1 }):item()] end

--- Pairs of sentences of a paragraph, half of them with a random sentence: a list of {tokens,
--- segments, follows}; pairs longer than max_len are dropped.
function M.get_nsp_data_from_paragraph(paragraph, paragraphs, max_len)
  local pairs_of = {}
  for i = 1, #paragraph - 1 do
    local a, b, follows = paragraph[i], paragraph[i + 1], true
    if uniform() < 0.5 then b, follows = one_of(one_of(paragraphs)), false end
    if #a + #b + 3 <= max_len then
      local tokens, segments = M.get_tokens_and_segments(a, b)
      pairs_of[#pairs_of + 1] = { tokens, segments, follows }
    end
  end
  return pairs_of
end

--- Selects 15 % of the tokens to predict: 80 % of these become <mask>, 10 % another word. Returns
--- the positions of the tokens in vocab, the positions to predict, in order, and the correct
--- positions in vocab.
function M.get_mlm_data_from_tokens(tokens, vocab)
  local candidates = {}
  for i, token in ipairs(tokens) do
    if token ~= '<cls>' and token ~= '<sep>' then candidates[#candidates + 1] = i end
  end
  if #candidates == 0 then fail 'get_mlm_data_from_tokens(): expected a word between <cls> and <sep>, but got none' end
  local order = torch.randperm(#candidates):tolist()
  local count, places = math.max(1, math.floor(#tokens * 0.15 + 0.5)), {}
  for i = 1, math.min(count, #candidates) do places[i] = candidates[order[i]] end
  table.sort(places)
  local input, labels = table.move(tokens, 1, #tokens, 1, {}), {}
  for i, place in ipairs(places) do
    labels[i] = vocab(tokens[place])
    local chance = uniform()
    if chance < 0.8 then input[place] = '<mask>' elseif chance < 0.9 then input[place] = one_of(vocab.idx_to_token) end
  end
  return vocab(input), places, labels
end

local function padded(list, length, filling)
  local row = table.move(list, 1, #list, 1, {})
  for i = #row + 1, length do row[i] = filling end
  return row
end

--- WikiTextDataset(paragraphs, max_len): from paragraphs, lists of sentences (strings of words
--- separated by blanks). A sample: tokens, segments, valid length, positions of masked words, their
--- weights, the words, and the class of the next sentence.
M.WikiTextDataset = torch.utils.data.Dataset:extend 'd2l.WikiTextDataset'

function M.WikiTextDataset:init(paragraphs, max_len, min_freq)
  local tokenized, sentences = {}, {}
  for i, paragraph in ipairs(paragraphs) do
    tokenized[i] = text.tokenize(paragraph)
    table.move(tokenized[i], 1, #tokenized[i], #sentences + 1, sentences)
  end
  self.vocab = text.Vocab(sentences, min_freq or 1, { '<pad>', '<mask>', '<cls>', '<sep>' })
  local samples, most = {}, math.floor(max_len * 0.15 + 0.5)
  local pad = self.vocab '<pad>'
  for _, paragraph in ipairs(tokenized) do
    for _, pair in ipairs(M.get_nsp_data_from_paragraph(paragraph, tokenized, max_len)) do
      local ids, places, labels = M.get_mlm_data_from_tokens(pair[1], self.vocab)
      samples[#samples + 1] = { padded(ids, max_len, pad), padded(pair[2], max_len, 1), #ids, padded(places, most, 1),
        padded(padded({}, #places, 1.), most, 0.), padded(labels, most, pad), pair[3] and 2 or 1 }
    end
  end
  if #samples == 0 then fail('WikiTextDataset(): no two sentences fit into %d tokens', max_len) end
  self.tensors = {}
  for column = 1, 7 do
    local rows = {}
    for i, sample in ipairs(samples) do rows[i] = sample[column] end
    self.tensors[column] = torch.tensor(rows)
  end
end

function M.WikiTextDataset:__len() return #self.tensors[1] end

function M.WikiTextDataset:__getitem(i)
  local values = {}
  for column, tensor in ipairs(self.tensors) do values[column] = tensor[i] end
  return table.unpack(values)
end

--- load_data_wiki(batch_size, max_len, paragraphs): a loader of such samples, and the vocabulary.
--- The book uses WikiText-2 (download required).
function M.load_data_wiki(batch_size, max_len, paragraphs)
  local dataset = M.WikiTextDataset(paragraphs, max_len)
  return torch.utils.data.DataLoader(dataset, { batch_size = batch_size, shuffle = true }), dataset.vocab
end

--- The losses of both tasks for a batch, and their sum: get_batch_loss_bert(net, vocab_size,
--- tokens, segments, valid_lens, places, weights, words, follows).
function M.get_batch_loss_bert(net, vocab_size, tokens, segments, valid_lens, places, weights, words, follows)
  local _, mlm, nsp = net(tokens, segments, valid_lens:reshape(-1), places)
  local each = nn.functional.cross_entropy(mlm:reshape(-1, vocab_size), words:reshape(-1), { reduction = 'none' })
  local mlm_loss = (each * weights:reshape(-1)):sum() / (weights:sum() + 1e-8)
  local nsp_loss = nn.functional.cross_entropy(nsp, follows)
  return mlm_loss, nsp_loss, mlm_loss + nsp_loss
end

return M
