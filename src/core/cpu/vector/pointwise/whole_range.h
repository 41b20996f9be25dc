/* whole_range.h - functions whose vector forms end before their type does: log1p gives infinity for the largest numbers, sinh
 * and cosh give it where exp overflows, and tan and log1p lose the least subnormal number. These go on to the end. Included after
 * vector_math.h and before formulas.h, in which log1p and the others then mean these; a name is replaced where it is
 * called, since that of double is also a part of the names of formulas. */
#ifndef LT_CPU_WHOLE_RANGE_H
#define LT_CPU_WHOLE_RANGE_H

/* LARGE: beyond it log(1 + x) is log(x). A power of two leaves there, and SHIFT, its logarithm, comes back. END: from
 * there on half of exp is the result, in two factors, exp(x - 1) and e / 2. LEAST: up to it x is the result. */
#define WHOLE_RANGE(T, s, LARGE, POWER, SHIFT, END, LEAST)                                         \
    static inline T vector_log1p##s(T x)                                                           \
    {                                                                                              \
        const T is = (T)(x > LARGE); /* 1 or 0: of two choices the compiler would make two calls */ \
        const T y = log1p##s(x * (1 - is + is * POWER)) + is * SHIFT;                              \
        return __builtin_fabs##s(x) < LEAST ? x : y;                                               \
    }                                                                                              \
    static inline T vector_tan##s(T x)                                                             \
    {                                                                                              \
        const T y = tan##s(x);                                                                     \
        return __builtin_fabs##s(x) < LEAST ? x : y;                                               \
    }                                                                                              \
    static inline T vector_sinh##s(T x)                                                            \
    {                                                                                              \
        const T a = __builtin_fabs##s(x), far = exp##s(a - 1) * (T)1.35914091422952261768;         \
        return a > END ? __builtin_copysign##s(far, x) : sinh##s(x);                               \
    }                                                                                              \
    static inline T vector_cosh##s(T x)                                                            \
    {                                                                                              \
        const T a = __builtin_fabs##s(x), far = exp##s(a - 1) * (T)1.35914091422952261768;         \
        return a > END ? far : cosh##s(x);                                                         \
    }
WHOLE_RANGE(float, f, 1e30f, 0x1p-60f, 41.5888308335967186f, 88, 0x1p-126f)
WHOLE_RANGE(double, , 1e300, 0x1p-600, 415.888308335967186, 709, 0x1p-1022)
#undef WHOLE_RANGE

#define log1pf(x) vector_log1pf(x)
#define log1p(x) vector_log1p(x)
#define tanf(x) vector_tanf(x)
#define tan(x) vector_tan(x)
#define sinhf(x) vector_sinhf(x)
#define sinh(x) vector_sinh(x)
#define coshf(x) vector_coshf(x)
#define cosh(x) vector_cosh(x)

#endif
