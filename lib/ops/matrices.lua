-- matrices.lua - composite functions of matrices: exponentials, condition numbers, inverses and
-- solutions of tensors, decompositions of low rank.

local torch = require 'torch'
local dimensions = require 'torch.support.dimensions'
local fail = require 'torch.support.fail'
local matrix_batches = require 'torch.support.matrix_batches'
local check_matrix, check_square = matrix_batches.check_matrix, matrix_batches.check_square
local batch_of, eye_like = matrix_batches.batch_of, matrix_batches.eye_like
local like = matrix_batches.like

local both = 'function method'

-- ---- functions of matrices ----------------------------------------------------------------------

-- Pade's approximant of order 13 (N. Higham, The scaling and squaring method for the matrix
-- exponential revisited, 2005).
local PADE = { 64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
  670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0 }

-- A batched tensor with all its batches.
local function every_sample(A)
  local depth = torch._C.batch_depth()
  return depth > 0 and torch._C.batch_show_below(A, depth) or A
end

local function matrix_exp(A)
  check_square('linalg.matrix_exp', A)
  if not (A.dtype.is_floating_point or A.dtype.is_complex) then fail('linalg.matrix_exp: Expected a floating point or complex tensor as input. Got %s', tostring(A.dtype)) end
  if A:numel() == 0 then return A:clone() end
  if A.dtype == torch.float16 or A.dtype == torch.bfloat16 then return matrix_exp(A:float()):to(A.dtype) end
  local n = A:size(-1)
  if n == 1 then return A:exp() end
  local size = every_sample(A:detach()):abs():sum(-2):max():item()
  local squarings = size > 5.4 and size < math.huge and math.max(0, math.ceil(math.log(size / 5.371920351148152, 2))) or 0
  local x, one = A * 2.0 ^ -squarings, eye_like(A, n)
  local x2 = x:matmul(x)
  local x4 = x2:matmul(x2)
  local x6 = x4:matmul(x2)
  local odd = x:matmul(x6:matmul(x6 * PADE[14] + x4 * PADE[12] + x2 * PADE[10]) + x6 * PADE[8] + x4 * PADE[6] + x2 * PADE[4] + one * PADE[2])
  local even = x6:matmul(x6 * PADE[13] + x4 * PADE[11] + x2 * PADE[9]) + x6 * PADE[7] + x4 * PADE[5] + x2 * PADE[3] + one * PADE[1]
  local result = torch.linalg.solve(even - odd, even + odd)
  for _ = 1, squarings do result = result:matmul(result) end
  return result
end

local function cond(A, p)
  check_matrix('linalg.cond', A)
  if p == nil or p == 2 or p == -2 then
    local values = torch.linalg.svdvals(A)
    if values:size(-1) == 0 then return torch.zeros(batch_of(A), like(A)) end
    local largest, least = values:select(-1, 1), values:select(-1, -1)
    if p == -2 then return least / largest end
    return largest / least
  end
  check_square('linalg.cond', A)
  if A:numel() == 0 then return torch.zeros(batch_of(A), like(A)) end
  local inverse, info = torch.linalg.inv_ex(A)
  local product = torch.linalg.matrix_norm(A, p) * torch.linalg.matrix_norm(inverse, p)
  return torch.where(info:ne(0), math.huge, product)
end

local function product_of(shape, first, last)
  local n = 1
  for d = first, last do n = n * shape[d] end
  return n
end

local function tensorinv(A, ind)
  if ind <= 0 then fail 'Expected a strictly positive integer for \'ind\'' end
  local head, tail = product_of(A.shape, 1, ind), product_of(A.shape, ind + 1, A.ndim)
  if head ~= tail then
    fail('Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got %d != %d', tail, head)
  end
  local shape = table.move(A.shape, ind + 1, A.ndim, 1, {})
  table.move(A.shape, 1, ind, #shape + 1, shape)
  return torch.linalg.inv(A:reshape(head, tail)):reshape(shape)
end

local function tensorsolve(A, B, moved)
  if moved then
    local behind, last, order = dimensions.wrap_all(moved, A.ndim), {}, {}
    for _, d in ipairs(behind) do last[d] = true end
    for d = 1, A.ndim do if not last[d] then order[#order + 1] = d end end
    A = A:permute(table.move(behind, 1, #behind, #order + 1, order))
  end
  local shape = table.move(A.shape, B.ndim + 1, A.ndim, 1, {})
  local n = product_of(shape, 1, #shape)
  if n ~= B:numel() then
    fail('Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got %d != %d', n, B:numel())
  end
  return torch.linalg.solve(A:reshape(-1, n), B:reshape(-1)):reshape(shape)
end

-- ---- of low rank --------------------------------------------------------------------------------

-- q orthonormal columns that span most of the range of A (N. Halko, P. Martinsson, J. Tropp:
-- Finding structure with randomness, 2009).
local function basis_of(A, q, rounds)
  local function orthonormal(x) return (torch.linalg.qr(x)) end
  local Q = orthonormal(A:matmul(torch.randn(A:size(-1), q, like(A))))
  for _ = 1, rounds do Q = orthonormal(A:matmul(orthonormal(A.mH:matmul(Q)))) end
  return Q
end

local function svd_lowrank(A, q, rounds, M)
  check_matrix('svd_lowrank', A)
  if M then A = A - M:expand(A.shape) end
  local wide = A:size(-2) < A:size(-1)
  if wide then A = A.mH end
  local Q = basis_of(A:detach(), q, rounds)
  local U, S, Vh = torch.linalg.svd(Q.mH:matmul(A), false)
  U = Q:matmul(U)
  if wide then return Vh.mH, S, U end
  return U, S, Vh.mH
end

local function pca_lowrank(A, q, center, rounds)
  check_matrix('pca_lowrank', A)
  local m, n = A:size(-2), A:size(-1)
  q = q or math.min(6, m, n)
  if q < 0 or q > math.min(m, n) then fail('q(=%d) must be non-negative integer and not greater than min(m, n)=%d', q, math.min(m, n)) end
  if rounds < 0 then fail('niter(=%d) must be non-negative integer', rounds) end
  return svd_lowrank(center and A - A:mean(-2, true) or A, q, rounds)
end

local function vecdot(x, y, dim)
  if not x.dtype.is_floating_point and x.dtype == torch.bool then fail 'linalg.vecdot: bool is not supported' end
  return (x:conj() * y):sum(dim)
end

local function entry(signature, run, doc, variants, aliases) return { signature, variants = variants or 'function copied_out', run = run, doc = doc, aliases = aliases } end

return {
  entry('linalg_matrix_exp(Tensor self) -> Tensor', matrix_exp, 'The exponential of each matrix.', 'function'),
  entry('matrix_exp(Tensor self) -> Tensor', matrix_exp, 'The exponential of each matrix.', both),
  entry('linalg_cond(Tensor A, Scalar? p=nil) -> Tensor', cond, 'The condition of each matrix: the norm p of it times that of its inverse.'),
  entry('linalg_cond.named(Tensor A, string p) -> Tensor', cond, "The condition of each matrix by the norm 'fro' or 'nuc'."),
  entry('linalg_tensorinv(Tensor A, int ind=2) -> Tensor', tensorinv, 'The inverse of A as a map of its last dimensions to its first `ind` ones.'),
  entry('linalg_tensorsolve(Tensor A, Tensor B, Dims? dims=nil) -> Tensor', tensorsolve, 'X with tensordot(A, X) = B.'),
  entry('linalg_vecdot(Tensor x, Tensor y, *, Dim dim=-1) -> Tensor', vecdot, 'The sums of products of vectors along a dimension, the first of which is conjugated where it is complex.'),
  entry('svd_lowrank(Tensor A, int q=6, int niter=2, Tensor? M=nil) -> (Tensor U, Tensor S, Tensor V)', svd_lowrank,
    'The q largest singular values and their vectors, about, of A or A - M, found from random directions.', 'function'),
  entry('pca_lowrank(Tensor A, int? q=nil, bool center=true, int niter=2) -> (Tensor U, Tensor S, Tensor V)', pca_lowrank,
    'The q principal components, about, of rows, by svd_lowrank.', 'function'),

  arguments = [=[
A: Matrix, or a batch of matrices.
B: Right-hand side: a matrix, or a batch of matrices.
linalg_cond.p: Kind of the norm: `'fro'`, `'nuc'`, inf, -inf, 1, -1, 2 or -2; 2 if absent.
ind: Number of leading dimensions that the map results in.
dims: Dimensions of A that are moved to the end first.
x: First vectors.
y: Second vectors, which broadcast with the first ones.
svd_lowrank.q: Number of singular values, slightly more than the rank that is needed.
pca_lowrank.q: Number of components; min(6, rows, columns) if absent.
niter: Number of subspace iterations, which improve the accuracy.
M: Tensor that is subtracted from A, for example its mean.
center: Whether the mean of the columns is subtracted first.
]=],

  examples = [=[
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
]=],
}
