-- reduce.lua - reductions along dimensions, prefix scans, and sorting.

local torch = require 'torch'
local values = require 'torch.onnx.values'

local ops = {}

-- The dimensions to reduce: an attribute, from a version on an input. nil: none (the input is the
-- result).
local function axes_of(node, x, axes, from)
  local list
  if node.version < from then list = node.attributes.axes else list = axes and values.list(node, 2, axes) end
  if list and #list > 0 then return values.dims(list, x:dim()) end
  if node.attributes.noop_with_empty_axes == 1 then return nil end
  local all = {}
  for i = 1, x:dim() do all[i] = i end
  return all
end

-- fn(x, dims, keepdim) -> tensor; of no dimensions, elementwise(x).
local function reduction(from, fn, elementwise)
  return function(node, x, axes)
    local dims = axes_of(node, x, axes, from)
    if not dims or #dims == 0 then return elementwise and elementwise(x) or x end
    local result = fn(x, dims, node.attributes.keepdims ~= 0)
    return result.dtype == x.dtype and result or result:to(x.dtype)
  end
end

local function is_empty(x, dims)
  for _, dim in ipairs(dims) do
    if x:size(dim) == 0 then return true end
  end
end

-- For empty inputs, the result is the neutral element: an end of the dtype's range.
local function extreme(fn, info, sign)
  return function(x, dims, keep)
    if not is_empty(x, dims) then
      if x.dtype == torch.bool then return fn(x:to(torch.uint8), dims, keep) end
      return fn(x, dims, keep)
    end
    local value = sign * math.huge
    if x.dtype == torch.bool then value = info == 'max' elseif not x.dtype.is_floating_point then value = torch.iinfo(x.dtype)[info] end
    return torch.full_like(x:sum(dims, keep), value, { dtype = x.dtype })
  end
end

local function sum(x, dims, keep) return x:sum(dims, keep) end

local function product(x, dims, keep)
  table.sort(dims)
  for i = #dims, 1, -1 do x = x:prod(dims[i], keep) end
  return x
end

local function sum_square(x, dims, keep) return (x * x):sum(dims, keep) end

ops.ReduceSum = reduction(13, sum)
ops.ReduceMean = reduction(18, function(x, dims, keep)
  if x.dtype.is_floating_point then return x:mean(dims, keep) end
  local n = 1
  for _, dim in ipairs(dims) do n = n * x:size(dim) end
  return torch.div(x:sum(dims, keep), n, { rounding_mode = 'trunc' })
end)
ops.ReduceMax = reduction(18, extreme(torch.amax, 'min', -1))
ops.ReduceMin = reduction(18, extreme(torch.amin, 'max', 1))
ops.ReduceProd = reduction(18, product)
ops.ReduceL1 = reduction(18, function(x, dims, keep) return x:abs():sum(dims, keep) end, torch.abs)
ops.ReduceL2 = reduction(18, function(x, dims, keep) return sum_square(x, dims, keep):sqrt() end, torch.abs)
ops.ReduceSumSquare = reduction(18, sum_square, function(x) return x * x end)
ops.ReduceLogSum = reduction(18, function(x, dims, keep) return x:sum(dims, keep):log() end, torch.log)
ops.ReduceLogSumExp = reduction(18, function(x, dims, keep) return x:logsumexp(dims, keep) end)

local function argument(fn)
  return function(node, x)
    local dim, keep = values.dim(node.attributes.axis or 0, x:dim()), node.attributes.keepdims ~= 0
    if node.attributes.select_last_index ~= 1 then return fn(x, dim, keep) - 1 end
    return x:size(dim) - fn(x:flip(dim), dim, keep)
  end
end

ops.ArgMax, ops.ArgMin = argument(torch.argmax), argument(torch.argmin)

-- Prefix scan. exclusive: without the element itself; the first result is then 0 or 1.
local function running(fn, first)
  return function(node, x, axis)
    local dim = values.dim(values.number(node, 2, axis), x:dim())
    local reverse = node.attributes.reverse == 1
    if reverse then x = x:flip(dim) end
    local result = fn(x, dim):to(x.dtype)
    if node.attributes.exclusive == 1 and x:size(dim) > 0 then
      local n = x:size(dim)
      result = torch.cat({ torch.full_like(x:narrow(dim, 1, 1), first), result:narrow(dim, 1, n - 1) }, dim)
    end
    return reverse and result:flip(dim) or result
  end
end

ops.CumSum, ops.CumProd = running(torch.cumsum, 0), running(torch.cumprod, 1)

function ops.TopK(node, x, k)
  local dim = values.dim(node.attributes.axis or -1, x:dim())
  local n = node.version < 10 and node.attributes.k or values.number(node, 2, k)
  local largest = node.attributes.largest ~= 0
  if n < 0 or n > x:size(dim) then values.fail('the %d first of %d elements', n, x:size(dim)) end
  -- A stable sort: of equal elements, the first one comes first.
  local sorted, places = torch.sort(x, dim, largest, { stable = true })
  return sorted:narrow(dim, 1, n), places:narrow(dim, 1, n) - 1
end

function ops.Unique(node, x)
  local axis = node.attributes.axis
  local dim = axis and values.dim(axis, x:dim()) or 1
  if not axis then x = x:reshape(-1) end
  local found, inverse, counts = torch.unique(x, { return_inverse = true, return_counts = true, dim = dim })
  local n, size = found:size(dim), x:size(dim)
  -- The first position of each value: positions are written in descending order, so that the first
  -- one remains.
  local first = torch.full({ n }, size, { dtype = torch.int64, device = x.device })
  local order = torch.arange(size, { device = x.device })
  first = first:index_copy(1, inverse:reshape(-1):flip(1), order:flip(1))
  if node.attributes.sorted ~= 0 then return found, first, inverse:reshape(-1) - 1, counts end
  local by_first, permutation = torch.sort(first)
  local rank = torch.empty_like(permutation):index_copy(1, permutation, torch.arange(n, { device = x.device }))
  return found:index_select(dim, permutation), by_first, rank:index_select(1, inverse:reshape(-1)), counts:index_select(1, permutation)
end

return { [''] = ops }
