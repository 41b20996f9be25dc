-- statistics.lua - gradients and histograms, composed of other ops.

local torch = require 'torch'
local dimensions = require 'torch.support.dimensions'
local fail = require 'torch.support.fail'

local both = 'function method'

-- Entries first .. last of a dimension.
local function part(x, dim, first, last) return x:narrow(dim, first, math.max(last - first + 1, 0)) end

local function is_float(x) return x.dtype.is_floating_point end

-- ---- gradients --------------------------------------------------------------------------------

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
  local steps = torch.diff(h, 1, 1)
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
      local widths, along = torch.diff(edges[d], 1, 1), {}
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

return {
  { 'gradient(Tensor self, *, Scalar spacing=1, Dims? dim=nil, int edge_order=1) -> Tensor[]', variants = 'function',
    run = function(x, spacing, dim, edge_order) return gradient(x, spacing, dim, edge_order) end,
    doc = 'The gradient along each of the dimensions, by central differences of values with the distance `spacing`.' },
  { 'gradient.each(Tensor self, *, Scalar[] spacing, Dims? dim=nil, int edge_order=1) -> Tensor[]', variants = 'function',
    run = gradient, doc = 'The gradient along each of the dimensions, with a distance for each.' },
  { 'gradient.at(Tensor self, *, Tensor[] spacing, Dims? dim=nil, int edge_order=1) -> Tensor[]', variants = 'function',
    run = gradient, doc = 'The gradient along each of the dimensions, at the coordinates in tensors.' },
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

  arguments = [=[
spacing (Scalar): Distance of neighbouring values, the same in each dimension.
spacing (Scalar[]): Distances of neighbouring values, one for each dimension.
spacing (Tensor[]): Coordinates of the values, one vector for each dimension.
edge_order: Order of the differences at the ends, 1 or 2.
histogram.bins (int): Number of bins of equal width.
bins (Tensor): Edges of the bins, ascending.
bins (Size): Number of bins in each dimension.
bins (Tensor[]): Edges of the bins in each dimension, ascending.
range: Lower and upper end of the range; for several dimensions two numbers for each; that of the data if absent.
weight: Weight of each element or point; ones if absent.
density: Whether the counts are divided by the total weight and the size of their bin.
]=],

  examples = [=[
gradient
    torch.gradient(torch.tensor{1.0, 4.0, 9.0, 16.0})
    --> {tensor([3., 4., 6., 7.])}
histogram
    torch.tensor{1.0, 2.0, 1.0}:histogram(4, {range = {0, 4}})
    --> (tensor([0., 2., 1., 0.]), tensor([0., 1., 2., 3., 4.]))
histogramdd
    local counts = torch.histogramdd(torch.tensor{ {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0} }, {2, 2})
    counts
    --> tensor([[0., 1.],
    -->         [1., 1.]])
]=],
}
