/* vector_math.h - declares to gcc the vector versions of <math.h> functions, under the names of the
 * x86 vector ABI (_ZGVbN4v_sinf ...). SLEEF's libsleefgnuabi defines them for every instruction
 * set, with errors of at most 1 ULP, so that gcc vectorizes an "omp simd" loop that calls sinf.
 * clang has no such declaration and calls the scalar functions, and so does the amalgamation. Most
 * float functions are ours (float_math.h). Include this in kernel files only. */
#ifndef LT_CPU_VECTOR_MATH_H
#define LT_CPU_VECTOR_MATH_H

#include <math.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(LT_SINGLE_FILE)

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
/* clang cannot vectorize an "omp simd" loop with a scalar call; its warning about that is expected.
 */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#include "float_math.h"

#endif
