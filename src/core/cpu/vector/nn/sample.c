/* sample.c - grid_sample of one image (lt_sampling): blocks of points, for each of which the elements that take part (taps) and their weights are found
 * once for all channels. The loops stand in sample.inc. */
#include <string.h>

#include "cpu/common/loops.h"
#include "cpu/vector/vector_math.h"
#include "formulas/sampling.h"

#define SIMD  _Pragma("omp simd")
#define BLOCK 128 /* points */
#define AXIS  4   /* most taps along a dimension */
#define TAPS  16  /* of a point: 4 x 4, or 2 x 2 x 2 */

static int taps_of(const lt_sampling *s)
{
    return s->mode == LT_SAMPLE_NEAREST ? 1 : s->mode == LT_SAMPLE_BILINEAR ? 2 : 4;
}

#define LOOPS "cpu/vector/nn/sample.inc"
#include "cpu/common/both_floats.h"

const lt_sample_loops LT_LOOP(sample)[2] = {{forward_f32, grad_x_f32, grad_grid_f32}, {forward_f64, grad_x_f64, grad_grid_f64}};
