-- formulas.lua - the element-wise operations in C: formulas of a, b and c. A formula may be a
-- function of the call's arguments that returns it.

local M = {}

--- A number as a literal of C of a type.
function M.literal(x, type)
  if x == true or x == false then return x and '1' or '0' end
  if type ~= 'float' and type ~= 'double' then return ('%d'):format(math.tointeger(x) or error 'an integer expected') end
  if x ~= x then return 'NAN' end
  if x == math.huge then return 'INFINITY' end
  if x == -math.huge then return '-INFINITY' end
  local text = (type == 'float' and '%.9g' or '%.17g'):format(x)
  if not text:find '[.e]' then text = text .. '.0' end
  return text .. (type == 'float' and 'f' or '')
end

local function float(x) return M.literal(x, 'float') end

--- For every type. Comparisons and logic of booleans give 1 and 0.
M.unary_any = { neg = '-a', negative = '-a', abs = 'a < 0 ? -a : a', relu = 'a < 0 ? 0 : a', relu6 = 'a < 0 ? 0 : a > 6 ? 6 : a', square = 'a * a', positive = 'a',
  sign = 'a > 0 ? 1 : a < 0 ? -1 : a', logical_not = 'a == 0' }
M.unary_any.absolute = M.unary_any.abs

--- For float32.
M.unary_float = {
  sigmoid = 'sigmoid_of(a)', tanh = 'tanh_of(a)', exp = 'exp_of(a)', exp2 = 'exp2f(a)', expm1 = 'expm1f(a)', log = 'logf(a)', log2 = 'log2f(a)',
  log10 = 'log10f(a)', log1p = 'log1pf(a)', sqrt = 'sqrtf(a)', rsqrt = '1 / sqrtf(a)', reciprocal = '1 / a', sin = 'sinf(a)', cos = 'cosf(a)', tan = 'tanf(a)',
  asin = 'asinf(a)', acos = 'acosf(a)', atan = 'atanf(a)', sinh = 'sinhf(a)', cosh = 'coshf(a)', asinh = 'asinhf(a)', acosh = 'acoshf(a)',
  atanh = 'atanhf(a)', erf = 'erff(a)', erfc = 'erfcf(a)', floor = 'floorf(a)', ceil = 'ceilf(a)', trunc = 'truncf(a)', round = 'nearbyintf(a)',
  frac = 'a - truncf(a)', isnan = 'a != a', isinf = 'isinf(a) != 0', isfinite = 'isfinite(a) != 0',
  silu = 'a * sigmoid_of(a)', mish = 'a * tanh_of(log1p_exp_of(a))', softsign = 'a / (1 + fabsf(a))', tanhshrink = 'a - tanh_of(a)',
  logsigmoid = '-log1p_exp_of(-a)', hardsigmoid = 'a <= -3 ? 0 : a >= 3 ? 1 : a / 6 + 0.5f', hardswish = 'a <= -3 ? 0 : a >= 3 ? a : a * (a + 3) / 6',
  selu = '1.05070098f * (a > 0 ? a : 1.67326324f * expm1f(a))',
  gelu = function(args) return args.approximate == 'tanh' and '0.5f * a * (1 + tanh_of(0.797884561f * (a + 0.044715f * a * a * a)))' or '0.5f * a * (1 + erff(a * 0.707106781f))' end,
  leaky_relu = function(args) return ('a >= 0 ? a : %s * a'):format(float(args.negative_slope)) end,
  elu = function(args) return ('a > 0 ? a : %s * expm1f(a)'):format(float(args.alpha)) end,
  celu = function(args) return ('a > 0 ? a : %s * expm1f(a / %s)'):format(float(args.alpha), float(args.alpha)) end,
  hardtanh = function(args) return ('a < %s ? %s : a > %s ? %s : a'):format(float(args.min_val), float(args.min_val), float(args.max_val), float(args.max_val)) end,
  hardshrink = function(args) return ('a >= -%s && a <= %s ? 0 : a'):format(float(args.lambd), float(args.lambd)) end,
  softshrink = function(args) return ('a > %s ? a - %s : a < -%s ? a + %s : 0 * a'):format(float(args.lambd), float(args.lambd), float(args.lambd), float(args.lambd)) end,
  threshold = function(args) return ('a <= %s ? %s : a'):format(float(args.threshold), float(args.value)) end,
  softplus = function(args) return ('a * %s > %s ? a : log1p_exp_of(a * %s) / %s'):format(float(args.beta), float(args.threshold), float(args.beta), float(args.beta)) end,
}

local function scaled(sign)
  return function(args, type)
    if args.alpha == nil or args.alpha == 1 then return ('a %s b'):format(sign) end
    return ('a %s %s * b'):format(sign, M.literal(args.alpha, type))
  end
end

-- The larger or smaller operand; NaN if a float is NaN.
local function extreme(comparison)
  return function(_, type) return ('a %s b%s ? a : b'):format(comparison, (type == 'float' or type == 'double') and ' || a != a' or '') end
end

--- For every type; the operands have the type of the result.
M.binary_any = { add = scaled '+', sub = scaled '-', mul = 'a * b', maximum = extreme '>', minimum = extreme '<',
  bitwise_and = 'a & b', bitwise_or = 'a | b', bitwise_xor = 'a ^ b',
  rsub = function(args, type) return args.alpha == 1 and 'b - a' or ('b - %s * a'):format(M.literal(args.alpha, type)) end }
M.binary_any.subtract, M.binary_any.multiply = M.binary_any.sub, M.binary_any.mul

--- For every type; the operands have their common type.
M.compare = { eq = 'a == b', ne = 'a != b', lt = 'a < b', le = 'a <= b', gt = 'a > b', ge = 'a >= b', logical_and = 'a != 0 && b != 0', logical_or = 'a != 0 || b != 0',
  logical_xor = '(a != 0) != (b != 0)' }

--- For float32, and for int64 where there is an `_int64` entry.
M.binary_float = { pow = function(args)
    if args.exponent == 2 then return 'b == 2 ? a * a : powf(a, b)' end
    return 'powf(a, b)'
  end, atan2 = 'atan2f(a, b)', fmod = 'fmodf(a, b)', remainder = 'remainder_of(a, b)', prelu = 'a > 0 ? a : a * b', floor_divide = 'floorf(a / b)',
  xlogy = 'a == 0 ? 0 * b : a * logf(b)', copysign = 'copysignf(a, b)', hypot = 'hypotf(a, b)',
  div = function(args)
    return args.rounding_mode == 'floor' and 'floorf(a / b)' or args.rounding_mode == 'trunc' and 'truncf(a / b)' or 'a / b'
  end }
M.binary_float.divide = M.binary_float.div
M.binary_int64 = { floor_divide = 'floor_quotient_of(a, b)', remainder = 'a - floor_quotient_of(a, b) * b',
  div = function(args) return args.rounding_mode == 'floor' and 'floor_quotient_of(a, b)' or 'a / b' end }

--- Of a, b and c.
M.ternary = { where = 'a ? b : c', masked_fill = 'b ? c : a', lerp = 'a + c * (b - a)',
  addcmul = function(args) return ('a + %s * b * c'):format(float(args.value)) end, addcdiv = function(args) return ('a + %s * b / c'):format(float(args.value)) end }

return M
