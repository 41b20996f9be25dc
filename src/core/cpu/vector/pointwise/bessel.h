/* bessel.h - I0 and I1 of formulas/rare.h in a form that compilers vectorize: Chebyshev series with
 * a constant number of terms, and no branches. Included after vector_math.h. */
#ifndef LT_CPU_BESSEL_H
#define LT_CPU_BESSEL_H

#include "cpu/vector/vector_math.h"

/* The sum of terms c[k] T_k(t) by Clenshaw's recurrence. */
VECTOR_INLINE double vector_chebyshev_sum(const double *c, int terms, double t)
{
    double before = 0, sum = 0;
#pragma GCC unroll 32
    for (int k = terms - 1; k > 0; k--) {
        const double next = vector_multiply_add(2 * t, sum, c[k] - before);
        before = sum;
        sum = next;
    }
    return vector_multiply_add(t, sum, c[0] - before);
}

#define RARE_TABLE(name, from, to, terms, ...)                                                     \
    VECTOR_INLINE double vector_##name(double u)                                                   \
    {                                                                                              \
        static const double coefficients[terms] = {__VA_ARGS__};                                   \
        return vector_chebyshev_sum(coefficients, terms,                                           \
                                    (2 * u - ((from) + (to))) * (1 / ((to) - (from))));            \
    }
#include "formulas/rare_tables.h"
#undef RARE_TABLE

VECTOR_INLINE double vector_i0e(double x)
{
    const double a = __builtin_fabs(x), near = vector_bessel_i0_small(a),
                 far = vector_bessel_i0_large(1 / a) / sqrt(a);
    return a > 8 ? far : near;
}

VECTOR_INLINE double vector_i1e(double x)
{
    const double a = __builtin_fabs(x), near = vector_bessel_i1_small(a) * a,
                 far = vector_bessel_i1_large(1 / a) / sqrt(a);
    const double y = a > 8 ? far : near;
    return x < 0 ? -y : y;
}

/* exp(|x|) in two steps, so that it overflows no sooner than the product. */
VECTOR_INLINE double vector_times_exp(double y, double x)
{
    const double half = vector_exp(__builtin_fabs(x) * 0.5);
    return y * half * half;
}

VECTOR_INLINE double vector_i0(double x) { return vector_times_exp(vector_i0e(x), x); }
VECTOR_INLINE double vector_i1(double x) { return vector_times_exp(vector_i1e(x), x); }

#endif
