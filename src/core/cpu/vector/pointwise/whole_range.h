/* whole_range.h - corrections of vector functions of double that do not cover the whole type: log1p
 * returns infinity for the largest numbers, sinh and cosh where exp overflows, and tan and log1p
 * lose the smallest subnormal number. Included after vector_math.h and before formulas.h, which
 * then uses them. The macros are function-like, since the names are also parts of the names of
 * formulas. */
#ifndef LT_CPU_WHOLE_RANGE_H
#define LT_CPU_WHOLE_RANGE_H

#define LEAST 0x1p-1022 /* below it, x is the result */
/* from there on the result is exp(x) / 2, computed as exp(x - 1) times e / 2 */
#define END 709.0

/* Above 1e300, log(1 + x) is log(x): x is scaled by a power of two, and the logarithm of the scale
 * is added to the result. */
static inline double vector_log1p(double x)
{
    /* 1 or 0, not a selection, for which the compiler would emit two calls */
    const double is = (double)(x > 1e300);
    const double y = log1p(x * (1 - is + is * 0x1p-600)) + is * 415.888308335967186;
    return __builtin_fabs(x) < LEAST ? x : y;
}

static inline double vector_tan(double x)
{
    const double y = tan(x);
    return __builtin_fabs(x) < LEAST ? x : y;
}

static inline double vector_sinh(double x)
{
    const double a = __builtin_fabs(x), far = exp(a - 1) * 1.35914091422952261768;
    return a > END ? __builtin_copysign(far, x) : sinh(x);
}

static inline double vector_cosh(double x)
{
    const double a = __builtin_fabs(x), far = exp(a - 1) * 1.35914091422952261768;
    return a > END ? far : cosh(x);
}

#undef LEAST
#undef END

#define log1p(x) vector_log1p(x)
#define tan(x)   vector_tan(x)
#define sinh(x)  vector_sinh(x)
#define cosh(x)  vector_cosh(x)

#endif
