-- random.lua - tensors of random numbers, in-place filling, and draws from distributions with tensors as
-- parameters. The CPU yields PyTorch's numbers for the same seed; GPUs use counter-based Philox.

local fn = 'function'

return {
  -- ---- random values ----------------------------------------------------------------------------------------
  { 'rand(Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn .. ' copied_out', factory = true,
    doc = 'Uniform random numbers in [0, 1).' },
  { 'randn(Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn .. ' copied_out', factory = true,
    doc = 'Random numbers of the standard normal distribution.' },
  { 'randint(int low, int high, Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn .. ' copied_out',
    factory = true, doc = 'Random integers from low (included) to high (excluded).' },
  { 'randint.from_zero(int high, Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn .. ' copied_out',
    factory = true, doc = 'Random integers from 0 to high (excluded).' },
  { 'randperm(int n, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> IndexTensor', variants = fn .. ' copied_out', factory = true,
    doc = 'A random order of the positions 1 to n.' },
  { 'rand_like(Tensor self, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', batch = 'broadcast', variants = fn, factory = true,
    doc = 'Uniform in [0, 1), of the shape, dtype and device of self.' },
  { 'randint_like(Tensor self, int low, int high, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', batch = 'broadcast', variants = fn, factory = true,
    doc = 'Random integers from low (included) to high (excluded), of the shape, dtype and device of self.' },
  { 'randint_like.from_zero(Tensor self, int high, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', batch = 'broadcast', variants = fn, factory = true,
    doc = 'Random integers from 0 to high (excluded), of the shape, dtype and device of self.' },
  { 'randn_like(Tensor self, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', batch = 'broadcast', variants = fn, factory = true,
    doc = 'Standard normal, of the shape, dtype and device of self.' },
  { 'normal(float mean, float std, Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn .. ' copied_out',
    factory = true, doc = 'Normal random numbers of one mean and standard deviation.' },
  { 'bernoulli(Tensor self, *, Generator? generator=nil) -> Tensor', variants = 'function method copied_out', batch = 'broadcast', doc = '1 with the probability in self, else 0.',
    grad = { self = 'zeros_like(grad)' } },
  { 'bernoulli.p(Tensor self, float p, *, Generator? generator=nil) -> Tensor', variants = 'function method copied_out', batch = 'broadcast', doc = '1 with probability p, else 0, with the shape and dtype of self; its elements are not read.',
    grad_fn = 'BernoulliBackward1', grad = { self = 'zeros_like(grad)' } },

  -- ---- in-place filling -------------------------------------------------------------------------------------
  { 'uniform_(Tensor self, float from=0.0, float to=1.0, *, Generator? generator=nil) -> self', batch = 'broadcast', variants = 'method',
    doc = 'Uniform random numbers in [from, to).', grad = { self = 'zeros_like(grad)' } },
  { 'normal_(Tensor self, float mean=0.0, float std=1.0, *, Generator? generator=nil) -> self', batch = 'broadcast', variants = 'method',
    doc = 'Normal random numbers.', grad = { self = 'zeros_like(grad)' } },
  { 'random_(Tensor self, int? from=nil, int? to=nil, *, Generator? generator=nil) -> self', batch = 'broadcast', variants = 'method',
    doc = 'Random integers from `from` to `to` (excluded); one number alone is `to`; none: all that the dtype holds.',
    grad = { self = 'zeros_like(grad)' } },
  { 'bernoulli_(Tensor self, float p=0.5, *, Generator? generator=nil) -> self', batch = 'broadcast', variants = 'method',
    doc = '1 with probability p, else 0.', grad = { self = 'zeros_like(grad)' } },
  { 'bernoulli_.tensor(Tensor self, Tensor p, *, Generator? generator=nil) -> self', batch = 'broadcast', variants = 'method', overlap = 'aside',
    doc = '1 with the probability in p, else 0.', grad_fn = 'BernoulliBackward1', grad = { self = 'zeros_like(grad)', p = 'zeros_like(p)' } },
  { 'exponential_(Tensor self, float lambd=1.0, *, Generator? generator=nil) -> self', batch = 'broadcast', variants = 'method',
    doc = 'Exponential random numbers of rate lambd.', grad = { self = 'zeros_like(grad)' } },
  { 'geometric_(Tensor self, float p, *, Generator? generator=nil) -> self', batch = 'broadcast', variants = 'method',
    doc = 'The number of trials up to the first success, which has probability p.', grad = { self = 'zeros_like(grad)' } },
  { 'cauchy_(Tensor self, float median=0.0, float sigma=1.0, *, Generator? generator=nil) -> self', batch = 'broadcast', variants = 'method',
    doc = 'Random numbers of the Cauchy distribution.', grad = { self = 'zeros_like(grad)' } },
  { 'log_normal_(Tensor self, float mean=1.0, float std=2.0, *, Generator? generator=nil) -> self', batch = 'broadcast', variants = 'method',
    doc = 'Numbers with normally distributed logarithms.', grad = { self = 'zeros_like(grad)' } },

  -- ---- distributions with tensors as parameters -------------------------------------------------------------
  { 'normal.tensors(Tensor|Scalar mean, Tensor|Scalar std=1, *, Generator? generator=nil) -> Tensor', variants = 'function copied_out',
    doc = 'Normal random numbers with means and standard deviations per element.', grad = { mean = 'zeros_like(grad)', std = 'zeros_like(grad)' } },
  { 'multinomial(Tensor self, int num_samples, bool replacement=false, *, Generator? generator=nil) -> IndexTensor', variants = 'function method copied_out',
    doc = 'Positions drawn with the (unnormalized) probabilities in the rows of self.' },
  { 'poisson(Tensor self, Generator? generator=nil) -> Tensor', batch = 'broadcast',
    doc = 'Numbers of the Poisson distributions with the rates in self.', grad = { self = 'zeros_like(grad)' } },
  { 'binomial(Tensor count, Tensor prob, Generator? generator=nil) -> Tensor', batch = 'broadcast', variants = 'function',
    doc = 'How many of `count` trials succeed, each with probability `prob`; the time does not depend on the count.',
    grad = { count = '_no_derivative(grad, 2)', prob = '_no_derivative(grad, 2)' } },

  -- ---- differentiable draws, for torch.distributions --------------------------------------------------------
  { '_standard_gamma(Tensor self, Generator? generator=nil) -> Tensor', batch = 'broadcast', variants = 'library',
    doc = 'Numbers of the gamma distributions with the shapes in self and scale 1.',
    forward = 'elementwise', grad = { self = 'grad * _standard_gamma_grad(self, result)' } },
  { '_standard_gamma_grad(Tensor self, Tensor output) -> Tensor', variants = 'library', pointwise = 'float', kernel = 'gamma: float',
    doc = 'The derivative of numbers drawn by _standard_gamma by their shapes.',
    grad = { self = '_no_derivative(grad, 0)', output = '_no_derivative(grad, 0)' } },
  { '_sample_dirichlet(Tensor self, Generator? generator=nil) -> Tensor', variants = 'library',
    doc = 'Points of the Dirichlet distributions with the concentrations in the last dimension of self.',
    forward = '_dirichlet_tangent(self_t, result, self)', grad = { self = '_dirichlet_backward(grad, result, self)' } },
  { '_dirichlet_backward(Tensor grad_output, Tensor x, Tensor concentration) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'The gradient of concentration where x was drawn.' },
  { '_dirichlet_tangent(Tensor self_t, Tensor x, Tensor concentration) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'The tangent of x that was drawn, for one of concentration.' },
  { '_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor', variants = 'library', pointwise = 'float', kernel = 'gamma: float',
    doc = 'The derivative, scaled by 1 / (1 - x), of numbers of Beta(alpha, total - alpha) by alpha.',
    grad = { x = '_no_derivative(grad, 1)', alpha = '_no_derivative(grad, 1)', total = '_no_derivative(grad, 1)' } },
  { '_no_derivative(Tensor grad_output, int op) -> Tensor', variants = '',
    doc = 'The error that an op, by number, has no derivative.' },

  arguments = [=[
low: Smallest number.
high: Upper bound, which is excluded.
n: Number of positions: the result has the integers from 1 to n.
mean: Mean of the distribution.
std: Standard deviation of the distribution, not negative.
bernoulli.p: Probability of a 1, between 0 and 1.
bernoulli_.p: Probability of a 1, between 0 and 1.
geometric_.p: Probability of success, between 0 and 1.
uniform_.from: Lower bound.
uniform_.to: Upper bound, which is excluded.
random_.from: Smallest number.
random_.to: Upper bound, which is excluded.
lambd: Rate of the distribution, above 0.
median: Median of the distribution.
sigma: Half width at half maximum of the distribution.
num_samples: Number of draws for each row.
replacement: Whether a position may be drawn several times.
count: Number of trials.
prob: Probability of success, between 0 and 1.
bernoulli.self: Probabilities of a 1, between 0 and 1.
poisson.self: Rates of the distribution.
multinomial.self: Weights of the positions: a vector, or a matrix with a distribution in each row.
]=],

  examples = [=[
rand
    torch.manual_seed(0); torch.rand(2)
    --> tensor([0.4963, 0.7682])
randn
    torch.manual_seed(0); torch.randn(2)
    --> tensor([ 1.5410, -0.2934])
randint
    torch.manual_seed(0); torch.randint(0, 10, {5})
    --> tensor([4, 9, 3, 0, 3])
randperm
    torch.manual_seed(0); torch.randperm(4)
    --> tensor([1, 2, 4, 3])
rand_like
    torch.manual_seed(0); torch.rand_like(torch.zeros(2))
    --> tensor([0.4963, 0.7682])
randint_like
    torch.manual_seed(0); torch.randint_like(torch.zeros(3), 0, 10)
    --> tensor([4., 9., 3.])
randn_like
    torch.randn_like(torch.zeros(2, 3)).shape
    --> torch.Size([2, 3])
normal
    torch.manual_seed(0); torch.normal(10, 2, {3})
    --> tensor([13.0820,  9.4131,  5.6424])
bernoulli
    torch.bernoulli(torch.tensor{0.0, 1.0})
    --> tensor([0., 1.])
uniform_
    torch.manual_seed(0); torch.empty(2):uniform_(-1, 1)
    --> tensor([-0.0075,  0.5364])
normal_
    torch.manual_seed(0); torch.empty(2):normal_(5, 0.1)
    --> tensor([5.1541, 4.9707])
random_
    torch.manual_seed(0); torch.empty(4):random_(0, 10)
    --> tensor([4., 9., 3., 0.])
bernoulli_
    torch.manual_seed(0); torch.empty(4):bernoulli_(0.5)
    --> tensor([0., 0., 1., 0.])
exponential_
    torch.manual_seed(0); torch.empty(3):exponential_():ge(0):all()
    --> tensor(True)
geometric_
    torch.manual_seed(0); torch.empty(3):geometric_(0.5):ge(1):all()
    --> tensor(True)
cauchy_
    torch.empty(3):cauchy_().shape
    --> torch.Size([3])
log_normal_
    torch.empty(3):log_normal_():gt(0):all()
    --> tensor(True)
multinomial
    torch.tensor{0.0, 1.0, 0.0}:multinomial(3, true)
    --> tensor([2, 2, 2])
poisson
    torch.poisson(torch.tensor{0.0, 0.0})
    --> tensor([0., 0.])
binomial
    torch.binomial(torch.tensor{10.0, 10.0}, torch.tensor{0.0, 1.0})
    --> tensor([ 0., 10.])
]=],
}
