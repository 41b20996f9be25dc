-- recurrent.lua - layers of RNN, GRU and LSTM cells over a whole sequence, and networks of all layers in one
-- call. lib/nn/layers/rnn.lua combines layers and directions. One call computes the derivatives for all
-- arguments.

return {
  { '_recurrent(Tensor gates, Tensor hx, Tensor? cx, Tensor weight_hh, Tensor? bias_hh, string cell, bool reverse, Tensor? batch_sizes=nil) -> (Tensor output, Tensor hn, Tensor cn, Tensor kept, Tensor cells)',
    variants = 'library',
    doc = 'One direction of a layer: gates [rows, groups * hidden] are the gates of the input, step after step; batch_sizes has the number of rows of each step.' },
  { '_recurrent_backward(Tensor? grad_output, Tensor? grad_hn, Tensor? grad_cn, Tensor hx, Tensor? cx, Tensor weight_hh, Tensor output, Tensor kept, Tensor cells, string cell, bool reverse, Tensor? batch_sizes=nil) -> (Tensor grad_gates, Tensor grad_hx, Tensor grad_cx, Tensor grad_weight_hh, Tensor grad_bias_hh)',
    variants = 'library', doc = 'The derivative of _recurrent by all of its tensors.' },
  { '_recurrent_network(Tensor input, Tensor hx, Tensor? cx, Tensor[] weights, string cell, int num_layers, bool bidirectional, bool keep) -> Tensor[]',
    variants = 'library',
    doc = 'All layers at once, by a library of the device: output, hn, for an LSTM cn, and with keep two tensors of bytes for the derivative. An empty table if no library supports the layer. input [steps, batch, size]; weights: for each direction of each layer w_ih, w_hh and, all or none, b_ih and b_hh.' },
  { '_recurrent_network_backward(Tensor? grad_output, Tensor? grad_hn, Tensor? grad_cn, Tensor input, Tensor hx, Tensor? cx, Tensor output, Tensor own_weights, Tensor kept, string cell, int num_layers, bool bidirectional, bool bias, bool needs_weights) -> Tensor[]',
    variants = 'library', doc = 'The derivative of _recurrent_network: by input, hx, for an LSTM cx, and with needs_weights by each of the weights.' },
}
