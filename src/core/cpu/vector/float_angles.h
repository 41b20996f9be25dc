/* float_angles.h - trigonometric functions of float and their inverses; included by float_math.h,
 * which states their accuracy. */
#ifndef LT_CPU_FLOAT_ANGLES_H
#define LT_CPU_FLOAT_ANGLES_H

#include <math.h>

#include "dtypes/half.h"
#include "multiply_add.h"

#define HALF_PI      1.57079637f
#define HALF_PI_MORE -4.37113883e-8f /* HALF_PI + HALF_PI_MORE = pi / 2 */

/* |x| = n pi / 2 + r + low for |x| < NEAR_ANGLE (Cody-Waite reduction): pi / 2 is split into four
 * numbers; the first three have so few bits that their products with n are exact. */
#define NEAR_ANGLE 2000.0f
typedef struct {
    float r, low;
    uint32_t n;
} reduced_angle;

static inline reduced_angle reduce_angle(float x)
{
    const float a = __builtin_fabsf(x), shifted = multiply_addf(a, 0.636619772f, 12582912.0f),
                n = shifted - 12582912.0f;
    const float most =
        multiply_addf(n, -4.837512969970703125e-4f, multiply_addf(n, -1.5703125f, a));
    const float r = multiply_addf(n, -0x1.444p-24f, most),
                low = multiply_addf(n, -0x1.444p-24f, most - r);
    return (reduced_angle){r, multiply_addf(n, -2.563344e-12f, low), lt_float_to_bits(shifted)};
}

static inline float sine_of(reduced_angle angle, float s)
{
    float p = -0.00019516655f;
    p = multiply_addf(p, s, 0.008332173f);
    p = multiply_addf(p, s, -0.16666655f);
    return angle.r + multiply_addf(p, s * angle.r, angle.low);
}

static inline float cosine_of(reduced_angle angle, float s)
{
    float p = 2.443773e-05f;
    p = multiply_addf(p, s, -0.0013887362f);
    p = multiply_addf(p, s, 0.041666646f);
    const float most = 1 - 0.5f * s, rest = (1 - most) - 0.5f * s; /* most + rest = 1 - s / 2 */
    return most + multiply_addf(p, s * s, multiply_addf(-angle.low, angle.r, rest));
}

/* Valid for |x| < NEAR_ANGLE only; so are the next two. */
static inline float near_sinf(float x)
{
    const reduced_angle angle = reduce_angle(x);
    const float s = angle.r * angle.r, sine = sine_of(angle, s), cosine = cosine_of(angle, s);
    const uint32_t y = lt_float_to_bits((angle.n & 1) != 0 ? cosine : sine);
    return lt_bits_to_float(y ^ (angle.n & 2) << 30 ^ (lt_float_to_bits(x) & 0x80000000u));
}

static inline float near_cosf(float x)
{
    const reduced_angle angle = reduce_angle(x);
    const float s = angle.r * angle.r, sine = sine_of(angle, s), cosine = cosine_of(angle, s);
    const uint32_t y = lt_float_to_bits((angle.n & 1) != 0 ? sine : cosine);
    return lt_bits_to_float(y ^ ((angle.n + 1) & 2) << 30);
}

static inline float near_tanf(float x)
{
    const reduced_angle angle = reduce_angle(x);
    const float s = angle.r * angle.r;
    float p = 0.0043801554f;
    p = multiply_addf(p, s, 8.4195286e-05f);
    p = multiply_addf(p, s, 0.010837515f);
    p = multiply_addf(p, s, 0.021282814f);
    p = multiply_addf(p, s, 0.054059442f);
    p = multiply_addf(p, s, 0.13332672f);
    p = multiply_addf(p, s, 0.3333335f);
    const float tangent = angle.r + multiply_addf(p, s * angle.r, angle.low),
                y = (angle.n & 1) != 0 ? -1 / tangent : tangent;
    return lt_bits_to_float(lt_float_to_bits(y) ^ (lt_float_to_bits(x) & 0x80000000u));
}

/* pi / 2 - x - rest for x in [0, 1], with one rounding in addition to that of `rest`. */
static inline float from_half_pi(float x, float rest)
{
    const float most = HALF_PI - x;
    return most + (((HALF_PI - most) - x) - (rest - HALF_PI_MORE));
}

/* asin(t) - t for s = t^2 <= 1/4. For x > 1/2, asin(x) = pi / 2 - 2 asin(t), t^2 = (1 - x) / 2. */
static inline float asin_rest(float t, float s)
{
    float p = 0.042211786f;
    p = multiply_addf(p, s, 0.024152098f);
    p = multiply_addf(p, s, 0.04547604f);
    p = multiply_addf(p, s, 0.07495252f);
    p = multiply_addf(p, s, 0.16666754f);
    return p * (s * t);
}

static inline float vector_asinf(float x)
{
    const float a = __builtin_fabsf(x), half = 0.5f - 0.5f * a, s = a > 0.5f ? half : a * a,
                t = a > 0.5f ? __builtin_sqrtf(half) : a;
    const float rest = asin_rest(t, s), y = from_half_pi(2 * t, 2 * rest);
    return __builtin_copysignf(a > 0.5f ? y : t + rest, x);
}

static inline float vector_acosf(float x)
{
    const float a = __builtin_fabsf(x), half = 0.5f - 0.5f * a, s = a > 0.5f ? half : a * a,
                t = a > 0.5f ? __builtin_sqrtf(half) : x;
    const float rest = asin_rest(t, s), y = 2 * (t + rest), middle = from_half_pi(t, rest);
    const float far = x > 0 ? y : 2 * middle;
    return a > 0.5f ? far : middle;
}

/* atan(t) - t for t in [0, 1], as t P(t^2). */
static inline float atan_rest(float t)
{
    const float s = t * t;
    float p = -0.0018186494f;
    p = multiply_addf(p, s, 0.011028742f);
    p = multiply_addf(p, s, -0.031394158f);
    p = multiply_addf(p, s, 0.05817787f);
    p = multiply_addf(p, s, -0.084164545f);
    p = multiply_addf(p, s, 0.10956657f);
    p = multiply_addf(p, s, -0.14265092f);
    p = multiply_addf(p, s, 0.19998626f);
    p = multiply_addf(p, s, -0.33333302f);
    return p * (s * t);
}

static inline float vector_atanf(float x)
{
    const float a = __builtin_fabsf(x), inverse = 1 / a, t = a > 1 ? inverse : a,
                rest = atan_rest(t);
    const float far = from_half_pi(t, rest);
    return __builtin_copysignf(a > 1 ? far : t + rest, x);
}

/* atan of the smaller magnitude by the larger one, reflected into the octant of (x, y). */
static inline float vector_atan2f(float y, float x)
{
    const float a = __builtin_fabsf(y), b = __builtin_fabsf(x), large = a > b ? a : b,
                small = a > b ? b : a;
    const float quotient = small / large, t = large == 0 ? 0 : small == large ? 1 : quotient;
    float p = t + atan_rest(t);
    p = a > b ? HALF_PI - p : p;
    p = lt_float_to_bits(x) >> 31 != 0 ? 2 * HALF_PI - p : p;
    return x != x || y != y ? x + y : __builtin_copysignf(p, y);
}

#undef HALF_PI
#undef HALF_PI_MORE

#endif
