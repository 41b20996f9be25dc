"""Special functions by mpmath, with 40 digits (of large parameters by SciPy): PyTorch's own are good for eight digits in places (bessel_*, airy_ai) or overflow early."""

import mpmath as mp
import scipy.special
import torch

from .cases import INF, NAN, Arg, Group

mp.mp.dps = 40

NEAR = [-30.0, -9.5, -4.828125, -2.5, -2.0, -1.0, -0.375, -1e-9, 1e-9, 0.125, 0.5, 1.0, 1.5, 2.0, 2.25, 3.0, 4.828125, 7.5, 8.25, 13.0, 29.0]
POSITIVE = [x for x in NEAR if x > 0] + [45.0, 120.0]
SHARES = [1e-300, 1e-20, 1e-5, 0.01, 0.1375, 0.25, 0.4999, 0.5, 0.5 + 1e-12, 0.625, 0.9, 0.999]

ONE = {
    "airy_ai": (mp.airyai, NEAR + [100.0]),
    "bessel_j0": (lambda x: mp.besselj(0, x), NEAR), "bessel_j1": (lambda x: mp.besselj(1, x), NEAR),
    "bessel_y0": (lambda x: mp.bessely(0, x), POSITIVE), "bessel_y1": (lambda x: mp.bessely(1, x), POSITIVE),
    "modified_bessel_i0": (lambda x: mp.besseli(0, x), NEAR + [300.0, 712.0]), "modified_bessel_i1": (lambda x: mp.besseli(1, x), NEAR + [-300.0]),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), NEAR + [1e4]), "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), NEAR + [1e4]),
    "modified_bessel_k0": (lambda x: mp.besselk(0, x), POSITIVE), "modified_bessel_k1": (lambda x: mp.besselk(1, x), POSITIVE),
    "scaled_modified_bessel_k0": (lambda x: mp.besselk(0, x) * mp.exp(x), POSITIVE + [1e4]),
    "scaled_modified_bessel_k1": (lambda x: mp.besselk(1, x) * mp.exp(x), POSITIVE + [1e4]),
    "erfcx": (lambda x: mp.exp(mp.mpf(x) ** 2) * mp.erfc(x), [x for x in NEAR if x > -26] + [24.9, 25.1, 1e3]),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), NEAR), "ndtr": (mp.ncdf, NEAR),
    "ndtri": (lambda p: -mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(p)) if p > 1e-30 else mp.findroot(lambda x: mp.log(mp.ncdf(x)) - mp.log(p), -37 if p < 1e-100 else -9), SHARES),
    "spherical_bessel_j0": (lambda x: mp.sin(x) / x, NEAR),
}

PAIRS = [(a, x) for a in (0.01, 0.5, 1.0, 3.25, 19.0, 40.0, 300.0, 2e5) for x in (a * 0.25, a * 0.9, a, a * 1.125, a * 2)] + [(0.25, 1.0), (1e-3, 0.5), (2.0, 30.0)]
TWO = {
    "gammainc": (lambda a, x: scipy.special.gammainc(float(a), float(x)) if a > 1000 else mp.gammainc(a, 0, x, regularized=True), PAIRS),
    "gammaincc": (lambda a, x: scipy.special.gammaincc(float(a), float(x)) if a > 1000 else mp.gammainc(a, x, mp.inf, regularized=True), [p for p in PAIRS if p[1] < 700 or p[0] > 1e4]),
    "zeta": (mp.zeta, [(1.5, 0.5), (2.0, 1.0), (2.0, 0.25), (3.0, 10.5), (12.5, 3.0), (40.0, 1.5), (2.5, 100.0)]),
    "chebyshev_polynomial_t": (lambda x, n: mp.chebyt(int(n), x), [(0.3, 5.0), (0.3, 40.0), (-1.0, 7.0), (1.5, 6.0), (2.0, 0.0)]),
    "chebyshev_polynomial_u": (lambda x, n: mp.chebyu(int(n), x), [(0.3, 5.0), (0.3, 40.0), (-1.0, 7.0), (1.5, 6.0), (2.0, 1.0)]),
    "hermite_polynomial_h": (lambda x, n: mp.hermite(int(n), x), [(0.3, 5.0), (1.5, 10.0), (-2.0, 3.0)]),
    "laguerre_polynomial_l": (lambda x, n: mp.laguerre(int(n), 0, x), [(0.3, 5.0), (1.5, 10.0), (-2.0, 3.0)]),
    "legendre_polynomial_p": (lambda x, n: mp.legendre(int(n), x), [(0.3, 5.0), (0.9, 10.0), (-2.0, 3.0)]),
}

# What is at the ends of their domains, as PyTorch has it.
ENDS = {
    "bessel_y0": ([0.0, -1.0, INF], [-INF, NAN, 0.0]), "modified_bessel_k0": ([0.0, -1.0, INF], [INF, NAN, 0.0]), "ndtri": ([0.0, 1.0, -0.5, NAN], [-INF, INF, NAN, NAN]),
    "erfcx": ([-30.0, INF, NAN], [INF, 0.0, NAN]), "airy_ai": ([INF, NAN, 150.0], [NAN, NAN, 0.0]), "log_ndtr": ([INF, -INF], [0.0, -INF]),
}


def as_double(values):
    return torch.tensor([float(v) for v in values], dtype=torch.float64)


def write(path):
    g = Group()
    for name, (f, xs) in ONE.items():
        for dtype in (torch.float64, torch.float32):
            x = torch.tensor([v for v in xs if v == 0 or abs(v) > torch.finfo(dtype).tiny], dtype=dtype)
            want = as_double([f(mp.mpf(v)) for v in x.double().tolist()]).to(dtype)
            g.add(name, Arg(x), via="S", loose=4, run=lambda x, want=want: want)
    for name, (f, pairs) in TWO.items():
        a, b = torch.tensor(pairs, dtype=torch.float64).unbind(1)
        want = as_double([f(mp.mpf(p), mp.mpf(q)) for p, q in pairs])
        g.add(name, Arg(a.clone()), Arg(b.clone()), via="S", loose=20, run=lambda a, b, want=want: want)
    for name, (xs, wants) in ENDS.items():
        g.add(name, Arg(as_double(xs)), via="S", run=lambda x, wants=wants: as_double(wants))
    return g.write(path, "Special functions, by mpmath.")
