/* host.h - the part of sim/include/cuda_runtime.h that generated kernels need, for when the
 * simulator compiles them with the host's compiler. */
#ifndef LT_SIM_CUDA_RUNTIME_H
#define LT_SIM_CUDA_RUNTIME_H

#define LT_FUSED_ON_HOST /* threads run one by one, without barriers */

#define __device__
#define __host__
#define __forceinline__ inline

#include "float_bits.h"
#include "truncated.h"

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline unsigned atomicInc(unsigned *p, unsigned limit)
{
    unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &old, old >= limit ? 0 : old + 1, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return old;
}

#endif
