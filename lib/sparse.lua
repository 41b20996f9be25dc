-- sparse.lua - torch.sparse: functions of sparse tensors. Arithmetic and products use the ordinary
-- operations (x + y, x:mm(y)); constructors are in lib/sparse/construct.lua.

--[=[ arguments
mat: Matrix to add.
mat1: First matrix.
mat2: Second matrix.
beta: Factor of the matrix that is added.
alpha: Factor of the product.
reduce: Reduction of the products: `'sum'`, `'mean'`, `'amax'` or `'amin'`.
diagonals: Diagonals, which are rows.
offsets: Diagonal of each row: 0 is the main one, positive ones are above it.
shape: Shape of the matrix.
layout: Layout of the result: `torch.sparse_coo`, `torch.sparse_csr` or `torch.sparse_csc`.
left: Must be true: the system is input @ x = other.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local kinds = require 'torch.support.argument_kinds'
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

-- Converts to a layout with values ordered by row-major indices.
local function in_order(x) return x.layout == torch.sparse_csc and C.to_sparse_coo(x) or x end

-- ---- products -----------------------------------------------------------------------------------

local reductions = { sum = 'sum', mean = 'mean', amax = 'amax', amin = 'amin' }

--- torch.sparse.mm(mat1, mat2): the product of two matrices, at least one of them sparse. With
--- reduce ('sum', 'mean', 'amax', 'amin'), the products are combined in that way, over the stored
--- values of mat1; then mat1 is sparse and mat2 dense.
function sparse.mm(mat1, mat2, reduce)
  check_matrix('sparse.mm', 'mat1', mat1)
  check_matrix('sparse.mm', 'mat2', mat2)
  if reduce == nil then return torch.mm(mat1, mat2) end
  if not reductions[reduce] then fail("sparse.mm(): reduce must be sum, mean, amax or amin, but got '%s'", reduce) end
  check_sparse('sparse.mm', 'mat1', mat1)
  if is_sparse(mat2) then fail 'sparse.mm(): with reduce, mat2 must be a dense matrix' end
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
function sparse.addmm(mat, mat1, mat2, beta, alpha) return torch.addmm(mat, mat1, mat2, { beta = beta, alpha = alpha }) end

--- torch.sparse.spsolve(input, other, {left = true}): the solution of input @ x = other, a system
--- of n equations with a sparse matrix (n, n) and a dense vector (n), on the CPU, by LU factors
--- (CXSparse). left = false, x @ input = other, is an error, as in PyTorch.
function sparse.spsolve(input, other, left)
  check_sparse('sparse.spsolve', 'input', input)
  if not left then fail 'sparse.spsolve(): only left = true is supported' end
  return C.sparse_solve(input, other)
end

--- torch.sparse.sampled_addmm(input, mat1, mat2, {beta = 1, alpha = 1}): beta * input + alpha *
--- mat1 @ mat2 at the positions of the sparse matrix input; other elements of the product are not
--- computed.
function sparse.sampled_addmm(input, mat1, mat2, beta, alpha, out)
  check_sparse('sparse.sampled_addmm', 'input', input)
  for name, x in pairs { input = input, mat1 = mat1, mat2 = mat2 } do check_matrix('sparse.sampled_addmm', name, x) end
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
  local values = products * alpha
  if beta ~= 0 then values = values + x:_values() * beta end
  local result = C._sparse_like(x, values)
  if input.layout == torch.sparse_csc then result = result:to_sparse_csc() end
  return out and outs.store('sparse.sampled_addmm', out, result) or result
end

-- ---- reductions ---------------------------------------------------------------------------------

--- torch.sparse.sum(input, dim, {dtype}): the sum of all elements, or over dimensions: a sparse
--- tensor of the remaining ones, or a dense one if no sparse dimension remains.
function sparse.sum(input, dim, dtype)
  check_sparse('sparse.sum', 'input', input)
  if dim == nil then return input:sum { dtype = dtype } end
  return input:sum(dim, { dtype = dtype })
end

-- The group number of each value: values with indices that differ only along dim are one group.
local function groups(x, dim)
  local indices, keys = x:_indices(), nil
  for d = 1, indices:size(1) do
    if d ~= dim then keys = keys and keys * x:size(d) + indices[d] or indices[d] end
  end
  if keys == nil then return torch.ones_like(indices[1]), 1 end
  local distinct, inverse = keys:unique { return_inverse = true }
  return inverse, distinct:numel()
end

local function softmax(what, logarithm, input, dim, dtype)
  check_sparse(what, 'input', input)
  if dim == 0 or dim < -input.ndim or dim > input.ndim then fail('%s(): dim %d is not one of the %d dimensions', what, dim, input.ndim) end
  if dim < 0 then dim = dim + input.ndim + 1 end
  if dtype ~= nil then input = input:to(dtype) end
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

--- torch.sparse.softmax(input, dim, {dtype}): softmax along a dimension over the stored elements;
--- others count as minus infinity, and remain 0.
function sparse.softmax(input, dim, dtype) return softmax('sparse.softmax', false, input, dim, dtype) end

--- torch.sparse.log_softmax(input, dim, {dtype}): the logarithm of softmax, of the elements that
--- are stored.
function sparse.log_softmax(input, dim, dtype) return softmax('sparse.log_softmax', true, input, dim, dtype) end

-- ---- diagonals ----------------------------------------------------------------------------------

--- torch.sparse.spdiags(diagonals, offsets, shape, layout): a matrix with row i of diagonals on the
--- diagonal at offsets[i] above the main one: element (j - offset, j) is diagonals[i][j]. layout:
--- by default torch.sparse_coo.
function sparse.spdiags(diagonals, offsets, shape, layout)
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
  layout = layout or torch.sparse_coo
  return layout == torch.sparse_coo and result:coalesce() or result:to_sparse { layout = layout }
end

for name, arguments in pairs {
  mm = 'Tensor mat1, Tensor mat2, string? reduce',
  addmm = 'Tensor mat, Tensor mat1, Tensor mat2, *, number beta=1, number alpha=1',
  spsolve = 'Tensor input, Tensor other, *, boolean left=true',
  sampled_addmm = 'Tensor input, Tensor mat1, Tensor mat2, *, number beta=1, number alpha=1, Tensor? out',
  sum = 'Tensor input, sizes? dim, dtype? dtype',
  softmax = 'Tensor input, integer dim, dtype? dtype',
  log_softmax = 'Tensor input, integer dim, dtype? dtype',
  spdiags = 'Tensor diagonals, Tensor|table offsets, integers shape, string? layout',
} do
  sparse[name] = declare.declare(('sparse.%s(%s)'):format(name, arguments), sparse[name])
end

return sparse
