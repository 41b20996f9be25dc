/* sorting.cuh - what sorting lines (sort.cu) and finding the first places of sorted lines
 * (select.cu) share: elements as keys, and short runs of pairs of key and position sorted in shared
 * memory.
 *
 * An element becomes an unsigned key of 32 or 64 bits whose order is that of the elements: nan is
 * the largest, the zeros are equal, and a descending order is that of the complements. Pairs of key
 * and position are all different, so that any sort of them is stable. */
#ifndef LT_CUDA_SORTING_CUH
#define LT_CUDA_SORTING_CUH

#include "cuda.h"
#include "kernels/block.cuh"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "radix.cuh"

enum { LT_SORTED_AT_ONCE = 1024 }; /* pairs that a block sorts; a power of two */

/* ---- keys ------------------------------------------------------------------------------------ */

static __device__ __forceinline__ uint32_t lt_key_of(float x)
{
    union {
        float value;
        uint32_t bits;
    } u;
    if (x != x) return 0xffffffffu;
    u.value = x == 0 ? 0.0f : x;
    return u.bits >> 31 ? ~u.bits : u.bits | 0x80000000u;
}

static __device__ __forceinline__ uint64_t lt_key_of(double x)
{
    union {
        double value;
        uint64_t bits;
    } u;
    if (x != x) return ~uint64_t{0};
    u.value = x == 0 ? 0.0 : x;
    return u.bits >> 63 ? ~u.bits : u.bits | uint64_t{1} << 63;
}

static __device__ __forceinline__ uint32_t lt_key_of(int32_t x)
{
    return static_cast<uint32_t>(x) ^ 0x80000000u;
}
static __device__ __forceinline__ uint64_t lt_key_of(int64_t x)
{
    return static_cast<uint64_t>(x) ^ uint64_t { 1 } << 63;
}

template <class K> static __device__ __forceinline__ bool lt_before(lt_pair<K> a, lt_pair<K> b)
{
    return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/* Tensor 0: input, 1: values, 2: positions; the latter two may be absent. */
template <class K> struct lt_sorting {
    lt_slice_offsets<3> lines;
    bool descending;
    K least;           /* subtracted from keys, so that those of narrow dtypes have few bits */
    int64_t padded;    /* elements of a short line, up to a power of two */
    int64_t wanted;    /* places of a sorted line, from the first on */
    lt_pair<K> *pairs; /* [lines][length] */
};

template <class C, class K>
static __device__ __forceinline__ lt_pair<K> lt_pair_at(const lt_sorting<K> &a,
                                                        const int64_t *offset, int64_t at)
{
    const C value =
        lt_load<C>(a.lines.dtype[0], a.lines.data[0] + offset[0] + at * a.lines.step[0]);
    const K key = static_cast<K>(lt_key_of(value) - a.least);
    return {a.descending ? static_cast<K>(~key) : key, static_cast<uint32_t>(at)};
}

/* Stores what comes to place `at` of a line. */
template <class C, class K>
static __device__ __forceinline__ void lt_deliver(const lt_sorting<K> &a, const int64_t *offset,
                                                  int64_t at, uint32_t index)
{
    const lt_slice_offsets<3> &lines = a.lines;
    if (lines.data[1] != nullptr) {
        const C value =
            lt_load<C>(lines.dtype[0], lines.data[0] + offset[0] + index * lines.step[0]);
        lt_store<C>(lines.dtype[1], lines.data[1] + offset[1] + at * lines.step[1], value);
    }
    if (lines.data[2] != nullptr)
        lt_store<int64_t>(LT_INT64, lines.data[2] + offset[2] + at * lines.step[2], index);
}

/* Each run of `length` of the block's slots, a power of two. */
template <class K>
static __device__ __forceinline__ void lt_bitonic_sort(lt_pair<K> *shared, int slots, int length)
{
    for (int size = 2; size <= length; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            for (int i = static_cast<int>(threadIdx.x); i < slots / 2;
                 i += static_cast<int>(blockDim.x)) {
                const int low = 2 * i - (i & (distance - 1)), high = low + distance;
                const bool up = (low & size) == 0 || size == length;
                if (lt_before(shared[high], shared[low]) == up) {
                    const lt_pair<K> kept = shared[low];
                    shared[low] = shared[high];
                    shared[high] = kept;
                }
            }
        }
    __syncthreads();
}

/* The first places of long lines, as many as are wanted, at most LT_SORTED_AT_ONCE; of the keys
 * bits [low, high) count, whole digits. Without the pairs of a. */
template <class C, class K>
lt_status lt_select(const lt_sorting<K> &a, int low, int high, int device, cudaStream_t stream);

#endif
