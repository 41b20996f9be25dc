/* cuda_bf16.h - bfloat16 for kernels: a storage type; arithmetic is in float.
 *
 * Conversions from float round to nearest even and preserve NaN. */
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

/* Adds the two halves separately, as a GPU does. Adding -0 changes nothing and is skipped, so that
 * half is not accessed. Returns nothing: no kernel uses the old value. */
static inline void atomicAdd(__nv_bfloat162 *p, __nv_bfloat162 v)
{
    if (v.x.bits != 0x8000u) atomicAdd(&p->x, v.x);
    if (v.y.bits != 0x8000u) atomicAdd(&p->y, v.y);
}

#endif
