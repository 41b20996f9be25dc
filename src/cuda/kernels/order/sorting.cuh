/* sorting.cuh - shared by sort (sort.cu) and selection (select.cu) of rows: mapping of elements to
 * sortable keys, and bitonic sort of pairs in shared memory.
 *
 * An element maps to an unsigned 32- or 64-bit key with the same order: NaN is the largest, -0
 * equals 0, descending order uses the complement. Pairs of key and index are distinct, so any sort
 * of them is stable. */
#ifndef LT_CUDA_SORTING_CUH
#define LT_CUDA_SORTING_CUH

#include "cuda.h"
#include "kernels/block.cuh"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "radix.cuh"

enum { LT_SORTED_AT_ONCE = 1024 }; /* pairs per block; a power of two */

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

/* Tensors: 0 is the input, 1 the values, 2 the indices; 1 and 2 may be absent. */
template <class K> struct lt_sorting {
    lt_slice_offsets<3> lines;
    bool descending;
    K least;           /* smallest key: subtracted, so that narrow dtypes have few key bits */
    int64_t padded;    /* length of a short row, rounded up to a power of two */
    int64_t wanted;    /* number of results per row */
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

/* Stores the element with this index as result `at` of a row. */
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

/* Bitonic sort of each run of `length` (a power of two) consecutive slots of the block. */
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

/* Computes only the first a.wanted (at most LT_SORTED_AT_ONCE) results of long rows. Bits [low,
 * high) of the keys are significant, a multiple of the digit size. a.pairs is not used. */
template <class C, class K>
lt_status lt_select(const lt_sorting<K> &a, int low, int high, int device, cudaStream_t stream);

#endif
