-- lobpcg.lua - torch.lobpcg: the largest or smallest eigenvalues, and their vectors, of symmetric
-- matrices, by matrix products only.
--
-- Each step takes the best vectors in the span of the previous ones X, their residuals R
-- (preconditioned), and their last change P: Knyazev, "Toward the Optimal Preconditioned
-- Eigensolver: LOBPCG" (SIAM J. Sci. Comput. 23, 2001). Method 'ortho' orthonormalizes this basis:
-- Stathopoulos and Wu, "A Block Orthogonalization Procedure with Constant Synchronization
-- Requirements" (SIAM J. Sci. Comput. 23, 2002); method 'basic' solves the generalized problem of
-- the three directly.

--[=[ arguments
A: Symmetric matrix, or a batch of them; it may be sparse.
k: Number of eigenvalues.
B: Symmetric positive definite matrix of the generalized problem; the identity if absent.
X: First approximations of the eigenvectors, which are columns; random numbers if absent.
n: Number of approximations if `X` is absent; `k` by default.
iK: Preconditioner, an approximation of the inverse of A.
niter: Maximum number of iterations; -1 iterates until convergence.
tol: Residual at which an eigenvalue has converged; it follows from the dtype if absent.
largest: Whether the largest eigenvalues are computed; otherwise the smallest.
method: `'ortho'` or `'basic'`.
tracker: Function that is called after each iteration.
ortho_iparams: Accepted for compatibility.
ortho_fparams: Accepted for compatibility.
ortho_bparams: Accepted for compatibility.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'

local function times(B, X) return B and B:matmul(X) or X end

local function columns(X, first, last) return X:narrow(-1, first, last - first + 1) end

-- A basis of the span of the columns of S with V' B V = 1; nearly dependent directions are dropped.
-- Applied twice for accuracy.
local function orthonormal(S, B)
  local least = torch.finfo(S.dtype).eps * S:size(1)
  for _ = 1, 2 do
    local gram = S:t():mm(times(B, S))
    local scale = gram:diagonal():clamp { min = torch.finfo(S.dtype).tiny }:rsqrt()
    local values, vectors = torch.linalg.eigh(gram * scale:unsqueeze(1) * scale:unsqueeze(2))
    local kept = values:gt(values:amax() * least):nonzero():squeeze(2)
    S = S:mm(scale:unsqueeze(2) * vectors:index_select(2, kept) * values:index_select(1, kept):rsqrt())
  end
  return S
end

-- The n requested eigenvalues of the small symmetric matrix, the most extreme first.
local function small_eigen(matrix, n, largest)
  local values, vectors = torch.linalg.eigh(matrix)
  if largest then values, vectors = values:flip(1), vectors:flip(2) end
  return values:narrow(1, 1, n), columns(vectors, 1, n)
end

-- Best values and combinations of the columns of S: n eigenvalues E, and C with S C their vectors.
local function rayleigh_ritz(A, B, S, n, largest)
  local inner, outer = S:t():mm(times(B, S)), S:t():mm(A:matmul(S))
  local scale = inner:diagonal():rsqrt()
  local L = torch.linalg.cholesky(inner * scale:unsqueeze(1) * scale:unsqueeze(2))
  local function solved(x) return torch.linalg.solve_triangular(L, x, { upper = false }) end
  local scaled = outer * scale:unsqueeze(1) * scale:unsqueeze(2)
  local E, vectors = small_eigen(solved(solved(scaled):t()), n, largest)
  return E, scale:unsqueeze(2) * torch.linalg.solve_triangular(L:t(), vectors, { upper = true })
end

local methods = {}

-- The next vectors and their changes. S has X in its first n columns.
function methods.basic(A, B, S, X, n, largest)
  local E, C = rayleigh_ritz(A, B, S, n, largest)
  local used = X:size(2)
  if S:size(2) == used then return E, S:mm(C), nil end
  local rest = S:size(2) - used
  return E, S:mm(C), columns(S, used + 1, used + rest):mm(C:narrow(1, used + 1, rest))
end

function methods.ortho(A, B, S, X, n, largest)
  S = orthonormal(S, B)
  local E, C = small_eigen(S:t():mm(A:matmul(S)), n, largest)
  local moved = S:mm(C)
  if S:size(2) == X:size(2) then return E, moved, nil end
  return E, moved, moved - X:mm(X:t():mm(times(B, moved)))
end

-- One matrix: E [n], X [m, n].
local function iterate(A, B, X, k, options)
  local step, n, largest = methods[options.method], X:size(2), options.largest
  local norms = { A = A:matmul(X):norm():item() / X:norm():item(), B = B and times(B, X):norm():item() / X:norm():item() or 1.0 }
  local E, P
  E, X = step(A, B, options.method == 'basic' and orthonormal(X, B) or X, X, n, largest)
  local worker = { iparams = { m = A:size(-1), n = n, k = k, niter = options.niter }, fparams = { tol = options.tol, A_norm = norms.A, B_norm = norms.B },
    ivars = { istep = 0, converged_count = 0 }, tvars = {}, method = options.method }
  while true do
    local R = A:matmul(X) - times(B, X) * E
    local relative = R:norm(2, 1) / (X:norm(2, 1) * (E:abs() * norms.B + norms.A))
    local converged = 0
    for _, value in ipairs(relative:tolist()) do
      if not (value < options.tol) then break end
      converged = converged + 1
    end
    worker.X, worker.E, worker.R, worker.tvars.rerr, worker.ivars.converged_count = X, E, R, relative, converged
    if options.tracker then options.tracker(worker) end
    if converged >= k or options.niter >= 0 and worker.ivars.istep >= options.niter then break end
    worker.ivars.istep = worker.ivars.istep + 1
    local W = columns(R, converged + 1, n)
    if options.iK then W = options.iK:matmul(W) end
    E, X, P = step(A, B, torch.cat(P and { X, W, P } or { X, W }, 2), X, n, largest)
  end
  return worker.E:narrow(1, 1, k), columns(worker.X, 1, k)
end

-- The same values with derivatives by A and B: the derivative of one step of Newton's method on A x
-- - e B x = 0, x' B x = 1, which changes x and e by no more than their error.
local function with_derivative(A, B, E, X)
  local m, k = X:size(1), X:size(2)
  local x, factory = X:t():unsqueeze(3), { dtype = A.dtype, device = A.device }
  local Bx = times(B, x)
  local jacobian = torch.no_grad(function()
    local shifted = A - E:reshape(k, 1, 1) * (B or torch.eye(m, factory))
    return torch.cat({ torch.cat({ shifted, -Bx }, 3), torch.cat({ -Bx:transpose(2, 3), torch.zeros(k, 1, 1, factory) }, 3) }, 2)
  end)
  local residual = torch.cat({ A:matmul(x) - E:reshape(k, 1, 1) * Bx, (1 - (x * Bx):sum(2, true)) / 2 }, 2)
  local correction = torch.linalg.solve(jacobian, residual):squeeze(3)
  correction = correction - correction:detach()
  return E - correction:select(2, m + 1), X - correction:narrow(2, 1, m):t()
end

local function check(given)
  local A = given.A
  local m = A.ndim >= 2 and A:size(-1) or 0
  if A.ndim < 2 or A:size(-2) ~= m then fail('lobpcg: A must be batches of square matrices, but got a tensor of shape %s', tostring(A.shape)) end
  if A.dtype ~= torch.float32 and A.dtype ~= torch.float64 then fail('lobpcg: A must be of float32 or float64, but got %s', tostring(A.dtype)) end
  if given.X and (given.X.ndim ~= A.ndim or given.X:size(-2) ~= m) then
    fail('lobpcg: X must be of %d dimensions with %d rows, but got a tensor of shape %s', A.ndim, m, tostring(given.X.shape))
  end
  local k = given.k or given.X and given.X:size(-1) or 1
  local n = given.X and given.X:size(-1) or given.n or k
  if k < 1 or n < k then fail('lobpcg: k must be from 1 to the %d columns of X, but got %d', n, k) end
  if m < 3 * n then
    fail('LPBPCG algorithm is not applicable when the number of A rows (=%d) is smaller than 3 x the number of requested eigenpairs (=%d)', m, n)
  end
  local method = given.method
  if not methods[method] then fail("lobpcg: method must be 'basic' or 'ortho', but got '%s'", method) end
  return k, n, { method = method, largest = given.largest, niter = given.niter, iK = given.iK, tracker = given.tracker,
    tol = given.tol or math.sqrt(A.dtype == torch.float64 and 2.23e-16 or 1.2e-7) }
end

-- One matrix, with its derivative if recorded.
local function solve(A, B, X, k, options, records)
  local E, V
  torch.no_grad(function() E, V = iterate(A, B, X, k, options) end)
  if records then return with_derivative(A, B, E, V) end
  return E, V
end

--- torch.lobpcg(A, k, B, X, n, iK, niter, tol, largest, method, tracker): the k (1) largest, or
--- with largest = false smallest, eigenvalues E [..., k] of the symmetric matrices A [..., m, m],
--- or of A x = E B x, and vectors X [..., m, k] with X' B X = 1. A and B may be sparse matrices. X:
--- the initial vectors, otherwise n random ones; iK: a preconditioner, an approximate inverse of A;
--- niter: maximum number of steps, 1000, or -1 for any number; tol: of the residual relative to the
--- norms, by default the square root of the dtype's epsilon; method: 'ortho' or 'basic'; tracker:
--- called in each step with a table of X, E, R, ivars.istep, ivars.converged_count and tvars.rerr.
--- Differentiable by dense A and B with distinct eigenvalues. m must be at least 3 n. PyTorch's
--- ortho_ parameters are accepted and have no effect.
local function lobpcg(given)
  local k, n, options = check(given)
  local A, B, X = given.A, given.B, given.X
  local records = torch.is_grad_enabled() and (A.requires_grad or B ~= nil and B.requires_grad)
  if records and A.layout ~= torch.strided then fail 'lobpcg.backward() currently does not support sparse input yet.' end
  local sizes = { table.unpack(A.shape, 1, A.ndim - 1) }
  sizes[#sizes + 1] = n
  X = X or torch.randn(sizes, { dtype = A.dtype, device = A.device })
  if A.ndim == 2 then return solve(A, B, X, k, options, records) end
  local m, Es, Vs = A:size(-1), {}, {}
  local As, Xs = A:reshape(-1, m, m), X:reshape(-1, m, n)
  local Bs = B and B:expand(A.shape):reshape(-1, m, m)
  for i = 1, As:size(1) do Es[i], Vs[i] = solve(As[i], Bs and Bs[i], Xs[i], k, options, records) end
  sizes[#sizes] = k
  local V = torch.stack(Vs):reshape(sizes)
  table.remove(sizes, #sizes - 1)
  return torch.stack(Es):reshape(sizes), V
end

return declare.by_name([[
  lobpcg(Tensor A, integer? k, Tensor? B, Tensor? X, integer? n, Tensor? iK, integer niter=1000, number? tol, boolean largest=true,
    string method='ortho', function? tracker, table? ortho_iparams, table? ortho_fparams, table? ortho_bparams)
]], lobpcg)
