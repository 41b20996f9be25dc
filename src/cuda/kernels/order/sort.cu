/* sort.cu - stable sorting of lines along a dimension, with the positions that the elements had.
 *
 * An element becomes an unsigned key of 32 or 64 bits whose order is that of the elements: nan is the largest,
 * the zeros are equal, and a descending order is that of the complements. Pairs of key and position are all
 * different, so that any sort of them is stable. A block sorts TILE of them by a bitonic network in shared
 * memory: several short lines, or a tile of a long one. Tiles are then merged two by two: a block makes one
 * tile of the result, from the piece of each of the two runs that a search finds for it. The last kernel fetches
 * the values by position. */
#include "cuda.h"
#include "kernels/element.cuh"
#include "kernels/launch.cuh"
#include "kernels/offsets.cuh"

enum {
    BLOCK = 256,
    TILE = 1024, /* pairs that a block sorts or merges; a power of two */
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

/* Moved by one access. */
template <class K> struct alignas(sizeof(K) == 8 ? 16 : 8) pair {
    K key;
    uint32_t index;
};

template <class K> static __device__ __forceinline__ bool less(pair<K> a, pair<K> b)
{
    return a.key < b.key || (a.key == b.key && a.index < b.index);
}

/* ---- kernels -------------------------------------------------------------------------------------------------- */

/* Tensor 0: input, 1: values, 2: positions; the latter two may be absent. */
template <class K> struct sorting {
    lt_lines<3> lines;
    bool descending;
    int64_t tiles;   /* of a line */
    int64_t padded;  /* elements of a short line, up to a power of two */
    int64_t width;   /* elements that are sorted before a merge */
    int64_t wanted;  /* places of a sorted line, from the first on */
    pair<K> *from, *to; /* [lines][length] */
};

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
static __device__ __forceinline__ void bitonic_sort(pair<K> *shared, int slots, int length)
{
    for (int size = 2; size <= length; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            for (int i = static_cast<int>(threadIdx.x); i < slots / 2; i += static_cast<int>(blockDim.x)) {
                const int low = 2 * i - (i & (distance - 1)), high = low + distance;
                const bool up = (low & size) == 0 || size == length;
                if (less(shared[high], shared[low]) == up) {
                    const pair<K> kept = shared[low];
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
    __shared__ pair<K> shared[TILE];
    const int64_t first = static_cast<int64_t>(blockIdx.x) * (slots / a.padded);
    int64_t offset[3];
    for (int i = static_cast<int>(threadIdx.x); i < slots; i += static_cast<int>(blockDim.x)) {
        const int64_t line = first + i / a.padded, at = i % a.padded;
        pair<K> p = {static_cast<K>(~K{0}), 0xffffffffu};
        if (line < a.lines.count && at < a.lines.length) {
            a.lines.lines.at(line, offset);
            const K key = key_of(lt_load<C>(a.lines.dtype[0], a.lines.data[0] + offset[0] + at * a.lines.step[0]));
            p.key = a.descending ? static_cast<K>(~key) : key;
            p.index = static_cast<uint32_t>(at);
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

/* One tile of a long line. */
template <class C, class K> static __global__ void __launch_bounds__(BLOCK) sort_tile(sorting<K> a)
{
    __shared__ pair<K> shared[TILE];
    const int64_t line = blockIdx.x / a.tiles, first = blockIdx.x % a.tiles * TILE, n = a.lines.length;
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    for (int i = static_cast<int>(threadIdx.x); i < TILE; i += BLOCK) {
        const int64_t at = first + i;
        pair<K> p = {static_cast<K>(~K{0}), 0xffffffffu};
        if (at < n) {
            const K key = key_of(lt_load<C>(a.lines.dtype[0], a.lines.data[0] + offset[0] + at * a.lines.step[0]));
            p.key = a.descending ? static_cast<K>(~key) : key;
            p.index = static_cast<uint32_t>(at);
        }
        shared[i] = p;
    }
    bitonic_sort(shared, TILE, TILE);
    for (int i = static_cast<int>(threadIdx.x); i < TILE; i += BLOCK)
        if (first + i < n) a.from[line * n + first + i] = shared[i];
}

/* How many of the first `taken` pairs of the merged runs come from the first run. */
template <class K>
static __device__ __forceinline__ int64_t split(const pair<K> *left, int64_t left_length,
                                                const pair<K> *right, int64_t right_length, int64_t taken)
{
    int64_t low = taken > right_length ? taken - right_length : 0;
    int64_t high = taken < left_length ? taken : left_length;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (less(left[middle], right[taken - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One tile of what two neighbouring runs become. */
template <class K> static __global__ void __launch_bounds__(BLOCK) merge_tile(sorting<K> a)
{
    __shared__ pair<K> shared[TILE];
    __shared__ int64_t bounds[2];
    const int64_t line = blockIdx.x / a.tiles, first = blockIdx.x % a.tiles * TILE, n = a.lines.length;
    const int64_t start = first / (2 * a.width) * (2 * a.width);
    const int64_t middle = start + a.width < n ? start + a.width : n;
    const int64_t end = middle + a.width < n ? middle + a.width : n;
    const int64_t last = first + TILE < n ? first + TILE : n;
    const pair<K> *left = a.from + line * n + start, *right = a.from + line * n + middle;
    if (threadIdx.x < 2)
        bounds[threadIdx.x] =
            split(left, middle - start, right, end - middle, (threadIdx.x == 0 ? first : last) - start);
    __syncthreads();
    const int64_t left_from = bounds[0], right_from = first - start - left_from;
    const int lefts = static_cast<int>(bounds[1] - left_from);
    const int count = static_cast<int>(last - first), rights = count - lefts;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += BLOCK)
        shared[i] = i < lefts ? left[left_from + i] : right[right_from + i - lefts];
    __syncthreads();
    /* A pair's place: its own number and that of the smaller ones in the other piece. */
    for (int i = static_cast<int>(threadIdx.x); i < count; i += BLOCK) {
        const pair<K> own = shared[i];
        const pair<K> *other = i < lefts ? shared + lefts : shared;
        int low = 0, high = i < lefts ? rights : lefts;
        while (low < high) {
            const int at = (low + high) / 2;
            if (less(other[at], own))
                low = at + 1;
            else
                high = at;
        }
        a.to[line * n + first + (i < lefts ? i : i - lefts) + low] = own;
    }
}

template <class C, class K> static __global__ void __launch_bounds__(BLOCK) deliver_lines(sorting<K> a)
{
    const int64_t number = lt_thread_number();
    if (number >= a.lines.count * a.wanted) return;
    const int64_t line = number / a.wanted, at = number % a.wanted;
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    deliver<C>(a, offset, at, a.from[line * a.lines.length + at].index);
}

/* ---- launching --------------------------------------------------------------------------------------------------- */

template <class C, class K>
static lt_status run(bool descending, const lt_array *values, const lt_array *indices, const lt_array *in,
                     int dim, cudaStream_t stream)
{
    const lt_array *const arrays[] = {in, values, indices};
    lt_cuda_scratch pairs;
    sorting<K> a = {lt_lines<3>(arrays, dim), descending, 1, 2, TILE, 0, nullptr, nullptr};
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
    a.tiles = (n + TILE - 1) / TILE;
    const size_t bytes = static_cast<size_t>(count * n) * sizeof(pair<K>);
    const unsigned blocks = static_cast<unsigned>(count * a.tiles);
    LT_TRY(pairs.take(in->device.index, 2 * bytes));
    a.from = pairs.as<pair<K>>();
    a.to = pairs.as<pair<K>>(bytes);
    LT_LAUNCH_MEET((sort_tile<C, K>), blocks, BLOCK, 0, stream, a);
    for (; a.width < n; a.width *= 2) {
        LT_LAUNCH_MEET(merge_tile<K>, blocks, BLOCK, 0, stream, a);
        pair<K> *const merged = a.to;
        a.to = a.from;
        a.from = merged;
    }
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
