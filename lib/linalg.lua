-- linalg.lua - torch.linalg: the ops called linalg_..., and those that torch has under the same name; with the named
-- arguments (atol, rtol, driver) that only torch.linalg takes.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'
local outs = require 'torch.support.outs'

local linalg = {
  inv = torch.inverse, det = torch.det, slogdet = torch.slogdet, cholesky = torch.cholesky,
  matrix_power = torch.matrix_power, matmul = torch.matmul,
}
for name, value in pairs(torch) do
  local own = type(name) == 'string' and name:match '^linalg_(.+)$'
  if own then linalg[own] = value end
end

-- ---- tolerances --------------------------------------------------------------------------------------------------------

-- The arguments after the matrix: in a row by these names, then a last table of names. known: all that there may be.
local function arguments(what, names, known, ...)
  local values, n = {}, select('#', ...)
  local last = n > 0 and select(n, ...) or nil
  local named = type(last) == 'table' and last or nil
  if named then n = n - 1 end
  if n > #names then fail('%s() takes %d arguments but %d were given', what, #names + 1, n + 1) end
  for i = 1, n do values[names[i]] = (select(i, ...)) end
  for name, value in pairs(named or {}) do
    local is_known = false
    for word in known:gmatch '%S+' do is_known = is_known or word == name end
    if not is_known then fail("%s(): unknown argument '%s' (known: %s)", what, tostring(name), known:gsub(' ', ', ')) end
    values[name] = value
  end
  return values
end

-- f, whose first arguments are tensors of these names, which may come by name too: the first one also as input or x.
local function named(f, ...)
  local names = { ... }
  return function(given, ...)
    if select('#', ...) > 0 or not kinds.is_named(given) then return f(given, ...) end
    local rest, tensors = {}, {}
    for name, value in next, given do rest[name] = value end
    for _, other in ipairs { 'input', 'x' } do
      if rest[names[1]] == nil then rest[names[1]], rest[other] = rest[other], nil end
    end
    for i, name in ipairs(names) do tensors[i], rest[name] = rest[name], nil end
    if next(rest) == nil then return f(table.unpack(tensors, 1, #names)) end
    tensors[#names + 1] = rest
    return f(table.unpack(tensors, 1, #names + 1))
  end
end

-- A tolerance as a tensor that stands beside one number per matrix.
local function tolerance(value, like)
  if torch.is_tensor(value) then return value:to { device = like.device } end
  return torch.full({}, value, { dtype = like.dtype, device = like.device })
end

-- The number below which singular values count as 0, one per matrix: max(atol, rtol * largest). Without either, rtol is
-- eps * max(rows, columns); with atol alone, 0.
local function threshold(values, matrix, options)
  local rtol = options.rtol
  if rtol == nil then
    local absolute = options.atol ~= nil and (torch.is_tensor(options.atol) or options.atol > 0)
    rtol = absolute and 0.0 or (matrix.dtype == torch.float64 and 2^-52 or 2^-23) * math.max(matrix:size(-1), matrix:size(-2))
  end
  local largest = values:size(-1) == 0 and values:sum(-1) or values:amax(-1)
  return torch.maximum(tolerance(options.atol or 0.0, values), tolerance(rtol, values) * largest)
end

local function magnitudes(matrix, hermitian)
  if hermitian then return linalg.eigvalsh(matrix):abs() end
  return linalg.svdvals(matrix)
end

--- The ranks of matrices: how many singular values (hermitian: eigenvalues) are above max(atol, rtol * the largest).
--- tol is atol's older name. Tolerances may be tensors, one number per matrix.
function linalg.matrix_rank(A, ...)
  local options = arguments('linalg.matrix_rank', { 'tol', 'hermitian' }, 'tol hermitian atol rtol', ...)
  if options.tol ~= nil then options.atol, options.rtol = options.tol, 0.0 end
  kinds.check('linalg.matrix_rank', 'A', A, 'Tensor')
  local values = magnitudes(A:detach(), options.hermitian)
  return values:gt(threshold(values, A, options):unsqueeze(-1)):sum(-1)
end

local pinv = torch.linalg_pinv

--- The pseudo-inverses of matrices: singular values up to max(atol, rtol * the largest) count as 0. rcond is rtol's older
--- name. Tolerances may be tensors, one number per matrix.
function linalg.pinv(A, ...)
  local options = arguments('linalg.pinv', { 'rcond', 'hermitian' }, 'rcond hermitian atol rtol', ...)
  kinds.check('linalg.pinv', 'A', A, 'Tensor')
  if options.rtol == nil then options.rtol = options.rcond end
  local hermitian = options.hermitian or false
  if options.atol == nil and not torch.is_tensor(options.rtol) then return pinv(A, { rtol = options.rtol, hermitian = hermitian }) end
  local values = magnitudes(A:detach(), hermitian)
  if values:numel() == 0 then return pinv(A, { hermitian = hermitian }) end
  local least = threshold(values, A, options) / values:amax(-1)
  if A.ndim == 2 then return pinv(A, { rtol = least:item(), hermitian = hermitian }) end
  -- the op has one tolerance for all matrices, these have their own
  local matrices, inverses = A:flatten(1, -3), {}
  for i, rtol in ipairs(least:flatten():tolist()) do
    inverses[i] = pinv(matrices[i], { rtol = rtol, hermitian = hermitian })
  end
  local shape = { table.unpack(A.shape) }
  shape[#shape - 1], shape[#shape] = shape[#shape], shape[#shape - 1]
  return torch.stack(inverses):reshape(shape)
end

-- ---- drivers -----------------------------------------------------------------------------------------------------------

-- f(A, ...) with a driver among the named arguments: cuSOLVER's are for GPUs, and there is one way on ours.
local function with_driver(what, f)
  return function(A, ...)
    local n = select('#', ...)
    local last = n > 0 and select(n, ...) or nil
    if type(last) ~= 'table' or last.driver == nil then return f(A, ...) end
    if not A.is_cuda then
      fail('torch.%s: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.', what)
    end
    if last.driver ~= 'gesvd' and last.driver ~= 'gesvdj' and last.driver ~= 'gesvda' then
      fail("torch.%s: unknown svd driver %s in svd_cusolver computation. Valid: 'gesvd', 'gesvdj', 'gesvda'", what, tostring(last.driver))
    end
    local given, named = table.pack(...), {}
    for name, value in pairs(last) do
      if name ~= 'driver' then named[name] = value end
    end
    given[n] = next(named) ~= nil and named or nil
    return f(A, table.unpack(given, 1, given[n] and n or n - 1))
  end
end

linalg.svd = with_driver('linalg.svd', linalg.svd)
linalg.svdvals = with_driver('linalg.svdvals', linalg.svdvals)

local lstsq = linalg.lstsq
local LSTSQ_DRIVERS = { gelsy = true, gels = true, gelsd = true, gelss = true }

--- X that makes the norm of A X - B the smallest: solution, residuals, rank, singular_values. driver: what LAPACK's routine
--- of that name gives besides the solution: 'gelsy' (the default) the ranks; 'gels' the residuals, for matrices of full
--- rank; 'gelsd' and 'gelss' the residuals, ranks and singular values.
function linalg.lstsq(A, B, ...)
  local options = arguments('linalg.lstsq', { 'rcond' }, 'rcond driver', ...)
  local driver = options.driver or 'gelsy'
  if not LSTSQ_DRIVERS[driver] then
    fail 'torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)'
  end
  local solution, residuals, rank, values = lstsq(A, B, { rcond = options.rcond })
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

--- A view of the diagonals of the last two dimensions: diagonal(A, {offset = 0, dim1 = -2, dim2 = -1}).
function linalg.diagonal(A, ...)
  local options = arguments('linalg.diagonal', {}, 'offset dim1 dim2', ...)
  return torch.diagonal(A, options.offset or 0, options.dim1 or -2, options.dim2 or -1)
end

--- The norm of vectors or of matrices: of all elements as one vector when neither an order nor dimensions are
--- given, of matrices over two dimensions, else of vectors.
function linalg.norm(x, ord, dim, keepdim, options)
  kinds.check('norm', 'x', x, 'Tensor')
  for i, value in ipairs { ord or false, dim or false, keepdim or false } do
    -- a last table of names, where it may stand: { dim = ... } is not a list of dimensions
    if type(value) == 'table' and #value == 0 and next(value) ~= nil then
      options = value
      if i == 1 then ord, dim, keepdim = nil, nil, nil elseif i == 2 then dim, keepdim = nil, nil else keepdim = nil end
      break
    end
  end
  kinds.check_names('norm', options, 'ord dim keepdim dtype')
  options = options or {}
  if ord == nil then ord = options.ord end
  if dim == nil then dim = options.dim end
  if keepdim == nil then keepdim = options.keepdim end
  local named = { keepdim = keepdim or false, dtype = options.dtype }
  local dims = type(dim) == 'number' and 1 or dim and #dim or nil
  if type(ord) == 'string' or (ord ~= nil and (dims == 2 or (dims == nil and x.ndim == 2))) then
    named.dim = dim
    return linalg.matrix_norm(x, ord, named)
  end
  if dim == nil and ord == nil and not named.keepdim then
    if not named.dtype then return torch.norm(x:flatten(), 2) end -- an empty table would be a list of no dimensions
    return torch.norm(x:flatten(), 2, { dtype = named.dtype })
  end
  named.dim = dim
  return torch.norm(x, ord or 2, named)
end

for _, name in ipairs { 'matrix_rank', 'pinv', 'lstsq', 'norm' } do linalg[name] = outs.taking('linalg.' .. name, linalg[name]) end

for _, name in ipairs { 'matrix_rank', 'pinv', 'svd', 'svdvals', 'diagonal', 'norm' } do linalg[name] = named(linalg[name], 'A') end
linalg.lstsq = named(linalg.lstsq, 'A', 'B')

return linalg
