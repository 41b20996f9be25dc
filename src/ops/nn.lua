-- nn.lua - activations with parameters, dropout and embedding: functions of torch.nn.functional that are no plain
-- elementwise ops. Embedding ids are positions from 1 in Lua.

return {
  -- ---- activations -------------------------------------------------------------------------------------------
  { 'leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor', variants = 'function',
    doc = 'self where positive, self * negative_slope elsewhere.', grad = { self = '_leaky_relu_backward(grad, self, negative_slope)' } },
  { '_leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of leaky_relu.' },
  { 'threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor', variants = 'function',
    doc = 'self where it is above the threshold, value elsewhere.', grad = { self = 'where(le(self, threshold), 0, grad)' } },
  { "gelu(Tensor self, *, string approximate='none') -> Tensor", variants = 'function',
    doc = "self * Phi(self), Phi the normal distribution function; approximate 'none' or 'tanh'.",
    grad = { self = '_gelu_backward(grad, self, approximate)' } },
  { '_gelu_backward(Tensor grad_output, Tensor self, string approximate) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of gelu.' },
  { 'silu(Tensor self) -> Tensor', variants = 'function', doc = 'self * sigmoid(self).', grad = { self = '_silu_backward(grad, self)' } },
  { '_silu_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', composite = true, doc = 'The derivative of silu.' },
  { 'softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor', variants = 'function',
    doc = 'log(1 + exp(beta * self)) / beta; self where beta * self is above the threshold.',
    grad = { self = '_softplus_backward(grad, self, beta, threshold)' } },
  { '_softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of softplus.' },

  -- ---- layers ---------------------------------------------------------------------------------------------------
  { 'dropout(Tensor input, float p=0.5, bool training=true) -> Tensor', variants = 'function', composite = true,
    doc = 'In training zeroes elements with probability p and scales the rest by 1 / (1 - p).' },
  { 'embedding(Tensor weight, IndexTensor indices) -> Tensor', variants = 'function', doc = 'The rows of weight that indices name.',
    grad = { weight = '_embedding_backward(grad, sizes_of(weight), indices)' } },
  { '_embedding_backward(Tensor grad_output, Size sizes, IndexTensor indices) -> Tensor', variants = '', composite = true,
    doc = 'Zeros with grad_output added to the rows that were looked up.' },
}
