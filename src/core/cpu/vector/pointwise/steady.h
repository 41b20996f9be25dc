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

/* STEP: a statement that processes LT_LANES elements from in + k to out + k. */
#define UNARY_STEPS(R, T, STEP)                                                                    \
    _Alignas(64) R y[LT_LANES];                                                                    \
    _Alignas(64) T x[LT_LANES];                                                                    \
    for (int64_t i = 0, count; i < n; i += count) {                                                \
        const T *in = steady_in(x, ptrs[1], strides[1], sizeof(T), i, n);                          \
        R *out = steady_out(y, ptrs[0], strides[0], sizeof(R), i, n);                              \
        count = in == x || out == y ? LT_LANES : steady_run(i, n, n);                              \
        for (int64_t k = 0; k < count; k += LT_LANES) {                                            \
            steady_fetch(in + k, LT_LANES * sizeof(T));                                            \
            STEP                                                                                   \
        }                                                                                          \
        if (out == y) steady_store(ptrs[0], strides[0], y, sizeof(R), i, n);                       \
    }
#undef UNARY_BODY
#define UNARY_BODY(R, T, CALL)                                                                     \
    UNARY_STEPS(R, T, SIMD for (int j = 0; j < LT_LANES; j++) out[k + j] = CALL(in[k + j]);)

#undef BINARY_BODY
#define BINARY_BODY(R, T, CALL)                                                                    \
    _Alignas(64) R y[LT_LANES];                                                                    \
    _Alignas(64) T x[2][LT_LANES];                                                                 \
    for (int64_t i = 0, count; i < n; i += count) {                                                \
        const T *a = steady_in(x[0], ptrs[1], strides[1], sizeof(T), i, n);                        \
        const T *b = steady_in(x[1], ptrs[2], strides[2], sizeof(T), i, n);                        \
        R *out = steady_out(y, ptrs[0], strides[0], sizeof(R), i, n);                              \
        count = a == x[0] || b == x[1] || out == y ? LT_LANES : steady_run(i, n, n);               \
        for (int64_t k = 0; k < count; k += LT_LANES) {                                            \
            steady_fetch(a + k, LT_LANES * sizeof(T));                                             \
            steady_fetch(b + k, LT_LANES * sizeof(T));                                             \
            SIMD for (int j = 0; j < LT_LANES; j++) out[k + j] = CALL(a[k + j], b[k + j]);         \
        }                                                                                          \
        if (out == y) steady_store(ptrs[0], strides[0], y, sizeof(R), i, n);                       \
    }

#endif
