/* atomics.h - CUDA's atomic functions, for the types that CUDA supports.
 *
 * Blocks run on several OS threads, so these are real atomics. Their memory order is stronger than
 * a GPU's, so that ThreadSanitizer accepts the usual pattern "fence, then count finished blocks".
 */
#ifndef LT_SIM_ATOMICS_H
#define LT_SIM_ATOMICS_H

#include <atomic>
#include <string.h>

namespace lt_sim {

/* Compare-and-swap loop. Bits is an integer type of T's size. Returns the old value. */
template <class Bits, class T, class F> T atomic_update(T *address, F change)
{
    static_assert(sizeof(Bits) == sizeof(T), "bits of the value's size");
    Bits *bits = reinterpret_cast<Bits *>(address);
    Bits old = __atomic_load_n(bits, __ATOMIC_RELAXED), wanted;
    T value;
    do {
        memcpy(&value, &old, sizeof value);
        T changed = change(value);
        memcpy(&wanted, &changed, sizeof wanted);
    } while (
        !__atomic_compare_exchange_n(bits, &old, wanted, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return value;
}

inline std::atomic<int> fence{0};

} // namespace lt_sim

/* A read-modify-write of one variable: a full barrier that ThreadSanitizer recognizes. */
static inline void __threadfence() { lt_sim::fence.fetch_add(1, std::memory_order_seq_cst); }
static inline void __threadfence_block() { __threadfence(); }
static inline void __threadfence_system() { __threadfence(); }

#define INTEGER_ATOMICS(T)                                                                         \
    static inline T atomicAdd(T *p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL); }    \
    static inline T atomicAnd(T *p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_ACQ_REL); }    \
    static inline T atomicOr(T *p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_ACQ_REL); }      \
    static inline T atomicXor(T *p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_ACQ_REL); }    \
    static inline T atomicExch(T *p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL); }  \
    static inline T atomicMin(T *p, T v)                                                           \
    {                                                                                              \
        return lt_sim::atomic_update<T>(p, [v](T old) { return v < old ? v : old; });              \
    }                                                                                              \
    static inline T atomicMax(T *p, T v)                                                           \
    {                                                                                              \
        return lt_sim::atomic_update<T>(p, [v](T old) { return v > old ? v : old; });              \
    }

INTEGER_ATOMICS(int)
INTEGER_ATOMICS(unsigned int)
INTEGER_ATOMICS(unsigned long long)
#undef INTEGER_ATOMICS

#define ATOMIC_CAS(T)                                                                              \
    static inline T atomicCAS(T *p, T expected, T v)                                               \
    {                                                                                              \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);   \
        return expected;                                                                           \
    }

ATOMIC_CAS(unsigned short)
ATOMIC_CAS(int)
ATOMIC_CAS(unsigned int)
ATOMIC_CAS(unsigned long long)
#undef ATOMIC_CAS

/* The only 64-bit signed atomics that CUDA has. */
static inline long long atomicMin(long long *p, long long v)
{
    return lt_sim::atomic_update<long long>(p, [v](long long old) { return v < old ? v : old; });
}

static inline long long atomicMax(long long *p, long long v)
{
    return lt_sim::atomic_update<long long>(p, [v](long long old) { return v > old ? v : old; });
}

static inline float atomicAdd(float *p, float v)
{
    return lt_sim::atomic_update<unsigned>(p, [v](float old) { return old + v; });
}

static inline double atomicAdd(double *p, double v)
{
    return lt_sim::atomic_update<unsigned long long>(p, [v](double old) { return old + v; });
}

static inline float atomicExch(float *p, float v)
{
    return lt_sim::atomic_update<unsigned>(p, [v](float) { return v; });
}

/* Wraps to 0 after `limit`; used by kernels to detect the last finished block. */
static inline unsigned int atomicInc(unsigned int *p, unsigned int limit)
{
    return lt_sim::atomic_update<unsigned>(
        p, [limit](unsigned old) { return old >= limit ? 0 : old + 1; });
}

#endif
