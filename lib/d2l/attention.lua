-- attention.lua - d2l: attention: scores of keys for queries, weighted means of values, multiple
-- heads, positional encoding.
--
-- Queries, keys and values are (batch, number, size); valid_lens is the number of valid keys:
-- (batch), or (batch, queries).

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local recurrent = require 'torch.d2l.recurrent'
local sequences = require 'torch.d2l.sequences'

local nn = torch.nn

local M = {}

--- The softmax of X (batch, queries, keys) over the keys; keys beyond valid_lens (nil: none) get
--- weight 0.
function M.masked_softmax(X, valid_lens)
  if valid_lens == nil then return X:softmax(-1) end
  if valid_lens:dim() > 2 then fail('masked_softmax(): valid_lens has one or two dimensions, not %d', valid_lens:dim()) end
  local lens = valid_lens:dim() == 1 and valid_lens:reshape(-1, 1, 1) or valid_lens:unsqueeze(3)
  local places = torch.arange(1, X:size(3) + 1, { device = X.device })
  return X:masked_fill(places:gt(lens), -1e6):softmax(-1)
end

--- DotProductAttention(dropout): attention with scaled dot products as scores (A. Vaswani et al.
--- 2017).
-- attention_weights: of the last call.
M.DotProductAttention = nn.Module:extend 'd2l.DotProductAttention'

function M.DotProductAttention:init(dropout) self.dropout = nn.Dropout(dropout or 0) end

function M.DotProductAttention:forward(queries, keys, values, valid_lens)
  local scores = torch.bmm(queries, keys:transpose(2, 3)) / math.sqrt(queries:size(-1))
  self.attention_weights = M.masked_softmax(scores, valid_lens)
  return torch.bmm(self.dropout(self.attention_weights), values)
end

--- AdditiveAttention(num_hiddens, dropout): attention with scores from a tanh layer (D. Bahdanau et
-- al. 2014), for queries and keys of different sizes.
M.AdditiveAttention = nn.Module:extend 'd2l.AdditiveAttention'

function M.AdditiveAttention:init(num_hiddens, dropout)
  self.W_k, self.W_q = nn.LazyLinear(num_hiddens, { bias = false }), nn.LazyLinear(num_hiddens, { bias = false })
  self.w_v, self.dropout = nn.LazyLinear(1, { bias = false }), nn.Dropout(dropout or 0)
end

function M.AdditiveAttention:forward(queries, keys, values, valid_lens)
  local features = torch.tanh(self.W_q(queries):unsqueeze(3) + self.W_k(keys):unsqueeze(2))
  self.attention_weights = M.masked_softmax(self.w_v(features):squeeze(-1), valid_lens)
  return torch.bmm(self.dropout(self.attention_weights), values)
end

local read_heads = declare.reader 'd2l.MultiHeadAttention(integer num_hiddens, integer num_heads, number dropout=0, boolean bias=false)'

--- MultiHeadAttention(num_hiddens, num_heads, dropout = 0, bias = false): attention in num_heads
-- groups of the hidden units.
M.MultiHeadAttention = nn.Module:extend 'd2l.MultiHeadAttention'

function M.MultiHeadAttention:init(...)
  local options = read_heads(...)
  if options.num_hiddens % options.num_heads ~= 0 then
    fail('MultiHeadAttention(): %d hidden units cannot be parted into %d heads', options.num_hiddens, options.num_heads)
  end
  self.num_heads, self.attention = options.num_heads, M.DotProductAttention(options.dropout)
  for _, name in ipairs { 'W_q', 'W_k', 'W_v', 'W_o' } do self[name] = nn.LazyLinear(options.num_hiddens, { bias = options.bias }) end
end

--- (batch, number, hiddens) to (batch * heads, number, hiddens / heads).
function M.MultiHeadAttention:transpose_qkv(X)
  return X:reshape(X:size(1), X:size(2), self.num_heads, -1):transpose(2, 3):flatten(1, 2)
end

--- And back.
function M.MultiHeadAttention:transpose_output(X)
  return X:reshape(-1, self.num_heads, X:size(2), X:size(3)):transpose(2, 3):flatten(3)
end

function M.MultiHeadAttention:forward(queries, keys, values, valid_lens)
  local q, k, v = self:transpose_qkv(self.W_q(queries)), self:transpose_qkv(self.W_k(keys)), self:transpose_qkv(self.W_v(values))
  if valid_lens then valid_lens = valid_lens:repeat_interleave(self.num_heads, 1) end
  return self.W_o(self:transpose_output(self.attention(q, k, v, valid_lens)))
end

--- PositionalEncoding(num_hiddens, dropout, max_len = 1000): adds sines and cosines of the
--- positions, counted from 0 in the formula.
M.PositionalEncoding = nn.Module:extend 'd2l.PositionalEncoding'

function M.PositionalEncoding:init(num_hiddens, dropout, max_len)
  max_len = max_len or 1000
  self.dropout = nn.Dropout(dropout or 0)
  local places = torch.arange(0, max_len, { dtype = torch.float32 }):reshape(-1, 1)
  local X = places / torch.pow(10000, torch.arange(0, num_hiddens, 2, { dtype = torch.float32 }) / num_hiddens)
  local P = torch.zeros(1, max_len, num_hiddens)
  P[':, :, 1::2'], P[':, :, 2::2'] = X:sin(), X:cos()[{ {}, { 1, num_hiddens // 2 } }]
  self:register_buffer('P', P, { persistent = false })
end

function M.PositionalEncoding:forward(X)
  if X:size(2) > self.P:size(2) then fail('PositionalEncoding: %d positions, and max_len is %d', X:size(2), self.P:size(2)) end
  return self.dropout(X + self.P:narrow(2, 1, X:size(2)))
end

-- ---- a decoder that looks back ------------------------------------------------------------------

--- A decoder that keeps its weights: attention_weights(), of a derived class.
M.AttentionDecoder = sequences.Decoder:extend 'd2l.AttentionDecoder'

function M.AttentionDecoder:attention_weights(...) fail('%s has no method attention_weights()', torch.type(self)) end

local read_decoder = declare.reader [[
  d2l.Seq2SeqAttentionDecoder(integer vocab_size, integer embed_size, integer num_hiddens, integer num_layers,
    number dropout=0)]]

--- Seq2SeqAttentionDecoder(vocab_size, embed_size, num_hiddens, num_layers, dropout = 0): at every
--- step attends to the encoder's outputs, with its last state as query.
M.Seq2SeqAttentionDecoder = M.AttentionDecoder:extend 'd2l.Seq2SeqAttentionDecoder'

function M.Seq2SeqAttentionDecoder:init(...)
  local options = read_decoder(...)
  self.attention = M.AdditiveAttention(options.num_hiddens, options.dropout)
  self.embedding = nn.Embedding(options.vocab_size, options.embed_size)
  self.rnn = recurrent.GRU(options.embed_size + options.num_hiddens, options.num_hiddens, { num_layers = options.num_layers, dropout = options.dropout })
  self.dense = nn.LazyLinear(options.vocab_size)
  self:apply(sequences.init_seq2seq)
end

function M.Seq2SeqAttentionDecoder:init_state(enc_all_outputs, valid_lens)
  return { enc_all_outputs[1]:transpose(1, 2), enc_all_outputs[2], valid_lens }
end

function M.Seq2SeqAttentionDecoder:forward(X, state)
  local enc_outputs, hidden, valid_lens = state[1], state[2], state[3]
  local embs, outputs = self.embedding(X.T), {}
  self._weights = {}
  for t = 1, embs:size(1) do
    local query = hidden[-1]:unsqueeze(2)
    local context = self.attention(query, enc_outputs, enc_outputs, valid_lens)
    local x = torch.cat({ context, embs[t]:unsqueeze(2) }, -1)
    outputs[t], hidden = self.rnn(x:transpose(1, 2), hidden)
    self._weights[t] = self.attention.attention_weights
  end
  return self.dense(torch.cat(outputs, 1)):transpose(1, 2), { enc_outputs, hidden, valid_lens }
end

--- The weights of the last call, one tensor (batch, 1, source steps) for each of its steps.
function M.Seq2SeqAttentionDecoder:attention_weights() return self._weights end

return M
