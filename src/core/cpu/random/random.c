/* random.c - distributions on the CPU, by PyTorch's transforms of the same raw numbers, so that a
 * seed yields PyTorch's values. Numbers are drawn serially, in the order of elements. Outputs are
 * contiguous. An interrupt leaves the remaining output unchanged. */
#include <math.h>

#include "context/interrupt.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "cpu/common/loops.h"
#include "dtypes/half.h"
#include "error.h"
#include "pointwise_ops.h"
#include "cpu/common/sizes.h"

#define TWO_PI 6.283185307179586476925286766559

/* The condition of every loop over elements. */
static inline bool more(int64_t i, int64_t n) { return i < n && !lt_interrupted(); }

/* Uniform in [0, 1). */
static float uniform_float(lt_generator *g)
{
    uint32_t mask = (UINT32_C(1) << 24) - 1;
    return (float)(lt_generator_next32(g) & mask) * (1.0f / (float)(UINT32_C(1) << 24));
}

static void store_float(void *data, lt_dtype dtype, int64_t i, float x)
{
    switch (dtype) {
    case LT_FLOAT16: ((lt_half *)data)[i] = lt_float_to_half(x); break;
    case LT_BFLOAT16: ((lt_bfloat16 *)data)[i] = lt_float_to_bfloat16(x); break;
    case LT_FLOAT32: ((float *)data)[i] = x; break;
    default: ((double *)data)[i] = x; break;
    }
}

static float round_to(lt_dtype dtype, float x)
{
    if (dtype == LT_FLOAT16) return lt_half_to_float(lt_float_to_half(x));
    return dtype == LT_BFLOAT16 ? lt_bfloat16_to_float(lt_float_to_bfloat16(x)) : x;
}

/* n uniform numbers in [0, 1). */
static void uniforms(float *x, int64_t n, lt_generator *g)
{
    uint32_t raw[LT_BLOCK];
    for (int64_t at = 0; more(at, n); at += LT_BLOCK) {
        const int64_t m = n - at < LT_BLOCK ? n - at : LT_BLOCK;
        lt_generator_fill32(g, raw, m);
#pragma omp simd
        for (int64_t i = 0; i < m; i++) x[at + i] = (float)(int32_t)(raw[i] & 0xffffff) * 0x1p-24f;
    }
}

/* As in PyTorch's builds: half types are computed in float, scaled by a fused multiply-add. If
 * rounding reaches the upper bound, which is excluded, the result is the lower bound. */
static void uniform(const lt_array *out, int64_t n, double from, double to, lt_generator *g)
{
    if (out->dtype == LT_FLOAT64) {
        double *x = out->data;
        for (int64_t i = 0; more(i, n); i++) {
            const double v = fma(lt_generator_uniform(g), to - from, from);
            x[i] = v >= to ? from : v;
        }
        return;
    }
    const float low = (float)from, high = (float)to, bound = round_to(out->dtype, high);
    if (out->dtype == LT_FLOAT32 && low == 0 && high == 1) {
        uniforms(out->data, n, g);
        return;
    }
    for (int64_t i = 0; more(i, n); i++) {
        const float v = round_to(out->dtype, fmaf(uniform_float(g), high - low, low));
        store_float(out->data, out->dtype, i, v >= bound ? low : v);
    }
}

/* Box-Muller: each group of 16 uniform numbers, eight radii and eight angles, becomes 16 normal
 * ones. */
static void normal_groups(float *x, int64_t groups, float mean, float deviation)
{
    enum { GROUPS = LT_SHORT_SLICE, EACH = 8 /* fixed: PyTorch pairs numbers 8 apart */ };
    float radius[GROUPS * EACH], angle[GROUPS * EACH], turned[GROUPS * EACH];
    const int64_t dense[] = {sizeof(float), sizeof(float)};
    for (int64_t done = 0; more(done, groups); done += GROUPS) {
        const int64_t now = groups - done < GROUPS ? groups - done : GROUPS, n = now * EACH;
        float *at = x + done * 2 * EACH;
        for (int64_t i = 0; i < n; i++) {
            const int64_t place = i / EACH * 2 * EACH + i % EACH;
            radius[i] = 1 - at[place];
            angle[i] = (float)TWO_PI * at[place + EACH];
        }
        lt_pointwise_loops[LT_PW_LOG][LT_FLOAT32]((char *[]){(char *)radius, (char *)radius}, dense,
                                                  n, NULL);
        for (int64_t i = 0; i < n; i++) radius[i] = sqrtf(-2 * radius[i]);
        lt_pointwise_loops[LT_PW_COS][LT_FLOAT32]((char *[]){(char *)turned, (char *)angle}, dense,
                                                  n, NULL);
        for (int64_t i = 0; i < n; i++)
            at[i / EACH * 2 * EACH + i % EACH] = radius[i] * turned[i] * deviation + mean;
        lt_pointwise_loops[LT_PW_SIN][LT_FLOAT32]((char *[]){(char *)turned, (char *)angle}, dense,
                                                  n, NULL);
        for (int64_t i = 0; i < n; i++)
            at[i / EACH * 2 * EACH + EACH + i % EACH] = radius[i] * turned[i] * deviation + mean;
    }
}

static void normal_16_double(double *x, double mean, double deviation)
{
    for (int j = 0; j < 8; j++) {
        double u1 = 1 - x[j], u2 = x[j + 8];
        double radius = sqrt(-2 * log(u1)), theta = TWO_PI * u2;
        x[j] = radius * cos(theta) * deviation + mean;
        x[j + 8] = radius * sin(theta) * deviation + mean;
    }
}

/* If n is no multiple of 16, the last 16 are drawn again. */
static void normal_float(float *x, int64_t n, float mean, float deviation, lt_generator *g)
{
    uniforms(x, n, g);
    normal_groups(x, n / 16, mean, deviation);
    if (n % 16 == 0) return;
    uniforms(x + n - 16, 16, g);
    normal_groups(x + n - 16, 1, mean, deviation);
}

static void normal_double(double *x, int64_t n, double mean, double deviation, lt_generator *g)
{
    for (int64_t i = 0; more(i, n); i++) x[i] = lt_generator_uniform(g);
    for (int64_t i = 0; more(i + 15, n); i += 16) normal_16_double(x + i, mean, deviation);
    if (n % 16 == 0) return;
    for (int64_t i = n - 16; i < n; i++) x[i] = lt_generator_uniform(g);
    normal_16_double(x + n - 16, mean, deviation);
}

static void store_number(const lt_array *out, int64_t i, double x)
{
    if (out->dtype == LT_FLOAT64)
        ((double *)out->data)[i] = x;
    else
        store_float(out->data, out->dtype, i, (float)x);
}

static void normal_singly(const lt_array *out, int64_t n, double mean, double deviation,
                          lt_generator *g)
{
    for (int64_t i = 0; more(i, n); i++)
        store_number(out, i, lt_generator_normal(g) * deviation + mean);
}

/* In float, 16 numbers at a time; the last 16 are drawn again if n is no multiple of 16. */
static void normal_half(const lt_array *out, int64_t n, float mean, float deviation,
                        lt_generator *g)
{
    for (int64_t i = 0; more(i, n); i += 16) {
        float x[16];
        int64_t at = i + 16 <= n ? i : n - 16;
        uniforms(x, 16, g);
        normal_groups(x, 1, mean, deviation);
        for (int j = 0; j < 16; j++) store_float(out->data, out->dtype, at + j, x[j]);
    }
}

static void normal(const lt_array *out, int64_t n, double mean, double deviation, lt_generator *g)
{
    if (n < 16)
        normal_singly(out, n, mean, deviation, g);
    else if (out->dtype == LT_FLOAT64)
        normal_double(out->data, n, mean, deviation, g);
    else if (out->dtype == LT_FLOAT32)
        normal_float(out->data, n, (float)mean, (float)deviation, g);
    else
        normal_half(out, n, (float)mean, (float)deviation, g);
}

static void store_int(void *data, lt_dtype dtype, int64_t i, int64_t x)
{
    switch (dtype) {
    case LT_BOOL: ((uint8_t *)data)[i] = x != 0; break;
    case LT_UINT8:
    case LT_INT8: ((uint8_t *)data)[i] = (uint8_t)x; break;
    case LT_INT16: ((int16_t *)data)[i] = (int16_t)x; break;
    case LT_INT32: ((int32_t *)data)[i] = (int32_t)x; break;
    case LT_INT64: ((int64_t *)data)[i] = x; break;
    case LT_FLOAT64: ((double *)data)[i] = (double)x; break;
    default: store_float(data, dtype, i, (float)x); break;
    }
}

/* Draws 64 bits for ranges from 2^28 on, where 32 bits would be biased noticeably. */
static void draw_integers(const lt_array *out, int64_t n, int64_t from, int64_t to, lt_generator *g)
{
    /* for all of int64: 2^64 - 1 */
    const uint64_t base = (uint64_t)from, range = (uint64_t)to - base;
    const int64_t size = (int64_t)lt_dtype_size(out->dtype);
    uint32_t raw[LT_BLOCK];
    int64_t drawn[LT_BLOCK];
    for (int64_t at = 0; more(at, n); at += LT_BLOCK) {
        const int64_t m = n - at < LT_BLOCK ? n - at : LT_BLOCK;
        if (range >> 28 == 0) {
            lt_generator_fill32(g, raw, m);
            for (int64_t i = 0; i < m; i++) drawn[i] = (int64_t)(raw[i] % (uint32_t)range + base);
        } else {
            for (int64_t i = 0; i < m; i++)
                drawn[i] = (int64_t)(lt_generator_next64(g) % range + base);
        }
        lt_loops.cast[out->dtype][LT_INT64](
            (char *[]){(char *)out->data + at * size, (char *)drawn},
            (int64_t[]){size, sizeof *drawn}, m, NULL);
    }
}

static void full_range(const lt_array *out, int64_t n, lt_generator *g)
{
    static const uint64_t limits[LT_DTYPE_COUNT] = {
        [LT_BOOL] = 2,
        [LT_UINT8] = UINT64_C(1) << 8,
        [LT_INT8] = UINT64_C(1) << 7,
        [LT_INT16] = UINT64_C(1) << 15,
        [LT_INT32] = UINT64_C(1) << 31,
        [LT_INT64] = UINT64_C(1) << 63,
        [LT_FLOAT16] = (UINT64_C(1) << 11) + 1,
        [LT_BFLOAT16] = (UINT64_C(1) << 8) + 1,
        [LT_FLOAT32] = (UINT64_C(1) << 24) + 1,
        [LT_FLOAT64] = (UINT64_C(1) << 53) + 1,
    };
    bool wide = out->dtype == LT_INT64 || out->dtype == LT_FLOAT64;
    for (int64_t i = 0; more(i, n); i++) {
        uint64_t raw = wide ? lt_generator_next64(g) : lt_generator_next32(g);
        store_int(out->data, out->dtype, i, (int64_t)(raw % limits[out->dtype]));
    }
}

/* Uniform numbers as from lt_generator_uniform, a block at a time. */
static void bernoulli(const lt_array *out, int64_t n, double probability, lt_generator *g)
{
    uint32_t raw[2 * LT_BLOCK];
    uint8_t chosen[LT_BLOCK];
    const int64_t size = (int64_t)lt_dtype_size(out->dtype);
    for (int64_t at = 0; more(at, n); at += LT_BLOCK) {
        const int64_t m = n - at < LT_BLOCK ? n - at : LT_BLOCK;
        lt_generator_fill32(g, raw, 2 * m);
        for (int64_t i = 0; i < m; i++) {
            const uint64_t bits =
                ((uint64_t)raw[2 * i] << 32 | raw[2 * i + 1]) & ((UINT64_C(1) << 53) - 1);
            chosen[i] = (double)(int64_t)bits * 0x1p-53 < probability;
        }
        lt_loops.cast[out->dtype][LT_BOOL](
            (char *[]){(char *)out->data + at * size, (char *)chosen}, (int64_t[]){size, 1}, m,
            NULL);
    }
}

/* The same uniform numbers u, a block at a time; 1 - u is exact. */
static void exponential(const lt_array *out, int64_t n, double rate, lt_generator *g)
{
    uint32_t raw[2 * LT_BLOCK];
    double x[LT_BLOCK];
    const int64_t dense[] = {sizeof *x, sizeof *x};
    for (int64_t at = 0; more(at, n); at += LT_BLOCK) {
        const int64_t m = n - at < LT_BLOCK ? n - at : LT_BLOCK;
        lt_generator_fill32(g, raw, 2 * m);
        for (int64_t i = 0; i < m; i++) {
            const uint64_t bits =
                ((uint64_t)raw[2 * i] << 32 | raw[2 * i + 1]) & ((UINT64_C(1) << 53) - 1);
            x[i] = 1 - (double)(int64_t)bits * 0x1p-53;
        }
        lt_pointwise_loops[LT_PW_LOG][LT_FLOAT64]((char *[]){(char *)x, (char *)x}, dense, m, NULL);
        for (int64_t i = 0; i < m; i++)
            store_number(out, at + i, (0 - x[i]) * (1 / rate)); /* never -0 */
    }
}

/* Fisher-Yates shuffle. The elements to be exchanged are at random addresses, so they are
 * prefetched a block at a time. */
static void permutation(int64_t *x, int64_t n, lt_generator *g)
{
    uint32_t raw[LT_BLOCK];
    int64_t other[LT_BLOCK];
    for (int64_t i = 0; more(i, n); i++) x[i] = i;
    for (int64_t at = 0; more(at, n - 1); at += LT_BLOCK) {
        const int64_t m = n - 1 - at < LT_BLOCK ? n - 1 - at : LT_BLOCK;
        lt_generator_fill32(g, raw, m);
        for (int64_t i = 0; i < m; i++) {
            other[i] = at + i + (int64_t)(raw[i] % (uint64_t)(n - at - i));
            __builtin_prefetch(x + other[i], 1);
        }
        for (int64_t i = 0; i < m; i++) {
            const int64_t value = x[at + i];
            x[at + i] = x[other[i]];
            x[other[i]] = value;
        }
    }
}

static const char *const names[] = {
    [LT_RANDOM_UNIFORM] = "uniform",         [LT_RANDOM_NORMAL] = "normal",
    [LT_RANDOM_NORMAL_SINGLY] = "normal",    [LT_RANDOM_INTEGERS] = "random",
    [LT_RANDOM_FULL_RANGE] = "random",       [LT_RANDOM_BERNOULLI] = "bernoulli",
    [LT_RANDOM_EXPONENTIAL] = "exponential", [LT_RANDOM_PERMUTATION] = "randperm"};

static bool supports(lt_distribution what, lt_dtype dtype)
{
    switch (what) {
    case LT_RANDOM_UNIFORM:
    case LT_RANDOM_NORMAL:
    case LT_RANDOM_NORMAL_SINGLY:
    case LT_RANDOM_EXPONENTIAL: return lt_dtype_is_float(dtype);
    case LT_RANDOM_PERMUTATION: return dtype == LT_INT64;
    default: return true;
    }
}

lt_status lt_cpu_random(lt_distribution what, const lt_array *out, lt_scalar from, lt_scalar to,
                        lt_generator *generator)
{
    const double a = lt_scalar_double(from), b = lt_scalar_double(to);
    if (!supports(what, out->dtype))
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", names[what],
                        lt_dtype_scalar_name(out->dtype));
    int64_t n = 1;
    for (int d = 0; d < out->ndim; d++) n *= out->sizes[d];
    switch (what) {
    case LT_RANDOM_UNIFORM: uniform(out, n, a, b, generator); break;
    case LT_RANDOM_NORMAL: normal(out, n, a, b, generator); break;
    case LT_RANDOM_NORMAL_SINGLY: normal_singly(out, n, a, b, generator); break;
    case LT_RANDOM_INTEGERS: draw_integers(out, n, from.v.i, to.v.i, generator); break;
    case LT_RANDOM_FULL_RANGE: full_range(out, n, generator); break;
    case LT_RANDOM_BERNOULLI: bernoulli(out, n, a, generator); break;
    case LT_RANDOM_EXPONENTIAL: exponential(out, n, a, generator); break;
    case LT_RANDOM_PERMUTATION: permutation(out->data, n, generator); break;
    }
    return lt_interrupted() ? lt_stopped() : LT_OK;
}
