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

/* Processes `run` elements at a time: if NEAR_TEST holds for all, by the fast path near_<name>,
 * otherwise each vector by BEYOND. */
#define LOOP_LOOKED_AT(name, s, T, run, NEAR_TEST, BEYOND)                                         \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        _Alignas(64) T x[LT_LANES], y[LT_LANES];                                                   \
        for (int64_t i = 0, count; i < n; i += count) {                                            \
            const T *in = steady_in(x, ptrs[1], strides[1], sizeof(T), i, n);                      \
            T *out = steady_out(y, ptrs[0], strides[0], sizeof(T), i, n);                          \
            count = in == x || out == y ? LT_LANES : steady_run(i, n, run);                        \
            int beyond = 0;                                                                        \
            _Pragma("omp simd reduction(+ : beyond)") for (int j = 0; j < count; j++) beyond +=    \
                !NEAR_TEST(name, s, in[j]);                                                        \
            for (int64_t k = 0; k < count && beyond == 0; k += LT_LANES) {                         \
                steady_fetch(in + k, LT_LANES * sizeof(T));                                        \
                SIMD for (int j = 0; j < LT_LANES; j++) out[k + j] = near_##name##_##s(in[k + j]); \
            }                                                                                      \
            for (int64_t k = 0; k < count && beyond > 0; k += LT_LANES)                            \
                BEYOND(name, s, in + k, out + k)                                                   \
            if (out == y) steady_store(ptrs[0], strides[0], y, sizeof(T), i, n);                   \
        }                                                                                          \
    }

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

/* Computes vectors that contain elements beyond NEAR. */
#define MIXED_ANGLES(name, s, T)                                                                   \
    ALONE T name##_alone_##s(T x) { return lt_##name##_##s(x); }                                   \
    static void name##_beyond_##s(const T *x, T *y)                                                \
    {                                                                                              \
        _Alignas(64) T far[LT_LANES], result[LT_LANES];                                            \
        int alone = 0;                                                                             \
        _Pragma("omp simd reduction(+ : alone)") for (int j = 0; j < LT_LANES; j++)                \
        {                                                                                          \
            const T a = x[j] < 0 ? -x[j] : x[j];                                                   \
            far[j] = a >= NEAR_##name##_##s && a < FAR_##s ? x[j] : NEAR_##name##_##s;             \
            alone += !(a < FAR_##s);                                                               \
        }                                                                                          \
        SIMD for (int j = 0; j < LT_LANES; j++) result[j] = lt_##name##_##s(far[j]);               \
        SIMD for (int j = 0; j < LT_LANES; j++) y[j] =                                             \
            (x[j] < 0 ? -x[j] : x[j]) >= NEAR_##name##_##s ? result[j] : y[j];                     \
        for (int j = 0; j < LT_LANES && alone > 0; j++)                                            \
            if (!((x[j] < 0 ? -x[j] : x[j]) < FAR_##s)) y[j] = name##_alone_##s(x[j]);             \
    }                                                                                              \
    static void name##_mixed_##s(const T *in, T *out)                                              \
    {                                                                                              \
        _Alignas(64) T x[LT_LANES], near[LT_LANES];                                                \
        memcpy(x, in, sizeof x); /* out may equal in */                                            \
        SIMD for (int j = 0; j < LT_LANES; j++) near[j] =                                          \
            (x[j] < 0 ? -x[j] : x[j]) < NEAR_##name##_##s ? x[j] : 0;                              \
        SIMD for (int j = 0; j < LT_LANES; j++) out[j] = near_##name##_##s(near[j]);               \
        name##_beyond_##s(x, out);                                                                 \
    }

#define IS_NEAR_ANGLE(name, s, x)     (((x) < NEAR_##name##_##s) & ((x) > -NEAR_##name##_##s))
#define MIXED_ANGLE(name, s, in, out) name##_mixed_##s(in, out);
#define LOOP_ANGLE(name, NAME, s, T, D)                                                            \
    MIXED_ANGLES(name, s, T)                                                                       \
    LOOP_LOOKED_AT(name, s, T, LT_BLOCK, IS_NEAR_ANGLE, MIXED_ANGLE)

/* ---- fast paths ------------------------------------------------------------------------------ */

/* If is_near_exp_f64 holds, near_exp_f64 returns the same as lt_exp_f64 with less work. RUN_exp
 * elements are tested at a time. */
#define IS_NEAR(name, s, x) is_near_##name##_##s(x)
#define BEYOND(name, s, in, out)                                                                   \
    SIMD for (int j = 0; j < LT_LANES; j++)(out)[j] = lt_##name##_##s((in)[j]);
#define LOOP_NEAR(name, NAME, s, T, D) LOOP_LOOKED_AT(name, s, T, RUN_##name, IS_NEAR, BEYOND)

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

#define LOOP_PARTED(name, NAME, s, T, D)                                                           \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        _Alignas(64) T x[LT_LANES], y[LT_LANES];                                                   \
        _Alignas(64) collected c;                                                                  \
        for (int64_t i = 0, count; i < n; i += count) {                                            \
            const T *in = steady_in(x, ptrs[1], strides[1], sizeof(T), i, n);                      \
            T *out = steady_out(y, ptrs[0], strides[0], sizeof(T), i, n);                          \
            count = in == x || out == y ? LT_LANES : steady_run(i, n, LT_BLOCK);                   \
            const int64_t beyond = collect(&c, in, count, BELOW_##name);                           \
            for (int64_t k = 0; k < count && beyond < count; k += LT_LANES) {                      \
                steady_fetch(in + k, LT_LANES * sizeof(T));                                        \
                SIMD for (int j = 0; j < LT_LANES; j++) out[k + j] = near_##name##_##s(in[k + j]); \
            }                                                                                      \
            for (int64_t j = beyond; j % LT_LANES != 0; j++) c.far[j] = c.far[0];                  \
            for (int64_t k = 0; k < beyond; k += LT_LANES) name##_far_##s(c.far + k);              \
            if (beyond > 0) put_back(&c, out, count);                                              \
            if (out == y) steady_store(ptrs[0], strides[0], y, sizeof(T), i, n);                   \
        }                                                                                          \
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
#if defined(__FMA__) || defined(__aarch64__)
#define QUOTIENT_f32 0x1p22f
#define QUOTIENT_f64 0x1p51
#else
#define QUOTIENT_f32 0
#define QUOTIENT_f64 0
#endif
#define QUOTIENTS(s, T, suffix)                                                                    \
    static inline bool quotient_within_##s(T a, T b) /* within SLEEF fmod */                       \
    {                                                                                              \
        const T x = a < 0 ? -a : a, y = b < 0 ? -b : b;                                            \
        return ((x >= LEAST_##s) | (x == 0)) & (x < MOST_##s) & (y >= LEAST_##s) & (y < MOST_##s); \
    }                                                                                              \
    static inline bool quotient_small_##s(T a, T b)                                                \
    {                                                                                              \
        const T x = a < 0 ? -a : a, y = b < 0 ? -b : b;                                            \
        return quotient_within_##s(a, b) & (x < y * QUOTIENT_##s);                                 \
    }                                                                                              \
    static inline T near_mod_##s(T a, T b)                                                         \
    {                                                                                              \
        const T x = __builtin_fabs##suffix(a), y = __builtin_fabs##suffix(b);                      \
        const T r = __builtin_fma##suffix(-__builtin_trunc##suffix(x / y), y, x);                  \
        return __builtin_copysign##suffix(r < 0 ? r + y : r, a);                                   \
    }
QUOTIENTS(f32, float, f)
QUOTIENTS(f64, double, )

/* LT_LANES elements: all by the fast path if all quotients are small. */
#define BLOCKS_OF_QUOTIENT(name, s, T)                                                             \
    ALONE T name##_alone_##s(T a, T b) { return lt_##name##_##s(a, b); }                           \
    static inline bool name##_all_small_##s(T *out, const T *a, const T *b)                        \
    {                                                                                              \
        int large = 0;                                                                             \
        if (QUOTIENT_##s == 0) return false;                                                       \
        _Pragma("omp simd reduction(+ : large)") for (int j = 0; j < LT_LANES; j++) large +=       \
            !quotient_small_##s(a[j], b[j]);                                                       \
        if (large > 0) return false;                                                               \
        SIMD for (int j = 0; j < LT_LANES; j++) out[j] =                                           \
            lt_##name##_from_##s(near_mod_##s(a[j], b[j]), a[j], b[j]);                            \
        return true;                                                                               \
    }                                                                                              \
    static inline void name##_any_##s(T *out, const T *a, const T *b)                              \
    {                                                                                              \
        _Alignas(64) T x[2][LT_LANES], near[2][LT_LANES];                                          \
        int beyond = 0;                                                                            \
        _Pragma("omp simd reduction(+ : beyond)") for (int j = 0; j < LT_LANES; j++)               \
        {                                                                                          \
            const bool within = quotient_within_##s(a[j], b[j]);                                   \
            near[0][j] = within ? a[j] : 1;                                                        \
            near[1][j] = within ? b[j] : 1;                                                        \
            beyond += !within;                                                                     \
        }                                                                                          \
        if (beyond > 0)                                                                            \
            memcpy(x[0], a, sizeof x[0]),                                                          \
                memcpy(x[1], b, sizeof x[1]); /* out may be the memory of a or b */                \
        SIMD for (int j = 0; j < LT_LANES; j++) out[j] = lt_##name##_##s(near[0][j], near[1][j]);  \
        for (int j = 0; j < LT_LANES && beyond > 0; j++)                                           \
            if (!quotient_within_##s(x[0][j], x[1][j]))                                            \
                out[j] = name##_alone_##s(x[0][j], x[1][j]);                                       \
    }

#define LOOP_QUOTIENT(name, NAME, s, T, D)                                                         \
    BLOCKS_OF_QUOTIENT(name, s, T)                                                                 \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        _Alignas(64) T x[2][LT_LANES], y[LT_LANES];                                                \
        for (int64_t i = 0; i < n; i += LT_LANES) {                                                \
            const T *a = steady_in(x[0], ptrs[1], strides[1], sizeof(T), i, n);                    \
            const T *b = steady_in(x[1], ptrs[2], strides[2], sizeof(T), i, n);                    \
            T *out = steady_out(y, ptrs[0], strides[0], sizeof(T), i, n);                          \
            steady_fetch(a, LT_LANES * sizeof(T));                                                 \
            steady_fetch(b, LT_LANES * sizeof(T));                                                 \
            if (!name##_all_small_##s(out, a, b)) name##_any_##s(out, a, b);                       \
            if (out == y) steady_store(ptrs[0], strides[0], y, sizeof(T), i, n);                   \
        }                                                                                          \
    }

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

/* Division by such a number is a product with the same bits, in a tenth of the time. */
#define LOOP_DIVISION(name, NAME, s, T, D)                                                         \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        if (strides[2] == 0 && strides[1] != 0 && inverts_##s(*(const T *)ptrs[2])) {              \
            const T inverse = 1 / *(const T *)ptrs[2], *in = (const T *)ptrs[1];                   \
            T *to = (T *)ptrs[0];                                                                  \
            SIMD for (int64_t i = 0; i < n; i++) to[i] = in[i] * inverse;                          \
            return;                                                                                \
        }                                                                                          \
        BINARY_BODY(T, T, lt_##name##_##s)                                                         \
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

#define LOOP_WHOLE_QUOTIENT(name, NAME, s, T, D)                                                   \
    LOOP_HEAD(name, s)                                                                             \
    {                                                                                              \
        (void)context;                                                                             \
        _Alignas(64) T x[2][LT_LANES], y[LT_LANES];                                                \
        for (int64_t i = 0; i < n; i += LT_LANES) {                                                \
            const T *a = steady_in(x[0], ptrs[1], strides[1], sizeof(T), i, n);                    \
            const T *b = steady_in(x[1], ptrs[2], strides[2], sizeof(T), i, n);                    \
            T *out = steady_out(y, ptrs[0], strides[0], sizeof(T), i, n);                          \
            steady_fetch(a, LT_LANES * sizeof(T));                                                 \
            steady_fetch(b, LT_LANES * sizeof(T));                                                 \
            int beyond = 0;                                                                        \
            _Pragma("omp simd reduction(+ : beyond)") for (int j = 0; j < LT_LANES; j++) beyond += \
                !within_double(a[j], b[j]);                                                        \
            if (beyond == 0)                                                                       \
                SIMD for (int j = 0; j < LT_LANES; j++) out[j] = near_##name(a[j], b[j]);          \
            else                                                                                   \
                for (int j = 0; j < LT_LANES; j++) out[j] = lt_##name##_##s(a[j], b[j]);           \
            if (out == y) steady_store(ptrs[0], strides[0], y, sizeof(T), i, n);                   \
        }                                                                                          \
    }

#endif
