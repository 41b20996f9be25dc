/* columns.c - windows of images as columns and back (im2col), for products that are convolutions. */
#include "columns.h"

#include <string.h>

#include "cpu.h"
#include "cpu/common/threads.h"

/* Positions p in [*first, *last) of which p * stride + shift lies in [0, size). */
static void inside(int64_t count, int64_t stride, int64_t shift, int64_t size, int64_t *first, int64_t *last)
{
    int64_t low = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    int64_t high = size - shift <= 0 ? 0 : (size - shift + stride - 1) / stride;
    *last = high < count ? high : count;
    *first = low < *last ? low : *last;
}

#define COLUMNS(s, T)                                                                              \
    /* One row of windows: out[i] = in[i * stride + shift], 0 outside. */                          \
    static void take_##s(T *out, const T *in, int64_t count, int64_t stride, int64_t shift, int64_t size) \
    {                                                                                              \
        int64_t first, last;                                                                       \
        inside(count, stride, shift, size, &first, &last);                                         \
        for (int64_t i = 0; i < first; i++) out[i] = 0;                                            \
        if (stride == 1)                                                                           \
            memcpy(out + first, in + first + shift, (size_t)(last - first) * sizeof *out);         \
        else                                                                                       \
            for (int64_t i = first; i < last; i++) out[i] = in[i * stride + shift];                \
        for (int64_t i = last; i < count; i++) out[i] = 0;                                         \
    }                                                                                              \
    static void give_##s(T *image, const T *column, int64_t count, int64_t stride, int64_t shift, int64_t size) \
    {                                                                                              \
        int64_t first, last;                                                                       \
        inside(count, stride, shift, size, &first, &last);                                         \
        if (stride == 1)                                                                           \
            for (int64_t i = first; i < last; i++) image[i + shift] += column[i];                  \
        else                                                                                       \
            for (int64_t i = first; i < last; i++) image[i * stride + shift] += column[i];         \
    }                                                                                              \
    static void channel_##s(bool back, const lt_conv *c, T *image, T *columns)              \
    {                                                                                              \
        const int64_t row = c->out[2], plane = c->out[1] * row;                                    \
        for (int64_t kz = 0; kz < c->kernel[0]; kz++)                                              \
            for (int64_t ky = 0; ky < c->kernel[1]; ky++)                                          \
                for (int64_t kx = 0; kx < c->kernel[2]; kx++) {                                    \
                    const int64_t shift = kx * c->dilation[2] - c->padding[2];                     \
                    for (int64_t z = 0; z < c->out[0]; z++)                                        \
                        for (int64_t y = 0; y < c->out[1]; y++) {                                  \
                            const int64_t iz = z * c->stride[0] - c->padding[0] + kz * c->dilation[0]; \
                            const int64_t iy = y * c->stride[1] - c->padding[1] + ky * c->dilation[1]; \
                            const bool within = iz >= 0 && iz < c->in[0] && iy >= 0 && iy < c->in[1]; \
                            T *line = columns + z * plane + y * row;                               \
                            T *from = within ? image + (iz * c->in[1] + iy) * c->in[2] : NULL;     \
                            if (back && within)                                                    \
                                give_##s(from, line, row, c->stride[2], shift, c->in[2]);          \
                            else if (!back && within)                                              \
                                take_##s(line, from, row, c->stride[2], shift, c->in[2]);          \
                            else if (!back)                                                        \
                                memset(line, 0, (size_t)row * sizeof *line);                       \
                        }                                                                          \
                    columns += c->out[0] * plane;                                                  \
                }                                                                                  \
    }
COLUMNS(f32, float)
COLUMNS(f64, double)
#undef COLUMNS

void lt_cpu_channel_columns(bool back, const lt_conv *c, void *image, void *columns)
{
    if (c->dtype == LT_FLOAT32)
        channel_f32(back, c, image, columns);
    else
        channel_f64(back, c, image, columns);
}
