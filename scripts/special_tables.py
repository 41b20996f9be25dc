"""Prints src/core/formulas/rare_tables.h: Chebyshev expansions of Bessel's and Airy's functions, computed by mpmath with 40 digits.

Each expands a smooth factor f on an interval [a, b], in t = (2 u - a - b) / (b - a); the comments define u and f.

Usage: python3 scripts/special_tables.py > src/core/formulas/rare_tables.h
"""

from mpmath import airyai, airybi, besseli, besselk, cos, exp, inf, mp, mpf, pi, sin, sqrt

mp.dps = 40


def scaled(kind, order):
    """kind(order, 1 / u) without its exponential, times sqrt(x): nearly constant for u near 0."""
    limit = sqrt(1 / (2 * pi)) if kind is besseli else sqrt(pi / 2)

    def f(u):
        if u <= 0:
            return limit
        x = 1 / u
        return kind(order, x) * exp(-x if kind is besseli else x) * sqrt(x)

    return f


def airy_decay(u):
    """Ai(x) exp(z) x^(1/4), z = 2/3 x^(3/2) = 1 / u."""
    if u <= 0:
        return 1 / (2 * sqrt(pi))
    z = 1 / u
    x = (3 * z / 2) ** (mpf(2) / 3)
    return airyai(x) * exp(z) * x ** mpf("0.25")


def airy_wave(part):
    """Ai(-x) = x^(-1/4) (cos(z - pi/4) P + sin(z - pi/4) Q), z = 2/3 x^(3/2), u = 1 / z^2; P, and Q z."""

    def f(u):
        if u <= 0:
            return 1 / sqrt(pi) * (1 if part == 0 else mpf(5) / 72)
        z = 1 / sqrt(u)
        x = (3 * z / 2) ** (mpf(2) / 3)
        a, b, c, s = airyai(-x), airybi(-x), cos(z - pi / 4), sin(z - pi / 4)
        root = x ** mpf("0.25")
        return root * (a * c - b * s) if part == 0 else root * (a * s + b * c) * z

    return f


TABLES = [
    ("bessel_i0_small", "I0(x) exp(-x), u = x", lambda u: besseli(0, u) * exp(-u), 0, 8),
    ("bessel_i0_large", "I0(x) exp(-x) sqrt(x), u = 1 / x", scaled(besseli, 0), 0, mpf(1) / 8),
    ("bessel_i1_small", "I1(x) exp(-x) / x, u = x", lambda u: besseli(1, u) * exp(-u) / u if u > 0 else mpf(1) / 2, 0, 8),
    ("bessel_i1_large", "I1(x) exp(-x) sqrt(x), u = 1 / x", scaled(besseli, 1), 0, mpf(1) / 8),
    ("bessel_k0_large", "K0(x) exp(x) sqrt(x), u = 1 / x", scaled(besselk, 0), 0, mpf(1) / 2),
    ("bessel_k1_large", "K1(x) exp(x) sqrt(x), u = 1 / x", scaled(besselk, 1), 0, mpf(1) / 2),
    ("airy_decay", "Ai(x) exp(z) x^(1/4), u = 1 / z, z = 2/3 x^(3/2)", airy_decay, 0, mpf("0.55")),
    ("airy_wave_p", "P of Ai(-x) = x^(-1/4) (cos(z - pi/4) P + sin(z - pi/4) Q / z), u = 1 / z^2", airy_wave(0), 0, mpf("0.26")),
    ("airy_wave_q", "Q of the same", airy_wave(1), 0, mpf("0.26")),
]


def expansion(f, a, b, n=64):
    """The coefficients down to the rounding of doubles."""
    nodes = [cos(pi * (k + mpf(1) / 2) / n) for k in range(n)]
    values = [f(a + (b - a) * (t + 1) / 2) for t in nodes]
    c = [2 * sum(v * cos(pi * j * (k + mpf(1) / 2) / n) for k, v in enumerate(values)) / n for j in range(n)]
    c[0] /= 2
    while abs(c[-1]) < mpf(2) ** -57 * abs(c[0]):
        c.pop()
    return c


print("""/* rare_tables.h - Chebyshev expansions, from the constant term on, printed by scripts/special_tables.py. Included by rare.h. */
#ifndef LT_FORMULAS_RARE_TABLES_H
#define LT_FORMULAS_RARE_TABLES_H

/* RARE_TABLE(name, from, to, terms, coefficients) makes lt_<name>(u), for u in that interval. */
for name, what, f, a, b in TABLES:
    c = expansion(f, mpf(a), mpf(b))
    print(f"\n/* {what}. */\nRARE_TABLE({name}, {mp.nstr(mpf(a), 17)}, {mp.nstr(mpf(b), 17)}, {len(c)},")
    lines = [", ".join(mp.nstr(v, 17, strip_zeros=False) for v in c[i:i + 4]) for i in range(0, len(c), 4)]
    print("    " + ",\n    ".join(lines) + ")")
print("\n#endif")
