/* philox.cuh - random bits by counter (Philox4x32-10: Salmon, Moraes, Dror, Shaw 2011) and the floating
 * numbers made of them.
 *
 * Every step is rounded on its own, by the intrinsics that say so: a real and a simulated GPU give the
 * same floats. For double only log, sin and cos of the math library differ, in the last bit. */
#ifndef LT_CUDA_PHILOX_CUH
#define LT_CUDA_PHILOX_CUH

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

struct lt_philox {
    uint64_t seed, offset; /* key; the number of the first counter block */
    const uint64_t *
        live; /* null; in a recorded graph seed and offset as the replay sets them: offset is added */
};

struct lt_words {
    uint32_t w[4];
};

/* 128 random bits: the counter block `index` of the call; `part` counts the blocks of one that needs several. */
static __device__ __forceinline__ lt_words lt_philox_words(lt_philox p, uint64_t index,
                                                           uint32_t part = 0)
{
    if (p.live != nullptr) {
        p.seed = p.live[0];
        p.offset += p.live[1];
    }
    const uint64_t count = p.offset + index;
    uint32_t c0 = (uint32_t)count, c1 = (uint32_t)(count >> 32), c2 = part, c3 = 0;
    uint32_t k0 = (uint32_t)p.seed, k1 = (uint32_t)(p.seed >> 32);
    for (int round = 0; round < 10; round++) {
        const uint32_t x = 0xD2511F53u * c0, y = 0xCD9E8D57u * c2;
        const uint32_t x_high = __umulhi(0xD2511F53u, c0), y_high = __umulhi(0xCD9E8D57u, c2);
        c0 = y_high ^ c1 ^ k0;
        c2 = x_high ^ c3 ^ k1;
        c1 = y;
        c3 = x;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
}

static __device__ __forceinline__ uint64_t lt_wide(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* In [0, 1), every value a multiple of 2^-24 or 2^-53. */
static __device__ __forceinline__ float lt_uniform(uint32_t bits)
{
    return (float)(bits >> 8) * 0x1p-24f;
}
static __device__ __forceinline__ double lt_uniform(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* In (0, 1]: finer near 0, so that logarithms reach far. */
static __device__ __forceinline__ float lt_positive(uint32_t bits)
{
    return __fmaf_rn((float)bits, 0x1p-32f, 0x1p-33f);
}
static __device__ __forceinline__ double lt_positive(uint64_t bits)
{
    return (double)((bits >> 11) + 1) * 0x1p-53;
}

/* Logarithm of a normal float: u = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); a polynomial in f. */
static __device__ __forceinline__ float lt_logarithm(float u)
{
    const int bits = __float_as_int(u), e = (bits - 0x3f3504f3) >> 23;
    const float f = __fadd_rn(__int_as_float(bits - e * 0x800000), -1.0f), square = __fmul_rn(f, f);
    float p = 0.07149754f;
    p = __fmaf_rn(p, f, -0.11571201f);
    p = __fmaf_rn(p, f, 0.11661511f);
    p = __fmaf_rn(p, f, -0.124110505f);
    p = __fmaf_rn(p, f, 0.14249937f);
    p = __fmaf_rn(p, f, -0.1666848f);
    p = __fmaf_rn(p, f, 0.20000708f);
    p = __fmaf_rn(p, f, -0.2499999f);
    p = __fmaf_rn(p, f, 0.3333333f);
    const float tail = __fmaf_rn(square, __fmul_rn(f, p), __fmul_rn(-0.5f, square));
    /* ln 2 in two parts, the first exact times any exponent */
    return __fmaf_rn((float)e, 0.693359375f,
                     __fadd_rn(f, __fmaf_rn((float)e, -2.12194440e-4f, tail)));
}
static __device__ __forceinline__ double lt_logarithm(double u) { return log(u); }

/* Sine and cosine of a random angle: two bits choose the quadrant, the others the angle around it. */
static __device__ __forceinline__ void lt_direction(uint32_t bits, float *sine, float *cosine)
{
    const int quadrant = (int)(bits >> 30);
    const float x =
        __fmaf_rn((float)((bits & 0x3fffffffu) >> 6), 0x1p-25f, -0.25f + 0x1p-26f); /* of pi */
    const float z = __fmul_rn(x, x);
    float s = 0.081001736f, c = 0.23132925f;
    s = __fmaf_rn(s, z, -0.5992021f);
    s = __fmaf_rn(s, z, 2.5501626f);
    s = __fmaf_rn(s, z, -5.1677127f);
    s = __fmul_rn(__fmaf_rn(s, z, 3.1415927f), x);
    c = __fmaf_rn(c, z, -1.3350445f);
    c = __fmaf_rn(c, z, 4.058707f);
    c = __fmaf_rn(c, z, -4.934802f);
    c = __fmaf_rn(c, z, 1.0f);
    const float a = quadrant & 1 ? c : s, b = quadrant & 1 ? -s : c;
    *sine = quadrant & 2 ? -a : a;
    *cosine = quadrant & 2 ? -b : b;
}
static __device__ __forceinline__ void lt_direction(uint64_t bits, double *sine, double *cosine)
{
    const double angle = lt_uniform(bits) * 6.283185307179586476925286766559;
    *sine = sin(angle);
    *cosine = cos(angle);
}

static __device__ __forceinline__ float lt_root(float x) { return __fsqrt_rn(x); }
static __device__ __forceinline__ double lt_root(double x) { return sqrt(x); }

/* Two independent numbers of mean 0 and deviation 1 (Box and Muller 1958). */
template <class C, class Bits>
static __device__ __forceinline__ void lt_normal_pair(Bits radius_bits, Bits angle_bits, C *first,
                                                      C *second)
{
    const C radius = lt_root((C)-2 * lt_logarithm(lt_positive(radius_bits)));
    C sine, cosine;
    lt_direction(angle_bits, &sine, &cosine);
    *first = radius * cosine;
    *second = radius * sine;
}

#endif
