/* depthwise.c - depthwise convolutions (each output channel reads one input channel) without a
 * library. The input rows of a block of output rows are copied with their padding into a strip.
 * There, rows that are a vertical stride apart are adjacent, and the length of a row is a multiple
 * of the horizontal stride. Thus all windows of the strip are equally spaced, and each kernel tap
 * is a single loop, even if the image is narrow. */
#include <string.h>

#include "cpu/common/loops.h"
#include "lanes.h"

#define TAPS 3 /* taps of a kernel row per loop */

typedef struct strip {
    /* across: windows of a row; pitch: elements of a row; rows: rows of windows per strip; phase:
     * rows of each of the stride[1] groups of rows that are a vertical stride apart */
    int64_t across, pitch, rows, phase;
} strip;

static int64_t reach_of(const lt_conv *c, int d) { return (c->kernel[d] - 1) * c->dilation[d] + 1; }

static strip strip_of(const lt_conv *c)
{
    const int64_t padded = c->padding[2] + c->in[2],
                  seen = (c->out[2] - 1) * c->stride[2] + reach_of(c, 2);
    strip s = {.across = ((padded > seen ? padded : seen) + c->stride[2] - 1) / c->stride[2]};
    s.pitch = s.across * c->stride[2];
    const int64_t most = (LT_STRIP - reach_of(c, 2)) / s.pitch / c->stride[1],
                  more = (reach_of(c, 1) + c->stride[1] - 1) / c->stride[1];
    s.rows = most - more < c->out[1] ? most - more : c->out[1];
    s.phase = s.rows + more;
    return s;
}

static bool takes(const lt_conv *c)
{
    if (c->dtype != LT_FLOAT32 || c->in_channels != c->groups || c->groups == 1 ||
        c->out[1] * c->out[2] < LT_LANES)
        return false;
    if (c->in[0] != 1 || c->kernel[0] != 1 || c->padding[0] != 0 || c->out[0] != 1) return false;
    for (int d = 1; d < 3; d++)
        if (c->in[d] > LT_STRIP || c->padding[d] > LT_STRIP || c->kernel[d] > LT_STRIP ||
            c->dilation[d] > LT_STRIP || c->stride[d] > LT_STRIP)
            return false;
    return reach_of(c, 1) < LT_STRIP && reach_of(c, 2) < LT_STRIP && strip_of(c).rows > 0;
}

/* Copies a few elements; a call of memcpy would cost more. */
static void copy_row(float *to, const float *from, int64_t n)
{
    for (int64_t i = 0; i < n; i += LANES_F32) {
        const int64_t rest = n - i < LANES_F32 ? n - i : LANES_F32;
        put_f32(to + i, get_f32(from + i, rest), rest);
    }
}

/* Copies the input rows of `rows` rows of windows, from row `first` on; rows outside the image are
 * 0. */
static void lay(const lt_conv *c, const strip *s, const float *in, int64_t first, int64_t rows,
                float *lines)
{
    const int64_t stride = c->stride[1], top = first * stride - c->padding[1],
                  seen = (rows - 1) * stride + reach_of(c, 1);
    for (int64_t phase = 0; phase < stride; phase++) {
        float *line = lines + phase * s->phase * s->pitch + c->padding[2];
        for (int64_t r = phase; r < seen; r += stride, line += s->pitch) {
            if (top + r >= 0 && top + r < c->in[1])
                copy_row(line, in + (top + r) * c->in[2], c->in[2]);
            else
                memset(line, 0, (size_t)c->in[2] * sizeof *line);
        }
    }
}

/* n windows of a 3x3 kernel, `step` elements apart; rows: the input row of each kernel row; apart:
 * the distance between taps. */
static inline __attribute__((always_inline)) void
three_by_three(float *sums, const float *const *rows, int64_t step, int64_t apart, const float *w,
               float bias, int64_t n)
{
    const float *a = rows[0], *b = rows[1], *c = rows[2];
    const int64_t twice = 2 * apart;
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++)
    {
        const int64_t j = i * step;
        const float upper = a[j] * w[0] + a[j + apart] * w[1] + a[j + twice] * w[2];
        const float middle = b[j] * w[3] + b[j + apart] * w[4] + b[j + twice] * w[5];
        const float lower = c[j] * w[6] + c[j + apart] * w[7] + c[j + twice] * w[8];
        sums[i] = bias + (upper + middle) + lower;
    }
}

static inline __attribute__((always_inline)) void add(float *sums, const float *line, int64_t step,
                                                      int64_t apart, const float *w, int taps,
                                                      int64_t n)
{
    const float *second = line + apart, *third = second + apart;
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++) sums[i] +=
        taps == TAPS ? line[i * step] * w[0] + second[i * step] * w[1] + third[i * step] * w[2]
                     : line[i * step] * w[0];
}

static inline __attribute__((always_inline)) void window_sums(const lt_conv *c, float *sums,
                                                              const float *const *rows,
                                                              int64_t step, const float *w,
                                                              float bias, int64_t n)
{
    const int64_t apart = c->dilation[2], taps = c->kernel[2];
    if (c->kernel[1] == 3 && taps == 3) {
        three_by_three(sums, rows, step, apart, w, bias, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) sums[i] = bias;
    for (int64_t y = 0; y < c->kernel[1]; y++, w += taps) {
        int64_t k = 0;
        for (; k + TAPS <= taps; k += TAPS)
            add(sums, rows[y] + k * apart, step, apart, w + k, TAPS, n);
        for (; k < taps; k++) add(sums, rows[y] + k * apart, step, 0, w + k, 1, n);
    }
}

static void planes(const lt_conv *c, int64_t from, int64_t to, const float *x, const float *w,
                   const float *bias, float *y)
{
    float lines[LT_STRIP], sums[LT_STRIP];
    const float *rows[LT_STRIP]; /* the input row of each kernel row */
    const strip s = strip_of(c);
    const int64_t area = c->kernel[1] * c->kernel[2], each = c->out_channels / c->groups;
    memset(lines, 0, (size_t)(s.phase * c->stride[1] * s.pitch + reach_of(c, 2)) * sizeof *lines);
    for (int64_t k = 0; k < c->kernel[1]; k++) {
        const int64_t r = k * c->dilation[1];
        rows[k] = lines + (r % c->stride[1] * s.phase + r / c->stride[1]) * s.pitch;
    }
    float *out = y + from * c->out[1] * c->out[2];
    for (int64_t plane = from; plane < to; plane++) {
        const int64_t channel = plane % c->out_channels,
                      seen = plane / c->out_channels * c->in_channels + channel / each;
        const float start = bias != NULL ? bias[channel] : 0, *in = x + seen * c->in[1] * c->in[2],
                    *weights = w + channel * area;
        for (int64_t first = 0; first < c->out[1]; first += s.rows) {
            const int64_t n = c->out[1] - first < s.rows ? c->out[1] - first : s.rows;
            lay(c, &s, in, first, n, lines);
            if (c->stride[2] == 1)
                window_sums(c, sums, rows, 1, weights, start, n * s.across);
            else if (c->stride[2] == 2)
                window_sums(c, sums, rows, 2, weights, start, n * s.across);
            else
                window_sums(c, sums, rows, c->stride[2], weights, start, n * s.across);
            for (int64_t r = 0; r < n; r++, out += c->out[2])
                copy_row(out, sums + r * s.across, c->out[2]);
        }
    }
}

const lt_depthwise_loops LT_LOOP(depthwise)[1] = {{takes, planes}};
