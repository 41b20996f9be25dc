-- pointwise.lua - elementwise ops: one result element per element of the broadcast arguments.

local all = 'function method inplace out'

-- Functions with f(0) = 0: for sparse tensors they apply to the values only.
local keeps_zero = {}
for name in ('abs neg sign sqrt sin tan sinh tanh asin atan erf expm1 log1p floor ceil round trunc relu square'):gmatch '%S+' do keeps_zero[name] = true end

-- A unary op.
local function unary(name, rule, kernel, doc, derivative, more)
  local entry = {
    name .. '(Tensor self) -> Tensor', variants = all, pointwise = rule, kernel = kernel, doc = doc,
    grad = derivative and { self = derivative }, sparse = keeps_zero[name] and 'values' or nil,
  }
  for field, value in pairs(more or {}) do entry[field] = value end
  return entry
end

local function binary(name, rule, kernel, doc, more)
  local entry = { name .. '(Tensor|Scalar self, Tensor|Scalar other) -> Tensor', variants = all, pointwise = rule,
    kernel = kernel, doc = doc }
  for field, value in pairs(more or {}) do entry[field] = value end
  return entry
end

return {
  -- ---- arithmetic ---------------------------------------------------------------------------------------
  { 'add(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor', variants = all, plain_numbers = true,
    operator = '__add', sparse = 'form inplace', pointwise = 'promote', kernel = 'arithmetic: float bfloat16 integer bool complex unsigned', numbers = 'fit',
    doc = 'Adds `other`, multiplied by `alpha`, to `self`.',
    grad = { self = 'grad', other = 'mul(grad, alpha)' } },
  { 'sub(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor', variants = all, plain_numbers = true,
    operator = '__sub', aliases = 'subtract', sparse = 'form inplace', pointwise = 'promote', kernel = 'arithmetic: float bfloat16 integer complex unsigned',
    numbers = 'fit', refuses_bool = 'Subtraction, the `-` operator, with two bool tensors is not supported. Use the `~` ' ..
      'or `logical_xor()` operator instead.',
    refuses_a_bool = 'Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or ' ..
      '`logical_not()` operator instead.',
    doc = 'Subtracts `other`, multiplied by `alpha`, from `self`.',
    grad_fn_number = { self = 'RsubBackward1' }, grad = { self = 'grad', other = '-mul(grad, alpha)' } },
  binary('mul', 'promote', 'arithmetic: float bfloat16 integer bool complex unsigned', 'Multiplies element by element.',
    { operator = '__mul', plain_numbers = true, sparse = 'form', aliases = 'multiply', exact_number = true, grad = { self = 'grad * other', other = 'grad * self' } }),
  binary('div', 'float', 'arithmetic: float(DIVISION) complex', 'Divides element by element; integers result in the default floating dtype.',
    { operator = '__div', plain_numbers = true, sparse = 'form', aliases = 'divide true_divide', exact_number = true, grad_fn_number = { self = 'MulBackward0' },
      grad = { self = 'grad / other', other = '-grad * (self / other) / other' } }),
  binary('pow', 'promote', 'functions: float(POWER) int64 complex', 'Raises `self` to the power `exponent`, element by element.',
    { check = 'power', sparse = 'form', [1] = 'pow(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor', operator = '__pow',
      grad_fn = 'PowBackward1', grad_fn_number = { self = 'PowBackward2', exponent = 'PowBackward0' },
      grad = { self = '_pow_backward_self(grad, self, exponent)',
        exponent = '_pow_backward_exponent(grad, self, exponent, result)' } }),
  binary('remainder', 'promote', 'arithmetic: float(QUOTIENT) int64(WHOLE_QUOTIENT)', 'Modulo with the sign of the divisor: self - other * floor(self / other).',
    { divides = true, operator = '__mod', grad_fn = 'RemainderBackward1', grad_fn_number = { other = 'RemainderBackward0' },
      grad = { self = 'grad', other = '-grad * floor_divide(self, other)' } }),
  binary('fmod', 'promote', 'arithmetic: float(QUOTIENT) int64', 'Modulo with the sign of the dividend, as C has it.',
    { 'fmod(Tensor self, Tensor|Scalar other) -> Tensor', divides = true, grad_fn = 'FmodBackward1', grad_fn_number = { other = 'FmodBackward0' },
      grad = { self = 'grad', other = '-grad * trunc(self / other)' } }),
  binary('floor_divide', 'promote', 'arithmetic: float(QUOTIENT) int64(WHOLE_QUOTIENT)', 'Divides and rounds towards minus infinity.', { divides = true, plain_numbers = true, exact_number = true, operator = '__idiv',
      grad = { self = 'zeros_like(grad)', other = 'zeros_like(grad)' } }),
  binary('maximum', 'promote', 'arithmetic: float integer bool order', 'The larger of the two, element by element; nan wins. Ties share the gradient.',
    { 'maximum(Tensor self, Tensor other) -> Tensor', refuses_complex = 'maximum not implemented for complex tensors.',
      grad = { self = 'where(lt(self, other), 0, where(eq(self, other), grad / 2, grad))',
      other = 'where(gt(self, other), 0, where(eq(self, other), grad / 2, grad))' } }),
  binary('minimum', 'promote', 'arithmetic: float integer bool order', 'The smaller of the two, element by element; nan wins. Ties share the gradient.',
    { 'minimum(Tensor self, Tensor other) -> Tensor', refuses_complex = 'minimum not implemented for complex tensors.',
      grad = { self = 'where(gt(self, other), 0, where(eq(self, other), grad / 2, grad))',
      other = 'where(lt(self, other), 0, where(eq(self, other), grad / 2, grad))' } }),
  unary('neg', 'promote', 'arithmetic: float integer complex unsigned', 'Changes the sign.', '-grad', { operator = '__unm', aliases = 'negative',
    refuses_bool = 'Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, ' ..
      'use the `~` or `logical_not()` operator instead.' }),
  unary('abs', 'promote', 'arithmetic: float integer complex(REAL)', 'Absolute value.', 'grad * sgn(self)',
    { aliases = 'absolute', forward = 'real(conj(sgn(self)) * self_t)' }),
  unary('sign', 'promote', 'arithmetic: float integer bool', '-1, 0 or 1.', 'zeros_like(grad)',
    { refuses_complex = 'Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.' }),
  unary('square', 'promote', 'arithmetic: float integer complex unsigned', 'The square.', 'grad * self * 2', { bool_as = 'int64', grad_fn = 'PowBackward0' }),
  unary('reciprocal', 'float', 'arithmetic: float complex', '1 / self.', '-grad * (result * result)'),

  -- ---- exponentials, logarithms, trigonometry -------------------------------------------------------
  unary('exp', 'float', 'functions: float(NEAR) complex', 'e to the power self.', 'grad * result'),
  unary('exp2', 'float', 'functions: float complex', '2 to the power self.', 'grad * result * 0.69314718055994530942'),
  unary('expm1', 'float', 'functions: float complex', 'exp(self) - 1, exact for small values.', 'grad * (result + 1)'),
  unary('log', 'float', 'functions: float(NEAR) complex', 'Natural logarithm.', 'grad / self'),
  unary('log1p', 'float', 'functions: float complex', 'log(1 + self), exact for small values.', 'grad / (self + 1)'),
  unary('log2', 'float', 'functions: float(NEAR) complex', 'Logarithm to base 2.', 'grad / (self * 0.69314718055994530942)'),
  unary('log10', 'float', 'functions: float complex', 'Logarithm to base 10.', 'grad / (self * 2.30258509299404568402)'),
  unary('sqrt', 'float', 'arithmetic: float complex', 'Square root.', 'grad / (result * 2)'),
  unary('rsqrt', 'float', 'arithmetic: float complex', '1 / sqrt(self).', 'grad * pow(result, 3) * -0.5'),
  unary('sin', 'float', 'functions: float(ANGLE) complex', 'Sine of an angle in radians.', 'grad * cos(self)'),
  unary('cos', 'float', 'functions: float(ANGLE) complex', 'Cosine of an angle in radians.', '-grad * sin(self)'),
  unary('tan', 'float', 'functions: float(ANGLE) complex', 'Tangent of an angle in radians.', 'grad * (result * result + 1)'),
  unary('asin', 'float', 'functions: float complex', 'Arc sine.', 'grad * rsqrt(1 - self * self)', { aliases = 'arcsin' }),
  unary('acos', 'float', 'functions: float complex', 'Arc cosine.', '-grad * rsqrt(1 - self * self)', { aliases = 'arccos' }),
  unary('atan', 'float', 'functions: float complex', 'Arc tangent.', 'grad / (self * self + 1)', { aliases = 'arctan' }),
  unary('sinh', 'float', 'functions: float complex', 'Hyperbolic sine.', 'grad * cosh(self)'),
  unary('cosh', 'float', 'functions: float complex', 'Hyperbolic cosine.', 'grad * sinh(self)'),
  unary('tanh', 'float', 'functions: float complex', 'Hyperbolic tangent.', '_tanh_backward(grad, result)'),
  unary('sigmoid', 'float', 'functions: float complex', '1 / (1 + exp(-self)).', '_sigmoid_backward(grad, result)'),
  unary('erf', 'float', 'functions: float(NEAR)', 'The error function.', 'grad * exp(-(self * self)) * 1.12837916709551257390'),
  unary('relu', 'promote', 'arithmetic: float integer', 'max(self, 0).', '_relu_backward(grad, result)',
    { refuses_bool = 'Boolean inputs not supported for relu', refuses_complex = 'clamp is not supported for complex types' }),

  -- ---- rounding -------------------------------------------------------------------------------------------
  unary('floor', 'promote', 'arithmetic: float int64', 'Rounds towards minus infinity.', 'zeros_like(grad)', { refuses_complex = 'floor is not supported for complex inputs' }),
  unary('ceil', 'promote', 'arithmetic: float int64', 'Rounds towards plus infinity.', 'zeros_like(grad)', { refuses_complex = 'ceil is not supported for complex inputs' }),
  unary('round', 'promote', 'arithmetic: float int64', 'Rounds to the nearest integer, halves to even.', 'zeros_like(grad)'),
  { 'round.decimals(Tensor self, *, int decimals) -> Tensor', variants = all, overlap = 'elementwise', grad_fn = 'RoundBackward1',
    doc = 'Rounds to so many decimals, halves to even; negative: to tens, hundreds...', grad = { self = 'zeros_like(grad)' } },
  { '_round_at(Tensor self, Scalar up, Scalar down) -> Tensor', forward = 'constant', variants = '', pointwise = 'promote', kernel = 'arithmetic: float',
    doc = 'Multiples of down / up, the nearest ones; one of them is 1.' },
  unary('trunc', 'promote', 'arithmetic: float int64', 'Rounds towards zero.', 'zeros_like(grad)', { refuses_complex = 'trunc is not supported for complex inputs', aliases = 'fix' }),

  -- ---- clamping and choosing -----------------------------------------------------------------------------
  { 'clamp_min(Tensor self, Scalar min) -> Tensor', variants = all, pointwise = 'promote', kernel = 'arithmetic: float integer', numbers = 'promote', refuses_complex = 'clamp is not supported for complex types',
    doc = 'max(self, min); nan stays.', grad = { self = 'where(ge(self, min), grad, 0)' } },
  { 'clamp_max(Tensor self, Scalar max) -> Tensor', variants = all, pointwise = 'promote', kernel = 'arithmetic: float integer', numbers = 'promote', refuses_complex = 'clamp is not supported for complex types',
    doc = 'min(self, max); nan stays.', grad = { self = 'where(le(self, max), grad, 0)' } },
  { 'clamp_min.tensor(Tensor self, Tensor min) -> Tensor', records = true, overlap = 'elementwise', variants = all, grad_fn = 'ClampMinBackward1',
    doc = 'max(self, min) with a bound per element; nan stays.',
    forward = 'elementwise', grad = { self = 'where(ge(self, min), grad, 0)', min = 'where(lt(self, min), grad, 0)' } },
  { 'clamp_max.tensor(Tensor self, Tensor max) -> Tensor', records = true, overlap = 'elementwise', variants = all, grad_fn = 'ClampMaxBackward1',
    doc = 'min(self, max) with a bound per element; nan stays.',
    forward = 'elementwise', grad = { self = 'where(le(self, max), grad, 0)', max = 'where(gt(self, max), grad, 0)' } },
  { '_clamp_both(Tensor self, Scalar min, Scalar max) -> Tensor', variants = 'function', pointwise = 'promote', kernel = 'arithmetic: float integer', numbers = 'promote', refuses_complex = 'clamp is not supported for complex types',
    doc = 'min(max(self, min), max): clamp with both bounds.', grad_fn = 'ClampBackward1',
    grad = { self = '_within(grad, self, min, max)' } },
  { 'where(Tensor condition, Tensor|Scalar self, Tensor|Scalar other) -> Tensor', float8 = true, variants = 'function out',
    pointwise = 'select', kernel = 'arithmetic: float integer bool complex unsigned', check = 'choices', doc = '`self` where `condition` is true, `other` elsewhere; x:where(condition, other) is torch.where(condition, x, other). torch.where(condition) is condition:nonzero{as_tuple = true}.',
    grad = { self = 'where(condition, grad, 0)', other = 'where(condition, 0, grad)' } },
  { 'addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor', variants = all,
    pointwise = 'promote', kernel = 'arithmetic: float integer complex unsigned', numbers = 'truncate', doc = 'self + value * tensor1 * tensor2.',
    grad = { self = 'grad', tensor1 = 'mul(grad * tensor2, value)', tensor2 = 'mul(grad * tensor1, value)' } },
  { 'addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor', variants = all,
    pointwise = 'float', kernel = 'arithmetic: float complex', check = 'addcdiv', doc = 'self + value * tensor1 / tensor2.',
    grad = { self = 'grad', tensor1 = 'mul(grad / tensor2, value)',
      tensor2 = '-mul(grad, value) * (tensor1 / tensor2) / tensor2' } },
  { 'lerp(Tensor self, Tensor end, Tensor|Scalar weight) -> Tensor', variants = all, pointwise = 'promote', kernel = 'arithmetic: float complex', check = 'lerp',
    doc = 'self + weight * (end - self): linear interpolation.',
    grad_fn = 'LerpBackward1', grad_fn_number = { weight = 'LerpBackward0' },
    grad = { self = 'grad * (ones_like(grad) - weight)', ['end'] = 'grad * weight', weight = 'grad * (end - self)' } },

  -- ---- bits ----------------------------------------------------------------------------------------------------
  binary('bitwise_and', 'integral', 'arithmetic: integer bool unsigned', 'Bits set in both; logical and for bool.', { operator = '__band' }),
  binary('bitwise_or', 'integral', 'arithmetic: integer bool unsigned', 'Bits set in either; logical or for bool.', { operator = '__bor' }),
  binary('bitwise_xor', 'integral', 'arithmetic: integer bool unsigned', 'Bits set in exactly one; logical xor for bool.', { operator = '__bxor' }),
  unary('bitwise_not', 'integral', 'arithmetic: integer bool unsigned', 'All bits flipped; logical not for bool.', nil, { operator = '__bnot' }),
  binary('bitwise_left_shift', 'integral', 'arithmetic: integer unsigned', 'Bits shifted left by `other`.', { operator = '__shl' }),
  binary('bitwise_right_shift', 'integral', 'arithmetic: integer', 'Bits shifted right by `other`; the sign is kept.', { operator = '__shr' }),

  -- ---- several kernels ---------------------------------------------------------------------------------------
  { 'clamp(Tensor self, Scalar? min=nil, Scalar? max=nil) -> Tensor', records = true, overlap = 'elementwise', variants = all, aliases = 'clip',
    doc = 'min(max(self, min), max); either bound may be absent.', grad_fn = 'ClampBackward1',
    forward = 'elementwise', grad = { self = '_clamp_backward(grad, self, min, max)' } },
  { '_clamp_backward(Tensor grad_output, Tensor self, Scalar? min, Scalar? max) -> Tensor', batch = 'broadcast', variants = '', composite = true,
    doc = 'grad_output where self is within the bounds, else 0.' },
  { 'clamp.tensors(Tensor self, Tensor? min=nil, Tensor? max=nil) -> Tensor', records = true, overlap = 'elementwise', variants = all, grad_fn = 'ClampBackward0',
    doc = 'min(max(self, min), max) with bounds per element.',
    forward = '_clamp_tensors_tangent(self, min, max, self_t, min_t, max_t)',
    grad = { ['self min max'] = '_clamp_tensors_backward(grad, self, min, max, needs_self, needs_min, needs_max)' } },
  { '_clamp_tensors_backward(Tensor grad_output, Tensor self, Tensor? min, Tensor? max, bool needs_self, bool needs_min, bool needs_max) -> (Tensor grad_self, Tensor grad_min, Tensor grad_max)', batch = 'broadcast',
    variants = '', composite = true, doc = 'grad_output for whichever of the three each element of clamp was.' },
  { '_clamp_tensors_tangent(Tensor self, Tensor? min, Tensor? max, Tensor self_t, Tensor? min_t, Tensor? max_t) -> Tensor',
    variants = '', composite = true, doc = 'The tangent of whichever of the three each element of clamp was.' },
  { 'div.rounding(Tensor|Scalar self, Tensor|Scalar other, *, string rounding_mode) -> Tensor', plain_numbers = true, batch = 'broadcast', overlap = 'elementwise', variants = all, grad_fn = 'DivBackward2',
    doc = "Divides and rounds the quotient: rounding_mode 'trunc' (towards zero) or 'floor'.",
    grad = { self = 'zeros_like(grad)', other = 'zeros_like(grad)' } },

  -- ---- Lua's positions ------------------------------------------------------------------------------------
  { '_position_to_index(Tensor self) -> Tensor', variants = '', pointwise = 'integral', kernel = 'arithmetic: integer',
    doc = 'Positions from 1 to indices from 0: one less where positive, the least integer for 0, negative ones as they are.' },

  -- ---- parts of derivatives ------------------------------------------------------------------------------
  { '_tanh_backward(Tensor grad_output, Tensor output) -> Tensor', variants = 'function', pointwise = 'promote', kernel = 'arithmetic: float complex',
    doc = 'grad_output * (1 - output^2).',
    grad = { grad_output = '_tanh_backward(grad, output)', output = 'grad * grad_output * output * -2' } },
  { '_sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor', variants = 'function', pointwise = 'promote', kernel = 'arithmetic: float complex',
    doc = 'grad_output * output * (1 - output).',
    grad = { grad_output = '_sigmoid_backward(grad, output)', output = 'grad * grad_output * (1 - output * 2)' } },
  { '_relu_backward(Tensor grad_output, Tensor output) -> Tensor', variants = 'function', pointwise = 'promote', kernel = 'arithmetic: float',
    doc = 'grad_output, 0 where output <= 0.', constant = 'output', grad = { grad_output = '_relu_backward(grad, output)' } },
  { '_within(Tensor grad_output, Tensor self, Scalar low, Scalar high) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'grad_output where low <= self <= high, else 0.', constant = 'self', grad = { grad_output = '_within(grad, self, low, high)' } },
  { '_between(Tensor grad_output, Tensor self, Scalar low, Scalar high) -> Tensor', variants = '', pointwise = 'promote', kernel = 'activations: float',
    doc = 'grad_output where low < self < high, else 0.', constant = 'self', grad = { grad_output = '_between(grad, self, low, high)' } },
  { '_pow_backward_self(Tensor grad_output, Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor', batch = 'broadcast', variants = '', composite = true,
    doc = 'grad_output * exponent * self^(exponent - 1), 0 where the exponent is 0.' },
  { '_pow_backward_exponent(Tensor grad_output, Tensor|Scalar self, Tensor|Scalar exponent, Tensor result) -> Tensor', batch = 'broadcast',
    variants = '', composite = true, doc = 'grad_output * result * log(self), 0 where self is 0 and the exponent is not negative.' },

  -- ---- composed of others --------------------------------------------------------------------------------------
  { 'float_power(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor', variants = 'function method inplace copied_out', composite = true, keeps_dtype = true,
    doc = 'Powers, computed in double precision.' },
  { 'frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)', variants = 'function method copied_out', composite = true, grad_fn = 'FrexpBackward0',
    doc = 'Mantissas from 0.5 to 1 and exponents e, with self = mantissa * 2^e.' },
  { 'ldexp(Tensor self, Tensor other) -> Tensor', variants = 'function method inplace copied_out', composite = true, grad_fn = 'LdexpBackward0', doc = 'self * 2^other.' },
  { 'signbit(Tensor self) -> Tensor', variants = 'function method copied_out', composite = true, doc = 'Where the sign is negative, that of -0 too.' },
  { 'isposinf(Tensor self) -> Tensor', variants = 'function method copied_out', composite = true, doc = 'Where self is plus infinity.' },
  { 'isneginf(Tensor self) -> Tensor', variants = 'function method copied_out', composite = true, doc = 'Where self is minus infinity.' },
  { 'positive(Tensor self) -> Tensor', composite = true, doc = 'self.' },
  { 'deg2rad(Tensor self) -> Tensor', variants = 'function method inplace copied_out', composite = true, grad_fn = 'Deg2RadBackward0', doc = 'Degrees as radians.' },
  { 'rad2deg(Tensor self) -> Tensor', variants = 'function method inplace copied_out', composite = true, grad_fn = 'Rad2DegBackward0', doc = 'Radians as degrees.' },
  { 'rsub(Tensor self, Tensor|Scalar other, Scalar alpha=1) -> Tensor', variants = 'function', composite = true, grad_fn = 'RsubBackward0', doc = 'other - alpha * self.' },
  { 'fill(Tensor self, Tensor|Scalar value) -> Tensor', variants = 'function', composite = true, doc = 'A tensor like self, filled with one value.' },

  arguments = [=[
float_power.exponent: Exponent: a tensor that broadcasts with the base, or a number.
ldexp.other: Exponent of 2.
rsub.alpha: Factor of self, which is subtracted from the other operand.
fill.value: Value of all elements: a number, or a tensor without dimensions.
alpha: Factor of the second operand.
rounding_mode: Rounding of the quotient: `'trunc'` towards zero or `'floor'` downwards.
exponent: Exponent: a tensor that broadcasts with the base, or a number.
pow.self: Base: a tensor, or a number.
decimals: Number of decimal places; a negative one rounds to powers of ten.
min: Lower bound of the result; none if absent.
max: Upper bound of the result; none if absent.
condition: Bool tensor, true where the first value is chosen.
where.self: Values where the condition is true.
where.other: Values where the condition is false.
tensor1: First factor or numerator.
tensor2: Second factor or denominator.
value: Factor of the product or quotient.
lerp.end: End points; self has the starting points.
lerp.weight: Weight of the end points: a tensor, or a number; 0 gives self and 1 gives end.
]=],

  examples = [=[
add
    torch.tensor{1, 2} + 10
    --> tensor([11, 12])
    torch.add(torch.tensor{1, 2}, torch.tensor{10, 20}, {alpha = 2})
    --> tensor([21, 42])
sub
    torch.tensor{10, 20} - torch.tensor{1, 2}
    --> tensor([ 9, 18])
mul
    torch.tensor{1, 2} * torch.tensor{10, 0.5}
    --> tensor([10.,  1.])
div
    torch.tensor{1, 2} / 2
    --> tensor([0.5000, 1.0000])
    torch.div(torch.tensor{-7, 7}, 2, {rounding_mode = 'trunc'})
    --> tensor([-3,  3])
pow
    torch.tensor{1, 2, 3} ^ 2
    --> tensor([1, 4, 9])
remainder
    torch.tensor{-7, 7} % 3
    --> tensor([2, 1])
fmod
    torch.fmod(torch.tensor{-7, 7}, 3)
    --> tensor([-1,  1])
floor_divide
    torch.tensor{-7, 7} // 2
    --> tensor([-4,  3])
maximum
    torch.maximum(torch.tensor{1, 5}, torch.tensor{3, 2})
    --> tensor([3, 5])
minimum
    torch.minimum(torch.tensor{1, 5}, torch.tensor{3, 2})
    --> tensor([1, 2])
neg
    -torch.tensor{1, -2}
    --> tensor([-1,  2])
abs
    torch.tensor{-1.5, 2.0}:abs()
    --> tensor([1.5000, 2.0000])
sign
    torch.tensor{-3, 0, 7}:sign()
    --> tensor([-1,  0,  1])
square
    torch.tensor{1, -2, 3}:square()
    --> tensor([1, 4, 9])
reciprocal
    torch.tensor{2.0, 4.0}:reciprocal()
    --> tensor([0.5000, 0.2500])
exp
    torch.tensor{0.0, 1.0}:exp()
    --> tensor([1.0000, 2.7183])
exp2
    torch.tensor{0, 1, 8}:exp2()
    --> tensor([  1.,   2., 256.])
expm1
    torch.tensor{0.0, 1e-8}:expm1()
    --> tensor([0.0000e+00, 1.0000e-08])
log
    torch.tensor{1.0, 10.0}:log()
    --> tensor([0.0000, 2.3026])
log1p
    torch.tensor{0.0, 1e-8}:log1p()
    --> tensor([0.0000e+00, 1.0000e-08])
log2
    torch.tensor{1, 8}:log2()
    --> tensor([0., 3.])
log10
    torch.tensor{1, 1000}:log10()
    --> tensor([0., 3.])
sqrt
    torch.tensor{4, 9, -1}:sqrt()
    --> tensor([2., 3., nan])
rsqrt
    torch.tensor{4.0, 16.0}:rsqrt()
    --> tensor([0.5000, 0.2500])
sin
    torch.tensor{0.0, math.pi / 2}:sin()
    --> tensor([0., 1.])
cos
    torch.tensor{0.0, math.pi}:cos()
    --> tensor([ 1., -1.])
tan
    torch.tensor{0.0, 1.0}:tan()
    --> tensor([0.0000, 1.5574])
asin
    torch.tensor{0.0, 1.0}:asin()
    --> tensor([0.0000, 1.5708])
acos
    torch.tensor{1.0, 0.0}:acos()
    --> tensor([0.0000, 1.5708])
atan
    torch.tensor{0.0, 1.0}:atan()
    --> tensor([0.0000, 0.7854])
sinh
    torch.tensor{0.0, 1.0}:sinh()
    --> tensor([0.0000, 1.1752])
cosh
    torch.tensor{0.0, 1.0}:cosh()
    --> tensor([1.0000, 1.5431])
tanh
    torch.tensor{-1.0, 0.0, 1.0}:tanh()
    --> tensor([-0.7616,  0.0000,  0.7616])
sigmoid
    torch.tensor{-1.0, 0.0, 1.0}:sigmoid()
    --> tensor([0.2689, 0.5000, 0.7311])
erf
    torch.tensor{0.0, 1.0}:erf()
    --> tensor([0.0000, 0.8427])
relu
    torch.tensor{-1.0, 0.0, 2.0}:relu()
    --> tensor([0., 0., 2.])
floor
    torch.tensor{-1.5, 1.5}:floor()
    --> tensor([-2.,  1.])
ceil
    torch.tensor{-1.5, 1.5}:ceil()
    --> tensor([-1.,  2.])
round
    torch.tensor{0.5, 1.5, 2.5}:round()
    --> tensor([0., 2., 2.])
    torch.round(torch.tensor{3.14159}, {decimals = 2})
    --> tensor([3.1400])
trunc
    torch.tensor{-1.5, 1.5}:trunc()
    --> tensor([-1.,  1.])
clamp_min
    torch.tensor{-1, 0, 5}:clamp_min(0)
    --> tensor([0, 0, 5])
clamp_max
    torch.tensor{-1, 0, 5}:clamp_max(2)
    --> tensor([-1,  0,  2])
where
    x = torch.tensor{-1.0, 2.0}
    torch.where(x:gt(0), x, 0)
    --> tensor([0., 2.])
addcmul
    torch.addcmul(torch.zeros(2), torch.tensor{1.0, 2.0}, torch.tensor{3.0, 4.0}, {value = 10})
    --> tensor([30., 80.])
addcdiv
    torch.addcdiv(torch.zeros(2), torch.tensor{1.0, 2.0}, torch.tensor{2.0, 4.0})
    --> tensor([0.5000, 0.5000])
lerp
    torch.lerp(torch.tensor{0.0, 10.0}, torch.tensor{10.0, 20.0}, 0.25)
    --> tensor([ 2.5000, 12.5000])
bitwise_and
    torch.tensor{12, 10} & 6
    --> tensor([4, 2])
bitwise_or
    torch.tensor{12, 10} | 1
    --> tensor([13, 11])
bitwise_xor
    torch.tensor{12, 10} ~ 6
    --> tensor([10, 12])
bitwise_not
    ~torch.tensor{0, 5}
    --> tensor([-1, -6])
bitwise_left_shift
    torch.tensor{1, 3} << 2
    --> tensor([ 4, 12])
bitwise_right_shift
    torch.tensor{-8, 12} >> 2
    --> tensor([-2,  3])
clamp
    torch.tensor{-1, 0, 5}:clamp(0, 3)
    --> tensor([0, 0, 3])
    torch.tensor{-1, 0, 5}:clamp{max = 3}
    --> tensor([-1,  0,  3])
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
