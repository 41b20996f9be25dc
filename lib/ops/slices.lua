-- slices.lua - slice_scatter, lists of copies, functions of positions, and reductions of segments.

local torch = require 'torch'
local dimensions = require 'torch.support.dimensions'
local fail = require 'torch.support.fail'

local both = 'function method'

-- ---- writing a part -----------------------------------------------------------------------------

-- A copy of self with src written to part(copy), a view of it.
local function with(self, src, part)
  local copy = self:clone { memory_format = torch.contiguous_format }
  local view = part(copy)
  if table.concat({ table.unpack(view.shape) }, ',') ~= table.concat({ table.unpack(src.shape) }, ',') then
    fail('expected src to have a size equal to the slice of self. src size = %s, slice size = %s', tostring(src.shape), tostring(view.shape))
  end
  view:copy_(src)
  return copy
end

local function slice_scatter(self, src, dim, start, last, step)
  local subscript = {}
  local at = dimensions.wrap(dim, self.ndim)
  for d = 1, at - 1 do subscript[d] = {} end
  subscript[at] = { start or 1, last or -1, step }
  if last and last > 0 and start and start > 0 and last < start then subscript[at] = nil end
  return with(self, src, function(x)
    if not subscript[at] then return x:narrow(at, 1, 0) end
    return x[subscript]
  end)
end

-- ---- parts as copies ----------------------------------------------------------------------------

local function copied_list(f)
  return function(...)
    local list = {}
    for i, view in ipairs(f(...)) do list[i] = view:clone { memory_format = torch.contiguous_format } end
    return list
  end
end

-- ---- positions ----------------------------------------------------------------------------------

local function unravel_index(indices, shape)
  if type(shape) == 'number' then shape = { shape } end
  if indices.dtype.is_floating_point or indices.dtype == torch.bool then
    fail("unravel_index() expected 'indices' to be integer dtype, but got %s", tostring(indices.dtype))
  end
  local rest, list = indices:to(torch.int64) - 1, {}
  for d = #shape, 1, -1 do
    if shape[d] < 0 then fail("'shape' cannot have negative values, but got (%s)", table.concat(shape, ', ')) end
    list[d] = rest % shape[d] + 1
    rest = rest // shape[d]
  end
  return table.unpack(list)
end

local function nonzero_static(self, size, fill_value)
  if size < 0 then fail('nonzero_static: \'size\' must be an non-negative integer') end
  local found = self:nonzero()
  local n = found:size(1)
  if n >= size then return found:narrow(1, 1, size):clone() end
  local rest = torch.full({ size - n, found:size(2) }, fill_value, { dtype = torch.int64, device = self.device })
  return torch.cat({ found, rest }, 1)
end

local reductions = { prod = 'prod', mean = 'mean', amax = 'amax', amin = 'amin' }

local function index_reduce(self, dim, index, source, reduce, include_self)
  if not reductions[reduce] then
    fail('index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got %s.', reduce)
  end
  if index.ndim > 1 then fail('index_reduce(): Index is supposed to be a vector, but got dim: %d', index.ndim) end
  if self.ndim == 0 then
    return index_reduce(self:reshape(1), 1, index:reshape(-1), source:reshape(-1), reduce, include_self):reshape {}
  end
  dim = dimensions.wrap(dim, self.ndim)
  local shape = {}
  for d = 1, source.ndim do shape[d] = d == dim and -1 or 1 end
  if index:numel() ~= source:size(dim) then
    fail('index_reduce(): Number of indices (%d) should be equal to source.size(dim): (%d), for dim: %d', index:numel(), source:size(dim), dim)
  end
  local places = index:to(torch.int64):reshape(shape):expand(source.shape)
  return self:scatter_reduce(dim, places, source, reduce, { include_self = include_self })
end

-- ---- segments -----------------------------------------------------------------------------------

local initial_of = { sum = 0.0, prod = 1.0, max = -math.huge, min = math.huge, mean = 0.0 }
local reduce_as = { sum = 'sum', prod = 'prod', max = 'amax', min = 'amin', mean = 'mean' }

-- lengths: of the segments along axis, for every row of the leading dimensions; offsets (values
-- from 0): the starts of the segments, and the end.
local function segment_reduce(data, reduce, lengths, offsets, axis, unsafe, initial)
  if not initial_of[reduce] then fail('segment_reduce(): unknown reduction %s', reduce) end
  if not lengths and not offsets then fail 'segment_reduce(): Either lengths or offsets must be defined' end
  local whole = lengths ~= nil -- lengths cover all entries, offsets may leave some out
  if not lengths then lengths = torch.diff(offsets, 1, -1) end
  axis = dimensions.wrap(axis, data.ndim)
  if axis ~= lengths.ndim then fail 'segment_reduce(): lengths must have the dimensions of data up to axis' end
  if not unsafe and lengths:lt(0):any():item() then
    fail(whole and 'segment_reduce(): lengths contains negative value!' or 'segment_reduce(): expected offsets that do not decrease')
  end
  if whole and not unsafe and lengths:sum(-1):ne(data:size(axis)):any():item() then
    fail('segment_reduce(): Expected all rows of lengths along axis to sum to data.size(axis), which is %d', data:size(axis))
  end
  local count, n = lengths:size(-1), data:size(axis)
  -- the segment number of each entry; entries after the last segment are assigned to an additional
  -- one, which is dropped
  local ends = lengths:to(torch.int64):cumsum(-1)
  local sizes = table.move(lengths.shape, 1, axis - 1, 1, {})
  sizes[axis] = n
  local entries = torch.arange(n, { device = data.device }):expand(sizes)
  local place = torch.searchsorted(ends, entries:contiguous(), { right = true })
  for _ = axis + 1, data.ndim do place = place:unsqueeze(-1) end
  place = place:expand(data.shape)
  local shape = { table.unpack(data.shape) }
  shape[axis] = count + 1
  local first = initial or initial_of[reduce]
  local start = torch.full(shape, first, { dtype = data.dtype, device = data.device })
  local result
  if reduce == 'mean' then
    local sums = start:scatter_add(axis, place, data)
    local divisors = torch.cat({ lengths, torch.ones_like(lengths:narrow(-1, 1, 1)) }, -1):to(data.dtype)
    for _ = axis + 1, data.ndim do divisors = divisors:unsqueeze(-1) end
    result = sums / divisors
    if initial ~= nil then result = torch.where(divisors:eq(0), start, result) end
  else
    result = start:scatter_reduce(axis, place, data, reduce_as[reduce])
  end
  return result:narrow(axis, 1, count)
end

return {
  { 'slice_scatter(Tensor self, Tensor src, Dim dim=1, Index? start=nil, int? end=nil, int step=1) -> Tensor', variants = both .. ' copied_out', run = slice_scatter,
    doc = 'A copy of self in which the entries start, start + step, ... up to end of a dimension are src.' },
  { 'unbind_copy(Tensor self, Dim dim=1) -> Tensor[]', variants = 'function copied_out', run = copied_list(torch.unbind), doc = 'unbind as copies.' },
  { 'split_with_sizes_copy(Tensor self, Size split_sizes, Dim dim=1) -> Tensor[]', variants = 'function copied_out', run = copied_list(torch.split), doc = 'split_with_sizes as copies.' },
  { 'unravel_index(IndexTensor indices, Size shape) -> IndexTensor', variants = 'function', run = unravel_index,
    doc = 'Converts positions in the flattened tensor of this shape to positions along each dimension.' },
  { 'nonzero_static(Tensor self, *, int size, Index fill_value=-1) -> IndexTensor', variants = both, run = nonzero_static,
    doc = 'The first `size` rows of nonzero, filled up with rows of fill_value.' },
  { 'index_reduce(Tensor self, Dim dim, IndexTensor index, Tensor source, string reduce, *, bool include_self=true) -> Tensor', variants = both .. ' inplace copied_out',
    run = index_reduce, doc = "Combines entries of source with the entries of self at the positions of an index tensor along a dimension: 'prod', 'mean', 'amax' or 'amin'." },
  { "segment_reduce(Tensor data, string reduce, *, Tensor? lengths=nil, Tensor? indices=nil, Tensor? offsets=nil, Dim axis=1, bool unsafe=false, Scalar? initial=nil) -> Tensor",
    variants = 'function', run = function(data, reduce, lengths, _, offsets, axis, unsafe, initial) return segment_reduce(data, reduce, lengths, offsets, axis, unsafe, initial) end,
    doc = "Reduces segments of a dimension, one after the other, of the given lengths: 'sum', 'prod', 'mean', 'max' or 'min'." },

  arguments = [=[
src: Tensor that replaces the selected part.
start: First position of the range, from 1; negative from the end.
slice_scatter.end: Last position of the range.
slice_scatter.step: Distance of the selected entries.
split_sizes: Number of entries of each part.
unravel_index.indices: Positions of elements, counted from 1 in row-major order.
unravel_index.shape: Shape of the tensor that the positions belong to.
nonzero_static.size: Number of rows of the result.
fill_value: Value of the rows that are left over.
index_reduce.index: Positions from 1 along the dimension.
index_reduce.source: Entries to combine, in the order of the positions.
index_reduce.reduce: Combination: `'prod'`, `'mean'`, `'amax'` or `'amin'`.
include_self: Whether the present entries take part in the combination.
segment_reduce.reduce: Reduction of a segment: `'sum'`, `'prod'`, `'mean'`, `'max'` or `'min'`.
data: Input tensor.
lengths: Length of each segment.
segment_reduce.indices: Accepted for compatibility; it has no effect.
segment_reduce.offsets: Beginning of each segment and the end of the last one, instead of the lengths.
axis: Dimension of the segments, from 1.
unsafe: Whether the check of the lengths is left out.
initial: Value with which each reduction begins.
]=],

  examples = [=[
slice_scatter
    torch.zeros(4):slice_scatter(torch.ones(2), 1, 2, 3)
    --> tensor([0., 1., 1., 0.])
unbind_copy
    torch.unbind_copy(torch.tensor{ {1, 2}, {3, 4} })
    --> {tensor([1, 2]), tensor([3, 4])}
split_with_sizes_copy
    torch.split_with_sizes_copy(torch.arange(4), {1, 3})
    --> {tensor([0]), tensor([1, 2, 3])}
unravel_index
    torch.unravel_index(torch.tensor{1, 4}, {2, 3})
    --> (tensor([1, 2]), tensor([1, 1]))
nonzero_static
    torch.tensor{0, 5, 6}:nonzero_static{size = 3}
    --> tensor([[ 2],
    -->         [ 3],
    -->         [-1]])
index_reduce
    torch.ones(2):index_reduce(1, torch.tensor{1, 1, 2}, torch.tensor{2.0, 3.0, 4.0}, 'prod')
    --> tensor([6., 4.])
segment_reduce
    torch.segment_reduce(torch.tensor{1.0, 2.0, 3.0, 4.0}, 'sum', {lengths = torch.tensor{1, 3}})
    --> tensor([1., 9.])
]=],
}
