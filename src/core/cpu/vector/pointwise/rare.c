/* rare.c - elementwise loops over functions that are asked for seldom (formulas/rare.h), and divisors of integers. Most are calls for one
 * element each; vectors are made of Bessel's I0 and I1. */
#include "instantiate.h"
#include "steady_blocks.h"

#include "bessel.h"
#include "formulas/rare_kernels.h"
#include "formulas/rare_numbers.h"
#include "kernels_rare.h" /* generated from the declarations */

/* The last few go through the same vectors as the others. */
#define BLOCKS(T, CALL)                                                                            \
    _Alignas(64) T x[WIDTH], y[WIDTH];                                                             \
    for (int64_t i = 0; i < n; i += WIDTH) {                                                       \
        const T *in = steady_in(x, ptrs[1], strides[1], sizeof(T), i, n);                          \
        T *out = steady_out(y, ptrs[0], strides[0], sizeof(T), i, n);                              \
        SIMD for (int j = 0; j < WIDTH; j++) out[j] = (T)CALL(in[j]);                              \
        if (out == y) steady_store(ptrs[0], strides[0], y, sizeof(T), i, n);                       \
    }

#define LOOP_RARE_ONE(name, NAME, s, T, D)                                                         \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        const T function = param_##s(((const lt_scalar *)context)[0]);                             \
        switch ((int)function) {                                                                   \
        case LT_RARE_I0: {                                                                         \
            BLOCKS(T, vector_i0)                                                                   \
        } break;                                                                                   \
        case LT_RARE_I0E: {                                                                        \
            BLOCKS(T, vector_i0e)                                                                  \
        } break;                                                                                   \
        case LT_RARE_I1: {                                                                         \
            BLOCKS(T, vector_i1)                                                                   \
        } break;                                                                                   \
        case LT_RARE_I1E: {                                                                        \
            BLOCKS(T, vector_i1e)                                                                  \
        } break;                                                                                   \
        default:                                                                                   \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const T *in = (const T *)(ptrs[1] + i * strides[1]);                               \
                *(T *)(ptrs[0] + i * strides[0]) = lt_rare_one_##s(*in, function);                 \
            }                                                                                      \
        }                                                                                          \
    }

#include "shapes_loops.h"
#undef UNARY_NUMBER
#define UNARY_NUMBER LOOP_RARE_ONE
LT_RARE_LOOPS

#define FIRST LT_PW_RARE
#include "shapes_entries.h"
const lt_pointwise_row LT_LOOP(rare)[LT_PW_RARE_END - LT_PW_RARE] = {LT_RARE_LOOPS};
