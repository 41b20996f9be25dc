/* columns.c - im2col and col2im: copies the windows of images to columns and back, so that
 * convolutions become matrix products. columns.inc has the loops for float and double. */
#include "columns.h"

#include <string.h>

#include "cpu/common/threads.h"
#include "cpu/common/widened.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"

/* The range [*first, *last) of positions p in [0, count) with p * stride + shift in [0, size). */
static void inside(int64_t count, int64_t stride, int64_t shift, int64_t size, int64_t *first,
                   int64_t *last)
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

typedef struct columns_job {
    const lt_conv *c;
    bool back;
    char *x, *columns;
    int64_t image, column; /* bytes */
} columns_job;

static void run_channel(const void *context, int64_t i)
{
    const columns_job *j = context;
    if (j->back) memset(j->x + i * j->image, 0, (size_t)j->image);
    lt_cpu_channel_columns(j->back, j->c, j->x + i * j->image, j->columns + i * j->column);
}

lt_status lt_cpu_columns(bool back, const lt_conv *c, void *x, void *columns)
{
    const int64_t channels = c->batch * c->in_channels,
                  column = lt_volume(c->kernel) * lt_volume(c->out);
    if (lt_dtype_is_half(c->dtype)) {
        lt_conv f = *c;
        lt_widened image = {NULL, 0}, wide = {NULL, 0};
        f.dtype = LT_FLOAT32;
        lt_status status = lt_widen(&image, c->dtype, back ? NULL : x, channels * lt_volume(c->in));
        if (status == LT_OK)
            status = lt_widen(&wide, c->dtype, back ? columns : NULL, channels * column);
        if (status == LT_OK) status = lt_cpu_columns(back, &f, image.data, wide.data);
        if (status == LT_OK && back)
            lt_convert_dense(c->dtype, x, LT_FLOAT32, image.data, channels * lt_volume(c->in));
        if (status == LT_OK && !back)
            lt_convert_dense(c->dtype, columns, LT_FLOAT32, wide.data, channels * column);
        lt_widened_free(&image);
        lt_widened_free(&wide);
        return status;
    }
    const int64_t size = (int64_t)lt_dtype_size(c->dtype);
    const columns_job j = {c, back, x, columns, lt_volume(c->in) * size, column * size};
    return lt_parallel_for(channels, lt_cpu_threads_for(channels * column), run_channel, &j);
}
