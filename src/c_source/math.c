/* math.c - functions of numbers for the element-wise operations of generated programs. */

/* exp and tanh use only operations that compilers vectorize: x = n log(2) + r, where n is in the
 * lowest bits of x / log(2) + 1.5 * 2^23, and the Taylor polynomial of degree 7 of exp(r) - 1, for
 * |r| up to log(2) / 2. One comparison limits x: a second one would become a branch. */
static inline float exp_minus_one_of(float r)
{
    float y = 1.0f / 5040.0f;
    y = y * r + 1.0f / 720.0f;
    y = y * r + 1.0f / 120.0f;
    y = y * r + 1.0f / 24.0f;
    y = y * r + 1.0f / 6.0f;
    y = y * r + 0.5f;
    y = y * r + 1.0f;
    return y * r;
}

/* 2^n as a product of two factors, so that large results overflow and small ones become 0. */
static inline float exp_of(float x)
{
    const float limited = fabsf(x) > 104.0f ? copysignf(104.0f, x) : x;
    const float shifted = limited * 1.442695041f + 12582912.0f, n = shifted - 12582912.0f;
    const float r = (limited - n * 0.693359375f) + n * 2.12194440e-4f;
    uint32_t bits;
    float first, second;
    memcpy(&bits, &shifted, sizeof bits);
    bits = bits - 0x4b400000u + 2 * 127;
    const uint32_t half = bits >> 1, powers[2] = {half << 23, (bits - half) << 23};
    memcpy(&first, &powers[0], sizeof first);
    memcpy(&second, &powers[1], sizeof second);
    return (exp_minus_one_of(r) + 1) * first * second;
}

/* tanh(x) = q / (q + 2) with q = exp(2x) - 1. */
static inline float tanh_of(float x)
{
    const float limited = 2 * (fabsf(x) > 10.0f ? copysignf(10.0f, x) : x);
    const float shifted = limited * 1.442695041f + 12582912.0f, n = shifted - 12582912.0f;
    const float r = (limited - n * 0.693359375f) + n * 2.12194440e-4f;
    uint32_t bits;
    float power;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits - 0x4b400000u + 127) << 23;
    memcpy(&power, &bits, sizeof power);
    const float q = exp_minus_one_of(r) * power + (power - 1);
    return q / (q + 2);
}

static inline float sigmoid_of(float x) { return 1.0f / (1.0f + exp_of(-x)); }

/* log(1 + exp(x)) without overflow. */
static inline float log1p_exp_of(float x) { return (x > 0 ? x : 0) + log1pf(expf(-fabsf(x))); }

/* The maximum and minimum are NaN if an operand is. */
static inline float larger_of(float a, float b) { return a > b || a != a ? a : b; }

static inline float smaller_of(float a, float b) { return a < b || a != a ? a : b; }

/* The remainder with the sign of the divisor. */
static inline float remainder_of(float a, float b)
{
    const float r = fmodf(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* The quotient of integers, rounded down. The divisor must not be 0. */
static inline int64_t floor_quotient_of(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
