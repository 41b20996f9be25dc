-- sequences.lua - d2l: sequence to sequence: pairs of sentences, encoder and decoder, their
-- training, and BLEU.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local whole_file = require 'torch.files.whole_file'
local data = require 'torch.d2l.data'
local models = require 'torch.d2l.models'
local recurrent = require 'torch.d2l.recurrent'
local text = require 'torch.d2l.text'
local tools = require 'torch.d2l.tools'

local nn, F = torch.nn, torch.nn.functional

local M = {}

-- ---- pairs of sentences -------------------------------------------------------------------------

--- The line cut, or padded with padding_token, to num_steps entries.
function M.truncate_pad(line, num_steps, padding_token)
  local list = table.move(line, 1, math.min(#line, num_steps), 1, {})
  for i = #list + 1, num_steps do list[i] = padding_token end
  return list
end

local read = declare.reader [[
  d2l.MTFraEng(integer batch_size, integer num_steps=9, integer num_train=512, integer num_val=128,
    string? path)]]

--- MTFraEng(batch_size, num_steps = 9, num_train = 512, num_val = 128): English and French
--- sentences, cut or padded to num_steps tokens.
---
--- A batch is the source, the target from <bos> on, the number of source tokens before the padding,
--- and the target's next tokens. Download https://www.manythings.org/anki/fra-eng.zip, and store
--- fra.txt in the data folder; {path = } reads another file with lines "source TAB target".
M.MTFraEng = data.DataModule:extend 'd2l.MTFraEng'

function M.MTFraEng:init(...)
  tools.keep(self, read(...))
  local source, target = self:_tokenize(self:_preprocess(self:_read()), self.num_train + self.num_val)
  if #source < self.num_train + self.num_val then
    fail('MTFraEng(): the file has %d pairs of sentences, fewer than num_train + num_val (%d)', #source, self.num_train + self.num_val)
  end
  self.arrays, self.src_vocab, self.tgt_vocab = self:_build_arrays(source, target)
end

function M.MTFraEng:_read()
  return whole_file.read(data.find_file(self.path or nil, 'fra.txt', 'it is fra.txt of https://www.manythings.org/anki/fra-eng.zip'))
end

-- Lower case, ordinary spaces, a space before each mark.
function M.MTFraEng:_preprocess(raw)
  return (raw:gsub('\u{202F}', ' '):gsub('\u{A0}', ' '):lower():gsub('([^%s])([,.!?])', '%1 %2'))
end

function M.MTFraEng:_tokenize(clean, most)
  local source, target = {}, {}
  for line in clean:gmatch '[^\r\n]+' do
    local left, right = line:match '^([^\t]+)\t([^\t]+)'
    if left then
      source[#source + 1], target[#target + 1] = text.tokenize(left .. ' <eos>'), text.tokenize(right .. ' <eos>')
      if #source == most then break end
    end
  end
  return source, target
end

function M.MTFraEng:_build_arrays(source, target, src_vocab, tgt_vocab)
  local function array(sentences, vocab, is_target)
    if is_target then
      local begun = {}
      for i, tokens in ipairs(sentences) do begun[i] = table.move(tokens, 1, #tokens, 2, { '<bos>' }) end
      sentences = begun
    end
    local padded, steps = {}, self.num_steps + (is_target and 1 or 0)
    for i, tokens in ipairs(sentences) do padded[i] = M.truncate_pad(tokens, steps, '<pad>') end
    vocab = vocab or text.Vocab(padded, 2, { '<pad>', '<bos>', '<eos>' })
    local ids = torch.tensor(vocab:indices(padded))
    return ids, vocab, ids:ne(vocab:indices '<pad>'):sum(2)
  end
  local src, src_known, valid_len = array(source, src_vocab, false)
  local tgt, tgt_known = array(target, tgt_vocab, true)
  return { src, tgt:narrow(2, 1, self.num_steps), valid_len, tgt:narrow(2, 2, self.num_steps) }, src_known, tgt_known
end

--- Sentences with tokens separated by blanks, as the tensors of a batch: four results, or one list
-- with as_list.
function M.MTFraEng:build(src_sentences, tgt_sentences, as_list)
  local source, target = {}, {}
  for i, sentence in ipairs(src_sentences) do
    source[i], target[i] = text.tokenize(sentence .. ' <eos>'), text.tokenize(tgt_sentences[i] .. ' <eos>')
  end
  local arrays = self:_build_arrays(source, target, self.src_vocab, self.tgt_vocab)
  if as_list then return arrays end
  return table.unpack(arrays)
end

function M.MTFraEng:get_dataloader(train)
  local first, n = train and 1 or self.num_train + 1, train and self.num_train or self.num_val
  return self:get_tensorloader(self.arrays, train, { first, first + n - 1 })
end

-- ---- encoder and decoder ------------------------------------------------------------------------

--- Reads a sequence: forward(X, …).
M.Encoder = nn.Module:extend 'd2l.Encoder'

--- Writes a sequence: init_state(enc_all_outputs, …) returns the initial state from the encoder's
--- outputs (a list), forward(X, state) returns the scores and the next state.
M.Decoder = nn.Module:extend 'd2l.Decoder'

function M.Decoder:init_state(...) fail('%s has no method init_state(enc_all_outputs, …)', torch.type(self)) end

--- EncoderDecoder(encoder, decoder): the scores of the target's next tokens: forward(enc_X, dec_X,
--- …); further arguments are passed to the encoder and to init_state.
M.EncoderDecoder = models.Classifier:extend 'd2l.EncoderDecoder'

function M.EncoderDecoder:init(encoder, decoder) self.encoder, self.decoder = encoder, decoder end

function M.EncoderDecoder:forward(enc_X, dec_X, ...)
  local state = self.decoder:init_state({ self.encoder(enc_X, ...) }, ...)
  return (self.decoder(dec_X, state))
end

--- Predictions for a batch {source, target, source_valid_len, …}: the most likely positions (batch,
--- num_steps); and, if the decoder keeps them and save_attention_weights is true, the weights of
--- each step.
function M.EncoderDecoder:predict_step(batch, device, num_steps, save_attention_weights)
  local _ <close> = torch.no_grad()
  local moved = {}
  for i, tensor in ipairs(batch) do moved[i] = device and tensor:to(device) or tensor end
  self:eval()
  local src, tgt, src_valid_len = moved[1], moved[2], moved[3]
  local state = self.decoder:init_state({ self.encoder(src, src_valid_len) }, src_valid_len)
  local outputs, weights = { tgt:narrow(2, 1, 1) }, {}
  for i = 1, num_steps do
    local Y
    Y, state = self.decoder(outputs[i], state)
    outputs[i + 1] = Y:argmax(3)
    if save_attention_weights then weights[i] = self.decoder:attention_weights() end
  end
  return torch.cat(outputs, 2):narrow(2, 2, num_steps), weights
end

--- For apply: Xavier's uniform weights for linear and recurrent layers.
function M.init_seq2seq(module)
  local name = torch.type(module)
  if name == 'Linear' then nn.init.xavier_uniform_(module.weight) end
  if name == 'GRU' then
    for key, parameter in module:named_parameters() do
      if key:find 'weight' then nn.init.xavier_uniform_(parameter) end
    end
  end
end

local read_coder = declare.reader [[
  d2l.Seq2SeqEncoder(integer vocab_size, integer embed_size, integer num_hiddens, integer num_layers,
    number dropout=0)]]

--- Seq2SeqEncoder(vocab_size, embed_size, num_hiddens, num_layers, dropout = 0): a GRU over
--- embeddings of X (batch, steps). Returns its outputs (steps, batch, hiddens) and its last state
--- (layers, batch, hiddens).
M.Seq2SeqEncoder = M.Encoder:extend 'd2l.Seq2SeqEncoder'

function M.Seq2SeqEncoder:init(...)
  local options = read_coder(...)
  self.embedding = nn.Embedding(options.vocab_size, options.embed_size)
  self.rnn = recurrent.GRU(options.embed_size, options.num_hiddens, { num_layers = options.num_layers, dropout = options.dropout })
  self:apply(M.init_seq2seq)
end

function M.Seq2SeqEncoder:forward(X, ...) return self.rnn(self.embedding(X.T:long())) end

local read_decoder = declare.reader [[
  d2l.Seq2SeqDecoder(integer vocab_size, integer embed_size, integer num_hiddens, integer num_layers,
    number dropout=0)]]

--- Seq2SeqDecoder(vocab_size, embed_size, num_hiddens, num_layers, dropout = 0): the same, with the
--- encoder's last state as additional input at every step. Returns scores (batch, steps,
--- vocab_size) and its state, a list {context, hidden}.
M.Seq2SeqDecoder = M.Decoder:extend 'd2l.Seq2SeqDecoder'

function M.Seq2SeqDecoder:init(...)
  local options = read_decoder(...)
  self.embedding = nn.Embedding(options.vocab_size, options.embed_size)
  self.rnn = recurrent.GRU(options.embed_size + options.num_hiddens, options.num_hiddens, { num_layers = options.num_layers, dropout = options.dropout })
  self.dense = nn.LazyLinear(options.vocab_size)
  self:apply(M.init_seq2seq)
end

function M.Seq2SeqDecoder:init_state(enc_all_outputs, ...) return { enc_all_outputs[1][-1], enc_all_outputs[2] } end

function M.Seq2SeqDecoder:forward(X, state)
  local embs, context = self.embedding(X.T:long()), state[1]
  local repeated = context:unsqueeze(1):expand(embs:size(1), -1, -1)
  local outputs, hidden = self.rnn(torch.cat({ embs, repeated }, 3), state[2])
  return self.dense(outputs):swapaxes(1, 2), { context, hidden }
end

--- Seq2Seq(encoder, decoder, tgt_pad, lr): trained by Adam, with a loss that ignores padding.
M.Seq2Seq = M.EncoderDecoder:extend 'd2l.Seq2Seq'

function M.Seq2Seq:init(encoder, decoder, tgt_pad, lr)
  M.EncoderDecoder.init(self, encoder, decoder)
  self.tgt_pad, self.lr = tgt_pad, lr
end

function M.Seq2Seq:loss(Y_hat, Y) return F.cross_entropy(Y_hat:reshape(-1, Y_hat:size(-1)), Y:reshape(-1), { ignore_index = self.tgt_pad }) end

function M.Seq2Seq:validation_step(batch)
  self:plot('loss', self:loss(self(table.unpack(batch, 1, #batch - 1)), batch[#batch]), false)
end

function M.Seq2Seq:configure_optimizers() return torch.optim.Adam(self:parameters(), { lr = self.lr }) end

-- How often each run of n tokens occurs.
local function runs(tokens, n)
  local counts = {}
  for i = 1, #tokens - n + 1 do
    local key = table.concat(tokens, ' ', i, i + n - 1)
    counts[key] = (counts[key] or 0) + 1
  end
  return counts
end

--- BLEU score of a translation, both strings, by their common runs of 1 to k tokens (K. Papineni et
--- al. 2002).
function M.bleu(pred_seq, label_seq, k)
  local pred, label = text.tokenize(pred_seq), text.tokenize(label_seq)
  if #pred == 0 then return 0.0 end
  local score = math.exp(math.min(0, 1 - #label / #pred))
  for n = 1, math.min(k, #pred) do
    local known, matches = runs(label, n), 0
    for i = 1, #pred - n + 1 do
      local key = table.concat(pred, ' ', i, i + n - 1)
      if (known[key] or 0) > 0 then
        known[key] = known[key] - 1
        matches = matches + 1
      end
    end
    score = score * (matches / (#pred - n + 1)) ^ (0.5 ^ n)
  end
  return score
end

return M
