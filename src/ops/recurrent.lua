-- recurrent.lua - layers of RNN, GRU and LSTM cells over a whole sequence, and networks of all layers in one
-- call, torch.lstm and others, for hosts in C. lib/nn/layers/rnn.lua combines layers and directions of
-- _recurrent. Its node calls _recurrent_backward for the derivatives of all arguments.

local network = 'Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> '
local cell = 'Tensor w_ih, Tensor w_hh, Tensor? b_ih=nil, Tensor? b_hh=nil) -> '

return {
  { 'lstm(Tensor input, Tensor[] hx, ' .. network .. '(Tensor output, Tensor hn, Tensor cn)', variants = 'function', composite = true, random = 'train && dropout > 0',
    doc = 'Layers of LSTM cells over sequences, as nn.LSTM: the outputs of the last layer, the last states and cell states. A projection, if the sizes of both states differ, is the last weight of each direction.' },
  { 'gru(Tensor input, Tensor hx, ' .. network .. '(Tensor output, Tensor hn)', variants = 'function', composite = true, random = 'train && dropout > 0',
    doc = 'Layers of GRU cells over sequences, as nn.GRU: the outputs of the last layer and the last states.' },
  { 'rnn_tanh(Tensor input, Tensor hx, ' .. network .. '(Tensor output, Tensor hn)', variants = 'function', composite = true, random = 'train && dropout > 0',
    doc = 'Layers of cells with tanh over sequences, as nn.RNN: the outputs of the last layer and the last states.' },
  { 'rnn_relu(Tensor input, Tensor hx, ' .. network .. '(Tensor output, Tensor hn)', variants = 'function', composite = true, random = 'train && dropout > 0',
    doc = 'Layers of cells with relu over sequences, as nn.RNN: the outputs of the last layer and the last states.' },
  { 'lstm_cell(Tensor input, Tensor[] hx, ' .. cell .. '(Tensor h, Tensor c)', variants = 'function', composite = true,
    doc = 'The next state and cell state of LSTM cells, as nn.LSTMCell.' },
  { 'gru_cell(Tensor input, Tensor hx, ' .. cell .. 'Tensor', variants = 'function', composite = true, doc = 'The next state of GRU cells, as nn.GRUCell.' },
  { 'rnn_tanh_cell(Tensor input, Tensor hx, ' .. cell .. 'Tensor', variants = 'function', composite = true, doc = 'The next state of cells with tanh, as nn.RNNCell.' },
  { 'rnn_relu_cell(Tensor input, Tensor hx, ' .. cell .. 'Tensor', variants = 'function', composite = true, doc = 'The next state of cells with relu, as nn.RNNCell.' },

  -- ---- for modules ----------------------------------------------------------------------------------------------
  { 'recurrent_layer(Tensor gates, Tensor hx, Tensor? cx, Tensor weight_hh, Tensor? bias_hh, string cell, bool reverse, Tensor? batch_sizes=nil) -> (Tensor output, Tensor hn, Tensor cn)',
    variants = 'library', composite = true,
    doc = 'One direction of a layer: gates [rows, groups * hidden] are the gates of the input, step after step; cell: lstm, gru, tanh or relu; batch_sizes has the number of rows of each step. The states of all steps, the last ones and, of an LSTM, the last cell states.' },
  { '_recurrent(Tensor gates, Tensor hx, Tensor? cx, Tensor weight_hh, Tensor? bias_hh, string cell, bool reverse, Tensor? batch_sizes=nil) -> (Tensor output, Tensor hn, Tensor cn, Tensor kept, Tensor cells)',
    variants = 'library', composite = true, reads = true,
    doc = 'One direction of a layer: gates [rows, groups * hidden] are the gates of the input, step after step; batch_sizes has the number of rows of each step.' },
  { '_recurrent_backward(Tensor? grad_output, Tensor? grad_hn, Tensor? grad_cn, Tensor hx, Tensor? cx, Tensor weight_hh, Tensor output, Tensor kept, Tensor cells, string cell, bool reverse, Tensor? batch_sizes=nil) -> (Tensor grad_gates, Tensor grad_hx, Tensor grad_cx, Tensor grad_weight_hh, Tensor grad_bias_hh)',
    variants = 'library', doc = 'The derivative of _recurrent by all of its tensors.' },
  { '_recurrent_network(Tensor input, Tensor hx, Tensor? cx, Tensor[] weights, string cell, int num_layers, bool bidirectional) -> Tensor[]',
    variants = 'library', composite = true, reads = true,
    doc = 'All layers at once, by a library of the device: output, hn and, for an LSTM, cn. An empty table if no library supports the layer. input [steps, batch, size]; weights: for each direction of each layer w_ih, w_hh and, all or none, b_ih and b_hh.' },
  { '_recurrent_network_backward(Tensor? grad_output, Tensor? grad_hn, Tensor? grad_cn, Tensor input, Tensor hx, Tensor? cx, Tensor output, Tensor own_weights, Tensor kept, string cell, int num_layers, bool bidirectional, bool bias, bool needs_weights) -> Tensor[]',
    variants = 'library', doc = 'The derivative of _recurrent_network: by input, hx, for an LSTM cx, and with needs_weights by each of the weights.' },

  arguments = [=[
input: Sequences, of shape (steps, batch, size), with `batch_first` (batch, steps, size); of a cell, of shape (batch, size).
hx: First states, of shape (layers * directions, batch, hidden), of a cell (batch, hidden).
hx (Tensor[]): First states and cell states, each of shape (layers * directions, batch, hidden), of a cell (batch, hidden).
params: Weights of each direction of each layer: of the input, of the state and, with `has_biases`, both biases.
has_biases: Whether the layers have biases.
num_layers: Number of layers.
dropout: Probability of zeroing an output between layers, while training.
train: Whether outputs between layers are dropped.
bidirectional: Whether each layer has a second direction, from the last step to the first.
batch_first: Whether the batch is the first dimension of input and output.
w_ih: Weight of the input.
w_hh: Weight of the state.
b_ih: Bias beside the weight of the input.
b_hh: Bias beside the weight of the state.
]=],

  examples = [=[
lstm
    h, w = torch.zeros(1, 1, 2), {torch.ones(8, 3), torch.ones(8, 2)}
    torch.lstm(torch.ones(4, 1, 3), {h, h}, w, false, 1, 0.0, false, false, false).shape
    --> torch.Size([4, 1, 2])
gru
    h, w = torch.zeros(1, 1, 2), {torch.ones(6, 3), torch.ones(6, 2)}
    torch.gru(torch.ones(4, 1, 3), h, w, false, 1, 0.0, false, false, false).shape
    --> torch.Size([4, 1, 2])
rnn_tanh
    h, w = torch.zeros(1, 1, 2), {torch.ones(2, 3), torch.ones(2, 2)}
    torch.rnn_tanh(torch.ones(4, 1, 3), h, w, false, 1, 0.0, false, false, false).shape
    --> torch.Size([4, 1, 2])
rnn_relu
    h, w = torch.zeros(1, 1, 1), {torch.ones(1, 1), torch.ones(1, 1)}
    torch.rnn_relu(torch.ones(3, 1, 1), h, w, false, 1, 0.0, false, false, false):flatten()
    --> tensor([1., 2., 3.])
lstm_cell
    h = torch.zeros(1, 2)
    torch.lstm_cell(torch.zeros(1, 3), {h, h}, torch.ones(8, 3), torch.ones(8, 2))
    --> (tensor([[0., 0.]]), tensor([[0., 0.]]))
gru_cell
    torch.gru_cell(torch.zeros(1, 3), torch.ones(1, 2), torch.ones(6, 3), torch.zeros(6, 2))
    --> tensor([[0.5000, 0.5000]])
rnn_tanh_cell
    torch.rnn_tanh_cell(torch.zeros(1, 3), torch.zeros(1, 2), torch.ones(2, 3), torch.ones(2, 2))
    --> tensor([[0., 0.]])
rnn_relu_cell
    torch.rnn_relu_cell(torch.ones(1, 3), torch.zeros(1, 2), torch.ones(2, 3), torch.ones(2, 2))
    --> tensor([[3., 3.]])
]=],
}
