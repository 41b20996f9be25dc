-- construct.lua - how sparse tensors are made in Lua: of tables or tensors, with sizes that follow from the indices, and from
-- tensors of other layouts. The ops that this leads to are src/ops/sparse.lua's. Indices are positions, from 1.

local torch = require 'torch'
local kinds = require 'torch.support.kinds'
local fail = require 'torch.support.fail'
local C = torch._C

local construct = {}

local OPTIONS = { 'dtype', 'device', 'requires_grad', 'check_invariants', 'pin_memory' }

--- The layout's name: 'torch.sparse_csr' of torch.sparse_csr or 'sparse_csr'.
local function layout_name(what, layout)
  kinds.check(what, 'layout', layout, 'string')
  local name = layout:find '^torch%.' and layout or 'torch.' .. layout
  for _, known in ipairs { torch.strided, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc } do
    if name == known then return name end
  end
  fail("%s(): argument 'layout' must be torch.strided, torch.sparse_coo, torch.sparse_csr or torch.sparse_csc, not '%s'", what, layout)
end

-- The arguments by name, those of every factory among them.
local function read(what, names, more, ...)
  local known = table.move(names, 1, #names, 1, {})
  for _, name in ipairs(OPTIONS) do known[#known + 1] = name end
  for _, name in ipairs(more) do known[#known + 1] = name end
  local given = kinds.by_name(what, names, known, ...)
  for _, name in ipairs { 'requires_grad', 'check_invariants', 'pin_memory', 'is_coalesced' } do kinds.check(what, name, given[name], 'boolean?') end
  if given.pin_memory then fail('%s(): the memory of sparse tensors cannot be pinned', what) end
  kinds.check(what, 'dtype', given.dtype, 'dtype?')
  kinds.check(what, 'device', given.device, 'device?')
  return given
end

-- The values as a tensor: of the given dtype and device, and without history where the result is to be a leaf.
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

-- ---- COO ---------------------------------------------------------------------------------------------------------------

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

--- torch.sparse_coo_tensor(indices, values, size, {dtype, device, requires_grad, is_coalesced}): the value k of values [nnz, ...] at
--- the place in column k of indices [dimensions, nnz]; values at one place add up. Tables will do for both. Without a size it is as
--- large as the indices need. sparse_coo_tensor(size): without values.
function construct.sparse_coo_tensor(...)
  local given = read('sparse_coo_tensor', { 'indices', 'values', 'size' }, { 'is_coalesced' }, ...)
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
  return finish(C.sparse_coo_tensor(indices, values, size, given.is_coalesced or false), given)
end

-- ---- rows and columns ------------------------------------------------------------------------------------------------------

local function compressed(what, names, layout, more, ...)
  local given = read(what, names, more, ...)
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

--- torch.sparse_csr_tensor(crow_indices, col_indices, values, size, options): a matrix row by row. Row i has the values from position
--- crow_indices[i] to crow_indices[i + 1] - 1, in the columns col_indices.
function construct.sparse_csr_tensor(...)
  return compressed('sparse_csr_tensor', { 'crow_indices', 'col_indices', 'values', 'size' }, torch.sparse_csr, {}, ...)
end

--- torch.sparse_csc_tensor(ccol_indices, row_indices, values, size, options): a matrix column by column.
function construct.sparse_csc_tensor(...)
  return compressed('sparse_csc_tensor', { 'ccol_indices', 'row_indices', 'values', 'size' }, torch.sparse_csc, {}, ...)
end

--- torch.sparse_compressed_tensor(compressed_indices, plain_indices, values, size, {layout = torch.sparse_csr}): either of the two.
function construct.sparse_compressed_tensor(...)
  return compressed('sparse_compressed_tensor', { 'compressed_indices', 'plain_indices', 'values', 'size' }, nil, { 'layout' }, ...)
end

-- ---- from other layouts ---------------------------------------------------------------------------------------------------

--- x:to_sparse(), x:to_sparse(sparse_dim): in COO. x:to_sparse{layout = torch.sparse_csr, dense_dim = 0}: in that layout.
function construct.to_sparse(self, ...)
  local given = kinds.by_name('to_sparse', { 'sparse_dim' }, { 'sparse_dim', 'layout', 'dense_dim', 'blocksize' }, ...)
  kinds.check('to_sparse', 'sparse_dim', given.sparse_dim, 'integer?')
  kinds.check('to_sparse', 'dense_dim', given.dense_dim, 'integer?')
  if given.blocksize ~= nil then fail 'to_sparse(): layouts of blocks are not supported' end
  local layout = layout_name('to_sparse', given.layout or torch.sparse_coo)
  if layout == torch.strided then fail 'to_sparse(): torch.strided is no sparse layout; to_dense() makes ordinary tensors' end
  if layout ~= torch.sparse_coo then return C.to_sparse_compressed(self, layout, given.dense_dim or 0) end
  local sparse_dim = given.sparse_dim
  if given.dense_dim then sparse_dim = self.ndim - given.dense_dim end
  return C.to_sparse_coo(self, sparse_dim)
end

local function to_compressed(what, layout)
  return function(self, ...)
    local given = kinds.by_name(what, { 'dense_dim' }, nil, ...)
    kinds.check(what, 'dense_dim', given.dense_dim, 'integer?')
    return C.to_sparse_compressed(self, layout, given.dense_dim or 0)
  end
end

--- x:to_sparse_csr(dense_dim), x:to_sparse_csc(dense_dim), x:to_sparse_coo(): the tensor in that layout.
construct.to_sparse_csr = to_compressed('to_sparse_csr', torch.sparse_csr)
construct.to_sparse_csc = to_compressed('to_sparse_csc', torch.sparse_csc)
function construct.to_sparse_coo(self) return C.to_sparse_coo(self) end

return construct
