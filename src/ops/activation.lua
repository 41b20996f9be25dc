-- activation.lua - activations of torch.nn.functional.

return {
  -- ---- one curve each -----------------------------------------------------------------------------------------
  { 'relu6(Tensor self) -> Tensor', batch = 'broadcast', variants = 'function inplace c_out', overlap = 'elementwise', doc = 'min(max(self, 0), 6).', grad_fn = 'HardtanhBackward0',
    forward = 'elementwise', records = true, grad = { self = '_hardtanh_backward(grad, self, 0, 6)' } },
  { 'hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor', batch = 'broadcast', variants = 'function inplace c_out', overlap = 'elementwise',
    doc = 'min(max(self, min_val), max_val).',
    forward = 'elementwise', records = true, grad = { self = '_hardtanh_backward(grad, self, min_val, max_val)' } },
  { '_hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor', variants = '', pointwise = 'promote',
    kernel = 'activations: float', doc = 'grad_output, 0 where self <= min_val or self >= max_val.',
    constant = 'self', grad = { grad_output = '_hardtanh_backward(grad, self, min_val, max_val)' } },
  { 'hardsigmoid(Tensor self) -> Tensor', variants = 'function inplace c_out', pointwise = 'promote', kernel = 'activations: float', doc = 'relu6(self + 3) / 6.',
    grad = { self = '_between(grad / 6, self, -3, 3)' } },
  { 'hardswish(Tensor self) -> Tensor', variants = 'function inplace c_out', pointwise = 'promote', kernel = 'activations: float', doc = 'self * relu6(self + 3) / 6.',
    grad = { self = '_hardswish_backward(grad, self)' } },
  { '_hardswish_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'The derivative of hardswish.',
    grad = { grad_output = '_hardswish_backward(grad, self)', self = '_between(grad * grad_output / 3, self, -3, 3)' } },
  { 'elu(Tensor self, float alpha=1.0) -> Tensor', batch = 'broadcast', variants = 'function inplace c_out', overlap = 'elementwise',
    doc = 'self where positive, alpha * (exp(self) - 1) elsewhere.', forward = 'elementwise', records = true, grad = { self = '_elu_backward(grad, self, 1.0, alpha, 1.0)' } },
  { 'selu(Tensor self) -> Tensor', overlap = 'elementwise', variants = 'function inplace c_out', grad_fn = 'EluBackward0',
    doc = 'elu with the constants that keep mean 0 and variance 1 from layer to layer.',
    forward = 'elementwise', records = true, grad = { self = '_elu_backward(grad, self, 1.0507009873554805, 1.7580993408473766, 1.0)' } },
  { 'celu(Tensor self, float alpha=1.0) -> Tensor', batch = 'broadcast', variants = 'function inplace c_out', overlap = 'elementwise', grad_fn = 'CeluBackward0',
    doc = 'self where positive, alpha * (exp(self / alpha) - 1) elsewhere.', forward = 'elementwise', records = true, grad = { self = '_celu_backward(grad, self, alpha)' } },
  { '_elu(Tensor self, Scalar slope, Scalar size, Scalar rate) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'self * slope where positive, size * (exp(self * rate) - 1) elsewhere.' },
  { '_elu_backward(Tensor grad_output, Tensor self, Scalar slope, Scalar size, Scalar rate) -> Tensor', variants = '',
    pointwise = 'promote', kernel = 'activations: float', doc = 'The derivative of _elu.',
    grad = { grad_output = '_elu_backward(grad, self, slope, size, rate)',
      self = '_elu_backward(mul(grad * grad_output, rate), self, 0.0, size, rate)' } },
  { '_celu_backward(Tensor grad_output, Tensor self, float alpha) -> Tensor', batch = 'broadcast', variants = '', composite = true,
    doc = 'The derivative of celu.' },
  { 'mish(Tensor self) -> Tensor', variants = 'function inplace c_out', pointwise = 'promote', kernel = 'activations: float', doc = 'self * tanh(softplus(self)).',
    grad = { self = '_mish_backward(grad, self)' } },
  { '_mish_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float', doc = 'The derivative of mish.',
    grad = { grad_output = '_mish_backward(grad, self)', self = '_mish_curve(grad * grad_output, self)' } },
  { '_mish_curve(Tensor grad_output, Tensor self) -> Tensor', batch = 'broadcast', variants = '', composite = true, doc = 'The second derivative of mish.' },

  -- ---- gelu, silu, softplus, logsigmoid -----------------------------------------------------------------------
  { "gelu(Tensor self, *, string approximate='none') -> Tensor", batch = 'broadcast', variants = 'function out', overlap = 'elementwise',
    doc = "self * Phi(self), Phi the normal distribution function; approximate 'none' or 'tanh'.",
    forward = 'elementwise', records = true, grad = { self = '_gelu_backward(grad, self, approximate)' } },
  { '_gelu_backward(Tensor grad_output, Tensor self, string approximate) -> Tensor', batch = 'broadcast', variants = '', composite = true,
    doc = 'The derivative of gelu.' },
  { '_gelu_by_erf(Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float', doc = 'gelu without approximation.' },
  { '_gelu_by_erf_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'The derivative of _gelu_by_erf.',
    grad = { grad_output = '_gelu_by_erf_backward(grad, self)',
      self = 'grad * grad_output * exp(self * self * -0.5) * (2 - self * self) * 0.39894228040143267794' } },
  { '_gelu_by_tanh(Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float', doc = "gelu, approximate 'tanh'." },
  { '_gelu_by_tanh_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'The derivative of _gelu_by_tanh.',
    grad = { grad_output = '_gelu_by_tanh_backward(grad, self)', self = '_gelu_by_tanh_curve(grad * grad_output, self)' } },
  { '_gelu_by_tanh_curve(Tensor grad_output, Tensor self) -> Tensor', batch = 'broadcast', variants = '', composite = true,
    doc = 'The second derivative of _gelu_by_tanh.' },
  { 'silu(Tensor self) -> Tensor', batch = 'broadcast', variants = 'function inplace c_out', overlap = 'elementwise', doc = 'self * sigmoid(self).', forward = 'elementwise', records = true, grad = { self = '_silu_backward(grad, self)' } },
  { '_silu(Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float complex', doc = 'silu.' },
  { '_silu_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float complex', doc = 'The derivative of silu.',
    grad = { grad_output = '_silu_backward(grad, self)',
      self = 'grad * grad_output * sigmoid(self) * sigmoid(-self) * (2 + self * (1 - sigmoid(self) * 2))' } },
  { 'softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor', batch = 'broadcast', variants = 'function out', overlap = 'elementwise',
    doc = 'log(1 + exp(beta * self)) / beta; self where beta * self is above the threshold.',
    forward = 'elementwise', records = true, grad = { self = '_softplus_backward(grad, self, beta, threshold)' } },
  { '_softplus(Tensor self, Scalar beta, Scalar threshold) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float', doc = 'softplus.' },
  { '_softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor', variants = '',
    pointwise = 'promote', kernel = 'activations: float', doc = 'The derivative of softplus.',
    grad = { grad_output = '_softplus_backward(grad, self, beta, threshold)',
      self = 'where(gt(mul(self, beta), threshold), 0, mul(grad * grad_output * sigmoid(mul(self, beta)) * sigmoid(-mul(self, beta)), beta))' } },
  { 'logsigmoid(Tensor self) -> Tensor', batch = 'broadcast', variants = 'nn out', overlap = 'elementwise', doc = 'log(sigmoid(self)), without overflow.', grad_fn = 'LogSigmoidBackward0',
    forward = 'elementwise', records = true, grad = { self = '_logsigmoid_backward(grad, self)' } },
  { '_logsigmoid(Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float', doc = 'logsigmoid.' },
  { '_logsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'The derivative of logsigmoid.',
    grad = { grad_output = '_logsigmoid_backward(grad, self)', self = '-(grad * grad_output * sigmoid(self) * sigmoid(-self))' } },

  -- ---- piecewise linear -------------------------------------------------------------------------------------
  { 'leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor', batch = 'broadcast', variants = 'function inplace c_out', overlap = 'elementwise',
    doc = 'self where positive, self * negative_slope elsewhere.', forward = 'elementwise', records = true, grad = { self = '_leaky_relu_backward(grad, self, negative_slope)' } },
  { '_leaky_relu(Tensor self, Scalar negative_slope) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float', doc = 'leaky_relu.' },
  { '_leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'The derivative of leaky_relu.', constant = 'self', grad = { grad_output = '_leaky_relu_backward(grad, self, negative_slope)' } },
  { 'threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor', batch = 'broadcast', variants = 'function inplace c_out', overlap = 'elementwise',
    doc = 'self where it is above the threshold, value elsewhere.', forward = 'elementwise', records = true, grad = { self = '_threshold_backward(grad, self, threshold)' } },
  { '_threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float int64', doc = 'threshold.' },
  { '_threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'The derivative of threshold.', constant = 'self', grad = { grad_output = '_threshold_backward(grad, self, threshold)' } },
  { 'hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor', batch = 'broadcast', variants = 'function method out', overlap = 'elementwise', doc = 'self, and 0 between -lambd and lambd.',
    forward = 'elementwise', records = true, grad = { self = '_shrink_backward(grad, self, lambd)' } },
  { '_hardshrink(Tensor self, Scalar lambd) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float', doc = 'hardshrink.' },
  { 'softshrink(Tensor self, Scalar lambd=0.5) -> Tensor', batch = 'broadcast', variants = 'nn out', overlap = 'elementwise', doc = 'self moved towards 0 by lambd, as far as 0.',
    forward = 'elementwise', records = true, grad = { self = '_shrink_backward(grad, self, lambd)' } },
  { '_softshrink(Tensor self, Scalar lambd) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float', doc = 'softshrink.' },
  { '_shrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'The derivative of hardshrink and softshrink.', constant = 'self', grad = { grad_output = '_shrink_backward(grad, self, lambd)' } },

  -- ---- with parameters, gates, random ones --------------------------------------------------------------------
  { 'softsign(Tensor input) -> Tensor', batch = 'broadcast', variants = 'nn', composite = true, doc = 'input / (1 + |input|).' },
  { 'tanhshrink(Tensor input) -> Tensor', batch = 'broadcast', variants = 'nn', composite = true, doc = 'input - tanh(input).' },
  { 'prelu(Tensor self, Tensor weight) -> Tensor', variants = 'function method', composite = true,
    doc = 'self where positive, self * weight elsewhere; a weight for all, or one per channel.' },
  { '_prelu_kernel(Tensor self, Tensor weight) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float', doc = 'prelu of a weight that broadcasts.',
    grad = { self = 'where(gt(self, 0), grad, grad * weight)', weight = 'where(gt(self, 0), 0, grad * self)' } },
  { 'rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=false, bool inplace=false) -> Tensor', batch = 'broadcast', random = true,
    variants = 'function', composite = true,
    doc = 'leaky_relu with a slope drawn between lower and upper for each element; outside of training, the slope is their mean.' },
  { 'glu(Tensor self, Dim dim=-1) -> Tensor', variants = 'nn', doc = 'The first half of self along dim times the sigmoid of the second.',
    forward = '_halves_sum(_glu_backward(ones_like(result), self, dim) * self_t, dim)', grad = { self = '_glu_backward(grad, self, dim)' } },
  { '_glu_backward(Tensor grad_output, Tensor self, Dim dim) -> Tensor', variants = '', composite = true, doc = 'The derivative of glu.' },
  { '_halves_sum(Tensor self, Dim dim) -> Tensor', variants = '', composite = true, doc = 'The first half of self along dim plus the second.' },
  { 'gumbel_softmax(Tensor logits, float tau=1.0, bool hard=false, float eps=1e-10, Dim dim=-1) -> Tensor', random = true, variants = 'nn',
    composite = true, doc = 'A sample of the Gumbel-softmax distribution; hard: one-hot, with the derivative of the soft one.' },

  arguments = [=[
min_val: Lower bound of the result.
max_val: Upper bound of the result.
elu.alpha: Value that the function approaches for large negative inputs, negated.
celu.alpha: Value that the function approaches for large negative inputs, negated.
beta: Steepness of the function.
softplus.threshold: Value of beta * self above which the function is linear, for numerical stability.
threshold.threshold: Values that are not above it are replaced.
value: Value that replaces these elements.
prelu.weight: Learned slope of negative values: one number, or one for each channel.
lower: Lower bound of the slope of negative values.
upper: Upper bound of the slope of negative values.
lambd: Elements between -lambd and lambd become zero.
logits: Unnormalized logarithms of probabilities.
tau: Temperature, above 0: the lower it is, the nearer the samples are to one-hot vectors.
hard: Whether the samples are one-hot; their gradient is that of the soft ones.
]=],

  examples = [=[
relu6
    nn.functional.relu6(torch.tensor{-1.0, 3.0, 9.0})
    --> tensor([0., 3., 6.])
hardtanh
    nn.functional.hardtanh(torch.tensor{-3.0, 0.5, 3.0}, -2, 2)
    --> tensor([-2.0000,  0.5000,  2.0000])
hardsigmoid
    nn.functional.hardsigmoid(torch.tensor{-4.0, 0.0, 1.5, 4.0})
    --> tensor([0.0000, 0.5000, 0.7500, 1.0000])
hardswish
    nn.functional.hardswish(torch.tensor{-4.0, -1.0, 1.0, 4.0})
    --> tensor([-0.0000, -0.3333,  0.6667,  4.0000])
elu
    nn.functional.elu(torch.tensor{-2.0, 0.0, 2.0}, {alpha = 0.5})
    --> tensor([-0.4323,  0.0000,  2.0000])
selu
    torch.selu(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-1.5202,  0.0000,  2.1014])
celu
    torch.celu(torch.tensor{-2.0, 0.0, 2.0}, 0.5)
    --> tensor([-0.4908,  0.0000,  2.0000])
mish
    nn.functional.mish(torch.tensor{-2.0, 0.0, 2.0})
    --> tensor([-0.2525,  0.0000,  1.9440])
gelu
    x = torch.tensor{-1.0, 0.0, 1.0}
    nn.functional.gelu(x)
    --> tensor([-0.1587,  0.0000,  0.8413])
    nn.functional.gelu(x, {approximate = 'tanh'})
    --> tensor([-0.1588,  0.0000,  0.8412])
silu
    nn.functional.silu(torch.tensor{-1.0, 0.0, 1.0})
    --> tensor([-0.2689,  0.0000,  0.7311])
softplus
    nn.functional.softplus(torch.tensor{-1.0, 0.0, 30.0})
    --> tensor([ 0.3133,  0.6931, 30.0000])
logsigmoid
    nn.functional.logsigmoid(torch.tensor{-200.0, 0.0})
    --> tensor([-200.0000,   -0.6931])
leaky_relu
    nn.functional.leaky_relu(torch.tensor{-5.0, 5.0}, 0.1)
    --> tensor([-0.5000,  5.0000])
threshold
    nn.functional.threshold(torch.tensor{0.5, 1.5}, 1.0, -7.0)
    --> tensor([-7.0000,  1.5000])
hardshrink
    torch.tensor{-1.0, 0.3, 2.0}:hardshrink()
    --> tensor([-1.,  0.,  2.])
softshrink
    nn.functional.softshrink(torch.tensor{-1.0, 0.3, 2.0})
    --> tensor([-0.5000,  0.0000,  1.5000])
softsign
    nn.functional.softsign(torch.tensor{-1.0, 0.0, 3.0})
    --> tensor([-0.5000,  0.0000,  0.7500])
tanhshrink
    nn.functional.tanhshrink(torch.tensor{-1.0, 0.0, 1.0})
    --> tensor([-0.2384,  0.0000,  0.2384])
prelu
    torch.prelu(torch.tensor{-4.0, 4.0}, torch.tensor{0.25})
    --> tensor([-1.,  4.])
rrelu
    torch.rrelu(torch.tensor{-24.0, 24.0})
    --> tensor([-5.5000, 24.0000])
glu
    nn.functional.glu(torch.tensor{1.0, 2.0, 0.0, 0.0})
    --> tensor([0.5000, 1.0000])
gumbel_softmax
    torch.manual_seed(0);
    nn.functional.gumbel_softmax(torch.zeros(2, 3), {hard = true}):sum(2)
    --> tensor([1., 1.])
]=],
}
