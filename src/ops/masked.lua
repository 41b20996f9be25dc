-- masked.lua - reductions and normalizations of the elements where a mask is true: torch.masked.

local reduction = '(Tensor input, Dims? dim=nil, *, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor'
local line = '(Tensor input, Dim dim, *, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor'
local place = '(Tensor input, Dim? dim=nil, *, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> IndexTensor'
local deviation = '(Tensor input, Dims? dim=nil, bool? unbiased=nil, *, Scalar? correction=nil, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor'

local function entry(name, signature, doc)
  return { 'masked_' .. name .. signature, variants = 'function', batch = 'through', composite = true, doc = doc }
end

return {
  entry('sum', reduction, 'The sum of the elements where the mask is true.'),
  entry('prod', reduction, 'The product of the elements where the mask is true.'),
  entry('amax', reduction, 'The largest of the elements where the mask is true.'),
  entry('amin', reduction, 'The smallest of the elements where the mask is true.'),
  entry('argmax', place, 'The position of the largest element where the mask is true.'),
  entry('argmin', place, 'The position of the smallest element where the mask is true.'),
  entry('mean', reduction, 'The mean of the elements where the mask is true.'),
  entry('median', '(Tensor input, Dim dim=-1, *, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor',
    'The middle of the elements along a dimension where the mask is true.'),
  entry('logsumexp', reduction, 'log(sum(exp(input))) of the elements where the mask is true.'),
  entry('logaddexp', '(Tensor input, Tensor other, *, Dtype? dtype=nil, Tensor? input_mask=nil, Tensor? other_mask=nil) -> Tensor',
    'log(exp(input) + exp(other)), of either only where its mask is true.'),
  entry('norm', '(Tensor input, Scalar ord=2, Dims? dim=nil, *, bool keepdim=false, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor',
    'The vector norm of the elements where the mask is true.'),
  entry('var', deviation, 'The variance of the elements where the mask is true.'),
  entry('std', deviation, 'The standard deviation of the elements where the mask is true.'),
  entry('cumsum', line, 'Running sums of the elements where the mask is true.'),
  entry('cumprod', line, 'Running products of the elements where the mask is true.'),
  entry('softmax', line, 'softmax over the elements where the mask is true.'),
  entry('log_softmax', line, 'log_softmax over the elements where the mask is true.'),
  entry('softmin', line, 'softmin over the elements where the mask is true.'),
  entry('normalize', '(Tensor input, Scalar ord, Dim dim, *, float eps=1e-12, Dtype? dtype=nil, Tensor? mask=nil) -> Tensor',
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
