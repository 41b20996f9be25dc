/* norm.cuh - shared by the normalization kernels: sums over the channels of an array [outer,
 * channels, inner], in splits that are joined in order, so that results are deterministic. Computed
 * in C, float or double. Included by norm.cu and batch_norm.cu; launch kernels that use this with
 * LT_LAUNCH_BARRIER. */
#ifndef LT_CUDA_NORM_CUH
#define LT_CUDA_NORM_CUH

#include "cuda.h"
#include "kernels/block.cuh"
#include "kernels/element.cuh"
#include "kernels/offsets.cuh"
#include "kernels/rows.cuh"
#include "norm_rows.cuh"

enum {
    LT_NORM_ITEMS = 4,
    LT_NORM_COLUMNS = 32,
    LT_NORM_ROWS = 16,
    LT_NORM_THREADS = 512,
    LT_NORM_MAX_SPLITS = 64
};

/* The shape, and the partition of its elements: split s of a channel has indices [s * per, (s + 1)
 * * per) of the outer dimension. */
struct lt_channels {
    int64_t outer, channels, inner, per;
    int splits;
    bool wide; /* element indices reach 2^31 */
    lt_divider by_inner;
    lt_wide_divider by_wide_inner;

    void of(int64_t o, int64_t c, int64_t i)
    {
        outer = o, channels = c, inner = i;
        /* Enough blocks to fill a large GPU, but enough work in each. */
        const int64_t blocks = inner == 1 ? (c + LT_NORM_COLUMNS - 1) / LT_NORM_COLUMNS : c;
        const int64_t wanted = 1024 / (blocks > 0 ? blocks : 1) + 1, most = o * i / 1024 + 1;
        int64_t n = wanted < most ? wanted : most;
        if (n > LT_NORM_MAX_SPLITS) n = LT_NORM_MAX_SPLITS;
        n = n < o ? n : o;
        per = (o + n - 1) / n;
        splits = static_cast<int>((o + per - 1) / per);
        wide = o * c * i >= LT_INDEX_LIMIT;
        if (wide)
            by_wide_inner.set(static_cast<uint64_t>(i));
        else
            by_inner.set(static_cast<uint32_t>(i));
    }
    dim3 grid() const
    {
        return dim3(
            static_cast<unsigned>(inner == 1 ? lt_blocks(channels, LT_NORM_COLUMNS) : channels),
            static_cast<unsigned>(splits));
    }
    dim3 block() const
    {
        if (inner == 1) return dim3(LT_NORM_COLUMNS, LT_NORM_ROWS);
        return dim3(
            static_cast<unsigned>(lt_threads_for(per * inner, LT_NORM_ITEMS, LT_NORM_THREADS)));
    }
    __device__ __forceinline__ int64_t over_inner(int64_t i) const
    {
        return wide ? static_cast<int64_t>(by_wide_inner.quotient(static_cast<uint64_t>(i)))
                    : by_inner.quotient(static_cast<uint32_t>(i));
    }
    /* Size of the outer dimension in split s. */
    __device__ __forceinline__ int64_t entries(int s) const
    {
        const int64_t left = outer - s * per;
        return left < per ? left : per;
    }
};

/* Calls f(o, apart, m, x) for this thread's elements of its channel and split, at most N (16 bytes)
 * at a time: m elements in x[array][0 ...], at outer indices o, o + apart, ... If inner is 1, a
 * column of the block's threads has one channel (threads beyond the last channel return); else a
 * block has one, and loads vectors if inner is a multiple of them (aligned). */
template <class S, class C, int ARRAYS, class F>
static __device__ __forceinline__ void
lt_for_channel(const lt_channels &a, const char *const (&data)[ARRAYS], bool aligned, F f)
{
    constexpr int N = 16 / sizeof(S), TOGETHER = N < 4 ? N : 4;
    const int64_t from = static_cast<int64_t>(blockIdx.y) * a.per, n = a.entries(blockIdx.y);
    C x[ARRAYS][N];
    if (a.inner == 1) {
        const int64_t c = static_cast<int64_t>(blockIdx.x) * LT_NORM_COLUMNS + threadIdx.x;
        if (c >= a.channels) return;
        for (int64_t o = from + threadIdx.y; o < from + n; o += TOGETHER * LT_NORM_ROWS) {
            int m = 0;
            for (int j = 0; j < TOGETHER; j++) {
                const int64_t entry = o + j * LT_NORM_ROWS;
                if (entry < from + n) m = j + 1;
                for (int k = 0; k < ARRAYS; k++)
                    x[k][j] = lt_as<C>(reinterpret_cast<const S *>(
                        data[k])[(entry < from + n ? entry : o) * a.channels + c]);
            }
            f(o, LT_NORM_ROWS, m, x);
        }
        return;
    }
    const int step = aligned ? N : 1;
    for (int64_t i = static_cast<int64_t>(threadIdx.x) * step; i < n * a.inner;
         i += static_cast<int64_t>(blockDim.x) * step) {
        const int64_t o = a.over_inner(i),
                      at = ((from + o) * a.channels + blockIdx.x) * a.inner + (i - o * a.inner);
        for (int k = 0; k < ARRAYS; k++)
            lt_load_row_as<S, C, N>(reinterpret_cast<const S *>(data[k]) + at, x[k], step, aligned);
        f(from + o, 0, step, x);
    }
}

/* Sum over the threads of a channel; each gets the result. shared: LT_NORM_THREADS + 1 elements of
 * C. */
template <class C>
static __device__ __forceinline__ C lt_channel_sum(const lt_channels &a, C value, C *shared)
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

/* The channel of this thread, and whether this thread stores its results. */
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

/* Sums of g and of g * (x - mean) * rstd over channels. groups = 0: statistics are per channel;
 * else entry o has them per group, and channel c belongs to group c / entries. */
template <class C> struct lt_channel_sums {
    lt_channels shape;
    lt_dtype dtype;
    const char *in, *grad;
    const C *mean, *rstd; /* mean NULL: 0 */
    int64_t groups;
    lt_divider by_entries;
    bool aligned; /* for vector accesses along inner */
    C *parts;     /* [splits][2][channels] */
};

/* Whether rows of n elements can be accessed as vectors: length and addresses are multiples of 16
 * bytes. */
static inline bool lt_has_vectors(int64_t n, lt_dtype dtype, const void *a, const void *b,
                                  const void *c)
{
    return n * lt_element_size(dtype) % 16 == 0 && lt_is_aligned(a) && lt_is_aligned(b) &&
           lt_is_aligned(c);
}

template <class S, class C>
static __global__ void __launch_bounds__(LT_NORM_THREADS) lt_sum_channels(lt_channel_sums<C> a)
{
    __shared__ C shared[lt_shared_for(LT_NORM_THREADS)];
    constexpr int N = 16 / sizeof(S);
    const char *const arrays[] = {a.grad, a.in};
    bool writes;
    const int64_t c = lt_channel_of(a.shape, &writes),
                  group = a.groups > 0 ? a.by_entries.quotient(static_cast<uint32_t>(c)) : c;
    const bool present = c < a.shape.channels;
    C sum = 0, product = 0, mean = 0, rstd = 1;
    if (a.groups == 0 && present) {
        mean = a.mean != nullptr ? a.mean[c] : 0;
        rstd = a.rstd[c];
    }
    lt_for_channel<S, C>(a.shape, arrays, a.aligned,
                         [&](int64_t o, int apart, int m, const C(*x)[N]) {
                             for (int j = 0; j < N; j++) {
                                 if (j >= m) continue;
                                 if (a.groups > 0 && (j == 0 || apart != 0)) {
                                     const int64_t s = (o + j * apart) * a.groups + group;
                                     mean = a.mean != nullptr ? a.mean[s] : 0;
                                     rstd = a.rstd[s];
                                 }
                                 sum += x[0][j];
                                 product += x[0][j] * ((x[1][j] - mean) * rstd);
                             }
                         });
    sum = lt_channel_sum(a.shape, sum, shared);
    product = lt_channel_sum(a.shape, product, shared);
    if (!writes) return;
    a.parts[(2 * blockIdx.y) * a.shape.channels + c] = sum;
    a.parts[(2 * blockIdx.y + 1) * a.shape.channels + c] = product;
}

template <class C> static void lt_launch_sums(const lt_channel_sums<C> &a, cudaStream_t stream)
{
#define SUMS(S, COMPUTED)                                                                          \
    if constexpr (std::is_same_v<C, COMPUTED>)                                                     \
    LT_LAUNCH_BARRIER((lt_sum_channels<S, COMPUTED>), a.shape.grid(), a.shape.block(), 0, stream, a)
    LT_ROW_DTYPES(a.dtype, SUMS)
#undef SUMS
}

/* Joins the splits of a channel's sums in order. */
template <class C>
static __device__ __forceinline__ void lt_join_parts(const lt_channel_sums<C> &a, int64_t c, C *sum,
                                                     C *product)
{
    *sum = *product = 0;
    for (int s = 0; s < a.shape.splits; s++) {
        *sum += a.parts[2 * s * a.shape.channels + c];
        *product += a.parts[(2 * s + 1) * a.shape.channels + c];
    }
}

#endif
