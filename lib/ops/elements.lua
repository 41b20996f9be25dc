-- elements.lua - elementwise ops composed of others: signs, scaling, parts of floating-point
-- numbers.

local torch = require 'torch'
local dimensions = require 'torch.support.dimensions'
local fail = require 'torch.support.fail'

local all = 'function method inplace copied_out'

local function is_float(x) return x.dtype.is_floating_point end
local function is_half(x) return x.dtype == torch.float16 or x.dtype == torch.bfloat16 end

local function as_tensor(value, like)
  if torch.is_tensor(value) then return value end
  return torch.tensor(value, { dtype = math.type(value) == 'float' and torch.float64 or nil, device = like.device })
end

local function float_power(self, exponent)
  local like = torch.is_tensor(self) and self or exponent
  if not torch.is_tensor(like) then fail("float_power(): argument 'self' must be a Tensor where 'exponent' is a number") end
  local function wide(x) return x:is_complex() and x:cdouble() or x:double() end
  return torch.pow(wide(as_tensor(self, like)), torch.is_tensor(exponent) and wide(exponent) or exponent)
end

-- x * 2^e in two steps, because 2^e may overflow although the product does not.
local function scaled(x, e)
  local half = torch.floor(e / 2)
  return x * torch.exp2(half) * torch.exp2(e - half)
end

local function frexp(self)
  if not is_float(self) then fail('torch.frexp() only supports floating-point dtypes') end
  local x = is_half(self) and self:float() or self
  local plain = torch.isfinite(x):logical_and(x:ne(0))
  local e = torch.where(plain, torch.floor(torch.log2(torch.where(plain, x:detach():abs(), 1.0))) + 1, 0.0)
  local m = scaled(x:detach(), -e)
  e = torch.where(m:abs():ge(1):logical_and(plain), e + 1, torch.where(m:abs():lt(0.5):logical_and(plain), e - 1, e)) -- corrects the rounding of log2
  local mantissa = torch.where(plain, scaled(x, -e), x)
  return mantissa:to(self.dtype), e:to(torch.int32)
end

-- self * 2^other. Floats keep their dtype with integers; in three steps no power leaves the range
-- of a double.
local function ldexp(self, other)
  local integer = not other:is_floating_point() and not other:is_complex()
  if not self:is_floating_point() or not integer then
    local product = self * torch.pow(2.0, other)
    return integer and self:is_complex() and product:to(self.dtype) or product
  end
  local two = torch.tensor(2.0, { dtype = torch.float64, device = self.device })
  local exponent, result = other:to(torch.int64):clamp(-2400, 2400), self:double()
  for parts = 3, 1, -1 do
    local part = torch.div(exponent, parts, { rounding_mode = 'trunc' })
    exponent, result = exponent - part, result * torch.pow(two, part)
  end
  return result:to(self.dtype)
end

local function signbit(self)
  if self.dtype == torch.bool then return torch.zeros_like(self) end
  if not is_float(self) then return self:lt(0) end
  return torch.copysign(torch.ones_like(self), self:detach()):lt(0)
end

local function infinite(sign)
  return function(self)
    if not is_float(self) then return torch.zeros(self.shape, { dtype = torch.bool, device = self.device }) end
    return self:detach():eq(sign * math.huge)
  end
end

local function rsub(self, other, alpha)
  local bool = self.dtype == torch.bool or torch.is_tensor(other) and other.dtype == torch.bool or type(other) == 'boolean'
  if bool then fail 'Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.' end
  return torch.sub(other, self, { alpha = alpha })
end

local function degrees(name, factor)
  return function(self)
    if self:is_complex() then fail('%s is not supported for complex tensors.', name) end
    return is_float(self) and self * factor or self:to(torch.get_default_dtype()) * factor
  end
end

-- The bits of float64 or int64 elements as unsigned 64-bit integers.
local function words(x)
  if x.dtype == torch.uint64 then return x end
  if is_float(x) then return x:double():contiguous():view(torch.uint64) end
  return x:long():contiguous():view(torch.uint64)
end

-- Exclusive or over a dimension: combines halves until one entry remains.
local function xor_along(x, d)
  if x:size(d) == 0 then fail('hash_tensor: Expected reduction dim %d to have non-zero size.', d) end
  while x:size(d) > 1 do
    local half = x:size(d) // 2
    local joined = torch.bitwise_xor(x:narrow(d, 1, half), x:narrow(d, half + 1, half))
    x = x:size(d) % 2 == 0 and joined or torch.cat({ joined, x:narrow(d, 2 * half + 1, 1) }, d)
  end
  return x
end

local function hash_tensor(self, dim, keepdim, mode)
  if mode ~= 0 then fail('Unknown hash_tensor mode: %d', mode) end
  if self:is_complex() then fail('hash_tensor: complex numbers have no 64 bits') end
  local over = dimensions.wrap_all(dim or {}, math.max(self.ndim, 1))
  if #over == 0 then
    if self:numel() == 0 then
      fail "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."
    end
    for d = 1, self.ndim do over[d] = d end
  end
  local x = words(self:detach())
  if self.ndim == 0 then return x:clone() end
  for _, d in ipairs(over) do x = xor_along(x, d) end
  return keepdim and x or x:squeeze(over)
end

return {
  { 'hash_tensor(Tensor self, Dims? dim=nil, *, bool keepdim=false, int mode=0) -> Tensor', variants = 'function method copied_out', run = hash_tensor,
    doc = 'The exclusive or of the bits of all elements, or over dimensions, converted to float64 or int64. The result is uint64.' },
  { 'float_power(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor', variants = all, keeps_dtype = true, run = float_power,
    doc = 'Powers, computed in double precision.' },
  { 'frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)', variants = 'function method copied_out', run = frexp,
    doc = 'Mantissas from 0.5 to 1 and exponents e, with self = mantissa * 2^e.' },
  { 'ldexp(Tensor self, Tensor other) -> Tensor', variants = all, run = ldexp, doc = 'self * 2^other.' },
  { 'signbit(Tensor self) -> Tensor', variants = 'function method  copied_out', run = signbit, doc = 'Where the sign is negative, that of -0 too.' },
  { 'isposinf(Tensor self) -> Tensor', variants = 'function method  copied_out', run = infinite(1), doc = 'Where self is plus infinity.' },
  { 'isneginf(Tensor self) -> Tensor', variants = 'function method  copied_out', run = infinite(-1), doc = 'Where self is minus infinity.' },
  { 'positive(Tensor self) -> Tensor', run = function(self)
    if self.dtype == torch.bool then fail 'The `+` operator, on a bool tensor is not supported.' end
    return self
  end, doc = 'self.' },
  { 'deg2rad(Tensor self) -> Tensor', variants = all, run = degrees('deg2rad', math.pi / 180), doc = 'Degrees as radians.' },
  { 'rad2deg(Tensor self) -> Tensor', variants = all, run = degrees('rad2deg', 180 / math.pi), doc = 'Radians as degrees.' },
  { 'rsub(Tensor self, Tensor|Scalar other, Scalar alpha=1) -> Tensor', variants = 'function', run = rsub,
    doc = 'other - alpha * self.' },
  { 'fill(Tensor self, Tensor|Scalar value) -> Tensor', variants = 'function', run = function(self, value)
    if torch.is_tensor(value) and value.ndim > 0 then
      fail('fill only supports 0-dimension value tensor but got tensor with %d dimensions.', value.ndim)
    end
    return self:clone():fill_(value)
  end, doc = 'A tensor like self, filled with one value.' },

  arguments = [=[
mode: Method of the hash; 0, the exclusive or, is the only one.
exponent: Exponent: a tensor that broadcasts with the base, or a number.
alpha: Factor of self, which is subtracted from the other operand.
value: Value of all elements: a number, or a tensor without dimensions.
]=],

  examples = [=[
hash_tensor
    torch.hash_tensor(torch.tensor{1, 2})
    --> tensor(3, dtype=torch.uint64)
float_power
    torch.float_power(torch.tensor{1, 2, 3}, 2)
    --> tensor([1., 4., 9.], dtype=torch.float64)
frexp
    torch.tensor{8.0, 10.0}:frexp()
    --> (tensor([0.5000, 0.6250]), tensor([4, 4], dtype=torch.int32))
ldexp
    torch.ldexp(torch.tensor{1.0, 3.0}, torch.tensor{4, -1})
    --> tensor([16.0000,  1.5000])
signbit
    torch.tensor{-1.0, -0.0, 0.0, 1.0}:signbit()
    --> tensor([ True,  True, False, False])
isposinf
    torch.tensor{math.huge, -math.huge, 0.0}:isposinf()
    --> tensor([ True, False, False])
isneginf
    torch.tensor{math.huge, -math.huge, 0.0}:isneginf()
    --> tensor([False,  True, False])
positive
    torch.tensor{-1, 2}:positive()
    --> tensor([-1,  2])
deg2rad
    torch.tensor{180.0, 90.0}:deg2rad()
    --> tensor([3.1416, 1.5708])
rad2deg
    torch.tensor{math.pi}:rad2deg()
    --> tensor([180.])
rsub
    torch.rsub(torch.tensor{1, 2}, 10)
    --> tensor([9, 8])
fill
    torch.fill(torch.zeros(2), 7)
    --> tensor([7., 7.])
]=],
}
