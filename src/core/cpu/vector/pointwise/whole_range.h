/* whole_range.h - functions of double whose vector forms end before their type does: log1p gives
 * infinity for the largest numbers, sinh and cosh give it where exp overflows, and tan and log1p
 * lose the least subnormal number. These go on to the end. Included after vector_math.h and before
 * formulas.h, in which log1p and the others then mean these; a name is replaced where it is called,
 * since it is also a part of the names of formulas. */
#ifndef LT_CPU_WHOLE_RANGE_H
#define LT_CPU_WHOLE_RANGE_H

#define LEAST 0x1p-1022 /* up to it x is the result */
/* from there on half of exp is the result, in two factors, exp(x - 1) and e / 2 */
#define END 709.0

/* Beyond 1e300 log(1 + x) is log(x). A power of two leaves there, and its logarithm comes back. */
static inline double vector_log1p(double x)
{
    /* 1 or 0: of two choices the compiler would make two calls */
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
