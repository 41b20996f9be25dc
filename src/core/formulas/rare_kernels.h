/* rare_kernels.h - the formulas of the family "rare" under the names used by kernels:
 * lt_rare_one(x, function), lt_rare_pair(a, b, function), gcd and lcm. In C the first two are
 * functions of cpu/common/rare.c that are not inlined. */
#ifndef LT_FORMULAS_RARE_KERNELS_H
#define LT_FORMULAS_RARE_KERNELS_H

#include "formulas.h"

#ifdef __cplusplus
#include "rare.h"

LT_FN double lt_rare_one(double x, double function) { return lt_rare_of(x, (int)function); }
LT_FN float lt_rare_one(float x, float function) { return (float)lt_rare_of(x, (int)function); }
LT_FN double lt_rare_pair(double a, double b, double function)
{
    return lt_rare_pair_of(a, b, (int)function);
}
LT_FN float lt_rare_pair(float a, float b, float function)
{
    if ((int)function == LT_RARE_NEXTAFTER) return nextafterf(a, b);
    return (float)lt_rare_pair_of(a, b, (int)function);
}
#else
double lt_rare_one_f64(double x, double function);
float lt_rare_one_f32(float x, float function);
double lt_rare_pair_f64(double a, double b, double function);
float lt_rare_pair_f32(float a, float b, float function);
#endif

#include "unused_begin.h"
/* Euclid's algorithm on the magnitudes. */
LT_FN int64_t LT_FORMULA_NAME(gcd, i64)(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y != 0) {
        const uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return (int64_t)x;
}

LT_FN int64_t LT_FORMULA_NAME(lcm, i64)(int64_t a, int64_t b)
{
    const int64_t divisor = LT_FORMULA_NAME(gcd, i64)(a, b);
    if (divisor == 0) return 0;
    const uint64_t product = (uint64_t)(a / divisor) * (uint64_t)b;
    return (int64_t)((int64_t)product < 0 ? 0 - product : product);
}
#include "unused_end.h"

#endif
