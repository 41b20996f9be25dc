-- recurrent.lua - d2l: recurrent networks from scratch and of torch.nn, and language models on top
-- of them.
--
-- Inputs of a network are (steps, batch, features); inputs of a language model are token positions,
-- (batch, steps).

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local models = require 'torch.d2l.models'
local tools = require 'torch.d2l.tools'

local nn, F = torch.nn, torch.nn.functional

local M = {}

local function small(sigma, ...) return nn.Parameter(torch.randn(...) * sigma) end

local read_scratch = declare.reader 'd2l.RNNScratch(integer num_inputs, integer num_hiddens, number sigma=0.01)'

--- RNNScratch(num_inputs, num_hiddens, sigma = 0.01): H = tanh(X W_xh + H W_hh + b). Returns the
--- list of all H, and the last.
M.RNNScratch = models.Module:extend 'd2l.RNNScratch'

function M.RNNScratch:init(...)
  tools.keep(self, read_scratch(...))
  self.W_xh = small(self.sigma, self.num_inputs, self.num_hiddens)
  self.W_hh = small(self.sigma, self.num_hiddens, self.num_hiddens)
  self.b_h = nn.Parameter(torch.zeros(self.num_hiddens))
end

function M.RNNScratch:forward(inputs, state)
  state = state or inputs:new_zeros { inputs:size(2), self.num_hiddens }
  local outputs = {}
  for t = 1, inputs:size(1) do
    state = torch.tanh(inputs[t]:matmul(self.W_xh) + state:matmul(self.W_hh) + self.b_h)
    outputs[t] = state
  end
  return outputs, state
end

--- LSTMScratch(num_inputs, num_hiddens, sigma = 0.01): S. Hochreiter, J. Schmidhuber 1997. Returns
--- the list of all H, and {H, C}.
M.LSTMScratch = models.Module:extend 'd2l.LSTMScratch'

local read_lstm = declare.reader 'd2l.LSTMScratch(integer num_inputs, integer num_hiddens, number sigma=0.01)'

function M.LSTMScratch:init(...)
  tools.keep(self, read_lstm(...))
  for _, gate in ipairs { 'i', 'f', 'o', 'c' } do
    self['W_x' .. gate] = small(self.sigma, self.num_inputs, self.num_hiddens)
    self['W_h' .. gate] = small(self.sigma, self.num_hiddens, self.num_hiddens)
    self['b_' .. gate] = nn.Parameter(torch.zeros(self.num_hiddens))
  end
end

function M.LSTMScratch:forward(inputs, H_C)
  local zeros = inputs:new_zeros { inputs:size(2), self.num_hiddens }
  local H, C = zeros, zeros
  if H_C then H, C = H_C[1], H_C[2] end
  local outputs = {}
  for t = 1, inputs:size(1) do
    local X = inputs[t]
    local function gate(name) return X:matmul(self['W_x' .. name]) + H:matmul(self['W_h' .. name]) + self['b_' .. name] end
    local input, forget, output = gate('i'):sigmoid(), gate('f'):sigmoid(), gate('o'):sigmoid()
    C = forget * C + input * gate('c'):tanh()
    H = output * C:tanh()
    outputs[t] = H
  end
  return outputs, { H, C }
end

local read_rnn = declare.reader 'd2l.RNN(integer num_inputs, integer num_hiddens)'

--- RNN(num_inputs, num_hiddens): nn.RNN.
M.RNN = models.Module:extend 'd2l.RNN'

function M.RNN:init(...)
  tools.keep(self, read_rnn(...))
  self.rnn = nn.RNN(self.num_inputs, self.num_hiddens)
end

function M.RNN:forward(inputs, H) return self.rnn(inputs, H) end

local read_gru = declare.reader 'd2l.GRU(integer num_inputs, integer num_hiddens, integer num_layers=1, number dropout=0)'

--- GRU(num_inputs, num_hiddens, num_layers = 1, dropout = 0): nn.GRU (K. Cho et al. 2014).
M.GRU = M.RNN:extend 'd2l.GRU'

function M.GRU:init(...)
  tools.keep(self, read_gru(...))
  self.rnn = nn.GRU(self.num_inputs, self.num_hiddens, { num_layers = self.num_layers, dropout = self.dropout })
end

-- ---- language models ----------------------------------------------------------------------------

--- RNNLMScratch(rnn, vocab_size, lr = 0.01): scores of the next token at every step, (batch, steps,
--- vocab_size). Its board draws the perplexity.
M.RNNLMScratch = models.Classifier:extend 'd2l.RNNLMScratch'

function M.RNNLMScratch:init(rnn, vocab_size, lr)
  self.rnn, self.vocab_size, self.lr = rnn, vocab_size, lr or 0.01
  self:init_params()
end

function M.RNNLMScratch:init_params()
  local hiddens = self.rnn.num_hiddens
  self.W_hq = small(self.rnn.sigma or 0.01, hiddens, self.vocab_size)
  self.b_q = nn.Parameter(torch.zeros(self.vocab_size))
end

function M.RNNLMScratch:training_step(batch)
  local l = self:loss(self(batch[1]), batch[2])
  self:plot('ppl', l:detach():exp(), true)
  return l
end

function M.RNNLMScratch:validation_step(batch) self:plot('ppl', self:loss(self(batch[1]), batch[2]):exp(), false) end

--- Positions (batch, steps) as vectors (steps, batch, vocab_size).
function M.RNNLMScratch:one_hot(X) return F.one_hot(X.T, self.vocab_size):float() end

function M.RNNLMScratch:output_layer(rnn_outputs)
  local outputs = {}
  for t, H in ipairs(rnn_outputs) do outputs[t] = H:matmul(self.W_hq) + self.b_q end
  return torch.stack(outputs, 2)
end

function M.RNNLMScratch:forward(X, state)
  local outputs = self.rnn(self:one_hot(X), state)
  return self:output_layer(outputs)
end

--- Continues the text prefix by num_preds tokens (characters), the most likely one each. Returns a
--- string.
function M.RNNLMScratch:predict(prefix, num_preds, vocab, device)
  local _ <close> = torch.no_grad()
  local state, outputs = nil, {}
  local letters = {}
  for letter in prefix:gmatch(utf8.charpattern) do letters[#letters + 1] = letter end
  outputs[1] = vocab:indices(letters[1])
  for i = 1, #letters + num_preds - 1 do
    local X = torch.tensor({ { outputs[#outputs] } }, { device = device })
    local rnn_outputs
    rnn_outputs, state = self.rnn(self:one_hot(X), state)
    if i < #letters then
      outputs[#outputs + 1] = vocab:indices(letters[i + 1])
    else
      outputs[#outputs + 1] = self:output_layer(rnn_outputs):argmax(3):cpu():reshape({}):item()
    end
  end
  return table.concat(vocab:to_tokens(outputs))
end

--- RNNLM(rnn, vocab_size, lr = 0.01): the same over a recurrent layer of torch.nn with one output
--- tensor.
M.RNNLM = M.RNNLMScratch:extend 'd2l.RNNLM'

function M.RNNLM:init_params() self.linear = nn.LazyLinear(self.vocab_size) end

function M.RNNLM:output_layer(hiddens) return self.linear(hiddens):swapaxes(1, 2) end

return M
