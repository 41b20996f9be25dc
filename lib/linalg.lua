-- linalg.lua - torch.linalg: the operations linalg_..., and torch's operations of the same names,
-- with the named arguments (atol, rtol, driver) of torch.linalg.

local torch = require 'torch'
local copy_causes = require 'torch.autograd.copy_causes'
local fail = require 'torch.support.fail'
local outs = require 'torch.support.outs'

local linalg = {
  inv = torch.inverse, det = torch.det, slogdet = torch.slogdet, cholesky = torch.cholesky,
  matrix_power = torch.matrix_power, matmul = torch.matmul,
}
for name, value in pairs(torch) do
  local own = type(name) == 'string' and name:match '^linalg_(.+)$'
  if own then linalg[own] = value end
end

-- ---- tolerances ---------------------------------------------------------------------------------

-- A tolerance as a tensor that broadcasts against one number per matrix.
local function tolerance(value, like)
  if torch.is_tensor(value) then return value:to { device = like.device } end
  return torch.full({}, value, { dtype = like.dtype, device = like.device })
end

-- The number below which singular values count as 0, one per matrix: max(atol, rtol * largest).
-- Without either, rtol is eps * max(rows, columns); with atol alone, 0.
local function threshold(values, matrix, atol, rtol)
  if rtol == nil then
    local absolute = atol ~= nil and (torch.is_tensor(atol) or atol > 0)
    rtol = absolute and 0.0 or (matrix.dtype == torch.float64 and 2^-52 or 2^-23) * math.max(matrix:size(-1), matrix:size(-2))
  end
  local largest = values:size(-1) == 0 and values:sum(-1) or values:amax(-1)
  return torch.maximum(tolerance(atol or 0.0, values), tolerance(rtol, values) * largest)
end

local function magnitudes(matrix, hermitian)
  if hermitian then return linalg.eigvalsh(matrix):abs() end
  return linalg.svdvals(matrix)
end

--- The ranks of matrices: how many singular values (hermitian: eigenvalues) are above max(atol,
--- rtol * the largest). tol is atol's older name. Tolerances may be tensors, one number per matrix.
function linalg.matrix_rank(A, tol, hermitian, atol, rtol)
  if tol ~= nil then atol, rtol = tol, 0.0 end
  local values = magnitudes(A:detach(), hermitian)
  return values:gt(threshold(values, A, atol, rtol):unsqueeze(-1)):sum(-1)
end

local pinv = torch.linalg_pinv

--- The pseudo-inverses of matrices: singular values up to max(atol, rtol * the largest) count as 0.
--- rcond is rtol's older name. Tolerances may be tensors, one number per matrix.
function linalg.pinv(A, rcond, hermitian, atol, rtol)
  if rtol == nil then rtol = rcond end
  if atol == nil and not torch.is_tensor(rtol) then return pinv(A, { rtol = rtol, hermitian = hermitian }) end
  local values = magnitudes(A:detach(), hermitian)
  if values:numel() == 0 then return pinv(A, { hermitian = hermitian }) end
  local least = threshold(values, A, atol, rtol) / values:amax(-1)
  if A.ndim == 2 then return pinv(A, { rtol = least:item(), hermitian = hermitian }) end
  -- the op has one tolerance for all matrices, but these differ
  local matrices, inverses = A:flatten(1, -3), {}
  for i, own in ipairs(least:flatten():tolist()) do
    inverses[i] = pinv(matrices[i], { rtol = own, hermitian = hermitian })
  end
  local shape = { table.unpack(A.shape) }
  shape[#shape - 1], shape[#shape] = shape[#shape], shape[#shape - 1]
  return torch.stack(inverses):reshape(shape)
end

-- ---- drivers ------------------------------------------------------------------------------------

-- cuSOLVER's drivers are accepted for GPUs only, and have no effect.
local function check_driver(what, A, driver)
  if driver == nil then return end
  if not A.is_cuda then
    fail('torch.%s: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.', what)
  end
  if driver ~= 'gesvd' and driver ~= 'gesvdj' and driver ~= 'gesvda' then
    fail("torch.%s: unknown svd driver %s in svd_cusolver computation. Valid: 'gesvd', 'gesvdj', 'gesvda'", what, tostring(driver))
  end
end

local svd, svdvals = linalg.svd, linalg.svdvals

function linalg.svd(A, full_matrices, driver)
  check_driver('linalg.svd', A, driver)
  return svd(A, full_matrices)
end

function linalg.svdvals(A, driver)
  check_driver('linalg.svdvals', A, driver)
  return svdvals(A)
end

local lstsq = linalg.lstsq
local LSTSQ_DRIVERS = { gelsy = true, gels = true, gelsd = true, gelss = true }

--- X that minimizes the norm of A X - B: solution, residuals, rank, singular_values; residuals and
--- singular_values are empty unless the driver computes them. driver selects
--- additional results of the LAPACK routine of that name: 'gelsy' (the default) the ranks; 'gels'
--- the residuals, for matrices of full rank; 'gelsd' and 'gelss' the residuals, ranks and singular
--- values.
function linalg.lstsq(A, B, rcond, driver)
  if not LSTSQ_DRIVERS[driver] then
    fail 'torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)'
  end
  local solution, residuals, rank, values = lstsq(A, B, { rcond = rcond })
  if driver == 'gelsy' then return solution, residuals, rank, values end
  local full = driver == 'gels' or rank:eq(A:size(-1)):all():item()
  if A:size(-2) > A:size(-1) and full then
    local vectors = B.ndim == A.ndim - 1
    local x, b = vectors and solution:unsqueeze(-1) or solution, vectors and B:unsqueeze(-1) or B
    residuals = (A:matmul(x) - b):abs():square():sum(-2)
    if vectors then residuals = residuals:squeeze(-1) end
  end
  if driver == 'gels' then return solution, residuals, rank:flatten():narrow(1, 1, 0), values end
  return solution, residuals, rank, linalg.svdvals(A)
end

linalg.matrix_rank = outs.declare([[
  linalg.matrix_rank(Tensor A, number|Tensor? tol, boolean hermitian=false, *, number|Tensor? atol, number|Tensor? rtol, Tensor? out)
]], linalg.matrix_rank)
linalg.pinv = outs.declare([[
  linalg.pinv(Tensor A, number|Tensor? rcond, boolean hermitian=false, *, number|Tensor? atol, number|Tensor? rtol, Tensor? out)
]], linalg.pinv)
linalg.svd = outs.declare([[
  linalg.svd(Tensor A, boolean full_matrices=true, *, string? driver, table? out)
]], linalg.svd)
linalg.svdvals = outs.declare([[
  linalg.svdvals(Tensor A, *, string? driver, Tensor? out)
]], linalg.svdvals)
linalg.lstsq = outs.declare([[
  linalg.lstsq(Tensor A, Tensor B, number? rcond, *, string driver='gelsy', table? out)
]], linalg.lstsq)

copy_causes.functions(linalg, 'linalg.', 'matrix_rank pinv lstsq')

return linalg
