-- shape.lua - views of a tensor, and ops that only move elements. Dimensions count from 1 in Lua.

local method, views = 'method', 'function method inplace'

return {
  -- ---- views ----------------------------------------------------------------------------------------------
  { 'view(Tensor self, Size size) -> Tensor', batch = 'dims', variants = method, view = true,
    doc = 'The same elements in another shape, without copying; one size may be -1.',
    grad = { self = 'reshape(grad, sizes_of(self))' } },
  { 'view.dtype(Tensor self, Dtype dtype) -> Tensor', constant = 'self', batch = 'dims', variants = method, view = true,
    doc = 'The same memory as elements of another dtype. If its elements are larger or smaller, the last dimension is divided or multiplied by the ratio. Bools stay bools.' },
  { '_unsafe_view(Tensor self, Size size) -> Tensor', float8 = true, batch = 'dims', variants = 'function',
    doc = 'A view of a new copy with no other reference.', grad_fn = 'UnsafeViewBackward0',
    forward = 'linear', grad = { self = 'reshape(grad, sizes_of(self))' } },
  { 'reshape(Tensor self, Size shape) -> Tensor', batch = 'dims', composite = true,
    doc = 'The same elements in another shape: a view where that is possible, else a copy; one size may be -1.' },
  { 'view_as(Tensor self, Tensor other) -> Tensor', batch = 'through', variants = method, composite = true, doc = 'A view in the shape of `other`.' },
  { 'reshape_as(Tensor self, Tensor other) -> Tensor', batch = 'through', variants = method, composite = true, doc = 'Reshaped as `other`.' },
  { 'flatten(Tensor self, Dim start_dim=1, Dim end_dim=-1) -> Tensor', batch = 'through', composite = true,
    doc = 'Merges the dimensions from `start_dim` to `end_dim` into one.' },
  { 'unflatten(Tensor self, Dim dim, Size sizes) -> Tensor', batch = 'through', composite = true,
    doc = 'Splits one dimension into several; one size may be -1.' },
  { 'permute(Tensor self, Dims dims) -> Tensor', sparse = 'form', batch = 'permute', view = true, doc = 'A view with the dimensions in the given order.',
    grad = { self = '_permute_backward(grad, dims)' } },
  { 'transpose(Tensor self, Dim dim0, Dim dim1) -> Tensor', sparse = 'form', view = true, variants = views, aliases = 'swapdims',
    grad_fn_inplace = 'TransposeBackward1',
    doc = 'A view with two dimensions swapped.', grad = { self = 'transpose(grad, dim0, dim1)' } },
  { 'swapaxes(Tensor self, Dim axis0, Dim axis1) -> Tensor', view = true, variants = views, grad_fn = 'TransposeBackward0',
    grad_fn_inplace = 'TransposeBackward1', doc = 'A view with two dimensions swapped: transpose, as NumPy calls it.',
    grad = { self = 'transpose(grad, axis0, axis1)' } },
  { 't(Tensor self) -> Tensor', sparse = 'form', batch = 'turn', view = true, variants = views, grad_fn_inplace = 'TBackward1',
    doc = 'The transpose of a matrix; tensors of fewer dimensions as they are.',
    grad = { self = 't(grad)' } },
  { 'movedim(Tensor self, Dims source, Dims destination) -> Tensor', batch = 'through', aliases = 'moveaxis', composite = true,
    doc = 'A view with one or several dimensions moved to other positions; the others keep their order.' },
  { 'squeeze(Tensor self) -> Tensor', batch = 'squeeze', view = true, variants = views, grad_fn_inplace = 'SqueezeBackward3',
    doc = 'A view without the dimensions of size 1.',
    grad = { self = 'reshape(grad, sizes_of(self))' } },
  { 'squeeze.dim(Tensor self, Dim dim) -> Tensor', view = true, variants = views, grad_fn = 'SqueezeBackward1',
    grad_fn_inplace = 'SqueezeBackward4',
    doc = 'A view without dimension `dim` if its size is 1.', grad = { self = 'reshape(grad, sizes_of(self))' } },
  { 'squeeze.dims(Tensor self, Dims dim) -> Tensor', view = true, variants = views, grad_fn = 'SqueezeBackward2',
    grad_fn_inplace = 'SqueezeBackward5',
    doc = 'A view without the dimensions of this list that have size 1.', grad = { self = 'reshape(grad, sizes_of(self))' } },
  { 'unsqueeze(Tensor self, Dim dim) -> Tensor', sparse = 'form', batch = 'new_dim', view = true, variants = views, grad_fn_inplace = 'UnsqueezeBackward1',
    doc = 'A view with a new dimension of size 1 at `dim`.',
    grad = { self = 'reshape(grad, sizes_of(self))' } },
  { 'expand(Tensor self, Size size) -> Tensor', batch = 'expand', variants = method, view = true,
    doc = 'A view in which dimensions of size 1 are repeated without copying; -1 leaves a size as it is.',
    grad = { self = 'sum_to_size(grad, sizes_of(self))' } },
  { 'expand_as(Tensor self, Tensor other) -> Tensor', batch = 'through', variants = method, composite = true, doc = 'Expanded to the shape of `other`.' },
  { 'sum_to_size(Tensor self, Size size) -> Tensor', variants = method, composite = true,
    doc = 'Summed over the dimensions that `size` lacks or has as 1: the opposite of expand.' },
  { '_sum_like(Tensor self, Tensor like) -> Tensor', variants = '', composite = true, doc = 'Summed to the sizes of like, where these are fewer.' },
  { 'broadcast_to(Tensor self, Size size) -> Tensor', batch = 'expand', composite = true, doc = 'Expanded to `size`.' },
  { 'narrow(Tensor self, Dim dim, Index start, int length) -> Tensor', sparse = true, composite = true,
    doc = 'A view of `length` entries of dimension `dim` from position `start` (from 1).' },
  { 'select(Tensor self, Dim dim, Index index) -> Tensor', sparse = 'form', view = true,
    doc = 'A view of one entry of dimension `dim`, without this dimension.', grad = { self = '_select_backward(grad, sizes_of(self), dim, index)' } },
  { '_slice(Tensor self, int dim, int start, int stop, int step) -> Tensor', sparse = 'form', variants = 'function', view = true,
    doc = 'A view of the entries start, start + step, ... before stop of a dimension (all from 0).', grad_fn = 'SliceBackward0',
    grad = { self = '_slice_backward(grad, sizes_of(self), dim, start, stop, step)' } },
  { '_alias(Tensor self) -> Tensor', batch = 'broadcast', variants = '', view = true, doc = 'A view of the whole tensor.', grad_fn = 'AliasBackward0',
    grad = { self = 'grad' } },
  { 'diagonal(Tensor self, int offset=0, Dim dim1=1, Dim dim2=2) -> Tensor', view = true,
    doc = 'A view of the diagonal of two dimensions, as the last dimension; `offset` above the main one.',
    grad = { self = '_diagonal_backward(grad, sizes_of(self), offset, dim1, dim2)' } },
  { 'unfold(Tensor self, Dim dimension, int size, int step) -> Tensor', batch = 'dims', variants = method, composite = true, grad_fn = 'UnfoldBackward0',
    doc = 'A view of all windows of `size` entries of a dimension, `step` apart, as a new last dimension.' },
  { 'as_strided(Tensor self, Size size, Size stride, int? storage_offset=nil) -> Tensor', batch = 'strided', view = true, variants = views,
    grad_fn_inplace = 'AsStridedBackward1',
    doc = 'A view with the given sizes, strides and offset in elements of the storage; all values as they are.',
    forward = '_as_strided_at(self_t, size, stride, storage_offset, offset_of(self))',
    grad = { self = '_as_strided_backward(grad, sizes_of(self), strides_of(self), offset_of(self), size, stride, storage_offset)' } },
  { 'resize_(Tensor self, Size size) -> self', float8 = true, overlap = 'one value', variants = 'method',
    doc = 'Changes the sizes of self. Its elements stay in memory and become contiguous. If the memory is too small, self moves to new memory that starts with a copy of the old; views keep the old memory. New elements are uninitialized. An error if self requires a gradient.' },
  { 'resize_as_(Tensor self, Tensor the_template) -> self', float8 = true, overlap = 'one value', variants = 'function method',
    constant = 'the_template', doc = 'resize_ to the sizes of another tensor.' },
  { 'unbind(Tensor self, Dim dim=1) -> Tensor[]', composite = true, grad_fn = 'UnbindBackward0', doc = 'All entries of a dimension, without it.' },
  { 'split(Tensor self, int split_size, Dim dim=1) -> Tensor[]', composite = true, grad_fn = 'SplitBackward0',
    doc = 'Views of `split_size` entries of a dimension each; the last may be smaller.' },
  { 'split.sizes(Tensor self, Size split_sizes, Dim dim=1) -> Tensor[]', composite = true, grad_fn = 'SplitWithSizesBackward0',
    doc = 'Views of the given numbers of entries of a dimension.' },
  { 'chunk(Tensor self, int chunks, Dim dim=1) -> Tensor[]', composite = true, grad_fn = 'SplitBackward0',
    doc = 'At most `chunks` views of about equal size along a dimension.' },
  { 'tensor_split(Tensor self, int indices_or_sections, Dim dim=1) -> Tensor[]', composite = true,
    doc = 'That many views of about equal size along a dimension, the longer ones first.' },
  { 'tensor_split.indices(Tensor self, Dims indices_or_sections, Dim dim=1) -> Tensor[]', batch = 'loop', composite = true,
    doc = 'Views cut before the given positions of a dimension.' },
  { 'broadcast_tensors(Tensor[] tensors) -> Tensor[]', variants = 'function', composite = true,
    doc = 'The tensors, in a row or in a table, expanded to the shape they broadcast to.' },

  -- ---- joining ----------------------------------------------------------------------------------------------
  { 'cat(Tensor[] tensors, Dim dim=1) -> Tensor', float8 = true, sparse = 'form', variants = 'function out', overlap = 'copied', aliases = 'concat concatenate',
    doc = 'Joins tensors along an existing dimension.', forward = 'linear', grad = { tensors = 'cat_backward(grad, likes_of(tensors), dim)' } },
  { 'stack(Tensor[] tensors, Dim dim=1) -> Tensor', float8 = true, batch = 'new_dim', variants = 'function out', overlap = 'copied',
    doc = 'Joins tensors of one shape along a new dimension.', forward = 'linear', grad = { tensors = 'stack_backward(grad, likes_of(tensors), dim)' } },
  { 'hstack(Tensor[] tensors) -> Tensor', batch = 'through', variants = 'function copied_out', composite = true, doc = 'Joins side by side: along dimension 2 (1 for vectors).' },
  { 'vstack(Tensor[] tensors) -> Tensor', batch = 'through', variants = 'function copied_out', composite = true, aliases = 'row_stack', doc = 'Joins on top of each other, as rows.' },
  { 'dstack(Tensor[] tensors) -> Tensor', batch = 'through', variants = 'function copied_out', composite = true, doc = 'Joins along the third dimension.' },
  { 'block_diag(Tensor[] tensors) -> Tensor', variants = 'function', composite = true, grad_fn = 'BlockDiagBackward0',
    doc = 'A matrix of zeros with the given matrices, in a row or in a table, along its diagonal.' },
  { 'repeat(Tensor self, Size repeats) -> Tensor', variants = method, composite = true, grad_fn = 'RepeatBackward0',
    doc = "As tile, which is the name to write: `repeat` is a word of Lua, and can only be called as `x['repeat'](x, 2, 3)`." },
  { 'tile(Tensor self, Size dims) -> Tensor', composite = true, grad_fn = 'RepeatBackward0',
    doc = "The tensor laid out `dims` times along each dimension; missing leading counts are 1. (PyTorch's `repeat` is a word of Lua)." },
  { 'flip(Tensor self, Dims dims) -> Tensor', float8 = true, doc = 'A copy with the order of the given dimensions reversed.', forward = 'linear', grad = { self = 'flip(grad, dims)' } },
  { 'roll(Tensor self, Size shifts, Dims? dims=nil) -> Tensor', composite = true, grad_fn = 'RollBackward0',
    doc = 'Entries shifted by `shifts` along `dims`; entries beyond the end continue at the start.' },
  { '_roll(Tensor self, Size shifts, Dims dims) -> Tensor', float8 = true, batch = 'front', variants = '', records = true, grad_fn = 'RollBackward0',
    doc = 'roll along dimensions that are counted from the last one, -1.', forward = 'linear', grad = { self = '_roll_backward(grad, shifts, dims)' } },
  { '_roll_backward(Tensor grad_output, Size shifts, Dims dims) -> Tensor', variants = '', composite = true,
    doc = 'Entries moved back.' },
  { 'repeat_interleave(Tensor self, int repeats, Dim? dim=nil, *, int? output_size=nil) -> Tensor', composite = true, reads = true,
    doc = 'Each entry `repeats` times in a row; flattened first when no dimension is given.' },
  { 'repeat_interleave.tensor(Tensor self, Tensor repeats, Dim? dim=nil, *, int? output_size=nil) -> Tensor', composite = true, reads = true,
    doc = 'Each entry repeated by the number in `repeats`; flattened first when no dimension is given. output_size: their sum.' },
  { 'repeat_interleave.repeats(Tensor repeats, *, int? output_size=nil) -> IndexTensor', variants = 'function',
    doc = 'The position of each number of `repeats`, repeated as often as the number.' },
  { 'tril(Tensor self, int diagonal=0) -> Tensor', float8 = true, batch = 'front', overlap = 'elementwise', variants = 'function method inplace copied_out', doc = 'Zero above the diagonal of the last two dimensions.',
    forward = 'linear', grad = { self = 'tril(grad, diagonal)' } },
  { 'triu(Tensor self, int diagonal=0) -> Tensor', float8 = true, batch = 'front', overlap = 'elementwise', variants = 'function method inplace copied_out', doc = 'Zero below the diagonal of the last two dimensions.',
    forward = 'linear', grad = { self = 'triu(grad, diagonal)' } },
  { 'diag(Tensor self, int diagonal=0) -> Tensor', variants = 'function method copied_out', composite = true,
    doc = 'Of a vector, the matrix with it on a diagonal; of a matrix, a copy of a diagonal.' },
  { 'diagflat(Tensor self, int offset=0) -> Tensor', composite = true,
    doc = 'The matrix with the flattened tensor on a diagonal.' },
  { 'diag_embed(Tensor self, int offset=0, Dim dim1=-2, Dim dim2=-1) -> Tensor', float8 = true, batch = 'new_dim',
    doc = 'Zeros with the last dimension of self on a diagonal of two new dimensions.',
    forward = 'linear', grad = { self = 'diagonal(grad, offset, dim1, dim2)' } },
  { 'fliplr(Tensor self) -> Tensor', composite = true, doc = 'A copy with the order of the columns reversed.' },
  { 'flipud(Tensor self) -> Tensor', composite = true, doc = 'A copy with the order of the rows reversed.' },
  { 'ravel(Tensor self) -> Tensor', batch = 'through', composite = true, doc = 'All elements as a vector: a view where that is possible.' },
  { 'atleast_1d(Tensor self) -> Tensor', batch = 'through', variants = 'function', composite = true, doc = 'A number as a vector; others as they are.' },
  { 'atleast_2d(Tensor self) -> Tensor', batch = 'through', variants = 'function', composite = true, doc = 'A number or a vector as a row; others as they are.' },
  { 'atleast_3d(Tensor self) -> Tensor', batch = 'through', variants = 'function', composite = true,
    doc = 'A view with three dimensions: a vector as [1, n, 1], a matrix as [n, m, 1]; others as they are.' },
  { 'column_stack(Tensor[] tensors) -> Tensor', batch = 'through', variants = 'function copied_out', composite = true,
    doc = 'Joins side by side; vectors are columns.' },
  { 'fill_diagonal_(Tensor self, Scalar fill_value, bool wrap=false) -> self', float8 = true, overlap = 'one value', variants = 'method',
    doc = 'Fills the main diagonal with a number; wrap: again below it in tall matrices.', forward = 'fill_diagonal_(self_t, 0, wrap)', grad = { self = '_fill_diagonal_backward(grad, wrap)' } },
  { '_fill_diagonal_backward(Tensor grad_output, bool wrap) -> Tensor', variants = '', composite = true,
    doc = 'grad_output with zeros on the main diagonal.' },
  { 'rot90(Tensor self, int k=1, Dims? dims=nil) -> Tensor', composite = true, grad_fn = 'Rot90Backward0',
    doc = 'Turned by 90 degrees k times, from the first of two dimensions (1 and 2) towards the second.' },
  { 'meshgrid(Tensor[] tensors, *, string indexing=\'ij\') -> Tensor[]', variants = 'function', composite = true,
    doc = 'The coordinates of a grid: each vector, passed as arguments or in a table, expanded along the dimensions of the others. Returns a result for each vector.' },
  { 'cartesian_prod(Tensor[] tensors) -> Tensor', variants = 'function', composite = true,
    doc = 'All combinations of one element of each vector, one per row; the vectors are arguments or in a table.' },
  { 'combinations(Tensor self, int r=2, bool with_replacement=false) -> Tensor', variants = 'function', composite = true,
    doc = 'All choices of r elements of a vector, one row each.' },
  { 'constant_pad_nd(Tensor self, Size pad, Scalar value=0) -> Tensor', float8 = true, batch = 'front', variants = 'function',
    doc = 'Padded with a number: pad has the numbers of elements before and after the last dimension, then the second to last, and so on.',
    forward = 'constant_pad_nd(self_t, pad, 0)', grad = { self = '_constant_pad_backward(grad, pad)' } },
  { "pad(Tensor self, Size pad, string mode='constant', Scalar? value=nil) -> Tensor", variants = 'function', composite = true,
    doc = "Padded before and after the last dimensions: mode 'constant', 'reflect', 'replicate' or 'circular'." },

  -- ---- parts of derivatives ------------------------------------------------------------------------------
  { '_constant_pad_backward(Tensor grad_output, Size pad) -> Tensor', variants = '', composite = true,
    doc = 'grad_output without the elements that constant_pad_nd added.' },
  { '_pad_by_lookup(Tensor self, Size pad, int mode) -> Tensor', float8 = true, variants = '', batch = 'front',
    doc = "Padded with elements of self: mode 0 is 'reflect', 1 'replicate', 2 'circular'; no amount is negative.",
    forward = 'linear', grad = { self = '_pad_by_lookup_backward(grad, pad, mode)' } },
  { '_pad_by_lookup_backward(Tensor grad_output, Size pad, int mode) -> Tensor', variants = '', batch = 'front',
    doc = 'The derivative of _pad_by_lookup: added elements are summed to their sources.', forward = 'linear', grad = { grad_output = '_pad_by_lookup(grad, pad, mode)' } },
  { '_permute_backward(Tensor grad_output, Dims dims) -> Tensor', variants = '', batch = 'through', composite = true,
    doc = 'grad_output with its dimensions put back where permute took them from.' },
  { '_select_backward(Tensor grad_output, Size sizes, Dim dim, Index index) -> Tensor', float8 = true, variants = '',
    doc = 'Zeros of the given sizes with grad_output where select read.', forward = 'linear', grad = { grad_output = 'select(grad, dim, index)' } },
  { '_slice_backward(Tensor grad_output, Size sizes, int dim, int start, int stop, int step) -> Tensor', float8 = true, variants = '',
    doc = 'Zeros of the given sizes with grad_output where _slice read.',
    forward = 'linear', grad = { grad_output = '_slice(grad, dim, start, stop, step)' } },
  { '_diagonal_backward(Tensor grad_output, Size sizes, int offset, Dim dim1, Dim dim2) -> Tensor', float8 = true, variants = '',
    doc = 'Zeros of the given sizes with grad_output where diagonal read.',
    forward = 'linear', grad = { grad_output = 'diagonal(grad, offset, dim1, dim2)' } },
  { '_as_strided_at(Tensor self, Size size, Size stride, int? storage_offset, int offset) -> Tensor', variants = '', composite = true,
    doc = 'as_strided of a tensor with the memory of one with that offset.' },
  { '_as_strided_backward(Tensor grad_output, Size sizes, Size strides, int offset, Size size, Size stride, int? storage_offset) -> Tensor',
    variants = '', composite = true,
    doc = 'The derivative of as_strided by a tensor of the given sizes, strides and offset, from grad_output.' },
  { 'split_with_sizes(Tensor self, Size split_sizes, Dim dim=1) -> Tensor[]', composite = true, grad_fn = 'SplitWithSizesBackward0', doc = 'Views of the given numbers of entries of a dimension.' },
  { 'unsafe_chunk(Tensor self, int chunks, Dim dim=1) -> Tensor[]', composite = true, grad_fn = 'UnsafeSplitBackward0', doc = 'chunk.' },
  { 'unsafe_split(Tensor self, int split_size, Dim dim=1) -> Tensor[]', composite = true, grad_fn = 'UnsafeSplitBackward0', doc = 'split.' },
  { 'unsafe_split_with_sizes(Tensor self, Size split_sizes, Dim dim=1) -> Tensor[]', composite = true, grad_fn = 'UnsafeSplitWithSizesBackward0', doc = 'split_with_sizes.' },
  { 'hsplit(Tensor self, int sections) -> Tensor[]', composite = true, doc = 'Views cut along dimension 2 (1 of vectors) into equal parts.' },
  { 'hsplit.indices(Tensor self, Dims indices) -> Tensor[]', batch = 'loop', composite = true, doc = 'Views cut along dimension 2 (1 of vectors) before the given positions.' },
  { 'vsplit(Tensor self, int sections) -> Tensor[]', composite = true, doc = 'Views cut along dimension 1 into equal parts.' },
  { 'vsplit.indices(Tensor self, Dims indices) -> Tensor[]', batch = 'loop', composite = true, doc = 'Views cut along dimension 1 before the given positions.' },
  { 'dsplit(Tensor self, int sections) -> Tensor[]', composite = true, doc = 'Views cut along dimension 3 into equal parts.' },
  { 'dsplit.indices(Tensor self, Dims indices) -> Tensor[]', batch = 'loop', composite = true, doc = 'Views cut along dimension 3 before the given positions.' },

  arguments = [=[
unsafe_chunk.chunks: Number of parts.
unsafe_split.split_size: Number of entries of each part; the last one may have fewer.
split_with_sizes.split_sizes: Number of entries of each part.
unsafe_split_with_sizes.split_sizes: Number of entries of each part.
hsplit.sections: Number of parts of equal size.
vsplit.sections: Number of parts of equal size.
dsplit.sections: Number of parts of equal size.
hsplit.indices: Position from 1 of the first entry of each part after the first one.
vsplit.indices: Position from 1 of the first entry of each part after the first one.
dsplit.indices: Position from 1 of the first entry of each part after the first one.
start_dim: First dimension of the range, from 1.
end_dim: Last dimension of the range.
sizes: Sizes of the new dimensions; one may be -1 and follows from the others.
axis0: First of the two dimensions, from 1.
axis1: Second of the two dimensions, from 1.
movedim.source: Dimensions to move, from 1.
movedim.destination: Their new positions.
transpose.dim0: First of the two dimensions, from 1.
transpose.dim1: Second of the two dimensions, from 1.
permute.dims: New order of the dimensions, each a position from 1.
tile.dims: Number of repetitions along each dimension.
narrow.start: First position of the range, from 1; negative from the end.
length: Number of entries of the range.
select.index: Position of the entry, from 1; negative from the end.
offset: Diagonal: 0 is the main one, positive ones are above it.
diagonal: Diagonal: 0 is the main one, positive ones are above it.
unfold.dimension: Dimension along which the windows are taken, from 1.
unfold.size: Number of entries of a window.
step: Distance between the beginnings of neighbouring windows.
as_strided.stride: Distance in elements between neighbours along each dimension.
storage_offset: Elements of the storage before the first one; that of self if absent.
the_template: Tensor with the new shape of self.
split_size: Number of entries of each part; the last one may have fewer.
split_sizes: Number of entries of each part.
chunks: Number of parts.
indices_or_sections (int): Number of parts.
indices_or_sections (Dims): Position from 1 of the first entry of each part after the first one.
tensors: Tensors, in a row or in a table.
cat.tensors: Tensors that differ at most in the size of this dimension.
stack.tensors: Tensors of the same shape.
stack.dim: Position of the new dimension, from 1; negative from the end.
unsqueeze.dim: Position of the new dimension, from 1; negative from the end.
repeats: Number of repetitions of each entry.
repeat.repeats: Number of repetitions along each dimension.
repeat_interleave.output_size: Size of the result along the dimension, if it is known, which saves a pass.
shifts: Number of positions by which entries move along each dimension; entries that leave it return at the other end.
fill_value: Value of the diagonal.
wrap: Whether the diagonal begins again below itself in tall matrices.
rot90.k: Number of rotations by 90 degrees.
indexing: Order of the first two dimensions: `'ij'` or `'xy'`.
r: Number of elements of each combination.
with_replacement: Whether an element may occur several times in a combination.
pad: Number of elements before and after, from the last dimension to the first: {left, right, top, bottom, ...}.
pad.mode: Values of the padding: `'constant'`, `'reflect'`, `'replicate'` or `'circular'`.
value: Value of the padding, for the mode `'constant'`.
expand.size: Sizes of the result; -1 keeps the size of a dimension.
view_as.other: Tensor with the shape of the result.
reshape_as.other: Tensor with the shape of the result.
expand_as.other: Tensor with the shape of the result.
]=],

  examples = [=[
view
    torch.arange(6):view(2, 3)
    --> tensor([[0, 1, 2],
    -->         [3, 4, 5]])
    torch.tensor{1.0}:view(torch.int32)
    --> tensor([1065353216], dtype=torch.int32)
reshape
    torch.arange(6):reshape(2, -1)
    --> tensor([[0, 1, 2],
    -->         [3, 4, 5]])
view_as
    torch.arange(4):view_as(torch.zeros(2, 2))
    --> tensor([[0, 1],
    -->         [2, 3]])
reshape_as
    torch.arange(4):reshape_as(torch.zeros(2, 2))
    --> tensor([[0, 1],
    -->         [2, 3]])
flatten
    torch.zeros(2, 3, 4):flatten(2).shape
    --> torch.Size([2, 12])
unflatten
    torch.zeros(2, 12):unflatten(2, {3, 4}).shape
    --> torch.Size([2, 3, 4])
permute
    torch.zeros(2, 3, 4):permute(3, 1, 2).shape
    --> torch.Size([4, 2, 3])
transpose
    torch.tensor{ {1, 2, 3}, {4, 5, 6} }:transpose(1, 2)
    --> tensor([[1, 4],
    -->         [2, 5],
    -->         [3, 6]])
swapaxes
    torch.zeros(2, 3, 4):swapaxes(1, 3).shape
    --> torch.Size([4, 3, 2])
t
    torch.tensor{ {1, 2}, {3, 4} }:t()
    --> tensor([[1, 3],
    -->         [2, 4]])
movedim
    torch.zeros(2, 3, 4):movedim(1, -1).shape
    --> torch.Size([3, 4, 2])
squeeze
    torch.zeros(1, 2, 1):squeeze().shape
    --> torch.Size([2])
    torch.zeros(1, 2, 1):squeeze(1).shape
    --> torch.Size([2, 1])
unsqueeze
    torch.tensor{1, 2}:unsqueeze(2)
    --> tensor([[1],
    -->         [2]])
expand
    torch.tensor{ {1}, {2} }:expand(-1, 3)
    --> tensor([[1, 1, 1],
    -->         [2, 2, 2]])
expand_as
    torch.tensor{1, 2}:expand_as(torch.zeros(2, 2))
    --> tensor([[1, 2],
    -->         [1, 2]])
sum_to_size
    torch.ones(3, 2):sum_to_size(1, 2)
    --> tensor([[3., 3.]])
broadcast_to
    torch.tensor{1, 2}:broadcast_to(2, 2)
    --> tensor([[1, 2],
    -->         [1, 2]])
narrow
    torch.tensor{10, 20, 30, 40}:narrow(1, 2, 3)
    --> tensor([20, 30, 40])
select
    torch.tensor{ {1, 2}, {3, 4} }:select(1, 2)
    --> tensor([3, 4])
diagonal
    torch.tensor{ {1, 2}, {3, 4} }:diagonal()
    --> tensor([1, 4])
unfold
    torch.arange(1, 6):unfold(1, 3, 1)
    --> tensor([[1, 2, 3],
    -->         [2, 3, 4],
    -->         [3, 4, 5]])
as_strided
    torch.arange(6):as_strided({2, 2}, {1, 2})
    --> tensor([[0, 2],
    -->         [1, 3]])
resize_
    torch.arange(6):resize_(2, 2)
    --> tensor([[0, 1],
    -->         [2, 3]])
resize_as_
    torch.arange(6):resize_as_(torch.zeros(2, 2))
    --> tensor([[0, 1],
    -->         [2, 3]])
unbind
    table.unpack(torch.tensor{ {1, 2}, {3, 4} }:unbind())
    --> (tensor([1, 2]), tensor([3, 4]))
split
    torch.arange(5):split(2)
    --> {tensor([0, 1]), tensor([2, 3]), tensor([4])}
    torch.arange(5):split{1, 4}
    --> {tensor([0]), tensor([1, 2, 3, 4])}
chunk
    torch.arange(5):chunk(2)
    --> {tensor([0, 1, 2]), tensor([3, 4])}
tensor_split
    torch.arange(5):tensor_split(2)
    --> {tensor([0, 1, 2]), tensor([3, 4])}
    torch.arange(5):tensor_split({3, 5})
    --> {tensor([0, 1]), tensor([2, 3]), tensor([4])}
broadcast_tensors
    local a, b = torch.broadcast_tensors(torch.zeros(2, 1), torch.zeros(3))
    a.shape, b.shape
    --> (torch.Size([2, 3]), torch.Size([2, 3]))
cat
    torch.cat({torch.tensor{1, 2}, torch.tensor{3}})
    --> tensor([1, 2, 3])
    torch.cat({torch.zeros(2, 1), torch.ones(2, 2)}, 2)
    --> tensor([[0., 1., 1.],
    -->         [0., 1., 1.]])
stack
    torch.stack({torch.tensor{1, 2}, torch.tensor{3, 4}})
    --> tensor([[1, 2],
    -->         [3, 4]])
hstack
    torch.hstack({torch.tensor{1, 2}, torch.tensor{3}})
    --> tensor([1, 2, 3])
vstack
    torch.vstack({torch.tensor{1, 2}, torch.tensor{3, 4}})
    --> tensor([[1, 2],
    -->         [3, 4]])
dstack
    torch.dstack({torch.zeros(2, 3), torch.zeros(2, 3)}).shape
    --> torch.Size([2, 3, 2])
block_diag
    torch.block_diag(torch.ones(1, 1), torch.ones(2, 2) * 2)
    --> tensor([[1., 0., 0.],
    -->         [0., 2., 2.],
    -->         [0., 2., 2.]])
repeat
    x = torch.tensor{1, 2}
    x['repeat'](x, 2, 2)
    --> tensor([[1, 2, 1, 2],
    -->         [1, 2, 1, 2]])
tile
    torch.tensor{1, 2}:tile(2)
    --> tensor([1, 2, 1, 2])
flip
    torch.tensor{ {1, 2}, {3, 4} }:flip(1)
    --> tensor([[3, 4],
    -->         [1, 2]])
roll
    torch.tensor{1, 2, 3, 4}:roll(1)
    --> tensor([4, 1, 2, 3])
repeat_interleave
    torch.tensor{1, 2}:repeat_interleave(2)
    --> tensor([1, 1, 2, 2])
    torch.tensor{1, 2}:repeat_interleave(torch.tensor{1, 3})
    --> tensor([1, 2, 2, 2])
tril
    torch.ones(3, 3):tril()
    --> tensor([[1., 0., 0.],
    -->         [1., 1., 0.],
    -->         [1., 1., 1.]])
triu
    torch.ones(3, 3):triu(1)
    --> tensor([[0., 1., 1.],
    -->         [0., 0., 1.],
    -->         [0., 0., 0.]])
diag
    torch.tensor{1, 2}:diag()
    --> tensor([[1, 0],
    -->         [0, 2]])
    torch.tensor{ {1, 2}, {3, 4} }:diag()
    --> tensor([1, 4])
diagflat
    torch.diagflat(torch.tensor{1, 2}, 1)
    --> tensor([[0, 1, 0],
    -->         [0, 0, 2],
    -->         [0, 0, 0]])
diag_embed
    torch.zeros(5, 3):diag_embed().shape
    --> torch.Size([5, 3, 3])
fliplr
    torch.tensor{ {1, 2}, {3, 4} }:fliplr()
    --> tensor([[2, 1],
    -->         [4, 3]])
flipud
    torch.tensor{ {1, 2}, {3, 4} }:flipud()
    --> tensor([[3, 4],
    -->         [1, 2]])
ravel
    torch.tensor{ {1, 2}, {3, 4} }:ravel()
    --> tensor([1, 2, 3, 4])
atleast_1d
    torch.atleast_1d(torch.tensor(5))
    --> tensor([5])
atleast_2d
    torch.atleast_2d(torch.tensor{1, 2})
    --> tensor([[1, 2]])
atleast_3d
    torch.atleast_3d(torch.tensor{1, 2}).shape
    --> torch.Size([1, 2, 1])
column_stack
    torch.column_stack({torch.tensor{1, 2}, torch.tensor{3, 4}})
    --> tensor([[1, 3],
    -->         [2, 4]])
fill_diagonal_
    torch.zeros(2, 3):fill_diagonal_(7)
    --> tensor([[7., 0., 0.],
    -->         [0., 7., 0.]])
rot90
    torch.tensor{ {1, 2}, {3, 4} }:rot90()
    --> tensor([[2, 4],
    -->         [1, 3]])
meshgrid
    torch.meshgrid(torch.tensor{1, 2}, torch.tensor{3, 4}, {indexing = 'ij'})
    --> (tensor([[1, 1],
    -->          [2, 2]]),
    -->  tensor([[3, 4],
    -->          [3, 4]]))
cartesian_prod
    torch.cartesian_prod(torch.tensor{1, 2}, torch.tensor{3, 4})
    --> tensor([[1, 3],
    -->         [1, 4],
    -->         [2, 3],
    -->         [2, 4]])
combinations
    torch.combinations(torch.tensor{1, 2, 3})
    --> tensor([[1, 2],
    -->         [1, 3],
    -->         [2, 3]])
constant_pad_nd
    torch.constant_pad_nd(torch.tensor{1, 2}, {1, 2}, 9)
    --> tensor([9, 1, 2, 9, 9])
pad
    nn.functional.pad(torch.tensor{ { {1.0, 2.0, 3.0} } }, {1, 1}, 'reflect')
    --> tensor([[[2., 1., 2., 3., 2.]]])
split_with_sizes
    torch.arange(4):split_with_sizes({1, 3})
    --> {tensor([0]), tensor([1, 2, 3])}
unsafe_chunk
    torch.arange(4):unsafe_chunk(2)
    --> {tensor([0, 1]), tensor([2, 3])}
unsafe_split
    torch.arange(4):unsafe_split(3)
    --> {tensor([0, 1, 2]), tensor([3])}
unsafe_split_with_sizes
    torch.arange(4):unsafe_split_with_sizes({3, 1})
    --> {tensor([0, 1, 2]), tensor([3])}
hsplit
    torch.arange(4):hsplit(2)
    --> {tensor([0, 1]), tensor([2, 3])}
vsplit
    torch.tensor{ {1, 2}, {3, 4} }:vsplit(2)
    --> {tensor([[1, 2]]), tensor([[3, 4]])}
dsplit
    torch.zeros(2, 2, 4):dsplit(2)[1].shape
    --> torch.Size([2, 2, 2])
]=],
}
