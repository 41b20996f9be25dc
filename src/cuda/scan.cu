/* scan.cu - running sums along a dimension, in double or int64_t as on the CPU. Lines that are short or lie
 * side by side: a thread for each. Else a line is cut into chunks, a block of threads for each: one kernel
 * adds up every chunk, a second makes their running sums, a third the running sums within each. Sums are
 * always taken in the same order. */
#include <stdlib.h>

#include "block.cuh"
#include "cuda.h"
#include "element.cuh"
#include "offsets.cuh"

enum {
    BLOCK = 256,
    WARPS = BLOCK / LT_WARP,
    PER_THREAD = 16, /* neighbouring elements, added by one thread */
    CHUNK = BLOCK * PER_THREAD,
    SHORT_LINE = 64,
    ENOUGH_LINES = 1 << 10,
};

/* Sums of integers wrap. */
static __device__ __forceinline__ double plus(double a, double b) { return a + b; }
static __device__ __forceinline__ int64_t plus(int64_t a, int64_t b)
{
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/* Tensor 0: input, 1: output. */
template <class C> struct scan {
    lt_lines<2> lines;
    int64_t chunks;
    C *sums; /* [lines][chunks]: of the chunk, then of all before it */
};

/* Elements [from, to) of a line. */
template <class C>
static __device__ __forceinline__ C sum_run(const scan<C> &a, const char *in, int64_t from,
                                            int64_t to)
{
    C sum = 0;
    for (int64_t i = from; i < to; i++)
        sum = plus(sum, lt_load<C>(a.lines.dtype[0], in + i * a.lines.step[0]));
    return sum;
}

template <class C>
static __device__ __forceinline__ void scan_run(const scan<C> &a, const char *in, char *out,
                                                int64_t from, int64_t to, C sum)
{
    for (int64_t i = from; i < to; i++) {
        sum = plus(sum, lt_load<C>(a.lines.dtype[0], in + i * a.lines.step[0]));
        lt_store<C>(a.lines.dtype[1], out + i * a.lines.step[1], sum);
    }
}

template <class C> static __global__ void __launch_bounds__(BLOCK) scan_lines(scan<C> a)
{
    const int64_t line = lt_thread_number();
    int64_t offset[2];
    if (line >= a.lines.count) return;
    a.lines.lines.at(line, offset);
    scan_run<C>(a, a.lines.data[0] + offset[0], a.lines.data[1] + offset[1], 0, a.lines.length, 0);
}

template <class C> static __global__ void __launch_bounds__(BLOCK) sum_chunks(scan<C> a)
{
    __shared__ C shared[lt_shared_for(BLOCK)];
    const int64_t line = blockIdx.x / a.chunks, chunk = blockIdx.x % a.chunks;
    const int64_t end = (chunk + 1) * CHUNK < a.lines.length ? (chunk + 1) * CHUNK : a.lines.length;
    int64_t offset[2];
    a.lines.lines.at(line, offset);
    C sum = 0;
    for (int64_t i = chunk * CHUNK + threadIdx.x; i < end; i += BLOCK)
        sum = plus(sum,
                   lt_load<C>(a.lines.dtype[0], a.lines.data[0] + offset[0] + i * a.lines.step[0]));
    sum = lt_block_join(sum, shared, [](C x, C y) { return plus(x, y); });
    if (threadIdx.x == 0) a.sums[blockIdx.x] = sum;
}

template <class C> static __global__ void __launch_bounds__(BLOCK) scan_sums(scan<C> a)
{
    const int64_t line = lt_thread_number();
    if (line >= a.lines.count) return;
    C before = 0;
    for (int64_t chunk = 0; chunk < a.chunks; chunk++) {
        C *sum = &a.sums[line * a.chunks + chunk];
        const C next = plus(before, *sum);
        *sum = before;
        before = next;
    }
}

template <class C> static __global__ void __launch_bounds__(BLOCK) scan_chunks(scan<C> a)
{
    __shared__ C shared[WARPS];
    const int64_t line = blockIdx.x / a.chunks, chunk = blockIdx.x % a.chunks;
    const int lane = static_cast<int>(threadIdx.x) % LT_WARP,
              warp = static_cast<int>(threadIdx.x) / LT_WARP;
    int64_t offset[2];
    a.lines.lines.at(line, offset);
    const char *in = a.lines.data[0] + offset[0];
    int64_t from = chunk * CHUNK + threadIdx.x * PER_THREAD, to = from + PER_THREAD;
    if (from > a.lines.length) from = a.lines.length;
    if (to > a.lines.length) to = a.lines.length;
    /* sum: of this thread's elements and those of the lanes before */
    C own = sum_run(a, in, from, to), sum = own;
    for (int lanes = 1; lanes < LT_WARP; lanes *= 2) {
        const C other = __shfl_up_sync(0xffffffffu, sum, lanes);
        if (lane >= lanes) sum = plus(other, sum);
    }
    if (lane == LT_WARP - 1) shared[warp] = sum;
    C before = __shfl_up_sync(0xffffffffu, sum, 1);
    if (lane == 0) before = 0;
    __syncthreads();
    C base = a.sums[blockIdx.x];
    for (int w = 0; w < warp; w++) base = plus(base, shared[w]);
    scan_run(a, in, a.lines.data[1] + offset[1], from, to, plus(base, before));
}

template <class C>
static lt_status run(const lt_array *out, const lt_array *in, int dim, cudaStream_t stream)
{
    const lt_array *const arrays[] = {in, out};
    lt_cuda_scratch sums;
    scan<C> a = {lt_lines<2>(arrays, dim), 1, nullptr};
    const lt_lines<2> &lines = a.lines;
    if (lines.count == 0 || lines.length == 0) return LT_OK;
    const bool beside = llabs(lines.step[0]) != lt_element_size(in->dtype);
    if (lines.length <= SHORT_LINE || (beside && lines.count >= ENOUGH_LINES)) {
        LT_LAUNCH(scan_lines<C>, lt_blocks(lines.count, BLOCK), BLOCK, stream, a);
        return lt_cuda_launched(in->device.index, stream, "cumsum");
    }
    a.chunks = (lines.length + CHUNK - 1) / CHUNK;
    LT_TRY(sums.take(in->device.index, static_cast<size_t>(lines.count * a.chunks) * sizeof(C)));
    a.sums = sums.as<C>();
    const unsigned blocks = static_cast<unsigned>(lines.count * a.chunks);
    const int threads = lt_threads_for(lines.length, PER_THREAD, BLOCK);
    if (a.chunks > 1)
        LT_LAUNCH_MEET(sum_chunks<C>, blocks, BLOCK, 0, stream, a);
    else
        CUDA_TRY(cudaMemsetAsync(a.sums, 0, blocks * sizeof(C), stream));
    if (a.chunks > 1) LT_LAUNCH(scan_sums<C>, lt_blocks(lines.count, BLOCK), BLOCK, stream, a);
    LT_LAUNCH_MEET(scan_chunks<C>, blocks, threads, 0, stream, a);
    return lt_cuda_launched(in->device.index, stream, "cumsum");
}

lt_status lt_cuda_cumsum(const lt_array *out, const lt_array *in, int dim)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(in->device.index, &stream));
    if (lt_is_floating(out->dtype)) return run<double>(out, in, dim, stream);
    return run<int64_t>(out, in, dim, stream);
}
