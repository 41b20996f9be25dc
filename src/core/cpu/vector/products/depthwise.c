/* depthwise.c - convolutions whose output channels see one input channel each, without a library. The rows that some rows of
 * windows see are laid side by side with their padding, those that are a vertical stride apart next to each other
 * and each a whole number of strides wide: all windows of the strip are as far from each other then, and a tap of theirs is one
 * loop, however narrow the image is. */
#include <string.h>

#include "cpu/common/loops.h"

#define STRIP 4096 /* elements of the rows */
#define TAPS 3     /* at a time */
#define FEWEST 16  /* windows: fewer are not worth the preparations */

typedef struct strip {
    int64_t across, pitch, rows, phase; /* windows and elements of a row; rows of windows at a time; rows a vertical stride apart */
} strip;

static int64_t reach_of(const lt_conv *c, int d) { return (c->kernel[d] - 1) * c->dilation[d] + 1; }

static strip strip_of(const lt_conv *c)
{
    const int64_t padded = c->padding[2] + c->in[2], seen = (c->out[2] - 1) * c->stride[2] + reach_of(c, 2);
    strip s = {.across = ((padded > seen ? padded : seen) + c->stride[2] - 1) / c->stride[2]};
    s.pitch = s.across * c->stride[2];
    const int64_t most = (STRIP - reach_of(c, 2)) / s.pitch / c->stride[1], more = (reach_of(c, 1) + c->stride[1] - 1) / c->stride[1];
    s.rows = most - more < c->out[1] ? most - more : c->out[1];
    s.phase = s.rows + more;
    return s;
}

static bool takes(const lt_conv *c)
{
    if (c->dtype != LT_FLOAT32 || c->in_channels != c->groups || c->groups == 1 || c->out[1] * c->out[2] < FEWEST || c->in[0] != 1 || c->kernel[0] != 1 || c->padding[0] != 0 || c->out[0] != 1) return false;
    for (int d = 1; d < 3; d++)
        if (c->in[d] > STRIP || c->padding[d] > STRIP || c->kernel[d] > STRIP || c->dilation[d] > STRIP || c->stride[d] > STRIP) return false;
    return reach_of(c, 1) < STRIP && reach_of(c, 2) < STRIP && strip_of(c).rows > 0;
}

static inline __attribute__((always_inline)) void add(float *sums, const float *line, int64_t step, int64_t apart, const float *weights,
                                                      int taps, int64_t n)
{
    const float *second = line + apart, *third = second + apart;
    const float w = weights[0], x = taps == TAPS ? weights[1] : 0, y = taps == TAPS ? weights[2] : 0;
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++)
        sums[i] += taps == TAPS ? line[i * step] * w + second[i * step] * x + third[i * step] * y : line[i * step] * w;
}

/* The taps of a row of the kernel. */
static inline __attribute__((always_inline)) void add_row(float *sums, const float *line, int64_t step, int64_t apart, const float *weights,
                                                          int64_t taps, int64_t n)
{
    int64_t k = 0;
    for (; k + TAPS <= taps; k += TAPS) add(sums, line + k * apart, step, apart, weights + k, TAPS, n);
    for (; k < taps; k++) add(sums, line + k * apart, step, 0, weights + k, 1, n);
}

static void plane(const lt_conv *c, const float *in, const float *weights, float bias, float *out)
{
    float lines[STRIP], sums[STRIP];
    const strip s = strip_of(c);
    const int64_t reach = reach_of(c, 1);
    memset(lines, 0, (size_t)(s.phase * c->stride[1] * s.pitch + reach_of(c, 2)) * sizeof *lines);
    for (int64_t first = 0; first < c->out[1]; first += s.rows) {
        const int64_t rows = c->out[1] - first < s.rows ? c->out[1] - first : s.rows, n = rows * s.across;
        const int64_t top = first * c->stride[1] - c->padding[1], lowest = (rows - 1) * c->stride[1] + reach;
        for (int64_t r = 0; r < lowest; r++) {
            float *line = lines + (r % c->stride[1] * s.phase + r / c->stride[1]) * s.pitch + c->padding[2];
            if (top + r >= 0 && top + r < c->in[1])
                memcpy(line, in + (top + r) * c->in[2], (size_t)c->in[2] * sizeof *line);
            else
                memset(line, 0, (size_t)c->in[2] * sizeof *line);
        }
        for (int64_t i = 0; i < n; i++) sums[i] = bias;
        for (int64_t k = 0; k < c->kernel[1]; k++) {
            const int64_t r = k * c->dilation[1];
            const float *line = lines + (r % c->stride[1] * s.phase + r / c->stride[1]) * s.pitch, *row = weights + k * c->kernel[2];
            if (c->stride[2] == 1)
                add_row(sums, line, 1, c->dilation[2], row, c->kernel[2], n);
            else if (c->stride[2] == 2)
                add_row(sums, line, 2, c->dilation[2], row, c->kernel[2], n);
            else
                add_row(sums, line, c->stride[2], c->dilation[2], row, c->kernel[2], n);
        }
        for (int64_t r = 0; r < rows; r++, out += c->out[2]) memcpy(out, sums + r * s.across, (size_t)c->out[2] * sizeof *out);
    }
}

const lt_depthwise_loops LT_LOOP(depthwise)[1] = {{takes, plane}};
