/* multiply_add.h - a b + c of float, with a single rounding where the instruction set has FMA. */
#ifndef LT_CPU_MULTIPLY_ADD_H
#define LT_CPU_MULTIPLY_ADD_H

static inline float multiply_addf(float a, float b, float c)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

#endif
