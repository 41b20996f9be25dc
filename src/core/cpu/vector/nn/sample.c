/* sample.c - grid_sample of one image (lt_sampling): blocks of points, for each of which the
 * elements that take part (taps) and their weights are found once for all channels. The loops stand
 * in sample.inc. */
#include <string.h>

#include "cpu/common/loops.h"
#include "cpu/vector/look_up.h"
#include "cpu/vector/vector_math.h"
#include "formulas/sampling.h"

#define SIMD _Pragma("omp simd")
/* tuning: points; their taps look up neighbouring elements, which stay in L1 from tap to tap;
 * bilinear grid_sample takes 1.12 of its time with half of it (Zen 5, 2026-11-28) */
#define BLOCK 64
#define AXIS  4 /* most taps along a dimension */
/* fixed: of a point, 4 x 4 or 2 x 2 x 2 */
#define TAPS 16
/* bytes of the taps of four blocks: each has an offset, a mask and a weight of at most 8 bytes */
#define MEMORY (4 * TAPS * BLOCK * 16)

static int taps_of(const lt_sampling *s)
{
    return s->mode == LT_SAMPLE_NEAREST ? 1 : s->mode == LT_SAMPLE_BILINEAR ? 2 : 4;
}

/* Whether elements may lie further from the first one than an int32 counts, or there are more than
 * that along a dimension. */
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
