-- order.lua - sorting and ops based on it: the k largest, medians, quantiles, running extremes, distinct
-- elements, counts. nan is larger than every number. Equal elements keep their order.

return {
  -- ---- sorting -----------------------------------------------------------------------------------------------
  { 'sort(Tensor self, Dim dim=-1, bool descending=false, *, bool stable=false) -> (Tensor values, IndexTensor indices)', variants = 'function method out', overlap = 'copied',
    doc = 'The elements in order along a dimension, and the positions they had. The sort is always stable.',
    forward = 'gather(self_t, dim, indices)',
    grad = { self = '_gather_backward(grad, sizes_of(self), dim, indices)' } },
  { 'argsort(Tensor self, Dim dim=-1, bool descending=false, *, bool stable=false) -> IndexTensor',
    doc = 'The positions of the elements in order along a dimension.' },
  { 'msort(Tensor self) -> Tensor', variants = 'function method copied_out', composite = true, doc = 'The elements in order along the first dimension.' },
  { 'topk(Tensor self, int k, Dim dim=-1, bool largest=true, bool sorted=true) -> (Tensor values, IndexTensor indices)', variants = 'function method out', overlap = 'copied',
    doc = 'The k largest (or smallest) elements along a dimension, and their positions.',
    forward = 'gather(self_t, dim, indices)',
    grad = { self = '_gather_backward(grad, sizes_of(self), dim, indices)' } },
  { 'kthvalue(Tensor self, int k, Dim dim=-1, bool keepdim=false) -> (Tensor values, IndexTensor indices)', variants = 'function method copied_out',
    doc = 'The k-th smallest elements along a dimension, and their positions.',
    forward = '_pick(self_t, dim, indices, keepdim)', grad = { self = '_pick_backward(grad, sizes_of(self), dim, indices, keepdim)' } },

  -- ---- middles ---------------------------------------------------------------------------------------------------
  { 'median(Tensor self) -> Tensor', batch = 'whole', variants = 'function method copied_out', doc = 'The middle element, the lower of two; nan wins.',
    forward = 'sum(_extreme_backward(ones_like(result), self, result, nil, false) * self_t)',
    grad = { self = '_extreme_backward(grad, self, result, nil, false)' } },
  { 'median.dim(Tensor self, Dim dim, bool keepdim=false) -> (Tensor values, IndexTensor indices)', variants = 'function method copied_out', grad_fn = 'MedianBackward1',
    doc = 'The middle elements along a dimension and their positions; nan wins.',
    forward = '_pick(self_t, dim, indices, keepdim)', grad = { self = '_pick_backward(grad, sizes_of(self), dim, indices, keepdim)' } },
  { 'nanmedian(Tensor self) -> Tensor', batch = 'whole', variants = 'function method copied_out', doc = 'The middle of the elements that are not nan.',
    forward = 'sum(_extreme_backward(ones_like(result), self, result, nil, false) * self_t)',
    grad = { self = '_extreme_backward(grad, self, result, nil, false)' } },
  { 'nanmedian.dim(Tensor self, Dim dim, bool keepdim=false) -> (Tensor values, IndexTensor indices)', variants = 'function method copied_out', grad_fn = 'NanmedianBackward1',
    doc = 'The middles along a dimension of the elements that are not nan, and their positions.',
    forward = '_pick(self_t, dim, indices, keepdim)', grad = { self = '_pick_backward(grad, sizes_of(self), dim, indices, keepdim)' } },
  { 'mode(Tensor self, Dim dim=-1, bool keepdim=false) -> (Tensor values, IndexTensor indices)', variants = 'function method copied_out',
    doc = 'The most frequent elements along a dimension, the smallest of equally frequent ones, and the positions of their last occurrences.',
    forward = '_pick(self_t, dim, indices, keepdim)', grad = { self = '_pick_backward(grad, sizes_of(self), dim, indices, keepdim)' } },
  { "quantile(Tensor self, Tensor|Scalar q, Dim? dim=nil, bool keepdim=false, *, string interpolation='linear') -> Tensor",
    variants = 'function method copied_out', composite = true, doc = "The q-th quantiles of the elements; interpolation 'linear', 'lower', 'higher', 'midpoint' or 'nearest'." },
  { "nanquantile(Tensor self, Tensor|Scalar q, Dim? dim=nil, bool keepdim=false, *, string interpolation='linear') -> Tensor",
    variants = 'function method copied_out', composite = true, doc = 'quantile of the elements that are not nan.' },

  -- ---- running extremes --------------------------------------------------------------------------------------
  { 'cummax(Tensor self, Dim dim) -> (Tensor values, IndexTensor indices)', variants = 'function method copied_out',
    doc = 'The largest element so far along a dimension, and its position.',
    forward = 'gather(self_t, dim, indices)', grad = { self = '_gather_backward(grad, sizes_of(self), dim, indices)' } },
  { 'cummin(Tensor self, Dim dim) -> (Tensor values, IndexTensor indices)', variants = 'function method copied_out',
    doc = 'The smallest element so far along a dimension, and its position.',
    forward = 'gather(self_t, dim, indices)', grad = { self = '_gather_backward(grad, sizes_of(self), dim, indices)' } },

  -- ---- distinct elements, counts -----------------------------------------------------------------------------
  { 'unique(Tensor self, bool sorted=true, bool return_inverse=false, bool return_counts=false, Dim? dim=nil) -> (Tensor output, IndexTensor inverse_indices, Tensor counts)',
    doc = 'The distinct elements in order, or the distinct entries of a dimension; on request, also the position of each element in the result and the number of its occurrences.' },
  { 'unique_consecutive(Tensor self, bool return_inverse=false, bool return_counts=false, Dim? dim=nil) -> (Tensor output, IndexTensor inverse_indices, Tensor counts)',
    doc = 'The elements, or entries of a dimension, without consecutive duplicates.' },
  { 'bincount(IndexTensor self, Tensor? weights=nil, int minlength=0) -> Tensor', forward = 'linear', positions = true,
    doc = 'How often each position occurs in a vector of positions, or the sums of their weights.', grad = { weights = 'index_select(grad, 0, self)' } },
  { 'histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor', variants = 'function method copied_out', forward = 'constant',
    doc = 'The number of elements in each of `bins` equal parts of [min, max]; if both are 0, of the range of the elements.' },

  arguments = [=[
descending: Whether the largest element comes first.
stable: Whether equal elements keep their order.
topk.k: Number of elements.
kthvalue.k: Rank of the element, from 1 for the smallest.
largest: Whether the largest elements are returned instead of the smallest.
sorted: Whether the result is sorted.
q: Share of the elements, between 0 and 1: a number, or a tensor of one dimension.
interpolation: Value between two elements: `'linear'`, `'lower'`, `'higher'`, `'midpoint'` or `'nearest'`.
return_inverse: Whether the position in the result is returned for each element.
return_counts: Whether the number of elements is returned for each value.
weights: Weight of each element; ones if absent.
minlength: Minimum number of bins.
bins: Number of bins of equal width.
min: Lower end of the range; if it equals max, the range is that of the elements.
max: Upper end of the range, which is included.
bincount.self: Non-negative integers, of one dimension.
]=],

  examples = [=[
sort
    torch.tensor{3, 1, 2}:sort()
    --> (tensor([1, 2, 3]), tensor([2, 3, 1]))
    torch.tensor{3, 1, 2}:sort{descending = true}
    --> (tensor([3, 2, 1]), tensor([1, 3, 2]))
argsort
    torch.tensor{30, 10, 20}:argsort()
    --> tensor([2, 3, 1])
msort
    torch.msort(torch.tensor{ {3, 1}, {2, 4} })
    --> tensor([[2, 1],
    -->         [3, 4]])
topk
    torch.tensor{5, 9, 1, 7}:topk(2)
    --> (tensor([9, 7]), tensor([2, 4]))
kthvalue
    torch.tensor{5, 9, 1, 7}:kthvalue(2)
    --> (tensor(5), tensor(1))
median
    torch.tensor{3, 1, 2, 4}:median()
    --> tensor(2)
    torch.tensor{ {3, 1, 2}, {6, 4, 5} }:median(2)
    --> (tensor([2, 5]), tensor([3, 3]))
nanmedian
    torch.tensor{3.0, 0 / 0, 1.0}:nanmedian()
    --> tensor(1.)
mode
    torch.tensor{1, 2, 2, 3}:mode()
    --> (tensor(2), tensor(3))
quantile
    torch.tensor{1.0, 2.0, 3.0, 4.0}:quantile(0.5)
    --> tensor(2.5000)
    torch.tensor{1.0, 2.0, 3.0, 4.0}:quantile(torch.tensor{0.0, 0.25, 1.0})
    --> tensor([1.0000, 1.7500, 4.0000])
nanquantile
    torch.tensor{1.0, 0 / 0, 3.0}:nanquantile(0.5)
    --> tensor(2.)
cummax
    torch.tensor{1, 3, 2, 5}:cummax(1)
    --> (tensor([1, 3, 3, 5]), tensor([1, 2, 2, 4]))
cummin
    torch.tensor{5, 3, 4, 1}:cummin(1)
    --> (tensor([5, 3, 3, 1]), tensor([1, 2, 2, 4]))
unique
    torch.tensor{3, 1, 3, 2}:unique()
    --> tensor([1, 2, 3])
    torch.tensor{3, 1, 3, 2}:unique{return_counts = true}
    --> (tensor([1, 2, 3]), tensor([1, 1, 2]))
unique_consecutive
    torch.tensor{1, 1, 2, 2, 1}:unique_consecutive()
    --> tensor([1, 2, 1])
bincount
    torch.tensor{1, 3, 3}:bincount()
    --> tensor([1, 0, 2])
histc
    torch.tensor{1.0, 2.0, 1.0, 4.0}:histc(4, 0, 4)
    --> tensor([0., 2., 1., 1.])
]=],
}
