-- linalg.lua - factorizations, inverses and solutions of matrices. Names that begin with linalg_ belong to
-- torch.linalg (lib/linalg.lua). All take batches: the matrices are the last two dimensions.

local fn = 'function'

return {
  -- ---- inverses and determinants -------------------------------------------------------------------------------
  { 'inverse(Tensor self) -> Tensor', variants = 'function method copied_out', batch = 'front', grad_fn = 'LinalgInvExBackward0', doc = 'The inverse of each matrix.',
    forward = '-matmul(matmul(result, self_t), result)',
    grad = { self = '-matmul(matmul(transpose(result, -2, -1), grad), transpose(result, -2, -1))' } },
  { 'det(Tensor self) -> Tensor', variants = 'function method copied_out', batch = 'front', grad_fn = 'LinalgDetBackward0', doc = 'The determinant of each matrix.',
    forward = 'sum_dim(sum_dim(_linalg_det_backward(ones_like(result), self, result) * self_t, -1), -1)',
    grad = { self = '_linalg_det_backward(grad, self, result)' } },
  { '_linalg_det_backward(Tensor grad_output, Tensor self, Tensor det) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of det, the cofactors: det(A) A^-T for an invertible A, else from the singular values.' },
  { 'slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)', variants = 'function method copied_out', batch = 'front', composite = true,
    doc = 'The sign of each determinant, of complex matrices its direction, and the logarithm of its magnitude.' },
  { '_linalg_sign_det(Tensor self) -> Tensor', batch = 'front', variants = '', grad_fn = 'LinalgSlogdetBackward0', holomorphic = false,
    doc = 'The signs of the determinants.', forward = '_linalg_sign_det_tangent(self_t, self, result)', grad = { self = '_linalg_sign_det_backward(grad, self, result)' } },
  { '_linalg_sign_det_backward(Tensor grad_output, Tensor self, Tensor sign) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'The derivative of the direction of a complex determinant; that of a sign is 0.' },
  { '_linalg_sign_det_tangent(Tensor self_t, Tensor self, Tensor sign) -> Tensor', variants = '', composite = true,
    doc = 'The tangent of the direction of a complex determinant; that of a sign is 0.' },
  { '_linalg_logabsdet(Tensor self) -> Tensor', batch = 'front', variants = '', holomorphic = false, grad_fn = 'LinalgSlogdetBackward0',
    doc = 'The logarithms of the magnitudes of the determinants.', forward = 'real(sum_dim(diagonal(_linalg_solve(self, self_t), 0, -2, -1), -1))', grad = { self = '_linalg_logabsdet_backward(grad, self)' } },
  { '_linalg_logabsdet_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of the logarithm of a determinant.' },
  { 'logdet(Tensor self) -> Tensor', batch = 'front', composite = true,
    doc = 'The logarithm of each determinant: nan where it is negative, -inf where it is 0. Of complex matrices the principal logarithm.' },

  -- ---- solutions -----------------------------------------------------------------------------------------------
  { 'linalg_solve(Tensor self, Tensor other, *, bool left=true) -> Tensor', variants = fn .. ' copied_out', composite = true, grad_fn = 'LinalgSolveExBackward0',
    doc = 'X with self @ X = other (left = false: X @ self = other); other holds matrices or vectors.' },
  { '_linalg_solve(Tensor self, Tensor other) -> Tensor', batch = 'broadcast', variants = '', grad_fn = 'LinalgSolveExBackward0',
    doc = 'X with self @ X = other, batches broadcast.',
    forward = { self = '-_linalg_solve(self, matmul(self_t, result))', other = 'linear' },
    grad = { self = '-matmul(_linalg_solve(transpose(self, -2, -1), grad), transpose(result, -2, -1))',
      other = '_linalg_solve(transpose(self, -2, -1), grad)' } },
  { 'linalg_solve_triangular(Tensor self, Tensor other, *, bool upper, bool left=true, bool unitriangular=false) -> Tensor',
    variants = fn .. ' copied_out', composite = true, doc = 'X with self @ X = other, of which only one triangle of self is read.' },
  { '_linalg_solve_triangular(Tensor self, Tensor other, bool upper, bool unitriangular) -> Tensor', batch = 'broadcast', variants = '',
    grad_fn = 'LinalgSolveTriangularBackward0', doc = 'X with self @ X = other, self triangular, batches broadcast.',
    forward = { self = '-_linalg_solve_triangular(self, matmul(_linalg_triangle(self_t, upper, unitriangular), result), upper, unitriangular)', other = 'linear' },
    grad = { self = '_linalg_solve_triangular_backward(grad, self, result, upper, unitriangular)',
      other = '_linalg_solve_triangular_backward_other(grad, self, upper, unitriangular)' } },
  { '_linalg_solve_triangular_backward(Tensor grad_output, Tensor self, Tensor result, bool upper, bool unitriangular) -> Tensor',
    variants = '', composite = true, doc = 'The derivative of _linalg_solve_triangular by the matrix.' },
  { '_linalg_triangle(Tensor self, bool upper, bool unitriangular) -> Tensor', variants = '', composite = true,
    doc = 'The triangle of self that _linalg_solve_triangular reads, zeros elsewhere.' },
  { '_linalg_solve_triangular_backward_other(Tensor grad_output, Tensor self, bool upper, bool unitriangular) -> Tensor',
    variants = '', composite = true, doc = 'The derivative of _linalg_solve_triangular by the right-hand side.' },
  { 'linalg_lstsq(Tensor self, Tensor other, *, float? rcond=nil) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)',
    variants = fn .. ' copied_out', composite = true, doc = 'X that makes the norm of self @ X - other the smallest, and the ranks of the matrices.' },
  { '_linalg_lstsq(Tensor self, Tensor other, float rcond) -> Tensor', batch = 'dims', variants = '', holomorphic = false, grad_fn = 'LinalgLstsqBackward0',
    doc = 'The solutions of linalg_lstsq.', forward = { self = '_linalg_lstsq_tangent(self_t, self, other, result)', other = 'linear' },
    grad = { self = '_linalg_lstsq_backward(grad, self, other, result)',
      other = 'matmul(conj(transpose(linalg_pinv(self), -2, -1)), grad)' } },
  { '_linalg_lstsq_rank(Tensor self, Tensor other, float rcond) -> Tensor', batch = 'dims', variants = '', doc = 'The ranks that linalg_lstsq finds.' },
  { '_linalg_lstsq_backward(Tensor grad_output, Tensor self, Tensor other, Tensor result) -> Tensor', variants = '',
    composite = true, doc = 'The derivative of _linalg_lstsq by the matrix.' },
  { '_linalg_lstsq_tangent(Tensor self_t, Tensor self, Tensor other, Tensor result) -> Tensor', variants = '', composite = true,
    doc = 'The tangent of _linalg_lstsq for one of the matrix.' },
  { 'linalg_pinv(Tensor self, *, float? rtol=nil, bool hermitian=false) -> Tensor', batch = 'front', variants = fn .. ' copied_out', composite = true,
    doc = 'The pseudo-inverse: singular values below rtol times the largest count as 0.' },
  { 'pinverse(Tensor self, float rcond=1e-15) -> Tensor', composite = true, doc = 'The pseudo-inverse, as torch.linalg.pinv.' },
  { '_linalg_pinv(Tensor self, float rtol, bool hermitian) -> Tensor', batch = 'front', variants = '', holomorphic = false, grad_fn = 'LinalgPinvBackward0',
    doc = 'The pseudo-inverse of each matrix.', forward = '_linalg_pinv_tangent(self_t, self, result)', grad = { self = '_linalg_pinv_backward(grad, self, result)' } },
  { '_linalg_pinv_backward(Tensor grad_output, Tensor self, Tensor result) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _linalg_pinv.' },
  { '_linalg_pinv_tangent(Tensor self_t, Tensor self, Tensor result) -> Tensor', variants = '', composite = true, doc = 'The tangent of _linalg_pinv.' },

  -- ---- factors -------------------------------------------------------------------------------------------------
  { 'cholesky(Tensor self, bool upper=false) -> Tensor', variants = 'function method copied_out', batch = 'front', composite = true,
    doc = 'L with L @ L.mH = self, lower triangular, of positive-definite matrices; upper: its adjoint.' },
  { '_linalg_cholesky(Tensor self, bool upper) -> Tensor', batch = 'front', variants = '', holomorphic = false, grad_fn = 'LinalgCholeskyExBackward0',
    doc = 'The factors of cholesky.', forward = '_linalg_cholesky_tangent(self_t, result, upper)',
    grad = { self = '_linalg_cholesky_backward(grad, result, upper)' } },
  { '_linalg_cholesky_backward(Tensor grad_output, Tensor result, bool upper) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of cholesky.' },
  { '_linalg_cholesky_tangent(Tensor self_t, Tensor result, bool upper) -> Tensor', variants = '', composite = true, doc = 'The tangent of cholesky.' },
  { "linalg_qr(Tensor self, string mode='reduced') -> (Tensor Q, Tensor R)", variants = fn .. ' copied_out', composite = true, grad_fn = 'LinalgQrBackward0',
    doc = "Q with orthonormal columns and an upper triangular R with Q @ R = self; mode 'reduced', 'complete' or 'r'." },
  { 'qr(Tensor self, bool some=true) -> (Tensor Q, Tensor R)', variants = 'function method copied_out', composite = true, grad_fn = 'LinalgQrBackward0', doc = 'As torch.linalg.qr, reduced unless some is false.' },
  { '_linalg_qr(Tensor self, bool complete) -> Tensor', batch = 'front', variants = '', holomorphic = false, grad_fn = 'LinalgQrBackward0',
    doc = 'Q and R in one tensor: R below Q, or beside it where self is wider than Q.',
    forward = '_linalg_qr_tangent(self_t, result, complete)', grad = { self = '_linalg_qr_backward(grad, sizes_of(self), result, complete)' } },
  { '_linalg_qr_backward(Tensor grad_output, Size sizes, Tensor result, bool complete) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _linalg_qr.' },
  { '_linalg_qr_tangent(Tensor self_t, Tensor result, bool complete) -> Tensor', variants = '', composite = true, doc = 'The tangent of _linalg_qr.' },
  { '_linalg_lu(Tensor self) -> (Tensor LU, Tensor pivots, Tensor info)', batch = 'front', variants = 'library',
    doc = 'The LU factors of square matrices in one, the pivots from 1, and of each matrix which element of the diagonal is 0, or 0.' },
  { '_linalg_reflectors(Tensor self) -> (Tensor a, Tensor tau)', batch = 'front', variants = 'library',
    doc = 'R above the diagonal, and below it the reflectors with the product Q; the factors of the reflectors.' },
  { 'linalg_svd(Tensor self, bool full_matrices=true) -> (Tensor U, Tensor S, Tensor Vh)', batch = 'front', variants = fn .. ' copied_out', composite = true, grad_fn = 'LinalgSvdBackward0',
    doc = 'The singular value decomposition: U @ diag(S) @ Vh = self, S descending.' },
  { 'svd(Tensor self, bool some=true, bool compute_uv=true) -> (Tensor U, Tensor S, Tensor V)', variants = 'function method copied_out', composite = true,
    doc = 'As torch.linalg.svd, with V instead of its adjoint, reduced unless some is false; U and V are zeros unless compute_uv.' },
  { '_linalg_svd(Tensor self, bool full_matrices) -> Tensor', batch = 'front', variants = '', holomorphic = false, grad_fn = 'LinalgSvdBackward0',
    doc = 'U, S and V in one tensor, one below the other.',
    forward = '_linalg_svd_tangent(self_t, result)', grad = { self = '_linalg_svd_backward(grad, sizes_of(self), result)' } },
  { '_linalg_svd_backward(Tensor grad_output, Size sizes, Tensor result) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'The derivative of _linalg_svd.' },
  { '_linalg_svd_tangent(Tensor self_t, Tensor result) -> Tensor', variants = '', composite = true,
    doc = 'The tangent of _linalg_svd; 0 for the columns of U and V that belong to no singular value.' },
  { 'linalg_svdvals(Tensor self) -> Tensor', batch = 'front', variants = fn .. ' copied_out', composite = true, grad_fn = 'LinalgSvdBackward0', doc = 'The singular values, descending.' },
  { '_linalg_svdvals(Tensor self) -> Tensor', batch = 'front', variants = '', doc = 'The singular values, without the vectors.' },
  { "linalg_eigh(Tensor self, string UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)", variants = fn .. ' copied_out', composite = true, grad_fn = 'LinalgEighBackward0',
    doc = 'Eigenvalues, ascending, and eigenvectors (columns) of symmetric or Hermitian matrices, of which one triangle is read.' },
  { "linalg_eigvalsh(Tensor self, string UPLO='L') -> Tensor", variants = fn .. ' copied_out', composite = true, grad_fn = 'LinalgEighBackward0',
    doc = 'The eigenvalues of symmetric or Hermitian matrices, ascending.' },
  { '_linalg_eigh(Tensor self, bool upper, bool vectors) -> Tensor', batch = 'front', variants = '', holomorphic = false, grad_fn = 'LinalgEighBackward0',
    doc = 'The eigenvectors and, below them, the eigenvalues.', forward = '_linalg_eigh_tangent(self_t, result)',
    grad = { self = '_linalg_eigh_backward(grad, result)' } },
  { '_linalg_eigh_backward(Tensor grad_output, Tensor result) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _linalg_eigh.' },
  { '_linalg_eigh_tangent(Tensor self_t, Tensor result) -> Tensor', variants = '', composite = true, doc = 'The tangent of _linalg_eigh.' },
  { 'linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)', variants = fn .. ' copied_out', composite = true,
    doc = 'Eigenvalues, in no order, and eigenvectors (columns, of length 1) of square matrices, complex also where these are real. LAPACK computes them, on the host.' },
  { 'linalg_eigvals(Tensor self) -> Tensor', variants = fn .. ' copied_out', composite = true, doc = 'The eigenvalues of square matrices, complex, in no order.' },
  { '_linalg_eig(Tensor self) -> Tensor', batch = 'front', variants = '', holomorphic = false, grad_fn = 'LinalgEigBackward0',
    doc = 'The eigenvectors and, below them, the eigenvalues.', forward = '_linalg_eig_tangent(self_t, result)',
    grad = { self = '_linalg_eig_backward(grad, result)' } },
  { '_linalg_eig_backward(Tensor grad_output, Tensor result) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'The derivative of _linalg_eig.' },
  { '_linalg_eig_tangent(Tensor self_t, Tensor result) -> Tensor', variants = '', composite = true, doc = 'The tangent of _linalg_eig.' },
  { '_linalg_eigvals(Tensor self) -> Tensor', batch = 'front', variants = '', doc = 'The eigenvalues, without the vectors.' },
  { '_linalg_ldl(Tensor self, bool hermitian) -> (Tensor LD, Tensor pivots, Tensor info)', batch = 'front', variants = 'library',
    doc = 'The factors L and D of symmetric or Hermitian matrices in the lower triangle, the pivots, and of each matrix which block of D is 0, or 0.' },
  { '_linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, bool hermitian) -> Tensor', batch = 'dims', variants = 'library',
    doc = 'X with A X = B, from the results of _linalg_ldl(A).' },

  -- ---- norms and ranks ----------------------------------------------------------------------------------------
  { 'linalg_matrix_norm(Tensor self, Scalar ord, Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor',
    variants = fn .. ' copied_out', composite = true,
    doc = 'A norm of matrices: 1 and -1 by columns, inf and -inf by rows, 2 and -2 by singular values.' },
  { "linalg_matrix_norm.named(Tensor self, string ord='fro', Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor",
    variants = fn .. ' copied_out', composite = true, doc = "The Frobenius norm ('fro') or the sum of the singular values ('nuc') of matrices." },
  { 'linalg_matrix_rank(Tensor self, *, float? rtol=nil, bool hermitian=false) -> Tensor', variants = fn .. ' copied_out', composite = true,
    doc = 'How many singular values are above rtol times the largest.' },

  -- ---- products -------------------------------------------------------------------------------------------------

  arguments = [=[
left: Whether the equation is A X = B; otherwise X A = B.
upper: Whether the upper triangle is used; otherwise the lower one.
unitriangular: Whether the diagonal is assumed to be ones.
rcond: Singular values below this fraction of the largest one count as zero.
rtol: Singular values below this fraction of the largest one count as zero.
hermitian: Whether the matrix is symmetric, or Hermitian if complex, so that only one triangle is read.
linalg_qr.mode: Shape of the factors: `'reduced'`, `'complete'`, or `'r'` for R alone.
some: Whether the factors are reduced to the smaller size.
full_matrices: Whether U and V are square.
compute_uv: Whether the singular vectors are computed; otherwise they are zeros.
UPLO: Triangle that is read: `'L'` or `'U'`.
linalg_matrix_norm.ord: Kind of the norm: `'fro'`, `'nuc'`, inf, -inf, 1, -1, 2 or -2.
other: Right-hand side of the equation: a matrix or vector, or a batch.
]=],

  examples = [=[
inverse
    torch.linalg.inv(torch.tensor{ {1.0, 2.0}, {3.0, 4.0} })
    --> tensor([[-2.0000,  1.0000],
    -->         [ 1.5000, -0.5000]])
det
    torch.tensor{ {1.0, 2.0}, {3.0, 4.0} }:det()
    --> tensor(-2.)
slogdet
    torch.slogdet(torch.tensor{ {1.0, 0.0}, {0.0, -1.0} })
    --> (tensor(-1.), tensor(0.))
logdet
    torch.logdet(torch.eye(2) * 2)
    --> tensor(1.3863)
linalg_solve
    torch.linalg.solve(torch.tensor{ {2.0, 0.0}, {0.0, 4.0} }, torch.tensor{2.0, 2.0})
    --> tensor([1.0000, 0.5000])
linalg_solve_triangular
    torch.linalg.solve_triangular(torch.tensor{ {1.0, 1.0}, {0.0, 2.0} }, torch.tensor{ {3.0}, {4.0} }, {upper = true})
    --> tensor([[1.],
    -->         [2.]])
linalg_lstsq
    local solution = torch.linalg.lstsq(torch.tensor{ {1.0, 0.0}, {1.0, 1.0}, {1.0, 2.0} }, torch.tensor{ {1.0}, {3.0}, {5.0} })
    solution:round{decimals = 3}
    --> tensor([[1.],
    -->         [2.]])
linalg_pinv
    torch.linalg.pinv(torch.tensor{ {1.0}, {1.0} })
    --> tensor([[0.5000, 0.5000]])
pinverse
    torch.pinverse(torch.tensor{ {2.0, 0.0}, {0.0, 0.0} })
    --> tensor([[0.5000, 0.0000],
    -->         [0.0000, 0.0000]])
cholesky
    torch.cholesky(torch.tensor{ {4.0, 2.0}, {2.0, 5.0} })
    --> tensor([[2., 0.],
    -->         [1., 2.]])
linalg_qr
    local Q, R = torch.linalg.qr(torch.tensor{ {3.0, 1.0}, {4.0, 2.0} })
    Q:matmul(R):round{decimals = 3}
    --> tensor([[3., 1.],
    -->         [4., 2.]])
qr
    local Q, R = torch.qr(torch.tensor{ {3.0, 1.0}, {4.0, 2.0} })
    R:tril(-1)
    --> tensor([[0., 0.],
    -->         [0., 0.]])
linalg_svd
    local U, S, Vh = torch.linalg.svd(torch.tensor{ {3.0, 0.0}, {0.0, 2.0} })
    S
    --> tensor([3., 2.])
svd
    local U, S, V = torch.svd(torch.tensor{ {0.0, 2.0}, {3.0, 0.0} })
    S
    --> tensor([3., 2.])
linalg_svdvals
    torch.linalg.svdvals(torch.tensor{ {3.0, 0.0}, {0.0, 2.0} })
    --> tensor([3., 2.])
linalg_eigh
    local eigenvalues = torch.linalg.eigh(torch.tensor{ {2.0, 1.0}, {1.0, 2.0} })
    eigenvalues
    --> tensor([1., 3.])
linalg_eigvalsh
    torch.linalg.eigvalsh(torch.tensor{ {2.0, 1.0}, {1.0, 2.0} })
    --> tensor([1., 3.])
linalg_eig
    local eigenvalues, eigenvectors = torch.linalg.eig(torch.tensor{ {0.0, 1.0}, {-1.0, 0.0} })
    eigenvalues.dtype, eigenvectors.shape
    --> (torch.complex64, torch.Size([2, 2]))
linalg_eigvals
    torch.linalg.eigvals(torch.tensor{ {0.0, 1.0}, {-1.0, 0.0} }):abs()
    --> tensor([1., 1.])
linalg_matrix_norm
    torch.linalg.matrix_norm(torch.tensor{ {3.0, 0.0}, {0.0, 4.0} })
    --> tensor(5.)
    torch.linalg.matrix_norm(torch.tensor{ {3.0, 0.0}, {0.0, 4.0} }, {ord = 'nuc'})
    --> tensor(7.)
linalg_matrix_rank
    torch.linalg.matrix_rank(torch.tensor{ {1.0, 2.0}, {2.0, 4.0} })
    --> tensor(1)
]=],
}
