/* lookback.cuh - what blocks of one launch tell each other, for running totals in one pass over
 * memory ("decoupled look-back": D. Merrill, M. Garland 2016): a block says what its own tile comes
 * to, then, once it knows what comes before, what all tiles up to its own come to; the next ones
 * look back as far as they must.
 *
 * A block may wait for another only if that one surely runs: blocks take numbers from a counter as
 * they start, and wait for lower ones alone. Words that blocks exchange are read and written by the
 * functions here. */
#ifndef LT_CUDA_LOOKBACK_CUH
#define LT_CUDA_LOOKBACK_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <string.h>

#include "block.cuh"

/* What a tile has said. */
enum : uint64_t { LT_TILE_SILENT = 0, LT_TILE_OWN = 1, LT_TILE_ALL = 2 };

/* What is written before lt_store_release is there for those who see its word by lt_load_acquire. */
static __device__ __forceinline__ void lt_store_release(uint64_t *p, uint64_t word)
{
#ifdef __CUDA_ARCH__
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(word) : "memory");
#else
    __atomic_store_n(p, word, __ATOMIC_RELEASE);
#endif
}
static __device__ __forceinline__ uint64_t lt_load_acquire(const uint64_t *p)
{
#ifdef __CUDA_ARCH__
    uint64_t word;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(p) : "memory");
    return word;
#else
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}

/* The number of this block among those that have started. Threads meet. */
static __device__ __forceinline__ unsigned lt_block_started(unsigned *counter, unsigned *shared)
{
    if (threadIdx.x == 0) *shared = atomicAdd(counter, 1u);
    __syncthreads();
    return *shared;
}

/* What a tile says: what it has said so far, its own total, that of all up to it. All 0 before the
 * launch. */
template <class T> struct lt_tile_total {
    static constexpr int WORDS = (sizeof(T) + 7) / 8;
    uint64_t said, own[WORDS], all[WORDS];

    static __device__ __forceinline__ void put(uint64_t *words, T value)
    {
        uint64_t parts[WORDS] = {};
        memcpy(parts, &value, sizeof value);
        for (int i = 0; i < WORDS; i++) lt_store_release(words + i, parts[i]);
    }
    static __device__ __forceinline__ T get(const uint64_t *words)
    {
        uint64_t parts[WORDS];
        T value;
        for (int i = 0; i < WORDS; i++) parts[i] = lt_load_acquire(words + i);
        memcpy(&value, parts, sizeof value);
        return value;
    }
    __device__ __forceinline__ void say_own(T value)
    {
        put(own, value);
        lt_store_release(&said, LT_TILE_OWN);
    }
    __device__ __forceinline__ void say_all(T value)
    {
        put(all, value);
        lt_store_release(&said, LT_TILE_ALL);
    }
};

/* The total of all tiles before `tile`, of a line whose first one is `first`; called by a whole
 * warp. One of the 32 before must have said its total of all: from there on tiles are joined in
 * their order, so that rounding is always the same, whichever of them that was. from_lane(value,
 * lane): a value of another lane. */
template <class T, class Join, class FromLane>
static __device__ __forceinline__ T lt_total_before(const lt_tile_total<T> *first, int64_t tile,
                                                    Join join, FromLane from_lane)
{
    const int lane = static_cast<int>(threadIdx.x) % LT_WARP;
    const lt_tile_total<T> *const mine = first + (tile - 1 - lane);
    for (;;) {
        const uint64_t said = lane < tile ? lt_load_acquire(&mine->said) : LT_TILE_ALL;
        const unsigned all = __ballot_sync(0xffffffffu, said == LT_TILE_ALL),
                       silent = __ballot_sync(0xffffffffu, said == LT_TILE_SILENT);
        const int from = __ffs(static_cast<int>(all)) - 1;
        if (from < 0 || (silent & ((1u << from) - 1)) != 0) {
            __nanosleep(40);
            continue;
        }
        T value = {};
        if (lane <= from && lane < tile)
            value = lt_tile_total<T>::get(said == LT_TILE_ALL ? mine->all : mine->own);
        T total = from_lane(value, from);
        for (int l = from - 1; l >= 0; l--) total = join(total, from_lane(value, l));
        return total;
    }
}

#endif
