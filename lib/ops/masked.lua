-- masked.lua - reductions and normalizations of the elements where a mask is true: torch.masked.
-- Masked elements are replaced by the neutral element, which is the result if no element is left.

local torch = require 'torch'
local dimensions = require 'torch.support.dimensions'
local fail = require 'torch.support.fail'

local function is_inexact(dtype) return dtype.is_floating_point or dtype.is_complex end
local function is_float(x) return is_inexact(x.dtype) end

-- The number of x's dtype that is not larger (high) or smaller than any.
local function extreme(x, high)
  if is_float(x) then return high and math.huge or -math.huge end
  if x.dtype == torch.bool then return high end
  local info = torch.iinfo(x.dtype)
  return high and info.max or info.min
end

-- x where the mask is true, otherwise `number`; the mask broadcasts to x.
local function filled(x, mask, number)
  if mask == nil then return x end
  if mask.dtype ~= torch.bool then fail('expected a mask of bools, got %s', tostring(mask.dtype)) end
  if mask.ndim > x.ndim then
    fail('_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)')
  end
  return x:masked_fill(mask:logical_not():expand(x.shape), number)
end

-- A list of dimensions, or nil for all.
local function dims_of(x, dim)
  if dim == nil then return nil end
  if type(dim) == 'number' then return { dim } end
  return #dim > 0 and { table.unpack(dim) } or nil
end

local SMALL = { [torch.uint8] = true, [torch.bool] = true, [torch.int8] = true, [torch.int16] = true, [torch.int32] = true }
local function sum_dtype(x, dtype) return dtype or (SMALL[x.dtype] and torch.int64 or x.dtype) end

local function cast(result, dtype) return dtype and result:to(dtype) or result end

local function sum(x, dim, keepdim, dtype, mask)
  return filled(x, mask, 0):sum(dims_of(x, dim), keepdim, { dtype = sum_dtype(x, dtype) })
end

local function prod(x, dim, keepdim, dtype, mask)
  local result = filled(x, mask, 1)
  dtype = sum_dtype(x, dtype)
  local dims = {}
  if dim == nil then
    for d = 1, x.ndim do dims[d] = d end
  else
    dims = dimensions.wrap_all(dim, math.max(x.ndim, 1))
  end
  table.sort(dims)
  for i = #dims, 1, -1 do result = result:prod(dims[i], keepdim, { dtype = dtype }) end
  return #dims > 0 and result or result:clone():to(dtype)
end

local function most(method, high)
  return function(x, dim, keepdim, dtype, mask)
    local result = filled(x, mask, extreme(x, high))
    return cast(result[method](result, { dim = dims_of(x, dim), keepdim = keepdim }), dtype)
  end
end

local function place_of(method, high)
  return function(x, dim, keepdim, dtype, mask)
    local values = filled(x, mask, extreme(x, high))
    return values[method](values, { dim = dim, keepdim = keepdim }):to(dtype or x.dtype)
  end
end

local function counts(x, dim, keepdim, mask)
  local ones = mask and mask:expand(x.shape):to(torch.int64) or torch.ones(x.shape, { dtype = torch.int64, device = x.device })
  return ones:sum(dims_of(x, dim), keepdim)
end

local function mean(x, dim, keepdim, dtype, mask)
  local wanted = dtype or x.dtype
  if not is_inexact(wanted) then
    fail('mean(): Could not infer output dtype. %s dtype must be either a floating point or complex dtype. Got: %s',
      dtype and 'Optional' or 'Input', tostring(wanted))
  end
  return sum(x, dim, keepdim, wanted, mask) / counts(x, dim, keepdim, mask)
end

local function median(x, dim, keepdim, dtype, mask)
  local values = filled(is_float(x) and x or x:float(), mask, 0 / 0)
  local result = (values:nanmedian(dim, keepdim))
  if is_float(x) then return result end
  if result:isnan():any():item() then fail 'masked median expects no fully masked out rows if dtype is not floating point' end
  return result:to(dtype or x.dtype)
end

local function logsumexp(x, dim, keepdim, dtype, mask)
  local values = filled(x, mask, extreme(x, false))
  local dims = dims_of(x, dim)
  if not dims then
    dims = {}
    for d = 1, x.ndim do dims[d] = d end
  end
  if #dims == 0 then dims = { -1 } end
  return values:logsumexp(dims, keepdim):to(dtype or x.dtype)
end

local function logaddexp(x, other, dtype, x_mask, other_mask)
  return torch.logaddexp(filled(x, x_mask, -math.huge), filled(other, other_mask, -math.huge)):to(dtype or x.dtype)
end

local function norm(x, ord, dim, keepdim, dtype, mask)
  local values = filled(x, mask, ord == -math.huge and math.huge or 0)
  return torch.linalg.vector_norm(values, ord or 2, { dim = dims_of(x, dim), keepdim = keepdim, dtype = dtype })
end

local function spread(root)
  return function(x, dim, unbiased, correction, keepdim, dtype, mask)
    if unbiased ~= nil and correction ~= nil then fail 'Only one of unbiased and correction may be given' end
    if correction == nil then correction = unbiased == false and 0 or 1 end
    local wanted = dtype or x.dtype
    if not is_inexact(wanted) then wanted = torch.float32 end
    local compute = (wanted == torch.float16 or wanted == torch.bfloat16) and torch.float32 or wanted
    local center = sum(x, dim, true, wanted, mask) / counts(x, dim, true, mask)
    local distance = x - center
    local total = sum(distance * distance:conj(), dim, keepdim, compute, mask)
    local freedom = (counts(x, dim, keepdim, mask) - correction):clamp { min = 0 }
    local result = (total / freedom):to(wanted)
    return root and result:sqrt() or result
  end
end

local function cumulate(method, number)
  return function(x, dim, dtype, mask)
    local values = filled(x, mask, number)
    return values[method](values, dim, { dtype = dtype or x.dtype }):to(dtype or x.dtype)
  end
end

local function soft(method, number)
  return function(x, dim, dtype, mask) return torch[method](filled(x, mask, number), dim, dtype) end
end

local function normalize(x, ord, dim, eps, dtype, mask)
  local length = norm(x, ord, dim, true, dtype, mask):clamp { min = eps }
  local values = filled(x, mask, 0)
  return (dtype and values:to(dtype) or values) / length
end

local reduction = '(Tensor input, Dims? dim=nil, *, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor'
local line = '(Tensor input, Dim dim, *, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor'
local place = '(Tensor input, Dim? dim=nil, *, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> IndexTensor'
local deviation = '(Tensor input, Dims? dim=nil, bool? unbiased=nil, *, Scalar? correction=nil, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor'

local function entry(name, signature, run, doc) return { 'masked_' .. name .. signature, variants = 'function', run = run, doc = doc } end

return {
  entry('sum', reduction, sum, 'The sum of the elements where the mask is true.'),
  entry('prod', reduction, prod, 'The product of the elements where the mask is true.'),
  entry('amax', reduction, most('amax', false), 'The largest of the elements where the mask is true.'),
  entry('amin', reduction, most('amin', true), 'The smallest of the elements where the mask is true.'),
  entry('argmax', place, place_of('argmax', false), 'The position of the largest element where the mask is true.'),
  entry('argmin', place, place_of('argmin', true), 'The position of the smallest element where the mask is true.'),
  entry('mean', reduction, mean, 'The mean of the elements where the mask is true.'),
  entry('median', '(Tensor input, Dim dim=-1, *, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor', median,
    'The middle of the elements along a dimension where the mask is true.'),
  entry('logsumexp', reduction, logsumexp, 'log(sum(exp(input))) of the elements where the mask is true.'),
  entry('logaddexp', '(Tensor input, Tensor other, *, Dtype? dtype=nil, Tensor? input_mask=nil, Tensor? other_mask=nil) -> Tensor', logaddexp,
    'log(exp(input) + exp(other)), of either only where its mask is true.'),
  entry('norm', '(Tensor input, Scalar? ord=2, Dims? dim=nil, *, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor', norm,
    'The vector norm of the elements where the mask is true.'),
  entry('var', deviation, spread(false), 'The variance of the elements where the mask is true.'),
  entry('std', deviation, spread(true), 'The standard deviation of the elements where the mask is true.'),
  entry('cumsum', line, cumulate('cumsum', 0), 'Running sums of the elements where the mask is true.'),
  entry('cumprod', line, cumulate('cumprod', 1), 'Running products of the elements where the mask is true.'),
  entry('softmax', line, soft('softmax', -math.huge), 'softmax over the elements where the mask is true.'),
  entry('log_softmax', line, soft('log_softmax', -math.huge), 'log_softmax over the elements where the mask is true.'),
  entry('softmin', line, soft('softmin', math.huge), 'softmin over the elements where the mask is true.'),
  entry('normalize', '(Tensor input, Scalar ord, Dim dim, *, float eps=1e-12, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor', normalize,
    'input over the norm, along a dimension, of the elements where the mask is true.'),

  arguments = [=[
mask: Bool tensor, true for the elements that count; all of them if absent.
input_mask: Bool tensor, true for the elements of input that count.
other_mask: Bool tensor, true for the elements of other that count.
ord: Order of the norm.
unbiased: Whether the correction is 1; otherwise it is 0.
correction: Number that is subtracted from the number of elements in the denominator.
]=],

  examples = [=[
masked_sum
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.sum(x, {mask = mask})
    --> tensor(4.)
masked_prod
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.prod(x, {mask = mask})
    --> tensor(3.)
masked_amax
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.amax(x, {mask = mask})
    --> tensor(3.)
masked_amin
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.amin(x, {mask = mask})
    --> tensor(1.)
masked_argmax
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.argmax(x, {mask = mask})
    --> tensor(1.)
masked_argmin
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.argmin(x, {mask = mask})
    --> tensor(3.)
masked_mean
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.mean(x, {mask = mask})
    --> tensor(2.)
masked_median
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.median(x, 1, {mask = mask})
    --> tensor(1.)
masked_logsumexp
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.logsumexp(x, 1, {mask = mask})
    --> tensor(3.1269)
masked_logaddexp
    torch.masked.logaddexp(torch.tensor{0.0, 0.0}, torch.tensor{0.0, 0.0}, {other_mask = torch.tensor{true, false}})
    --> tensor([0.6931, 0.0000])
masked_norm
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.norm(x, 2, 1, {mask = mask})
    --> tensor(3.1623)
masked_var
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.var(x, {mask = mask})
    --> tensor(2.)
masked_std
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.std(x, {mask = mask})
    --> tensor(1.4142)
masked_cumsum
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.cumsum(x, 1, {mask = mask})
    --> tensor([3., 3., 4.])
masked_cumprod
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.cumprod(x, 1, {mask = mask})
    --> tensor([3., 3., 3.])
masked_softmax
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.softmax(x, 1, {mask = mask})
    --> tensor([0.8808, 0.0000, 0.1192])
masked_log_softmax
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.log_softmax(x, 1, {mask = mask})
    --> tensor([-0.1269,    -inf, -2.1269])
masked_softmin
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.softmin(x, 1, {mask = mask})
    --> tensor([0.1192, 0.0000, 0.8808])
masked_normalize
    x, mask = torch.tensor{3.0, 5.0, 1.0}, torch.tensor{true, false, true}
    torch.masked.normalize(x, 1, 1, {mask = mask})
    --> tensor([0.7500, 0.0000, 0.2500])
]=],
}
