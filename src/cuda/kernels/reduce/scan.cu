/* scan.cu - running totals along a dimension (sums, products, logarithms of sums of exponentials), in double
 * or int64_t as on the CPU, and running extremes with their positions. Lines that are short or lie side by
 * side: a thread for each. Else a line is cut into chunks, a block of threads for each: one kernel joins
 * every chunk, a second makes their running totals, a third the running totals within each. Elements are
 * always joined in the same order. */
#include <math.h>
#include <stdlib.h>

#include "cuda.h"
#include "kernels/block.cuh"
#include "kernels/element.cuh"
#include "kernels/offsets.cuh"

enum {
    BLOCK = 256,
    WARPS = BLOCK / LT_WARP,
    PER_THREAD = 16, /* neighbouring elements, joined by one thread */
    CHUNK = BLOCK * PER_THREAD,
    SHORT_LINE = 64,
    ENOUGH_LINES = 1 << 10,
};

/* ---- what is joined: an element, a state, the state of nothing, how two states join ------------------- */

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

/* index < 0: none yet. */
template <class C> struct extreme_state {
    C value;
    int64_t index;
};

/* The later one of equals; nan is extreme. */
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

template <class C> static __device__ __forceinline__ C shuffled_up(C v, unsigned lanes)
{
    return __shfl_up_sync(0xffffffffu, v, lanes);
}
template <class C>
static __device__ __forceinline__ extreme_state<C> shuffled_up(extreme_state<C> v, unsigned lanes)
{
    extreme_state<C> other;
    other.value = __shfl_up_sync(0xffffffffu, v.value, lanes);
    other.index = __shfl_up_sync(0xffffffffu, v.index, lanes);
    return other;
}

/* ---- kernels ----------------------------------------------------------------------------------------------- */

/* Tensor 0: input, 1: output, 2: positions of extremes. */
template <class Op> struct scan {
    lt_lines<3> lines;
    int64_t chunks;
    typename Op::state *totals; /* [lines][chunks]: of the chunk, then of all before it; null: one chunk */
};

template <class Op>
static __device__ __forceinline__ typename Op::state load(const scan<Op> &a, const char *in, int64_t i)
{
    return Op::of(lt_load<typename Op::element>(a.lines.dtype[0], in + i * a.lines.step[0]), i);
}

template <class Op, class C>
static __device__ __forceinline__ void store(const scan<Op> &a, const int64_t *offset, int64_t i, C total)
{
    lt_store<C>(a.lines.dtype[1], a.lines.data[1] + offset[1] + i * a.lines.step[1], total);
}
template <class Op, class C>
static __device__ __forceinline__ void store(const scan<Op> &a, const int64_t *offset, int64_t i,
                                             extreme_state<C> total)
{
    lt_store<C>(a.lines.dtype[1], a.lines.data[1] + offset[1] + i * a.lines.step[1], total.value);
    lt_store<int64_t>(LT_INT64, a.lines.data[2] + offset[2] + i * a.lines.step[2], total.index);
}

/* Elements [from, to) of a line. */
template <class Op>
static __device__ __forceinline__ typename Op::state join_run(const scan<Op> &a, const char *in,
                                                              int64_t from, int64_t to)
{
    typename Op::state total = Op::none();
    for (int64_t i = from; i < to; i++) total = Op::join(total, load(a, in, i));
    return total;
}

template <class Op>
static __device__ __forceinline__ void scan_run(const scan<Op> &a, const int64_t *offset, int64_t from,
                                                int64_t to, typename Op::state total)
{
    const char *in = a.lines.data[0] + offset[0];
    for (int64_t i = from; i < to; i++) {
        total = Op::join(total, load(a, in, i));
        store(a, offset, i, total);
    }
}

template <class Op> static __global__ void __launch_bounds__(BLOCK) scan_lines(scan<Op> a)
{
    const int64_t line = lt_thread_number();
    int64_t offset[3];
    if (line >= a.lines.count) return;
    a.lines.lines.at(line, offset);
    scan_run<Op>(a, offset, 0, a.lines.length, Op::none());
}

/* The running totals of the threads of a block, up to the thread before; the last lane of the last warp also
 * gives that of all. shared: one for each warp. */
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
    return Op::join(base, before);
}

/* The elements of a chunk that a thread joins. */
template <class Op>
static __device__ __forceinline__ void own_run(const scan<Op> &a, int64_t *line, int64_t *from, int64_t *to)
{
    const int64_t chunk = blockIdx.x % a.chunks;
    *line = blockIdx.x / a.chunks;
    *from = chunk * CHUNK + threadIdx.x * PER_THREAD;
    *to = *from + PER_THREAD;
    if (*from > a.lines.length) *from = a.lines.length;
    if (*to > a.lines.length) *to = a.lines.length;
}

template <class Op> static __global__ void __launch_bounds__(BLOCK) join_chunks(scan<Op> a)
{
    __shared__ typename Op::state shared[WARPS];
    int64_t line, from, to, offset[3];
    own_run(a, &line, &from, &to);
    a.lines.lines.at(line, offset);
    const typename Op::state own = join_run<Op>(a, a.lines.data[0] + offset[0], from, to);
    const typename Op::state before = before_thread<Op>(own, shared);
    if (threadIdx.x == blockDim.x - 1) a.totals[blockIdx.x] = Op::join(before, own);
}

template <class Op> static __global__ void __launch_bounds__(BLOCK) scan_totals(scan<Op> a)
{
    const int64_t line = lt_thread_number();
    if (line >= a.lines.count) return;
    typename Op::state before = Op::none();
    for (int64_t chunk = 0; chunk < a.chunks; chunk++) {
        typename Op::state *total = &a.totals[line * a.chunks + chunk];
        const typename Op::state next = Op::join(before, *total);
        *total = before;
        before = next;
    }
}

template <class Op> static __global__ void __launch_bounds__(BLOCK) scan_chunks(scan<Op> a)
{
    __shared__ typename Op::state shared[WARPS];
    int64_t line, from, to, offset[3];
    own_run(a, &line, &from, &to);
    a.lines.lines.at(line, offset);
    const typename Op::state own = join_run<Op>(a, a.lines.data[0] + offset[0], from, to);
    const typename Op::state before = before_thread<Op>(own, shared);
    const typename Op::state base = a.totals != nullptr ? a.totals[blockIdx.x] : Op::none();
    scan_run<Op>(a, offset, from, to, Op::join(base, before));
}

/* ---- launching ----------------------------------------------------------------------------------------------- */

template <class Op>
static lt_status run(const lt_array *out, const lt_array *indices, const lt_array *in, int dim,
                     cudaStream_t stream, const char *name)
{
    const lt_array *const arrays[] = {in, out, indices};
    lt_cuda_scratch totals;
    scan<Op> a = {lt_lines<3>(arrays, dim), 1, nullptr};
    const lt_lines<3> &lines = a.lines;
    if (lines.count == 0 || lines.length == 0) return LT_OK;
    const bool beside = llabs(lines.step[0]) != lt_element_size(in->dtype);
    if (lines.length <= SHORT_LINE || (beside && lines.count >= ENOUGH_LINES)) {
        LT_LAUNCH(scan_lines<Op>, lt_blocks(lines.count, BLOCK), BLOCK, stream, a);
        return lt_cuda_launched(in->device.index, stream, name);
    }
    a.chunks = (lines.length + CHUNK - 1) / CHUNK;
    const unsigned blocks = static_cast<unsigned>(lines.count * a.chunks);
    const int threads = lt_threads_for(lines.length, PER_THREAD, BLOCK);
    if (a.chunks > 1) {
        LT_TRY(totals.take(in->device.index, blocks * sizeof(typename Op::state)));
        a.totals = totals.as<typename Op::state>();
        LT_LAUNCH_MEET(join_chunks<Op>, blocks, BLOCK, 0, stream, a);
        LT_LAUNCH(scan_totals<Op>, lt_blocks(lines.count, BLOCK), BLOCK, stream, a);
    }
    LT_LAUNCH_MEET(scan_chunks<Op>, blocks, threads, 0, stream, a);
    return lt_cuda_launched(in->device.index, stream, name);
}

lt_status lt_cuda_scan(lt_scan op, const lt_array *out, const lt_array *in, int dim)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(in->device.index, &stream));
    const bool floating = lt_is_floating(out->dtype);
    if (op == LT_SCAN_LOGSUMEXP)
        return run<double_logsumexp>(out, nullptr, in, dim, stream, "logcumsumexp");
    if (op == LT_SCAN_PROD)
        return floating ? run<double_product>(out, nullptr, in, dim, stream, "cumprod")
                        : run<integer_product>(out, nullptr, in, dim, stream, "cumprod");
    return floating ? run<double_sum>(out, nullptr, in, dim, stream, "cumsum")
                    : run<integer_sum>(out, nullptr, in, dim, stream, "cumsum");
}

template <class C>
static lt_status run_extreme(bool maximum, const lt_array *values, const lt_array *indices,
                             const lt_array *in, int dim, cudaStream_t stream)
{
    return maximum ? run<extreme_of<C, true>>(values, indices, in, dim, stream, "cummax")
                   : run<extreme_of<C, false>>(values, indices, in, dim, stream, "cummin");
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
