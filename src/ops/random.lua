-- random.lua - draws from distributions given by tensors.

return {
  { 'normal.tensors(Tensor|Scalar mean, Tensor|Scalar std=1, *, Generator? generator=nil) -> Tensor', variants = 'function',
    doc = 'Normal random numbers with means and standard deviations per element.' },
  { 'multinomial(Tensor self, int num_samples, bool replacement=false, *, Generator? generator=nil) -> IndexTensor',
    doc = 'Positions drawn with the (unnormalized) probabilities in the rows of self.' },
  { 'poisson(Tensor self, Generator? generator=nil) -> Tensor',
    doc = 'Numbers of the Poisson distributions with the rates in self.', grad = { self = 'zeros_like(grad)' } },
  { 'binomial(Tensor count, Tensor prob, *, Generator? generator=nil) -> Tensor', variants = 'function',
    doc = 'How many of `count` trials succeed, each with probability `prob`; the time does not depend on the count.',
    grad = { count = '_no_derivative(grad, 2)', prob = '_no_derivative(grad, 2)' },
    example = 'torch.binomial(torch.tensor{10.0, 1000.0}, torch.tensor{0.5, 0.1})' },

  -- ---- draws that carry gradients: what torch.distributions is made of ----------------------------------
  { '_standard_gamma(Tensor self, Generator? generator=nil) -> Tensor', variants = 'library',
    doc = 'Numbers of the gamma distributions with the shapes in self and scale 1.',
    grad = { self = 'grad * _standard_gamma_grad(self, result)' } },
  { '_standard_gamma_grad(Tensor self, Tensor output) -> Tensor', variants = 'library', pointwise = 'float', kernel = 'functions: float',
    doc = 'The derivative of numbers drawn by _standard_gamma by their shapes.',
    grad = { self = '_no_derivative(grad, 0)', output = '_no_derivative(grad, 0)' } },
  { '_sample_dirichlet(Tensor self, Generator? generator=nil) -> Tensor', variants = 'library',
    doc = 'Points of the Dirichlet distributions with the concentrations in the last dimension of self.',
    grad = { self = '_dirichlet_backward(grad, result, self)' } },
  { '_dirichlet_backward(Tensor grad_output, Tensor x, Tensor concentration) -> Tensor', variants = '', composite = true,
    doc = 'The gradient of concentration where x was drawn.' },
  { '_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor', variants = 'library', pointwise = 'float', kernel = 'functions: float',
    doc = 'The derivative, scaled by 1 / (1 - x), of numbers of Beta(alpha, total - alpha) by alpha.',
    grad = { x = '_no_derivative(grad, 1)', alpha = '_no_derivative(grad, 1)', total = '_no_derivative(grad, 1)' } },
  { '_no_derivative(Tensor grad_output, int op) -> Tensor', variants = '',
    doc = 'The error that an op, by number, has no derivative.' },
}
