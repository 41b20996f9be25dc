-- matmul.lua - products of matrices and vectors.

local all = 'function method inplace out'

return {
  { 'mm(Tensor self, Tensor mat2) -> Tensor', variants = 'function method out', doc = 'The product of two matrices.',
    grad = { self = 'mm(grad, t(mat2))', mat2 = 'mm(t(self), grad)' } },
  { 'bmm(Tensor self, Tensor mat2) -> Tensor', variants = 'function method out',
    doc = 'The products of two batches of matrices, [b, n, m] and [b, m, p].',
    grad = { self = 'bmm(grad, transpose(mat2, 1, 2))', mat2 = 'bmm(transpose(self, 1, 2), grad)' } },
  { 'mv(Tensor self, Tensor vec) -> Tensor', variants = 'function method out', doc = 'The product of a matrix and a vector.',
    grad = { self = 'outer(grad, vec)', vec = 'mv(t(self), grad)' } },
  { 'dot(Tensor self, Tensor tensor) -> Tensor', variants = 'function method out', aliases = 'inner_product',
    doc = 'The sum of the products of two vectors.', grad = { self = 'grad * tensor', tensor = 'grad * self' } },
  { 'matmul(Tensor self, Tensor other) -> Tensor', composite = true,
    doc = 'The product of vectors, matrices or broadcast batches of matrices, as PyTorch has it.' },
  { 'outer(Tensor self, Tensor vec2) -> Tensor', composite = true, aliases = 'ger',
    doc = 'All products of an element of one vector with one of the other.' },
  { 'addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor', variants = all,
    doc = 'beta * self + alpha * mat1 @ mat2.',
    grad = { self = 'mul(grad, beta)', mat1 = 'mul(mm(grad, t(mat2)), alpha)', mat2 = 'mul(mm(t(mat1), grad), alpha)' } },
  { 'addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor', variants = all,
    doc = 'beta * self + alpha * mat @ vec.',
    grad = { self = 'mul(grad, beta)', mat = 'mul(outer(grad, vec), alpha)', vec = 'mul(mv(t(mat), grad), alpha)' } },
  { 'baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor', variants = all,
    doc = 'beta * self + alpha * bmm(batch1, batch2).',
    grad = { self = 'mul(grad, beta)', batch1 = 'mul(bmm(grad, transpose(batch2, 1, 2)), alpha)',
      batch2 = 'mul(bmm(transpose(batch1, 1, 2), grad), alpha)' } },
  { 'linear(Tensor input, Tensor weight, Tensor? bias=nil) -> Tensor', variants = 'function', composite = true,
    doc = 'input @ weight.T + bias, over the last dimension of input.' },
}
