/* pool.c - the loops of pooling: one element of each window of a row at a time, so that vector
 * lanes hold neighbouring windows. */
#include <math.h>
#include <string.h>

#include "cpu/common/is_nan.h"
#include "cpu/common/loops.h"
#include "cpu/common/mean.h"
#include "cpu/vector/fold.h"

/* 2-D max pooling processes some rows of windows at a time. The vertical extremes of each row of
 * windows are stored in a strip, with padding and a multiple of strides wide. Thus all windows of
 * the strip are equally spaced, and each horizontal tap is a single loop, even if the plane is
 * narrow. */

static int64_t reach_of(const lt_pooling *p) { return (p->kernel[2] - 1) * p->dilation[2] + 1; }

/* The width of a row of the strip in strides. */
static int64_t windows_across(const lt_pooling *p)
{
    const int64_t padded = p->padding[2] + p->in[2],
                  seen = (p->out[2] - 1) * p->stride[2] + reach_of(p);
    return ((padded > seen ? padded : seen) + p->stride[2] - 1) / p->stride[2];
}

/* Rows of windows per strip; 0: a row is too wide. */
static int64_t strip_of(const lt_pooling *p)
{
    return (LT_STRIP - reach_of(p)) / (windows_across(p) * p->stride[2]);
}

static bool takes_rectangles(const lt_pooling *p)
{
    if (p->adaptive || p->in[0] != 1 || p->kernel[0] != 1 || p->out[0] != 1 || p->padding[0] != 0)
        return false;
    for (int d = 1; d < 3; d++)
        if (p->in[d] > LT_STRIP || p->padding[d] > LT_STRIP || p->kernel[d] > LT_STRIP ||
            p->dilation[d] > LT_STRIP || p->stride[d] > LT_STRIP)
            return false;
    return reach_of(p) < LT_STRIP && strip_of(p) > 0;
}

#define T       float
#define SUM     float
#define LOWEST  -INFINITY
#define S(name) name##_f32
#include "pool.inc"
#undef T
#undef SUM
#undef LOWEST
#undef S
#define T       double
#define SUM     double
#define LOWEST  -INFINITY
#define S(name) name##_f64
#include "pool.inc"
#undef T
#undef SUM
#undef LOWEST
#undef S
#define T       int64_t
#define SUM     uint64_t
#define LOWEST  INT64_MIN
#define S(name) name##_i64
#include "pool.inc"
#undef T
#undef SUM
#undef LOWEST
#undef S

const lt_pool_loops LT_LOOP(pool)[3] = {
    {extremes_f32, pairs_f32, takes_rectangles, rectangles_f32, sums_f32, means_f32, line_f32},
    {extremes_f64, pairs_f64, takes_rectangles, rectangles_f64, sums_f64, means_f64, line_f64},
    {extremes_i64, pairs_i64, takes_rectangles, rectangles_i64, sums_i64, means_i64, line_i64}};
