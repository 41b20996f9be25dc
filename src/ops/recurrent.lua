-- recurrent.lua - layers of RNN, GRU and LSTM cells over a whole sequence. lib/nn/layers/rnn.lua puts layers and directions
-- together and gives them their derivative, which one call computes for all arguments.

return {
  { '_recurrent(Tensor gates, Tensor hx, Tensor? cx, Tensor weight_hh, Tensor? bias_hh, string cell, bool reverse, Tensor? batch_sizes=nil) -> (Tensor output, Tensor hn, Tensor cn, Tensor kept, Tensor cells)',
    variants = 'library',
    doc = 'One direction of a layer: gates [rows, groups * hidden] are those of the input, step after step; batch_sizes says how many rows each step has.' },
  { '_recurrent_backward(Tensor? grad_output, Tensor? grad_hn, Tensor? grad_cn, Tensor hx, Tensor? cx, Tensor weight_hh, Tensor output, Tensor kept, Tensor cells, string cell, bool reverse, Tensor? batch_sizes=nil) -> (Tensor grad_gates, Tensor grad_hx, Tensor grad_cx, Tensor grad_weight_hh, Tensor grad_bias_hh)',
    variants = 'library', doc = 'The derivative of _recurrent by all of its tensors.' },
}
