/* sample.c - grid_sample of one image (lt_sampling), in blocks of points. The offsets and weights
 * of the elements that contribute to a point (its taps) are computed once for all channels. The
 * loops are in sample.inc. */
#include <string.h>

#include "cpu/common/loops.h"
#include "cpu/vector/look_up.h"
#include "cpu/vector/vector_math.h"
#include "formulas/sampling.h"

#define SIMD _Pragma("omp simd")
/* tuning: points; their taps load neighbouring elements, which stay in L1 from tap to tap; bilinear
 * grid_sample takes 1.12 times as long with half of it (Zen 5, 2026-11-28) */
#define BLOCK 64
#define AXIS  4 /* maximum of taps along a dimension */
/* fixed: maximum of taps of a point, 4 x 4 or 2 x 2 x 2 */
#define TAPS 16
/* bytes of the taps of four blocks: an offset, a mask and a weight of at most 8 bytes each */
#define MEMORY (4 * TAPS * BLOCK * 16)

static int taps_of(const lt_sampling *s)
{
    return s->mode == LT_SAMPLE_NEAREST ? 1 : s->mode == LT_SAMPLE_BILINEAR ? 2 : 4;
}

/* Whether an offset or a size may exceed the range of int32. */
static bool is_wide(const lt_sampling *s)
{
    double reach = 0;
    bool many = false;
    for (int d = 3 - s->dims; d < 3; d++) {
        many |= s->in[d] > INT32_MAX;
        reach += (double)(s->in[d] - 1) * (double)s->x_step[d];
    }
    return many || reach > INT32_MAX;
}

#define LOOPS "cpu/vector/nn/sample.inc"
#include "cpu/common/both_floats.h"

const lt_sample_loops LT_LOOP(sample)[2] = {{forward_f32, grad_x_f32, grad_grid_f32},
                                            {forward_f64, grad_x_f64, grad_grid_f64}};
