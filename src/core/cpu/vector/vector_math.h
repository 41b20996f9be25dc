/* vector_math.h - declares to gcc the vector versions of <math.h> functions, under the names of the
 * vector ABIs of x86 (_ZGVbN4v_sinf ...) and arm64 (_ZGVnN4v_sinf ...), so that gcc vectorizes an
 * "omp simd" loop that calls sinf. Objects get SLEEF's functions instead of these names
 * (scripts/gen/sleef.lua), with errors of at most 1 ULP. clang has no such declaration and calls
 * the scalar functions, and so does the amalgamation. Most float functions are ours (float_math.h).
 * Include this in kernel files only. */
#ifndef LT_CPU_VECTOR_MATH_H
#define LT_CPU_VECTOR_MATH_H

#include <math.h>

#if defined(__GNUC__) && !defined(__clang__) && !defined(LT_SINGLE_FILE) &&                        \
    (defined(__x86_64__) || defined(__aarch64__))

/* arm64 also has vectors of 8 bytes, for which SLEEF has no functions: the length is stated. */
#if defined(__aarch64__)
#define VECTOR_FORM(length) _Pragma(length) __attribute__((const, nothrow)) extern
#else
#define VECTOR_FORM(length) __attribute__((simd("notinbranch"), const, nothrow)) extern
#endif
#define VECTOR_FLOAT  VECTOR_FORM("omp declare simd notinbranch simdlen(4)") float
#define VECTOR_DOUBLE VECTOR_FORM("omp declare simd notinbranch simdlen(2)") double
#define VECTOR_UNARY(name)                                                                         \
    VECTOR_FLOAT name##f(float);                                                                   \
    VECTOR_DOUBLE name(double);
#define VECTOR_BINARY(name)                                                                        \
    VECTOR_FLOAT name##f(float, float);                                                            \
    VECTOR_DOUBLE name(double, double);

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
#undef VECTOR_FLOAT
#undef VECTOR_DOUBLE
#undef VECTOR_FORM

#elif defined(__clang__)
/* clang cannot vectorize an "omp simd" loop with a scalar call; its warning about that is expected.
 */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#include "float_math.h"

#endif
