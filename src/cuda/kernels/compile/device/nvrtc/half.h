/* half.h - for NVRTC, replaces <cuda_fp16.h> and <cuda_bf16.h>, which may not be installed: half
 * types as elements, with the same rounding. */
#ifndef LT_NVRTC_HALF_H
#define LT_NVRTC_HALF_H

struct __half {
    unsigned short bits;
};
struct __nv_bfloat16 {
    unsigned short bits;
};

static __device__ __forceinline__ float __half2float(__half value)
{
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
}
static __device__ __forceinline__ __half __float2half_rn(float value)
{
    __half result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}
static __device__ __forceinline__ float __bfloat162float(__nv_bfloat16 value)
{
    return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}
static __device__ __forceinline__ __nv_bfloat16 __float2bfloat16_rn(float value)
{
    __nv_bfloat16 result;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
#else
    const unsigned bits = __float_as_uint(value);
    result.bits = (bits & 0x7fffffffu) > 0x7f800000u
                      ? 0x7fff
                      : static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
    return result;
}

#endif
