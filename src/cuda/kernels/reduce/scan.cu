/* scan.cu - prefix sums (scans) along a dimension: sums, products and logsumexp, in double or
 * int64_t as on the CPU, and running maximum or minimum with indices. Short or interleaved rows:
 * one thread per row. Else a row is split into chunks, one block each, which reads its elements
 * once into registers and gets its exclusive prefix by decoupled look-back (lookback.cuh). The
 * order of joins is fixed, so results are deterministic. */
#include <math.h>
#include <stdlib.h>

#include "cuda.h"
#include "kernels/block.cuh"
#include "kernels/element.cuh"
#include "kernels/lookback.cuh"
#include "kernels/offsets.cuh"

enum {
    BLOCK = 256,
    WARPS = BLOCK / LT_WARP,
    ROW = 8,         /* contiguous elements per access */
    PER_THREAD = 16, /* joined by one thread */
    CHUNK = BLOCK * PER_THREAD,
    SHORT_LINE = 64,
    ENOUGH_LINES = 1 << 10,
};

/* ---- scan ops: types element and state; none(): identity; of(element, index); join(a, b) ----- */

/* Integers wrap. */
struct double_sum {
    using element = double;
    using state = double;
    static __device__ __forceinline__ double none() { return 0; }
    static __device__ __forceinline__ double of(double x, int64_t) { return x; }
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

struct double_product : double_sum {
    static __device__ __forceinline__ double none() { return 1; }
    static __device__ __forceinline__ double join(double a, double b) { return a * b; }
};

struct double_logsumexp : double_sum {
    static __device__ __forceinline__ double none() { return -static_cast<double>(INFINITY); }
    static __device__ __forceinline__ double join(double a, double b)
    {
        const bool first = a > b || a != a;
        const double most = first ? a : b, least = first ? b : a;
        if (most == least && fabs(most) == static_cast<double>(INFINITY)) return most;
        return most + log1p(exp(least - most));
    }
};

struct integer_sum {
    using element = int64_t;
    using state = int64_t;
    static __device__ __forceinline__ int64_t none() { return 0; }
    static __device__ __forceinline__ int64_t of(int64_t x, int64_t) { return x; }
    static __device__ __forceinline__ int64_t join(int64_t a, int64_t b)
    {
        return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }
};

struct integer_product : integer_sum {
    static __device__ __forceinline__ int64_t none() { return 1; }
    static __device__ __forceinline__ int64_t join(int64_t a, int64_t b)
    {
        return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    }
};

/* index < 0: no element yet. Moved by one access. */
template <class C> struct alignas(16) extreme_state {
    C value;
    int64_t index;
};

/* Of equal elements the later one; NaN is extreme. */
template <class C, bool MAXIMUM> struct extreme_of {
    using element = C;
    using state = extreme_state<C>;
    static __device__ __forceinline__ state none() { return state{0, -1}; }
    static __device__ __forceinline__ state of(C x, int64_t index) { return state{x, index}; }
    static __device__ __forceinline__ state join(state a, state b)
    {
        if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
        if (a.value != a.value || b.value != b.value) {
            if (a.value == a.value) return b;
            if (b.value == b.value) return a;
            return a.index > b.index ? a : b;
        }
        if (a.value == b.value) return a.index > b.index ? a : b;
        return (MAXIMUM ? a.value > b.value : a.value < b.value) ? a : b;
    }
};

/* Warp shuffles of a state. */
template <class C> static __device__ __forceinline__ C shuffled_up(C v, unsigned lanes)
{
    return __shfl_up_sync(0xffffffffu, v, lanes);
}
template <class C>
static __device__ __forceinline__ extreme_state<C> shuffled_up(extreme_state<C> v, unsigned lanes)
{
    return {__shfl_up_sync(0xffffffffu, v.value, lanes),
            __shfl_up_sync(0xffffffffu, v.index, lanes)};
}
template <class C> static __device__ __forceinline__ C shuffled(C v, int lane)
{
    return __shfl_sync(0xffffffffu, v, lane);
}
template <class C>
static __device__ __forceinline__ extreme_state<C> shuffled(extreme_state<C> v, int lane)
{
    return {__shfl_sync(0xffffffffu, v.value, lane), __shfl_sync(0xffffffffu, v.index, lane)};
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Tensors: 0 is the input, 1 the output, 2 the indices of extremes. */
template <class Op> struct scan {
    lt_slice_offsets<3> lines;
    /* rows are contiguous in all tensors; rows begin aligned to 16 bytes */
    bool dense, aligned;
    int64_t chunks;
    lt_tile_total<typename Op::state> *tiles; /* [lines][chunks]; null if there is one chunk */
    unsigned *started;
};

/* Loads ROW elements from index i on, of which n exist. */
template <class Op>
static __device__ __forceinline__ void load_elements(const scan<Op> &a, const char *in, int64_t i,
                                                     int n, typename Op::element *x)
{
    using C = typename Op::element;
    const lt_dtype dtype = a.lines.dtype[0];
    const int64_t step = a.lines.step[0];
    if (a.dense) {
        lt_load_row<C, ROW>(dtype, in + i * step, x, n, a.aligned);
        return;
    }
    const char *at[ROW];
    for (int j = 0; j < ROW; j++) at[j] = in + (i + (j < n ? j : 0)) * step;
    lt_load_many<C, ROW>(dtype, at, x);
}

template <class C>
static __device__ __forceinline__ void store_row(const lt_slice_offsets<3> &lines, bool dense,
                                                 bool aligned, const int64_t *offset, int64_t i,
                                                 int n, const C *x)
{
    constexpr int k = 1; /* the operand of the values */
    char *const out = lines.data[k] + offset[k] + i * lines.step[k];
    if (dense) {
        lt_store_row<C, ROW>(lines.dtype[k], out, x, n, aligned);
        return;
    }
    char *at[ROW];
    for (int j = 0; j < ROW; j++) at[j] = out + j * lines.step[k];
    lt_store_many<C, ROW>(lines.dtype[k], at, x, n);
}

template <class Op, class C>
static __device__ __forceinline__ void store_totals(const scan<Op> &a, const int64_t *offset,
                                                    int64_t i, int n, const C *totals)
{
    store_row(a.lines, a.dense, a.aligned, offset, i, n, totals);
}
template <class Op, class C>
static __device__ __forceinline__ void store_totals(const scan<Op> &a, const int64_t *offset,
                                                    int64_t i, int n,
                                                    const extreme_state<C> *totals)
{
    C values[ROW];
    int64_t *const out =
        reinterpret_cast<int64_t *>(a.lines.data[2] + offset[2] + i * a.lines.step[2]);
    LT_UNROLLED
    for (int j = 0; j < ROW; j++) {
        values[j] = totals[j].value;
        if (j < n)
            *reinterpret_cast<int64_t *>(reinterpret_cast<char *>(out) + j * a.lines.step[2]) =
                totals[j].index;
    }
    store_row(a.lines, a.dense, a.aligned, offset, i, n, values);
}

/* Scans ROW elements from index i on, continuing and updating *total, and stores the prefixes. */
template <class Op>
static __device__ __forceinline__ void scan_row(const scan<Op> &a, const int64_t *offset, int64_t i,
                                                int n, const typename Op::element *x,
                                                typename Op::state *total)
{
    typename Op::state totals[ROW];
    LT_UNROLLED
    for (int j = 0; j < ROW; j++) {
        if (j < n) *total = Op::join(*total, Op::of(x[j], i + j));
        totals[j] = *total;
    }
    store_totals(a, offset, i, n, totals);
}

/* How many of the ROW elements from index i on are before `to`. */
static __device__ __forceinline__ int present(int64_t i, int64_t to)
{
    return i >= to ? 0 : to - i < ROW ? static_cast<int>(to - i) : static_cast<int>(ROW);
}

template <class Op> static __global__ void __launch_bounds__(BLOCK) scan_lines(scan<Op> a)
{
    const int64_t line = lt_thread_number(), n = a.lines.length;
    int64_t offset[3];
    if (line >= a.lines.count) return;
    a.lines.lines.at(line, offset);
    typename Op::state total = Op::none();
    LT_NOT_UNROLLED
    for (int64_t i = 0; i < n; i += ROW) {
        typename Op::element x[ROW];
        load_elements(a, a.lines.data[0] + offset[0], i, present(i, n), x);
        scan_row(a, offset, i, present(i, n), x, &total);
    }
}

/* Exclusive scan over the threads of a block. shared: one state per warp; shared[WARPS] receives
 * the block's total. */
template <class Op>
static __device__ __forceinline__ typename Op::state before_thread(typename Op::state own,
                                                                   typename Op::state *shared)
{
    const int lane = static_cast<int>(threadIdx.x) % LT_WARP,
              warp = static_cast<int>(threadIdx.x) / LT_WARP;
    typename Op::state total = own;
    for (int lanes = 1; lanes < LT_WARP; lanes *= 2) {
        const typename Op::state other = shuffled_up(total, static_cast<unsigned>(lanes));
        if (lane >= lanes) total = Op::join(other, total);
    }
    if (lane == LT_WARP - 1) shared[warp] = total;
    typename Op::state before = shuffled_up(total, 1u);
    if (lane == 0) before = Op::none();
    __syncthreads();
    typename Op::state base = Op::none();
    for (int w = 0; w < warp; w++) base = Op::join(base, shared[w]);
    if (threadIdx.x == blockDim.x - 1) {
        const typename Op::state all = Op::join(base, total);
        shared[WARPS] = all;
    }
    return Op::join(base, before);
}

/* Exclusive prefix of this chunk, in every thread. Expects the chunk's total in shared[WARPS]. */
template <class Op>
static __device__ __forceinline__ typename Op::state
before_chunk(lt_tile_total<typename Op::state> *tiles, int64_t chunk, typename Op::state *shared)
{
    using state = typename Op::state;
    __syncthreads();
    if (threadIdx.x < LT_WARP) {
        const state own = shared[WARPS];
        state base = Op::none();
        if (chunk > 0) {
            if (threadIdx.x == 0) tiles[chunk].say_own(own);
            base = lt_total_before(
                tiles, chunk, [](state x, state y) { return Op::join(x, y); },
                [](state x, int lane) { return shuffled(x, lane); });
        }
        if (threadIdx.x == 0) {
            tiles[chunk].say_all(Op::join(base, own));
            shared[0] = base;
        }
    }
    __syncthreads();
    return shared[0];
}

template <class Op> static __global__ void __launch_bounds__(BLOCK) scan_chunks(scan<Op> a)
{
    __shared__ typename Op::state shared[WARPS + 1];
    __shared__ unsigned number;
    const unsigned block = a.tiles != nullptr ? lt_block_started(a.started, &number) : blockIdx.x;
    const unsigned chunks = static_cast<unsigned>(a.chunks), line = block / chunks,
                   chunk = block % chunks;
    const int64_t from = static_cast<int64_t>(chunk) * CHUNK + threadIdx.x * PER_THREAD,
                  n = a.lines.length;
    int64_t offset[3];
    a.lines.lines.at(line, offset);
    typename Op::element x[PER_THREAD];
    typename Op::state own = Op::none();
    LT_UNROLLED
    for (int r = 0; r < PER_THREAD; r += ROW) {
        const int there = present(from + r, n);
        if (there > 0) load_elements(a, a.lines.data[0] + offset[0], from + r, there, x + r);
        LT_UNROLLED
        for (int j = 0; j < ROW; j++)
            if (j < there) own = Op::join(own, Op::of(x[r + j], from + r + j));
    }
    typename Op::state total = before_thread<Op>(own, shared);
    if (a.tiles != nullptr)
        total = Op::join(before_chunk<Op>(a.tiles + line * a.chunks, chunk, shared), total);
    LT_UNROLLED
    for (int r = 0; r < PER_THREAD; r += ROW) {
        const int there = present(from + r, n);
        if (there > 0) scan_row(a, offset, from + r, there, x + r, &total);
    }
}

/* ---- launching ------------------------------------------------------------------------------- */

template <class Op>
static lt_status launch_scan(const lt_array *out, const lt_array *indices, const lt_array *in,
                             int dim, cudaStream_t stream, const char *name)
{
    const lt_array *const arrays[] = {in, out, indices};
    lt_cuda_scratch tiles;
    scan<Op> a = {lt_slice_offsets<3>(arrays, dim), true, true, 1, nullptr, nullptr};
    const lt_slice_offsets<3> &lines = a.lines;
    if (lines.count == 0 || lines.length == 0) return LT_OK;
    for (int k = 0; k < 2; k++) {
        if (lines.step[k] != lt_element_size(lines.dtype[k])) a.dense = false;
        if (!lt_is_aligned(lines.data[k])) a.aligned = false;
        for (int d = 0; d < lines.lines.ndim; d++)
            if (lines.lines.strides[d][k] % 16 != 0) a.aligned = false;
    }
    const bool beside = llabs(lines.step[0]) != lt_element_size(in->dtype);
    if (lines.length <= SHORT_LINE || (beside && lines.count >= ENOUGH_LINES)) {
        LT_LAUNCH(scan_lines<Op>, lt_blocks(lines.count, BLOCK), BLOCK, stream, a);
        return lt_cuda_launched(in->device.index, stream, name);
    }
    a.chunks = (lines.length + CHUNK - 1) / CHUNK;
    const unsigned blocks = static_cast<unsigned>(lines.count * a.chunks);
    const int threads = lt_threads_for(lines.length, PER_THREAD, BLOCK);
    if (a.chunks > 1) {
        const size_t bytes = blocks * sizeof *a.tiles;
        LT_TRY(tiles.take(in->device.index, bytes + sizeof(unsigned)));
        a.tiles = tiles.as<lt_tile_total<typename Op::state>>();
        a.started = tiles.as<unsigned>(bytes);
        CUDA_TRY(cudaMemsetAsync(a.tiles, 0, bytes + sizeof(unsigned), stream));
    }
    LT_LAUNCH_BARRIER(scan_chunks<Op>, blocks, threads, 0, stream, a);
    return lt_cuda_launched(in->device.index, stream, name);
}

lt_status lt_cuda_scan(lt_scan op, const lt_array *out, const lt_array *in, int dim)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(in->device.index, &stream));
    const bool floating = lt_is_floating(out->dtype);
    if (op == LT_SCAN_LOGSUMEXP)
        return launch_scan<double_logsumexp>(out, nullptr, in, dim, stream, "logcumsumexp");
    if (op == LT_SCAN_PROD)
        return floating ? launch_scan<double_product>(out, nullptr, in, dim, stream, "cumprod")
                        : launch_scan<integer_product>(out, nullptr, in, dim, stream, "cumprod");
    return floating ? launch_scan<double_sum>(out, nullptr, in, dim, stream, "cumsum")
                    : launch_scan<integer_sum>(out, nullptr, in, dim, stream, "cumsum");
}

template <class C>
static lt_status run_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                             const lt_array *in, int dim, cudaStream_t stream)
{
    return maximum ? launch_scan<extreme_of<C, true>>(values, indices, in, dim, stream, "cummax")
                   : launch_scan<extreme_of<C, false>>(values, indices, in, dim, stream, "cummin");
}

lt_status lt_cuda_scan_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                               const lt_array *in, int dim)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(in->device.index, &stream));
    if (!lt_is_floating(in->dtype))
        return run_extreme<int64_t>(maximum, values, indices, in, dim, stream);
    if (in->dtype == LT_FLOAT64)
        return run_extreme<double>(maximum, values, indices, in, dim, stream);
    return run_extreme<float>(maximum, values, indices, in, dim, stream);
}
