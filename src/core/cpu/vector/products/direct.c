/* direct.c - direct convolutions by stride 1 of 2-D inputs with few channels and of 1-D inputs,
 * without a library and without im2col. Vector lanes hold neighbouring windows; registers hold the
 * sums of some output channels until they are complete. 2-D inputs contain their padding. */
#include "cpu/common/loops.h"
#include "lanes.h"

#define LANES LANES_F32

/* Up to LANES neighbouring windows: their first input element and their results. */
typedef struct output_tile {
    const float *in;
    float *out;
    int64_t n; /* windows */
} output_tile;

/* Two groups of windows, `outputs` channels (a constant, at most 6) from `channel` on. The weights
 * of these channels are contiguous for each tap. */
static inline __attribute__((always_inline)) void block(const lt_direct *d, int64_t channel,
                                                        const float *weights, const output_tile *a,
                                                        const output_tile *b, int outputs)
{
    lanes_f32 sums[6][2];
    for (int o = 0; o < outputs; o++) {
        const float start = d->bias != NULL && channel + o < d->outputs ? d->bias[channel + o] : 0;
        sums[o][0] = sums[o][1] = ALL_F32(start);
    }
    for (int64_t c = 0; c < d->inputs; c++)
        for (int64_t y = 0; y < d->kernel[0]; y++) {
            const float *in_a = a->in + c * d->plane + y * d->row,
                        *in_b = b->in + c * d->plane + y * d->row;
            for (int64_t x = 0; x < d->kernel[1]; x++, weights += outputs) {
                const lanes_f32 of_a = LOAD_F32(in_a + x), of_b = LOAD_F32(in_b + x);
                for (int o = 0; o < outputs; o++) {
                    const lanes_f32 weight = ALL_F32(weights[o]);
                    sums[o][0] = MULTIPLY_ADD_F32(weight, of_a, sums[o][0]);
                    sums[o][1] = MULTIPLY_ADD_F32(weight, of_b, sums[o][1]);
                }
            }
        }
    for (int o = 0; o < outputs && channel + o < d->outputs; o++) {
        const int64_t step = (channel + o) * d->out[0] * d->out[1];
        put_f32(a->out + step, sums[o][0], a->n);
        if (b != a) put_f32(b->out + step, sums[o][1], b->n);
    }
}

static void block_4(const lt_direct *d, int64_t channel, const float *weights, const output_tile *a,
                    const output_tile *b)
{
    block(d, channel, weights, a, b, 4);
}

static void block_6(const lt_direct *d, int64_t channel, const float *weights, const output_tile *a,
                    const output_tile *b)
{
    block(d, channel, weights, a, b, 6);
}

static void image(const lt_direct *d, const float *in, float *out)
{
    const int64_t across = (d->out[1] + LANES - 1) / LANES, count = d->out[0] * across;
    const int64_t taps = d->inputs * d->kernel[0] * d->kernel[1];
    for (int64_t channel = 0; channel < d->outputs; channel += d->tile) {
        const float *weights = d->weights + channel * taps;
        for (int64_t i = 0; i < count; i += 2) {
            output_tile places[2];
            for (int64_t k = 0; k < 2 && i + k < count; k++) {
                const int64_t y = (i + k) / across, x = (i + k) % across * LANES;
                places[k] = (output_tile){in + y * d->row + x, out + y * d->out[1] + x,
                                          d->out[1] - x < LANES ? d->out[1] - x : LANES};
            }
            const output_tile *second = i + 1 < count ? &places[1] : &places[0];
            if (d->tile == 6)
                block_6(d, channel, weights, &places[0], second);
            else
                block_4(d, channel, weights, &places[0], second);
        }
    }
}

/* ---- 1-D inputs ------------------------------------------------------------------------------ */

#if LANES == 16
#define TILE 8 /* fixed: TILE * VECTORS sums fit into the registers */
#else
#define TILE 4
#endif
#define VECTORS 3
#define WINDOWS (VECTORS * LANES)
/* fully unrolled: compilers keep the arrays of a remaining loop in memory */
#define EACH(i, N) _Pragma("GCC unroll 8") for (int i = 0; i < (N); i++)

/* m windows, TILE channels from `channel` on. */
static void line_block(const lt_direct *d, int64_t channel, const float *weights, const float *in,
                       float *out, int64_t m)
{
    lanes_f32 sums[TILE][VECTORS];
    EACH(o, TILE)
    EACH(v, VECTORS)
    sums[o][v] = ALL_F32(d->bias != NULL && channel + o < d->outputs ? d->bias[channel + o] : 0);
    const int64_t next = d->plane - d->kernel[0] * d->row;
    const float *at = in;
    int64_t left = d->kernel[0];
    _Pragma("GCC unroll 4") for (int64_t t = d->inputs * d->kernel[0]; t > 0; t--, weights += TILE)
    {
        lanes_f32 x[VECTORS];
        EACH(v, VECTORS) x[v] = LOAD_F32(at + v * LANES);
        EACH(o, TILE)
        EACH(v, VECTORS) sums[o][v] = MULTIPLY_ADD_F32(ALL_F32(weights[o]), x[v], sums[o][v]);
        left--;
        at += d->row + (left == 0 ? next : 0);
        left = left == 0 ? d->kernel[0] : left;
    }
    EACH(o, TILE)
    EACH(v, VECTORS)
    if (channel + o < d->outputs && m > v * LANES)
        put_f32(out + (channel + o) * d->out[1] + v * LANES, sums[o][v],
                m - v * LANES < LANES ? m - v * LANES : LANES);
}

/* The last block is moved back to end at the last window, and computes some windows again, if there
 * are enough. */
static void line(const lt_direct *d, const float *in, float *out, int64_t n)
{
    const int64_t taps = d->inputs * d->kernel[0];
    for (int64_t channel = 0; channel < d->outputs; channel += TILE)
        for (int64_t i = 0; i < n; i += WINDOWS) {
            const int64_t at = n - i < WINDOWS && i > 0 ? n - WINDOWS : i;
            line_block(d, channel, d->weights + channel * taps, in + at, out + at,
                       n - at < WINDOWS ? n - at : WINDOWS);
        }
}

const lt_direct_loops LT_LOOP(direct)[1] = {{image, line, TILE, WINDOWS}};
