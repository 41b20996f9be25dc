-- alternative_forms.lua - aliases and alternative forms of ops: factories with strides, broadcast
-- shapes, norms by name.

local torch = require 'torch'
local fail = require 'torch.support.fail'

local function list(size) return type(size) == 'number' and { size } or size end

local function wanting(x, requires_grad) return requires_grad and x:requires_grad_() or x end

local function empty_permuted(size, physical, dtype, device, requires_grad)
  size, physical = list(size), list(physical)
  if #size ~= #physical then
    fail('Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = %d is not equal to len(physical_layout) = %d', #size, #physical)
  end
  local sizes, order, seen = {}, {}, {}
  for i, d in ipairs(physical) do
    if d < 1 or d > #size then fail('Dimension out of range (expected to be between 1 and %d, but got %d).', #size, d) end
    if seen[d] then fail('Duplicate dim not allowed') end
    seen[d], sizes[i], order[d] = true, size[d], i
  end
  return wanting(torch.empty(sizes, { dtype = dtype, device = device }):permute(order), requires_grad)
end

-- start, start + step, ... up to end, which is included: the older arange.
local function range(start, last, step, dtype, device)
  if last == nil then start, last = 0, start end
  if step == 0 then fail 'step must be nonzero' end
  if step > 0 and start > last or step < 0 and start < last then fail 'upper bound and lower bound inconsistent with step sign' end
  local n = math.floor((last - start) / step) + 1
  return torch.arange(n, { dtype = dtype or torch.get_default_dtype(), device = device }) * step + start
end

local function matrix_dims(x, dim) return dim or (x.ndim >= 2 and { -2, -1 } or nil) end

return {
  { 'empty_permuted(Size size, Dims physical_layout, *, Dtype? dtype=nil, Device? device=nil, bool requires_grad=false) -> Tensor', variants = 'function', run = empty_permuted,
    doc = 'An uninitialized tensor of the given shape, with its dimensions stored in the given order.' },
  { 'new_empty_strided(Tensor self, Size size, Size stride, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = 'method',
    run = function(self, size, stride, dtype, device)
      return torch.empty_strided(size, stride, { dtype = dtype or self.dtype, device = device or self.device })
    end, doc = 'empty_strided, of the dtype and device of self.' },
  { 'scalar_tensor(Scalar s, *, Dtype? dtype=nil, Device? device=nil, bool requires_grad=false) -> Tensor', variants = 'function',
    run = function(s, dtype, device, requires_grad)
      return wanting(torch.full({}, s, { dtype = dtype or torch.get_default_dtype(), device = device }), requires_grad)
    end,
    doc = 'A number as a tensor without dimensions, of the default dtype unless another is given.' },
  { 'range(Scalar start, Scalar? end=nil, Scalar step=1, *, Dtype? dtype=nil, Device? device=nil) -> Tensor', variants = 'function copied_out', run = range,
    doc = 'start, start + step, ... up to end, which is included; arange is the newer way.' },
  { 'is_same_size(Tensor self, Tensor other) -> bool', run = function(self, other)
    if self.ndim ~= other.ndim then return false end
    for d = 1, self.ndim do
      if self:size(d) ~= other:size(d) then return false end
    end
    return true
  end, doc = 'Whether two tensors have the same shape.' },
  { 'is_signed(Tensor self) -> bool', run = function(self) return self.dtype.is_signed end, doc = 'Whether numbers of the dtype have a sign.' },
  { 'frobenius_norm(Tensor self, Dims? dim=nil, bool keepdim=false) -> Tensor', variants = 'function',
    run = function(self, dim, keepdim) return torch.norm(self, 2, dim, keepdim) end, doc = 'The square root of the sum of squares.' },
  { 'nuclear_norm(Tensor self, Dims? dim=nil, bool keepdim=false) -> Tensor', variants = 'function',
    run = function(self, dim, keepdim) return torch.linalg.matrix_norm(self, 'nuc', matrix_dims(self, dim), keepdim) end,
    doc = 'The sum of the singular values.' },
  { 'nuclear_norm.keepdim(Tensor self, bool keepdim) -> Tensor', variants = 'function',
    run = function(self, keepdim) return torch.linalg.matrix_norm(self, 'nuc', matrix_dims(self), keepdim) end,
    doc = 'The sum of the singular values of a matrix.' },

  arguments = [=[
physical_layout: Dimensions from the one with the largest stride to the one with the smallest.
s: The number.
start: First number.
end: End of the interval, which is included.
step: Difference between neighbouring numbers.
is_same_size.other: Tensor to compare with.
stride: Distance in elements between neighbours along each dimension.
]=],

  examples = [=[
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
is_same_size
    torch.is_same_size(torch.ones(2), torch.zeros(2))
    --> true
is_signed
    torch.tensor{1, 2}:is_signed()
    --> true
frobenius_norm
    torch.frobenius_norm(torch.tensor{ {3.0, 0.0}, {0.0, 4.0} })
    --> tensor(5.)
nuclear_norm
    torch.nuclear_norm(torch.tensor{ {3.0, 0.0}, {0.0, 4.0} })
    --> tensor(7.)
]=],
}
