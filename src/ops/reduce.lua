-- reduce.lua - reductions and related ops: sums, extremes, norms, softmax. Dimensions count from 1 in Lua.
-- Reductions over several dimensions accept one dimension or a table of them.

local both = 'function method'

local integral = '(Tensor y, Tensor? x=nil, *, Scalar dx=1, Dim dim=-1) -> Tensor'

return {
  -- ---- sums -------------------------------------------------------------------------------------------------
  { 'sum(Tensor self, *, Dtype? dtype=nil) -> Tensor', reads = 'self', sparse = 'form', batch = 'whole', doc = 'The sum of all elements; integers are summed as int64.',
    forward = 'linear', grad = { self = 'expand(grad, sizes_of(self))' } },
  { 'sum.dim(Tensor self, Dims? dim, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor', reads = 'self', variants = both .. ' out', sparse = 'form',
    grad_fn = 'SumBackward1', doc = 'Sums over the given dimensions; `keepdim` leaves them with size 1.',
    forward = 'linear', grad = { self = '_sum_backward(grad, sizes_of(self), dim, keepdim)' } },
  { '_sum_backward(Tensor grad_output, Size sizes, Dims? dim, bool keepdim) -> Tensor', variants = '', composite = true,
    doc = 'grad_output, repeated along the dimensions that a reduction took away.' },
  { 'mean(Tensor self, *, Dtype? dtype=nil) -> Tensor', reads = 'self', batch = 'whole', doc = 'The mean of all elements.',
    forward = 'linear', grad = { self = '_mean_backward(grad, sizes_of(self), nil, false)' } },
  { 'mean.dim(Tensor self, Dims? dim, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor', reads = 'self', variants = both .. ' out',
    grad_fn = 'MeanBackward1', doc = 'The mean over the given dimensions.',
    forward = 'linear', grad = { self = '_mean_backward(grad, sizes_of(self), dim, keepdim)' } },
  { '_mean_backward(Tensor grad_output, Size sizes, Dims? dim, bool keepdim) -> Tensor', variants = '', composite = true,
    doc = '_sum_backward divided by the number of elements that were averaged.' },
  { 'prod(Tensor self, *, Dtype? dtype=nil) -> Tensor', reads = 'self', batch = 'whole', doc = 'The product of all elements; integers as int64.',
    forward = 'sum(_prod_backward(ones_like(result), self) * self_t)', grad = { self = '_prod_backward(grad, self)' } },
  { 'prod.dim(Tensor self, Dim dim, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor', grad_fn = 'ProdBackward1',
    doc = 'The product over a dimension.', forward = 'sum_dim(_prod_backward_dim(ones_like(result), self, dim, keepdim) * self_t, dim, keepdim)', grad = { self = '_prod_backward_dim(grad, self, dim, keepdim)' } },
  { '_prod_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'grad_output times the product of all other elements.' },
  { '_prod_backward.dim(Tensor grad_output, Tensor self, Dim dim, bool keepdim) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'grad_output times the product of all other elements along dim.' },
  { 'cumsum(Tensor self, Dim dim, *, Dtype? dtype=nil) -> Tensor', overlap = 'elementwise', variants = both .. ' inplace out',
    doc = 'Running sums along a dimension.', forward = 'linear', grad = { self = '_reverse_cumsum(grad, dim)' } },
  { 'cumprod(Tensor self, Dim dim, *, Dtype? dtype=nil) -> Tensor', overlap = 'elementwise', variants = both .. ' inplace out',
    doc = 'Running products along a dimension.', forward = '_cumprod_tangent(self_t, self, dim, result)', grad = { self = '_cumprod_backward(grad, self, dim, result)' } },
  { '_cumprod_backward(Tensor grad_output, Tensor self, Dim dim, Tensor result) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'The derivative of cumprod.' },
  { '_cumprod_tangent(Tensor self_t, Tensor self, Dim dim, Tensor result) -> Tensor', variants = '', composite = true, reads = true,
    doc = 'The tangent of cumprod.' },
  { 'logcumsumexp(Tensor self, Dim dim) -> Tensor', overlap = 'elementwise', variants = both .. ' out',
    doc = 'Logarithms of the running sums of exp(self) along a dimension, without overflow.',
    forward = '_logcumsumexp_tangent(self_t, self, result, dim)', grad = { self = '_logcumsumexp_backward(grad, self, result, dim)' } },
  { '_logcumsumexp_backward(Tensor grad_output, Tensor self, Tensor result, Dim dim) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of logcumsumexp.' },
  { '_logcumsumexp_tangent(Tensor self_t, Tensor self, Tensor result, Dim dim) -> Tensor', variants = '', composite = true,
    doc = 'The tangent of logcumsumexp.' },
  { '_reverse_cumsum(Tensor self, Dim dim) -> Tensor', variants = '', composite = true,
    doc = 'Running sums along a dimension from its end.' },
  { 'nansum(Tensor self, Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor', variants = 'function method copied_out', reads = 'self',
    doc = 'The sum of the elements that are not nan.',
    forward = 'sum_dim(where(isnan(self), 0, self_t), dim, keepdim)',
    grad = { self = 'where(isnan(self), 0, _sum_backward(grad, sizes_of(self), dim, keepdim))' } },
  { 'nanmean(Tensor self, Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor', variants = 'function method copied_out', composite = true,
    doc = 'The mean of the elements that are not nan.' },
  { 'trace(Tensor self) -> Tensor', batch = 'trace', doc = 'The sum of the diagonal of a matrix.',
    forward = 'linear', grad = { self = '_trace_backward(grad, sizes_of(self))' } },
  { '_trace_backward(Tensor grad_output, Size sizes) -> Tensor', variants = '', composite = true,
    doc = 'A matrix with grad_output on its diagonal.' },
  { 'count_nonzero(Tensor self, Dims? dim=nil) -> Tensor', reads = 'self', doc = 'How many elements are not 0.' },

  -- ---- extremes ----------------------------------------------------------------------------------------------
  { 'max(Tensor self) -> Tensor', variants = 'function method copied_out', reads = 'self', batch = 'whole', grad_fn = 'MaxBackward1', doc = 'The largest element; nan wins.',
    forward = 'sum(_extreme_backward(ones_like(result), self, result, nil, false) * self_t)',
    grad = { self = '_extreme_backward(grad, self, result, nil, false)' } },
  { 'max.dim(Tensor self, Dim dim, bool keepdim=false) -> (Tensor values, IndexTensor indices)', variants = 'function method out', overlap = 'copied', grad_fn = 'MaxBackward0',
    doc = 'The largest elements along a dimension and their positions (the first of equals).',
    forward = '_pick(self_t, dim, indices, keepdim)',
    grad = { self = '_pick_backward(grad, sizes_of(self), dim, indices, keepdim)' } },
  { 'max.other(Tensor self, Tensor other) -> Tensor', variants = 'function method copied_out', composite = true, doc = 'maximum(self, other).' },
  { 'min(Tensor self) -> Tensor', variants = 'function method copied_out', reads = 'self', batch = 'whole', grad_fn = 'MinBackward1', doc = 'The smallest element; nan wins.',
    forward = 'sum(_extreme_backward(ones_like(result), self, result, nil, false) * self_t)',
    grad = { self = '_extreme_backward(grad, self, result, nil, false)' } },
  { 'min.dim(Tensor self, Dim dim, bool keepdim=false) -> (Tensor values, IndexTensor indices)', variants = 'function method out', overlap = 'copied', grad_fn = 'MinBackward0',
    doc = 'The smallest elements along a dimension and their positions (the first of equals).',
    forward = '_pick(self_t, dim, indices, keepdim)', grad = { self = '_pick_backward(grad, sizes_of(self), dim, indices, keepdim)' } },
  { 'min.other(Tensor self, Tensor other) -> Tensor', variants = 'function method copied_out', composite = true, doc = 'minimum(self, other).' },
  { '_pick(Tensor self, Dim dim, IndexTensor indices, bool keepdim) -> Tensor', variants = '', composite = true,
    doc = 'The elements of self that a reduction over dim took.' },
  { '_pick_backward(Tensor grad_output, Size sizes, Dim dim, IndexTensor indices, bool keepdim) -> Tensor', variants = '',
    composite = true, doc = 'Zeros with grad_output where a reduction over dim took its elements.' },
  { 'amax(Tensor self, Dims? dim=nil, bool keepdim=false) -> Tensor', reads = 'self', variants = both .. ' out',
    doc = 'The largest elements over the given dimensions; ties share the gradient.',
    forward = 'sum_dim(_extreme_backward(ones_like(result), self, result, dim, keepdim) * self_t, dim, keepdim)',
    grad = { self = '_extreme_backward(grad, self, result, dim, keepdim)' } },
  { 'amin(Tensor self, Dims? dim=nil, bool keepdim=false) -> Tensor', reads = 'self', variants = both .. ' out',
    doc = 'The smallest elements over the given dimensions; ties share the gradient.',
    forward = 'sum_dim(_extreme_backward(ones_like(result), self, result, dim, keepdim) * self_t, dim, keepdim)',
    grad = { self = '_extreme_backward(grad, self, result, dim, keepdim)' } },
  { 'aminmax(Tensor self, *, Dim? dim=nil, bool keepdim=false) -> (Tensor min, Tensor max)', variants = 'function method copied_out', composite = true, grad_fn = 'AminmaxBackward0',
    doc = 'The smallest and the largest element, of all or along a dimension.' },
  { '_extreme_backward(Tensor grad_output, Tensor self, Tensor result, Dims? dim, bool keepdim) -> Tensor', variants = '',
    composite = true, doc = 'grad_output shared equally by the elements that equal result.' },
  { 'argmax(Tensor self, Dim? dim=nil, bool keepdim=false) -> IndexTensor', variants = 'function method out', overlap = 'copied',
    doc = 'The position of the largest element, of the flattened tensor or along a dimension.' },
  { 'argmin(Tensor self, Dim? dim=nil, bool keepdim=false) -> IndexTensor', variants = 'function method out', overlap = 'copied',
    doc = 'The position of the smallest element, of the flattened tensor or along a dimension.' },
  { 'any(Tensor self) -> Tensor', variants = 'function method copied_out', reads = 'self', batch = 'whole', doc = 'Whether any element is not 0.' },
  { 'any.dim(Tensor self, Dims? dim, bool keepdim=false) -> Tensor', variants = 'function method copied_out', reads = 'self', doc = 'Whether any element along the dimensions is not 0.' },
  { 'all(Tensor self) -> Tensor', variants = 'function method copied_out', reads = 'self', batch = 'whole', doc = 'Whether no element is 0.' },
  { 'all.dim(Tensor self, Dims? dim, bool keepdim=false) -> Tensor', variants = 'function method copied_out', reads = 'self', doc = 'Whether no element along the dimensions is 0.' },

  -- ---- norms, variance ------------------------------------------------------------------------------------
  { 'norm(Tensor self, Scalar p=2, Dims? dim=nil, bool keepdim=false, Dtype? dtype=nil) -> Tensor', variants = 'function method copied_out', reads = 'self',
    grad_fn = 'LinalgVectorNormBackward0', doc = 'The vector norm (sum |x|^p)^(1/p), of all elements or over dimensions.',
    forward = 'sum_dim(real(conj(_norm_backward(ones_like(result), self, p, result, dim, keepdim)) * self_t), dim, keepdim)',
    grad = { self = '_norm_backward(grad, self, p, result, dim, keepdim)' } },
  { 'norm.fro(Tensor self, string p, Dims? dim=nil, bool keepdim=false, Dtype? dtype=nil) -> Tensor', variants = 'function method copied_out', composite = true,
    doc = "The Frobenius norm, p = 'fro': the square root of the sum of squares." },
  { 'linalg_vector_norm(Tensor self, Scalar ord=2, Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor',
    variants = 'function copied_out', composite = true, doc = 'The vector norm (sum |x|^ord)^(1/ord), of all elements or over dimensions.' },
  { '_norm_backward(Tensor grad_output, Tensor self, Scalar p, Tensor result, Dims? dim, bool keepdim) -> Tensor', variants = '',
    composite = true, doc = 'The derivative of norm.' },
  { 'var(Tensor self, Dims? dim=nil, *, Scalar correction=1, bool keepdim=false) -> Tensor', variants = 'function method copied_out', reads = 'self',
    doc = 'The variance: sum of squared deviations / (n - correction).',
    forward = 'sum_dim(real(conj(_var_backward(ones_like(result), self, dim, correction, keepdim)) * self_t), dim, keepdim)',
    grad = { self = '_var_backward(grad, self, dim, correction, keepdim)' } },
  { 'var.unbiased(Tensor self, bool unbiased) -> Tensor', variants = 'function method copied_out', composite = true,
    doc = 'The variance of all elements; `unbiased` divides by n - 1, else by n.' },
  { 'var.dim(Tensor self, Dims? dim, bool unbiased, bool keepdim=false) -> Tensor', variants = 'function method copied_out', composite = true,
    doc = 'The variance over dimensions; `unbiased` divides by n - 1, else by n.' },
  { 'std(Tensor self, Dims? dim=nil, *, Scalar correction=1, bool keepdim=false) -> Tensor', variants = 'function method copied_out', reads = 'self',
    doc = 'The standard deviation: the square root of var.',
    forward = 'sum_dim(real(conj(_std_backward(ones_like(result), self, result, dim, correction, keepdim)) * self_t), dim, keepdim)',
    grad = { self = '_std_backward(grad, self, result, dim, correction, keepdim)' } },
  { 'std.unbiased(Tensor self, bool unbiased) -> Tensor', variants = 'function method copied_out', composite = true,
    doc = 'The standard deviation of all elements; `unbiased` divides by n - 1, else by n.' },
  { 'std.dim(Tensor self, Dims? dim, bool unbiased, bool keepdim=false) -> Tensor', variants = 'function method copied_out', composite = true,
    doc = 'The standard deviation over dimensions; `unbiased` divides by n - 1, else by n.' },
  { '_var_backward(Tensor grad_output, Tensor self, Dims? dim, Scalar correction, bool keepdim) -> Tensor', variants = '',
    composite = true, doc = 'The derivative of var.' },
  { '_std_backward(Tensor grad_output, Tensor self, Tensor result, Dims? dim, Scalar correction, bool keepdim) -> Tensor',
    variants = '', composite = true, doc = 'The derivative of std; 0 where std is 0.' },

  -- ---- softmax ------------------------------------------------------------------------------------------------
  { 'logsumexp(Tensor self, Dims dim, bool keepdim=false) -> Tensor', variants = 'function method copied_out', reads = 'self', doc = 'log(sum(exp(self))) without overflow.',
    forward = 'sum_dim(_logsumexp_backward(ones_like(result), self, result, dim, keepdim) * self_t, dim, keepdim)',
    grad = { self = '_logsumexp_backward(grad, self, result, dim, keepdim)' } },
  { '_logsumexp_backward(Tensor grad_output, Tensor self, Tensor result, Dims dim, bool keepdim) -> Tensor', variants = '',
    composite = true, doc = 'The derivative of logsumexp.' },
  { 'softmax(Tensor self, Dim dim, Dtype? dtype=nil) -> Tensor', variants = 'function method out', overlap = 'copied', reads = 'self', doc = 'exp(self) / sum(exp(self)) along a dimension.',
    forward = 'elementwise', grad = { self = '_softmax_backward(grad, result, dim)' } },
  { 'log_softmax(Tensor self, Dim dim, Dtype? dtype=nil) -> Tensor', variants = 'function method out', overlap = 'copied', reads = 'self', doc = 'log(softmax(self)), computed without overflow.',
    forward = '_log_softmax_transposed(self_t, result, dim)', grad = { self = '_log_softmax_backward(grad, result, dim)' } },
  { 'softmin(Tensor self, Dim dim, Dtype? dtype=nil) -> Tensor', variants = 'function', composite = true,
    doc = 'softmax(-self) along a dimension.' },
  { '_softmax_backward(Tensor grad_output, Tensor output, Dim dim) -> Tensor', variants = '', reads = 'grad_output', grad_fn = 'SoftmaxBackwardDataBackward0',
    doc = 'output * (grad_output - sum(grad_output * output)).',
    forward = { grad_output = 'linear',
      output = 'output_t * (grad_output - sum_dim(grad_output * output, dim, true)) - output * sum_dim(grad_output * output_t, dim, true)' },
    grad = { grad_output = '_softmax_backward(grad, output, dim)', output = '_softmax_double_backward(grad, grad_output, output, dim)' } },
  { '_softmax_double_backward(Tensor grad, Tensor grad_output, Tensor output, Dim dim) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _softmax_backward by its output.' },
  { '_log_softmax_backward(Tensor grad_output, Tensor output, Dim dim) -> Tensor', variants = '', reads = 'grad_output',
    grad_fn = 'LogSoftmaxBackwardDataBackward0', doc = 'grad_output - exp(output) * sum(grad_output).',
    forward = { grad_output = 'linear', output = '-exp(output) * output_t * sum_dim(grad_output, dim, true)' },
    grad = { grad_output = '_log_softmax_transposed(grad, output, dim)',
      output = '_log_softmax_double_backward(grad, grad_output, output, dim)' } },
  { '_log_softmax_transposed(Tensor grad, Tensor output, Dim dim) -> Tensor', variants = '', composite = true,
    doc = 'grad - sum(grad * exp(output)): the derivative of _log_softmax_backward by grad_output.' },
  { '_log_softmax_double_backward(Tensor grad, Tensor grad_output, Tensor output, Dim dim) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of _log_softmax_backward by its output.' },

  { 'hash_tensor(Tensor self, Dims? dim=nil, *, bool keepdim=false, int mode=0) -> Tensor', batch = 'through', variants = 'function method copied_out', composite = true,
    doc = 'The exclusive or of the bits of all elements, or over dimensions, converted to float64 or int64. The result is uint64.' },

  -- ---- differences and integrals -------------------------------------------------------------------------------
  { 'diff(Tensor self, int n=1, Dim dim=-1, Tensor? prepend=nil, Tensor? append=nil) -> Tensor', batch = 'through', variants = 'function method copied_out', composite = true,
    doc = 'The n-th differences of neighbours along a dimension, after prepend and append are joined to self.' },
  { 'gradient(Tensor self, *, Scalar spacing=1, Dims? dim=nil, int edge_order=1) -> Tensor[]', batch = 'through', variants = 'function', composite = true,
    doc = 'The gradient along each of the dimensions, by central differences of values with the distance `spacing`.' },
  { 'gradient.each(Tensor self, *, Scalar[] spacing, Dims? dim=nil, int edge_order=1) -> Tensor[]', batch = 'through', variants = 'function', composite = true,
    doc = 'The gradient along each of the dimensions, with a distance for each.' },
  { 'gradient.at(Tensor self, *, Tensor[] spacing, Dims? dim=nil, int edge_order=1) -> Tensor[]', batch = 'through', variants = 'function', composite = true,
    doc = 'The gradient along each of the dimensions, at the coordinates in tensors.' },
  { 'trapezoid' .. integral, batch = 'through', variants = 'function', composite = true, aliases = 'trapz',
    doc = 'The integral along a dimension by the trapezoidal rule, of points dx apart or at x.' },
  { 'cumulative_trapezoid' .. integral, batch = 'through', variants = 'function', composite = true,
    doc = 'The integrals along a dimension up to each point, by the trapezoidal rule.' },

  -- ---- histograms ----------------------------------------------------------------------------------------------
  { 'histogram(Tensor self, int bins=100, *, Scalar[]? range=nil, Tensor? weight=nil, bool density=false) -> (Tensor hist, Tensor bin_edges)',
    variants = 'function method copied_out', composite = true,
    doc = 'The number of elements, or the sum of their weights, in each of `bins` equal parts of a range, and the edges of the parts.' },
  { 'histogram.edges(Tensor self, Tensor bins, *, Tensor? weight=nil, bool density=false) -> (Tensor hist, Tensor bin_edges)', variants = 'function method copied_out',
    composite = true, doc = 'The number of elements, or the sum of their weights, between neighbours of the given edges.' },

  -- ---- covariances and deviations ------------------------------------------------------------------------------
  { 'cov(Tensor self, *, int correction=1, Tensor? fweights=nil, Tensor? aweights=nil) -> Tensor', composite = true,
    doc = 'The covariances of variables, which are rows, over observations, which are columns. fweights count observations, aweights weigh them.' },
  { 'corrcoef(Tensor self) -> Tensor', composite = true, doc = "Pearson's correlation coefficients of variables, which are rows." },
  { 'std_mean(Tensor self, Dims? dim=nil, *, Scalar correction=1, bool keepdim=false) -> (Tensor std, Tensor mean)', batch = 'through', variants = 'function', composite = true,
    grad_fn = 'StdMeanBackward0', doc = 'The standard deviation and the mean.' },
  { 'std_mean.unbiased(Tensor self, bool unbiased) -> (Tensor std, Tensor mean)', variants = 'function', composite = true, grad_fn = 'StdMeanBackward0',
    doc = 'The standard deviation and the mean of all elements.' },
  { 'std_mean.dim(Tensor self, Dims? dim, bool unbiased, bool keepdim=false) -> (Tensor std, Tensor mean)', batch = 'through', variants = 'function', composite = true,
    grad_fn = 'StdMeanBackward0', doc = 'The standard deviation and the mean over dimensions.' },
  { 'var_mean(Tensor self, Dims? dim=nil, *, Scalar correction=1, bool keepdim=false) -> (Tensor var, Tensor mean)', batch = 'through', variants = 'function', composite = true,
    grad_fn = 'VarMeanBackward0', doc = 'The variance and the mean.' },
  { 'var_mean.unbiased(Tensor self, bool unbiased) -> (Tensor var, Tensor mean)', variants = 'function', composite = true, grad_fn = 'VarMeanBackward0',
    doc = 'The variance and the mean of all elements.' },
  { 'var_mean.dim(Tensor self, Dims? dim, bool unbiased, bool keepdim=false) -> (Tensor var, Tensor mean)', batch = 'through', variants = 'function', composite = true,
    grad_fn = 'VarMeanBackward0', doc = 'The variance and the mean over dimensions.' },

  -- ---- distances -----------------------------------------------------------------------------------------------
  { 'dist(Tensor self, Tensor other, Scalar p=2) -> Tensor', composite = true, grad_fn = 'DistBackward0', doc = 'The p-norm of self - other.' },
  { 'renorm(Tensor self, Scalar p, Dim dim, Scalar maxnorm) -> Tensor', batch = 'through', variants = 'function method inplace copied_out', composite = true,
    grad_fn = 'RenormBackward0', doc = 'Each entry of a dimension scaled down to the p-norm maxnorm where its own is larger.' },

  arguments = [=[
spacing (Scalar): Distance of neighbouring values, the same in each dimension.
spacing (Scalar[]): Distances of neighbouring values, one for each dimension.
spacing (Tensor[]): Coordinates of the values, one vector for each dimension.
edge_order: Order of the differences at the ends, 1 or 2.
histogram.bins (int): Number of bins of equal width.
histogram.bins (Tensor): Edges of the bins, ascending.
histogram.range: Lower and upper end of the range; that of the data if absent.
histogram.weight: Weight of each element; ones if absent.
density: Whether the counts are divided by the total weight and the size of their bin.
diff.n: Number of times that differences are formed.
prepend: Entries that are added before the first one.
append: Entries that are added after the last one.
trapezoid.y: Values to integrate.
trapezoid.x: Coordinates of the values.
cumulative_trapezoid.y: Values to integrate.
cumulative_trapezoid.x: Coordinates of the values.
dx: Distance of neighbouring values, if no coordinates are given.
fweights: Number of times that each observation counts, integers.
aweights: Relative weight of each observation.
dist.other: Tensor to compare with.
dist.p: Order p of the norm.
renorm.p: Order p of the norm.
maxnorm: Maximum norm of an entry.
hash_tensor.mode: Method of the hash; 0, the exclusive or, is the only one.
p: Order p of the norm.
ord: Order of the norm: a number, inf or -inf.
correction: Number that is subtracted from the number of elements in the denominator; 1 gives the unbiased estimate.
unbiased: Whether the correction is 1; otherwise it is 0.
]=],

  examples = [=[
sum
    torch.tensor{ {1, 2}, {3, 4} }:sum()
    --> tensor(10)
    torch.tensor{ {1, 2}, {3, 4} }:sum{dim = 2, keepdim = true}
    --> tensor([[3],
    -->         [7]])
mean
    torch.tensor{ {1.0, 2.0}, {3.0, 4.0} }:mean(1)
    --> tensor([2., 3.])
prod
    torch.tensor{2, 3, 4}:prod()
    --> tensor(24)
cumsum
    torch.tensor{1, 2, 3, 4}:cumsum(1)
    --> tensor([ 1,  3,  6, 10])
cumprod
    torch.tensor{1, 2, 3, 4}:cumprod(1)
    --> tensor([ 1,  2,  6, 24])
logcumsumexp
    torch.tensor{0.0, 0.0, 0.0}:logcumsumexp(1)
    --> tensor([0.0000, 0.6931, 1.0986])
nansum
    torch.tensor{1.0, 0 / 0, 3.0}:nansum()
    --> tensor(4.)
nanmean
    torch.tensor{1.0, 0 / 0, 3.0}:nanmean()
    --> tensor(2.)
trace
    torch.tensor{ {1, 2}, {3, 4} }:trace()
    --> tensor(5)
count_nonzero
    torch.tensor{ {0, 5, 6}, {0, 0, 7} }:count_nonzero(2)
    --> tensor([2, 1])
max
    torch.tensor{ {1, 5}, {7, 2} }:max()
    --> tensor(7)
    torch.tensor{ {1, 5}, {7, 2} }:max(2)
    --> (tensor([5, 7]), tensor([2, 1]))
min
    torch.tensor{ {1, 5}, {7, 2} }:min()
    --> tensor(1)
    torch.tensor{ {1, 5}, {7, 2} }:min(1)
    --> (tensor([1, 2]), tensor([1, 2]))
amax
    torch.tensor{ {1, 5}, {7, 2} }:amax(2)
    --> tensor([5, 7])
amin
    torch.tensor{ {1, 5}, {7, 2} }:amin{dim = 2, keepdim = true}
    --> tensor([[1],
    -->         [2]])
aminmax
    torch.tensor{3, 1, 2}:aminmax()
    --> (tensor(1), tensor(3))
argmax
    torch.tensor{ {1, 5}, {7, 2} }:argmax(2)
    --> tensor([2, 1])
argmin
    torch.tensor{30, 10, 20}:argmin()
    --> tensor(2)
any
    torch.tensor{ {false, true}, {false, false} }:any(2)
    --> tensor([ True, False])
all
    torch.tensor{true, true, false}:all()
    --> tensor(False)
norm
    torch.tensor{3.0, 4.0}:norm()
    --> tensor(5.)
linalg_vector_norm
    torch.linalg.vector_norm(torch.tensor{3.0, -4.0}, 1)
    --> tensor(7.)
var
    torch.tensor{1.0, 2.0, 3.0, 4.0}:var()
    --> tensor(1.6667)
std
    torch.tensor{1.0, 2.0, 3.0, 4.0}:std{correction = 0}
    --> tensor(1.1180)
logsumexp
    torch.tensor{1000.0, 1000.0}:logsumexp(1)
    --> tensor(1000.6932)
softmax
    torch.tensor{ {1.0, 1.0}, {0.0, 1.0} }:softmax(2)
    --> tensor([[0.5000, 0.5000],
    -->         [0.2689, 0.7311]])
log_softmax
    torch.tensor{0.0, 0.0}:log_softmax(1)
    --> tensor([-0.6931, -0.6931])
softmin
    nn.functional.softmin(torch.tensor{0.0, 1.0}, 1)
    --> tensor([0.7311, 0.2689])
hash_tensor
    torch.hash_tensor(torch.tensor{1, 2})
    --> tensor(3, dtype=torch.uint64)
diff
    torch.tensor{1, 4, 9, 16}:diff()
    --> tensor([3, 5, 7])
trapezoid
    torch.trapezoid(torch.tensor{1.0, 5.0, 10.0})
    --> tensor(10.5000)
cumulative_trapezoid
    torch.cumulative_trapezoid(torch.tensor{1.0, 5.0, 10.0})
    --> tensor([ 3.0000, 10.5000])
cov
    torch.tensor{ {0.0, 1.0, 2.0}, {2.0, 1.0, 0.0} }:cov()
    --> tensor([[ 1., -1.],
    -->         [-1.,  1.]])
corrcoef
    torch.tensor{ {0.0, 1.0, 2.0}, {2.0, 1.0, 0.0} }:corrcoef()
    --> tensor([[ 1., -1.],
    -->         [-1.,  1.]])
std_mean
    torch.std_mean(torch.tensor{1.0, 2.0, 3.0})
    --> (tensor(1.), tensor(2.))
var_mean
    torch.var_mean(torch.tensor{1.0, 2.0, 3.0})
    --> (tensor(1.), tensor(2.))
dist
    torch.dist(torch.tensor{0.0, 0.0}, torch.tensor{3.0, 4.0})
    --> tensor(5.)
renorm
    torch.renorm(torch.tensor{ {3.0, 4.0}, {0.3, 0.4} }, 2, 1, 1)
    --> tensor([[0.6000, 0.8000],
    -->         [0.3000, 0.4000]])
gradient
    torch.gradient(torch.tensor{1.0, 4.0, 9.0, 16.0})
    --> {tensor([3., 4., 6., 7.])}
histogram
    torch.tensor{1.0, 2.0, 1.0}:histogram(4, {range = {0, 4}})
    --> (tensor([0., 2., 1., 0.]), tensor([0., 1., 2., 3., 4.]))
]=],
}
