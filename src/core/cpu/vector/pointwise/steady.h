/* steady.h - loop bodies over functions that compilers vectorize: replaces UNARY_BODY and
 * BINARY_BODY of instantiate.h. A vector function rounds differently from its scalar version, but
 * the result of an element must not depend on its neighbours, its address or the number of
 * elements. So all elements use the vector function, LT_LANES at a time; strided and the last ones
 * go through a buffer. */
#ifndef LT_CPU_STEADY_H
#define LT_CPU_STEADY_H

#include "cpu/common/loops.h"
#include "cpu/vector/vector_math.h"
#include "whole_range.h"

#include "instantiate.h"
#include "steady_blocks.h"

#define STEADY_BUFFERS(R, T, operands)                                                             \
    _Alignas(64) R y[LT_LANES];                                                                    \
    _Alignas(64) T x[operands][LT_LANES]
#define STEADY_IN(T, k) steady_in(x[(k)-1], ptrs[k], strides[k], sizeof(T), i, n)
#define STEADY_OUT(R)   steady_out(y, ptrs[0], strides[0], sizeof(R), i, n)

/* STEP: a statement that processes LT_LANES elements from in + k to out + k. */
#define UNARY_STEPS(R, T, STEP)                                                                    \
    STEADY_BUFFERS(R, T, 1);                                                                       \
    for (int64_t i = 0, count; i < n; i += count) {                                                \
        const T *in = STEADY_IN(T, 1);                                                             \
        R *out = STEADY_OUT(R);                                                                    \
        count = in == x[0] || out == y ? LT_LANES : steady_run(i, n, n);                           \
        UNARY_RUN(T, STEP)                                                                         \
        if (out == y) steady_store(ptrs[0], strides[0], y, sizeof(R), i, n);                       \
    }
#define UNARY_RUN(T, STEP)                                                                         \
    for (int64_t k = 0; k < count; k += LT_LANES) {                                                \
        steady_fetch(in + k, LT_LANES * sizeof(T));                                                \
        STEP                                                                                       \
    }
#undef UNARY_BODY
#define UNARY_BODY(R, T, CALL)                                                                     \
    UNARY_STEPS(R, T, SIMD for (int j = 0; j < LT_LANES; j++) out[k + j] = CALL(in[k + j]);)

#undef BINARY_BODY
#define BINARY_BODY(R, T, CALL)                                                                    \
    STEADY_BUFFERS(R, T, 2);                                                                       \
    for (int64_t i = 0, count; i < n; i += count) {                                                \
        const T *a = STEADY_IN(T, 1), *b = STEADY_IN(T, 2);                                        \
        R *out = STEADY_OUT(R);                                                                    \
        count = a == x[0] || b == x[1] || out == y ? LT_LANES : steady_run(i, n, n);               \
        BINARY_RUN(T, CALL)                                                                        \
        if (out == y) steady_store(ptrs[0], strides[0], y, sizeof(R), i, n);                       \
    }
#define BINARY_RUN(T, CALL)                                                                        \
    for (int64_t k = 0; k < count; k += LT_LANES) {                                                \
        steady_fetch(a + k, LT_LANES * sizeof(T));                                                 \
        steady_fetch(b + k, LT_LANES * sizeof(T));                                                 \
        SIMD for (int j = 0; j < LT_LANES; j++) out[k + j] = CALL(a[k + j], b[k + j]);             \
    }

#endif
