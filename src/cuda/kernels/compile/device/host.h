/* host.h - CUDA's front door for generated kernels that the host's compiler compiles: what they use
 * of sim/include/cuda_runtime.h. */
#ifndef LT_SIM_CUDA_RUNTIME_H
#define LT_SIM_CUDA_RUNTIME_H

#define LT_FUSED_ON_HOST /* a thread at a time, and none waits for another */

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
