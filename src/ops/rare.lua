-- rare.lua - rarely used special functions. All functions of one number share a kernel, and so do all of two
-- numbers; an argument selects the function (formulas/rare.h). lib/special.lua has them under torch.special's
-- names.

local all, fn = 'function method inplace out', 'function out'

local function integral(name, doc)
  return { name .. '(Tensor self, Tensor other) -> Tensor', variants = all, pointwise = 'integral', kernel = 'rare: int64', doc = doc }
end

return {
  { '_rare_one(Tensor self, Scalar function) -> Tensor', variants = '', pointwise = 'float', kernel = 'rare: float', doc = 'A function of one number.' },
  { '_rare_pair(Tensor self, Tensor other, Scalar function) -> Tensor', variants = '', pointwise = 'float', kernel = 'rare: float', doc = 'A function of two numbers.' },
  { 'special_airy_ai(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'The Airy function Ai.' },
  { 'special_bessel_j0(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Bessel function of the first kind of order 0.' },
  { 'special_bessel_j1(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Bessel function of the first kind of order 1.' },
  { 'special_bessel_y0(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Bessel function of the second kind of order 0.' },
  { 'special_bessel_y1(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Bessel function of the second kind of order 1.' },
  { 'special_spherical_bessel_j0(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Spherical Bessel function of order 0: sin(self) / self.' },
  { 'i0(Tensor self) -> Tensor', variants = all, overlap = 'elementwise', doc = 'Modified Bessel function of the first kind of order 0.',
    forward = 'elementwise', grad = { self = 'grad * special_i1(self)' } },
  { 'special_i0e(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'exp(-|self|) * i0(self).',
    forward = 'elementwise', grad = { self = 'grad * (special_i1e(self) - sign(self) * result)' } },
  { 'special_i1(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Modified Bessel function of the first kind of order 1.',
    forward = 'elementwise', grad = { self = '_i1_backward(grad, self, result)' } },
  { 'special_i1e(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'exp(-|self|) * i1(self).',
    forward = 'elementwise', grad = { self = '_i1e_backward(grad, self, result)' } },
  { 'special_modified_bessel_i0(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Modified Bessel function of the first kind of order 0.' },
  { 'special_modified_bessel_i1(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Modified Bessel function of the first kind of order 1.' },
  { 'special_modified_bessel_k0(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Modified Bessel function of the second kind of order 0.' },
  { 'special_modified_bessel_k1(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'Modified Bessel function of the second kind of order 1.' },
  { 'special_scaled_modified_bessel_k0(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'exp(self) * modified_bessel_k0(self).' },
  { 'special_scaled_modified_bessel_k1(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'exp(self) * modified_bessel_k1(self).' },
  { 'special_erfcx(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'exp(self^2) * erfc(self), which does not overflow for large self.',
    forward = 'elementwise', grad = { self = 'grad * (result * self * 2 - 1.12837916709551257390)' } },
  { 'special_ndtr(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'The standard normal distribution: the share below self.',
    forward = 'elementwise', grad = { self = 'grad * exp(self * self * -0.5) * 0.39894228040143267794' } },
  { 'special_log_ndtr(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'The logarithm of ndtr, exact in the lower tail.',
    forward = 'elementwise', grad = { self = 'grad * 0.79788456080286535588 / special_erfcx(self * -0.70710678118654752440)' } },
  { 'special_ndtri(Tensor self) -> Tensor', variants = fn, overlap = 'elementwise', doc = 'The quantile function of the standard normal distribution.',
    forward = 'elementwise', grad = { self = 'grad * exp(result * result * 0.5) * 2.50662827463100050242' } },
  { 'igamma(Tensor self, Tensor other) -> Tensor', variants = all, overlap = 'elementwise',
    doc = 'The regularized lower incomplete gamma function P(self, other).',
    forward = 'elementwise',
    grad = { self = '_no_derivative(grad, 3)', other = 'grad * exp((self - 1) * log(other) - other - lgamma(self))' } },
  { 'igammac(Tensor self, Tensor other) -> Tensor', variants = all, overlap = 'elementwise',
    doc = 'The regularized upper incomplete gamma function, 1 - igamma(self, other).',
    forward = 'elementwise',
    grad = { self = '_no_derivative(grad, 4)', other = '-grad * exp((self - 1) * log(other) - other - lgamma(self))' } },
  { 'special_zeta(Tensor|Scalar self, Tensor|Scalar other) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Hurwitz zeta function: the sum of (k + other)^-self over k from 0 on.',
    forward = 'elementwise', grad = { self = '_no_derivative(grad, 5)', other = '-grad * self * special_zeta(self + 1, other)' } },
  { 'nextafter(Tensor self, Tensor other) -> Tensor', variants = all, overlap = 'elementwise',
    doc = 'The next number of the dtype after self in the direction of other.', forward = 'elementwise', grad = { self = 'grad', other = 'zeros_like(grad)' } },
  { 'special_chebyshev_polynomial_t(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Chebyshev polynomial of the first kind of degree n.' },
  { 'special_shifted_chebyshev_polynomial_t(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Chebyshev polynomial of the first kind of degree n at 2 x - 1.' },
  { 'special_chebyshev_polynomial_u(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Chebyshev polynomial of the second kind of degree n.' },
  { 'special_shifted_chebyshev_polynomial_u(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Chebyshev polynomial of the second kind of degree n at 2 x - 1.' },
  { 'special_chebyshev_polynomial_v(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Chebyshev polynomial of the third kind of degree n.' },
  { 'special_shifted_chebyshev_polynomial_v(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Chebyshev polynomial of the third kind of degree n at 2 x - 1.' },
  { 'special_chebyshev_polynomial_w(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Chebyshev polynomial of the fourth kind of degree n.' },
  { 'special_shifted_chebyshev_polynomial_w(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Chebyshev polynomial of the fourth kind of degree n at 2 x - 1.' },
  { 'special_hermite_polynomial_h(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The physicists\' Hermite polynomial of degree n.' },
  { 'special_hermite_polynomial_he(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The probabilists\' Hermite polynomial of degree n.' },
  { 'special_laguerre_polynomial_l(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Laguerre polynomial of degree n.' },
  { 'special_legendre_polynomial_p(Tensor|Scalar x, Tensor|Scalar n) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The Legendre polynomial of degree n.' },
  { '_i1_backward(Tensor grad_output, Tensor self, Tensor result) -> Tensor', variants = '', composite = true, doc = 'The derivative of special_i1.' },
  { '_i1e_backward(Tensor grad_output, Tensor self, Tensor result) -> Tensor', variants = '', composite = true, doc = 'The derivative of special_i1e.' },
  { 'polygamma(int n, Tensor self) -> Tensor', variants = fn, overlap = 'elementwise',
    doc = 'The derivative of digamma of order n; x:polygamma(n) as a method.', forward = 'elementwise', grad = { self = '_polygamma_slope(grad, self, n)' } },
  { '_polygamma_slope(Tensor grad_output, Tensor self, int n) -> Tensor', variants = '', composite = true, doc = 'grad_output * polygamma(n + 1, self).' },
  { 'mvlgamma(Tensor self, int p) -> Tensor', variants = all, overlap = 'elementwise',
    doc = 'The logarithm of the multivariate gamma function of dimension p.', forward = 'elementwise', grad = { self = '_mvlgamma_backward(grad, self, p)' } },
  { '_mvlgamma_backward(Tensor grad_output, Tensor self, int p) -> Tensor', variants = '', composite = true, doc = 'The derivative of mvlgamma.' },
  integral('gcd', 'The greatest common divisor.'),
  integral('lcm', 'The least common multiple.'),

  arguments = [=[
x: Argument of the polynomial: a tensor, or a number.
n: Degree of the polynomial: a tensor that broadcasts with x, or a number.
polygamma.n: Order of the derivative, not negative.
p: Number of dimensions, at least 1.
]=],

  examples = [=[
special_airy_ai
    torch.special.airy_ai(torch.tensor{0.0, 1.0})
    --> tensor([0.3550, 0.1353])
special_bessel_j0
    torch.special.bessel_j0(torch.tensor{0.0, 1.0})
    --> tensor([1.0000, 0.7652])
special_bessel_j1
    torch.special.bessel_j1(torch.tensor{0.0, 1.0})
    --> tensor([0.0000, 0.4401])
special_bessel_y0
    torch.special.bessel_y0(torch.tensor{1.0, 2.0})
    --> tensor([0.0883, 0.5104])
special_bessel_y1
    torch.special.bessel_y1(torch.tensor{1.0, 2.0})
    --> tensor([-0.7812, -0.1070])
special_spherical_bessel_j0
    torch.special.spherical_bessel_j0(torch.tensor{0.0, math.pi / 2})
    --> tensor([1.0000, 0.6366])
i0
    torch.i0(torch.tensor{0.0, 1.0})
    --> tensor([1.0000, 1.2661])
special_i0e
    torch.special.i0e(torch.tensor{0.0, 1.0})
    --> tensor([1.0000, 0.4658])
special_i1
    torch.special.i1(torch.tensor{0.0, 1.0})
    --> tensor([0.0000, 0.5652])
special_i1e
    torch.special.i1e(torch.tensor{0.0, 1.0})
    --> tensor([0.0000, 0.2079])
special_modified_bessel_i0
    torch.special.modified_bessel_i0(torch.tensor{0.0, 1.0})
    --> tensor([1.0000, 1.2661])
special_modified_bessel_i1
    torch.special.modified_bessel_i1(torch.tensor{0.0, 1.0})
    --> tensor([0.0000, 0.5652])
special_modified_bessel_k0
    torch.special.modified_bessel_k0(torch.tensor{1.0, 2.0})
    --> tensor([0.4210, 0.1139])
special_modified_bessel_k1
    torch.special.modified_bessel_k1(torch.tensor{1.0, 2.0})
    --> tensor([0.6019, 0.1399])
special_scaled_modified_bessel_k0
    torch.special.scaled_modified_bessel_k0(torch.tensor{1.0, 2.0})
    --> tensor([1.1445, 0.8416])
special_scaled_modified_bessel_k1
    torch.special.scaled_modified_bessel_k1(torch.tensor{1.0, 2.0})
    --> tensor([1.6362, 1.0335])
special_erfcx
    torch.special.erfcx(torch.tensor{0.0, 10.0})
    --> tensor([1.0000, 0.0561])
special_ndtr
    torch.special.ndtr(torch.tensor{-1.0, 0.0, 1.0})
    --> tensor([0.1587, 0.5000, 0.8413])
special_log_ndtr
    torch.special.log_ndtr(torch.tensor{-30.0, 0.0})
    --> tensor([-454.3213,   -0.6931])
special_ndtri
    torch.special.ndtri(torch.tensor{0.025, 0.975})
    --> tensor([-1.9600,  1.9600])
igamma
    torch.igamma(torch.tensor{1.0, 2.0}, torch.tensor{1.0, 2.0})
    --> tensor([0.6321, 0.5940])
igammac
    torch.igammac(torch.tensor{1.0, 2.0}, torch.tensor{1.0, 2.0})
    --> tensor([0.3679, 0.4060])
special_zeta
    torch.special.zeta(torch.tensor{2.0, 4.0}, 1)
    --> tensor([1.6449, 1.0823])
nextafter
    torch.nextafter(torch.tensor{1.0}, torch.tensor{2.0}) - 1
    --> tensor([1.1921e-07])
special_chebyshev_polynomial_t
    torch.special.chebyshev_polynomial_t(torch.tensor{0.5, 2.0}, 2)
    --> tensor([-0.5000,  7.0000])
special_shifted_chebyshev_polynomial_t
    torch.special.shifted_chebyshev_polynomial_t(torch.tensor{0.5, 2.0}, 2)
    --> tensor([-1., 17.])
special_chebyshev_polynomial_u
    torch.special.chebyshev_polynomial_u(torch.tensor{0.5, 2.0}, 2)
    --> tensor([ 0., 15.])
special_shifted_chebyshev_polynomial_u
    torch.special.shifted_chebyshev_polynomial_u(torch.tensor{0.5, 2.0}, 2)
    --> tensor([-1., 35.])
special_chebyshev_polynomial_v
    torch.special.chebyshev_polynomial_v(torch.tensor{0.5, 2.0}, 2)
    --> tensor([-1., 11.])
special_shifted_chebyshev_polynomial_v
    torch.special.shifted_chebyshev_polynomial_v(torch.tensor{0.5, 2.0}, 2)
    --> tensor([-1., 29.])
special_chebyshev_polynomial_w
    torch.special.chebyshev_polynomial_w(torch.tensor{0.5, 2.0}, 2)
    --> tensor([ 1., 19.])
special_shifted_chebyshev_polynomial_w
    torch.special.shifted_chebyshev_polynomial_w(torch.tensor{0.5, 2.0}, 2)
    --> tensor([-1., 41.])
special_hermite_polynomial_h
    torch.special.hermite_polynomial_h(torch.tensor{0.5, 2.0}, 2)
    --> tensor([-1., 14.])
special_hermite_polynomial_he
    torch.special.hermite_polynomial_he(torch.tensor{0.5, 2.0}, 2)
    --> tensor([-0.7500,  3.0000])
special_laguerre_polynomial_l
    torch.special.laguerre_polynomial_l(torch.tensor{0.5, 2.0}, 2)
    --> tensor([ 0.1250, -1.0000])
special_legendre_polynomial_p
    torch.special.legendre_polynomial_p(torch.tensor{0.5, 2.0}, 2)
    --> tensor([-0.1250,  5.5000])
polygamma
    torch.polygamma(1, torch.tensor{1.0, 2.0})
    --> tensor([1.6449, 0.6449])
mvlgamma
    torch.mvlgamma(torch.tensor{2.0, 3.0}, 2)
    --> tensor([0.4516, 1.5502])
gcd
    torch.gcd(torch.tensor{12, 7}, torch.tensor{18, 21})
    --> tensor([6, 7])
lcm
    torch.lcm(torch.tensor{4, 7}, torch.tensor{6, 21})
    --> tensor([12, 21])
]=],
}
