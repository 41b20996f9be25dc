/* sort.cu - stable sorting of lines along a dimension, with the positions that the elements had.
 *
 * An element becomes an unsigned key of 32 or 64 bits whose order is that of the elements: nan is the largest,
 * the zeros are equal, and a descending order is that of the complements. Pairs of key and position are all
 * different, so that any sort of them is stable. Short lines are sorted by a bitonic network in shared memory, several a
 * block; long ones digit by digit (radix.cu), of as many bits as the keys of the dtype have. The last kernel fetches
 * the values by position. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"
#include "radix.cuh"

enum {
    BLOCK = 256,
    TILE = 1024, /* pairs that a block sorts; a power of two */
};

/* ---- keys --------------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t key_of(float x)
{
    union {
        float value;
        uint32_t bits;
    } u;
    if (x != x) return 0xffffffffu;
    u.value = x == 0 ? 0.0f : x;
    return u.bits >> 31 ? ~u.bits : u.bits | 0x80000000u;
}

static __device__ __forceinline__ uint64_t key_of(double x)
{
    union {
        double value;
        uint64_t bits;
    } u;
    if (x != x) return ~uint64_t{0};
    u.value = x == 0 ? 0.0 : x;
    return u.bits >> 63 ? ~u.bits : u.bits | uint64_t{1} << 63;
}

static __device__ __forceinline__ uint32_t key_of(int32_t x)
{
    return static_cast<uint32_t>(x) ^ 0x80000000u;
}
static __device__ __forceinline__ uint64_t key_of(int64_t x)
{
    return static_cast<uint64_t>(x) ^ uint64_t{1} << 63;
}

template <class K> static __device__ __forceinline__ bool less(lt_pair<K> a, lt_pair<K> b)
{
    return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/* ---- kernels -------------------------------------------------------------------------------------------------- */

/* Tensor 0: input, 1: values, 2: positions; the latter two may be absent. */
template <class K> struct sorting {
    lt_lines<3> lines;
    bool descending;
    K least;           /* subtracted from keys, so that those of narrow dtypes have few bits */
    int64_t padded;    /* elements of a short line, up to a power of two */
    int64_t wanted;    /* places of a sorted line, from the first on */
    lt_pair<K> *pairs; /* [lines][length] */
};

template <class C, class K>
static __device__ __forceinline__ lt_pair<K> pair_at(const sorting<K> &a, const int64_t *offset, int64_t at)
{
    const C value = lt_load<C>(a.lines.dtype[0], a.lines.data[0] + offset[0] + at * a.lines.step[0]);
    const K key = static_cast<K>(key_of(value) - a.least);
    return {a.descending ? static_cast<K>(~key) : key, static_cast<uint32_t>(at)};
}

/* Stores what comes to place `at` of a line. */
template <class C, class K>
static __device__ __forceinline__ void deliver(const sorting<K> &a, const int64_t *offset, int64_t at,
                                               uint32_t index)
{
    const lt_lines<3> &lines = a.lines;
    if (lines.data[1] != nullptr) {
        const C value = lt_load<C>(lines.dtype[0], lines.data[0] + offset[0] + index * lines.step[0]);
        lt_store<C>(lines.dtype[1], lines.data[1] + offset[1] + at * lines.step[1], value);
    }
    if (lines.data[2] != nullptr)
        lt_store<int64_t>(LT_INT64, lines.data[2] + offset[2] + at * lines.step[2], index);
}

/* Each run of `length` of the block's slots, a power of two. */
template <class K>
static __device__ __forceinline__ void bitonic_sort(lt_pair<K> *shared, int slots, int length)
{
    for (int size = 2; size <= length; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            for (int i = static_cast<int>(threadIdx.x); i < slots / 2; i += static_cast<int>(blockDim.x)) {
                const int low = 2 * i - (i & (distance - 1)), high = low + distance;
                const bool up = (low & size) == 0 || size == length;
                if (less(shared[high], shared[low]) == up) {
                    const lt_pair<K> kept = shared[low];
                    shared[low] = shared[high];
                    shared[high] = kept;
                }
            }
        }
    __syncthreads();
}

/* C: elements as read. Short lines, several a block: sorted and done with. */
template <class C, class K>
static __global__ void __launch_bounds__(BLOCK) sort_short(sorting<K> a, int slots)
{
    __shared__ lt_pair<K> shared[TILE];
    const int64_t first = static_cast<int64_t>(blockIdx.x) * (slots / a.padded);
    int64_t offset[3];
    for (int i = static_cast<int>(threadIdx.x); i < slots; i += static_cast<int>(blockDim.x)) {
        const int64_t line = first + i / a.padded, at = i % a.padded;
        lt_pair<K> p = {static_cast<K>(~K{0}), 0xffffffffu};
        if (line < a.lines.count && at < a.lines.length) {
            a.lines.lines.at(line, offset);
            p = pair_at<C>(a, offset, at);
        }
        shared[i] = p;
    }
    bitonic_sort(shared, slots, static_cast<int>(a.padded));
    for (int i = static_cast<int>(threadIdx.x); i < slots; i += static_cast<int>(blockDim.x)) {
        const int64_t line = first + i / a.padded, at = i % a.padded;
        if (line >= a.lines.count || at >= a.wanted) continue;
        a.lines.lines.at(line, offset);
        deliver<C>(a, offset, at, shared[i].index);
    }
}

template <class C, class K> static __global__ void __launch_bounds__(BLOCK) make_pairs(sorting<K> a)
{
    const int64_t number = lt_thread_number(), n = a.lines.length;
    if (number >= a.lines.count * n) return;
    const int64_t line = a.lines.count == 1 ? 0 : number / n;
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    const lt_pair<K> p = pair_at<C>(a, offset, number - line * n);
    a.pairs[number] = p;
}

template <class C, class K> static __global__ void __launch_bounds__(BLOCK) deliver_lines(sorting<K> a)
{
    const int64_t number = lt_thread_number();
    if (number >= a.lines.count * a.wanted) return;
    const int64_t line = a.lines.count == 1 ? 0 : number / a.wanted, at = number - line * a.wanted;
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    deliver<C>(a, offset, at, a.pairs[line * a.lines.length + at].index);
}

/* ---- launching --------------------------------------------------------------------------------------------------- */

template <class C, class K>
static lt_status run(bool descending, const lt_array *values, const lt_array *indices, const lt_array *in,
                     int dim, cudaStream_t stream)
{
    const lt_array *const arrays[] = {in, values, indices};
    lt_cuda_scratch pairs;
    sorting<K> a = {lt_lines<3>(arrays, dim), descending, 0, 2, 0, nullptr};
    const int64_t n = a.lines.length, count = a.lines.count;
    const lt_array *const out = values != nullptr ? values : indices;
    a.wanted = out->ndim > 0 ? out->sizes[dim] : 1;
    if (count == 0 || a.wanted == 0) return LT_OK;
    if (n >= int64_t{1} << 32)
        return lt_cuda_core->error(LT_ERR_RUNTIME, "sort: a dimension of %lld elements is too large for a GPU",
                                   static_cast<long long>(n));
    if (n <= TILE) {
        while (a.padded < n) a.padded *= 2;
        int slots = static_cast<int>(a.padded);
        while (slots < TILE && slots / a.padded < count) slots *= 2;
        const int threads = slots / 2 < 32 ? 32 : slots / 2 < BLOCK ? slots / 2 : BLOCK;
        LT_LAUNCH_MEET((sort_short<C, K>), lt_blocks(count, static_cast<int>(slots / a.padded)), threads, 0, stream,
                       a, slots);
        return lt_cuda_launched(in->device.index, stream, "sort");
    }
    const size_t bytes = static_cast<size_t>(count * n) * sizeof(lt_pair<K>);
    LT_TRY(pairs.take(in->device.index, 2 * bytes));
    a.pairs = pairs.as<lt_pair<K>>();
    lt_radix_job<K> job = {in->device.index, stream, count, n, 0, 8 * sizeof(K), a.pairs, pairs.as<lt_pair<K>>(bytes)};
    switch (in->dtype) { /* the bits in which keys differ */
    case LT_BOOL: /* keys of integers, 32 bits, less the smallest */
    case LT_UINT8: a.least = static_cast<K>(0x80000000u), job.high = 8; break;
    case LT_INT8: a.least = static_cast<K>(0x80000000u - 0x80u), job.high = 8; break;
    case LT_INT16: a.least = static_cast<K>(0x80000000u - 0x8000u), job.high = 16; break;
    case LT_FLOAT16: job.low = 8; break; /* keys of floats: 13 bits below are those of all */
    case LT_BFLOAT16: job.low = 16; break;
    default: break;
    }
    LT_LAUNCH((make_pairs<C, K>), lt_blocks(count * n, BLOCK), BLOCK, stream, a);
    LT_TRY(lt_radix_sort(job, &a.pairs));
    LT_LAUNCH((deliver_lines<C, K>), lt_blocks(count * a.wanted, BLOCK), BLOCK, stream, a);
    return lt_cuda_launched(in->device.index, stream, "sort");
}

lt_status lt_cuda_sort(bool descending, const lt_array *values, const lt_array *indices, const lt_array *in, int dim)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(in->device.index, &stream));
    if (in->dtype == LT_FLOAT64) return run<double, uint64_t>(descending, values, indices, in, dim, stream);
    if (in->dtype == LT_INT64) return run<int64_t, uint64_t>(descending, values, indices, in, dim, stream);
    if (lt_is_floating(in->dtype)) return run<float, uint32_t>(descending, values, indices, in, dim, stream);
    return run<int32_t, uint32_t>(descending, values, indices, in, dim, stream);
}
