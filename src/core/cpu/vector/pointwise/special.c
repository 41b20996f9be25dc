/* special.c - elementwise loops over special functions (formulas/special.inc). */
#include "steady.h"

#include "formulas/special.h"
#include "kernels_special.h" /* generated from the declarations */

/* Of double, where all elements of a block are in the middle, one of erfinv's three polynomials. What an element gives is the same. */
static void erfinv_blocks_f64(char *const *ptrs, const int64_t *strides, int64_t n)
{
    _Alignas(64) double x[WIDTH], y[WIDTH];
    for (int64_t i = 0; i < n; i += WIDTH) {
        const double *in = steady_in(x, ptrs[1], strides[1], sizeof *x, i, n);
        double *out = steady_out(y, ptrs[0], strides[0], sizeof *y, i, n);
        int beyond = 0;
        _Pragma("omp simd reduction(+ : beyond)") for (int j = 0; j < WIDTH; j++)
            beyond += !(__builtin_fabs(in[j]) < 0.999); /* w is 6.21 there */
        if (beyond > 0) {
            SIMD for (int j = 0; j < WIDTH; j++) out[j] = lt_erfinv_f64(in[j]);
        } else {
            SIMD for (int j = 0; j < WIDTH; j++)
            {
                const double a = __builtin_fabs(in[j]);
                out[j] = __builtin_copysign(a * lt_erfinv_middle_f64(lt_erfinv_depth_f64(a)), in[j]);
            }
        }
        if (out == y) steady_store(ptrs[0], strides[0], y, sizeof *y, i, n);
    }
}

#define TAILED(name, NAME, s, T, D) TAILED_##s(name, NAME, s, T, D)
#define TAILED_f32(name, NAME, s, T, D) UNARY(name, NAME, s, T, D)
#define TAILED_f64(name, NAME, s, T, D)                                                            \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        erfinv_blocks_f64(ptrs, strides, n);                                                       \
    }

#include "shapes_loops.h"
LT_SPECIAL_LOOPS
#undef TAILED

#define FIRST LT_PW_SPECIAL
#include "shapes_entries.h"
#define TAILED ENTRY
const lt_pointwise_row LT_LOOP(special)[LT_PW_SPECIAL_END - LT_PW_SPECIAL] = {LT_SPECIAL_LOOPS};
