-- random.lua - draws from distributions given by tensors.

return {
  { 'normal.tensors(Tensor|Scalar mean, Tensor|Scalar std=1, *, Generator? generator=nil) -> Tensor', variants = 'function',
    doc = 'Normal random numbers with means and standard deviations per element.' },
  { 'multinomial(Tensor self, int num_samples, bool replacement=false, *, Generator? generator=nil) -> IndexTensor',
    doc = 'Positions drawn with the (unnormalized) probabilities in the rows of self.' },
  { 'poisson(Tensor self, Generator? generator=nil) -> Tensor',
    doc = 'Numbers of the Poisson distributions with the rates in self.', grad = { self = 'zeros_like(grad)' } },
}
