-- index.lua - reads and writes elements by position. In Lua positions count from 1; the binding converts them
-- to 0-based indices. _index and _index_put_ implement every bracket form with tensors.

local all = 'function method inplace'

return {
  -- ---- brackets ----------------------------------------------------------------------------------------------
  { '_index(Tensor self, Tensor[] indices) -> Tensor', float8 = true, batch = 'by_tensors', variants = '', grad_fn = 'IndexBackward0',
    doc = 'Elements picked by index tensors, one per leading dimension; NULL selects a whole dimension, bool tensors are masks.',
    forward = 'linear', grad = { self = '_index_backward(grad, sizes_of(self), indices)' } },
  { '_index_put_(Tensor self, Tensor[] indices, Tensor values, bool accumulate=false) -> self', float8 = true, batch = 'by_tensors', variants = '',
    grad_fn = 'IndexPutBackward0', doc = 'Stores values (broadcast) where _index would read, or adds them.',
    forward = 'linear', grad = { self = '_index_put_backward_self(grad, indices, accumulate)',
      values = '_index_put_backward_values(grad, indices, sizes_of(values))' } },
  { 'index_put(Tensor self, IndexTensor[] indices, Tensor values, bool accumulate=false) -> Tensor', float8 = true, batch = 'by_tensors', variants = all,
    grad_fn = 'IndexPutBackward0',
    doc = 'Stores values (broadcast) at the positions in index tensors for the leading dimensions, or adds them.',
    forward = 'linear', grad = { self = '_index_put_backward_self(grad, indices, accumulate)',
      values = '_index_put_backward_values(grad, indices, sizes_of(values))' } },
  { '_index_backward(Tensor grad_output, Size sizes, Tensor[] indices) -> Tensor', float8 = true, batch = 'by_tensors', variants = '',
    doc = 'Zeros of the given sizes with grad_output added where _index read.', forward = 'linear', grad = { grad_output = '_index(grad, indices)' } },
  { '_index_put_backward_self(Tensor grad_output, Tensor[] indices, bool accumulate) -> Tensor', variants = '', composite = true,
    doc = 'grad_output with zeros where values were stored.' },
  { '_index_put_backward_values(Tensor grad_output, Tensor[] indices, Size sizes) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'grad_output where values were stored, summed to the given sizes.' },

  -- ---- along a dimension ------------------------------------------------------------------------------------
  { 'gather(Tensor self, Dim dim, IndexTensor index) -> Tensor', float8 = true, positions = true, variants = 'function method out',
    doc = 'Elements picked along a dimension by an index tensor of the result\'s shape.',
    forward = 'linear', grad = { self = '_gather_backward(grad, sizes_of(self), dim, index)' } },
  { '_gather_backward(Tensor grad_output, Size sizes, Dim dim, IndexTensor index) -> Tensor', variants = '', composite = true,
    doc = 'Zeros with grad_output added where gather read.' },
  { 'scatter(Tensor self, Dim dim, IndexTensor index, Tensor src) -> Tensor', float8 = true, positions = true, variants = all .. ' copied_out',
    doc = 'Stores the elements of src along a dimension at the positions of an index tensor.',
    forward = 'linear', grad = { self = 'scatter_value(grad, dim, index, 0)', src = 'gather(grad, dim, index)' } },
  { 'scatter.value(Tensor self, Dim dim, IndexTensor index, Scalar value) -> Tensor', float8 = true, positions = true, variants = all .. ' copied_out', grad_fn = 'ScatterBackward1',
    doc = 'Stores one number along a dimension at the positions of an index tensor.',
    forward = 'scatter_value(self_t, dim, index, 0)', grad = { self = 'scatter_value(grad, dim, index, 0)' } },
  { 'scatter.with(Tensor self, Dim dim, IndexTensor index, Tensor src, *, string reduce) -> Tensor', positions = true, variants = all .. ' copied_out',
    doc = "Adds the elements of src ('add') to the elements of self at the positions of an index tensor along a dimension, or multiplies them ('multiply').",
    forward = { self = 'elementwise', src = 'scatter_add(zeros_like(result), dim, index, _scatter_with_backward_src(ones_like(result), self, dim, index, src, reduce, result) * src_t)' },
    grad = { self = '_scatter_with_backward_self(grad, self, dim, index, src, reduce, result)',
      src = '_scatter_with_backward_src(grad, self, dim, index, src, reduce, result)' } },
  { 'scatter.value_with(Tensor self, Dim dim, IndexTensor index, Scalar value, *, string reduce) -> Tensor', positions = true, variants = all .. ' copied_out',
    doc = "Adds a number to the elements at the positions of an index tensor along a dimension, or multiplies them with it.",
    forward = 'elementwise', grad = { self = '_scatter_value_with_backward(grad, dim, index, value, reduce)' } },
  { '_scatter_with_backward_self(Tensor grad_output, Tensor self, Dim dim, IndexTensor index, Tensor src, string reduce, Tensor result) -> Tensor',
    variants = '', composite = true, reads = true, doc = 'The derivative of scatter with reduce by self.' },
  { '_scatter_with_backward_src(Tensor grad_output, Tensor self, Dim dim, IndexTensor index, Tensor src, string reduce, Tensor result) -> Tensor',
    variants = '', composite = true, reads = true, doc = 'The derivative of scatter with reduce by src.' },
  { '_scatter_value_with_backward(Tensor grad_output, Dim dim, IndexTensor index, Scalar value, string reduce) -> Tensor',
    variants = '', composite = true, reads = true, doc = 'The derivative of scatter of a number with reduce.' },
  { 'scatter_add(Tensor self, Dim dim, IndexTensor index, Tensor src) -> Tensor', positions = true, variants = all .. ' copied_out',
    doc = 'Adds the elements of src along a dimension at the positions of an index tensor.',
    forward = 'linear', grad = { self = 'grad', src = 'gather(grad, dim, index)' } },
  { 'index_select(Tensor self, Dim dim, IndexTensor index) -> Tensor', float8 = true, batch = 'index_select', sparse = 'form', positions = true, variants = 'function method out',
    doc = 'The entries of a dimension at the positions of a 1-D index tensor.',
    forward = 'linear', grad = { self = '_index_select_backward(grad, sizes_of(self), dim, index)' } },
  { '_index_select_backward(Tensor grad_output, Size sizes, Dim dim, IndexTensor index) -> Tensor', variants = '', composite = true,
    doc = 'Zeros with grad_output added where index_select read.' },
  { 'index_add(Tensor self, Dim dim, IndexTensor index, Tensor source, *, Scalar alpha=1) -> Tensor', batch = 'by_index', positions = true, variants = all .. ' copied_out',
    doc = 'Adds entries of source, times alpha, to the entries of a dimension at the positions of an index tensor.',
    forward = 'linear', grad = { self = 'grad', source = 'mul(index_select(grad, dim, index), alpha)' } },
  { 'index_copy(Tensor self, Dim dim, IndexTensor index, Tensor source) -> Tensor', float8 = true, batch = 'by_index', positions = true, variants = all .. ' copied_out',
    doc = 'Stores entries of source at the positions of an index tensor along a dimension.',
    forward = 'linear', grad = { self = 'index_fill(grad, dim, index, 0)', source = 'index_select(grad, dim, index)' } },
  { 'index_fill(Tensor self, Dim dim, IndexTensor index, Scalar value) -> Tensor', float8 = true, batch = 'by_index', overlap = 'one value', positions = true, variants = all,
    doc = 'Fills the entries of a dimension at the positions of an index tensor.',
    forward = 'index_fill(self_t, dim, index, 0)', grad = { self = 'index_fill(grad, dim, index, 0)' } },
  { 'index_fill.tensor(Tensor self, Dim dim, IndexTensor index, Tensor value) -> Tensor', float8 = true, batch = 'index_fill', overlap = 'one value', positions = true, variants = all,
    grad_fn = 'IndexFillBackward1', doc = 'Fills the entries of a dimension at the positions of an index tensor with the number of a 0-dim tensor.',
    forward = 'linear', grad = { self = 'index_fill(grad, dim, index, 0)', value = 'sum(grad - index_fill(grad, dim, index, 0), nil)' } },
  { 'take(Tensor self, IndexTensor index) -> Tensor', variants = 'function method copied_out', positions = true, composite = true, grad_fn = 'TakeBackward0', reads = true,
    doc = 'Elements of the flattened tensor at the positions of an index tensor, in its shape.' },
  { 'take_along_dim(Tensor self, IndexTensor indices, Dim? dim=nil) -> Tensor', variants = 'function method copied_out', positions = true, composite = true,
    doc = 'gather with both tensors broadcast except in the dimension; without a dimension, both are flattened.' },
  { 'put(Tensor self, IndexTensor index, Tensor source, bool accumulate=false) -> Tensor', float8 = true, positions = true, variants = 'method inplace',
    doc = 'Stores the elements of source at positions of the flattened tensor, or adds them.',
    forward = 'linear',
    grad = { self = '_put_backward(grad, index, accumulate)', source = 'reshape(take(grad, index), sizes_of(source))' } },
  { '_put_backward(Tensor grad_output, IndexTensor index, bool accumulate) -> Tensor', variants = '', composite = true,
    doc = 'grad_output, with zeros where put stored.' },
  { "scatter_reduce(Tensor self, Dim dim, IndexTensor index, Tensor src, string reduce, *, bool include_self=true) -> Tensor", positions = true, variants = all .. ' copied_out',
    doc = "Combines the elements of src with the elements of self at the positions of an index tensor: 'sum', 'prod', 'mean', 'amax' or 'amin'.",
    forward = { self = 'elementwise', src = 'scatter_add(zeros_like(result), dim, index, _scatter_reduce_backward_src(ones_like(result), self, dim, index, src, reduce, include_self, result) * src_t)' },
    grad = { self = '_scatter_reduce_backward_self(grad, self, dim, index, src, reduce, include_self, result)',
      src = '_scatter_reduce_backward_src(grad, self, dim, index, src, reduce, include_self, result)' } },
  { '_scatter_reduce_backward_self(Tensor grad_output, Tensor self, Dim dim, IndexTensor index, Tensor src, string reduce, bool include_self, Tensor result) -> Tensor',
    variants = '', composite = true, reads = true, doc = 'The derivative of scatter_reduce by self.' },
  { '_scatter_reduce_backward_src(Tensor grad_output, Tensor self, Dim dim, IndexTensor index, Tensor src, string reduce, bool include_self, Tensor result) -> Tensor',
    variants = '', composite = true, reads = true, doc = 'The derivative of scatter_reduce by src.' },

  -- ---- positions in sorted sequences ------------------------------------------------------------------------
  { 'searchsorted(Tensor sorted_sequence, Tensor|Scalar input, *, bool out_int32=false, bool right=false, string? side=nil, IndexTensor? sorter=nil) -> IndexTensor',
    batch = 'searched', variants = 'function copied_out', doc = 'The positions before which values keep a sorted sequence sorted; right: after equal ones.' },
  { 'bucketize(Tensor|Scalar input, Tensor boundaries, *, bool out_int32=false, bool right=false) -> IndexTensor', batch = 'searched', variants = 'function copied_out',
    doc = 'The number of the bucket, between sorted boundaries, that each value falls into.' },

  -- ---- masks ------------------------------------------------------------------------------------------------
  { 'masked_fill(Tensor self, Tensor mask, Scalar value) -> Tensor', float8 = true, batch = 'broadcast', overlap = 'aside', variants = all,
    doc = 'A number where the mask is true, self elsewhere.', forward = 'masked_fill(self_t, mask, 0)', grad = { self = 'masked_fill(grad, mask, 0)' } },
  { 'masked_fill.tensor(Tensor self, Tensor mask, Tensor value) -> Tensor', float8 = true, batch = 'masked_fill', overlap = 'aside', variants = all, grad_fn = 'MaskedFillBackward1',
    doc = 'A 0-dim tensor\'s value where the mask is true, self elsewhere.',
    forward = 'linear', grad = { self = 'masked_fill(grad, mask, 0)', value = 'sum(where(mask, grad, 0), nil)' } },
  { 'masked_select(Tensor self, Tensor mask) -> Tensor', float8 = true, variants = 'function method copied_out', doc = 'The elements where the mask is true, as a vector.',
    forward = 'linear', grad = { self = '_masked_select_backward(grad, sizes_of(self), mask)' } },
  { '_masked_select_backward(Tensor grad_output, Size sizes, Tensor mask) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'Zeros with grad_output where masked_select read.' },
  { 'masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor', float8 = true, variants = 'function method inplace',
    doc = 'The elements of source, in order, where the mask is true, self elsewhere.',
    forward = 'linear', grad = { self = 'masked_fill(grad, mask, 0)', source = '_masked_scatter_backward(grad, mask, sizes_of(source))' } },
  { '_masked_scatter_backward(Tensor grad_output, Tensor mask, Size sizes) -> Tensor', variants = '', composite = true,
    doc = 'grad_output where the mask is true, in order, in the given sizes.' },
  { 'nonzero(Tensor self) -> IndexTensor', variants = 'function method copied_out',
    doc = 'The positions of the elements that are not 0, one row each; with {as_tuple = true} one result per dimension, which index the tensor.' },
  { 'argwhere(Tensor self) -> IndexTensor', doc = 'The positions of the elements that are not 0, one row each, as nonzero.' },
  { 'one_hot(IndexTensor self, int num_classes=-1) -> Tensor', batch = 'front', variants = 'function',
    doc = 'Rows with a 1 at the position in self; num_classes = -1 means the largest position in self.' },

  -- ---- copies with another part --------------------------------------------------------------------------------
  { 'select_scatter(Tensor self, Tensor src, Dim dim, Index index) -> Tensor', variants = 'function method', batch = 'loop', composite = true, grad_fn = 'SelectScatterBackward0',
    doc = 'A copy of self in which one entry of a dimension is src.' },
  { 'diagonal_scatter(Tensor self, Tensor src, int offset=0, Dim dim1=1, Dim dim2=2) -> Tensor', variants = 'function method', batch = 'loop', composite = true, grad_fn = 'DiagonalScatterBackward0',
    doc = 'A copy of self in which a diagonal is src.' },
  { 'as_strided_scatter(Tensor self, Tensor src, Size size, Size stride, int? storage_offset=nil) -> Tensor', variants = 'function method', batch = 'loop', composite = true, grad_fn = 'AsStridedScatterBackward0',
    doc = 'A copy of self in which the elements of an as_strided view are src.' },

  { 'slice_scatter(Tensor self, Tensor src, Dim dim=1, Index? start=nil, Index? end=nil, int step=1) -> Tensor', variants = 'function method copied_out', batch = 'loop', composite = true,
    grad_fn = 'SliceScatterBackward0', doc = 'A copy of self in which the entries start, start + step, ... up to end of a dimension are src.' },
  { 'index_reduce(Tensor self, Dim dim, IndexTensor index, Tensor source, string reduce, *, bool include_self=true) -> Tensor', batch = 'through',
    variants = 'function method inplace copied_out', composite = true, grad_fn = 'IndexReduceBackward0',
    doc = "Combines entries of source with the entries of self at the positions of an index tensor along a dimension: 'prod', 'mean', 'amax' or 'amin'." },
  { 'segment_reduce(Tensor data, string reduce, *, Tensor? lengths=nil, Tensor? indices=nil, Tensor? offsets=nil, Dim axis=1, bool unsafe=false, Scalar? initial=nil) -> Tensor',
    batch = 'through', variants = 'function', composite = true,
    doc = "Reduces segments of a dimension, one after the other, of the given lengths: 'sum', 'prod', 'mean', 'max' or 'min'." },

  arguments = [=[
slice_scatter.src: Tensor that replaces the selected part.
slice_scatter.start: First position of the range, from 1; negative from the end.
slice_scatter.end: Last position of the range.
slice_scatter.step: Distance of the selected entries.
index_reduce.source: Entries to combine, in the order of the positions.
index_reduce.reduce: Combination: `'prod'`, `'mean'`, `'amax'` or `'amin'`.
index_reduce.include_self: Whether the present entries take part in the combination.
segment_reduce.reduce: Reduction of a segment: `'sum'`, `'prod'`, `'mean'`, `'max'` or `'min'`.
data: Input tensor.
lengths: Length of each segment.
segment_reduce.indices: Accepted for compatibility; it has no effect.
segment_reduce.offsets: Beginning of each segment and the end of the last one, instead of the lengths.
axis: Dimension of the segments, from 1.
unsafe: Whether the check of the lengths is left out.
initial: Value with which each reduction begins.
select_scatter.src: Tensor that replaces the selected part.
diagonal_scatter.src: Tensor that replaces the selected part.
as_strided_scatter.src: Tensor that replaces the selected part.
select_scatter.index: Position of the entry, from 1; negative from the end.
diagonal_scatter.offset: Diagonal: 0 is the main one, positive ones are above it.
as_strided_scatter.stride: Distance in elements between neighbours along each dimension.
as_strided_scatter.storage_offset: Elements of the storage before the first one; that of self if absent.
index: Positions from 1 along the dimension.
gather.index: Positions from 1 along the dimension; the result has this shape.
scatter.index: Positions from 1 along the dimension at which elements are written.
take.index: Positions from 1 in the flattened tensor.
put.index: Positions from 1 in the flattened tensor.
indices: Positions from 1 along the dimension.
index_put.indices: Table of index tensors or masks, one for each of the first dimensions.
values: Values to write; they broadcast to the shape of the selected elements.
accumulate: Whether values are added to the elements instead of replacing them.
src: Values to write; at least as large as the index in each dimension.
scatter.value: Number to write.
source: Values to write, in the order of the positions.
alpha: Factor of the source.
value: Value that is written.
scatter.reduce: Combination with the present elements: `'add'` or `'multiply'`.
reduce: Combination of elements: `'sum'`, `'prod'`, `'mean'`, `'amax'` or `'amin'`.
include_self: Whether the present elements take part in the combination.
sorted_sequence: Sorted values, ascending along the last dimension.
boundaries: Sorted boundaries of the buckets, of one dimension.
out_int32: Whether the result has the dtype int32 instead of int64.
right: Whether the position after equal values is returned instead of that before them.
side: The same by name: `'left'` or `'right'`.
sorter: Positions that sort the sequence, if it is not sorted.
mask: Bool tensor, true for the selected elements; it broadcasts with self.
num_classes: Number of classes, which is the size of the new dimension; the largest class if -1.
]=],

  examples = [=[
index_put
    torch.zeros(2, 3):index_put({torch.tensor{1, 2}, torch.tensor{3, 1}}, torch.tensor{5.0, 6.0})
    --> tensor([[0., 0., 5.],
    -->         [6., 0., 0.]])
gather
    torch.tensor{ {1, 2}, {3, 4} }:gather(2, torch.tensor{ {1, 1}, {2, 1} })
    --> tensor([[1, 1],
    -->         [4, 3]])
scatter
    torch.zeros(2, 3):scatter(2, torch.tensor{ {3}, {1} }, 1.0)
    --> tensor([[0., 0., 1.],
    -->         [1., 0., 0.]])
scatter_add
    torch.zeros(3):scatter_add(1, torch.tensor{1, 3, 3}, torch.tensor{1.0, 2.0, 3.0})
    --> tensor([1., 0., 5.])
index_select
    torch.tensor{ {1, 2}, {3, 4}, {5, 6} }:index_select(1, torch.tensor{3, 1})
    --> tensor([[5, 6],
    -->         [1, 2]])
index_add
    torch.zeros(3):index_add(1, torch.tensor{1, 1, 2}, torch.ones(3), {alpha = 2})
    --> tensor([4., 2., 0.])
index_copy
    torch.zeros(3):index_copy(1, torch.tensor{3, 1}, torch.tensor{7.0, 8.0})
    --> tensor([8., 0., 7.])
index_fill
    torch.zeros(2, 3):index_fill(2, torch.tensor{1, 3}, -1)
    --> tensor([[-1.,  0., -1.],
    -->         [-1.,  0., -1.]])
take
    torch.tensor{ {10, 20}, {30, 40} }:take(torch.tensor{1, 4})
    --> tensor([10, 40])
take_along_dim
    x = torch.tensor{ {3, 1, 2}, {9, 8, 7} }
    x:take_along_dim(x:argsort(2), 2)
    --> tensor([[1, 2, 3],
    -->         [7, 8, 9]])
put
    torch.zeros(2, 2):put_(torch.tensor{2, 3}, torch.tensor{5.0, 6.0})
    --> tensor([[0., 5.],
    -->         [6., 0.]])
scatter_reduce
    torch.ones(2):scatter_reduce(1, torch.tensor{1, 1, 2}, torch.tensor{2.0, 3.0, 4.0}, 'prod')
    --> tensor([6., 4.])
searchsorted
    torch.searchsorted(torch.tensor{10, 20, 30}, torch.tensor{5, 20, 40})
    --> tensor([1, 2, 4])
    torch.searchsorted(torch.tensor{10, 20, 30}, torch.tensor{20}, {right = true})
    --> tensor([3])
bucketize
    torch.bucketize(torch.tensor{1, 4, 9}, torch.tensor{2, 6})
    --> tensor([1, 2, 3])
masked_fill
    torch.tensor{1.0, -2.0, 3.0}:masked_fill(torch.tensor{false, true, false}, 0)
    --> tensor([1., 0., 3.])
masked_select
    x = torch.tensor{ {1, 2}, {3, 4} }
    x:masked_select(x:gt(2))
    --> tensor([3, 4])
masked_scatter
    torch.zeros(4):masked_scatter(torch.tensor{true, false, true, false}, torch.tensor{1.0, 2.0})
    --> tensor([1., 0., 2., 0.])
nonzero
    torch.tensor{ {0, 5}, {6, 0} }:nonzero()
    --> tensor([[1, 2],
    -->         [2, 1]])
    local rows, columns = torch.tensor{ {0, 5}, {6, 0} }:nonzero{as_tuple = true}
    rows, columns
    --> (tensor([1, 2]), tensor([2, 1]))
argwhere
    torch.tensor{0, 5, 6}:argwhere()
    --> tensor([[2],
    -->         [3]])
one_hot
    nn.functional.one_hot(torch.tensor{1, 3}, 3)
    --> tensor([[1, 0, 0],
    -->         [0, 0, 1]])
select_scatter
    torch.zeros(2, 2):select_scatter(torch.ones(2), 1, 2)
    --> tensor([[0., 0.],
    -->         [1., 1.]])
diagonal_scatter
    torch.zeros(2, 2):diagonal_scatter(torch.ones(2))
    --> tensor([[1., 0.],
    -->         [0., 1.]])
as_strided_scatter
    torch.zeros(4):as_strided_scatter(torch.ones(2), {2}, {2})
    --> tensor([1., 0., 1., 0.])
slice_scatter
    torch.zeros(4):slice_scatter(torch.ones(2), 1, 2, 3)
    --> tensor([0., 1., 1., 0.])
index_reduce
    torch.ones(2):index_reduce(1, torch.tensor{1, 1, 2}, torch.tensor{2.0, 3.0, 4.0}, 'prod')
    --> tensor([6., 4.])
segment_reduce
    torch.segment_reduce(torch.tensor{1.0, 2.0, 3.0, 4.0}, 'sum', {lengths = torch.tensor{1, 3}})
    --> tensor([1., 9.])
]=],
}
