/* lookback.cuh - decoupled look-back (D. Merrill, M. Garland 2016): a prefix sum in one pass over
 * memory. Each block publishes its tile's aggregate, then, once it has the prefix of the tiles
 * before, its inclusive prefix. A block gets its exclusive prefix from the states of its
 * predecessors.
 *
 * Forward progress: a block may only wait for blocks that are certain to run. So blocks take their
 * tile index from an atomic counter when they start, and wait only for lower indices. Access words
 * that blocks exchange only by the functions of this file. */
#ifndef LT_CUDA_LOOKBACK_CUH
#define LT_CUDA_LOOKBACK_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <string.h>

#include "block.cuh"

/* Status of a tile: nothing, its aggregate, or its inclusive prefix is published. */
enum : uint64_t { LT_TILE_SILENT = 0, LT_TILE_OWN = 1, LT_TILE_ALL = 2 };

/* Store-release and load-acquire at device scope. */
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

/* Start index of this block, from an atomic counter. Contains a barrier. */
static __device__ __forceinline__ unsigned lt_block_started(unsigned *counter, unsigned *shared)
{
    if (threadIdx.x == 0) *shared = atomicAdd(counter, 1u);
    __syncthreads();
    return *shared;
}

/* Published state of a tile: status, aggregate, inclusive prefix. All bytes 0 before the launch. */
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

/* Exclusive prefix of `tile`, in a row with first tile `first`; called by a whole warp. Spins until
 * one of the 32 tiles before has published its inclusive prefix, and joins from there on in tile
 * order: rounding does not depend on which tile that was. from_lane(value, lane): shuffle from
 * another lane. */
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
