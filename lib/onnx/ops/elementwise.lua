-- elementwise.lua - elementwise operators with broadcasting: arithmetic, comparisons, logic.

local torch = require 'torch'
local values = require 'torch.onnx.values'

local ops = {}

-- Before version 7, the second input of a pair was laid along the first from the dimension `axis`
-- on.
local function aligned(node, a, b)
  local axis = node.attributes.axis
  if node.version >= 7 or not axis or axis < 0 then return b end
  local sizes = values.sizes(b)
  for _ = axis + b:dim() + 1, a:dim() do sizes[#sizes + 1] = 1 end
  return b:reshape(sizes)
end

local function binary(fn)
  return function(node, a, b)
    if node.version < 7 then b = aligned(node, a, b) end
    return fn(a, b)
  end
end

local function unary(fn)
  return function(_, x) return fn(x) end
end

ops.Add, ops.Sub, ops.Mul = binary(torch.add), binary(torch.sub), binary(torch.mul)

-- Core has no division and shift of uint64. They are computed on the bits as int64: the quotient is
-- twice the quotient of half the dividend, or one more (H. Warren, Hacker's Delight, 9-3).
local unsigned = {}

local function signed(x) return x:view(torch.int64) end
local function not_below(x, y) return (x ~ math.mininteger):ge(y ~ math.mininteger) end

function unsigned.shift(a, b)
  a, b = signed(a), signed(b)
  local shifted = ((a >> 1) & math.maxinteger) >> (b - 1):clamp { min = 0, max = 63 }
  return torch.where(b:eq(0), a, torch.where(not_below(b, torch.tensor(64)), 0, shifted)):view(torch.uint64)
end

function unsigned.div(a, b)
  a, b = signed(a), signed(b)
  local divisor = torch.where(b:lt(0), 1, b) -- a divisor of 2^63 or more fits at most once
  local half = torch.div((a >> 1) & math.maxinteger, divisor, { rounding_mode = 'trunc' })
  local quotient = half * 2
  quotient = quotient + not_below(a - quotient * divisor, divisor):to(torch.int64)
  return torch.where(b:lt(0), not_below(a, b):to(torch.int64), quotient):view(torch.uint64)
end

function unsigned.remainder(a, b) return (signed(a) - signed(unsigned.div(a, b)) * signed(b)):view(torch.uint64) end

ops.Div = binary(function(a, b)
  if a.dtype.is_floating_point then return a / b end
  if a.dtype == torch.uint64 then return unsigned.div(a, b) end
  return torch.div(a, b, { rounding_mode = 'trunc' })
end)

ops.Pow = binary(function(a, b)
  local result = torch.pow(a, b)
  return result.dtype == a.dtype and result or result:to(a.dtype)
end)

function ops.Mod(node, a, b)
  if a.dtype == torch.uint64 then return unsigned.remainder(a, b) end
  if node.attributes.fmod == 1 then return torch.fmod(a, b) end
  local rest = torch.remainder(a, b)
  -- A zero remainder has the sign of the divisor.
  if rest.dtype.is_floating_point then rest = torch.where(rest:eq(0), torch.copysign(rest, b), rest) end
  return rest
end

function ops.BitShift(node, a, b)
  if node.attributes.direction == 'LEFT' then return a << b end
  if a.dtype == torch.uint64 then return unsigned.shift(a, b) end
  return a >> b
end

ops.And, ops.Or, ops.Xor = binary(torch.logical_and), binary(torch.logical_or), binary(torch.logical_xor)
ops.Equal, ops.Less, ops.Greater = binary(torch.eq), binary(torch.lt), binary(torch.gt)
ops.LessOrEqual, ops.GreaterOrEqual = binary(torch.le), binary(torch.ge)
ops.BitwiseAnd, ops.BitwiseOr, ops.BitwiseXor = binary(torch.bitwise_and), binary(torch.bitwise_or), binary(torch.bitwise_xor)

for name, fn in pairs {
  Abs = torch.abs, Neg = torch.neg, Floor = torch.floor, Ceil = torch.ceil, Round = torch.round, Sqrt = torch.sqrt, Exp = torch.exp,
  Log = torch.log, Sin = torch.sin, Cos = torch.cos, Tan = torch.tan, Asin = torch.asin, Acos = torch.acos, Atan = torch.atan,
  Sinh = torch.sinh, Cosh = torch.cosh, Tanh = torch.tanh, Asinh = torch.asinh, Acosh = torch.acosh, Atanh = torch.atanh, Sign = torch.sign,
  Reciprocal = torch.reciprocal, Erf = torch.erf, IsNaN = torch.isnan, Not = torch.logical_not, BitwiseNot = torch.bitwise_not,
  Sigmoid = torch.sigmoid, Identity = function(x) return x end,
} do ops[name] = unary(fn) end

function ops.IsInf(node, x)
  local negative, positive = node.attributes.detect_negative ~= 0, node.attributes.detect_positive ~= 0
  if negative and positive then return x:isinf() end
  if positive then return x:eq(math.huge) end
  if negative then return x:eq(-math.huge) end
  return torch.zeros_like(x, { dtype = torch.bool })
end

-- Operators of any number of inputs.
local function variadic(fn, finish)
  return function(_, first, ...)
    local n, result = select('#', ...), first
    for i = 1, n do result = fn(result, (select(i, ...))) end
    return finish and finish(result, n + 1) or result
  end
end

ops.Max, ops.Min, ops.Sum = variadic(torch.maximum), variadic(torch.minimum), variadic(torch.add)
ops.Mean = variadic(torch.add, function(sum, n) return sum / n end)

-- Before version 11, the bounds are attributes. If they cross, the upper one wins.
function ops.Clip(node, x, low, high)
  if node.version < 11 then
    low, high = node.attributes.min, node.attributes.max
    if not low and not high then return x end
    return torch.clamp(x, { min = low, max = high })
  end
  -- Bounds that are known are numbers.
  if (not low or node.known[2]) and (not high or node.known[3]) and (low or high) then
    return torch.clamp(x, { min = low and values.number(node, 2, low), max = high and values.number(node, 3, high) })
  end
  if low then x = torch.maximum(x, low) end
  if high then x = torch.minimum(x, high) end
  return x
end

function ops.Where(_, condition, a, b) return torch.where(condition, a, b) end

return { [''] = ops }
