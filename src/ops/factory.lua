-- factory.lua - ops that create tensors of given values, and ops that fill tensors.

local fn = 'function'

return {
  -- ---- constant values -----------------------------------------------------------------------------------
  { 'empty(Size size, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, variants = fn .. ' copied_out', factory = true,
    doc = 'An uninitialized tensor of the given shape.' },
  { 'zeros(Size size, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, variants = fn .. ' copied_out', factory = true,
    doc = 'A tensor of zeros.' },
  { 'ones(Size size, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, variants = fn .. ' copied_out', factory = true,
    doc = 'A tensor of ones.' },
  { 'full(Size size, Scalar fill_value, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, variants = fn .. ' copied_out', factory = true,
    doc = 'A tensor filled with one value, of that value\'s type unless a dtype is given.' },
  { 'eye(int n, int? m=nil, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, variants = fn .. ' copied_out', factory = true,
    doc = 'An n x m matrix with ones on the diagonal.' },
  { 'arange(Scalar start, Scalar? end=nil, Scalar step=1, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn .. ' copied_out',
    factory = true, doc = 'start, start + step, ... before end; one number alone is the end, from 0.' },
  { 'linspace(Scalar start, Scalar end, int steps, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn .. ' copied_out',
    factory = true, doc = '`steps` values evenly spaced from start to end, both included.' },
  { 'logspace(Scalar start, Scalar end, int steps, float base=10.0, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn .. ' copied_out',
    factory = true, doc = '`steps` values from base ^ start to base ^ end, with evenly spaced exponents.' },
  { 'empty_strided(Size size, Size stride, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, variants = fn, factory = true,
    doc = 'An uninitialized tensor of the given shape and strides.' },
  { 'tril_indices(int row, int col, int offset=0, *, Dtype? dtype=nil, Device? device=nil) -> IndexTensor', variants = fn,
    factory = true, doc = 'The positions (rows, then columns) of the lower triangle of a row x col matrix.' },
  { 'triu_indices(int row, int col, int offset=0, *, Dtype? dtype=nil, Device? device=nil) -> IndexTensor', variants = fn,
    factory = true, doc = 'The positions (rows, then columns) of the upper triangle of a row x col matrix.' },
  { 'empty_like(Tensor self, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, batch = 'broadcast', variants = fn, factory = true,
    doc = 'Uninitialized, of the shape, dtype and device of self.' },
  { 'zeros_like(Tensor self, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, sparse = 'form', batch = 'broadcast', variants = fn, factory = true,
    doc = 'Zeros, of the shape, dtype and device of self.' },
  { 'ones_like(Tensor self, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, batch = 'broadcast', variants = fn, factory = true,
    doc = 'Ones, of the shape, dtype and device of self.' },
  { 'full_like(Tensor self, Scalar fill_value, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, batch = 'broadcast', variants = fn, factory = true,
    doc = 'One value, of the shape, dtype and device of self.' },
  { 'new_empty(Tensor self, Size size, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, batch = 'dims', variants = 'method', factory = true,
    doc = 'Uninitialized, of the dtype and device of self.' },
  { 'new_zeros(Tensor self, Size size, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, batch = 'dims', variants = 'method', factory = true,
    doc = 'Zeros, of the dtype and device of self.' },
  { 'new_ones(Tensor self, Size size, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, batch = 'dims', variants = 'method', factory = true,
    doc = 'Ones, of the dtype and device of self.' },
  { 'new_full(Tensor self, Size size, Scalar fill_value, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', float8 = true, batch = 'dims', variants = 'method',
    factory = true, doc = 'One value, of the dtype and device of self.' },

  -- ---- in-place filling -------------------------------------------------------------------------------------
  { 'fill_(Tensor self, Scalar value) -> self', float8 = true, batch = 'broadcast', overlap = 'one value', variants = 'method', doc = 'Fills self with a number.', grad_fn = 'FillBackward0',
    grad = { self = 'zeros_like(grad)' } },
  { 'fill_.tensor(Tensor self, Tensor value) -> self', float8 = true, batch = 'filled', overlap = 'aside', variants = 'method', doc = 'Fills self with the value of a 0-dim tensor.',
    grad_fn = 'FillBackward1', forward = 'linear', grad = { self = 'zeros_like(grad)', value = 'sum(grad)' } },
  { 'zero_(Tensor self) -> self', float8 = true, sparse = 'form', batch = 'broadcast', overlap = 'one value', variants = 'method', doc = 'Fills self with zeros.', grad = { self = 'zeros_like(grad)' } },

  { 'empty_permuted(Size size, Dims physical_layout, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn, factory = true,
    doc = 'An uninitialized tensor of the given shape, with its dimensions stored in the given order.' },
  { 'new_empty_strided(Tensor self, Size size, Size stride, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', batch = 'through', variants = 'method', factory = true,
    doc = 'empty_strided, of the dtype and device of self.' },
  { 'scalar_tensor(Scalar s, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn, factory = true,
    doc = 'A number as a tensor without dimensions, of the default dtype unless another is given.' },
  { 'range(Scalar start, Scalar? end=nil, Scalar step=1, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = fn .. ' copied_out', factory = true,
    doc = 'start, start + step, ... up to end, which is included; arange is the newer way.' },

  arguments = [=[
physical_layout: Dimensions from the one with the largest stride to the one with the smallest.
scalar_tensor.s: The number.
range.start: First number.
range.end: End of the interval, which is included.
range.step: Difference between neighbouring numbers.
new_empty_strided.stride: Distance in elements between neighbours along each dimension.
fill_value: Value of all elements.
eye.n: Number of rows.
eye.m: Number of columns; `n` if absent.
arange.start: First number.
arange.end: End of the interval, which is excluded.
step: Difference between neighbouring numbers.
start: First number; for `logspace` its exponent.
end: Last number; for `logspace` its exponent.
steps: Number of elements.
base: Base of the powers.
row: Number of rows of the matrix.
col: Number of columns of the matrix.
offset: Diagonal that bounds the triangle: 0 is the main one, positive ones are above it.
value: Value of all elements.
empty_strided.stride: Distance in elements between neighbours along each dimension.
]=],

  examples = [=[
empty
    torch.empty(2, 3).shape
    --> torch.Size([2, 3])
zeros
    torch.zeros(2, 3, {dtype = torch.int64})
    --> tensor([[0, 0, 0],
    -->         [0, 0, 0]])
ones
    torch.ones(2, 3)
    --> tensor([[1., 1., 1.],
    -->         [1., 1., 1.]])
full
    torch.full({2, 3}, 7)
    --> tensor([[7, 7, 7],
    -->         [7, 7, 7]])
eye
    torch.eye(2, 3)
    --> tensor([[1., 0., 0.],
    -->         [0., 1., 0.]])
arange
    torch.arange(5)
    --> tensor([0, 1, 2, 3, 4])
    torch.arange(0, 1, 0.25)
    --> tensor([0.0000, 0.2500, 0.5000, 0.7500])
linspace
    torch.linspace(0, 1, 5)
    --> tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
logspace
    torch.logspace(0, 3, 4)
    --> tensor([   1.,   10.,  100., 1000.])
empty_strided
    torch.empty_strided({2, 3}, {1, 2}):stride()
    --> {1, 2}
tril_indices
    torch.tril_indices(3, 3)
    --> tensor([[1, 2, 2, 3, 3, 3],
    -->         [1, 1, 2, 1, 2, 3]])
triu_indices
    torch.triu_indices(3, 3, 1)
    --> tensor([[1, 1, 2],
    -->         [2, 3, 3]])
empty_like
    torch.empty_like(torch.ones(2, 3)).shape
    --> torch.Size([2, 3])
zeros_like
    torch.zeros_like(torch.tensor{1, 2})
    --> tensor([0, 0])
ones_like
    torch.ones_like(torch.tensor{1, 2}, {dtype = torch.float32})
    --> tensor([1., 1.])
full_like
    torch.full_like(torch.zeros(2), 0.5)
    --> tensor([0.5000, 0.5000])
new_empty
    torch.tensor{1, 2}:new_empty(3).dtype
    --> torch.int64
new_zeros
    torch.tensor{1, 2}:new_zeros(3)
    --> tensor([0, 0, 0])
new_ones
    torch.tensor{true}:new_ones(2, 2)
    --> tensor([[True, True],
    -->         [True, True]])
new_full
    torch.tensor{1.5}:new_full({2, 2}, 3)
    --> tensor([[3., 3.],
    -->         [3., 3.]])
fill_
    torch.empty(2, 2):fill_(3)
    --> tensor([[3., 3.],
    -->         [3., 3.]])
zero_
    torch.ones(2):zero_()
    --> tensor([0., 0.])
empty_permuted
    torch.empty_permuted({2, 3}, {2, 1}):stride()
    --> {1, 2}
new_empty_strided
    torch.ones(1):new_empty_strided({2, 3}, {1, 2}):stride()
    --> {1, 2}
scalar_tensor
    torch.scalar_tensor(7)
    --> tensor(7.)
range
    torch.range(1, 3)
    --> tensor([1., 2., 3.])
]=],
}
