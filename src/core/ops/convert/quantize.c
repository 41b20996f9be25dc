/* quantize.c - floats to quantized weights in the block formats of formulas/blocks.h, the inverse of
 * dequantize_blocks. Formats of 32 elements have the bytes of llama.cpp's reference quantization; of
 * q4_k, only the decoded error is comparable. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "context/thread_pool.h"
#include "dtypes/dtype.h"
#include "dtypes/half.h"
#include "error.h"
#include "formulas/blocks.h"
#include "ltensor.h"
#include "op/quantize_blocks.h"
#include "op/to.h"
#include "ops/common.h"
#include "ops/convert/block_formats.h"
#include "tensor.h"

/* Writes a number as float16. */
static void put_half(uint8_t *at, float value)
{
    const lt_half h = lt_float_to_half(value);
    at[0] = (uint8_t)(h.bits & 255);
    at[1] = (uint8_t)(h.bits >> 8);
}

static int clamp_level(float q, int most) { return q <= 0 ? 0 : q >= (float)most ? most : (int)q; }

/* The element with the largest magnitude, with its sign; the first one of several. */
static float extreme_of(const float *x, int n)
{
    float most = 0, extreme = 0;
    for (int i = 0; i < n; i++)
        if (fabsf(x[i]) > most) {
            most = fabsf(x[i]);
            extreme = x[i];
        }
    return extreme;
}

static void block_range(const float *x, int n, float *low, float *high)
{
    *low = *high = x[0];
    for (int i = 1; i < n; i++) {
        *low = x[i] < *low ? x[i] : *low;
        *high = x[i] > *high ? x[i] : *high;
    }
}

static float inverse_of(float d) { return d == 0 ? 0 : 1 / d; }

/* ---- blocks of 32 ---------------------------------------------------------------------------- */

/* Levels 0 to 15 in 16 bytes, and their fifth bits in `high` if it is not NULL. */
static void put_levels(const int *q, uint8_t *low, uint8_t *high)
{
    for (int i = 0; i < 16; i++) low[i] = (uint8_t)((q[i] & 15) | (q[i + 16] & 15) << 4);
    for (int i = 0; high != NULL && i < 4; i++) {
        high[i] = 0;
        for (int bit = 0; bit < 8; bit++) high[i] |= (uint8_t)((q[8 * i + bit] >> 4) << bit);
    }
}

/* Symmetric levels: the extreme element gets level 0, zero the middle one. */
static void encode_symmetric(const float *x, int middle, uint8_t *b, uint8_t *low, uint8_t *high)
{
    int q[32];
    const float d = extreme_of(x, 32) / (float)-middle, inverse = inverse_of(d);
    for (int i = 0; i < 32; i++)
        q[i] = clamp_level(x[i] * inverse + ((float)middle + 0.5F), 2 * middle - 1);
    put_half(b, d);
    put_levels(q, low, high);
}

/* Levels from the least element on. */
static void encode_range(const float *x, int most, uint8_t *b, uint8_t *low, uint8_t *high)
{
    int q[32];
    float least, largest;
    block_range(x, 32, &least, &largest);
    const float d = (largest - least) / (float)most, inverse = inverse_of(d);
    for (int i = 0; i < 32; i++) q[i] = clamp_level((x[i] - least) * inverse + 0.5F, most);
    put_half(b, d);
    put_half(b + 2, least);
    put_levels(q, low, high);
}

static void encode_q8_0(const float *x, uint8_t *b)
{
    const float d = fabsf(extreme_of(x, 32)) / 127, inverse = inverse_of(d);
    put_half(b, d);
    for (int i = 0; i < 32; i++) b[2 + i] = (uint8_t)(int8_t)roundf(x[i] * inverse);
}

/* ---- q4_k ------------------------------------------------------------------------------------ */

/* A group of 32 elements stands for scale * q - less, q from 0 to 15. */
typedef struct group_fit {
    float scale, less, error; /* less >= 0; weighted sum of squares */
} group_fit;

/* The least squares fit for the levels that result from 1 / scale = inverse and `low`; unchanged
 * `best` if its error is not less. */
static void fit_levels(const float *x, const float *weights, float low, float inverse,
                       group_fit *best)
{
    float w1 = 0, wx = 0, wq = 0, wqq = 0, wqx = 0, q[32];
    for (int i = 0; i < 32; i++) {
        const float level = rintf((x[i] - low) * inverse), w = weights[i];
        q[i] = level < 0 ? 0 : level > 15 ? 15 : level;
        w1 += w;
        wx += w * x[i];
        wq += w * q[i];
        wqq += w * q[i] * q[i];
        wqx += w * q[i] * x[i];
    }
    const float determinant = w1 * wqq - wq * wq;
    if (!(determinant > 0)) return;
    group_fit fit = {(w1 * wqx - wx * wq) / determinant, (wq * wqx - wqq * wx) / determinant, 0};
    if (fit.less < 0) fit = (group_fit){wqx / wqq, 0, 0};
    if (!(fit.scale > 0)) return;
    for (int i = 0; i < 32; i++) {
        const float off = fit.scale * q[i] - fit.less - x[i];
        fit.error += weights[i] * off * off;
    }
    if (fit.error < best->error) *best = fit;
}

/* tuning: scales; they divide the range into 12 to 16 levels, and more do not reduce the error; it is
 * 1.0001 of that of llama.cpp's quantize_row_q4_K_ref for normal numbers (Zen 5, 2026-11-29) */
enum { FIT_STEPS = 21 };

static group_fit fit_group(const float *x)
{
    float low, high, weights[32], squares = 0;
    block_range(x, 32, &low, &high);
    if (low > 0) low = 0;
    if (!(high > low)) return (group_fit){0, -low, 0};
    for (int i = 0; i < 32; i++) squares += x[i] * x[i];
    for (int i = 0; i < 32; i++) weights[i] = sqrtf(squares / 32) + fabsf(x[i]);
    group_fit best = {(high - low) / 15, -low, INFINITY};
    for (int step = 0; step < FIT_STEPS; step++)
        fit_levels(x, weights, low, (12 + 0.2F * (float)step) / (high - low), &best);
    return best;
}

/* The inverse of lt_block_scale. */
static void put_block_scale(uint8_t *s, int j, int scale, int less)
{
    if (j < 4) {
        s[j] = (uint8_t)((s[j] & 192) | scale);
        s[j + 4] = (uint8_t)((s[j + 4] & 192) | less);
    } else {
        s[j + 4] = (uint8_t)((scale & 15) | (less & 15) << 4);
        s[j - 4] = (uint8_t)((s[j - 4] & 63) | scale >> 4 << 6);
        s[j] = (uint8_t)((s[j] & 63) | less >> 4 << 6);
    }
}

static void encode_q4_k(const float *x, uint8_t *b)
{
    group_fit fits[8];
    float most_scale = 0, most_less = 0;
    for (int g = 0; g < 8; g++) {
        fits[g] = fit_group(x + 32 * g);
        most_scale = fmaxf(most_scale, fits[g].scale);
        most_less = fmaxf(most_less, fits[g].less);
    }
    memset(b, 0, 144);
    put_half(b, most_scale / 63);
    put_half(b + 2, most_less / 63);
    const float d = lt_block_half(b), m = lt_block_half(b + 2);
    const float by_scale = inverse_of(most_scale / 63), by_less = inverse_of(most_less / 63);
    for (int g = 0; g < 8; g++) {
        const int scale = clamp_level(fits[g].scale * by_scale + 0.5F, 63),
                  less = clamp_level(fits[g].less * by_less + 0.5F, 63), shift = g % 2 * 4;
        const float inverse = inverse_of(d * (float)scale), offset = m * (float)less;
        uint8_t *to = b + 16 + g / 2 * 32;
        put_block_scale(b + 4, g, scale, less);
        for (int i = 0; i < 32; i++) {
            const float level = rintf((x[32 * g + i] + offset) * inverse);
            to[i] |= (uint8_t)(clamp_level(level, 15) << shift);
        }
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_finite(const float *x, int64_t n)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * 0;
    return sum == 0;
}

static void encode_block(lt_block_format format, const float *x, uint8_t *b)
{
    if (!is_finite(x,
                   lt_block_formats[format].elements)) { /* d is the first number in each format */
        memset(b, 0, (size_t)lt_block_formats[format].bytes);
        put_half(b, NAN);
        return;
    }
    switch (format) {
    case LT_BLOCK_Q4_0: encode_symmetric(x, 8, b, b + 2, NULL); return;
    case LT_BLOCK_Q5_0: encode_symmetric(x, 16, b, b + 6, b + 2); return;
    case LT_BLOCK_Q4_1: encode_range(x, 15, b, b + 4, NULL); return;
    case LT_BLOCK_Q5_1: encode_range(x, 31, b, b + 8, b + 4); return;
    case LT_BLOCK_Q8_0: encode_q8_0(x, b); return;
    default: encode_q4_k(x, b); return;
    }
}

typedef struct encode_job {
    lt_block_format format;
    int64_t blocks;
    const float *in;
    uint8_t *out;
    _Atomic int64_t next; /* block that no thread has begun */
} encode_job;

/* tuning: blocks per step of a thread; a step costs more than taking it; 64 take 7 us in formats of
 * 32 elements, 1.3 ms in q4_k (Zen 5, 2026-11-29) */
enum { PIECE = 64 };

static void encode_blocks(void *argument, int index)
{
    encode_job *j = argument;
    (void)index;
    for (;;) {
        const int64_t from = atomic_fetch_add(&j->next, PIECE);
        if (from >= j->blocks) return;
        for (int64_t k = from; k < from + PIECE && k < j->blocks; k++)
            encode_block(j->format, j->in + k * lt_block_formats[j->format].elements,
                         j->out + k * lt_block_formats[j->format].bytes);
    }
}

/* ---- the op ---------------------------------------------------------------------------------- */

static lt_status find_written(const char *scheme, lt_block_format *out)
{
    if (lt_find_block_format(scheme, out) && (*out <= LT_BLOCK_Q8_0 || *out == LT_BLOCK_Q4_K))
        return LT_OK;
    return lt_error(LT_ERR_TYPE,
                    "quantize_blocks(): the scheme '%.20s' is not written; use q4_0, q4_1, q5_0, "
                    "q5_1, q8_0 or q4_k",
                    scheme);
}

static lt_status check_floats(const lt_tensor *t, lt_block_format format)
{
    const int64_t elements = lt_block_formats[format].elements,
                  row = t->ndim > 0 ? t->sizes[t->ndim - 1] : 1;
    if (t->device.type != LT_CPU)
        return lt_error(LT_ERR_TYPE, "quantize_blocks() runs on the CPU, the tensor is on a GPU; "
                                     "quantize on the CPU and move the result");
    if (!lt_dtype_is_float((lt_dtype)t->dtype))
        return lt_error(LT_ERR_TYPE, "quantize_blocks(): expected floats, got %s",
                        lt_dtype_name((lt_dtype)t->dtype));
    if (row % elements != 0)
        return lt_error(LT_ERR_TYPE,
                        "quantize_blocks(): a row has %lld elements, which is no multiple of a "
                        "block of %s, %lld elements; pad the rows or use another scheme",
                        (long long)row, lt_block_formats[format].name, (long long)elements);
    return LT_OK;
}

lt_status lt_quantize_blocks_impl(lt_tensor *self, const char *scheme, lt_tensor **out)
{
    lt_block_format format;
    int64_t sizes[LT_MAX_DIMS];
    lt_tensor *wide = NULL, *floats = NULL, *result = NULL;
    lt_status status = LT_OK;
    LT_TRY(find_written(scheme, &format));
    LT_TRY(check_floats(self, format));
    memcpy(sizes, self->sizes, sizeof sizes);
    sizes[self->ndim - 1] =
        sizes[self->ndim - 1] / lt_block_formats[format].elements * lt_block_formats[format].bytes;
    LT_CHECK(lt_to_dtype(self, LT_FLOAT32, false, false, &wide));
    LT_CHECK(lt_make_contiguous(wide, &floats));
    LT_CHECK(lt_tensor_new(LT_UINT8, self->device, self->ndim, sizes, &result));
    encode_job j = {
        .format = format,
        .blocks = floats->numel / lt_block_formats[format].elements,
        .in = (const float *)(void *)lt_data(floats),
        .out = (uint8_t *)lt_data(result),
    };
    lt_pool_run(j.blocks > PIECE ? lt_get_num_threads() : 1, encode_blocks, &j);
    *out = result;
    result = NULL;
done:
    lt_tensor_release(wide);
    lt_tensor_release(floats);
    lt_tensor_release(result);
    return status;
}
