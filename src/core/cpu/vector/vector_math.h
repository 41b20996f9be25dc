/* vector_math.h - tells gcc which functions of <math.h> have vector forms, under the names of the
 * x86 vector ABI (_ZGVbN4v_sinf and so on). SLEEF's libsleefgnuabi has them for every instruction
 * set, with an error of at most 1 ULP. A loop marked "omp simd" that calls sinf is then vectorized.
 * clang, which has no such declaration, calls the scalar functions. Most functions of float are our
 * own (float_math.h). Include it in kernel files only. */
#ifndef LT_CPU_VECTOR_MATH_H
#define LT_CPU_VECTOR_MATH_H

#include <math.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)

#define VECTOR_FORM __attribute__((simd("notinbranch"), const, nothrow))
#define VECTOR_UNARY(name)                                                                         \
    VECTOR_FORM extern float name##f(float);                                                       \
    VECTOR_FORM extern double name(double);
#define VECTOR_BINARY(name)                                                                        \
    VECTOR_FORM extern float name##f(float, float);                                                \
    VECTOR_FORM extern double name(double, double);

VECTOR_UNARY(exp)
VECTOR_UNARY(exp2)
VECTOR_UNARY(expm1)
VECTOR_UNARY(log)
VECTOR_UNARY(log1p)
VECTOR_UNARY(log2)
VECTOR_UNARY(log10)
VECTOR_UNARY(sin)
VECTOR_UNARY(cos)
VECTOR_UNARY(tan)
VECTOR_UNARY(asin)
VECTOR_UNARY(acos)
VECTOR_UNARY(atan)
VECTOR_UNARY(sinh)
VECTOR_UNARY(cosh)
VECTOR_UNARY(tanh)
VECTOR_UNARY(erf)
VECTOR_UNARY(erfc)
VECTOR_UNARY(atanh)
VECTOR_UNARY(lgamma)
VECTOR_UNARY(floor)
VECTOR_UNARY(ceil)
VECTOR_UNARY(trunc)
VECTOR_UNARY(rint)
VECTOR_BINARY(pow)
VECTOR_BINARY(fmod)
VECTOR_BINARY(atan2)
VECTOR_BINARY(hypot)

#undef VECTOR_UNARY
#undef VECTOR_BINARY
#undef VECTOR_FORM

#elif defined(__clang__)
/* "omp simd" asks for what clang can't do around a scalar call; that it says so is no news. */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#include "float_math.h"

#endif
