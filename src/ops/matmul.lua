-- matmul.lua - products of matrices and vectors.

local all = 'function method inplace out'

return {
  { 'mm(Tensor self, Tensor mat2) -> Tensor', sparse = 'form', batch = 'matmul', overlap = 'aside', variants = 'function method out', doc = 'The product of two matrices.',
    forward = { self = 'linear', mat2 = 'linear' },
    grad = { self = '_mm_as(grad, t(mat2), strides_of(self))', mat2 = '_mm_as(t(self), grad, strides_of(mat2))' } },
  { '_mm_as(Tensor self, Tensor mat2, Size strides) -> Tensor', variants = '', composite = true,
    doc = 'The product of two matrices, with dense columns if its strides are the strides of such a matrix.' },
  { '_scaled(Tensor self, Scalar factor) -> Tensor', batch = 'broadcast', variants = '', composite = true, doc = 'self * factor; self itself for a factor of 1.' },
  { 'bmm(Tensor self, Tensor mat2) -> Tensor', sparse = 'form', batch = 'matmul', overlap = 'aside', variants = 'function method out',
    doc = 'The products of two batches of matrices, [b, n, m] and [b, m, p].',
    forward = { self = 'linear', mat2 = 'linear' },
    grad = { self = 'bmm(grad, transpose(mat2, 1, 2))', mat2 = 'bmm(transpose(self, 1, 2), grad)' } },
  { 'mv(Tensor self, Tensor vec) -> Tensor', sparse = 'form', batch = 'matmul', overlap = 'aside', variants = 'function method out', doc = 'The product of a matrix and a vector.',
    forward = { self = 'linear', vec = 'linear' }, grad = { self = 'outer(grad, vec)', vec = 'mv(t(self), grad)' } },
  { 'dot(Tensor self, Tensor tensor) -> Tensor', batch = 'matmul', overlap = 'aside', variants = 'function method out', aliases = 'inner_product',
    doc = 'The sum of the products of two vectors.', forward = { self = 'linear', tensor = 'linear' }, grad = { self = 'grad * tensor', tensor = 'grad * self' } },
  { 'vdot(Tensor self, Tensor other) -> Tensor', variants = 'function method copied_out', composite = true, grad_fn = 'VdotBackward0', reads = true, doc = 'The sum of the products of two vectors.' },
  { 'matmul(Tensor self, Tensor other) -> Tensor', variants = 'function method out', overlap = 'copied', sparse = 'form', batch = 'matmul', composite = true,
    doc = 'The product of vectors, matrices or broadcast batches of matrices, as PyTorch has it.' },
  { 'outer(Tensor self, Tensor vec2) -> Tensor', variants = 'function method copied_out', batch = 'through', composite = true, aliases = 'ger',
    doc = 'All products of an element of one vector with one of the other.' },
  { 'addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor', sparse = 'form', batch = 'addmm', overlap = 'aside', variants = all,
    doc = 'beta * self + alpha * mat1 @ mat2.',
    forward = { self = '_scaled(self_t, beta)', mat1 = '_scaled(mm(mat1_t, mat2), alpha)', mat2 = '_scaled(mm(mat1, mat2_t), alpha)' },
    grad = { mat1 = '_scaled(_mm_as(grad, t(mat2), strides_of(mat1)), alpha)',
      ['self mat2'] = '_addmm_backward(grad, mat1, sizes_of(self), strides_of(mat2), beta, alpha, needs_self, needs_mat2)' } },
  { '_addmm_backward(Tensor grad_output, Tensor mat1, Size sizes, Size strides, Scalar beta, Scalar alpha, bool needs_self, bool needs_mat2) -> (Tensor grad_self, Tensor grad_mat2)',
    variants = '', composite = true, reads = true,
    doc = 'The derivatives of addmm by the added tensor and by mat2. A GPU sums up the derivative of a bias within the product.' },
  { 'addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor', batch = 'addmm', overlap = 'aside', variants = all,
    doc = 'beta * self + alpha * mat @ vec.',
    forward = { self = '_scaled(self_t, beta)', mat = '_scaled(mv(mat_t, vec), alpha)', vec = '_scaled(mv(mat, vec_t), alpha)' },
    grad = { self = '_scaled(grad, beta)', mat = '_scaled(outer(grad, vec), alpha)', vec = '_scaled(mv(t(mat), grad), alpha)' } },
  { 'baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor', batch = 'addmm', overlap = 'aside', variants = all,
    doc = 'beta * self + alpha * bmm(batch1, batch2).',
    forward = { self = '_scaled(self_t, beta)', batch1 = '_scaled(bmm(batch1_t, batch2), alpha)', batch2 = '_scaled(bmm(batch1, batch2_t), alpha)' },
    grad = { self = '_scaled(grad, beta)', batch1 = '_scaled(bmm(grad, transpose(batch2, 1, 2)), alpha)',
      batch2 = '_scaled(bmm(transpose(batch1, 1, 2), grad), alpha)' } },
  { 'addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor', batch = 'addr', overlap = 'elementwise', variants = all,
    doc = 'beta * self + alpha * outer(vec1, vec2).',
    forward = { self = '_scaled(self_t, beta)', vec1 = '_scaled(outer(vec1_t, vec2), alpha)', vec2 = '_scaled(outer(vec1, vec2_t), alpha)' },
    grad = { self = '_scaled(grad, beta)', vec1 = '_scaled(mv(grad, vec2), alpha)', vec2 = '_scaled(mv(t(grad), vec1), alpha)' } },
  { 'addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor', batch = 'addbmm', overlap = 'aside', variants = all,
    doc = 'beta * self + alpha * the sum of the products in bmm(batch1, batch2).',
    forward = { self = '_scaled(self_t, beta)', batch1 = '_scaled(sum_dim(matmul(batch1_t, batch2), 0), alpha)', batch2 = '_scaled(sum_dim(matmul(batch1, batch2_t), 0), alpha)' },
    grad = { self = '_scaled(grad, beta)', batch1 = '_scaled(matmul(grad, transpose(batch2, 1, 2)), alpha)',
      batch2 = '_scaled(matmul(transpose(batch1, 1, 2), grad), alpha)' } },
  { 'inner(Tensor self, Tensor other) -> Tensor', variants = 'function method copied_out', composite = true,
    doc = 'The sums of products over the last dimension of both, for all pairs of the other dimensions.' },
  { 'tensordot(Tensor self, Tensor other, int dims=2) -> Tensor', variants = 'function copied_out', composite = true,
    doc = 'The product summed over the last `dims` dimensions of self and the first of other.' },
  { 'tensordot.dims(Tensor self, Tensor other, Dims dims_self, Dims dims_other) -> Tensor', batch = 'loop', variants = 'function copied_out', composite = true,
    doc = 'The product summed over the given dimensions of self and of other.' },
  { 'kron(Tensor self, Tensor other) -> Tensor', variants = 'function method copied_out', composite = true,
    doc = 'The Kronecker product: every element of self times all of other.' },
  { 'einsum(string equation, Tensor[] operands) -> Tensor', variants = 'function', composite = true,
    doc = 'The sum of products that the letters of the dimensions describe; operands in a row or in a table.' },
  { 'cross(Tensor self, Tensor other, Dim? dim=nil) -> Tensor', variants = 'function method copied_out', composite = true, grad_fn = 'LinalgCrossBackward0',
    doc = 'The cross products of vectors of 3 elements along a dimension: the first of that size when none is given.' },
  { "cdist(Tensor x1, Tensor x2, float p=2.0, string compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor", variants = 'function', composite = true, grad_fn = 'CdistBackward0',
    doc = "The p-norm distances between all pairs of rows. compute_mode, where p is 2: 'use_mm_for_euclid_dist_if_necessary' (a product of matrices for more than 25 rows), 'use_mm_for_euclid_dist' or 'donot_use_mm_for_euclid_dist', which sums the differences themselves and is the more exact way." },
  { '_euclidean_dist(Tensor x1, Tensor x2) -> Tensor', batch = 'dims', variants = '', doc = 'The Euclidean distances between the rows of x1 and x2, of the same batches, by one product of matrices.',
    forward = { x1 = '_euclidean_tangent(x1_t, x1, x2, result)', x2 = 'transpose(_euclidean_tangent(x2_t, x2, x1, transpose(result, -2, -1)), -2, -1)' },
    grad = { x1 = '_euclidean_backward(grad, x1, x2, result)', x2 = '_euclidean_backward(transpose(grad, -2, -1), x2, x1, transpose(result, -2, -1))' } },
  { '_euclidean_backward(Tensor grad, Tensor x1, Tensor x2, Tensor distances) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _euclidean_dist by x1; 0 for equal rows.' },
  { '_euclidean_tangent(Tensor x1_t, Tensor x1, Tensor x2, Tensor distances) -> Tensor', variants = '', composite = true,
    doc = 'The tangent of _euclidean_dist for one of x1; 0 where rows are the same.' },
  { 'chain_matmul(Tensor[] matrices) -> Tensor', variants = 'function copied_out', composite = true,
    doc = 'The product of matrices, in a row or in a table, in the order that costs least.' },
  { 'linear(Tensor input, Tensor weight, Tensor? bias=nil) -> Tensor', batch = 'linear', variants = 'function out', overlap = 'copied', composite = true, reads = true,
    doc = 'input @ weight.T + bias, over the last dimension of input.' },
  { 'matrix_power(Tensor self, int n) -> Tensor', variants = 'function method copied_out', batch = 'front', composite = true,
    doc = 'The n-th power of each matrix; of its inverse for negative n.' },
  { 'linalg_multi_dot(Tensor[] tensors) -> Tensor', variants = 'function copied_out', composite = true,
    doc = 'The product of matrices in the order that costs least; the first and the last may be vectors.' },
  { 'linalg_cross(Tensor self, Tensor other, *, Dim dim=-1) -> Tensor', variants = 'function copied_out', composite = true,
    doc = 'The cross products of vectors of 3 elements along a dimension.' },

  arguments = [=[
mat1: First matrix, of shape (n, k).
mat2: Second matrix, of shape (k, m); for batches (b, k, m).
mat: Matrix, of shape (n, m).
vec: Vector, of shape (m).
vec1: First vector, of shape (n).
vec2: Second vector, of shape (m).
tensor: Second vector, of the same size.
batch1: Batch of matrices, of shape (b, n, k).
batch2: Batch of matrices, of shape (b, k, m).
beta: Factor of self; with 0, self is not read.
alpha: Factor of the product.
dims (int): Number of dimensions that are summed: the last ones of self and the first ones of other.
dims_self: Dimensions of self that are summed, from 1.
dims_other: Dimensions of other that are summed, in the same order.
equation: Letters of the dimensions of each operand and of the result, as in `'ij,jk->ik'`.
operands: Tensors, one for each group of letters.
x1: First points, of shape (..., P, M).
x2: Second points, of shape (..., R, M).
p: Order p of the norm.
compute_mode: Method for p = 2: `'use_mm_for_euclid_dist_if_necessary'`, `'use_mm_for_euclid_dist'` or `'donot_use_mm_for_euclid_dist'`.
matrices: Matrices of matching sizes.
tensors: Matrices of matching sizes; the first and the last one may be vectors.
linear.weight: Weights, of shape (out_features, in_features).
linear.bias: Bias, of shape (out_features).
n: Exponent; a negative one inverts the matrix.
other: Second operand.
]=],

  examples = [=[
mm
    torch.mm(torch.tensor{ {1.0, 2.0}, {3.0, 4.0} }, torch.eye(2) * 10)
    --> tensor([[10., 20.],
    -->         [30., 40.]])
bmm
    torch.bmm(torch.ones(5, 2, 3), torch.ones(5, 3, 4)).shape
    --> torch.Size([5, 2, 4])
mv
    torch.mv(torch.tensor{ {1.0, 2.0}, {3.0, 4.0} }, torch.tensor{1.0, 1.0})
    --> tensor([3., 7.])
dot
    torch.dot(torch.tensor{1.0, 2.0}, torch.tensor{3.0, 4.0})
    --> tensor(11.)
vdot
    torch.vdot(torch.tensor{torch.complex(0, 1)}, torch.tensor{torch.complex(0, 1)})
    --> tensor(1.+0.j)
matmul
    torch.ones(2, 3):matmul(torch.ones(3))
    --> tensor([3., 3.])
    torch.ones(5, 2, 3):matmul(torch.ones(3, 4)).shape
    --> torch.Size([5, 2, 4])
outer
    torch.outer(torch.tensor{1, 2}, torch.tensor{10, 20, 30})
    --> tensor([[10, 20, 30],
    -->         [20, 40, 60]])
addmm
    torch.addmm(torch.ones(2), torch.eye(2), torch.eye(2), {beta = 10})
    --> tensor([[11., 10.],
    -->         [10., 11.]])
addmv
    torch.addmv(torch.ones(2), torch.eye(2), torch.tensor{5.0, 6.0})
    --> tensor([6., 7.])
baddbmm
    torch.baddbmm(torch.zeros(1, 1, 1), torch.ones(1, 1, 3), torch.ones(1, 3, 1), {alpha = 2})
    --> tensor([[[6.]]])
addr
    torch.addr(torch.zeros(2, 2), torch.tensor{1.0, 2.0}, torch.tensor{3.0, 4.0})
    --> tensor([[3., 4.],
    -->         [6., 8.]])
addbmm
    torch.addbmm(torch.zeros(1, 1), torch.ones(4, 1, 3), torch.ones(4, 3, 1))
    --> tensor([[12.]])
inner
    torch.inner(torch.tensor{1, 2}, torch.tensor{3, 4})
    --> tensor(11)
tensordot
    torch.tensordot(torch.ones(2, 3, 4), torch.ones(4, 3, 5), {2, 3}, {2, 1}).shape
    --> torch.Size([2, 5])
kron
    torch.kron(torch.eye(2), torch.tensor{ {1.0, 2.0} })
    --> tensor([[1., 2., 0., 0.],
    -->         [0., 0., 1., 2.]])
einsum
    torch.einsum('ij,j->i', torch.tensor{ {1.0, 2.0}, {3.0, 4.0} }, torch.tensor{1.0, 10.0})
    --> tensor([21., 43.])
cross
    torch.cross(torch.tensor{1, 0, 0}, torch.tensor{0, 1, 0})
    --> tensor([0, 0, 1])
cdist
    torch.cdist(torch.tensor{ {0.0, 0.0} }, torch.tensor{ {3.0, 4.0}, {0.0, 2.0} })
    --> tensor([[5., 2.]])
chain_matmul
    torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 4), torch.ones(4, 5)).shape
    --> torch.Size([2, 5])
linear
    nn.functional.linear(torch.tensor{1.0, 2.0}, torch.tensor{ {1.0, 1.0}, {0.0, 5.0} }, torch.tensor{0.5, 0.5})
    --> tensor([ 3.5000, 10.5000])
matrix_power
    torch.matrix_power(torch.tensor{ {1.0, 1.0}, {0.0, 1.0} }, 5)
    --> tensor([[1., 5.],
    -->         [0., 1.]])
linalg_multi_dot
    torch.linalg.multi_dot({torch.ones(2, 3), torch.ones(3, 4), torch.ones(4, 1)})
    --> tensor([[12.],
    -->         [12.]])
linalg_cross
    torch.linalg.cross(torch.tensor{1.0, 0.0, 0.0}, torch.tensor{0.0, 1.0, 0.0})
    --> tensor([0., 0., 1.])
]=],
}
