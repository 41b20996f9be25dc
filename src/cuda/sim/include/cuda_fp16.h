/* cuda_fp16.h - float16 as kernels use it: a type for storage, computed with in float.
 *
 * Conversions from float round to nearest even and keep NaN a NaN. Arithmetic on __half itself is
 * left out: a kernel that needs it would round after every step. */
#ifndef LT_SIM_CUDA_FP16_H
#define LT_SIM_CUDA_FP16_H

#include "cuda_runtime.h"
#include "sim/half.h"

static inline __half atomicAdd(__half *p, __half v)
{
    return lt_sim::atomic_update<unsigned short>(
        p, [v](__half old) { return __float2half_rn(__half2float(old) + __half2float(v)); });
}

/* Halves one by one, as on a GPU: a half to which -0 is added stays as it is, and is not looked at.
 * What was there is not given back: no kernel asks. */
static inline void atomicAdd(__half2 *p, __half2 v)
{
    if (v.x.bits != 0x8000u) atomicAdd(&p->x, v.x);
    if (v.y.bits != 0x8000u) atomicAdd(&p->y, v.y);
}

#endif
