/* tensor_core.cuh - warp-level matrix products on tensor cores, for half types: PTX instructions,
 * or their emulation in the simulator (sim/tensor_core.h). All lanes of a warp must call these
 * together.
 *
 * Fragments: of an 8 x 8 matrix, lane l holds row l / 4, columns 2 (l % 4) and 2 (l % 4) + 1. a (16
 * x 16) consists of four such matrices: rows 0 .. 7 and 8 .. 15 of columns 0 .. 7, then of columns
 * 8 .. 15; b (16 x 8) of two, by columns; c (16 x 8) of two, in float. */
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

/* Packs two numbers into a register, the first in the low half. */
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

/* ldmatrix: loads four 8 x 8 matrices of two-byte elements from shared memory. Lane l passes the
 * address of row l % 8 of matrix l / 8, aligned to 16 bytes. TRANSPOSED: transposes each matrix. */
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

/* c += a b. Below compute capability 8.0, two instructions with 8 columns of a each; bfloat16 is
 * not available there, and the host must not launch it. */
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
