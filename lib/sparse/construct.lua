-- construct.lua - creates sparse tensors: from tables or tensors, with default sizes from the
-- indices, and from tensors of other layouts. It calls the ops of src/ops/sparse.lua. Indices are
-- positions, from 1.

--[=[ arguments
compressed_indices: Position from 1 at which the values of each row or column begin, and the end.
plain_indices: Column or row of each value, from 1.
crow_indices: Position from 1 at which the values of each row begin, and the end.
col_indices: Column of each value, from 1.
ccol_indices: Position from 1 at which the values of each column begin, and the end.
row_indices: Row of each value, from 1.
indices: Positions from 1, of shape (dimensions, number of values).
values: Values: a tensor, or a table.
size: Shape of the tensor; it follows from the indices if absent.
check_invariants: Whether the indices are checked.
is_coalesced: Whether the indices are known to be sorted and distinct.
dense_dim: Number of trailing dimensions that are stored as dense blocks.
sparse_dim: Number of leading dimensions that are stored sparsely; all if absent.
blocksize: Must be nil: layouts of blocks are not supported.
self: Tensor to convert.
to_sparse_coo(): The tensor in the layout `torch.sparse_coo`.
to_sparse_csr(): The matrix in the layout `torch.sparse_csr`.
to_sparse_csc(): The matrix in the layout `torch.sparse_csc`.
]=]

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local kinds = require 'torch.support.argument_kinds'
local fail = require 'torch.support.fail'
local C = torch._C

local construct = {}

--- The layout's name: 'torch.sparse_csr' of torch.sparse_csr or 'sparse_csr'.
local function layout_name(what, layout)
  kinds.check(what, 'layout', layout, 'string')
  local name = layout:find '^torch%.' and layout or 'torch.' .. layout
  for _, known in ipairs { torch.strided, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc } do
    if name == known then return name end
  end
  fail("%s(): argument 'layout' must be torch.strided, torch.sparse_coo, torch.sparse_csr or torch.sparse_csc, not '%s'", what, layout)
end

local function refuse_pinned(what, given)
  if given.pin_memory then fail('%s(): the memory of sparse tensors cannot be pinned', what) end
end

-- The values as a tensor of the requested dtype and device; detached if requires_grad is passed,
-- because the result is then a leaf.
local function values_of(what, given)
  local values = given.values
  kinds.check(what, 'values', values, 'Tensor|table|number')
  if not torch.is_tensor(values) then return torch.tensor(values, { dtype = given.dtype, device = given.device }) end
  if given.dtype ~= nil or given.device ~= nil then values = values:to { dtype = given.dtype, device = given.device } end
  return given.requires_grad ~= nil and values:detach() or values
end

local function positions_of(what, name, value, device)
  kinds.check(what, name, value, 'Tensor|table')
  local t = torch.is_tensor(value) and value or torch.tensor(value, { dtype = torch.int64 })
  if t.dtype.is_floating_point or t.dtype.is_complex or t.dtype == torch.bool then
    fail('%s(): %s must be integers, but got %s', what, name, tostring(t.dtype))
  end
  return t:detach():to { dtype = torch.int64, device = device }
end

local function sizes_of(what, size)
  kinds.check(what, 'size', size, 'sizes|userdata|table')
  return type(size) == 'number' and { size } or size
end

local function finish(t, given)
  return given.requires_grad and t:requires_grad_() or t
end

-- ---- COO ----------------------------------------------------------------------------------------

-- Just large enough for all the positions, and for the values' own dimensions.
local function inferred(indices, values)
  local size = {}
  if indices:size(2) > 0 then
    size = indices:amax(2):tolist()
  else
    for d = 1, indices:size(1) do size[d] = 0 end
  end
  for d = 2, values.ndim do size[#size + 1] = values:size(d) end
  return size
end

-- Without a value: all of the size is 0.
local function empty(size, given)
  local options = { dtype = given.dtype, device = given.device }
  return C.sparse_coo_tensor(torch.empty(#size, 0, { dtype = torch.int64, device = given.device }), torch.empty(0, options), size, true)
end

--- torch.sparse_coo_tensor(indices, values, size, {dtype, device, requires_grad, is_coalesced}):
--- value k of values [nnz, ...] has its position in column k of indices [dimensions, nnz]; values
--- at one position add up. Both may be tables. The default size is the smallest one that contains
--- the indices. sparse_coo_tensor(size): without values.
function construct.sparse_coo_tensor(given)
  refuse_pinned('sparse_coo_tensor', given)
  if given.values == nil then
    local size = given.size or given.indices
    kinds.check('sparse_coo_tensor', 'size', size, 'integers')
    return finish(empty(size, given), given)
  end
  local values = values_of('sparse_coo_tensor', given)
  local indices = positions_of('sparse_coo_tensor', 'indices', given.indices, values.device)
  if indices.ndim == 1 and indices:numel() == 0 then indices = indices:reshape(0, values.ndim > 0 and values:size(1) or 0) end
  if indices.ndim ~= 2 then fail('indices must be sparse_dim x nnz, but got: %dD', indices.ndim) end
  if values.ndim == 0 then values = values:expand(indices:size(2)) end
  local size = given.size ~= nil and sizes_of('sparse_coo_tensor', given.size) or inferred(indices, values)
  return finish(C.sparse_coo_tensor(indices, values, size, given.is_coalesced), given)
end

-- ---- rows and columns ---------------------------------------------------------------------------

local function compressed(what, names, layout, given)
  refuse_pinned(what, given)
  layout = layout_name(what, layout or given.layout or '')
  local values = values_of(what, given)
  local first = positions_of(what, names[1], given[names[1]], values.device)
  local second = positions_of(what, names[2], given[names[2]], values.device)
  local size = given.size
  if size == nil then
    local lines, width = math.max(first:numel() - 1, 0), second:numel() > 0 and second:max():item() or 0
    size = layout == torch.sparse_csr and { lines, width } or { width, lines }
    for d = 2, values.ndim do size[#size + 1] = values:size(d) end
  end
  return finish(C.sparse_compressed_tensor(first, second, values, sizes_of(what, size), layout), given)
end

--- torch.sparse_csr_tensor(crow_indices, col_indices, values, size, options): a matrix in
--- compressed rows. Row i has the values from position crow_indices[i] to crow_indices[i + 1] - 1,
--- in the columns col_indices.
function construct.sparse_csr_tensor(given)
  return compressed('sparse_csr_tensor', { 'crow_indices', 'col_indices' }, torch.sparse_csr, given)
end

--- torch.sparse_csc_tensor(ccol_indices, row_indices, values, size, options): a matrix column by
--- column.
function construct.sparse_csc_tensor(given)
  return compressed('sparse_csc_tensor', { 'ccol_indices', 'row_indices' }, torch.sparse_csc, given)
end

--- torch.sparse_compressed_tensor(compressed_indices, plain_indices, values, size, {layout =
--- torch.sparse_csr}): either of the two.
function construct.sparse_compressed_tensor(given)
  return compressed('sparse_compressed_tensor', { 'compressed_indices', 'plain_indices' }, nil, given)
end

-- ---- from other layouts -------------------------------------------------------------------------

--- x:to_sparse(), x:to_sparse(sparse_dim): to COO. x:to_sparse{layout = torch.sparse_csr, dense_dim
-- = 0}: to that layout.
function construct.to_sparse(self, sparse_dim, layout, blocksize, dense_dim)
  if blocksize ~= nil then fail 'to_sparse(): layouts of blocks are not supported' end
  layout = layout_name('to_sparse', layout)
  if layout == torch.strided then fail 'to_sparse(): torch.strided is not a sparse layout; call to_dense() for a dense tensor' end
  if layout ~= torch.sparse_coo then return C.to_sparse_compressed(self, layout, dense_dim or 0) end
  if dense_dim then sparse_dim = self.ndim - dense_dim end
  return C.to_sparse_coo(self, sparse_dim)
end

local function to_compressed(layout)
  return function(self, dense_dim) return C.to_sparse_compressed(self, layout, dense_dim) end
end

--- x:to_sparse_csr(dense_dim), x:to_sparse_csc(dense_dim), x:to_sparse_coo(): the tensor in that
--- layout.
construct.to_sparse_csr = to_compressed(torch.sparse_csr)
construct.to_sparse_csc = to_compressed(torch.sparse_csc)
function construct.to_sparse_coo(self) return C.to_sparse_coo(self) end

local OPTIONS = 'any? size, *, dtype? dtype, device? device, boolean? requires_grad, boolean? check_invariants, boolean? pin_memory'
declare.functions(construct, (([[
  sparse_coo_tensor(any? indices, any? values, OPTIONS, boolean is_coalesced=false)
  sparse_csr_tensor(any? crow_indices, any? col_indices, any? values, OPTIONS)
  sparse_csc_tensor(any? ccol_indices, any? row_indices, any? values, OPTIONS)
  sparse_compressed_tensor(any? compressed_indices, any? plain_indices, any? values, OPTIONS, string? layout)
]]):gsub('OPTIONS', OPTIONS)), 'names')
declare.functions(construct, [[
  to_sparse(Tensor self, integer? sparse_dim, *, string layout='torch.sparse_coo', any? blocksize, integer? dense_dim)
  to_sparse_csr(Tensor self, integer dense_dim=0)
  to_sparse_csc(Tensor self, integer dense_dim=0)
  to_sparse_coo(Tensor self)
]])

return construct
