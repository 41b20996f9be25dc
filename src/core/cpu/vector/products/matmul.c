/* matmul.c - matrix products of integers: each row of C is a sum of rows of B. */
#include "cpu/common/loops.h"

/* T: the element; W: the type in which two elements are multiplied; N: the type through which a
 * double is converted to T. */
#define MULTIPLY(s, T, W, N)                                                                       \
    static void multiply_##s(const lt_product *g)                                                  \
    {                                                                                              \
        const T *a = g->a, *b = g->b;                                                              \
        T *c = g->c;                                                                               \
        const T alpha = (T)(N)g->alpha, beta = (T)(N)g->beta;                                      \
        for (int64_t from = 0; from < g->n; from += LT_ACCUMULATORS) {                             \
            const int64_t width = g->n - from < LT_ACCUMULATORS ? g->n - from : LT_ACCUMULATORS;   \
            for (int64_t i = 0; i < g->m; i++) {                                                   \
                T sum[LT_ACCUMULATORS] = {0};                                                      \
                for (int64_t p = 0; p < g->k; p++) {                                               \
                    const W x = a[i * g->a_row + p * g->a_column];                                 \
                    const T *row = b + p * g->b_row + from;                                        \
                    _Pragma("omp simd") for (int64_t j = 0; j < width; j++) sum[j] += x * row[j];  \
                }                                                                                  \
                T *out = c + i * g->c_row + from;                                                  \
                if (beta == 0)                                                                     \
                    for (int64_t j = 0; j < width; j++) out[j] = (W)alpha * sum[j];                \
                else                                                                               \
                    for (int64_t j = 0; j < width; j++)                                            \
                        out[j] = (W)alpha * sum[j] + (W)beta * out[j];                             \
            }                                                                                      \
        }                                                                                          \
    }
/* The types are unsigned, so that overflow is defined: results wrap. */
MULTIPLY(u8, uint8_t, uint32_t, int64_t)
MULTIPLY(u16, uint16_t, uint32_t, int64_t)
MULTIPLY(u32, uint32_t, uint32_t, int64_t)
MULTIPLY(u64, uint64_t, uint64_t, int64_t)

const lt_product_loop LT_LOOP(multiply)[LT_DTYPE_COUNT] = {
    [LT_UINT8] = multiply_u8,  [LT_INT8] = multiply_u8,   [LT_INT16] = multiply_u16,
    [LT_INT32] = multiply_u32, [LT_INT64] = multiply_u64,
};
