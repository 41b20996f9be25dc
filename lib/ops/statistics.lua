-- statistics.lua - differences, integrals, statistics and histograms, composed of other ops.

local torch = require 'torch'
local dimensions = require 'torch.support.dimensions'
local fail = require 'torch.support.fail'

local both = 'function method'

-- Converts dim to a position from 1; a 0-dim tensor counts as 1-D.
local function wrap(x, dim) return dimensions.wrap(dim, math.max(x.ndim, 1)) end

-- Entries first .. last of a dimension.
local function part(x, dim, first, last) return x:narrow(dim, first, math.max(last - first + 1, 0)) end

local function is_float(x) return x.dtype.is_floating_point end

-- ---- differences --------------------------------------------------------------------------------

local function diff(x, n, dim, prepend, append)
  if x.ndim == 0 then fail 'diff expects input to be at least one-dimensional' end
  dim = wrap(x, dim)
  if n < 0 then fail('order must be non-negative but got %d', n) end
  for _, more in ipairs { prepend or false, append or false } do
    if more and more.ndim ~= x.ndim then
      fail('diff expects prepend or append to be the same dimension as input')
    end
    for d = 1, more and x.ndim or 0 do
      if d ~= dim and more:size(d) ~= x:size(d) then
        fail("diff expects the shape of tensor to prepend or append to match that of input except along the differencing dimension; input.size(%d) = %d, but got tensor.size(%d) = %d",
          d, x:size(d), d, more:size(d))
      end
    end
  end
  if n == 0 then return x:clone() end -- as in PyTorch, prepend and append are ignored, too
  local parts = {}
  if prepend then parts[#parts + 1] = prepend end
  parts[#parts + 1] = x
  if append then parts[#parts + 1] = append end
  local y = #parts > 1 and torch.cat(parts, dim) or x
  for _ = 1, math.min(n, y:size(dim)) do
    local size = y:size(dim)
    local later, earlier = part(y, dim, 2, size), part(y, dim, 1, size - 1)
    if size == 0 then return y:clone() end
    y = y.dtype == torch.bool and torch.logical_xor(later, earlier) or later - earlier
  end
  return y
end

-- The gradient along one dimension, with spacing h: a number, or a tensor of coordinates.
local function slope(x, dim, h, edge_order)
  local n = x:size(dim)
  local function at(i) return part(x, dim, i, i) end
  if type(h) == 'number' then
    local middle = (part(x, dim, 3, n) - part(x, dim, 1, n - 2)) / (2 * h)
    local first, last
    if edge_order == 1 then
      first, last = (at(2) - at(1)) / h, (at(n) - at(n - 1)) / h
    else
      first = (-1.5 * at(1) + 2 * at(2) - 0.5 * at(3)) / h
      last = (1.5 * at(n) - 2 * at(n - 1) + 0.5 * at(n - 2)) / h
    end
    return torch.cat({ first, middle, last }, dim)
  end
  -- unequal spacing: weights of the previous, current and next point
  local function along(v)
    local shape = {}
    for d = 1, x.ndim do shape[d] = d == dim and -1 or 1 end
    return v:reshape(shape)
  end
  local steps = diff(h, 1, 1)
  local before, behind = along(part(steps, 1, 1, n - 2)), along(part(steps, 1, 2, n - 1))
  local a, b, c = -behind / (before * (before + behind)), (behind - before) / (before * behind), before / (behind * (before + behind))
  local middle = a * part(x, dim, 1, n - 2) + b * part(x, dim, 2, n - 1) + c * part(x, dim, 3, n)
  local function step(i) return along(part(steps, 1, i, i)) end
  local first, last
  if edge_order == 1 then
    first, last = (at(2) - at(1)) / step(1), (at(n) - at(n - 1)) / step(n - 1)
  else
    local p, q = step(1), step(2)
    first = -(2 * p + q) / (p * (p + q)) * at(1) + (p + q) / (p * q) * at(2) - p / (q * (p + q)) * at(3)
    p, q = step(n - 2), step(n - 1)
    last = q / (p * (p + q)) * at(n - 2) - (q + p) / (p * q) * at(n - 1) + (2 * q + p) / (q * (p + q)) * at(n)
  end
  return torch.cat({ first, middle, last }, dim)
end

-- distances: one for each of the dimensions.
local function gradient(x, distances, dim, edge_order)
  local dims = {}
  if edge_order ~= 1 and edge_order ~= 2 then fail 'torch.gradient only supports edge_order=1 and edge_order=2.' end
  if dim == nil then
    for d = 1, x.ndim do dims[d] = d end
  else
    dims = dimensions.wrap_all(dim, math.max(x.ndim, 1))
  end
  if type(distances) == 'number' then
    local same = {}
    for i = 1, #dims do same[i] = distances end
    distances = same
  end
  if #distances ~= #dims then
    fail('torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to \'self.dim() = %d\', since dim argument was not given, but got a list of length %d',
      #dims, #distances)
  end
  for i, d in ipairs(dims) do
    if x:size(d) < edge_order + 1 then
      fail 'torch.gradient expected each dimension size to be at least edge_order+1'
    end
    if torch.is_tensor(distances[i]) and (distances[i].ndim ~= 1 or distances[i]:size(1) ~= x:size(d)) then
      fail('torch.gradient expected each element of spacing to have one dimension, but expected a coordinate for each of the %d elements', x:size(d))
    end
  end
  local list = {}
  for i, d in ipairs(dims) do list[i] = slope(x, d, distances[i], edge_order) end
  return list
end

-- ---- integrals ----------------------------------------------------------------------------------

-- The spacings dx: differences of x along dim, with as many dimensions as y.
local function steps_of(what, y, x, dim)
  if x.ndim == 1 then
    if x:size(1) ~= y:size(dim) then fail('%s: There must be one `x` value for each sample point', what) end
    local shape = {}
    for d = 1, y.ndim do shape[d] = d == dim and -1 or 1 end
    return diff(x, 1, 1):reshape(shape)
  end
  local padded = x
  while padded.ndim < y.ndim do padded = padded:unsqueeze(1) end
  return diff(padded, 1, dim - y.ndim - 1)
end

-- Twice the areas between neighbours along dim.
local function double_areas(what, y, x, dx, dim)
  local n = y:size(dim)
  local sums = part(y, dim, 1, n - 1) + part(y, dim, 2, n)
  if x then return sums * steps_of(what, y, x, dim) end
  return sums * dx
end

local function check_integral(what, y, dim)
  if y.dtype == torch.bool then fail('%s: received a bool input for `x` or `y`, but bool is not supported', what) end
  return wrap(y, dim)
end

local function trapezoid(y, x, dx, dim)
  dim = check_integral('trapezoid', y, dim)
  if y:size(dim) == 0 then
    local shape = { table.unpack(y.shape) }
    table.remove(shape, dim)
    return torch.zeros(shape, { dtype = y.dtype, device = y.device })
  end
  return double_areas('trapezoid', y, x, dx, dim):sum(dim) / 2
end

local function cumulative_trapezoid(y, x, dx, dim)
  dim = check_integral('cumulative_trapezoid', y, dim)
  return double_areas('cumulative_trapezoid', y, x, dx, dim):cumsum(dim) / 2
end

-- ---- statistics ---------------------------------------------------------------------------------

local function cov(x, correction, fweights, aweights)
  if x.ndim > 2 then fail('cov(): expected input to have two or fewer dimensions but got an input with %d dimensions', x.ndim) end
  if x.dtype == torch.bool then fail 'cov(): bool dtype is not supported for input' end
  local rows = x.ndim < 2 and x:reshape(1, -1) or x
  local n = rows:size(2)
  local function check_weights(name, w, wanted, integral)
    if w.ndim > 1 then fail('cov(): expected %s to have one or fewer dimensions but got %s with %d dimensions', name, name, w.ndim) end
    if is_float(w) == integral or w.dtype == torch.bool then
      fail('cov(): expected %s to have %s dtype but got %s with %s dtype', name, wanted, name, tostring(w.dtype))
    end
    if w:numel() ~= n then
      fail('cov(): expected %s to have the same numel as there are observations in the input but got %d != %d', name, w:numel(), n)
    end
    if n > 0 and w:lt(0):any():item() then fail('cov(): %s cannot be negative', name) end
  end
  local weights, total
  if fweights then
    check_weights('fweights', fweights, 'integral', true)
    weights = fweights:reshape(-1)
  end
  if aweights then
    check_weights('aweights', aweights, 'floating point', false)
    weights = weights and weights:to(aweights.dtype) * aweights:reshape(-1) or aweights:reshape(-1)
  end
  rows = (is_float(rows) or rows:is_complex()) and rows or rows:to(torch.get_default_dtype())
  local mean
  if weights then
    total = weights:sum()
    if total:item() == 0 then fail "cov(): weights sum to zero, can't be normalized" end
    mean = (rows * weights):sum(2, true) / total
  else
    mean = rows:mean(2, true)
  end
  local freedom
  if not weights then
    freedom = n - correction
  elseif correction == 0 then
    freedom = total
  elseif not aweights then
    freedom = total - correction
  else
    local squares = (weights * aweights:reshape(-1)):sum()
    freedom = total - correction * squares / total
  end
  if torch.is_tensor(freedom) then freedom = freedom:clamp { min = 0 } else freedom = math.max(freedom, 0) end
  local distance = rows - mean
  local other = (weights and distance * weights or distance):t():conj()
  local product = torch.matmul(distance, other) / freedom
  return product:squeeze()
end

local function corrcoef(x)
  if x.ndim > 2 then fail('corrcoef(): expected input to have two or fewer dimensions but got an input with %d dimensions', x.ndim) end
  local c = cov(x, 1)
  if c.ndim == 0 then return c / c end
  local deviation = torch.real(c:diag()):sqrt()
  local result = c / deviation:unsqueeze(2) / deviation
  if result:is_complex() then return torch.complex(torch.real(result):clamp(-1, 1), torch.imag(result):clamp(-1, 1)) end
  return result:clamp(-1, 1)
end

local function with_mean(f)
  return function(self, dim, correction, keepdim)
    return f(self, { dim = dim, correction = correction, keepdim = keepdim }), self:mean(dim, keepdim)
  end
end

-- ---- distances ----------------------------------------------------------------------------------

local function dist(x, y, p) return torch.norm(x - y, p) end

local function renorm(x, p, dim, maxnorm)
  if p <= 0 then fail 'non-positive-norm not supported' end
  if x.ndim < 2 then fail('renorm: input needs at least 2 dimensions, got %d dimensions', x.ndim) end
  if maxnorm < 0 then fail 'renorm: expected maxnorm to be >= 0 but got a negative number' end
  dim = wrap(x, dim)
  local others = {}
  for d = 1, x.ndim do
    if d ~= dim then others[#others + 1] = d end
  end
  local wide = (x.dtype == torch.float16 or x.dtype == torch.bfloat16) and x:float() or x
  local norm = torch.norm(wide, p, others, true)
  local factor = torch.where(norm:gt(maxnorm), maxnorm / (norm + 1e-7), 1.0)
  return x * factor:to(x.dtype)
end

-- ---- powers -------------------------------------------------------------------------------------

local function vander(x, n, increasing)
  x = torch.atleast_1d(x)
  n = n or x:size(-1)
  if n < 0 then fail('N must be non-negative.') end
  local shape = { table.unpack(x.shape) }
  local dtype = x.dtype
  if not is_float(x) and not x.dtype.is_complex then dtype = torch.int64 end
  local base = x:to(dtype)
  shape[#shape + 1] = n
  if n == 0 then return torch.zeros(shape, { dtype = dtype, device = x.device }) end
  shape[#shape] = n - 1
  local powers = torch.ones_like(base):unsqueeze(-1)
  if n > 1 then powers = torch.cat({ powers, base:unsqueeze(-1):expand(shape):cumprod(-1) }, -1) end
  return increasing and powers or powers:flip(-1)
end

-- ---- histograms ---------------------------------------------------------------------------------

-- The bin of each value between edges, from 1; 0 and #edges for values outside. The last edge
-- belongs to the last bin.
local function bins_of(values, edges)
  local count = edges:numel() - 1
  local at = torch.searchsorted(edges, values, { right = true }) - 1
  at = torch.where(values:eq(edges[-1]), count, at)
  local inside = values:ge(edges[1]):logical_and(values:le(edges[-1]))
  return at, inside
end

-- A result that has no derivative by these, the values and edges of histograms.
local function counted(result, sources)
  for _, source in ipairs(sources) do
    if source.requires_grad then return torch._C._without_derivative(result, source) end
  end
  return result
end

local function range_edges(values, count, low, high, dtype, device)
  local given = low ~= nil
  if low == nil then
    if values:numel() == 0 then
      low, high = 0, 1
    else
      low, high = values:min():item(), values:max():item()
    end
  end
  if not (low > -math.huge and low < math.huge and high > -math.huge and high < math.huge) then
    fail('torch.histogramdd: range [%s, %s] is not finite', tostring(low), tostring(high))
  end
  if low > high then fail('torch.histogramdd: min should not exceed max, but got [%s, %s]', tostring(low), tostring(high)) end
  if low == high then low, high = low - 0.5, high + 0.5 end
  local edges = torch.linspace(low, high, count + 1, { dtype = dtype, device = device })
  return given and edges or counted(edges, { values })
end

-- values: [n, d]; edges: d vectors. The counts or weighted sums of all bins, optionally as
-- densities.
local function histogram_of(values, edges, weight, density)
  local shape, total, inside, place = {}, 1, nil, nil
  for d = 1, #edges do
    local at, within = bins_of(values:select(2, d):contiguous(), edges[d])
    shape[d] = edges[d]:numel() - 1
    total = total * shape[d]
    inside = inside and inside:logical_and(within) or within
    place = place and (place - 1) * shape[d] + at or at
  end
  local result = torch.zeros(total, { dtype = values.dtype, device = values.device })
  local mass = weight and weight:reshape(-1) or torch.ones(values:size(1), { dtype = values.dtype, device = values.device })
  result:index_add_(1, place:masked_select(inside), mass:masked_select(inside))
  result = result:reshape(shape)
  if density then
    result = result / result:sum()
    for d = 1, #edges do
      local widths, along = diff(edges[d], 1, 1), {}
      for k = 1, #edges do along[k] = k == d and -1 or 1 end
      result = result / widths:reshape(along)
    end
  end
  return result
end

local function check_histogram(what, x, weight)
  if not is_float(x) or x.dtype == torch.float16 or x.dtype == torch.bfloat16 then
    fail('"%s" not implemented for \'%s\'', what, tostring(x.dtype))
  end
  if weight and weight.dtype ~= x.dtype then
    fail('torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input(%s), and weight(%s)',
      tostring(x.dtype), tostring(weight.dtype))
  end
end

local function histogram(x, bins, range, weight, density)
  check_histogram('histogram', x, weight)
  local edges
  if torch.is_tensor(bins) then
    edges = bins:clone()
    if bins.dtype ~= x.dtype then fail 'torch.histogramdd: input tensor and bins tensors should have the same dtype' end
  else
    if bins <= 0 then fail('torch.histogramdd(): bins must be > 0, but got %d', bins) end
    edges = range_edges(x, bins, range and range[1], range and range[2], x.dtype, x.device)
  end
  return counted(histogram_of(x:reshape(-1, 1), { edges }, weight, density), { x, edges }), edges
end

local function histogramdd(x, bins, range, weight, density)
  check_histogram('histogramdd', x, weight)
  if x.ndim < 2 then fail 'torch.histogramdd: input tensor should have at least 2 dimensions, but got fewer' end
  local n = x:size(-1)
  local values = x:reshape(-1, n)
  if type(bins) == 'number' then
    local same = {}
    for d = 1, n do same[d] = bins end
    bins = same
  end
  if #bins ~= n then
    fail("torch.histogramdd: expected %d sequences of bin edges for a %d-dimensional histogram but got %d", n, n, #bins)
  end
  if range and #range ~= 2 * n then
    fail('torch.histogramdd: for a %d-dimensional histogram range should have %d elements, but got %d', n, 2 * n, #range)
  end
  local edges = {}
  for d = 1, n do
    if torch.is_tensor(bins[d]) then
      edges[d] = bins[d]:clone()
    else
      edges[d] = range_edges(values:select(2, d), bins[d], range and range[2 * d - 1], range and range[2 * d], x.dtype, x.device)
    end
  end
  return counted(histogram_of(values, edges, weight, density), { x, table.unpack(edges) }), edges
end

-- ---- sets ---------------------------------------------------------------------------------------

local function as_tensor(value, like) return torch.is_tensor(value) and value or torch.tensor(value, { device = like.device }) end

local REFUSED = { [torch.bool] = 'Bool', [torch.complex32] = 'ComplexHalf', [torch.complex64] = 'ComplexFloat', [torch.complex128] = 'ComplexDouble' }

local function isin(elements, test, invert)
  local like = torch.is_tensor(elements) and elements or test
  if not torch.is_tensor(like) then fail("isin(): argument 'elements' must be a Tensor where 'test_elements' is a number") end
  elements, test = as_tensor(elements, like), as_tensor(test, like):reshape(-1)
  for _, x in ipairs { elements, test } do
    if x.dtype == torch.bool or x.dtype.is_complex then
      fail('Unsupported input type encountered for isin(): %s', REFUSED[x.dtype])
    end
  end
  local found
  if test:numel() == 0 then
    found = torch.zeros(elements.shape, { dtype = torch.bool, device = like.device })
  elseif test:numel() * elements:numel() < 4096 then
    found = elements:unsqueeze(-1):eq(test):any(-1)
  else
    local dtype = (test:narrow(1, 1, 0) + elements:reshape(-1):narrow(1, 1, 0)).dtype
    local ordered, values = test:to(dtype):sort(), elements:to(dtype):contiguous()
    found = ordered:take(torch.searchsorted(ordered, values):clamp { max = test:numel() }):eq(values)
  end
  return invert and found:logical_not() or found
end

local integral = "(Tensor y, Tensor? x=nil, *, Scalar dx=1, Dim dim=-1) -> Tensor"

return {
  { 'diff(Tensor self, int n=1, Dim dim=-1, Tensor? prepend=nil, Tensor? append=nil) -> Tensor', variants = both .. ' copied_out', run = diff,
    doc = 'The n-th differences of neighbours along a dimension, after prepend and append are joined to self.' },
  { 'gradient(Tensor self, *, Scalar spacing=1, Dims? dim=nil, int edge_order=1) -> Tensor[]', variants = 'function',
    run = function(x, spacing, dim, edge_order) return gradient(x, spacing, dim, edge_order) end,
    doc = 'The gradient along each of the dimensions, by central differences of values with the distance `spacing`.' },
  { 'gradient.each(Tensor self, *, Scalar[] spacing, Dims? dim=nil, int edge_order=1) -> Tensor[]', variants = 'function',
    run = gradient, doc = 'The gradient along each of the dimensions, with a distance for each.' },
  { 'gradient.at(Tensor self, *, Tensor[] spacing, Dims? dim=nil, int edge_order=1) -> Tensor[]', variants = 'function',
    run = gradient, doc = 'The gradient along each of the dimensions, at the coordinates in tensors.' },
  { 'trapezoid' .. integral, variants = 'function', run = trapezoid, aliases = 'trapz',
    doc = 'The integral along a dimension by the trapezoidal rule, of points dx apart or at x.' },
  { 'cumulative_trapezoid' .. integral, variants = 'function', run = cumulative_trapezoid,
    doc = 'The integrals along a dimension up to each point, by the trapezoidal rule.' },
  { 'cov(Tensor self, *, int correction=1, Tensor? fweights=nil, Tensor? aweights=nil) -> Tensor', variants = both, run = cov,
    doc = 'The covariances of variables, which are rows, over observations, which are columns. fweights count observations, aweights weigh them.' },
  { 'corrcoef(Tensor self) -> Tensor', variants = both, run = corrcoef, doc = "Pearson's correlation coefficients of variables, which are rows." },
  { 'std_mean(Tensor self, Dims? dim=nil, *, Scalar correction=1, bool keepdim=false) -> (Tensor std, Tensor mean)', variants = 'function',
    run = with_mean(torch.std), doc = 'The standard deviation and the mean.' },
  { 'std_mean.unbiased(Tensor self, bool unbiased) -> (Tensor std, Tensor mean)', variants = 'function',
    run = function(x, unbiased) return x:std(unbiased), x:mean() end, doc = 'The standard deviation and the mean of all elements.' },
  { 'std_mean.dim(Tensor self, Dims? dim, bool unbiased, bool keepdim=false) -> (Tensor std, Tensor mean)', variants = 'function',
    run = function(x, dim, unbiased, keepdim) return x:std(dim, unbiased, keepdim), x:mean(dim, keepdim) end,
    doc = 'The standard deviation and the mean over dimensions.' },
  { 'var_mean(Tensor self, Dims? dim=nil, *, Scalar correction=1, bool keepdim=false) -> (Tensor var, Tensor mean)', variants = 'function',
    run = with_mean(torch.var), doc = 'The variance and the mean.' },
  { 'var_mean.unbiased(Tensor self, bool unbiased) -> (Tensor var, Tensor mean)', variants = 'function',
    run = function(x, unbiased) return x:var(unbiased), x:mean() end, doc = 'The variance and the mean of all elements.' },
  { 'var_mean.dim(Tensor self, Dims? dim, bool unbiased, bool keepdim=false) -> (Tensor var, Tensor mean)', variants = 'function',
    run = function(x, dim, unbiased, keepdim) return x:var(dim, unbiased, keepdim), x:mean(dim, keepdim) end,
    doc = 'The variance and the mean over dimensions.' },
  { 'dist(Tensor self, Tensor other, Scalar p=2) -> Tensor', variants = both, run = dist, doc = 'The p-norm of self - other.' },
  { 'renorm(Tensor self, Scalar p, Dim dim, Scalar maxnorm) -> Tensor', variants = both .. ' inplace copied_out', run = renorm,
    doc = 'Each entry of a dimension scaled down to the p-norm maxnorm where its own is larger.' },
  { 'vander(Tensor x, int? N=nil, bool increasing=false) -> Tensor', variants = 'function', run = function(x, n, increasing)
    if x.ndim ~= 1 then fail 'x must be a one-dimensional tensor.' end
    return vander(x, n, increasing)
  end, doc = 'A matrix of the powers of a vector, N of them, the highest first.' },
  { 'linalg_vander(Tensor x, *, int? N=nil) -> Tensor', variants = 'function', run = function(x, n)
    if n and n < 2 then fail('linalg.vander: N must be greater than 1, but got %d', n) end
    return vander(x, n, true)
  end,
    doc = 'Matrices of the powers of vectors, from power 0 on.' },
  { 'histogram(Tensor self, int bins=100, *, Scalar[]? range=nil, Tensor? weight=nil, bool density=false) -> (Tensor hist, Tensor bin_edges)',
    variants = both .. ' copied_out', run = histogram, doc = 'The number of elements, or the sum of their weights, in each of `bins` equal parts of a range, and the edges of the parts.' },
  { 'histogram.edges(Tensor self, Tensor bins, *, Tensor? weight=nil, bool density=false) -> (Tensor hist, Tensor bin_edges)',
    variants = both .. ' copied_out', run = function(x, bins, weight, density) return histogram(x, bins, nil, weight, density) end,
    doc = 'The number of elements, or the sum of their weights, between neighbours of the given edges.' },
  { 'histogramdd(Tensor self, Size bins, Scalar[]? range=nil, Tensor? weight=nil, bool density=false) -> (Tensor hist, Tensor[] bin_edges)',
    variants = 'function', run = histogramdd, doc = 'The histogram of points, which are rows, in as many dimensions as they have, and the edges of each dimension.' },
  { 'histogramdd.edges(Tensor self, Tensor[] bins, *, Tensor? weight=nil, bool density=false) -> (Tensor hist, Tensor[] bin_edges)',
    variants = 'function', run = function(x, bins, weight, density) return histogramdd(x, bins, nil, weight, density) end,
    doc = 'The histogram of points between the given edges of each dimension.' },
  { 'isin(Tensor|Scalar elements, Tensor|Scalar test_elements, *, bool assume_unique=false, bool invert=false) -> Tensor', variants = 'function copied_out',
    run = function(elements, test, _, invert) return isin(elements, test, invert) end,
    doc = 'Which of the elements are among the others; invert: which are not.' },

  arguments = [=[
n: Number of times that differences are formed.
prepend: Entries that are added before the first one.
append: Entries that are added after the last one.
spacing (Scalar): Distance of neighbouring values, the same in each dimension.
spacing (Scalar[]): Distances of neighbouring values, one for each dimension.
spacing (Tensor[]): Coordinates of the values, one vector for each dimension.
edge_order: Order of the differences at the ends, 1 or 2.
y: Values to integrate.
x: Coordinates of the values.
dx: Distance of neighbouring values, if no coordinates are given.
correction: Number that is subtracted from the number of observations in the denominator.
unbiased: Whether the correction is 1; otherwise it is 0.
fweights: Number of times that each observation counts, integers.
aweights: Relative weight of each observation.
p: Order p of the norm.
maxnorm: Maximum norm of an entry.
vander.x: Vector of the bases.
linalg_vander.x: Bases, of shape (..., n).
N: Number of columns; that of the bases if absent.
increasing: Whether the powers increase from left to right.
histogram.bins (int): Number of bins of equal width.
bins (Tensor): Edges of the bins, ascending.
bins (Size): Number of bins in each dimension.
bins (Tensor[]): Edges of the bins in each dimension, ascending.
range: Lower and upper end of the range; for several dimensions two numbers for each; that of the data if absent.
weight: Weight of each element or point; ones if absent.
density: Whether the counts are divided by the total weight and the size of their bin.
elements: Values to look up: a tensor, or a number.
test_elements: Values among which they are looked up: a tensor, or a number.
assume_unique: Whether the values are known to be distinct, which may be faster.
invert: Whether the result is true for values that are not among the others.
]=],

  examples = [=[
diff
    torch.tensor{1, 4, 9, 16}:diff()
    --> tensor([3, 5, 7])
gradient
    torch.gradient(torch.tensor{1.0, 4.0, 9.0, 16.0})
    --> {tensor([3., 4., 6., 7.])}
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
vander
    torch.vander(torch.tensor{1, 2, 3})
    --> tensor([[1, 1, 1],
    -->         [4, 2, 1],
    -->         [9, 3, 1]])
linalg_vander
    torch.linalg.vander(torch.tensor{1, 2, 3})
    --> tensor([[1, 1, 1],
    -->         [1, 2, 4],
    -->         [1, 3, 9]])
histogram
    torch.tensor{1.0, 2.0, 1.0}:histogram(4, {range = {0, 4}})
    --> (tensor([0., 2., 1., 0.]), tensor([0., 1., 2., 3., 4.]))
histogramdd
    local counts = torch.histogramdd(torch.tensor{ {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0} }, {2, 2})
    counts
    --> tensor([[0., 1.],
    -->         [1., 1.]])
isin
    torch.isin(torch.tensor{1, 2, 3}, torch.tensor{2, 3})
    --> tensor([False,  True,  True])
]=],
}
