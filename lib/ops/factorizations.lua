-- factorizations.lua - factorizations of matrices and solutions from their factors: LU, LDL,
-- Cholesky, triangles, Householder reflectors, and the variants that report errors in info instead
-- of raising.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local matrix_batches = require 'torch.support.matrix_batches'
local check_matrix, check_square = matrix_batches.check_matrix, matrix_batches.check_square
local check_kind, like = matrix_batches.check_kind, matrix_batches.like
local batch_of, appended = matrix_batches.batch_of, matrix_batches.appended
local eye_like, rows, columns = matrix_batches.eye_like, matrix_batches.rows, matrix_batches.columns
local triangular = matrix_batches.triangular

local both = 'function method'

-- ---- LU -----------------------------------------------------------------------------------------

-- LU, pivots and info of matrices of any shape, which are padded with zeros to square ones; this
-- changes no relevant pivot.
local function factor(A)
  local m, n = A:size(-2), A:size(-1)
  local k, size = math.min(m, n), math.max(m, n)
  local square = A
  if m ~= n then
    square = torch.zeros(appended(batch_of(A), size, size), like(A))
    rows(columns(square, 1, n), 1, m):copy_(A)
  end
  local LU, pivots, info = torch._C._linalg_lu(square)
  if m ~= n then LU, info = rows(columns(LU, 1, n), 1, m), torch.where(info:gt(k), 0, info):to(torch.int32) end
  return LU, pivots:narrow(-1, 1, k), info
end

-- The positions from 1 of the rows of A in P' A, by the exchanges that the pivots are.
local function order_of(pivots, m)
  local order = torch.arange(1, m + 1, { device = pivots.device }):expand(appended(table.move(pivots.shape, 1, pivots.ndim - 1, 1, {}), m))
  local places = pivots:to(torch.int64)
  for i = 1, pivots:size(-1) do
    local at, here = places:narrow(-1, i, 1), torch.full_like(places:narrow(-1, i, 1), i)
    local own, other = order:gather(-1, here), order:gather(-1, at)
    order = order:scatter(-1, at, own):scatter(-1, here, other)
  end
  return order
end

local function permutation(pivots, m, dtype)
  local order = order_of(pivots, m)
  local P = torch.zeros(appended(table.move(order.shape, 1, order.ndim, 1, {}), m), { dtype = dtype, device = pivots.device })
  return P:scatter(-2, order:unsqueeze(-2), 1)
end

local function lower_of(LU)
  local k = math.min(LU:size(-2), LU:size(-1))
  local L = columns(LU, 1, k):tril(-1)
  return L + torch.eye(LU:size(-2), k, like(LU))
end

local function upper_of(LU) return rows(LU, 1, math.min(LU:size(-2), LU:size(-1))):triu() end

local lu_function

-- The derivative of LU by A, from the derivatives of the factors: for the square part by its
-- triangles; the part below or beside it is the solution of a system with the other factor.
local function lu_backward(grad, LU, pivots)
  local m, n = LU:size(-2), LU:size(-1)
  local k = math.min(m, n)
  local L, U = rows(lower_of(LU), 1, k), columns(upper_of(LU), 1, k)
  local square = columns(rows(grad, 1, k), 1, k)
  local by_lower, by_upper = square:tril(-1), square:triu()
  local rest
  if m > n then
    rest = triangular(U, rows(grad, k + 1, m).mH, true).mH
    by_upper = by_upper - rows(LU, k + 1, m).mH:matmul(rest)
  elseif n > m then
    rest = triangular(L.mH, columns(grad, k + 1, n), true, true, true)
    by_lower = by_lower - rest:matmul(columns(LU, k + 1, n).mH)
  end
  local inner = L.mH:matmul(by_lower):tril(-1) + by_upper:matmul(U.mH):triu()
  -- X U^-H = (U^-1 X^H)^H; U is upper, so U^-1 X^H is a solution with U itself
  local of_square = triangular(L.mH, triangular(U, inner.mH, true).mH, true, true, true)
  if m > n then
    of_square = torch.cat({ of_square, rest }, -2)
  elseif n > m then
    of_square = torch.cat({ of_square, rest }, -1)
  end
  return permutation(pivots, m, LU.dtype):matmul(of_square)
end

-- The tangent of LU, from the tangent of A: with M = L^-1 P' T U^-1 of the square part, L changes
-- by L tril(M, -1) and U by triu(M) U; the part below or beside it remains the solution of a system
-- with the other factor.
local function lu_tangent(tangent, LU, pivots)
  local m, n = LU:size(-2), LU:size(-1)
  local k = math.min(m, n)
  local L, U = rows(lower_of(LU), 1, k), columns(upper_of(LU), 1, k)
  local moved = permutation(pivots, m, LU.dtype).mH:matmul(tangent)
  local square = triangular(L, columns(rows(moved, 1, k), 1, k), false, true, true)
  local M = triangular(U, square, true, false)
  local of_lower, of_upper = M:tril(-1), M:triu():matmul(U)
  local result = L:matmul(of_lower) + of_upper
  if m > n then
    local below = rows(moved, k + 1, m) - rows(LU, k + 1, m):matmul(of_upper)
    result = torch.cat({ result, triangular(U, below, true, false) }, -2)
  elseif n > m then
    local beside = triangular(L, columns(moved, k + 1, n), false, true, true)
    result = torch.cat({ result, beside - of_lower:matmul(columns(LU, k + 1, n)) }, -1)
  end
  return result
end

-- LU with its derivative, pivots, info.
local function lu_with_info(A)
  check_matrix('linalg.lu_factor', A)
  check_kind('linalg.lu_factor', A)
  if not lu_function then
    lu_function = torch.autograd.Function:extend 'LinalgLuFactorEx'
    function lu_function.forward(context, matrix)
      local LU, pivots, info = factor(matrix)
      LU = LU:clone()
      context:save_for_backward(LU, pivots)
      context:save_for_forward(LU, pivots)
      context:mark_non_differentiable(pivots, info)
      return LU, pivots, info
    end
    function lu_function.backward(context, grad)
      local LU, pivots = table.unpack(context.saved_tensors)
      return lu_backward(grad, LU, pivots)
    end
    function lu_function.vmap(_, dims, matrix) return { lu_function.apply(matrix:movedim(dims[1], 1)) }, { 1, 1, 1 } end
    function lu_function.jvp(context, tangent)
      local LU, pivots = table.unpack(context.saved_tensors)
      return tangent and lu_tangent(tangent, LU, pivots), nil, nil
    end
  end
  return lu_function.apply(A)
end

local function check_info(what, info, A)
  local bad = info:gt(0)
  if info:numel() == 0 or not bad:any():item() then return end
  local at = A.ndim > 2 and ('(Batch element %d): '):format(bad:flatten():nonzero()[1][1]:item()) or ''
  fail('%s: %sU[%d,%d] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)',
    what, at, info:max():item(), info:max():item())
end

local function check_pivot(what, pivot) if not pivot then fail('%s: LU without pivoting is not implemented on the CPU', what) end end

local function lu_factor_ex(A, pivot, check_errors)
  check_pivot('linalg.lu_factor', pivot)
  local LU, pivots, info = lu_with_info(A)
  if check_errors then check_info('torch.linalg.lu_factor_ex', info, A) end
  return LU, pivots, info
end

local function lu_factor(A, pivot)
  check_pivot('linalg.lu_factor', pivot)
  local LU, pivots, info = lu_with_info(A)
  check_info('torch.linalg.lu_factor', info, A)
  return LU, pivots
end

local function check_pivot_shape(what, name, A, pivots, k)
  if table.concat(pivots.shape, ',') ~= table.concat(appended(batch_of(A), k), ',') then
    fail('%s: Expected pivots with shape %s for %s with shape %s, but got pivots with shape %s instead', what, tostring(torch.Size(appended(batch_of(A), k))), name,
      tostring(A.shape), tostring(pivots.shape))
  end
end

local function lu_unpack(LU, pivots, unpack_data, unpack_pivots)
  check_matrix('torch.lu_unpack', LU)
  if pivots.dtype ~= torch.int32 then
    fail 'torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function is intended to be used with the output produced by torch.linalg.lu_factor'
  end
  check_pivot_shape('torch.lu_unpack', 'LU', LU, pivots, math.min(LU:size(-2), LU:size(-1)))
  local none = torch.empty(0, like(LU))
  local P = unpack_pivots and permutation(pivots, LU:size(-2), LU.dtype) or none
  if not unpack_data then return P, none, none:clone() end
  return P, lower_of(LU), upper_of(LU)
end

local function lu(A, pivot)
  check_pivot('linalg.lu', pivot)
  local LU, pivots = lu_with_info(A)
  return permutation(pivots, A:size(-2), A.dtype), lower_of(LU), upper_of(LU)
end

-- X with A X = B, A^H X = B (adjoint), X A = B or X A^H = B, from the factors of A.
local function lu_solve(LU, pivots, B, left, adjoint)
  check_square('torch.linalg.lu_solve', LU)
  check_kind('torch.linalg.lu_solve', LU)
  if LU.dtype ~= B.dtype then
    fail('linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type %s and B of type %s instead', tostring(LU.dtype), tostring(B.dtype))
  end
  if pivots.dtype ~= torch.int32 then fail('linalg.lu_solve: pivots should be a Tensor of dtype torch.int32, but got %s', tostring(pivots.dtype)) end
  check_pivot_shape('linalg.lu_solve', 'LU', LU, pivots, LU:size(-1))
  if not left then return lu_solve(LU, pivots, B.mH, true, not adjoint).mH end
  if B.ndim < 2 then fail 'linalg.lu_solve: The input tensor B must have at least 2 dimensions.' end
  if B:size(-2) ~= LU:size(-1) then
    fail('linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B (%dx%d and %dx%d)', LU:size(-2), LU:size(-1), B:size(-2), B:size(-1))
  end
  local P = permutation(pivots, LU:size(-2), LU.dtype)
  if adjoint then
    return P:matmul(triangular(LU.mH, triangular(LU.mH, B, false), true, true, true))
  end
  return triangular(LU, triangular(LU, P.mH:matmul(B), false, true, true), true)
end

-- ---- without raising ----------------------------------------------------------------------------

-- f(A, more) for all matrices at once; if that fails, one by one: info is nonzero for the failing
-- ones.
local function each(A, f, number_of)
  local ok, result = pcall(f, A)
  if ok then return result, torch.zeros(batch_of(A), { dtype = torch.int32, device = A.device }) end
  if A.ndim == 2 then return A:detach():clone(), torch.tensor(number_of(result), { dtype = torch.int32, device = A.device }) end
  local flat, results, numbers = A:reshape(appended({ -1 }, A:size(-2), A:size(-1))), {}, {}
  for i, matrix in flat:iter() do
    local fine, value = pcall(f, matrix)
    results[i], numbers[i] = fine and value or matrix:detach():clone(), fine and 0 or number_of(value)
  end
  return torch.stack(results):reshape(A.shape), torch.tensor(numbers, { dtype = torch.int32, device = A.device }):reshape(batch_of(A))
end

local function number_in(message) return math.tointeger(tonumber(tostring(message):match 'order (%d+)' or tostring(message):match 'element (%d+)' or 1)) end

local function cholesky_ex(A, upper, check_errors)
  check_square('linalg.cholesky_ex', A)
  check_kind('linalg.cholesky_ex', A)
  if check_errors then return torch.linalg.cholesky(A, upper), torch.zeros(batch_of(A), { dtype = torch.int32, device = A.device }) end
  return each(A, function(matrix) return torch.linalg.cholesky(matrix, upper) end, number_in)
end

local function inv_ex(A, check_errors)
  check_square('linalg.inv_ex', A)
  check_kind('linalg.inv_ex', A)
  if check_errors then return torch.linalg.inv(A), torch.zeros(batch_of(A), { dtype = torch.int32, device = A.device }) end
  return each(A, torch.linalg.inv, number_in)
end

local function solve_ex(A, B, left, check_errors)
  check_square('linalg.solve', A)
  check_kind('linalg.solve', A)
  local _, _, info = factor(A:detach())
  if check_errors or not info:ne(0):any():item() then return torch.linalg.solve(A, B, { left = left }), info end
  local whole = A:masked_fill(info:ne(0):unsqueeze(-1):unsqueeze(-1), 0) + torch.diag_embed(info:ne(0):to(A.dtype):unsqueeze(-1):expand(appended(batch_of(A), A:size(-1))))
  return torch.linalg.solve(whole, B, { left = left }), info
end

-- ---- symmetric matrices that need not be positive -----------------------------------------------

local function ldl_factor_ex(A, hermitian, check_errors)
  local LD, pivots, info = torch._C._linalg_ldl(A, hermitian)
  if check_errors and info:ne(0):any():item() then
    fail('torch.linalg.ldl_factor_ex: The factorization could not be completed because a block of D is 0 (block %d)', info:max():item())
  end
  return LD, pivots, info
end

local function ldl_factor(A, hermitian)
  local LD, pivots = ldl_factor_ex(A, hermitian, true)
  return LD, pivots
end

local function ldl_solve(LD, pivots, B, hermitian)
  check_square('torch.linalg.ldl_solve', LD)
  check_kind('torch.linalg.ldl_solve', LD)
  if B.ndim < 2 then fail('torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has %d dimensions instead', B.ndim) end
  if LD:size(-1) ~= B:size(-2) then
    fail('torch.linalg.ldl_solve: Incompatible shapes of LD and B for the equation AX = B (%dx%d and %dx%d)', LD:size(-2), LD:size(-1), B:size(-2), B:size(-1))
  end
  check_pivot_shape('torch.linalg.ldl_solve', 'LD', LD, pivots, LD:size(-1))
  if pivots.dtype.is_floating_point or pivots.dtype.is_complex or pivots.dtype == torch.bool then
    fail('torch.linalg.ldl_solve: Expected pivots to be integers. Got %s', tostring(pivots.dtype))
  end
  if LD.dtype ~= B.dtype then fail('torch.linalg.ldl_solve: LD dtype %s does not match b dtype %s', tostring(LD.dtype), tostring(B.dtype)) end
  local batch = torch.broadcast_shapes(torch.Size(batch_of(LD)), torch.Size(batch_of(B)))
  return torch._C._linalg_ldl_solve(LD, pivots:to(torch.int32), B:expand(appended(table.move(batch, 1, #batch, 1, {}), B:size(-2), B:size(-1))), hermitian)
end

-- ---- Cholesky, triangles ------------------------------------------------------------------------

local function check_right_side(what, A, B)
  if B.ndim < 2 then fail('%s: b should have at least 2 dimensions, but has %d dimensions instead', what, B.ndim) end
  if B:size(-2) ~= A:size(-1) then
    fail('%s: Incompatible matrix sizes: each A matrix is %d by %d but each b matrix is %d by %d', what, A:size(-2), A:size(-1), B:size(-2), B:size(-1))
  end
  if A.dtype ~= B.dtype then
    fail('%s: Expected b and A to have the same dtype, but found b of type %s and A of type %s instead', what, tostring(B.dtype), tostring(A.dtype))
  end
end

local function cholesky_solve(B, L, upper)
  check_square('cholesky_solve', L)
  check_right_side('cholesky_solve', L, B)
  if upper then return triangular(L, triangular(L.mH, B, false), true) end
  return triangular(L.mH, triangular(L, B, false), true)
end

local function cholesky_inverse(L, upper)
  check_square('cholesky_inverse', L)
  return cholesky_solve(eye_like(L, L:size(-1)):expand(L.shape), L, upper)
end

local function triangular_solve(B, A, upper, transpose, unitriangular)
  check_square('triangular_solve', A)
  check_right_side('triangular_solve', A, B)
  local M = transpose and A.mT or A
  return triangular(M, B, upper ~= transpose, true, unitriangular), A:clone()
end

-- ---- Householder's reflectors -------------------------------------------------------------------

-- x - tau v v^H x, for the i-th reflector below the diagonal of A; the first i - 1 rows are not
-- used.
local function reflect(A, tau, i, x)
  local m = A:size(-2)
  local below = A:select(-1, i):narrow(-1, i + 1, m - i):unsqueeze(-1)
  local v = torch.cat({ torch.zeros(appended(batch_of(A), i - 1, 1), like(A)), torch.ones(appended(batch_of(A), 1, 1), like(A)), below }, -2)
  return x - tau:narrow(-1, i, 1):unsqueeze(-1) * v:matmul(v.mH:matmul(x))
end

-- Checks the arguments of the function `what`: Householder reflectors A, and tau, one number for
-- each.
local function check_reflectors(what, A, tau)
  check_matrix(what, A)
  if tau.ndim ~= A.ndim - 1 then
    fail('%s: Expected tau to have one dimension less than input, but got tau.ndim equal to %d and input.ndim is equal to %d', what, tau.ndim, A.ndim)
  end
  for d = 1, A.ndim - 2 do
    if tau:size(d) ~= A:size(d) then
      fail('%s: Expected batch dimensions of tau to be equal to those of input, but got shapes %s and %s', what, tostring(tau.shape), tostring(A.shape))
    end
  end
  if tau.dtype ~= A.dtype then fail('%s: tau dtype %s does not match input dtype %s', what, tostring(tau.dtype), tostring(A.dtype)) end
end

local function householder_product(A, tau)
  check_reflectors('torch.linalg.householder_product', A, tau)
  if A:size(-2) < A:size(-1) then fail 'torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]' end
  if A:size(-1) < tau:size(-1) then fail 'torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]' end
  local x = torch.eye(A:size(-2), A:size(-1), like(A)):expand(A.shape)
  for i = tau:size(-1), 1, -1 do x = reflect(A, tau, i, x) end
  return x:clone()
end

local function ormqr(A, tau, C, left, transpose)
  check_reflectors('torch.ormqr', A, tau)
  if C.ndim < 2 then fail 'torch.ormqr: other must have at least 2 dimensions.' end
  if C.ndim ~= A.ndim then
    fail('torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to %d and input.ndim is equal to %d', C.ndim, A.ndim)
  end
  local along = left and -2 or -1
  if tau:size(-1) ~= math.min(C:size(along), A:size(-1)) then
    fail('torch.ormqr: tau.shape[-1] must be equal to min(other.shape[%d], input.shape[-1])', along)
  end
  if A:size(-2) ~= C:size(along) then fail('torch.ormqr: other.shape[%d] must be equal to input.shape[-2]', along) end
  if not left then return ormqr(A, tau, C.mH, true, not transpose).mH end
  local k = tau:size(-1)
  if transpose then tau = tau:conj() end -- the adjoint of 1 - tau v v^H
  for i = transpose and 1 or k, transpose and k or 1, transpose and 1 or -1 do C = reflect(A, tau, i, C) end
  return C:clone()
end

local function entry(signature, run, doc, variants, aliases) return { signature, variants = variants or 'function copied_out', run = run, doc = doc, aliases = aliases } end

return {
  entry('linalg_lu_factor(Tensor A, *, bool pivot=true) -> (Tensor LU, Tensor pivots)', lu_factor,
    'The factors of P L U = A in one tensor, L below the diagonal, and the rows, from 1, that were exchanged.'),
  entry('linalg_lu_factor_ex(Tensor A, *, bool pivot=true, bool check_errors=false) -> (Tensor LU, Tensor pivots, Tensor info)', lu_factor_ex,
    'lu_factor, and of each matrix which element of the diagonal of U is 0, or 0.'),
  entry('linalg_lu(Tensor A, *, bool pivot=true) -> (Tensor P, Tensor L, Tensor U)', lu, 'A permutation, a lower triangle of ones and an upper triangle with P L U = A.'),
  entry('linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=true, bool adjoint=false) -> Tensor', lu_solve,
    "X with A X = B, from the results of lu_factor(A); left = false: X A = B; adjoint: A^H X = B."),
  entry('lu_solve(Tensor b, Tensor LU_data, Tensor LU_pivots) -> Tensor', function(b, LU, pivots) return lu_solve(LU, pivots, b, true, false) end,
    'X with A X = b, from the results of lu_factor(A).', both .. ' copied_out'),
  entry('lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=true, bool unpack_pivots=true) -> (Tensor P, Tensor L, Tensor U)', lu_unpack,
    'The results of lu_factor as three matrices.'),
  entry('lu(Tensor A, bool pivot=true, bool get_infos=false) -> (Tensor LU, Tensor pivots, Tensor infos)', function(A, pivot, get_infos)
    check_pivot('lu', pivot)
    local LU, pivots, info = lu_with_info(A)
    if get_infos then return LU, pivots, info end
    return LU, pivots
  end, 'The factors of lu_factor and the pivots, with get_infos also the info.', both .. ' copied_out'),
  entry('linalg_ldl_factor(Tensor A, *, bool hermitian=false) -> (Tensor LD, Tensor pivots)', ldl_factor,
    "L and D of symmetric matrices L D L' (hermitian: L D L^H), which need not be positive, in one tensor; D has blocks of 1 and 2 rows. LAPACK computes them, on the host. "
    .. "The pivots are the rows, from 1, that were exchanged, negative for blocks of 2."),
  entry('linalg_ldl_factor_ex(Tensor A, *, bool hermitian=false, bool check_errors=false) -> (Tensor LD, Tensor pivots, Tensor info)', ldl_factor_ex,
    'ldl_factor, and of each matrix which block of D is 0, or 0.'),
  entry('linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=false) -> Tensor', ldl_solve, 'X with A X = B, from the results of ldl_factor(A).'),
  entry('linalg_cholesky_ex(Tensor A, *, bool upper=false, bool check_errors=false) -> (Tensor L, Tensor info)', cholesky_ex,
    'cholesky, and of each matrix the order of the minor that is not positive, or 0.'),
  entry('linalg_inv_ex(Tensor A, *, bool check_errors=false) -> (Tensor inverse, Tensor info)', inv_ex, 'The inverse, and of each matrix whether it has none.'),
  entry('linalg_solve_ex(Tensor A, Tensor B, *, bool left=true, bool check_errors=false) -> (Tensor result, Tensor info)', solve_ex,
    'solve, and of each matrix whether it is singular.'),
  entry('cholesky_solve(Tensor B, Tensor L, bool upper=false) -> Tensor', cholesky_solve, "X with L L^H X = B.", both .. ' copied_out'),
  entry('cholesky_inverse(Tensor L, bool upper=false) -> Tensor', cholesky_inverse, "The inverse of L L^H.", both .. ' copied_out'),
  entry('triangular_solve(Tensor b, Tensor A, bool upper=true, bool transpose=false, bool unitriangular=false) -> (Tensor solution, Tensor cloned_coefficient)',
    triangular_solve, 'X with A X = b for a triangular matrix A, and a copy of A.', both .. ' copied_out'),
  entry('geqrf(Tensor self) -> (Tensor a, Tensor tau)', function(A) return torch._C._linalg_reflectors(A) end,
    'The QR factorization as LAPACK leaves it: R above the diagonal, reflectors below it, and the factors of these.', both .. ' copied_out'),
  entry('linalg_householder_product(Tensor A, Tensor tau) -> Tensor', householder_product, 'The first columns of the product of the reflectors below the diagonal of A.'),
  entry('orgqr(Tensor self, Tensor tau) -> Tensor', householder_product, 'linalg.householder_product.', both .. ' copied_out'),
  entry('ormqr(Tensor self, Tensor tau, Tensor other, bool left=true, bool transpose=false) -> Tensor', ormqr,
    'other times the product of reflectors, from the left or the right.', both .. ' copied_out'),

  arguments = [=[
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
get_infos: Whether `infos` is returned, too: 0, or the position of a zero pivot.
hermitian: Whether the matrix is Hermitian; otherwise it is symmetric.
left: Whether the matrix stands on the left of the product.
upper: Whether the upper triangle is used; otherwise the lower one.
adjoint: Whether the system of the conjugate transpose is solved.
transpose: Whether the transpose, or the conjugate transpose if complex, is used.
unitriangular: Whether the diagonal is assumed to be ones.
unpack_data: Whether L and U are returned; otherwise they are empty.
unpack_pivots: Whether the permutation matrix is returned; otherwise it is empty.
tau: Scalar factors of the reflectors.
orgqr.self: Reflectors, as `geqrf` returns them.
ormqr.self: Reflectors, as `geqrf` returns them.
ormqr.other: Matrix to multiply.
]=],

  examples = [=[
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
lu
    local LU, pivots = torch.lu(torch.tensor{ {1.0, 2.0}, {4.0, 4.0} })
    LU, pivots
    --> (tensor([[4.0000, 4.0000],
    -->          [0.2500, 1.0000]]),
    -->  tensor([2, 2], dtype=torch.int32))
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
]=],
}
