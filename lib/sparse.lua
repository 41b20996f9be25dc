-- sparse.lua - torch.sparse: functions of sparse tensors. Their arithmetic and their products are those of ordinary tensors
-- (x + y, x:mm(y)); how they are made stands in lib/sparse/construct.lua.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.kinds'
local outs = require 'torch.support.outs'
local C = torch._C

local sparse = {}

local function is_sparse(x) return torch.is_tensor(x) and x.layout ~= torch.strided end

local function check_sparse(what, name, x)
  kinds.check(what, name, x, 'Tensor')
  if not is_sparse(x) then fail("%s(): argument '%s' must be a sparse tensor, not one of the layout torch.strided", what, name) end
end

local function check_matrix(what, name, x)
  kinds.check(what, name, x, 'Tensor')
  if x.ndim ~= 2 then fail("%s(): argument '%s' must be a matrix, but it has %d dimensions", what, name, x.ndim) end
end

-- The rows and columns of a sparse matrix's values, in their order.
local function places(x)
  local coo = x.layout == torch.sparse_coo and x or C.to_sparse_coo(x)
  local indices = coo:_indices()
  return indices[1], indices[2]
end

-- In a layout whose values are in the order of their places.
local function in_order(x) return x.layout == torch.sparse_csc and C.to_sparse_coo(x) or x end

-- ---- products ------------------------------------------------------------------------------------------------------------

local reductions = { sum = 'sum', mean = 'mean', amax = 'amax', amin = 'amin' }

--- torch.sparse.mm(mat1, mat2): the product of two matrices, of which one at least is sparse. With reduce ('sum', 'mean', 'amax',
--- 'amin') what is added up in the product is reduced in that way, over the values that mat1 stores; mat1 is sparse then and mat2
--- ordinary.
function sparse.mm(...)
  local given = kinds.by_name('sparse.mm', { 'mat1', 'mat2', 'reduce' }, nil, ...)
  local mat1, mat2, reduce = given.mat1, given.mat2, given.reduce
  check_matrix('sparse.mm', 'mat1', mat1)
  check_matrix('sparse.mm', 'mat2', mat2)
  if reduce == nil then return torch.mm(mat1, mat2) end
  kinds.check('sparse.mm', 'reduce', reduce, 'string')
  if not reductions[reduce] then fail("sparse.mm(): reduce must be sum, mean, amax or amin, but got '%s'", reduce) end
  check_sparse('sparse.mm', 'mat1', mat1)
  if is_sparse(mat2) then fail 'sparse.mm(): with reduce, mat2 must be an ordinary matrix' end
  if reduce == 'sum' then return torch.mm(mat1, mat2) end
  if mat1:size(2) ~= mat2:size(1) then
    fail('sparse.mm(): mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)', mat1:size(1), mat1:size(2), mat2:size(1), mat2:size(2))
  end
  local x = in_order(mat1)
  local rows, columns = places(x)
  local products = mat2:index_select(1, columns) * x:_values():unsqueeze(2)
  local result = torch.zeros(mat1:size(1), mat2:size(2), { dtype = products.dtype, device = products.device })
  return result:scatter_reduce(1, rows:unsqueeze(2):expand(-1, mat2:size(2)), products, reduce, { include_self = false })
end

--- torch.sparse.addmm(mat, mat1, mat2, {beta = 1, alpha = 1}): beta * mat + alpha * mat1 @ mat2.
function sparse.addmm(...)
  local given = kinds.by_name('sparse.addmm', { 'mat', 'mat1', 'mat2' }, { 'mat', 'mat1', 'mat2', 'beta', 'alpha' }, ...)
  for _, name in ipairs { 'mat', 'mat1', 'mat2' } do kinds.check('sparse.addmm', name, given[name], 'Tensor') end
  return torch.addmm(given.mat, given.mat1, given.mat2, { beta = given.beta or 1, alpha = given.alpha or 1 })
end

--- torch.sparse.spsolve(input, other, {left = true}): the solution of input @ x = other, a system of n equations with a sparse matrix (n, n) and
--- an ordinary vector (n), on the CPU, by LU factors (CXSparse). left = false, x @ input = other, is refused, as PyTorch does.
function sparse.spsolve(...)
  local given = kinds.by_name('sparse.spsolve', { 'input', 'other' }, { 'input', 'other', 'left' }, ...)
  check_sparse('sparse.spsolve', 'input', given.input)
  kinds.check('sparse.spsolve', 'other', given.other, 'Tensor')
  kinds.check('sparse.spsolve', 'left', given.left, 'boolean?')
  if given.left == false then fail 'sparse.spsolve(): only left = true is supported' end
  return C.sparse_solve(given.input, given.other)
end

--- torch.sparse.sampled_addmm(input, mat1, mat2, {beta = 1, alpha = 1}): beta * input + alpha * mat1 @ mat2 at the places of the
--- sparse matrix input alone: the other elements of the product are not computed.
function sparse.sampled_addmm(...)
  local given = kinds.by_name('sparse.sampled_addmm', { 'input', 'mat1', 'mat2' }, { 'input', 'mat1', 'mat2', 'beta', 'alpha', 'out' }, ...)
  local input, mat1, mat2 = given.input, given.mat1, given.mat2
  check_sparse('sparse.sampled_addmm', 'input', input)
  for name, x in pairs { input = input, mat1 = mat1, mat2 = mat2 } do check_matrix('sparse.sampled_addmm', name, x) end
  kinds.check('sparse.sampled_addmm', 'out', given.out, 'Tensor?')
  if is_sparse(mat1) or is_sparse(mat2) then fail 'sampled_addmm: Expected mat1 and mat2 to have strided layout' end
  if mat1:size(2) ~= mat2:size(1) then
    fail('sampled_addmm: mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)', mat1:size(1), mat1:size(2), mat2:size(1), mat2:size(2))
  end
  if input:size(1) ~= mat1:size(1) or input:size(2) ~= mat2:size(2) then
    fail('sampled_addmm: self must be of the shape of the product, %dx%d, but got %dx%d', mat1:size(1), mat2:size(2), input:size(1), input:size(2))
  end
  local x = input
  if x.layout == torch.sparse_csc then x = x:to_sparse_csr() end
  local rows, columns = places(x)
  local products = (mat1:index_select(1, rows) * mat2:t():index_select(1, columns)):sum(2)
  local values = products * (given.alpha or 1)
  local beta = given.beta or 1
  if beta ~= 0 then values = values + x:_values() * beta end
  local result = C._sparse_like(x, values)
  if input.layout == torch.sparse_csc then result = result:to_sparse_csc() end
  return given.out and outs.store('sparse.sampled_addmm', given.out, result) or result
end

-- ---- reductions --------------------------------------------------------------------------------------------------------------

--- torch.sparse.sum(input, dim, {dtype}): the sum of all elements, or over dimensions: a sparse tensor of those that remain, an
--- ordinary one where no dimension of places does.
function sparse.sum(...)
  local given = kinds.by_name('sparse.sum', { 'input', 'dim', 'dtype' }, nil, ...)
  check_sparse('sparse.sum', 'input', given.input)
  if given.dim == nil then return given.input:sum { dtype = given.dtype } end
  return given.input:sum(given.dim, { dtype = given.dtype })
end

-- For each value the number of its group: those whose places differ along one dimension alone.
local function groups(x, dim)
  local indices, keys = x:_indices(), nil
  for d = 1, indices:size(1) do
    if d ~= dim then keys = keys and keys * x:size(d) + indices[d] or indices[d] end
  end
  if keys == nil then return torch.ones_like(indices[1]), 1 end
  local distinct, inverse = keys:unique { return_inverse = true }
  return inverse, distinct:numel()
end

local function softmax(what, logarithm, ...)
  local given = kinds.by_name(what, { 'input', 'dim', 'dtype' }, nil, ...)
  local input, dim = given.input, given.dim
  check_sparse(what, 'input', input)
  kinds.check(what, 'dim', dim, 'integer')
  if dim == 0 or dim < -input.ndim or dim > input.ndim then fail('%s(): dim %d is not one of the %d dimensions', what, dim, input.ndim) end
  if dim < 0 then dim = dim + input.ndim + 1 end
  if given.dtype ~= nil then input = input:to(given.dtype) end
  local x = C.to_sparse_coo(input):coalesce()
  local places_of, values = x:sparse_dim(), x:values()
  if dim > places_of then
    local along = dim - places_of + 1
    values = logarithm and torch.log_softmax(values, along) or torch.softmax(values, along)
  else
    local group, n = groups(x, dim)
    local sizes = { n, table.unpack(values.shape, 2) }
    local index = group
    for _ = 2, values.ndim do index = index:unsqueeze(-1) end
    index = index:expand_as(values)
    local zeros = torch.zeros(sizes, { dtype = values.dtype, device = values.device })
    local largest = zeros:scatter_reduce(1, index, values:detach(), 'amax', { include_self = false })
    local shifted = values - largest:index_select(1, group)
    local sums = zeros:index_add(1, group, shifted:exp())
    values = logarithm and shifted - sums:log():index_select(1, group) or shifted:exp() / sums:index_select(1, group)
  end
  local result = C._sparse_like(x, values)
  if input.layout == torch.sparse_coo then return result end
  return result:to_sparse { layout = input.layout, dense_dim = input:dense_dim() }
end

--- torch.sparse.softmax(input, dim, {dtype}): softmax along a dimension over the elements that are stored; the others count as minus
--- infinity, and stay 0.
function sparse.softmax(...) return softmax('sparse.softmax', false, ...) end

--- torch.sparse.log_softmax(input, dim, {dtype}): the logarithm of softmax, of the elements that are stored.
function sparse.log_softmax(...) return softmax('sparse.log_softmax', true, ...) end

-- ---- diagonals ------------------------------------------------------------------------------------------------------------------

--- torch.sparse.spdiags(diagonals, offsets, shape, layout): a matrix whose diagonal above the main one by offsets[i] is row i of
--- diagonals: element (j - offset, j) is diagonals[i][j]. layout: torch.sparse_coo if none is given.
function sparse.spdiags(...)
  local given = kinds.by_name('sparse.spdiags', { 'diagonals', 'offsets', 'shape', 'layout' }, nil, ...)
  local diagonals, offsets, shape = given.diagonals, given.offsets, given.shape
  kinds.check('sparse.spdiags', 'diagonals', diagonals, 'Tensor')
  kinds.check('sparse.spdiags', 'offsets', offsets, 'Tensor|table')
  kinds.check('sparse.spdiags', 'shape', shape, 'integers')
  if #shape ~= 2 then fail('sparse.spdiags(): Output shape must be 2d, but got %d sizes', #shape) end
  if diagonals.ndim == 1 then diagonals = diagonals:unsqueeze(1) end
  offsets = (torch.is_tensor(offsets) and offsets or torch.tensor(offsets)):to { dtype = torch.int64, device = diagonals.device }
  if offsets.ndim == 0 then offsets = offsets:unsqueeze(1) end
  if diagonals.ndim ~= 2 or offsets.ndim ~= 1 or diagonals:size(1) ~= offsets:numel() then
    fail('sparse.spdiags(): Number of diagonals (%d) does not match the number of offsets (%d)', diagonals:size(1), offsets:numel())
  end
  if offsets:unique():numel() ~= offsets:numel() then fail 'sparse.spdiags(): Offset tensor contains duplicate values' end
  local columns = torch.arange(1, diagonals:size(2) + 1, { device = diagonals.device }):expand(diagonals:size(1), -1)
  local rows = columns - offsets:unsqueeze(2)
  local within = rows:ge(1) & rows:le(shape[1]) & columns:le(shape[2])
  local indices = torch.stack { rows:masked_select(within), columns:masked_select(within) }
  local result = C.sparse_coo_tensor(indices, diagonals:masked_select(within), shape, false)
  local layout = given.layout or torch.sparse_coo
  return layout == torch.sparse_coo and result:coalesce() or result:to_sparse { layout = layout }
end

return sparse
