-- statistics.lua - histograms of several dimensions.

local torch = require 'torch'
local fail = require 'torch.support.fail'

local function is_float(x) return x.dtype.is_floating_point end

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
  { 'histogramdd(Tensor self, Size bins, Scalar[]? range=nil, Tensor? weight=nil, bool density=false) -> (Tensor hist, Tensor[] bin_edges)',
    variants = 'function', run = histogramdd, doc = 'The histogram of points, which are rows, in as many dimensions as they have, and the edges of each dimension.' },
  { 'histogramdd.edges(Tensor self, Tensor[] bins, *, Tensor? weight=nil, bool density=false) -> (Tensor hist, Tensor[] bin_edges)',
    variants = 'function', run = function(x, bins, weight, density) return histogramdd(x, bins, nil, weight, density) end,
    doc = 'The histogram of points between the given edges of each dimension.' },

  arguments = [=[
bins (Size): Number of bins in each dimension.
bins (Tensor[]): Edges of the bins in each dimension, ascending.
range: Lower and upper end of the range; for several dimensions two numbers for each; that of the data if absent.
weight: Weight of each element or point; ones if absent.
density: Whether the counts are divided by the total weight and the size of their bin.
]=],

  examples = [=[
histogramdd
    local counts = torch.histogramdd(torch.tensor{ {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0} }, {2, 2})
    counts
    --> tensor([[0., 1.],
    -->         [1., 1.]])
]=],
}
