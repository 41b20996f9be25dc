/* blocks.cuh - quantized weights (formulas/blocks.h) in kernels: a thread decodes a unit of a block,
 * in runs of four consecutive elements. A run is a word with a level per byte; an element is scale *
 * (level - bias) - least. All intermediate results but the product are exact, so that the elements
 * have the bits of the CPU's, also where the compiler contracts the product and the difference.
 *
 * lt_block_unit<FORMAT> has the block's ELEMENTS and BYTES, RUNS per unit, UNITS per block and
 *   load(block, unit)  reads the unit; the block's alignment is that of its size in bytes, up to 16
 *   run(r)             run number r; its `least` is 0 unless LEAST
 *   at(unit, r)        index in the block of the run's first element */
#ifndef LT_CUDA_BLOCKS_CUH
#define LT_CUDA_BLOCKS_CUH

#include "devices/backend.h"
#include "dtypes/block_sizes.h"
#include "kernels/element.cuh"

struct lt_block_run {
    uint32_t levels; /* four bytes */
    float bias, scale, least;
};

template <lt_block_format FORMAT> struct lt_block_unit;

/* ---- numbers in blocks ----------------------------------------------------------------------- */

/* 2^23 + v for v < 2^23, whose last bits are v: faster than a conversion. */
static __device__ __forceinline__ float lt_shifted_float(uint32_t v)
{
    return __uint_as_float(0x4b000000u | v);
}
static __device__ __forceinline__ float lt_small_float(uint32_t v)
{
    return lt_shifted_float(v) - 8388608.0f;
}

/* level - bias of the elements of a run. */
static __device__ __forceinline__ void lt_run_levels(const lt_block_run &run, float *y)
{
    LT_UNROLLED
    for (int i = 0; i < 4; i++) {
        /* lt_shifted_float of byte i: the bytes i, 0, 0 and 0x4b */
        const float shifted = __uint_as_float(
            __byte_perm(run.levels, 0x4b000000u, 0x7440u | static_cast<unsigned>(i)));
        y[i] = shifted - (8388608.0f + run.bias);
    }
}

/* The elements of a run. */
static __device__ __forceinline__ void lt_decode_run(const lt_block_run &run, float *y)
{
    lt_run_levels(run, y);
    LT_UNROLLED
    for (int i = 0; i < 4; i++) y[i] = run.scale * y[i] - run.least;
}

static __device__ __forceinline__ uint32_t lt_block_short(const uint8_t *at)
{
    return *reinterpret_cast<const uint16_t *>(at);
}
/* A word that is aligned to 2 bytes, and one that is aligned to 4. */
static __device__ __forceinline__ uint32_t lt_block_word2(const uint8_t *at)
{
    return lt_block_short(at) | lt_block_short(at + 2) << 16;
}
static __device__ __forceinline__ uint32_t lt_block_word4(const uint8_t *at)
{
    return *reinterpret_cast<const uint32_t *>(at);
}

static __device__ __forceinline__ float lt_block_float(uint32_t bits)
{
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

/* Bit i of `bits`, i < 4, as the fifth bit of byte i. */
static __device__ __forceinline__ uint32_t lt_fifth_bits(uint32_t bits)
{
    return ((bits & 15u) * 0x00204081u & 0x01010101u) << 4;
}

static __device__ __forceinline__ uint32_t lt_nibbles(uint32_t word, int number)
{
    return word >> (4 * number) & 0x0f0f0f0fu;
}

/* ---- blocks of 32: unit t has elements 4 t to 4 t + 3 and those 16 further ------------------- */

template <int BLOCK_BYTES, bool HAS_LEAST = false> struct lt_small_unit {
    static constexpr int ELEMENTS = 32, BYTES = BLOCK_BYTES, RUNS = 2, UNITS = 4;
    static constexpr bool LEAST = HAS_LEAST;
    static __device__ __forceinline__ int at(int t, int r) { return 4 * t + 16 * r; }
};

template <> struct lt_block_unit<LT_BLOCK_Q4_0> : lt_small_unit<18> {
    uint32_t q;
    float d;
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        d = lt_block_float(lt_block_short(b));
        q = lt_block_word2(b + 2 + 4 * t);
    }
    __device__ __forceinline__ lt_block_run run(int r) const { return {lt_nibbles(q, r), 8, d, 0}; }
};

template <> struct lt_block_unit<LT_BLOCK_Q4_1> : lt_small_unit<20, true> {
    uint32_t q;
    float d, m;
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        const uint32_t both = lt_block_word4(b);
        d = lt_block_float(both);
        m = lt_block_float(both >> 16);
        q = lt_block_word4(b + 4 + 4 * t);
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        return {lt_nibbles(q, r), 0, d, -m};
    }
};

template <> struct lt_block_unit<LT_BLOCK_Q5_0> : lt_small_unit<22> {
    uint32_t q, high;
    float d;
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        d = lt_block_float(lt_block_short(b));
        high = lt_block_word2(b + 2) >> (4 * t);
        q = lt_block_word2(b + 6 + 4 * t);
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        return {lt_nibbles(q, r) | lt_fifth_bits(high >> (16 * r)), 16, d, 0};
    }
};

template <> struct lt_block_unit<LT_BLOCK_Q5_1> : lt_small_unit<24, true> {
    uint32_t q, high;
    float d, m;
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        const uint32_t both = lt_block_word4(b);
        d = lt_block_float(both);
        m = lt_block_float(both >> 16);
        high = lt_block_word4(b + 4) >> (4 * t);
        q = lt_block_word4(b + 8 + 4 * t);
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        return {lt_nibbles(q, r) | lt_fifth_bits(high >> (16 * r)), 0, d, -m};
    }
};

template <> struct lt_block_unit<LT_BLOCK_Q8_0> : lt_small_unit<34> {
    uint32_t q[2];
    float d;
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        d = lt_block_float(lt_block_short(b));
        q[0] = lt_block_word2(b + 2 + 4 * t);
        q[1] = lt_block_word2(b + 18 + 4 * t);
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        return {q[r] ^ 0x80808080u, 128, d, 0};
    }
};

template <> struct lt_block_unit<LT_BLOCK_IQ4_NL> : lt_block_unit<LT_BLOCK_Q4_0> {
    /* Levels 4 i to 4 i + 3, plus 128. */
    static constexpr __host__ __device__ uint32_t table(int i)
    {
        constexpr int levels[16] = {LT_IQ4_NL_LEVELS};
        uint32_t word = 0;
        for (int k = 3; k >= 0; k--)
            word = word << 8 | static_cast<uint32_t>(levels[4 * i + k] + 128);
        return word;
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        constexpr uint32_t first = table(0), second = table(1), third = table(2), fourth = table(3);
        const uint32_t indices = lt_nibbles(q, r);
        uint32_t selector = indices & 0x07070707u; /* a nibble per byte of the result */
        selector = (selector | selector >> 4) & 0x00ff00ffu;
        selector = (selector | selector >> 8) & 0xffffu;
        const uint32_t upper = (indices >> 3 & 0x01010101u) * 0xffu,
                       levels = __byte_perm(first, second, selector);
        return {levels ^ ((levels ^ __byte_perm(third, fourth, selector)) & upper), 128, d, 0};
    }
};

/* ---- blocks of 256 --------------------------------------------------------------------------- */

template <int BLOCK_BYTES, bool HAS_LEAST = false> struct lt_large_unit {
    static constexpr int ELEMENTS = 256, BYTES = BLOCK_BYTES, RUNS = 4, UNITS = 16;
    static constexpr bool LEAST = HAS_LEAST;
};

/* Two bits per element: unit t has four elements of each of four groups of 32, in half t / 8. */
template <int BLOCK_BYTES, bool HAS_LEAST>
struct lt_two_bit_unit : lt_large_unit<BLOCK_BYTES, HAS_LEAST> {
    static __device__ __forceinline__ int at(int t, int r)
    {
        return t / 8 * 128 + t % 8 * 4 + 32 * r;
    }
};

template <> struct lt_block_unit<LT_BLOCK_Q2_K> : lt_two_bit_unit<84, true> {
    uint32_t q, scales[2]; /* in bytes 0 and 2 of each word: the scale and minimum of a run */
    float d, m;
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        const uint32_t both = lt_block_word4(b + 80);
        const int half = t / 8, second = t % 8 / 4;
        d = lt_block_float(both);
        m = lt_block_float(both >> 16);
        q = lt_block_word4(b + 16 + 4 * t);
        LT_UNROLLED
        for (int i = 0; i < 2; i++)
            scales[i] = lt_block_word4(b + 8 * half + 4 * i) >> (8 * second);
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        const uint32_t s = scales[r / 2] >> (16 * (r % 2));
        return {q >> (2 * r) & 0x03030303u, 0, d * lt_small_float(s & 15u),
                m * lt_small_float(s >> 4 & 15u)};
    }
};

template <> struct lt_block_unit<LT_BLOCK_Q3_K> : lt_two_bit_unit<110, false> {
    uint32_t q, high;
    uint32_t low[2], upper; /* bits of the scales, in bytes as in Q2_K; upper: of all four runs */
    float d;
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        const int half = t / 8, second = t % 8 / 4;
        d = lt_block_float(lt_block_short(b + 108));
        q = lt_block_word2(b + 32 + 4 * t);
        high = lt_block_word2(b + t % 8 * 4) >> (4 * half);
        LT_UNROLLED
        for (int i = 0; i < 2; i++)
            low[i] = lt_block_word2(b + 96 + 4 * i) >> (8 * second + 4 * half);
        upper = lt_block_word2(b + 104) >> (8 * second + 4 * half);
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        const uint32_t s =
            (low[r / 2] >> (16 * (r % 2)) & 15u) | (upper >> (16 * (r % 2) + r / 2 * 2) & 3u) << 4;
        return {(q >> (2 * r) & 0x03030303u) | (high >> r & 0x01010101u) << 2, 4,
                d * (lt_small_float(s) - 32), 0};
    }
};

/* Four bits per element: unit t has eight elements of each of groups 2 g and 2 g + 1, g = t / 4. */
template <int BLOCK_BYTES> struct lt_four_bit_unit : lt_large_unit<BLOCK_BYTES, true> {
    uint32_t q[2];
    float scale[2], least[2];
    static __device__ __forceinline__ int at(int t, int r)
    {
        return t / 4 * 64 + t % 4 * 8 + r % 2 * 4 + r / 2 * 32;
    }
    /* d, m and the scales of six bits in 12 bytes, as in lt_block_scale (formulas/blocks.h), of two
     * groups at a time. */
    __device__ __forceinline__ void load_scales(const uint8_t *b, int g)
    {
        const uint32_t both = lt_block_word4(b);
        const float d = lt_block_float(both), m = lt_block_float(both >> 16);
        const uint8_t *s = b + 4 + g % 2 * 2;
        const uint32_t first = lt_block_short(s), second = lt_block_short(s + 4),
                       third = lt_block_short(s + 8);
        const uint32_t scales =
            g < 2 ? first & 0x3f3fu : (third & 0x0f0fu) | (first >> 2 & 0x3030u);
        const uint32_t minimums =
            g < 2 ? second & 0x3f3fu : (third >> 4 & 0x0f0fu) | (second >> 2 & 0x3030u);
        LT_UNROLLED
        for (int i = 0; i < 2; i++) {
            scale[i] = d * lt_small_float(scales >> (8 * i) & 63u);
            least[i] = m * lt_small_float(minimums >> (8 * i) & 63u);
        }
    }
};

template <> struct lt_block_unit<LT_BLOCK_Q4_K> : lt_four_bit_unit<144> {
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        load_scales(b, t / 4);
        q[0] = lt_block_word4(b + 16 + 8 * t);
        q[1] = lt_block_word4(b + 20 + 8 * t);
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        return {lt_nibbles(q[r % 2], r / 2), 0, scale[r / 2], least[r / 2]};
    }
};

template <> struct lt_block_unit<LT_BLOCK_Q5_K> : lt_four_bit_unit<176> {
    uint32_t high[2];
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        load_scales(b, t / 4);
        LT_UNROLLED
        for (int i = 0; i < 2; i++) {
            q[i] = lt_block_word4(b + 48 + 8 * t + 4 * i);
            high[i] = lt_block_word4(b + 16 + t % 4 * 8 + 4 * i) >> (t / 4 * 2);
        }
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        const uint32_t fifth = (high[r % 2] >> (r / 2) & 0x01010101u) << 4;
        return {lt_nibbles(q[r % 2], r / 2) | fifth, 0, scale[r / 2], least[r / 2]};
    }
};

/* Unit t has eight elements of quarter k and eight of quarter k + 2 of half t / 8, k = t % 8 / 4. */
template <> struct lt_block_unit<LT_BLOCK_Q6_K> : lt_large_unit<210> {
    uint32_t q[2], high[2];
    float scale[2];
    static __device__ __forceinline__ int at(int t, int r)
    {
        return t / 8 * 128 + t % 8 * 8 + r % 2 * 4 + r / 2 * 64;
    }
    __device__ __forceinline__ void load(const uint8_t *b, int t)
    {
        const int half = t / 8, k = t % 8 / 4, i = t % 4 * 8;
        const float d = lt_block_float(lt_block_short(b + 208));
        LT_UNROLLED
        for (int w = 0; w < 2; w++) {
            const int8_t s = static_cast<int8_t>(b[192 + half * 8 + (k + 2 * w) * 2 + i / 16]);
            q[w] = lt_block_word2(b + 8 * t + 4 * w);
            high[w] = lt_block_word2(b + 128 + half * 32 + i + 4 * w) >> (2 * k);
            scale[w] = d * static_cast<float>(s);
        }
    }
    __device__ __forceinline__ lt_block_run run(int r) const
    {
        const uint32_t upper = (high[r % 2] >> (r / 2 * 4) & 0x03030303u) << 4;
        return {lt_nibbles(q[r % 2], r / 2) | upper, 32, scale[r / 2], 0};
    }
};

#endif
