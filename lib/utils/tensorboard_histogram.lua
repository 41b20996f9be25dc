-- tensorboard_histogram.lua - the content of a histogram of SummaryWriter: a function of a tensor, the
-- argument `bins` and the argument `max_bins`, with PyTorch's and NumPy's bins.

local torch = require 'torch'
local fail = require 'torch.support.fail'
local fields = require 'torch.files.protobuf'

local double, doubles, text = fields.double, fields.doubles, fields.text

-- TensorFlow's edges: 0, and on both sides powers of 1.1.
local tensorflow
local function tensorflow_edges()
  if tensorflow then return tensorflow end
  local positive, v = {}, 1e-12
  while v < 1e20 do
    positive[#positive + 1] = v
    v = v * 1.1
  end
  local edges = {}
  for i = #positive, 1, -1 do edges[#edges + 1] = -positive[i] end
  edges[#edges + 1] = 0.0
  table.move(positive, 1, #positive, #edges + 1, edges)
  tensorflow = edges
  return edges
end

-- NumPy's widths of a bin for n numbers x from low to high.
local WIDTHS = {}
function WIDTHS.sqrt(_, n, low, high) return (high - low) / math.sqrt(n) end
function WIDTHS.sturges(_, n, low, high) return (high - low) / (math.log(n, 2) + 1) end
function WIDTHS.fd(x, n)
  local quartiles = torch.quantile(x, torch.tensor({ 0.25, 0.75 }, { dtype = torch.float64 })):tolist()
  return 2 * (quartiles[2] - quartiles[1]) / n ^ (1 / 3)
end
function WIDTHS.auto(...) return math.min(math.max(WIDTHS.fd(...), WIDTHS.sqrt(...) / 2), WIDTHS.sturges(...)) end

local function uniform_edges(count, low, high)
  if low == high then low, high = low - 0.5, high + 0.5 end
  return torch.linspace(low, high, count + 1, { dtype = torch.float64 }):tolist()
end

local function edges_of(bins, x, whole, low, high)
  if bins == 'tensorflow' then return tensorflow_edges() end
  if type(bins) == 'table' then
    for i = 2, #bins do
      if not (bins[i] >= bins[i - 1]) then fail 'add_histogram(): the edges in bins must increase' end
    end
    if #bins < 2 then fail('add_histogram(): bins must have at least two edges, got %d', #bins) end
    return bins
  end
  if type(bins) == 'number' then
    if bins < 1 then fail('add_histogram(): bins must be at least 1, got %d', bins) end
    return uniform_edges(bins, low, high)
  end
  if not WIDTHS[bins] then
    fail("add_histogram(): bins must be 'tensorflow', 'auto', 'fd', 'sturges', 'sqrt', a number or a list of edges, not '%s'", bins)
  end
  local width = WIDTHS[bins](x, x:numel(), low, high)
  if whole and width > 0 then width = math.max(width, 1) end
  return uniform_edges(width > 0 and math.ceil((high - low) / width) or 1, low, high)
end

-- The numbers of elements between the edges; the last bin contains its right edge.
local function counts_of(x, edges)
  local bounds, bins = torch.tensor(edges, { dtype = torch.float64 }), #edges - 1
  x = x[x:ge(edges[1]):logical_and(x:le(edges[#edges]))]
  local place = torch.bucketize(x, bounds, { right = true }):clamp { max = bins + 1 }
  return torch.bincount(place - 1, { minlength = bins }):tolist()
end

-- Joins neighbouring bins, so that about max_bins remain.
local function joined(counts, edges, max_bins)
  if max_bins < 1 then fail('add_histogram(): max_bins must be at least 1, got %d', max_bins) end
  local step, few, limits = #counts // max_bins, {}, {}
  for i, n in ipairs(counts) do
    local part = (i - 1) // step + 1
    few[part] = (few[part] or 0) + n
    limits[part] = limits[part] or edges[i]
  end
  limits[#limits + 1] = edges[#edges]
  return few, limits
end

--- The buckets from the first to the last nonempty one, preceded by an empty one.
return function(values, bins, max_bins)
  local x = values:detach():cpu():reshape(-1):double()
  if x:numel() == 0 then fail 'The input has no element.' end
  if not x:isfinite():all():item() then fail 'The histogram is empty, please file a bug report: its values are not all finite.' end
  local low, high = x:min():item(), x:max():item()
  local edges = edges_of(bins, x, not values:is_floating_point(), low, high)
  local counts = counts_of(x, edges)
  if max_bins and #counts > max_bins then counts, edges = joined(counts, edges, max_bins) end
  local first, last = 1, #counts
  while counts[first] == 0 do first = first + 1 end
  while counts[last] == 0 do last = last - 1 end
  if first > last then fail 'The histogram is empty, please file a bug report: no value is between the edges in bins.' end
  local rights = table.move(edges, first, last + 1, 1, {})
  local numbers = table.move(counts, first, last, 2, { 0 })
  return text(5, double(1, low) .. double(2, high) .. double(3, x:numel()) .. double(4, x:sum():item())
    .. double(5, x:square():sum():item()) .. doubles(6, rights) .. doubles(7, numbers))
end
