/* batch_norm.cu - batch normalization over channels, forward and backward. The elements of a
 * channel are partitioned among blocks (norm.cuh); partial means and squared deviations are
 * combined by the parallel algorithm of T. Chan, G. Golub, R. LeVeque, 1979, also within a thread,
 * per vector. Half types are loaded and stored as they are; statistics and parameters are float, or
 * double. */
#include "norm.cuh"

enum { BLOCK = 256 };

/* ---- the statistics of a batch --------------------------------------------------------------- */

template <class C> struct measures {
    lt_channels shape;
    lt_dtype dtype;
    bool aligned; /* for vector accesses along inner */
    const char *in;
    /* [splits][2][channels]: mean minus the channel's first element; sum of squared deviations */
    C *parts;
    C *mean, *rstd, *running_mean, *running_var;
    C eps, momentum;
};

/* The first element of a channel. Subtracting it keeps the statistics accurate if the mean is large
 * compared with the deviation. */
template <class S, class C>
static __device__ __forceinline__ C shift_of(const measures<C> &a, int64_t c)
{
    return c < a.shape.channels ? lt_as<C>(reinterpret_cast<const S *>(a.in)[c * a.shape.inner])
                                : 0;
}

template <class S, class C>
static __global__ void __launch_bounds__(LT_NORM_THREADS) measure(measures<C> a)
{
    __shared__ C shared[lt_shared_for(LT_NORM_THREADS)];
    constexpr int N = 16 / sizeof(S);
    const char *const arrays[] = {a.in};
    bool writes;
    const int64_t c = lt_channel_of(a.shape, &writes);
    C count = 0, mean = 0, squares = 0;
    const C shift = shift_of<S>(a, c);
    lt_for_channel<S, C>(a.shape, arrays, a.aligned, [&](int64_t, int, int m, const C(*x)[N]) {
        const C more = static_cast<C>(m), all = count + more;
        C sum = 0, off = 0;
        for (int j = 0; j < N; j++) sum += j < m ? x[0][j] - shift : 0;
        const C middle = m == N ? sum * (C{1} / N) : sum / more, delta = middle - mean,
                part = more / all;
        for (int j = 0; j < N; j++)
            off += j < m ? (x[0][j] - shift - middle) * (x[0][j] - shift - middle) : 0;
        mean += delta * part;
        squares += off + delta * delta * count * part;
        count = all;
    });
    const C all = static_cast<C>(a.shape.entries(blockIdx.y) * a.shape.inner);
    const C joined = lt_channel_sum(a.shape, mean * count, shared) / all;
    squares = lt_channel_sum(a.shape, squares + count * (mean - joined) * (mean - joined), shared);
    if (!writes) return;
    a.parts[(2 * blockIdx.y) * a.shape.channels + c] = joined;
    a.parts[(2 * blockIdx.y + 1) * a.shape.channels + c] = squares;
}

template <class C> static __global__ void join_measures(measures<C> a)
{
    const int64_t c = lt_thread_number();
    if (c >= a.shape.channels) return;
    C count = 0, mean = 0, squares = 0;
    for (int s = 0; s < a.shape.splits; s++) {
        const C n = static_cast<C>(a.shape.entries(s) * a.shape.inner), all = count + n;
        const C delta = a.parts[2 * s * a.shape.channels + c] - mean;
        mean += delta * n / all;
        squares += a.parts[(2 * s + 1) * a.shape.channels + c] + delta * delta * count * n / all;
        count = all;
    }
    mean += lt_load<C>(a.dtype, a.in + c * a.shape.inner * lt_element_size(a.dtype));
    a.mean[c] = mean;
    a.rstd[c] = 1 / lt_root(squares / count + a.eps);
    if (a.running_mean != nullptr)
        a.running_mean[c] = (1 - a.momentum) * a.running_mean[c] + a.momentum * mean;
    if (a.running_var != nullptr)
        a.running_var[c] = (1 - a.momentum) * a.running_var[c] + a.momentum * squares / (count - 1);
}

/* ---- elementwise ----------------------------------------------------------------------------- */

/* Forward: out = (x - mean) * rstd * weight + bias. Backward: out = (g - sum / n - x' * product /
 * n) * rstd * weight, x' = (x - mean) * rstd; without the sums if the statistics were given. */
template <class C> struct channel_map {
    lt_dtype dtype;
    const char *in, *grad;
    char *out;
    const C *mean, *rstd, *weight, *bias;
    const C *sums, *products; /* per channel, divided by its element count; NULL: 0 */
    int64_t numel, channels, inner;
    bool wide;
    bool aligned;  /* arrays, for vector accesses */
    bool one, all; /* all elements of a vector have one channel; consecutive channels */
    lt_divider by_inner, by_channels;
    lt_wide_divider by_wide_inner, by_wide_channels;

    __device__ __forceinline__ int64_t channel(int64_t i) const
    {
        if (wide) {
            const uint64_t piece = by_wide_inner.quotient(static_cast<uint64_t>(i));
            return static_cast<int64_t>(piece - by_wide_channels.quotient(piece) *
                                                    by_wide_channels.divisor);
        }
        const uint32_t piece = by_inner.quotient(static_cast<uint32_t>(i));
        return piece - by_channels.quotient(piece) * by_channels.divisor;
    }
    __device__ __forceinline__ C scale(int64_t c) const
    {
        return weight != nullptr ? rstd[c] * weight[c] : rstd[c];
    }

    /* Calls f(j, c) for the first m of N elements from i on; c: their channel. */
    template <int N, class F> __device__ __forceinline__ void each(int64_t i, int m, F f) const
    {
        int64_t c = channel(i);
        for (int j = 0; j < N; j++) {
            if (j >= m) continue;
            if (j > 0 && !one) c = all ? c + 1 : channel(i + j);
            f(j, c);
        }
    }
};

/* Index of this thread's first element, and in *m how many of its N exist. */
template <int N, class C>
static __device__ __forceinline__ int64_t first_of(const channel_map<C> &a, int *m)
{
    const int64_t i = lt_thread_number() * N;
    *m = a.numel - i < N ? static_cast<int>(a.numel - i) : N;
    return i;
}

template <class S, class C> static __global__ void __launch_bounds__(BLOCK) scale(channel_map<C> a)
{
    constexpr int N = 16 / sizeof(S);
    int m;
    const int64_t i = first_of<N>(a, &m);
    if (m <= 0) return;
    C x[N];
    lt_load_row_as<S, C, N>(reinterpret_cast<const S *>(a.in) + i, x, m, a.aligned);
    if (a.one) {
        const int64_t c = a.channel(i);
        const C mean = a.mean[c], by = a.scale(c), bias = a.bias != nullptr ? a.bias[c] : 0;
        for (int j = 0; j < N; j++) x[j] = (x[j] - mean) * by + bias;
    } else {
        a.template each<N>(i, m, [&](int j, int64_t c) {
            x[j] = (x[j] - a.mean[c]) * a.scale(c) + (a.bias != nullptr ? a.bias[c] : 0);
        });
    }
    lt_store_row_as<S, C, N>(reinterpret_cast<S *>(a.out) + i, x, m, a.aligned);
}

template <class S, class C>
static __global__ void __launch_bounds__(BLOCK) scale_backward(channel_map<C> a)
{
    constexpr int N = 16 / sizeof(S);
    int m;
    const int64_t i = first_of<N>(a, &m);
    if (m <= 0) return;
    C g[N], x[N];
    lt_load_row_as<S, C, N>(reinterpret_cast<const S *>(a.grad) + i, g, m, a.aligned);
    if (a.sums != nullptr)
        lt_load_row_as<S, C, N>(reinterpret_cast<const S *>(a.in) + i, x, m, a.aligned);
    if (a.one) {
        const int64_t c = a.channel(i);
        const C by = a.scale(c);
        if (a.sums != nullptr) {
            const C mean = a.mean[c], rstd = a.rstd[c], sum = a.sums[c], product = a.products[c];
            for (int j = 0; j < N; j++) g[j] -= sum + (x[j] - mean) * rstd * product;
        }
        for (int j = 0; j < N; j++) g[j] *= by;
    } else {
        a.template each<N>(i, m, [&](int j, int64_t c) {
            if (a.sums != nullptr)
                g[j] -= a.sums[c] + (x[j] - a.mean[c]) * a.rstd[c] * a.products[c];
            g[j] *= a.scale(c);
        });
    }
    lt_store_row_as<S, C, N>(reinterpret_cast<S *>(a.out) + i, g, m, a.aligned);
}

template <class C> static channel_map<C> map_of(const lt_batch_norm_args *n)
{
    const lt_norm_args &m = n->norm;
    channel_map<C> a = {};
    a.dtype = m.dtype;
    a.in = static_cast<const char *>(m.in), a.grad = static_cast<const char *>(m.grad);
    a.mean = static_cast<const C *>(m.mean), a.rstd = static_cast<const C *>(m.rstd);
    a.weight = static_cast<const C *>(m.weight), a.bias = static_cast<const C *>(m.bias);
    a.channels = n->channels, a.inner = n->inner, a.numel = n->outer * n->channels * n->inner;
    a.wide = a.numel >= LT_INDEX_LIMIT;
    if (a.wide) {
        a.by_wide_inner.set(static_cast<uint64_t>(n->inner));
        a.by_wide_channels.set(static_cast<uint64_t>(n->channels));
    } else {
        a.by_inner.set(static_cast<uint32_t>(n->inner));
        a.by_channels.set(static_cast<uint32_t>(n->channels));
    }
    const int64_t vector = 16 / lt_element_size(m.dtype);
    a.one = n->inner % vector == 0;
    a.all = n->inner == 1 && n->channels % vector == 0;
    return a;
}

template <class C>
static void launch_map(bool back, channel_map<C> a, void *out, cudaStream_t stream)
{
    a.out = static_cast<char *>(out);
    a.aligned = lt_is_aligned(a.in) && lt_is_aligned(a.grad) && lt_is_aligned(a.out);
    const unsigned blocks =
        lt_blocks(a.numel, BLOCK * static_cast<int>(16 / lt_element_size(a.dtype)));
#define RUN(S, COMPUTED)                                                                           \
    if constexpr (std::is_same_v<C, COMPUTED>) {                                                   \
        if (back)                                                                                  \
            LT_LAUNCH((scale_backward<S, COMPUTED>), blocks, BLOCK, stream, a);                    \
        else                                                                                       \
            LT_LAUNCH((scale<S, COMPUTED>), blocks, BLOCK, stream, a);                             \
    }
    LT_ROW_DTYPES(a.dtype, RUN)
#undef RUN
}

/* ---- the gradients of the parameters --------------------------------------------------------- */

template <class C> struct channel_gradients {
    lt_channel_sums<C> sums;
    C *grad_weight, *grad_bias; /* NULL: not wanted */
    C *mean_sums, *mean_products;
    C count;
};

template <class C> static __global__ void join_gradients(channel_gradients<C> a)
{
    const int64_t c = lt_thread_number();
    if (c >= a.sums.shape.channels) return;
    C sum, product;
    lt_join_parts(a.sums, c, &sum, &product);
    if (a.grad_weight != nullptr) a.grad_weight[c] = product;
    if (a.grad_bias != nullptr) a.grad_bias[c] = sum;
    a.mean_sums[c] = sum / a.count;
    a.mean_products[c] = product / a.count;
}

/* ---- launching ------------------------------------------------------------------------------- */

template <class C> static lt_status launch_measure(const lt_batch_norm_args *n, cudaStream_t stream)
{
    const lt_norm_args &m = n->norm;
    lt_cuda_scratch scratch;
    measures<C> a = {};
    a.shape.of(n->outer, n->channels, n->inner);
    a.dtype = m.dtype;
    a.in = static_cast<const char *>(m.in);
    a.mean = static_cast<C *>(m.mean), a.rstd = static_cast<C *>(m.rstd);
    a.running_mean = static_cast<C *>(n->running_mean),
    a.running_var = static_cast<C *>(n->running_var);
    a.eps = static_cast<C>(m.eps), a.momentum = static_cast<C>(n->momentum);
    LT_TRY(scratch.take(m.device.index,
                        static_cast<size_t>(a.shape.splits * 2 * a.shape.channels) * sizeof(C)));
    a.parts = scratch.as<C>();
    a.aligned = lt_has_vectors(n->inner, m.dtype, m.in, nullptr, nullptr);
#define MEASURE(S, COMPUTED)                                                                       \
    if constexpr (std::is_same_v<C, COMPUTED>)                                                     \
    LT_LAUNCH_BARRIER((measure<S, COMPUTED>), a.shape.grid(), a.shape.block(), 0, stream, a)
    LT_ROW_DTYPES(a.dtype, MEASURE)
#undef MEASURE
    LT_LAUNCH(join_measures<C>, lt_blocks(n->channels, BLOCK), BLOCK, stream, a);
    return LT_OK;
}

template <class C>
static lt_status launch_batch_norm(const lt_batch_norm_args *n, cudaStream_t stream)
{
    if (n->training) LT_TRY(launch_measure<C>(n, stream));
    launch_map<C>(false, map_of<C>(n), n->norm.out, stream);
    return LT_OK;
}

template <class C>
static lt_status launch_batch_norm_backward(const lt_batch_norm_args *n, cudaStream_t stream)
{
    const lt_norm_args &m = n->norm;
    lt_cuda_scratch scratch;
    channel_map<C> a = map_of<C>(n);
    if (n->training || m.grad_weight != nullptr || m.grad_bias != nullptr) {
        channel_gradients<C> g = {};
        lt_channel_sums<C> &sums = g.sums;
        sums.shape.of(n->outer, n->channels, n->inner);
        sums.dtype = m.dtype;
        sums.in = a.in, sums.grad = a.grad;
        sums.mean = a.mean, sums.rstd = a.rstd;
        LT_TRY(scratch.take(m.device.index,
                            static_cast<size_t>((sums.shape.splits + 1) * 2 * n->channels) *
                                sizeof(C)));
        sums.parts = scratch.as<C>();
        g.mean_sums = sums.parts + sums.shape.splits * 2 * n->channels;
        g.mean_products = g.mean_sums + n->channels;
        g.grad_weight = static_cast<C *>(m.grad_weight),
        g.grad_bias = static_cast<C *>(m.grad_bias);
        g.count = static_cast<C>(n->outer * n->inner);
        sums.aligned = lt_has_vectors(n->inner, m.dtype, m.in, m.grad, nullptr);
        lt_launch_sums(sums, stream);
        LT_LAUNCH(join_gradients<C>, lt_blocks(n->channels, BLOCK), BLOCK, stream, g);
        if (n->training) a.sums = g.mean_sums, a.products = g.mean_products;
    }
    if (m.grad_in == nullptr) return LT_OK;
    launch_map<C>(true, a, m.grad_in, stream);
    return LT_OK;
}

lt_status lt_cuda_batch_norm(const lt_batch_norm_args *n)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(n->norm.device.index, &stream));
    LT_TRY(n->norm.dtype == LT_FLOAT64 ? launch_batch_norm<double>(n, stream)
                                       : launch_batch_norm<float>(n, stream));
    return lt_cuda_launched(n->norm.device.index, stream, "batch_norm");
}

lt_status lt_cuda_batch_norm_backward(const lt_batch_norm_args *n)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(n->norm.device.index, &stream));
    LT_TRY(n->norm.dtype == LT_FLOAT64 ? launch_batch_norm_backward<double>(n, stream)
                                       : launch_batch_norm_backward<float>(n, stream));
    return lt_cuda_launched(n->norm.device.index, stream, "batch_norm_backward");
}
