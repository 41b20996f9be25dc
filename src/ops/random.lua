-- random.lua - tensors of random numbers and filling in place. On the CPU a seed gives PyTorch's numbers.

local zero = { self = 'zeros_like(grad)' }

return {
  -- ---- new tensors -----------------------------------------------------------------------------------------
  { 'rand(Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = 'function',
    factory = true, doc = 'Uniform random numbers in [0, 1).' },
  { 'randn(Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = 'function',
    factory = true, doc = 'Normal random numbers: mean 0, standard deviation 1.' },
  { 'randint(int high, Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = 'function',
    factory = true, doc = 'Random integers in [0, high).', example = 'torch.randint(10, {2, 3})' },
  { 'randint.low(int low, int high, Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor',
    variants = 'function', factory = true, doc = 'Random integers in [low, high).' },
  { 'randperm(int n, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> IndexTensor', variants = 'function',
    factory = true, doc = 'The positions 1 to n in random order.' },
  { 'rand_like(Tensor self, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = 'function', factory = true,
    doc = 'Uniform random numbers in [0, 1), shaped like self.' },
  { 'randn_like(Tensor self, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = 'function', factory = true,
    doc = 'Normal random numbers, shaped like self.' },
  { 'normal(float mean, float std, Size size, *, Generator? generator=nil, Dtype? dtype=nil, Device? device=nil) -> Tensor',
    variants = 'function', factory = true, doc = 'Normal random numbers with the given mean and standard deviation.' },
  { 'normal.tensors(Tensor|Scalar mean, Tensor|Scalar std=1, *, Generator? generator=nil) -> Tensor', variants = 'function',
    doc = 'Normal random numbers with means and standard deviations per element.' },
  { 'bernoulli(Tensor self, *, Generator? generator=nil) -> Tensor', doc = '1 with the probability that self gives, else 0.' },
  { 'multinomial(Tensor self, int num_samples, bool replacement=false, *, Generator? generator=nil) -> IndexTensor',
    doc = 'Positions drawn with the (unnormalized) probabilities in the rows of self.' },

  -- ---- in place ----------------------------------------------------------------------------------------------
  { 'fill_(Tensor self, Scalar value) -> self', variants = 'method', grad_fn = 'FillBackward0', doc = 'Sets every element.', grad = zero },
  { 'fill_.tensor(Tensor self, Tensor value) -> self', variants = 'method', grad_fn = 'FillBackward1',
    doc = 'Sets every element to a 0-dim tensor\'s value.', grad = { self = 'zeros_like(grad)', value = 'sum(grad, nil)' } },
  { 'zero_(Tensor self) -> self', variants = 'method', grad_fn = 'ZeroBackward0', doc = 'Sets every element to 0.', grad = zero },
  { 'normal_(Tensor self, float mean=0, float std=1, *, Generator? generator=nil) -> self', variants = 'method',
    grad_fn = 'NormalBackward0', doc = 'Fills with normal random numbers.', grad = zero },
  { 'uniform_(Tensor self, float from=0, float to=1, *, Generator? generator=nil) -> self', variants = 'method',
    grad_fn = 'UniformBackward0', doc = 'Fills with uniform random numbers in [from, to).', grad = zero },
  { 'random_(Tensor self, *, Generator? generator=nil) -> self', variants = 'method', grad_fn = 'RandomBackward2',
    doc = 'Fills with random integers over the range of the dtype.', grad = zero },
  { 'random_.to(Tensor self, int to, *, Generator? generator=nil) -> self', variants = 'method', grad_fn = 'RandomBackward1',
    doc = 'Fills with random integers in [0, to).', grad = zero },
  { 'random_.from(Tensor self, int from, int to, *, Generator? generator=nil) -> self', variants = 'method',
    grad_fn = 'RandomBackward0', doc = 'Fills with random integers in [from, to).', grad = zero },
  { 'bernoulli_(Tensor self, float p=0.5, *, Generator? generator=nil) -> self', variants = 'method', grad_fn = 'BernoulliBackward1',
    doc = 'Fills with 1, with probability p, and 0.', grad = zero },
  { 'exponential_(Tensor self, float lambd=1, *, Generator? generator=nil) -> self', variants = 'method',
    grad_fn = 'ExponentialBackward0', doc = 'Fills with exponential random numbers of rate lambd.', grad = zero },
}
