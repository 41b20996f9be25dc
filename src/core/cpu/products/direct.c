/* direct.c - see direct.h. The gradient by the image is a convolution of the output's gradient with
 * the weights reversed, input and output channels exchanged, and padding kernel - 1 - padding.
 * Images are partitioned over threads; each image is copied into a zero-padded frame. 1-D inputs
 * are partitioned into chunks, which are read in place except at the ends. */
#include "direct.h"

#include <string.h>

#include "saturating.h"
#include "cpu/common/loops.h"
#include "cpu/common/sizes.h"
#include "cpu/common/threads.h"
#include "cpu/common/scratch.h"

/* tuning: input channels of images; oneDNN fills its registers better with more; a convolution of
 * 3x32x32 images takes 2.47 times as long by oneDNN (Zen 5, 2026-11-28) */
#define MOST_INPUTS 3
/* tuning: input channels of images; the same for the gradient by the image; for 6x32x32 images it
 * takes 2.33 times as long by oneDNN (Zen 5, 2026-11-28) */
#define MOST_OF_X 8
/* tuning: columns of an image; a row of sums stays in L1; a convolution of 3x100x100 images takes
 * 2.48 times as long by oneDNN (Zen 5, 2026-11-28) */
#define MOST_WIDTH 128
/* maximum of channels of 1-D inputs; with more, oneDNN reuses loaded elements better */
#define MOST_OF_LINE (4 * LT_LANES)

typedef struct direct_job {
    lt_direct d;
    const float *in;
    float *out, *frames;
    int64_t in_size[2], around[2]; /* size of an image; zeros before it */
    int64_t frame;
    int threads;
} direct_job;

/* Whether dimension d has a single element and a single tap. */
static bool is_one(const lt_conv *c, int d)
{
    return c->in[d] == 1 && c->kernel[d] == 1 && c->padding[d] == 0 && c->out[d] == 1;
}

static int64_t kernel_reach(const lt_conv *c) { return (c->kernel[2] - 1) * c->dilation[2]; }

static bool is_line(const lt_conv *c)
{
    return is_one(c, 1) && c->stride[2] == 1 &&
           c->in[2] + 2 * c->padding[2] == c->out[2] + kernel_reach(c);
}

bool lt_direct_wins(lt_conv_part part, const lt_conv *c)
{
    if (part == LT_CONV_W || c->dtype != LT_FLOAT32 || c->groups != 1 || !is_one(c, 0))
        return false;
    if (is_line(c))
        return c->out[2] >= LT_BLOCK / 2 && c->in[2] >= LT_BLOCK / 2 &&
               c->in_channels <= MOST_OF_LINE && c->out_channels <= MOST_OF_LINE &&
               kernel_reach(c) <= LT_BLOCK;
    for (int d = 1; d < 3; d++) {
        if (c->stride[d] != 1 || c->dilation[d] != 1 || c->kernel[d] < 2) return false;
        if (c->padding[d] > c->kernel[d] - 1 ||
            c->in[d] != c->out[d] + c->kernel[d] - 1 - 2 * c->padding[d])
            return false;
    }
    if (c->out[2] > MOST_WIDTH || c->in[2] > MOST_WIDTH || c->in[1] > MOST_WIDTH) return false;
    return c->in_channels <= (part == LT_CONV_Y ? MOST_INPUTS : MOST_OF_X) &&
           c->out_channels <= LT_LANES;
}

/* Packs weights as [outputs / tile][inputs][kernel...][tile], padded with zero channels; turned:
 * reversed and exchanged for the gradient. */
static void pack_weight(const lt_direct *d, const float *w, bool turned, float *packed)
{
    const int64_t area = d->kernel[0] * d->kernel[1];
    for (int64_t o = 0; o < (d->outputs + d->tile - 1) / d->tile * d->tile; o++)
        for (int64_t c = 0; c < d->inputs; c++)
            for (int64_t k = 0; k < area; k++) {
                float v = 0;
                if (o < d->outputs)
                    v = turned ? w[(c * d->outputs + o) * area + area - 1 - k]
                               : w[(o * d->inputs + c) * area + k];
                packed[(o / d->tile * d->inputs * area + c * area + k) * d->tile + o % d->tile] = v;
            }
}

static void run_image(const void *context, int64_t n)
{
    const direct_job *j = context;
    const lt_direct *d = &j->d;
    float *frame = j->frames + (j->threads > 1 ? lt_pool_index() : 0) * j->frame;
    const float *in = j->in + n * d->inputs * j->in_size[0] * j->in_size[1];
    for (int64_t c = 0; c < d->inputs; c++)
        for (int64_t y = 0; y < j->in_size[0]; y++, in += j->in_size[1])
            memcpy(frame + c * d->plane + (y + j->around[0]) * d->row + j->around[1], in,
                   (size_t)j->in_size[1] * sizeof *in);
    lt_loops.direct[0].image(d, frame, j->out + n * d->outputs * d->out[0] * d->out[1]);
}

static lt_status images(lt_conv_part part, const lt_conv *c, int threads, void *x, const void *w,
                        void *y, const void *bias)
{
    const bool turned = part == LT_CONV_X;
    direct_job j = {.d = {.inputs = turned ? c->out_channels : c->in_channels,
                          .outputs = turned ? c->in_channels : c->out_channels,
                          .bias = bias}};
    lt_direct *d = &j.d;
    j.in = turned ? y : x;
    j.out = turned ? x : y;
    for (int i = 0; i < 2; i++) {
        d->kernel[i] = c->kernel[i + 1];
        d->out[i] = turned ? c->in[i + 1] : c->out[i + 1];
        j.in_size[i] = turned ? c->out[i + 1] : c->in[i + 1];
        j.around[i] = turned ? c->kernel[i + 1] - 1 - c->padding[i + 1] : c->padding[i + 1];
    }
    d->tile = d->outputs % 6 == 0 ? 6 : 4;
    d->row = j.in_size[1] + 2 * j.around[1];
    d->plane = (j.in_size[0] + 2 * j.around[0]) * d->row;
    j.frame = d->inputs * d->plane + LT_LANES;
    j.threads = threads < c->batch ? threads : (int)c->batch;
    const int64_t weights = (d->outputs + d->tile) * d->inputs * d->kernel[0] * d->kernel[1];
    lt_scratch scratch;
    float *room = lt_scratch_alloc(&scratch, lt_add_sat(weights, lt_mul_sat(j.threads, j.frame)),
                                   sizeof *room);
    if (room == NULL) return LT_ERR_MEMORY;
    pack_weight(d, w, turned, room);
    d->weights = room;
    j.frames = room + weights;
    memset(j.frames, 0, (size_t)(j.threads * j.frame) * sizeof *room);
    lt_status status = lt_parallel_for(c->batch, j.threads, run_image, &j);
    lt_scratch_free(&scratch, room);
    return status;
}

/* ---- 1-D inputs ------------------------------------------------------------------------------ */

typedef struct line_job {
    lt_direct d;
    const float *in;
    float *out, *frames;
    /* elements of a line; zeros before it; distance of the first and the last tap of a window */
    int64_t length, before, reach;
    int64_t pieces, frame;
    int threads;
} line_job;

static void run_direct_piece(const void *context, int64_t i)
{
    const line_job *j = context;
    const lt_direct_loops *loops = lt_loops.direct;
    lt_direct d = j->d;
    const int64_t at = i % j->pieces * LT_BLOCK,
                  n = d.out[1] - at < LT_BLOCK ? d.out[1] - at : LT_BLOCK;
    const int64_t first = at - j->before,
                  count = (n < loops->windows ? loops->windows : n) + j->reach;
    const float *in = j->in + i / j->pieces * d.inputs * d.plane + first;
    if (first < 0 || first + count > j->length) {
        float *frame = j->frames + (j->threads > 1 ? lt_pool_index() : 0) * j->frame;
        const int64_t from = first < 0 ? -first : 0,
                      to = j->length - first < count ? j->length - first : count;
        memset(frame, 0, (size_t)(d.inputs * count) * sizeof *frame);
        for (int64_t c = 0; c < d.inputs && from < to; c++)
            memcpy(frame + c * count + from, in + c * d.plane + from,
                   (size_t)(to - from) * sizeof *in);
        in = frame;
        d.plane = count;
    }
    loops->line(&d, in, j->out + i / j->pieces * d.outputs * d.out[1] + at, n);
}

static lt_status lines(lt_conv_part part, const lt_conv *c, int threads, void *x, const void *w,
                       void *y, const void *bias)
{
    const bool turned = part == LT_CONV_X;
    line_job j = {.in = turned ? y : x,
                  .out = turned ? x : y,
                  .length = turned ? c->out[2] : c->in[2],
                  .reach = kernel_reach(c),
                  .threads = threads,
                  .d = {.inputs = turned ? c->out_channels : c->in_channels,
                        .outputs = turned ? c->in_channels : c->out_channels,
                        .tile = lt_loops.direct[0].tile,
                        .kernel = {c->kernel[2], 1},
                        .row = c->dilation[2],
                        .out = {1, turned ? c->in[2] : c->out[2]},
                        .bias = bias}};
    j.before = turned ? j.reach - c->padding[2] : c->padding[2];
    j.d.plane = j.length;
    j.pieces = (j.d.out[1] + LT_BLOCK - 1) / LT_BLOCK;
    j.frame = j.d.inputs * (LT_BLOCK + j.reach);
    const int64_t weights = (j.d.outputs + j.d.tile) * j.d.inputs * c->kernel[2];
    lt_scratch scratch;
    float *room =
        lt_scratch_alloc(&scratch, lt_add_sat(weights, lt_mul_sat(threads, j.frame)), sizeof *room);
    if (room == NULL) return LT_ERR_MEMORY;
    pack_weight(&j.d, w, turned, room);
    j.d.weights = room;
    j.frames = room + weights;
    const lt_status status = lt_parallel_for(c->batch * j.pieces, threads, run_direct_piece, &j);
    lt_scratch_free(&scratch, room);
    return status;
}

lt_status lt_direct_convolution(lt_conv_part part, const lt_conv *c, int threads, void *x,
                                const void *w, void *y, const void *bias)
{
    return (is_line(c) ? lines : images)(part, c, threads, x, w, y, bias);
}
