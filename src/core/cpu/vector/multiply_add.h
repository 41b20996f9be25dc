/* multiply_add.h - a b + c of float, with a single rounding where the instruction set has FMA. */
#ifndef LT_CPU_MULTIPLY_ADD_H
#define LT_CPU_MULTIPLY_ADD_H

static inline float multiply_addf(float a, float b, float c)
{
#ifdef __FMA__
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

#endif
