/* cuda_bf16.h - bfloat16 as kernels use it: a type for storage, computed with in float.
 *
 * Conversions from float round to nearest even and keep NaN a NaN. */
#ifndef LT_SIM_CUDA_BF16_H
#define LT_SIM_CUDA_BF16_H

#include "cuda_runtime.h"
#include "sim/bfloat16.h"

static inline __nv_bfloat16 atomicAdd(__nv_bfloat16 *p, __nv_bfloat16 v)
{
    return lt_sim::atomic_update<unsigned short>(p, [v](__nv_bfloat16 old) {
        return __float2bfloat16_rn(__bfloat162float(old) + __bfloat162float(v));
    });
}

/* Halves one by one, as on a GPU: a half to which -0 is added stays as it is, and is not looked at.
 * What was there is not given back: no kernel asks. */
static inline void atomicAdd(__nv_bfloat162 *p, __nv_bfloat162 v)
{
    if (v.x.bits != 0x8000u) atomicAdd(&p->x, v.x);
    if (v.y.bits != 0x8000u) atomicAdd(&p->y, v.y);
}

#endif
