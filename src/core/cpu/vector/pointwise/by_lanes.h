/* by_lanes.h - loops over functions with vector versions that select an algorithm by all elements
 * of a vector, fail for some elements, or have a fast path that requires all elements to be in a
 * range. Here, the algorithm of an element depends on that element alone: elements are grouped into
 * vectors by algorithm, or computed one at a time. Included after instantiate.h or steady.h. */
#ifndef LT_CPU_BY_LANES_H
#define LT_CPU_BY_LANES_H

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "steady_blocks.h"

/* Prevents vectorization of a call for a single element. */
#if defined(__clang__)
#define ALONE __attribute__((noinline)) static
#else
#define ALONE __attribute__((noinline, noclone)) static
#endif

/* ---- angles ---------------------------------------------------------------------------------- */

/* Angles below NEAR use our functions, except for tan of double. SLEEF's sin, cos and tan choose a
 * range reduction for the whole vector: a single step if all angles are below 15 (float: 125),
 * otherwise by the largest. So angles from NEAR to FAR get separate vectors, padded with NEAR.
 * Angles of double from FAR on, nan and infinity use libm. */
#define NEAR_sin_f32 NEAR_ANGLE
#define NEAR_cos_f32 NEAR_ANGLE
#define NEAR_tan_f32 NEAR_ANGLE
#define FAR_f32      INFINITY
#define NEAR_sin_f64 5e4
#define NEAR_cos_f64 5e4
#define NEAR_tan_f64 15.0
#define FAR_f64      1e14
#define near_sin_f32 near_sinf
#define near_cos_f32 near_cosf
#define near_tan_f32 near_tanf
#define near_sin_f64 vector_sin
#define near_cos_f64 vector_cos
#define near_tan_f64 lt_tan_f64

/* ---- fast paths ------------------------------------------------------------------------------ */

/* Elements of magnitude BELOW_erf or more, which near_erf_f64 does not support, are compacted into
 * an array of at most LT_BLOCK, computed LT_LANES at a time in place by erf_far_f64, and scattered
 * back. */

#ifdef __AVX512F__
typedef struct collected {
    double far[LT_BLOCK];
    __mmask8 places[LT_BLOCK / 8];
} collected;

/* Compacts the elements of magnitude `least` or more into c->far and returns their number. n is a
 * multiple of LT_LANES. */
static inline int64_t collect(collected *c, const double *x, int64_t n, double least)
{
    int64_t beyond = 0;
    for (int64_t j = 0; j < n; j += 8) {
        const __m512d at = _mm512_loadu_pd(x + j);
        const __mmask8 m = c->places[j / 8] =
            _mm512_cmp_pd_mask(_mm512_abs_pd(at), _mm512_set1_pd(least), _CMP_NLT_UQ);
        _mm512_storeu_pd(c->far + beyond, _mm512_maskz_compress_pd(m, at));
        beyond += __builtin_popcount(m);
    }
    return beyond;
}

static inline void put_back(const collected *c, double *y, int64_t n)
{
    const double *from = c->far;
    for (int64_t j = 0; j < n; j += 8) {
        _mm512_mask_storeu_pd(y + j, c->places[j / 8],
                              _mm512_maskz_expandloadu_pd(c->places[j / 8], from));
        from += __builtin_popcount(c->places[j / 8]);
    }
}
#else
typedef struct collected {
    double far[LT_BLOCK];
    uint16_t places[LT_BLOCK];
    int64_t beyond;
} collected;

static inline int64_t collect(collected *c, const double *x, int64_t n, double least)
{
    int beyond = 0;
    _Pragma("omp simd reduction(+ : beyond)") for (int64_t j = 0; j < n; j++) beyond +=
        !(__builtin_fabs(x[j]) < least);
    c->beyond = 0;
    for (int64_t j = 0; j < n && c->beyond < beyond; j++) {
        c->far[c->beyond] = x[j];
        c->places[c->beyond] = (uint16_t)j;
        c->beyond += !(__builtin_fabs(x[j]) < least);
    }
    return c->beyond;
}

static inline void put_back(const collected *c, double *y, int64_t n)
{
    (void)n;
    for (int64_t j = 0; j < c->beyond; j++) y[c->places[j]] = c->far[j];
}
#endif

/* near(x) is the formula for elements of magnitude below `below`; far() replaces LT_LANES others by
 * their results. */
static inline __attribute__((always_inline)) void by_parts_f64(char *const *ptrs,
                                                               const int64_t *strides, int64_t n,
                                                               double below, double (*near)(double),
                                                               void (*far)(double *))
{
    _Alignas(64) double x[LT_LANES], y[LT_LANES];
    _Alignas(64) collected c;
    for (int64_t i = 0, count; i < n; i += count) {
        const double *in = steady_in(x, ptrs[1], strides[1], sizeof *x, i, n);
        double *out = steady_out(y, ptrs[0], strides[0], sizeof *y, i, n);
        count = in == x || out == y ? LT_LANES : steady_run(i, n, LT_BLOCK);
        const int64_t beyond = collect(&c, in, count, below);
        for (int64_t k = 0; k < count && beyond < count; k += LT_LANES) {
            steady_fetch(in + k, LT_LANES * sizeof *in);
            SIMD for (int j = 0; j < LT_LANES; j++) out[k + j] = near(in[k + j]);
        }
        for (int64_t j = beyond; j % LT_LANES != 0; j++) c.far[j] = c.far[0];
        for (int64_t k = 0; k < beyond; k += LT_LANES) far(c.far + k);
        if (beyond > 0) put_back(&c, out, count);
        if (out == y) steady_store(ptrs[0], strides[0], y, sizeof *y, i, n);
    }
}

#define LOOP_PARTED(name, NAME, s, T, D)                                                           \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        by_parts_##s(ptrs, strides, n, BELOW_##name, near_##name##_##s, name##_far_##s);           \
    }

/* ---- remainders ------------------------------------------------------------------------------ */

/* SLEEF's fmod does not cover its whole type: it returns nan for the largest quotients and flushes
 * subnormal numbers. Operands with magnitudes in this range use SLEEF, others libm. */
#define LEAST_f32 0x1p-60f
#define MOST_f32  0x1p60f
#define LEAST_f64 0x1p-450
#define MOST_f64  0x1p450

/* For quotients below these limits, trunc(x / y) is exact, or too large by one if x / y was rounded
 * up to it. The remainder by a fused multiply-add is exact then; it is negative if one too many was
 * subtracted. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define QUOTIENT_f32 0x1p22f
#define QUOTIENT_f64 0x1p51
#else
#define QUOTIENT_f32 0
#define QUOTIENT_f64 0
#endif
#define magnitude_f32 __builtin_fabsf
#define magnitude_f64 __builtin_fabs
#define truncated_f32 __builtin_truncf
#define truncated_f64 __builtin_trunc
#define fused_f32     __builtin_fmaf
#define fused_f64     __builtin_fma
#define signed_as_f32 __builtin_copysignf
#define signed_as_f64 __builtin_copysign

/* ---- divisions ------------------------------------------------------------------------------- */

/* Whether y is a power of two and 1 / y is neither subnormal nor infinite. */
static inline bool inverts_f32(float y)
{
    const uint32_t bits = lt_float_to_bits(y), exponent = bits >> 23 & 0xff;
    return (bits & 0x7fffff) == 0 && exponent > 0 && exponent < 0xfe;
}
static inline bool inverts_f64(double y)
{
    const uint64_t bits = vector_double_to_bits(y), exponent = bits >> 52 & 0x7ff;
    return (bits & 0xfffffffffffff) == 0 && exponent > 0 && exponent < 0x7fe;
}

/* ---- integer quotients ----------------------------------------------------------------------- */

/* Processors divide integers one at a time, but several doubles. For operands from -2^50 to 2^50,
 * the double quotient rounded to an integer is the floor or the next integer; the exact remainder
 * shows which. Adding 1.5 2^52 converts between such integers and double. */
static inline double whole_as_double(int64_t a)
{
    return vector_bits_to_double((uint64_t)a + 0x4338000000000000u) - 0x1.8p52;
}
static inline int64_t double_as_whole(double a)
{
    return (int64_t)(vector_double_to_bits(a + 0x1.8p52) - 0x4338000000000000u);
}

static inline bool within_double(int64_t a, int64_t b)
{
    const uint64_t most = (uint64_t)1 << 50;
    return ((uint64_t)a + most <= 2 * most) & ((uint64_t)b + most <= 2 * most) & (b != 0);
}

/* The floor of x / y, and the remainder, which has the sign of y. */
static inline double whole_quotient(double x, double y, double *rest)
{
    const double q = (x / y + 0x1.8p52) - 0x1.8p52, r = x - q * y;
    const bool below = (r != 0) & ((r < 0) != (y < 0));
    *rest = below ? r + y : r;
    return below ? q - 1 : q;
}

static inline int64_t near_floor_divide(int64_t a, int64_t b)
{
    double rest;
    return double_as_whole(whole_quotient(whole_as_double(a), whole_as_double(b), &rest));
}

static inline int64_t near_remainder(int64_t a, int64_t b)
{
    double rest;
    whole_quotient(whole_as_double(a), whole_as_double(b), &rest);
    return double_as_whole(rest);
}

static inline __attribute__((always_inline)) void
by_whole_quotient(char *const *ptrs, const int64_t *strides, int64_t n,
                  int64_t (*near)(int64_t, int64_t), int64_t (*formula)(int64_t, int64_t))
{
    _Alignas(64) int64_t x[2][LT_LANES], y[LT_LANES];
    for (int64_t i = 0; i < n; i += LT_LANES) {
        const int64_t *a = steady_in(x[0], ptrs[1], strides[1], sizeof *y, i, n);
        const int64_t *b = steady_in(x[1], ptrs[2], strides[2], sizeof *y, i, n);
        int64_t *out = steady_out(y, ptrs[0], strides[0], sizeof *y, i, n);
        steady_fetch(a, LT_LANES * sizeof *a);
        steady_fetch(b, LT_LANES * sizeof *b);
        int beyond = 0;
        _Pragma("omp simd reduction(+ : beyond)") for (int j = 0; j < LT_LANES; j++) beyond +=
            !within_double(a[j], b[j]);
        if (beyond == 0)
            SIMD for (int j = 0; j < LT_LANES; j++) out[j] = near(a[j], b[j]);
        else
            for (int j = 0; j < LT_LANES; j++) out[j] = formula(a[j], b[j]);
        if (out == y) steady_store(ptrs[0], strides[0], y, sizeof *y, i, n);
    }
}

#define LOOP_WHOLE_QUOTIENT(name, NAME, s, T, D)                                                   \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        by_whole_quotient(ptrs, strides, n, near_##name, lt_##name##_##s);                         \
    }

/* ---- loops in float and double --------------------------------------------------------------- */

#define LOOPS "cpu/vector/pointwise/by_lanes.inc"
#include "cpu/common/both_floats.h"

#define LOOP_ANGLE(name, NAME, s, T, D)                                                            \
    ALONE T name##_alone_##s(T x) { return lt_##name##_##s(x); }                                   \
    static void name##_mixed_##s(const T *in, T *out)                                              \
    {                                                                                              \
        mixed_angles_##s(in, out, NEAR_##name##_##s, near_##name##_##s, lt_##name##_##s,           \
                         name##_alone_##s);                                                        \
    }                                                                                              \
    static inline bool is_near_##name##_##s(T x)                                                   \
    {                                                                                              \
        return (x < NEAR_##name##_##s) & (x > -NEAR_##name##_##s);                                 \
    }                                                                                              \
    LOOP_BY_RANGE(name, s, LT_BLOCK, name##_mixed_##s)

/* If is_near_exp_f64 holds, near_exp_f64 returns the same as lt_exp_f64 with less work. RUN_exp
 * elements are tested at a time. */
#define LOOP_NEAR(name, NAME, s, T, D)                                                             \
    static inline void name##_beyond_##s(const T *in, T *out)                                      \
    {                                                                                              \
        SIMD for (int j = 0; j < LT_LANES; j++) out[j] = lt_##name##_##s(in[j]);                   \
    }                                                                                              \
    LOOP_BY_RANGE(name, s, RUN_##name, name##_beyond_##s)

#define LOOP_BY_RANGE(name, s, run, beyond)                                                        \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        by_range_##s(ptrs, strides, n, run, is_near_##name##_##s, near_##name##_##s, beyond);      \
    }

#define LOOP_QUOTIENT(name, NAME, s, T, D)                                                         \
    ALONE T name##_alone_##s(T a, T b) { return lt_##name##_##s(a, b); }                           \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        by_quotient_##s(ptrs, strides, n, lt_##name##_from_##s, lt_##name##_##s,                   \
                        name##_alone_##s);                                                         \
    }

#define LOOP_DIVISION(name, NAME, s, T, D)                                                         \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        if (divide_by_power_##s(ptrs, strides, n)) return;                                         \
        BINARY_BODY(T, T, lt_##name##_##s)                                                         \
    }

#endif
