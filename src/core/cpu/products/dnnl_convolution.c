/* dnnl_convolution.c - partitions a convolution over threads; each thread runs oneDNN on its part
 * (dnnl_plan.h). oneDNN's own threads (OpenMP) are not used, since they would compete with the
 * thread pool for the processors.
 *
 * The parts are images, or channels of the result if the weights are larger than the images: a
 * thread with some of the images reorders all weights, one with some of the channels reorders all
 * images. A single image with few channels is partitioned by rows of its result. The gradients by the weights of groups of images are added in an order that depends on
 * the sizes alone. */
#include "dnnl_convolution.h"

#include <stdatomic.h>
#include <string.h>

#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "convolution_sizes.h"
#include "dnnl_plan.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "cpu/common/scratch.h"
#include "saturating.h"
#include "cpu/common/sizes.h"

typedef enum partition_axis { WHOLE, IMAGES, OUT_CHANNELS, IN_CHANNELS, ROWS } partition_axis;

typedef struct dnnl_job {
    const lt_conv *c;
    lt_conv_part part;
    partition_axis axis;
    int64_t n, size;  /* number of parts; images, channels or rows of each except the last */
    int row_dim;      /* the spatial dimension of ROWS */
    char *arrays[3];  /* x, w, y */
    int64_t steps[3]; /* bytes between parts of an array */
    int64_t above;    /* bytes of x that the padding before the first of the ROWS would take */
    const char *bias;
    int64_t bias_step;
    /* the partial sums of all parts but the first, to be added to it; NULL: parts of one array */
    char *sums;
    lt_dnnl_plan *plans[3]; /* of the first part, of those between, of the last one */
    char *room;
    size_t room_bytes; /* per thread */
    _Atomic bool failed;
} dnnl_job;

static bool of_integers(const lt_conv *c) { return c->dtype == LT_UINT8 || c->dtype == LT_INT8; }

/* Bytes of an element of y, which is int32 if the inputs are 8-bit integers. */
static int64_t y_size(const lt_conv *c)
{
    return of_integers(c) ? 4 : (int64_t)lt_dtype_size(c->dtype);
}

static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* The first spatial dimension along which the result has rows, each a contiguous part of a channel;
 * -1: none. */
static int row_dim(lt_conv_part part, const lt_conv *c)
{
    if (part != LT_CONV_Y || c->batch != 1) return -1;
    for (int d = 0; d < 3; d++) {
        if (c->out[d] > 1) return d;
        if (c->in[d] > 1) return -1;
    }
    return -1;
}

/* The axis of the result's channels; WHOLE: too few to partition. */
static partition_axis channel_axis(lt_conv_part part, const lt_conv *c)
{
    const int64_t channels = part == LT_CONV_X ? c->in_channels : c->out_channels;
    if (c->groups > 1 || channels < 2 * LT_LANES) return WHOLE;
    return part == LT_CONV_X ? IN_CHANNELS : OUT_CHANNELS;
}

/* Partial sums of half precision are not added up: such gradients are not split by images. Long
 * work is split by rows, as short as interrupts require. */
static partition_axis choose_axis(lt_conv_part part, const lt_conv *c)
{
    const partition_axis channels = channel_axis(part, c);
    if (row_dim(part, c) >= 0 && (channels == WHOLE || lt_conv_work(c) > LT_INTERRUPT_WORK))
        return ROWS;
    const bool by_images = c->batch > 1 && !(part == LT_CONV_W && c->dtype != LT_FLOAT32);
    const bool heavy =
        lt_conv_w_count(c) * 8 > (part == LT_CONV_X ? lt_conv_y_count(c) : lt_conv_x_count(c));
    if (channels != WHOLE && (heavy || !by_images)) return channels;
    return by_images ? IMAGES : WHOLE;
}

/* The geometry of part i of ROWS: its rows of the result and the rows of the image that they need,
 * without padding. */
static lt_conv rows_of_part(const dnnl_job *j, int64_t i)
{
    const int d = j->row_dim;
    lt_conv c = *j->c;
    const int64_t from = i * j->size * c.stride[d] - c.padding[d], left = c.out[d] - i * j->size;
    c.out[d] = left < j->size ? left : j->size;
    const int64_t to = from + (c.out[d] - 1) * c.stride[d] + (c.kernel[d] - 1) * c.dilation[d] + 1;
    const int64_t first = from > 0 ? from : 0, end = to < c.in[d] ? to : c.in[d];
    c.in[d] = end - first;
    c.padding[d] = first - from;
    return c;
}

/* Whether one plan serves all parts of ROWS between the first and the last one, as none of them
 * has padding, and whether the others read the image. */
static bool rows_are_regular(const dnnl_job *j)
{
    const lt_conv *c = j->c;
    const int d = j->row_dim;
    const lt_conv first = rows_of_part(j, 0), last = rows_of_part(j, j->n - 1);
    if (first.in[d] <= 0 || last.in[d] <= 0) return false;
    if (j->size * c->stride[d] < c->padding[d]) return false;
    const int64_t end = ((j->n - 1) * j->size - 1) * c->stride[d] - c->padding[d] +
                        (c->kernel[d] - 1) * c->dilation[d] + 1;
    return j->n < 3 || end <= c->in[d];
}

static void set_rows(dnnl_job *j, int threads)
{
    const lt_conv *c = j->c;
    const int d = j->row_dim = row_dim(j->part, c);
    const bool last = of_integers(c); /* layout: channels last */
    const int64_t parts = lt_conv_work(c) / LT_INTERRUPT_WORK + 1,
                  x_row = lt_volume(c->in) / c->in[d] * (last ? c->in_channels : 1) *
                          (int64_t)lt_dtype_size(c->dtype);
    j->size = divide_up(c->out[d], parts > threads ? parts : threads);
    j->n = divide_up(c->out[d], j->size);
    j->steps[0] = j->size * c->stride[d] * x_row;
    j->steps[2] =
        j->size * (lt_volume(c->out) / c->out[d]) * (last ? c->out_channels : 1) * y_size(c);
    j->above = c->padding[d] * x_row;
    if (j->n == 1 || rows_are_regular(j)) return;
    j->axis = WHOLE;
    j->size = j->n = 1;
}

static void set_parts(dnnl_job *j, int threads)
{
    const lt_conv *c = j->c;
    const int64_t size = (int64_t)lt_dtype_size(c->dtype), of_y = y_size(c);
    const bool last = of_integers(c); /* layout: channels last */
    int64_t total = 1, parts = threads, unit = 1;
    j->axis = choose_axis(j->part, c);
    if (j->axis == ROWS) {
        set_rows(j, threads);
        return;
    }
    if (j->axis == IMAGES) {
        total = c->batch;
        parts = j->part == LT_CONV_W
                    ? lt_cpu_shares_for(lt_conv_w_count(c) * c->batch * lt_volume(c->out) / 32)
                : threads > 1 ? 2 * threads
                              : 1;
        j->steps[0] = lt_conv_x_count(c) / total * size;
        j->steps[2] = lt_conv_y_count(c) / total * of_y;
    } else if (j->axis == OUT_CHANNELS) {
        total = c->out_channels;
        unit = LT_LANES;
        j->steps[1] = lt_conv_w_count(c) / total * size;
        j->steps[2] = (last ? 1 : lt_volume(c->out)) * of_y;
        j->bias_step = size;
    } else if (j->axis == IN_CHANNELS) {
        total = c->in_channels;
        unit = LT_LANES;
        j->steps[0] = (last ? 1 : lt_volume(c->in)) * size;
        j->steps[1] = lt_volume(c->kernel) * size;
    }
    if (parts < 1) parts = 1;
    j->size = divide_up(divide_up(total, parts), unit) * unit;
    j->n = divide_up(total, j->size);
    for (int i = 0; i < 3; i++) j->steps[i] *= j->size;
    j->bias_step *= j->size;
}

/* The number of images or channels of part i. */
static int64_t size_of_part(const dnnl_job *j, int64_t i)
{
    const int64_t total = j->axis == IMAGES         ? j->c->batch
                          : j->axis == OUT_CHANNELS ? j->c->out_channels
                          : j->axis == IN_CHANNELS  ? j->c->in_channels
                                                    : 1;
    return i == j->n - 1 ? total - i * j->size : j->size;
}

static lt_status plan_part(const dnnl_job *j, int64_t i, lt_dnnl_plan **out)
{
    const lt_conv of_part = j->axis == ROWS ? rows_of_part(j, i) : *j->c, *c = &of_part;
    const int64_t size = size_of_part(j, i);
    lt_dnnl_convolution_shape s;
    memset(&s, 0, sizeof s);
    s.part = j->part, s.bias = j->bias != NULL;
    s.x_channels = c->in_channels, s.y_channels = c->out_channels,
    s.w_channels = c->in_channels / c->groups;
    s.x_plane = lt_volume(j->c->in), s.y_plane = lt_volume(j->c->out);
    s.conv.dtype = c->dtype, s.conv.groups = c->groups;
    s.conv.batch = j->axis == IMAGES ? size : c->batch;
    s.conv.in_channels = j->axis == IN_CHANNELS ? size : c->in_channels;
    s.conv.out_channels = j->axis == OUT_CHANNELS ? size : c->out_channels;
    for (int d = 0; d < 3; d++) {
        s.conv.in[d] = c->in[d], s.conv.out[d] = c->out[d], s.conv.kernel[d] = c->kernel[d];
        s.conv.stride[d] = c->stride[d], s.conv.padding[d] = c->padding[d],
        s.conv.dilation[d] = c->dilation[d];
    }
    return lt_dnnl_plan_get(&s, out);
}

/* The index of the plan of part i. */
static int plan_index(const dnnl_job *j, int64_t i) { return i == j->n - 1 ? 2 : i > 0; }

/* *found: whether the library supports all parts. */
static lt_status set_plans(dnnl_job *j, bool *found)
{
    const int64_t parts[] = {0, 1, j->n - 1};
    *found = true;
    for (int p = 0; p < 3 && *found; p++) {
        if (plan_index(j, parts[p]) != p) continue;
        LT_TRY(plan_part(j, parts[p], &j->plans[p]));
        *found = j->plans[p] != NULL;
        if (!*found) break;
        const size_t bytes = lt_dnnl_plan_scratch_bytes(j->plans[p]);
        if (bytes > j->room_bytes) j->room_bytes = bytes;
    }
    return LT_OK;
}

static void run_convolution_part(const void *context, int64_t i)
{
    dnnl_job *j = (dnnl_job *)(uintptr_t)context;
    void *arrays[3];
    for (int a = 0; a < 3; a++) arrays[a] = j->arrays[a] + i * j->steps[a];
    if (i > 0) arrays[0] = (char *)arrays[0] - j->above;
    if (j->sums != NULL && i > 0)
        arrays[1] = j->sums + (i - 1) * lt_conv_w_count(j->c) * (int64_t)sizeof(float);
    const char *bias = j->bias != NULL ? j->bias + i * j->bias_step : NULL;
    char *room = j->room + (size_t)lt_pool_index() * j->room_bytes;
    if (!lt_dnnl_plan_run(j->plans[plan_index(j, i)], arrays, bias, room))
        atomic_store(&j->failed, true);
}

/* Adds the partial sums of LT_CPU_PIECE weights, which stay in L1. */

static void add_block(const void *context, int64_t block)
{
    const dnnl_job *j = context;
    const int64_t count = lt_conv_w_count(j->c), at = block * LT_CPU_PIECE,
                  n = count - at < LT_CPU_PIECE ? count - at : LT_CPU_PIECE;
    for (int64_t i = 0; i < j->n - 1; i++)
        lt_loops.pool[0].sums((float *)(void *)j->arrays[1] + at,
                              (const float *)(const void *)j->sums + i * count + at, 1, 1, n);
}

static lt_status run_parts(dnnl_job *j, int threads)
{
    lt_scratch scratch;
    size_t sums_capacity = 0;
    lt_status status = LT_ERR_MEMORY;
    if (threads > j->n) threads = (int)j->n;
    j->room = lt_scratch_alloc(&scratch, threads, j->room_bytes);
    if (j->room == NULL) return LT_ERR_MEMORY;
    if (j->part == LT_CONV_W && j->axis == IMAGES && j->n > 1) {
        j->sums = lt_block_array(lt_mul_sat(j->n - 1, lt_conv_w_count(j->c)), sizeof(float),
                                 &sums_capacity);
        if (j->sums == NULL) goto done;
    }
    status = lt_parallel_for(j->n, threads, run_convolution_part, j);
    if (status == LT_OK && j->sums != NULL)
        status =
            lt_parallel_for(divide_up(lt_conv_w_count(j->c), LT_CPU_PIECE),
                            lt_cpu_threads_for((j->n - 1) * lt_conv_w_count(j->c)), add_block, j);
done:
    lt_scratch_free(&scratch, j->room);
    if (j->sums != NULL) lt_block_free(j->sums, sums_capacity);
    return status;
}

lt_status lt_dnnl_convolution(lt_conv_part part, const lt_conv *c, const lt_conv_operands *arrays,
                              int threads, bool *done)
{
    dnnl_job j = {
        .c = c, .part = part, .arrays = {arrays->x, arrays->w, arrays->y}, .bias = arrays->bias};
    *done = false;
    set_parts(&j, threads);
    bool found;
    lt_status status = set_plans(&j, &found);
    if (status == LT_OK && found) {
        status = run_parts(&j, threads);
        *done = status == LT_OK && !j.failed;
    }
    for (int p = 0; p < 3; p++) lt_dnnl_plan_release(j.plans[p]);
    return status;
}
