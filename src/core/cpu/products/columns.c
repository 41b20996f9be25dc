/* columns.c - windows of images as columns and back (im2col), for products that are convolutions.
 * What is the same in float and double stands in columns.inc. */
#include "columns.h"

#include <string.h>

#include "cpu/common/threads.h"
#include "cpu/cpu.h"

/* Positions p in [*first, *last) of which p * stride + shift lies in [0, size). */
static void inside(int64_t count, int64_t stride, int64_t shift, int64_t size, int64_t *first, int64_t *last)
{
    int64_t low = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    int64_t high = size - shift <= 0 ? 0 : (size - shift + stride - 1) / stride;
    *last = high < count ? high : count;
    *first = low < *last ? low : *last;
}

#define LOOPS "cpu/products/columns.inc"
#include "cpu/common/both_floats.h"

void lt_cpu_channel_columns(bool back, const lt_conv *c, void *image, void *columns)
{
    if (c->dtype == LT_FLOAT32)
        channel_f32(back, c, image, columns);
    else
        channel_f64(back, c, image, columns);
}
