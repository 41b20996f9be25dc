/* tensor_core.cuh - products of small matrices by a warp's tensor cores, for half types: the
 * instructions of PTX, and in a simulation what stands in for them (sim/tensor_core.h). All lanes
 * of a warp call these together.
 *
 * Fragments: lane l has, of a matrix of 8 rows and 8 columns, row l / 4 and columns 2 (l % 4) and
 * the next. a (16 x 16) is four of those: rows 0 .. 7 and 8 .. 15 of columns 0 .. 7, then of 8 ..
 * 15; b (16 x 8) is two, by columns; c (16 x 8) two, of floats. */
#ifndef LT_CUDA_TENSOR_CORE_CUH
#define LT_CUDA_TENSOR_CORE_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <string.h>

#ifndef __CUDACC__
#include <sim/tensor_core.h>
#endif

/* Two numbers in a register, the first in its low half. */
template <class S> static __device__ __forceinline__ uint32_t lt_pair(float x, float y);
template <> __device__ __forceinline__ uint32_t lt_pair<__half>(float x, float y)
{
    const __half2 both = __floats2half2_rn(x, y);
    uint32_t bits;
    memcpy(&bits, &both, sizeof bits);
    return bits;
}
template <> __device__ __forceinline__ uint32_t lt_pair<__nv_bfloat16>(float x, float y)
{
    const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
    uint32_t bits;
    memcpy(&bits, &both, sizeof bits);
    return bits;
}

#ifdef __CUDACC__

/* Four matrices of 8 x 8 elements of two bytes from shared memory: lane l says where row l % 8 of
 * matrix l / 8 lies, 16 bytes that are aligned. TRANSPOSED: each is turned around. */
template <bool TRANSPOSED>
static __device__ __forceinline__ void lt_load_matrices(uint32_t (&out)[4], const void *row)
{
#if defined(__CUDA_ARCH__)
    const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                     : "r"(at)
                     : "memory");
#endif
}

/* c += a b. GPUs before the 8.0 take eight columns of a at a time, and no bfloat16: nobody asks
 * them to. */
static __device__ __forceinline__ void lt_multiply(float (&c)[4], const uint32_t (&a)[4],
                                                   const uint32_t (&b)[2], __half)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif defined(__CUDA_ARCH__)
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, "
        "%1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, "
        "%1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[2]), "r"(a[3]), "r"(b[1]));
#endif
}
static __device__ __forceinline__ void lt_multiply(float (&c)[4], const uint32_t (&a)[4],
                                                   const uint32_t (&b)[2], __nv_bfloat16)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif defined(__CUDA_ARCH__)
    __trap();
#endif
}

#else

template <bool TRANSPOSED> static inline void lt_load_matrices(uint32_t (&out)[4], const void *row)
{
    lt_sim::load_matrices(out, row, TRANSPOSED);
}

static inline void lt_multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                               __half)
{
    lt_sim::multiply(c, a, b, lt_sim::multiply_halves);
}
static inline void lt_multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                               __nv_bfloat16)
{
    lt_sim::multiply(c, a, b, lt_sim::multiply_bfloats);
}

#endif

#endif
