/* philox.cuh - counter-based random bits (Philox4x32-10: Salmon, Moraes, Dror, Shaw 2011) and
 * floating-point numbers from them.
 *
 * Real and simulated GPUs give the same floats, because every operation is rounded explicitly, by
 * an intrinsic. For double, log, sin and cos of the math libraries may differ in the last bit. */
#ifndef LT_CUDA_PHILOX_CUH
#define LT_CUDA_PHILOX_CUH

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

#include "kernels/launch.cuh"

struct lt_philox {
    uint64_t seed, offset; /* key; index of the first counter */
    /* null, or in a captured graph: seed and offset that the replay sets; the offset is added */
    const uint64_t *live;
};

struct lt_words {
    uint32_t w[4];
};

/* The 64-bit product, by one instruction; the compiler's own code for it is longer. */
static __device__ __forceinline__ uint64_t lt_wide_product(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    uint64_t product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return (uint64_t)a * b;
#endif
}

/* Resolves seed and offset; in a captured graph these are the current replay's. A thread that draws
 * several blocks calls this once. */
static __device__ __forceinline__ lt_philox lt_philox_now(lt_philox p)
{
    if (p.live != nullptr) {
        p.seed = p.live[0];
        p.offset += p.live[1];
        p.live = nullptr;
    }
    return p;
}

/* 128 random bits: counter `index` of the call; `part` numbers the blocks of an element that needs
 * several. */
static __device__ __forceinline__ lt_words lt_philox_words(lt_philox p, uint64_t index,
                                                           uint32_t part = 0)
{
    p = lt_philox_now(p);
    const uint64_t count = p.offset + index;
    uint32_t c0 = (uint32_t)count, c1 = (uint32_t)(count >> 32), c2 = part, c3 = 0;
    uint32_t k0 = (uint32_t)p.seed, k1 = (uint32_t)(p.seed >> 32);
    LT_UNROLLED
    for (int round = 0; round < 10; round++) {
        const uint64_t x = lt_wide_product(0xD2511F53u, c0), y = lt_wide_product(0xCD9E8D57u, c2);
        c0 = (uint32_t)(y >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(x >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)y;
        c3 = (uint32_t)x;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
}

static __device__ __forceinline__ uint64_t lt_wide(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* In [0, 1), a multiple of 2^-24 or 2^-53. */
static __device__ __forceinline__ float lt_uniform(uint32_t bits)
{
    return (float)(bits >> 8) * 0x1p-24f;
}
static __device__ __forceinline__ double lt_uniform(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* In (0, 1) for float, (0, 1] for double: with finer steps near 0, for logarithms. */
static __device__ __forceinline__ float lt_positive(uint32_t bits)
{
    return __fmaf_rn(__uint2float_rz(bits), 0x1p-32f, 0x1p-33f);
}
static __device__ __forceinline__ double lt_positive(uint64_t bits)
{
    return (double)((bits >> 11) + 1) * 0x1p-53;
}

/* -2 log u for a normal float: u = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); -2 log(1 + f) is
 * -2 f + f^2 + f^3 p(f), where the polynomial p keeps the relative error below 3e-8. */
static __device__ __forceinline__ float lt_minus_two_log(float u)
{
    const int bits = __float_as_int(u), e = (bits - 0x3f3504f3) & ~0x7fffff; /* times 2^23 */
    const float f = __fadd_rn(__int_as_float(bits - e), -1.0f);
    float p = __fmaf_rn(-0.173788368f, f, 0.285348549f);
    p = __fmaf_rn(p, f, -0.298369792f);
    p = __fmaf_rn(p, f, 0.331553843f);
    p = __fmaf_rn(p, f, -0.399254412f);
    p = __fmaf_rn(p, f, 0.500026616f);
    p = __fmaf_rn(p, f, -0.66667839f);
    p = __fmaf_rn(__fmaf_rn(p, f, 1.0f), f, -2.0f);
    return __fmaf_rn(p, f, __fmul_rn((float)e, -1.3862943611f * 0x1p-23f));
}
static __device__ __forceinline__ double lt_minus_two_log(double u) { return -2 * log(u); }

/* Square root of a normal float, rounded to nearest: an estimate and one Newton step, without the
 * range checks of sqrtf. */
static __device__ __forceinline__ float lt_root(float x)
{
#ifdef __CUDA_ARCH__
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    const float root = __fmul_rn(x, inverse);
    return __fmaf_rn(__fmaf_rn(-root, root, x), __fmul_rn(inverse, 0.5f), root);
#else
    return sqrtf(x);
#endif
}

/* Two independent normal numbers (Box and Muller 1958). Of the angle's bits, one selects the half
 * plane (sign of the radius), one the nearer axis; the others are the angle from that axis, at most
 * pi / 4. Polynomials compute its sine and cosine with errors below 3e-8. */
static __device__ __forceinline__ void lt_normal_pair(uint32_t radius_bits, uint32_t angle_bits,
                                                      float mean, float deviation, float *first,
                                                      float *second)
{
    const float length = __fmul_rn(lt_root(lt_minus_two_log(lt_positive(radius_bits))), deviation);
    const float radius = __uint_as_float(__float_as_uint(length) ^ (angle_bits << 1 & 0x80000000u));
    const float x = __fmul_rn((float)(int)(angle_bits << 2), 0x1p-33f); /* in units of pi */
    const float z = __fmul_rn(x, x);
    float s = __fmaf_rn(-0.589078656f, z, 2.5497673f), c = __fmaf_rn(-1.30728001f, z, 4.05770179f);
    s = __fmaf_rn(s, z, -5.16770783f);
    s = __fmul_rn(__fmaf_rn(s, z, 3.14159265f), x);
    c = __fmaf_rn(c, z, -4.93479182f);
    c = __fmaf_rn(c, z, 1.0f);
    const bool second_axis = (int)angle_bits < 0;
    *first = __fmaf_rn(radius, second_axis ? s : c, mean);
    *second = __fmaf_rn(radius, second_axis ? c : s, mean);
}
static __device__ __forceinline__ void lt_normal_pair(uint64_t radius_bits, uint64_t angle_bits,
                                                      double mean, double deviation, double *first,
                                                      double *second)
{
    const double radius = __dmul_rn(sqrt(lt_minus_two_log(lt_positive(radius_bits))), deviation);
    const double angle = lt_uniform(angle_bits) * 6.283185307179586476925286766559;
    *first = __dadd_rn(__dmul_rn(radius, cos(angle)), mean);
    *second = __dadd_rn(__dmul_rn(radius, sin(angle)), mean);
}

#endif
