/* cuda_fp16.h - float16 for kernels: a storage type; arithmetic is in float.
 *
 * Conversions from float round to nearest even and preserve NaN. Arithmetic on __half itself is
 * omitted, since it would round after every step. */
#ifndef LT_SIM_CUDA_FP16_H
#define LT_SIM_CUDA_FP16_H

#include "cuda_runtime.h"
#include "sim/half.h"

static inline __half atomicAdd(__half *p, __half v)
{
    return lt_sim::atomic_update<unsigned short>(
        p, [v](__half old) { return __float2half_rn(__half2float(old) + __half2float(v)); });
}

/* Adds the two halves separately, as a GPU does. Adding -0 changes nothing and is skipped, so that
 * half is not accessed. Returns nothing: no kernel uses the old value. */
static inline void atomicAdd(__half2 *p, __half2 v)
{
    if (v.x.bits != 0x8000u) atomicAdd(&p->x, v.x);
    if (v.y.bits != 0x8000u) atomicAdd(&p->y, v.y);
}

#endif
