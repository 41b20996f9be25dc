/* extreme.cu - max and min along a dimension, with the index of the first extreme element; NaN
 * counts as extreme. Elements are loaded as float, double or int64_t. Short or interleaved rows:
 * one thread per row; else a team of threads. Long rows are split into shares (chunks); the last
 * team to finish joins their results, or a second kernel if single threads computed them. */
#include <stdlib.h>

#include "cuda.h"
#include "kernels/block.cuh"
#include "kernels/element.cuh"
#include "kernels/offsets.cuh"

enum {
    BLOCK = 256,
    ITEMS = 4, /* elements per step of a thread in a team; */
    ROW = 8,   /* if contiguous, or the thread works alone */
    LEAST_PER_THREAD = 64
};

/* index < 0: none yet. Aligned, so that the compiler makes one 16-byte access. */
template <class C> struct alignas(16) best {
    C value;
    int64_t index;
};

/* Xor shuffle of both members (see join.cuh). */
template <class C> static __device__ __forceinline__ best<C> lt_from_lane(best<C> own, int lanes)
{
    return {lt_from_lane(own.value, lanes), lt_from_lane(own.index, lanes)};
}

/* Stores and loads a partial result that another block reads (see join.cuh). */
template <class C> static __device__ __forceinline__ void leave_best(best<C> *p, best<C> found)
{
    lt_leave(&p->value, found.value);
    lt_leave(&p->index, found.index);
}
template <class C> static __device__ __forceinline__ best<C> left(const best<C> *p)
{
    return {lt_left(&p->value), lt_left(&p->index)};
}

/* Maps elements so that the search is always for the maximum: negates them for a minimum. Its own
 * inverse. */
struct sense {
    bool maximum;

    __device__ __forceinline__ float of(float x) const { return maximum ? x : -x; }
    __device__ __forceinline__ double of(double x) const { return maximum ? x : -x; }
    __device__ __forceinline__ int64_t of(int64_t x) const { return maximum ? x : ~x; }
};

/* Whether x is larger than y. NaN is larger than every number, and nothing is larger than NaN. */
template <class C> static __device__ __forceinline__ bool beats(C x, C y)
{
    return y == y && !(x <= y);
}
template <class C> static __device__ __forceinline__ best<C> better(best<C> a, best<C> b)
{
    if (b.index < 0) return a;
    if (a.index < 0 || beats(b.value, a.value)) return b;
    return beats(a.value, b.value) || a.index < b.index ? a : b;
}

/* Updates *found by N elements, at indices i, i + step, ...; missing elements are filled with x[0].
 * Fast path: usually no element is larger, which takes one comparison per element. */
template <class C, int N>
static __device__ __forceinline__ void update_best(best<C> *found, const C (&x)[N], int64_t i,
                                                   int64_t step)
{
    if (found->index < 0) *found = best<C>{x[0], i};
    bool any = false, numbers = true;
    LT_UNROLLED
    for (int j = 0; j < N; j++) any |= !(x[j] <= found->value);
    if (!any) return;
    LT_UNROLLED
    for (int j = 0; j < N; j++) numbers &= x[j] == x[j];
    C largest = found->value;
    int at = -1;
    if (numbers) {
        LT_UNROLLED
        for (int j = 0; j < N; j++)
            if (x[j] > largest) largest = x[j], at = j;
    } else {
        LT_UNROLLED
        for (int j = 0; j < N; j++)
            if (beats(x[j], largest)) largest = x[j], at = j;
    }
    if (at >= 0) *found = best<C>{largest, i + at * step};
}

/* Tensors: 0 is the input, 1 the values, 2 the indices. */
template <class C> struct extremes {
    lt_slice_offsets<3> lines;
    sense sought;
    int64_t shares, share;
    lt_wide_divider by_lines; /* divides by lines.count */
    bool dense, aligned;      /* rows are contiguous; shares are aligned */
    best<C> *parts;           /* [shares][lines] */
    unsigned *counter;        /* of teams that stored theirs (lt_is_last) */
};

/* Stores the result of a row. */
template <class C>
static __device__ void write_extreme(const extremes<C> &a, int64_t line, best<C> found)
{
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    if (a.lines.data[1] != nullptr)
        lt_store<C>(a.lines.dtype[1], a.lines.data[1] + offset[1], a.sought.of(found.value));
    if (a.lines.data[2] != nullptr)
        lt_store<int64_t>(LT_INT64, a.lines.data[2] + offset[2], found.index);
}

template <class C>
static __device__ void deliver_best(const extremes<C> &a, int64_t line, int64_t share,
                                    best<C> found)
{
    if (a.shares > 1)
        leave_best(a.parts + share * a.lines.count + line, found);
    else
        write_extreme(a, line, found);
}

/* Searches elements first, first + step, ... of one share of a row, N at a time. */
template <int N, class C>
static __device__ __forceinline__ best<C> search_share(const extremes<C> &a, int64_t line,
                                                       int64_t share, int64_t first, int64_t step)
{
    const int64_t from = share * a.share;
    const int64_t to = from + a.share < a.lines.length ? from + a.share : a.lines.length;
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    const char *in = a.lines.data[0] + offset[0];
    const int64_t apart = step * a.lines.step[0];
    in += (from + first) * a.lines.step[0];
    best<C> found = {0, -1};
    LT_NOT_UNROLLED
    for (int64_t i = from + first; i < to; i += N * step, in += N * apart) {
        const char *at[N];
        C x[N];
        for (int j = 0; j < N; j++) at[j] = i + j * step < to ? in + j * apart : in;
        lt_load_many<C, N>(a.lines.dtype[0], at, x);
        for (C &one : x) one = a.sought.of(one);
        update_best(&found, x, i, step);
    }
    return found;
}

/* The same for contiguous elements: ROW of them from each of first * ROW, (first + step) * ROW, ...
 */
template <class C>
static __device__ __forceinline__ best<C> search_dense(const extremes<C> &a, int64_t line,
                                                       int64_t share, int64_t first, int64_t step)
{
    const int64_t from = share * a.share, size = lt_element_size(a.lines.dtype[0]);
    const int64_t to = from + a.share < a.lines.length ? from + a.share : a.lines.length;
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    const char *in = a.lines.data[0] + offset[0];
    best<C> found = {0, -1};
    LT_NOT_UNROLLED
    for (int64_t i = from + first * ROW; i < to; i += ROW * step) {
        const int n = to - i < ROW ? static_cast<int>(to - i) : ROW;
        C x[ROW];
        if constexpr (std::is_floating_point_v<C>)
            lt_load_float_row<C, ROW>(a.lines.dtype[0], in + i * size, x, n, a.aligned);
        else
            lt_load_row<C, ROW>(a.lines.dtype[0], in + i * size, x, n, a.aligned);
        if (n < ROW) {
            LT_UNROLLED
            for (int j = 1; j < ROW; j++)
                if (j >= n) x[j] = x[0];
        }
        LT_UNROLLED
        for (int j = 0; j < ROW; j++) x[j] = a.sought.of(x[j]);
        update_best(&found, x, i, 1);
    }
    return found;
}

template <class C> static __global__ void __launch_bounds__(BLOCK) extreme_by_thread(extremes<C> a)
{
    const int64_t number = lt_thread_number();
    if (number >= a.lines.count * a.shares) return;
    const int64_t share = static_cast<int64_t>(a.by_lines.quotient(static_cast<uint64_t>(number))),
                  line = number - share * a.lines.count;
    deliver_best(a, line, share, search_share<ROW>(a, line, share, 0, 1));
}

/* One team per row and share: the threads along x of a block. A block has several one-warp teams,
 * or one larger team. blockIdx.y is the share. */
template <class C> static __global__ void __launch_bounds__(BLOCK) extreme_by_team(extremes<C> a)
{
    __shared__ best<C> shared[lt_shared_for(BLOCK)];
    const int64_t line = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y,
                  share = blockIdx.y;
    if (line >= a.lines.count) return;
    best<C> found = a.dense ? search_dense(a, line, share, threadIdx.x, blockDim.x)
                            : search_share<ITEMS>(a, line, share, threadIdx.x, blockDim.x);
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    const auto join = [](best<C> x, best<C> y) { return better(x, y); };
    found = lt_block_join(found, shared, join);
    if (thread == 0) deliver_best(a, line, share, found);
    if (a.shares == 1) return;
    const lt_thread_group<best<C>> team = {shared, thread, threads};
    if (!team.last(a.counter, gridDim.x * gridDim.y)) return;
    team.share_among_warps(a.lines.count, [&](int64_t i, const lt_thread_group<best<C>> &warp) {
        best<C> joined = {0, -1};
        LT_NOT_UNROLLED
        for (int64_t part = warp.thread; part < a.shares; part += LT_WARP)
            joined = better(joined, left(a.parts + part * a.lines.count + i));
        joined = lt_warp_join(joined, join);
        if (warp.leads()) write_extreme(a, i, joined);
    });
}

template <class C> static __global__ void __launch_bounds__(BLOCK) join_parts(extremes<C> a)
{
    const int64_t line = lt_thread_number(), shares = a.shares;
    if (line >= a.lines.count) return;
    best<C> found = a.parts[line];
    for (int64_t share = 1; share < shares; share++)
        found = better(found, a.parts[share * a.lines.count + line]);
    write_extreme(a, line, found);
}

template <class C>
static lt_status launch_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                                const lt_array *in, int dim, cudaStream_t stream)
{
    const lt_array *const arrays[] = {in, values, indices};
    lt_cuda_scratch parts;
    extremes<C> a = {
        lt_slice_offsets<3>(arrays, dim), {maximum}, 1, 0, {}, false, false, nullptr, nullptr};
    const lt_slice_offsets<3> &lines = a.lines;
    if (lines.count == 0 || lines.length == 0) return LT_OK;

    const bool beside =
        llabs(lines.step[0]) != lt_element_size(in->dtype) && lines.count >= LT_WARP;
    const bool threads = lines.length <= LT_WARP || beside;
    const int team = threads ? 1 : lt_threads_for(lines.length, ROW, BLOCK);
    const int rows = team == LT_WARP ? BLOCK / LT_WARP : 1;
    const int64_t wanted =
        threads ? LT_ENOUGH_THREADS / lines.count : lt_enough_blocks<C> * rows / lines.count;
    const int64_t most = lines.length / (LEAST_PER_THREAD * team);
    a.shares = wanted < most ? wanted : most;
    if (a.shares < 1) a.shares = 1;
    a.share = (lines.length + a.shares - 1) / a.shares;
    a.by_lines.set(static_cast<uint64_t>(lines.count));
    if (!threads && lines.step[0] == lt_element_size(in->dtype)) {
        a.dense = true;
        a.share = (a.share + ROW * 2 - 1) / (ROW * 2) * (ROW * 2);
        a.shares = (lines.length + a.share - 1) / a.share;
        a.aligned = lt_is_aligned(in->data);
        for (int d = 0; d < lines.lines.ndim; d++)
            if (lines.lines.strides[d][0] % 16 != 0) a.aligned = false;
    }
    if (a.shares > 1) {
        const size_t bytes = static_cast<size_t>(a.shares * lines.count) * sizeof(best<C>);
        LT_TRY(parts.take(in->device.index, bytes + sizeof(unsigned)));
        a.parts = parts.as<best<C>>();
        if (!threads)
            LT_TRY(
                lt_cuda_counter(in->device.index, stream, parts.as<unsigned>(bytes), &a.counter));
    }
    if (threads) {
        LT_LAUNCH(extreme_by_thread<C>, lt_blocks(lines.count * a.shares, BLOCK), BLOCK, stream, a);
        if (a.shares > 1) LT_LAUNCH(join_parts<C>, lt_blocks(lines.count, BLOCK), BLOCK, stream, a);
    } else {
        const dim3 grid(lt_blocks(lines.count, rows), static_cast<unsigned>(a.shares));
        const dim3 block(static_cast<unsigned>(team), static_cast<unsigned>(rows));
        LT_LAUNCH_BARRIER(extreme_by_team<C>, grid, block, 0, stream, a);
    }
    return lt_cuda_launched(in->device.index, stream, maximum ? "max" : "min");
}

lt_status lt_cuda_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                          const lt_array *in, int dim)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(in->device.index, &stream));
    if (!lt_is_floating(in->dtype))
        return launch_extreme<int64_t>(maximum, values, indices, in, dim, stream);
    if (in->dtype == LT_FLOAT64)
        return launch_extreme<double>(maximum, values, indices, in, dim, stream);
    return launch_extreme<float>(maximum, values, indices, in, dim, stream);
}
