-- special.lua - special functions, and elementwise ops that handle nan and the infinities.

local all = 'function method inplace out'

-- Functions with f(0) = 0: for sparse tensors they apply to the values only.
local keeps_zero = {}
for name in ('asinh atanh erfinv frac'):gmatch '%S+' do keeps_zero[name] = true end

local function unary(name, rule, kernel, doc, derivative, more)
  local entry = { name .. '(Tensor self) -> Tensor', variants = all, pointwise = rule, kernel = kernel, doc = doc,
    grad = derivative and { self = derivative }, sparse = keeps_zero[name] and 'values' or nil }
  for field, value in pairs(more or {}) do entry[field] = value end
  return entry
end

local function binary(name, rule, kernel, doc, grad)
  return { name .. '(Tensor self, Tensor other) -> Tensor', variants = 'function method out', pointwise = rule,
    kernel = kernel, doc = doc, grad = grad }
end

return {
  -- ---- inverse hyperbolic functions, angles ---------------------------------------------------------------
  unary('asinh', 'float', 'special: float complex', 'Inverse hyperbolic sine.', 'grad * rsqrt(self * self + 1)', { aliases = 'arcsinh' }),
  unary('acosh', 'float', 'special: float complex', 'Inverse hyperbolic cosine; nan below 1.', '_acosh_backward(grad, self)', { aliases = 'arccosh' }),
  unary('atanh', 'float', 'special: float complex', 'Inverse hyperbolic tangent; nan outside [-1, 1].', 'grad / (1 - self * self)',
    { aliases = 'arctanh' }),
  { 'atan2(Tensor self, Tensor other) -> Tensor', variants = all, pointwise = 'float', kernel = 'special: float', aliases = 'arctan2',
    doc = 'The angle of the point (other, self), from -pi to pi.',
    grad = { self = 'grad * (other / where(eq(self * self + other * other, 0), 1, self * self + other * other))', other = '-grad * (self / where(eq(self * self + other * other, 0), 1, self * self + other * other))' } }, -- 0 at (0, 0)
  { 'hypot(Tensor self, Tensor other) -> Tensor', variants = all, pointwise = 'promote', kernel = 'special: float',
    doc = 'sqrt(self^2 + other^2) without overflow.',
    grad = { self = 'grad * (self / result)', other = 'grad * (other / result)' } },

  -- ---- error functions, gamma functions, logarithms of odds -------------------------------------------
  unary('erfc', 'float', 'special: float(NEAR)', '1 - erf(self), exact where that is small.', '-grad * exp(-(self * self)) * 1.12837916709551257390'),
  unary('erfinv', 'float', 'special: float(NEAR)', 'The inverse of erf.', 'grad * exp(result * result) * 0.88622692545275801365'),
  unary('lgamma', 'float', 'gamma: float', 'Logarithm of the absolute value of the gamma function.', 'grad * digamma(self)'),
  unary('digamma', 'float', 'gamma: float', 'Derivative of lgamma.', 'grad * _polygamma(self, 1)'),
  { '_polygamma(Tensor self, Scalar n) -> Tensor', variants = '', pointwise = 'float', kernel = 'gamma: float', doc = 'Derivative of digamma of order n.',
    grad = { self = '_polygamma_backward(grad, self, n)' } },
  { '_polygamma_backward(Tensor grad_output, Tensor self, Scalar n) -> Tensor', batch = 'broadcast', variants = '', composite = true,
    doc = 'grad_output * _polygamma(self, n + 1).' },
  { 'logit(Tensor self, float? eps=nil) -> Tensor', overlap = 'elementwise', variants = all,
    doc = 'log(self / (1 - self)), the inverse of sigmoid; `eps` first clamps self to [eps, 1 - eps].',
    forward = 'elementwise', grad = { self = '_logit_backward(grad, self, eps)' } },
  { '_logit(Tensor self) -> Tensor', variants = '', pointwise = 'float', kernel = 'special: float', doc = 'log(self / (1 - self)).' },
  { '_logit_backward(Tensor grad_output, Tensor self, float? eps) -> Tensor', batch = 'broadcast', variants = '', composite = true,
    doc = 'grad_output / (self * (1 - self)), 0 where self was clamped.' },
  { 'xlogy(Tensor|Scalar self, Tensor|Scalar other) -> Tensor', variants = all, pointwise = 'float', kernel = 'special: float',
    doc = 'self * log(other), 0 where self is 0.', grad_fn_number = { self = 'XlogyBackward1', other = 'XlogyBackward2' },
    grad = { self = 'where(logical_and(eq(self, 0), le(other, 0)), 0, xlogy(grad, other))', other = 'grad * self / other' } },

  { 'special_xlog1py(Tensor|Scalar self, Tensor|Scalar other) -> Tensor', variants = 'function out', pointwise = 'float', kernel = 'special: float',
    doc = 'self * log1p(other), 0 where self is 0.',
    grad = { self = 'where(logical_and(eq(self, 0), le(other, -1)), 0, special_xlog1py(grad, other))', other = 'grad * self / (other + 1)' } },
  { 'special_entr(Tensor self) -> Tensor', variants = 'function out', pointwise = 'float', kernel = 'special: float',
    doc = 'The entropy -self * log(self), 0 at 0 and -inf below.', grad = { self = 'grad * (-log(self) - 1)' } },
  unary('sinc', 'float', 'special: float complex', 'sin(pi self) / (pi self), 1 at 0.', '_sinc_backward(grad, self)'),
  { '_sinc_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', composite = true, doc = 'The derivative of sinc.' },
  { 'logaddexp(Tensor self, Tensor other) -> Tensor', variants = 'function method out', pointwise = 'promote', kernel = 'special: float complex',
    doc = 'log(exp(self) + exp(other)) without overflow.',
    grad = { self = 'grad / (exp(other - self) + 1)', other = 'grad / (exp(self - other) + 1)' } },
  { 'logaddexp2(Tensor self, Tensor other) -> Tensor', variants = 'function method out', pointwise = 'promote', kernel = 'special: float',
    doc = 'log2(2^self + 2^other) without overflow.',
    grad = { self = 'grad / (exp2(other - self) + 1)', other = 'grad / (exp2(self - other) + 1)' } },

  -- ---- parts of numbers, signs, nan ---------------------------------------------------------------------
  unary('frac', 'promote', 'arithmetic: float', 'self - trunc(self): the part behind the point, with the sign.', 'grad'),
  { 'copysign(Tensor self, Tensor|Scalar other) -> Tensor', variants = all, grad_fn = 'CopysignBackward0', grad_fn_number = { other = 'CopysignBackward1' }, pointwise = 'float', kernel = 'arithmetic: float',
    doc = 'The magnitude of self with the sign of other.',
    grad = { self = 'where(eq(self, 0), 0, grad * (result / self))', other = 'zeros_like(grad)' } },
  binary('fmax', 'promote', 'arithmetic: float integer bool order', 'The larger of the two; a number where the other is nan.',
    { self = 'where(logical_or(ge(self, other), isnan(other)), grad, 0)',
      other = 'where(logical_or(ge(self, other), isnan(other)), 0, grad)' }),
  binary('fmin', 'promote', 'arithmetic: float integer bool order', 'The smaller of the two; a number where the other is nan.',
    { self = 'where(logical_or(le(self, other), isnan(other)), grad, 0)',
      other = 'where(logical_or(le(self, other), isnan(other)), 0, grad)' }),
  { 'heaviside(Tensor self, Tensor values) -> Tensor', variants = all, pointwise = 'promote', kernel = 'arithmetic: float integer bool', check = 'same_dtype',
    doc = '0 where self is negative, 1 where it is positive, values where it is 0.',
    grad = { self = 'zeros_like(grad)', values = 'where(eq(self, 0), grad, 0)' } },
  { 'nan_to_num(Tensor self, float? nan=nil, float? posinf=nil, float? neginf=nil) -> Tensor', overlap = 'elementwise', variants = all,
    doc = 'Numbers for nan (0) and the infinities (the largest and least finite numbers of the dtype).',
    forward = 'elementwise', grad = { self = 'where(isfinite(self), grad, 0)' } },
  { '_nan_to_num(Tensor self, Scalar nan, Scalar posinf, Scalar neginf) -> Tensor', variants = '', pointwise = 'promote', kernel = 'arithmetic: float', numbers = 'any',
    doc = 'nan_to_num.' },

  arguments = [=[
values: Result where self is 0.
nan: Number that replaces NaN; 0 if absent.
posinf: Number that replaces infinity; the largest number of the dtype if absent.
neginf: Number that replaces negative infinity; the smallest number of the dtype if absent.
logit.eps: Distance from 0 and 1 to which the input is clamped; it is not clamped if absent.
]=],

  examples = [=[
asinh
    torch.tensor{0.0, 1.0}:asinh()
    --> tensor([0.0000, 0.8814])
acosh
    torch.tensor{1.0, 2.0}:acosh()
    --> tensor([0.0000, 1.3170])
atanh
    torch.tensor{0.0, 0.5}:atanh()
    --> tensor([0.0000, 0.5493])
atan2
    torch.atan2(torch.tensor{1.0, -1.0}, torch.tensor{1.0, -1.0})
    --> tensor([ 0.7854, -2.3562])
hypot
    torch.hypot(torch.tensor{3.0, 5.0}, torch.tensor{4.0, 12.0})
    --> tensor([ 5., 13.])
erfc
    torch.tensor{0.0, 1.0}:erfc()
    --> tensor([1.0000, 0.1573])
erfinv
    torch.tensor{0.0, 0.5}:erfinv()
    --> tensor([0.0000, 0.4769])
lgamma
    torch.tensor{1.0, 10.0}:lgamma()
    --> tensor([ 0.0000, 12.8018])
digamma
    torch.tensor{1.0, 2.0}:digamma()
    --> tensor([-0.5772,  0.4228])
logit
    torch.tensor{0.5, 0.9}:logit()
    --> tensor([0.0000, 2.1972])
xlogy
    torch.xlogy(torch.tensor{0.0, 2.0}, torch.tensor{0.0, 1.0})
    --> tensor([0., 0.])
special_xlog1py
    torch.special.xlog1py(torch.tensor{0.0, 2.0}, torch.tensor{-1.0, 1.0})
    --> tensor([0.0000, 1.3863])
special_entr
    torch.special.entr(torch.tensor{0.0, 0.5})
    --> tensor([0.0000, 0.3466])
sinc
    torch.tensor{0.0, 0.5}:sinc()
    --> tensor([1.0000, 0.6366])
logaddexp
    torch.logaddexp(torch.tensor{-1000.0}, torch.tensor{-1000.0})
    --> tensor([-999.3068])
logaddexp2
    torch.logaddexp2(torch.tensor{3.0}, torch.tensor{3.0})
    --> tensor([4.])
frac
    torch.tensor{1.25, -2.5}:frac()
    --> tensor([ 0.2500, -0.5000])
copysign
    torch.copysign(torch.tensor{1.0, 2.0}, torch.tensor{-0.0, 5.0})
    --> tensor([-1.,  2.])
fmax
    torch.fmax(torch.tensor{1.0, 0 / 0}, torch.tensor{2.0, 3.0})
    --> tensor([2., 3.])
fmin
    torch.fmin(torch.tensor{1.0, 0 / 0}, torch.tensor{2.0, 3.0})
    --> tensor([1., 3.])
heaviside
    torch.heaviside(torch.tensor{-1.0, 0.0, 1.0}, torch.tensor{0.5})
    --> tensor([0.0000, 0.5000, 1.0000])
nan_to_num
    torch.tensor{0 / 0, 1.0}:nan_to_num(7)
    --> tensor([7., 1.])
]=],
}
