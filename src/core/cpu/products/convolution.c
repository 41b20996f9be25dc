/* convolution.c - convolutions on the CPU. Selects direct loops (direct.c), depthwise loops or
 * oneDNN (dnnl_convolution.c); all others are matrix products of the weights with the windows of an
 * image as columns (im2col), with images partitioned over threads. Half types are computed in
 * float. */
#include <string.h>

#include "columns.h"
#include "convolution_sizes.h"
#include "cpu/cpu.h"
#include "direct.h"
#include "dnnl_convolution.h"
#include "dnnl_plan.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "context/interrupt.h"
#include "saturating.h"
#include "cpu/common/threads.h"
#include "cpu/common/widened.h"
#include "cpu_info.h"
#include "cpu/common/scratch.h"
#include "cpu/common/sizes.h"

/* fixed: maximum of weights in separate partial sums; bounds their memory */
#define MOST_SUMS ((int64_t)1 << 20)
/* tuning: windows; a product for so few reads the weights once, in memory order; a convolution with
 * 6 windows takes 2.06 times as long with 4 (Zen 5, 2026-11-28) */
#define FEW_WINDOWS 8
/* tuning: multiplications; for fewer, the setup of oneDNN takes longer than a product; a
 * convolution of 14400 takes 1.12 times as long by oneDNN, one of 17280 0.99 times (Zen 5,
 * 2026-11-28) */
#define LITTLE 20000

/* ---- matrix products with columns ------------------------------------------------------------ */

typedef struct convolution_job {
    const lt_conv *c;
    lt_conv_part part;
    char *x, *w, *y;
    const char *bias;
    char *columns; /* memory for an image's columns per thread; NULL: the image serves as columns */
    /* bytes of an element; elements of an image, of a result, of the columns */
    int64_t size, image, result, column;
    bool rows; /* windows are rows instead of columns */
    int threads;
    int shares; /* partial sums of the weights' gradient, each over some images */
} convolution_job;

/* Whether the kernel is 1x1x1 and visits each element once, so that no columns are needed. */
static bool trivial(const lt_conv *c)
{
    for (int d = 0; d < 3; d++)
        if (c->kernel[d] != 1 || c->stride[d] != 1 || c->padding[d] != 0 || c->in[d] != c->out[d])
            return false;
    return true;
}

/* Whether there are few windows: a product then reads the weights once, in memory order, without
 * packing or reordering. */
static bool few_windows(const lt_conv *c) { return lt_volume(c->out) <= FEW_WINDOWS; }

static void move_columns(const convolution_job *j, bool back, char *image, char *columns)
{
    const lt_conv *c = j->c;
    const int64_t step = lt_volume(c->kernel) * lt_volume(c->out) * j->size;
    for (int64_t channel = 0; channel < c->in_channels; channel++)
        lt_cpu_channel_columns(back, c, image + channel * lt_volume(c->in) * j->size,
                               columns + channel * step);
}

/* Copies the windows of an image to rows [groups, out..., channels of a group, kernel...]. */
static void put_rows(const convolution_job *j, const char *image, char *row)
{
    const lt_conv *c = j->c;
    const int64_t size = j->size, channels = c->in_channels / c->groups;
    const int64_t *step = c->dilation, *kernel = c->kernel;
    for (int64_t i = 0; i < c->groups * lt_volume(c->out); i++) {
        const int64_t place = i % lt_volume(c->out),
                      x0 = place % c->out[2] * c->stride[2] - c->padding[2];
        const int64_t y0 = place / c->out[2] % c->out[1] * c->stride[1] - c->padding[1];
        const int64_t z0 = place / c->out[2] / c->out[1] * c->stride[0] - c->padding[0];
        const char *group = image + i / lt_volume(c->out) * channels * lt_volume(c->in) * size;
        const bool whole = step[2] == 1 && x0 >= 0 && x0 + kernel[2] <= c->in[2];
        for (int64_t k = 0; k < channels * kernel[0] * kernel[1]; k++, row += kernel[2] * size) {
            const int64_t z = z0 + k / kernel[1] % kernel[0] * step[0],
                          y = y0 + k % kernel[1] * step[1];
            const char *line = group + ((k / kernel[1] / kernel[0] * c->in[0] + z) * c->in[1] + y) *
                                           c->in[2] * size;
            if (z < 0 || z >= c->in[0] || y < 0 || y >= c->in[1]) {
                memset(row, 0, (size_t)(kernel[2] * size));
                continue;
            }
            if (whole) {
                memcpy(row, line + x0 * size, (size_t)(kernel[2] * size));
                continue;
            }
            for (int64_t t = 0; t < kernel[2]; t++) {
                const int64_t x = x0 + t * step[2];
                if (x >= 0 && x < c->in[2])
                    memcpy(row + t * size, line + x * size, (size_t)size);
                else
                    memset(row + t * size, 0, (size_t)size);
            }
        }
    }
}

/* The product of image n, with groups as a batch. */
static lt_status multiply_columns(const convolution_job *j, int64_t n, char *columns, bool first)
{
    const lt_conv *c = j->c;
    const int64_t rows = c->out_channels / c->groups,
                  depth = c->in_channels / c->groups * lt_volume(c->kernel),
                  width = lt_volume(c->out);
    char *y = j->y + n * j->result * j->size;
    lt_gemm g = {.dtype = c->dtype, .batch = c->groups, .alpha = 1, .device = c->device};
    switch (j->part) {
    case LT_CONV_Y: /* y = w columns */
        g.m = rows, g.n = width, g.k = depth;
        g.a = j->w, g.lda = depth, g.batch_a = rows * depth;
        g.b = columns, g.ldb = j->rows ? depth : width, g.batch_b = depth * width,
        g.trans_b = j->rows;
        g.c = y, g.ldc = width, g.batch_c = rows * width;
        g.row_bias = j->bias;
        break;
    case LT_CONV_X: /* columns = w' y */
        g.m = depth, g.n = width, g.k = rows;
        g.a = j->w, g.lda = depth, g.batch_a = rows * depth, g.trans_a = true;
        g.b = y, g.ldb = width, g.batch_b = rows * width;
        g.c = columns, g.ldc = width, g.batch_c = depth * width;
        break;
    default: /* w += y columns' */
        g.m = rows, g.n = depth, g.k = width;
        g.a = y, g.lda = width, g.batch_a = rows * width;
        g.b = columns, g.ldb = width, g.batch_b = depth * width, g.trans_b = true;
        g.c = j->w, g.ldc = depth, g.batch_c = rows * depth;
        g.beta = !first;
        break;
    }
    return lt_cpu_gemm(&g);
}

static lt_status do_image(const convolution_job *j, int64_t n, bool first)
{
    char *image = j->x + n * j->image * j->size, *columns = image;
    if (j->columns != NULL)
        columns = j->columns + (j->threads > 1 ? lt_pool_index() : 0) * j->column * j->size;
    if (j->part == LT_CONV_X) {
        lt_status status = multiply_columns(j, n, columns, true);
        if (status != LT_OK || j->columns == NULL) return status;
        memset(image, 0, (size_t)(j->image * j->size));
        move_columns(j, true, image, columns);
        return LT_OK;
    }
    if (j->rows)
        put_rows(j, image, columns);
    else if (j->columns != NULL)
        move_columns(j, false, image, columns);
    return multiply_columns(j, n, columns, first);
}

/* Ignores the status: products fail only if interrupted, which lt_parallel_for reports, too. */
static void run_image(const void *context, int64_t n) { (void)do_image(context, n, false); }

/* Partial sum t of the weights' gradient: images [t * batch / shares, (t + 1) * batch / shares),
 * with its own weights and columns. */
static void convolve_share(const void *context, int64_t t)
{
    const convolution_job *j = context;
    const int64_t n = lt_conv_w_count(j->c), from = t * j->c->batch / j->shares,
                  to = (t + 1) * j->c->batch / j->shares;
    convolution_job own = *j;
    own.threads = 1;
    own.w += t * n * j->size;
    if (own.columns != NULL)
        own.columns += (j->threads > 1 ? lt_pool_index() : 0) * j->column * j->size;
    for (int64_t i = from; i < to && !lt_interrupted(); i++) (void)do_image(&own, i, i == from);
}

/* The gradient by the weights. With a single partial sum, the products use the threads. */
static lt_status sum_images(convolution_job *j)
{
    const int64_t n = lt_conv_w_count(j->c);
    char *w = j->w;
    lt_scratch scratch;
    lt_status status = LT_OK;
    if (j->shares == 1) {
        for (int64_t i = 0; i < j->c->batch && status == LT_OK; i++)
            status = do_image(j, i, i == 0);
        return status;
    }
    j->w = lt_scratch_alloc(&scratch, lt_mul_sat(j->shares, n), (size_t)j->size);
    if (j->w == NULL) return LT_ERR_MEMORY;
    status = lt_parallel_for(j->shares, j->threads, convolve_share, j);
    memcpy(w, j->w, (size_t)(n * j->size));
    for (int t = 1; t < j->shares; t++)
        lt_loops.pool[j->c->dtype == LT_FLOAT64].sums(w, j->w + t * n * j->size, 1, 1, n);
    lt_scratch_free(&scratch, j->w);
    return status;
}

static int shares_of(const lt_conv *c, int64_t work)
{
    int shares = lt_cpu_shares_for(work);
    if (shares > c->batch) shares = (int)c->batch;
    while (shares > 1 && lt_conv_w_count(c) * shares > MOST_SUMS) shares /= 2;
    return shares;
}

/* The number of elements of the largest array that the products of one image access. */
static int64_t largest_array(const convolution_job *j)
{
    int64_t n = lt_conv_w_count(j->c);
    if (n < j->result) n = j->result;
    if (n < j->column / j->c->groups) n = j->column / j->c->groups;
    return n;
}

static lt_status by_columns(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                            const void *bias)
{
    convolution_job j = {.c = c,
                         .part = part,
                         .x = x,
                         .w = w,
                         .y = y,
                         .bias = bias,
                         .size = (int64_t)lt_dtype_size(c->dtype)};
    j.image = c->in_channels * lt_volume(c->in);
    j.result = c->out_channels * lt_volume(c->out);
    j.column = c->in_channels * lt_volume(c->kernel) * lt_volume(c->out);
    const int64_t work = c->batch * j.column * (c->out_channels / c->groups) / 8;
    j.threads = lt_cpu_threads_for(work);
    if (j.threads > c->batch) j.threads = (int)c->batch;
    if (part == LT_CONV_W) {
        j.shares = shares_of(c, work);
        if (j.threads > j.shares) j.threads = j.shares;
    }
    lt_scratch scratch;
    const int64_t largest = largest_array(&j);
    if (largest > INT32_MAX)
        return lt_error(LT_ERR_RUNTIME,
                        "convolution: an image needs an array of %lld elements, but for %s the CPU "
                        "supports at most %d: use smaller images or another dtype",
                        (long long)largest, lt_dtype_name(c->dtype), INT32_MAX);
    j.rows = part == LT_CONV_Y && few_windows(c) && !trivial(c);
    if (!trivial(c)) {
        j.columns = lt_scratch_alloc(&scratch, lt_mul_sat(j.threads, j.column), (size_t)j.size);
        if (j.columns == NULL) return LT_ERR_MEMORY;
    }
    lt_status status =
        part == LT_CONV_W ? sum_images(&j) : lt_parallel_for(c->batch, j.threads, run_image, &j);
    if (j.columns != NULL) lt_scratch_free(&scratch, j.columns);
    return status;
}

/* ---- oneDNN ---------------------------------------------------------------------------------- */

/* Whether columns are faster than oneDNN: a kernel of one element is a plain product; few windows
 * need no reordering of weights; and oneDNN pads a few input channels to a vector. */
static bool products_win(lt_conv_part part, const lt_conv *c)
{
    return lt_volume(c->kernel) == 1 || (part == LT_CONV_Y && few_windows(c)) ||
           (part == LT_CONV_X && c->in_channels / c->groups <= 4 && c->groups == 1);
}

static lt_status in_pieces(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                           const void *bias, bool *done);

/* Splits the batch; gradients by the weights are added up. */
static lt_status by_images(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                           const void *bias, bool *done)
{
    const int64_t size = (int64_t)lt_dtype_size(c->dtype),
                  least = c->batch / (lt_conv_work(c) / LT_INTERRUPT_WORK + 1);
    const int64_t piece = least > 0 ? least : 1, x_image = lt_conv_x_count(c) / c->batch * size,
                  y_image = lt_conv_y_count(c) / c->batch * size;
    lt_widened sums = {NULL, 0};
    lt_conv some = *c;
    lt_status status = LT_OK;
    *done = true;
    if (part == LT_CONV_W && c->dtype != LT_FLOAT32)
        return lt_dnnl_convolution(part, c, &(lt_conv_operands){x, w, y, bias},
                                   lt_get_num_threads(), done);
    if (part == LT_CONV_W) LT_TRY(lt_widen(&sums, c->dtype, NULL, lt_conv_w_count(c)));
    for (int64_t n = 0; n < c->batch && status == LT_OK && *done; n += piece) {
        some.batch = c->batch - n < piece ? c->batch - n : piece;
        void *to = part == LT_CONV_W && n > 0 ? sums.data : w;
        status = in_pieces(part, &some, (char *)x + n * x_image, to, (char *)y + n * y_image, bias,
                           done);
        if (to == sums.data && status == LT_OK && *done)
            lt_loops.pool[0].sums(w, sums.data, 1, 1, lt_conv_w_count(c));
    }
    if (sums.data != NULL) lt_widened_free(&sums);
    return status;
}

/* Splits the input channels, for the gradient by the image or the weights. The weights of a part
 * are not contiguous, so they are copied. */
static lt_status by_in_channels(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                                bool *done)
{
    const int64_t size = (int64_t)lt_dtype_size(c->dtype),
                  least = c->in_channels / (lt_conv_work(c) / LT_INTERRUPT_WORK + 1);
    const int64_t piece = least > LT_LANES ? least / LT_LANES * LT_LANES : LT_LANES;
    const int64_t kernel = lt_volume(c->kernel) * size, row = c->in_channels * kernel;
    size_t capacity;
    lt_conv some = *c;
    lt_status status = LT_OK;
    char *room = lt_block_array(c->out_channels * piece * kernel, 1, &capacity);
    if (room == NULL) return LT_ERR_MEMORY;
    *done = true;
    for (int64_t i = 0; i < c->in_channels && status == LT_OK && *done; i += piece) {
        some.in_channels = c->in_channels - i < piece ? c->in_channels - i : piece;
        char *of_w = (char *)w + i * kernel;
        const int64_t bytes = some.in_channels * kernel;
        for (int64_t o = 0; o < c->out_channels && part == LT_CONV_X; o++)
            memcpy(room + o * bytes, of_w + o * row, (size_t)bytes);
        if (lt_interrupted())
            status = lt_stopped();
        else
            status = lt_dnnl_convolution(
                part, &some,
                &(lt_conv_operands){
                    .x = (char *)x + i * lt_volume(c->in) * size, .w = room, .y = y},
                lt_get_num_threads(), done);
        for (int64_t o = 0; o < c->out_channels && part == LT_CONV_W; o++)
            memcpy(of_w + o * row, room + o * bytes, (size_t)bytes);
    }
    lt_block_free(room, capacity);
    return status;
}

/* Whether by_in_channels supports the arguments, and there are enough channels. */
static bool has_in_channels(lt_conv_part part, const lt_conv *c)
{
    return part != LT_CONV_Y && c->batch == 1 && c->groups == 1 && c->in_channels > LT_LANES;
}

/* Splits the output channels of one image and their weights. */
static lt_status by_channels(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                             const void *bias, bool *done)
{
    const int64_t size = (int64_t)lt_dtype_size(c->dtype),
                  least = c->out_channels / (lt_conv_work(c) / LT_INTERRUPT_WORK + 1);
    const int64_t piece = least > LT_LANES ? least / LT_LANES * LT_LANES : LT_LANES;
    const int64_t w_channel = lt_conv_w_count(c) / c->out_channels * size,
                  y_channel = lt_conv_y_count(c) / c->out_channels * size;
    lt_conv some = *c;
    lt_status status = LT_OK;
    *done = true;
    for (int64_t o = 0; o < c->out_channels && status == LT_OK && *done; o += piece) {
        some.out_channels = c->out_channels - o < piece ? c->out_channels - o : piece;
        if (lt_interrupted()) return lt_stopped();
        void *of_w = (char *)w + o * w_channel, *of_y = (char *)y + o * y_channel;
        const void *of_bias = bias != NULL ? (const char *)bias + o * size : NULL;
        if (lt_conv_work(&some) > LT_INTERRUPT_WORK && has_in_channels(part, &some))
            status = by_in_channels(part, &some, x, of_w, of_y, done);
        else
            status = lt_dnnl_convolution(part, &some, &(lt_conv_operands){x, of_w, of_y, of_bias},
                                         lt_get_num_threads(), done);
    }
    return status;
}

/* Splits the work, since a call of oneDNN cannot be interrupted: each call takes little time. */
static lt_status in_pieces(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                           const void *bias, bool *done)
{
    if (lt_interrupted()) return lt_stopped();
    if (lt_conv_work(c) > LT_INTERRUPT_WORK && c->batch > 1)
        return by_images(part, c, x, w, y, bias, done);
    if (lt_conv_work(c) > LT_INTERRUPT_WORK && part != LT_CONV_X && c->groups == 1 &&
        c->out_channels > LT_LANES)
        return by_channels(part, c, x, w, y, bias, done);
    if (lt_conv_work(c) > LT_INTERRUPT_WORK && has_in_channels(part, c))
        return by_in_channels(part, c, x, w, y, done);
    return lt_dnnl_convolution(part, c, &(lt_conv_operands){x, w, y, bias},
                               lt_cpu_threads_for(lt_conv_work(c) / LT_PRODUCT_COST), done);
}

/* Uses oneDNN if it is faster; *done: whether it computed the result. */
static lt_status by_library(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                            const void *bias, bool *done)
{
    *done = false;
    if (lt_conv_work(c) < LITTLE || products_win(part, c)) return LT_OK;
    return in_pieces(part, c, x, w, y, bias, done);
}

/* ---- depthwise convolutions ------------------------------------------------------------------ */

typedef struct planes_job {
    const lt_conv *c;
    const float *x, *w, *bias;
    float *y;
    int64_t count;
} planes_job;

static void run_planes(const void *context, int64_t i)
{
    const planes_job *j = context;
    const int64_t planes = j->c->batch * j->c->out_channels;
    lt_loops.depthwise[0].planes(j->c, i * planes / j->count, (i + 1) * planes / j->count, j->x,
                                 j->w, j->bias, j->y);
}

/* Partitions the planes: enough chunks for threads and for interrupts. */
static lt_status by_planes(const lt_conv *c, const void *x, const void *w, void *y,
                           const void *bias)
{
    const int threads = lt_cpu_threads_for(lt_conv_work(c));
    const int64_t planes = c->batch * c->out_channels,
                  wanted = 4 * threads + lt_conv_work(c) / LT_INTERRUPT_STEP;
    const planes_job j = {c, x, w, bias, y, wanted < planes ? wanted : planes};
    return lt_parallel_for(j.count, threads, run_planes, &j);
}

/* ---- entries of the backend table ------------------------------------------------------------ */

static lt_status convolve_batch(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                                const void *bias)
{
    bool done = false;
    if (lt_direct_wins(part, c))
        return lt_direct_convolution(part, c, lt_cpu_threads_for(lt_conv_work(c) / LT_PRODUCT_COST),
                                     x, w, y, bias);
    if (part == LT_CONV_Y && lt_loops.depthwise[0].takes(c)) return by_planes(c, x, w, y, bias);
    if (c->dtype == LT_FLOAT32) LT_TRY(by_library(part, c, x, w, y, bias, &done));
    return done ? LT_OK : by_columns(part, c, x, w, y, bias);
}

lt_status lt_cpu_int8_convolution(const lt_conv *c, const void *x, const void *w, void *y,
                                  bool *done)
{
    *done = false;
    if (!lt_dnnl_multiplies_int8()) return LT_OK;
    return lt_dnnl_convolution(LT_CONV_Y, c,
                               &(lt_conv_operands){.x = (void *)x, .w = (void *)w, .y = y},
                               lt_cpu_threads_for(lt_conv_work(c) / LT_PRODUCT_COST), done);
}

lt_status lt_cpu_convolution(lt_conv_part part, const lt_conv *c, void *x, void *w, void *y,
                             const void *bias)
{
    bool done = false;
    if (!lt_dtype_is_half(c->dtype)) return convolve_batch(part, c, x, w, y, bias);
    if (c->dtype == LT_BFLOAT16 && lt_processor.avx512_bf16)
        LT_TRY(by_library(part, c, x, w, y, bias, &done));
    if (done) return LT_OK;
    lt_conv f = *c;
    lt_widened wide[4] = {{NULL, 0}};
    void *const given[] = {x, w, y};
    const int64_t counts[] = {lt_conv_x_count(c), lt_conv_w_count(c), lt_conv_y_count(c)};
    const int result = part == LT_CONV_X ? 0 : part == LT_CONV_W ? 1 : 2;
    lt_status status = LT_OK;
    f.dtype = LT_FLOAT32;
    for (int i = 0; i < 3 && status == LT_OK; i++)
        status = lt_widen(&wide[i], c->dtype, i == result ? NULL : given[i], counts[i]);
    if (status == LT_OK && bias != NULL)
        status = lt_widen(&wide[3], c->dtype, bias, c->out_channels);
    if (status == LT_OK)
        status = convolve_batch(part, &f, wide[0].data, wide[1].data, wide[2].data, wide[3].data);
    if (status == LT_OK)
        lt_convert_dense(c->dtype, given[result], LT_FLOAT32, wide[result].data, counts[result]);
    for (int i = 0; i < 4; i++) lt_widened_free(&wide[i]);
    return status;
}
