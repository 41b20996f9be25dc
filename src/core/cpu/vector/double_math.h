/* double_math.h - what functions of double need that are polynomials of our own, and erf of double, for which SLEEF 3.5 takes ten
 * times as long. No branches, so that "omp simd" loops that call them are vectorized by any compiler. Special values are those of
 * <math.h>. Included by float_math.h, after whose end erf means this one. */
#ifndef LT_CPU_DOUBLE_MATH_H
#define LT_CPU_DOUBLE_MATH_H

#include <stdint.h>
#include <string.h>

/* a b + c, rounded once where the instruction set has that. */
static inline double vector_multiply_add(double a, double b, double c)
{
#ifdef __FMA__
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

static inline double vector_bits_to_double(uint64_t u)
{
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}

static inline uint64_t vector_double_to_bits(double d)
{
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

/* Below 1, x + x E(x^2). From there on 1 - erfc(1) 2^-Q(x), Q in powers of x - 1; from 5.95 on it is 1. The exponent is rounded to an
 * integer and a rest by adding 1.5 2^52. Minimax fits (Lawson's algorithm), whose own errors are below 0.04 ULP. */
static inline double vector_erf(double x)
{
    const double size = __builtin_fabs(x), a = size < 5.95 ? size : 5.95, s = a * a, u = a - 1;
    double e = -7.779458280044093e-10;
    e = vector_multiply_add(e, s, 1.3710974495089516e-08);
    e = vector_multiply_add(e, s, -1.6206312281400118e-07);
    e = vector_multiply_add(e, s, 1.6447131361544326e-06);
    e = vector_multiply_add(e, s, -1.4924712283380777e-05);
    e = vector_multiply_add(e, s, 0.00012055293575820606);
    e = vector_multiply_add(e, s, -0.0008548325929272872);
    e = vector_multiply_add(e, s, 0.005223977606117407);
    e = vector_multiply_add(e, s, -0.026866170643111288);
    e = vector_multiply_add(e, s, 0.11283791670944182);
    e = vector_multiply_add(e, s, -0.3761263890318352);
    e = vector_multiply_add(e, s, 0.12837916709551256);
    double q = 7.079104032420894e-12;
    q = vector_multiply_add(q, u, -1.73498985643034e-10);
    q = vector_multiply_add(q, u, 1.916596522497501e-09);
    q = vector_multiply_add(q, u, -1.2370867588578058e-08);
    q = vector_multiply_add(q, u, 4.849462730205602e-08);
    q = vector_multiply_add(q, u, -8.45893800307399e-08);
    q = vector_multiply_add(q, u, -2.9367004509016445e-07);
    q = vector_multiply_add(q, u, 3.0730476677973924e-06);
    q = vector_multiply_add(q, u, -1.3949890420052962e-05);
    q = vector_multiply_add(q, u, 3.923742742026036e-05);
    q = vector_multiply_add(q, u, -3.7936164910327484e-05);
    q = vector_multiply_add(q, u, -0.0003423758420627579);
    q = vector_multiply_add(q, u, 0.002853508451125175);
    q = vector_multiply_add(q, u, -0.014475749861294658);
    q = vector_multiply_add(q, u, 0.05995999001880192);
    q = vector_multiply_add(q, u, 1.216346657686953);
    q = vector_multiply_add(q, u, 3.8072253458535936);
    q *= u;
    const double shifted = 0x1.8p52 - q, f = (0x1.8p52 - shifted) - q;
    double p = 4.43526579432686e-10;
    p = vector_multiply_add(p, f, 7.0741046867579034e-09);
    p = vector_multiply_add(p, f, 1.0178198147485498e-07);
    p = vector_multiply_add(p, f, 1.3215433093430276e-06);
    p = vector_multiply_add(p, f, 1.5252733489740289e-05);
    p = vector_multiply_add(p, f, 0.00015403530462509082);
    p = vector_multiply_add(p, f, 0.0013333558146789947);
    p = vector_multiply_add(p, f, 0.009618129107588344);
    p = vector_multiply_add(p, f, 0.055504108664819925);
    p = vector_multiply_add(p, f, 0.24022650695910155);
    p = vector_multiply_add(p, f, 0.6931471805599453);
    p = vector_multiply_add(p, f, 1.0);
    const double power = 0.15729920705028513 * vector_bits_to_double((vector_double_to_bits(shifted) << 52) + 0x3ff0000000000000u);
    const double near = vector_multiply_add(a, e, a), far = vector_multiply_add(-p, power, 1.0);
    return x != x ? x : __builtin_copysign(a < 1 ? near : far, x);
}

#endif
