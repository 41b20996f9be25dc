/* multiply_add.h - a b + c of float, rounded once where the instruction set has that. */
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
