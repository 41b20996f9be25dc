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
  { 'geqrf(Tensor self) -> (Tensor a, Tensor tau)', batch = 'front', variants = 'function method copied_out',
    doc = 'The QR factorization as LAPACK leaves it: R above the diagonal, reflectors below it, and the factors of these.' },
  { 'linalg_householder_product(Tensor A, Tensor tau) -> Tensor', variants = fn .. ' copied_out', composite = true, grad_fn = 'LinalgHouseholderProductBackward0',
    doc = 'The first columns of the product of the reflectors below the diagonal of A.' },
  { 'orgqr(Tensor self, Tensor tau) -> Tensor', variants = 'function method copied_out', composite = true, grad_fn = 'LinalgHouseholderProductBackward0',
    doc = 'linalg.householder_product.' },
  { 'ormqr(Tensor self, Tensor tau, Tensor other, bool left=true, bool transpose=false) -> Tensor', variants = 'function method copied_out', composite = true,
    grad_fn = 'OrmqrBackward0', doc = 'other times the product of reflectors, from the left or the right.' },
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
  { '_linalg_cholesky_ex(Tensor self, bool upper, bool check_errors) -> (Tensor L, Tensor info)', batch = 'front', variants = '', holomorphic = false,
    doc = 'linalg_cholesky_ex.', grad_fn = 'LinalgCholeskyExBackward0', forward = '_linalg_cholesky_tangent(self_t, L, upper)',
    grad = { self = '_linalg_cholesky_backward(grad, L, upper)' } },
  { 'linalg_cholesky_ex(Tensor A, *, bool upper=false, bool check_errors=false) -> (Tensor L, Tensor info)', variants = fn .. ' copied_out', composite = true,
    doc = 'cholesky, and of each matrix the order of the minor that is not positive, or 0.' },
  { '_linalg_inv_ex(Tensor self, bool check_errors) -> (Tensor inverse, Tensor info)', batch = 'front', variants = '',
    doc = 'linalg_inv_ex.', grad_fn = 'LinalgInvExBackward0', forward = '-matmul(matmul(inverse, self_t), inverse)',
    grad = { self = '-matmul(matmul(transpose(inverse, -2, -1), grad), transpose(inverse, -2, -1))' } },
  { 'linalg_inv_ex(Tensor A, *, bool check_errors=false) -> (Tensor inverse, Tensor info)', variants = fn .. ' copied_out', composite = true,
    doc = 'The inverse, and of each matrix whether it has none.' },
  { 'linalg_solve_ex(Tensor A, Tensor B, *, bool left=true, bool check_errors=false) -> (Tensor result, Tensor info)', variants = fn .. ' copied_out', composite = true,
    grad_fn = 'LinalgSolveExBackward0', doc = 'solve, and of each matrix whether it is singular.' },
  { 'cholesky_solve(Tensor B, Tensor L, bool upper=false) -> Tensor', variants = 'function method copied_out', composite = true, grad_fn = 'CholeskySolveBackward0',
    doc = 'X with L L^H X = B.' },
  { 'cholesky_inverse(Tensor L, bool upper=false) -> Tensor', variants = 'function method copied_out', composite = true, grad_fn = 'CholeskyInverseBackward0',
    doc = 'The inverse of L L^H.' },
  { 'triangular_solve(Tensor b, Tensor A, bool upper=true, bool transpose=false, bool unitriangular=false) -> (Tensor solution, Tensor cloned_coefficient)',
    variants = 'function method copied_out', composite = true, grad_fn = 'TriangularSolveBackward0', doc = 'X with A X = b for a triangular matrix A, and a copy of A.' },

  -- ---- LU ------------------------------------------------------------------------------------------------------
  { '_linalg_lu(Tensor self, string checked_as) -> (Tensor LU, Tensor pivots, Tensor info)', batch = 'front', variants = '', holomorphic = false, grad_fn = 'LinalgLuFactorExBackward0',
    doc = 'The LU factors in one, the pivots from 1, and of each matrix which element of the diagonal is 0, or 0; an error of the operation `checked_as`, unless this is empty.',
    forward = '_linalg_lu_tangent(self_t, LU, pivots)', grad = { self = '_linalg_lu_backward(grad, LU, pivots)' } },
  { '_linalg_lu_backward(Tensor grad_output, Tensor LU, Tensor pivots) -> Tensor', variants = '', composite = true, doc = 'The derivative of _linalg_lu.' },
  { '_linalg_lu_tangent(Tensor self_t, Tensor LU, Tensor pivots) -> Tensor', variants = '', composite = true, doc = 'The tangent of _linalg_lu.' },
  { '_linalg_row_order(Tensor pivots, int rows) -> Tensor', batch = 'front', variants = '', doc = 'The row of A that is each row of L U = P^T A, from 0.' },
  { 'linalg_lu_factor(Tensor A, *, bool pivot=true) -> (Tensor LU, Tensor pivots)', variants = fn .. ' copied_out', composite = true, grad_fn = 'LinalgLuFactorExBackward0',
    doc = 'The factors of P L U = A in one tensor, L below the diagonal, and the rows, from 1, that were exchanged.' },
  { 'linalg_lu_factor_ex(Tensor A, *, bool pivot=true, bool check_errors=false) -> (Tensor LU, Tensor pivots, Tensor info)', variants = fn .. ' copied_out', composite = true,
    grad_fn = 'LinalgLuFactorExBackward0', doc = 'lu_factor, and of each matrix which element of the diagonal of U is 0, or 0.' },
  { 'linalg_lu(Tensor A, *, bool pivot=true) -> (Tensor P, Tensor L, Tensor U)', variants = fn .. ' copied_out', composite = true,
    doc = 'A permutation, a lower triangle of ones and an upper triangle with P L U = A.' },
  { 'lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=true, bool unpack_pivots=true) -> (Tensor P, Tensor L, Tensor U)', variants = fn .. ' copied_out', composite = true,
    doc = 'The results of lu_factor as three matrices.' },
  { 'linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=true, bool adjoint=false) -> Tensor', variants = fn .. ' copied_out', composite = true,
    grad_fn = 'LinalgLuSolveBackward0', doc = 'X with A X = B, from the results of lu_factor(A); left = false: X A = B; adjoint: A^H X = B.' },
  { 'lu_solve(Tensor b, Tensor LU_data, Tensor LU_pivots) -> Tensor', variants = 'function method copied_out', composite = true, grad_fn = 'LinalgLuSolveBackward0',
    doc = 'X with A X = b, from the results of lu_factor(A).' },

  -- ---- LDL -----------------------------------------------------------------------------------------------------
  { 'linalg_ldl_factor(Tensor A, *, bool hermitian=false) -> (Tensor LD, Tensor pivots)', variants = fn .. ' copied_out', composite = true,
    doc = "L and D of symmetric matrices L D L' (hermitian: L D L^H), which need not be positive, in one tensor; D has blocks of 1 and 2 rows. LAPACK computes them, on the host. "
      .. 'The pivots are the rows, from 1, that were exchanged, negative for blocks of 2.' },
  { 'linalg_ldl_factor_ex(Tensor A, *, bool hermitian=false, bool check_errors=false) -> (Tensor LD, Tensor pivots, Tensor info)', batch = 'front', variants = fn .. ' copied_out',
    doc = 'ldl_factor, and of each matrix which block of D is 0, or 0.' },
  { 'linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=false) -> Tensor', variants = fn .. ' copied_out', composite = true,
    doc = 'X with A X = B, from the results of ldl_factor(A).' },
  { '_linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, bool hermitian) -> Tensor', batch = 'dims', variants = '',
    doc = 'linalg_ldl_solve of batches of the same sizes, int32 pivots.' },

  -- ---- functions of matrices -----------------------------------------------------------------------------------
  { 'linalg_matrix_exp(Tensor self) -> Tensor', variants = fn, composite = true, grad_fn = 'LinalgMatrixExpBackward0', doc = 'The exponential of each matrix.' },
  { 'matrix_exp(Tensor self) -> Tensor', composite = true, grad_fn = 'LinalgMatrixExpBackward0', doc = 'The exponential of each matrix.' },
  { 'linalg_cond(Tensor A, Scalar? p=nil) -> Tensor', variants = fn .. ' copied_out', composite = true,
    doc = 'The condition of each matrix: the norm p of it times that of its inverse.' },
  { 'linalg_cond.named(Tensor A, string p) -> Tensor', variants = fn .. ' copied_out', composite = true,
    doc = "The condition of each matrix by the norm 'fro' or 'nuc'." },
  { 'linalg_tensorinv(Tensor A, int ind=2) -> Tensor', variants = fn .. ' copied_out', composite = true,
    doc = 'The inverse of A as a map of its last dimensions to its first `ind` ones.' },
  { 'linalg_tensorsolve(Tensor A, Tensor B, Dims? dims=nil) -> Tensor', batch = 'through', variants = fn .. ' copied_out', composite = true,
    doc = 'X with tensordot(A, X) = B.' },
  { 'linalg_vecdot(Tensor x, Tensor y, *, Dim dim=-1) -> Tensor', batch = 'through', variants = fn .. ' copied_out', composite = true,
    doc = 'The sums of products of vectors along a dimension, the first of which is conjugated where it is complex.' },
  { 'svd_lowrank(Tensor A, int q=6, int niter=2, Tensor? M=nil) -> (Tensor U, Tensor S, Tensor V)', variants = fn, composite = true, random = true,
    doc = 'The q largest singular values and their vectors, about, of A or A - M, found from random directions.' },
  { 'pca_lowrank(Tensor A, int? q=nil, bool center=true, int niter=2) -> (Tensor U, Tensor S, Tensor V)', variants = fn, composite = true, random = true,
    doc = 'The q principal components, about, of rows, by svd_lowrank.' },

  { 'vander(Tensor x, int? N=nil, bool increasing=false) -> Tensor', variants = fn, composite = true,
    doc = 'A matrix of the powers of a vector, N of them, the highest first.' },
  { 'linalg_vander(Tensor x, *, int? N=nil) -> Tensor', variants = fn, composite = true, doc = 'Matrices of the powers of vectors, from power 0 on.' },

  -- ---- norms and ranks ----------------------------------------------------------------------------------------
  { 'linalg_matrix_norm(Tensor self, Scalar ord, Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor',
    variants = fn .. ' copied_out', composite = true,
    doc = 'A norm of matrices: 1 and -1 by columns, inf and -inf by rows, 2 and -2 by singular values.' },
  { "linalg_matrix_norm.named(Tensor self, string ord='fro', Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor",
    variants = fn .. ' copied_out', composite = true, doc = "The Frobenius norm ('fro') or the sum of the singular values ('nuc') of matrices." },
  { 'linalg_matrix_rank(Tensor self, *, float? rtol=nil, bool hermitian=false) -> Tensor', variants = fn .. ' copied_out', composite = true,
    doc = 'How many singular values are above rtol times the largest.' },

  { 'linalg_norm(Tensor A, Scalar? ord=nil, Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor', batch = 'through', variants = fn .. ' copied_out', composite = true,
    doc = 'The norm of vectors or of matrices: without ord and dim, of all elements as one vector; of matrices over two dimensions; otherwise of vectors.' },
  { 'linalg_norm.named(Tensor A, string ord, Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor', batch = 'through', variants = fn .. ' copied_out', composite = true,
    doc = "The Frobenius norm ('fro') or the sum of the singular values ('nuc') of matrices." },
  { 'frobenius_norm(Tensor self, Dims? dim=nil, bool keepdim=false) -> Tensor', batch = 'through', variants = fn, composite = true, doc = 'The square root of the sum of squares.' },
  { 'nuclear_norm(Tensor self, Dims? dim=nil, bool keepdim=false) -> Tensor', batch = 'through', variants = fn, composite = true, doc = 'The sum of the singular values.' },
  { 'nuclear_norm.keepdim(Tensor self, bool keepdim) -> Tensor', variants = fn, composite = true, doc = 'The sum of the singular values of a matrix.' },
  { 'linalg_diagonal(Tensor A, *, int offset=0, Dim dim1=-2, Dim dim2=-1) -> Tensor', batch = 'through', variants = fn, composite = true,
    doc = 'A view of the diagonals of the last two dimensions.' },

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
A: Matrix, or a batch of matrices.
B: Right-hand side: a matrix, or a batch of matrices.
b: Right-hand side: a matrix, or a batch of matrices.
L: Cholesky factor, or a batch of them.
LU: Factors that `lu_factor` returned.
LD: Factors that `ldl_factor` returned.
LU_data: Factors that `lu_factor` returned.
LU_pivots: Pivots that `lu_factor` returned.
pivots: Pivots that the factorization returned.
pivot: Whether rows are exchanged, for numerical stability.
check_errors: Whether a failed factorization raises an error; otherwise `info` reports it.
linalg_ldl_factor.hermitian: Whether the matrix is Hermitian; otherwise it is symmetric.
linalg_ldl_factor_ex.hermitian: Whether the matrix is Hermitian; otherwise it is symmetric.
linalg_ldl_solve.hermitian: Whether the matrix is Hermitian; otherwise it is symmetric.
linalg_lu_solve.left: Whether the matrix stands on the left of the product.
ormqr.left: Whether the matrix stands on the left of the product.
cholesky.upper: Whether the factor is the upper triangle; otherwise the lower one.
linalg_cholesky_ex.upper: Whether the factor is the upper triangle; otherwise the lower one.
cholesky_solve.upper: Whether the factor is the upper triangle; otherwise the lower one.
cholesky_inverse.upper: Whether the factor is the upper triangle; otherwise the lower one.
adjoint: Whether the system of the conjugate transpose is solved.
triangular_solve.transpose: Whether the transpose is used.
ormqr.transpose: Whether the transpose, or the conjugate transpose if complex, is used.
unpack_data: Whether L and U are returned; otherwise they are empty.
unpack_pivots: Whether the permutation matrix is returned; otherwise it is empty.
tau: Scalar factors of the reflectors.
orgqr.self: Reflectors, as `geqrf` returns them.
ormqr.self: Reflectors, as `geqrf` returns them.
ormqr.other: Matrix to multiply.
linalg_cond.p: Kind of the norm: `'fro'`, `'nuc'`, inf, -inf, 1, -1, 2 or -2; 2 if absent.
ind: Number of leading dimensions that the map results in.
dims: Dimensions of A that are moved to the end first.
linalg_vecdot.x: First vectors.
linalg_vecdot.y: Second vectors, which broadcast with the first ones.
svd_lowrank.q: Number of singular values, slightly more than the rank that is needed.
pca_lowrank.q: Number of components; min(6, rows, columns) if absent.
niter: Number of subspace iterations, which improve the accuracy.
M: Tensor that is subtracted from A, for example its mean.
center: Whether the mean of the columns is subtracted first.
vander.x: Vector of the bases.
linalg_vander.x: Bases, of shape (..., n).
N: Number of columns; that of the bases if absent.
increasing: Whether the powers increase from left to right.
linalg_norm.ord: Kind of the norm: a number, `'fro'` or `'nuc'`; 2 if absent.
linalg_norm.dim: Dimension of vectors, or two dimensions of matrices.
frobenius_norm.dim: Dimensions over which the norm is computed; all if absent.
nuclear_norm.dim: The two dimensions of the matrices; the last ones if absent.
linalg_diagonal.offset: Diagonal: 0 is the main one, positive ones are above it.
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

linalg_lu_factor
    torch.linalg.lu_factor(torch.tensor{ {1.0, 2.0}, {4.0, 4.0} })
    --> (tensor([[4.0000, 4.0000],
    -->          [0.2500, 1.0000]]),
    -->  tensor([2, 2], dtype=torch.int32))
linalg_lu_factor_ex
    local LU, pivots, info = torch.linalg.lu_factor_ex(torch.eye(2))
    info
    --> tensor(0, dtype=torch.int32)
linalg_lu
    torch.linalg.lu(torch.tensor{ {1.0, 2.0}, {4.0, 4.0} })
    --> (tensor([[0., 1.],
    -->          [1., 0.]]),
    -->  tensor([[1.0000, 0.0000],
    -->          [0.2500, 1.0000]]),
    -->  tensor([[4., 4.],
    -->          [0., 1.]]))
linalg_lu_solve
    local LU, pivots = torch.linalg.lu_factor(torch.tensor{ {2.0, 0.0}, {0.0, 4.0} })
    torch.linalg.lu_solve(LU, pivots, torch.tensor{ {2.0}, {2.0} })
    --> tensor([[1.0000],
    -->         [0.5000]])
lu_solve
    local LU, pivots = torch.linalg.lu_factor(torch.tensor{ {2.0, 0.0}, {0.0, 4.0} })
    torch.lu_solve(torch.tensor{ {2.0}, {2.0} }, LU, pivots)
    --> tensor([[1.0000],
    -->         [0.5000]])
lu_unpack
    local LU, pivots = torch.linalg.lu_factor(torch.tensor{ {1.0, 2.0}, {4.0, 4.0} })
    local P, L, U = torch.lu_unpack(LU, pivots)
    P:matmul(L):matmul(U)
    --> tensor([[1., 2.],
    -->         [4., 4.]])
linalg_ldl_factor
    local LD, pivots = torch.linalg.ldl_factor(torch.tensor{ {4.0, 2.0}, {2.0, 5.0} })
    LD
    --> tensor([[4.0000, 0.0000],
    -->         [0.5000, 4.0000]])
linalg_ldl_factor_ex
    local LD, pivots, info = torch.linalg.ldl_factor_ex(torch.eye(2))
    info
    --> tensor(0, dtype=torch.int32)
linalg_ldl_solve
    local LD, pivots = torch.linalg.ldl_factor(torch.tensor{ {4.0, 0.0}, {0.0, 5.0} })
    torch.linalg.ldl_solve(LD, pivots, torch.tensor{ {4.0}, {10.0} })
    --> tensor([[1.],
    -->         [2.]])
linalg_cholesky_ex
    local L, info = torch.linalg.cholesky_ex(torch.tensor{ {1.0, 0.0}, {0.0, -1.0} })
    info
    --> tensor(2, dtype=torch.int32)
linalg_inv_ex
    local inverse, info = torch.linalg.inv_ex(torch.zeros(2, 2))
    info
    --> tensor(1, dtype=torch.int32)
linalg_solve_ex
    torch.linalg.solve_ex(torch.eye(2) * 2, torch.tensor{ {2.0}, {4.0} })
    --> (tensor([[1.],
    -->          [2.]]),
    -->  tensor(0, dtype=torch.int32))
cholesky_solve
    L = torch.tensor{ {2.0, 0.0}, {0.0, 1.0} }
    torch.cholesky_solve(torch.tensor{ {4.0}, {3.0} }, L)
    --> tensor([[1.],
    -->         [3.]])
cholesky_inverse
    torch.cholesky_inverse(torch.tensor{ {2.0, 0.0}, {0.0, 1.0} })
    --> tensor([[0.2500, 0.0000],
    -->         [0.0000, 1.0000]])
triangular_solve
    local solution = torch.triangular_solve(torch.tensor{ {3.0}, {4.0} }, torch.tensor{ {1.0, 1.0}, {0.0, 2.0} })
    solution
    --> tensor([[1.],
    -->         [2.]])
geqrf
    local a, tau = torch.geqrf(torch.tensor{ {3.0, 1.0}, {4.0, 2.0} })
    a.shape, tau.shape
    --> (torch.Size([2, 2]), torch.Size([2]))
linalg_householder_product
    local a, tau = torch.geqrf(torch.tensor{ {3.0, 1.0}, {4.0, 2.0} })
    local Q = torch.linalg.householder_product(a, tau)
    Q:t():matmul(Q):round{decimals = 3}:abs()
    --> tensor([[1., 0.],
    -->         [0., 1.]])
orgqr
    local a, tau = torch.geqrf(torch.tensor{ {3.0, 1.0}, {4.0, 2.0} })
    torch.allclose(torch.orgqr(a, tau):matmul(a:triu()), torch.tensor{ {3.0, 1.0}, {4.0, 2.0} })
    --> true
ormqr
    local a, tau = torch.geqrf(torch.tensor{ {3.0, 1.0}, {4.0, 2.0} })
    torch.allclose(torch.ormqr(a, tau, a:triu()), torch.tensor{ {3.0, 1.0}, {4.0, 2.0} })
    --> true

linalg_matrix_exp
    torch.linalg.matrix_exp(torch.tensor{ {0.0, 1.0}, {0.0, 0.0} })
    --> tensor([[1., 1.],
    -->         [0., 1.]])
matrix_exp
    torch.matrix_exp(torch.zeros(2, 2))
    --> tensor([[1., 0.],
    -->         [0., 1.]])
linalg_cond
    torch.linalg.cond(torch.tensor{ {2.0, 0.0}, {0.0, 4.0} })
    --> tensor(2.)
linalg_tensorinv
    torch.linalg.tensorinv(torch.eye(4):reshape(2, 2, 4), 2).shape
    --> torch.Size([4, 2, 2])
linalg_tensorsolve
    torch.linalg.tensorsolve(torch.eye(4):reshape(2, 2, 2, 2), torch.tensor{ {1.0, 2.0}, {3.0, 4.0} })
    --> tensor([[1., 2.],
    -->         [3., 4.]])
linalg_vecdot
    torch.linalg.vecdot(torch.tensor{ {1.0, 2.0}, {3.0, 4.0} }, torch.ones(2, 2))
    --> tensor([3., 7.])
svd_lowrank
    torch.manual_seed(0);
    local U, S, V = torch.svd_lowrank(torch.tensor{ {3.0, 0.0}, {0.0, 2.0} }, 2)
    S:round{decimals = 3}
    --> tensor([3., 2.])
pca_lowrank
    torch.manual_seed(0);
    local U, S, V = torch.pca_lowrank(torch.tensor{ {1.0, 0.0}, {-1.0, 0.0}, {0.0, 0.0} }, 1)
    S:round{decimals = 3}
    --> tensor([1.4140])
linalg_matrix_norm
    torch.linalg.matrix_norm(torch.tensor{ {3.0, 0.0}, {0.0, 4.0} })
    --> tensor(5.)
    torch.linalg.matrix_norm(torch.tensor{ {3.0, 0.0}, {0.0, 4.0} }, {ord = 'nuc'})
    --> tensor(7.)
linalg_matrix_rank
    torch.linalg.matrix_rank(torch.tensor{ {1.0, 2.0}, {2.0, 4.0} })
    --> tensor(1)
vander
    torch.vander(torch.tensor{1, 2, 3})
    --> tensor([[1, 1, 1],
    -->         [4, 2, 1],
    -->         [9, 3, 1]])
linalg_vander
    torch.linalg.vander(torch.tensor{1, 2, 3})
    --> tensor([[1, 1, 1],
    -->         [1, 2, 4],
    -->         [1, 3, 9]])
frobenius_norm
    torch.frobenius_norm(torch.tensor{ {3.0, 0.0}, {0.0, 4.0} })
    --> tensor(5.)
nuclear_norm
    torch.nuclear_norm(torch.tensor{ {3.0, 0.0}, {0.0, 4.0} })
    --> tensor(7.)
linalg_norm
    torch.linalg.norm(torch.tensor{ {3.0, 0.0}, {0.0, 4.0} })
    --> tensor(5.)
linalg_diagonal
    torch.linalg.diagonal(torch.tensor{ {1, 2}, {3, 4} })
    --> tensor([1, 4])
]=],
}
