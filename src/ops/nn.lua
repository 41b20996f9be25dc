-- nn.lua - activations with parameters, dropout and embedding: functions of torch.nn.functional that are no plain
-- elementwise ops. Embedding ids are positions from 1 in Lua.

return {
  -- ---- activations -------------------------------------------------------------------------------------------
  { 'softsign(Tensor input) -> Tensor', variants = 'nn', composite = true, doc = 'input / (1 + |input|).' },
  { 'tanhshrink(Tensor input) -> Tensor', variants = 'nn', composite = true, doc = 'input - tanh(input).' },
  { 'prelu(Tensor self, Tensor weight) -> Tensor', variants = 'function method', composite = true,
    doc = 'self where positive, self * weight elsewhere; a weight for all, or one per channel.' },
  { '_prelu_kernel(Tensor self, Tensor weight) -> Tensor', variants = '', doc = 'prelu of a weight that broadcasts.',
    grad = { self = 'where(gt(self, 0), grad, grad * weight)', weight = 'where(gt(self, 0), 0, grad * self)' } },
  { 'rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=false, bool inplace=false) -> Tensor',
    variants = 'function', composite = true,
    doc = 'leaky_relu whose slope is drawn between lower and upper for each element; their mean outside of training.' },
  { 'glu(Tensor self, Dim dim=-1) -> Tensor', variants = 'nn', doc = 'The first half of self along dim times the sigmoid of the second.',
    grad = { self = '_glu_backward(grad, self, dim)' } },
  { '_glu_backward(Tensor grad_output, Tensor self, Dim dim) -> Tensor', variants = '', composite = true, doc = 'The derivative of glu.' },
  { 'gumbel_softmax(Tensor logits, float tau=1.0, bool hard=false, float eps=1e-10, Dim dim=-1) -> Tensor', variants = 'nn',
    composite = true, doc = 'A sample of the Gumbel-softmax distribution; hard: one-hot, with the derivative of the soft one.' },

  -- ---- layers ---------------------------------------------------------------------------------------------------
  { 'dropout(Tensor input, float p=0.5, bool training=true) -> Tensor', variants = 'function', composite = true,
    doc = 'In training zeroes elements with probability p and scales the rest by 1 / (1 - p).' },
  { 'dropout.nn(Tensor input, float p=0.5, bool training=true, bool inplace=false) -> Tensor', variants = 'nn', composite = true,
    doc = 'In training zeroes elements with probability p and scales the rest by 1 / (1 - p).' },
  { 'dropout1d(Tensor input, float p=0.5, bool training=true, bool inplace=false) -> Tensor', variants = 'nn', composite = true,
    doc = 'dropout of whole channels of input [n, channels, l].' },
  { 'dropout2d(Tensor input, float p=0.5, bool training=true, bool inplace=false) -> Tensor', variants = 'nn', composite = true,
    doc = 'dropout of whole channels of input [n, channels, h, w].' },
  { 'dropout3d(Tensor input, float p=0.5, bool training=true, bool inplace=false) -> Tensor', variants = 'nn', composite = true,
    doc = 'dropout of whole channels of input [n, channels, d, h, w].' },
  { 'alpha_dropout(Tensor input, float p=0.5, bool training=false, bool inplace=false) -> Tensor', variants = 'nn', composite = true,
    doc = 'dropout to the limit of selu, scaled and shifted so that mean and variance stay.' },
  { 'feature_alpha_dropout(Tensor input, float p=0.5, bool training=false, bool inplace=false) -> Tensor', variants = 'nn',
    composite = true, doc = 'alpha_dropout of whole channels.' },

  { 'embedding(Tensor weight, IndexTensor indices, Index? padding_idx=nil, bool scale_grad_by_freq=false, bool sparse=false) -> Tensor', positions = true,
    variants = 'function', doc = 'The rows of weight that indices name; that of padding_idx gets no gradient.',
    grad = { weight = '_embedding_backward(grad, sizes_of(weight), indices, padding_idx, scale_grad_by_freq)' } },
  { 'embedding.nn(IndexTensor input, Tensor weight, Index? padding_idx=nil, float? max_norm=nil, float norm_type=2.0, bool scale_grad_by_freq=false, bool sparse=false) -> Tensor', positions = true,
    variants = 'nn', composite = true,
    doc = 'The rows of weight that input names, after those longer than max_norm have been shortened to it.' },
  { '_embedding_backward(Tensor grad_output, Size sizes, IndexTensor indices, Index? padding_idx, bool scale_grad_by_freq) -> Tensor',
    variants = '', composite = true, doc = 'Zeros with grad_output added to the rows that were looked up.' },
  { "embedding_bag(IndexTensor input, Tensor weight, IndexTensor? offsets=nil, float? max_norm=nil, float norm_type=2.0, bool scale_grad_by_freq=false, string mode='mean', bool sparse=false, Tensor? per_sample_weights=nil, bool include_last_offset=false, Index? padding_idx=nil) -> Tensor",
    variants = 'nn', composite = true,
    doc = "The sum, mean or max of the rows of each bag: a row of input, or what begins at a position in offsets." },
}
