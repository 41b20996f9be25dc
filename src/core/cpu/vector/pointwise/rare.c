/* rare.c - elementwise loops over rarely used functions (formulas/rare.h) and gcd and lcm of
 * integers. Most call a scalar function per element; Bessel's I0 and I1, and the incomplete gamma
 * functions of float, are vectorized. */
#include "instantiate.h"
#include "steady_blocks.h"

#include "bessel.h"
#include "gamma_float.h"
#include "formulas/rare_kernels.h"
#include "formulas/rare_numbers.h"
#include "kernels_rare.h" /* generated from the declarations */

#define LOOPS "cpu/vector/pointwise/rare_one.inc"
#include "cpu/common/both_floats.h"

static inline const void *element_at(const char *from, int64_t stride, int64_t i)
{
    return from + i * stride;
}

static void rare_pair_f64(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const double function = param_f64(((const lt_scalar *)context)[0]);
    for (int64_t i = 0; i < n; i++) {
        const double *a = element_at(ptrs[1], strides[1], i),
                     *b = element_at(ptrs[2], strides[2], i);
        *(double *)(ptrs[0] + i * strides[0]) = lt_rare_pair_f64(*a, *b, function);
    }
}

/* The incomplete gamma functions; elements that vector_igammaf does not support are computed one at
 * a time. */
static void gammainc_f32(bool upper, char *const *ptrs, const int64_t *strides, int64_t n)
{
    const float function = upper ? LT_RARE_GAMMAINCC : LT_RARE_GAMMAINC;
    _Alignas(64) float a[LT_LANES], x[LT_LANES], y[LT_LANES];
    for (int64_t i = 0; i < n; i += LT_LANES) {
        const int64_t m = n - i < LT_LANES ? n - i : LT_LANES;
        int taken = 0;
        for (int64_t j = 0; j < LT_LANES; j++) {
            a[j] = j < m ? *(const float *)element_at(ptrs[1], strides[1], i + j) : -1;
            x[j] = j < m ? *(const float *)element_at(ptrs[2], strides[2], i + j) : -1;
            taken += vector_igamma_takes(upper, a[j], x[j]);
        }
        if (taken > 0) vector_igammaf(upper, a, x, y);
        for (int64_t j = 0; j < m; j++)
            if (!vector_igamma_takes(upper, a[j], x[j]))
                y[j] = lt_rare_pair_f32(a[j], x[j], function);
        steady_store(ptrs[0] + i * strides[0], strides[0], y, sizeof *y, 0, m);
    }
}

static void rare_pair_f32(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const float function = param_f32(((const lt_scalar *)context)[0]);
    if (function == LT_RARE_GAMMAINC || function == LT_RARE_GAMMAINCC) {
        gammainc_f32(function == LT_RARE_GAMMAINCC, ptrs, strides, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const float *a = element_at(ptrs[1], strides[1], i),
                    *b = element_at(ptrs[2], strides[2], i);
        *(float *)(ptrs[0] + i * strides[0]) = lt_rare_pair_f32(*a, *b, function);
    }
}

#include "shapes_loops.h"
#undef UNARY_NUMBER
#undef BINARY_SCALED
#define UNARY_NUMBER(name, NAME, s, T, D)  /* defined above */
#define BINARY_SCALED(name, NAME, s, T, D) /* defined above */
LT_RARE_LOOPS

#define FIRST LT_PW_RARE
#include "shapes_entries.h"
const lt_pointwise_row LT_LOOP(rare)[LT_PW_RARE_END - LT_PW_RARE] = {LT_RARE_LOOPS};
