/* norm.cuh - what the kernels of normalization share: sums over the channels of an array [outer, channels, inner],
 * in parts (splits) that are joined in order, so that results never vary. Computed in C, float or double. Included
 * by norm.cu and batch_norm.cu, whose kernels meet. */
#ifndef LT_CUDA_NORM_CUH
#define LT_CUDA_NORM_CUH

#include "cuda.h"
#include "kernels/block.cuh"
#include "kernels/element.cuh"
#include "kernels/offsets.cuh"

enum { LT_NORM_ITEMS = 4, LT_NORM_COLUMNS = 32, LT_NORM_ROWS = 16, LT_NORM_THREADS = 512, LT_NORM_MOST_SPLITS = 64 };

static __device__ __forceinline__ float lt_root(float x) { return sqrtf(x); }
static __device__ __forceinline__ double lt_root(double x) { return sqrt(x); }

/* The shape, and how its elements are shared out: part s of a channel has entries [s * per, (s + 1) * per) of the
 * outer dimension. */
struct lt_channels {
    int64_t outer, channels, inner, per;
    int splits;
    bool wide; /* numbers of elements reach 2^31 */
    lt_divider by_inner;

    void of(int64_t o, int64_t c, int64_t i)
    {
        outer = o, channels = c, inner = i;
        /* Enough blocks for a large GPU, enough work in each. */
        const int64_t blocks = inner == 1 ? (c + LT_NORM_COLUMNS - 1) / LT_NORM_COLUMNS : c;
        const int64_t wanted = 1024 / (blocks > 0 ? blocks : 1) + 1, most = o * i / 1024 + 1;
        int64_t n = wanted < most ? wanted : most;
        if (n > LT_NORM_MOST_SPLITS) n = LT_NORM_MOST_SPLITS;
        n = n < o ? n : o;
        per = (o + n - 1) / n;
        splits = static_cast<int>((o + per - 1) / per);
        wide = o * c * i >= int64_t{1} << 31;
        if (!wide) by_inner.set(static_cast<uint32_t>(i));
    }
    dim3 grid() const
    {
        return dim3(static_cast<unsigned>(inner == 1 ? lt_blocks(channels, LT_NORM_COLUMNS) : channels),
                    static_cast<unsigned>(splits));
    }
    dim3 block() const
    {
        if (inner == 1) return dim3(LT_NORM_COLUMNS, LT_NORM_ROWS);
        return dim3(static_cast<unsigned>(lt_threads_for(per * inner, LT_NORM_ITEMS, LT_NORM_THREADS)));
    }
    __device__ __forceinline__ int64_t over_inner(int64_t i) const
    {
        return wide ? i / inner : by_inner.quotient(static_cast<uint32_t>(i));
    }
    /* Entries of the outer dimension in part s. */
    __device__ __forceinline__ int64_t entries(int s) const
    {
        const int64_t left = outer - s * per;
        return left < per ? left : per;
    }
};

/* f(o, at) for this thread's elements of its channel and part: o their place in the outer dimension, at in the
 * array. In a column of threads where channels lie side by side (threads without a channel have nothing to do),
 * else in a block. */
template <class F> static __device__ __forceinline__ void lt_for_channel(const lt_channels &a, F f)
{
    const int64_t from = static_cast<int64_t>(blockIdx.y) * a.per, n = a.entries(blockIdx.y);
    if (a.inner == 1) {
        const int64_t c = static_cast<int64_t>(blockIdx.x) * LT_NORM_COLUMNS + threadIdx.x;
        if (c >= a.channels) return;
        for (int64_t o = from + threadIdx.y; o < from + n; o += LT_NORM_ROWS) f(o, o * a.channels + c);
        return;
    }
    for (int64_t i = threadIdx.x; i < n * a.inner; i += blockDim.x) {
        const int64_t o = a.over_inner(i);
        f(from + o, ((from + o) * a.channels + blockIdx.x) * a.inner + (i - o * a.inner));
    }
}

/* The sum of the values of a channel's threads, in each of them. shared: LT_NORM_THREADS + 1 of C. */
template <class C> static __device__ __forceinline__ C lt_channel_sum(const lt_channels &a, C value, C *shared)
{
    const auto add = [](C x, C y) { return x + y; };
    if (a.inner != 1) return lt_block_join(value, shared, add);
    C *values = shared + threadIdx.x;
    values[threadIdx.y * LT_NORM_COLUMNS] = value;
    __syncthreads();
    value = values[0];
    for (int row = 1; row < LT_NORM_ROWS; row++) value += values[row * LT_NORM_COLUMNS];
    __syncthreads();
    return value;
}

/* The channel of this thread, and whether it is the one that writes for it. */
static __device__ __forceinline__ int64_t lt_channel_of(const lt_channels &a, bool *writes)
{
    if (a.inner != 1) {
        *writes = threadIdx.x == 0;
        return blockIdx.x;
    }
    const int64_t c = static_cast<int64_t>(blockIdx.x) * LT_NORM_COLUMNS + threadIdx.x;
    *writes = threadIdx.y == 0 && c < a.channels;
    return c;
}

/* Sums of g and of g * (x - mean) * rstd over channels. Statistics are per channel, or (groups > 0) those of
 * group c / entries of entry o. */
template <class C> struct lt_channel_sums {
    lt_channels shape;
    lt_dtype dtype;
    const char *in, *grad;
    const C *mean, *rstd; /* mean NULL: 0 */
    int64_t groups, entries;
    C *parts; /* [splits][2][channels] */
};

template <class C> static __global__ void __launch_bounds__(LT_NORM_THREADS) lt_sum_channels(lt_channel_sums<C> a)
{
    __shared__ C shared[lt_shared_for(LT_NORM_THREADS)];
    const int64_t size = lt_element_size(a.dtype);
    bool writes;
    const int64_t c = lt_channel_of(a.shape, &writes), group = a.groups > 0 ? c / a.entries : c;
    C sum = 0, product = 0;
    lt_for_channel(a.shape, [&](int64_t o, int64_t at) {
        const int64_t s = a.groups > 0 ? o * a.groups + group : c;
        const C g = lt_load<C>(a.dtype, a.grad + at * size), x = lt_load<C>(a.dtype, a.in + at * size);
        sum += g;
        product += g * ((a.mean != nullptr ? x - a.mean[s] : x) * a.rstd[s]);
    });
    sum = lt_channel_sum(a.shape, sum, shared);
    product = lt_channel_sum(a.shape, product, shared);
    if (!writes) return;
    a.parts[(2 * blockIdx.y) * a.shape.channels + c] = sum;
    a.parts[(2 * blockIdx.y + 1) * a.shape.channels + c] = product;
}

/* The parts of a channel's sums, joined in order. */
template <class C>
static __device__ __forceinline__ void lt_join_parts(const lt_channel_sums<C> &a, int64_t c, C *sum, C *product)
{
    *sum = *product = 0;
    for (int s = 0; s < a.shape.splits; s++) {
        *sum += a.parts[2 * s * a.shape.channels + c];
        *product += a.parts[(2 * s + 1) * a.shape.channels + c];
    }
}

#endif
