/* norm.cu - normalization of rows (layer_norm, rms_norm, group_norm), forward and backward. A block has a row. The
 * gradients of the parameters are sums over channels (norm.cuh). Half types are read and written as they are,
 * everything is computed in float, or double. */
#include "norm.cuh"

template <class C> struct rows {
    lt_dtype dtype, parameter_dtype;
    const char *in, *grad, *weight, *bias;
    char *out;
    C *mean, *rstd; /* mean NULL: nothing is subtracted */
    int64_t length, groups, run;
    bool wide;
    lt_divider by_run;
    C eps;

    __device__ __forceinline__ int64_t entry(int64_t row, int64_t i) const
    {
        const int64_t k = run == 1 ? i : wide ? i / run : by_run.quotient(static_cast<uint32_t>(i));
        return row % groups * (length / run) + k;
    }
    __device__ __forceinline__ C parameter(const char *p, int64_t row, int64_t i, C other) const
    {
        return p != nullptr ? lt_load<C>(parameter_dtype, p + entry(row, i) * lt_element_size(parameter_dtype)) : other;
    }
};

/* f(i, x) for this thread's elements of a row. */
template <class C, class F>
static __device__ __forceinline__ void for_row(lt_dtype dtype, const char *row, int64_t n, F f)
{
    const int64_t size = lt_element_size(dtype);
    for (int64_t i = threadIdx.x; i < n; i += LT_NORM_ITEMS * blockDim.x) {
        const char *at[LT_NORM_ITEMS];
        C x[LT_NORM_ITEMS];
        for (int j = 0; j < LT_NORM_ITEMS; j++) {
            const int64_t k = i + j * static_cast<int64_t>(blockDim.x);
            at[j] = row + (k < n ? k : i) * size;
        }
        lt_load_many<C, LT_NORM_ITEMS>(dtype, at, x);
        for (int j = 0; j < LT_NORM_ITEMS; j++) {
            const int64_t k = i + j * static_cast<int64_t>(blockDim.x);
            if (k < n) f(k, x[j]);
        }
    }
}

template <class C> static __global__ void __launch_bounds__(LT_NORM_THREADS) forward(rows<C> a)
{
    __shared__ C shared[lt_shared_for(LT_NORM_THREADS)];
    const auto add = [](C x, C y) { return x + y; };
    const int64_t row = blockIdx.x, n = a.length, size = lt_element_size(a.dtype);
    const char *in = a.in + row * n * size;
    C mean = 0, squares = 0;
    if (a.mean != nullptr) {
        for_row<C>(a.dtype, in, n, [&](int64_t, C x) { mean += x; });
        mean = lt_block_join(mean, shared, add) / static_cast<C>(n);
    }
    for_row<C>(a.dtype, in, n, [&](int64_t, C x) { squares += (x - mean) * (x - mean); });
    squares = lt_block_join(squares, shared, add);
    const C rstd = 1 / lt_root(squares / static_cast<C>(n) + a.eps);
    if (threadIdx.x == 0) {
        if (a.mean != nullptr) a.mean[row] = mean;
        a.rstd[row] = rstd;
    }
    for_row<C>(a.dtype, in, n, [&](int64_t i, C x) {
        const C y = (x - mean) * rstd * a.parameter(a.weight, row, i, 1) + a.parameter(a.bias, row, i, 0);
        lt_store<C>(a.dtype, a.out + (row * n + i) * size, y);
    });
}

template <class C> static __global__ void __launch_bounds__(LT_NORM_THREADS) backward(rows<C> a)
{
    __shared__ C shared[lt_shared_for(LT_NORM_THREADS)];
    const auto add = [](C x, C y) { return x + y; };
    const int64_t row = blockIdx.x, n = a.length, size = lt_element_size(a.dtype);
    const char *in = a.in + row * n * size, *grad = a.grad + row * n * size;
    const C mean = a.mean != nullptr ? a.mean[row] : 0, rstd = a.rstd[row];
    C sum = 0, product = 0;
    for_row<C>(a.dtype, grad, n, [&](int64_t i, C g) {
        const C gw = g * a.parameter(a.weight, row, i, 1);
        sum += gw;
        product += gw * ((lt_load<C>(a.dtype, in + i * size) - mean) * rstd);
    });
    sum = a.mean != nullptr ? lt_block_join(sum, shared, add) / static_cast<C>(n) : 0;
    product = lt_block_join(product, shared, add) / static_cast<C>(n);
    for_row<C>(a.dtype, grad, n, [&](int64_t i, C g) {
        const C gw = g * a.parameter(a.weight, row, i, 1), normal = (lt_load<C>(a.dtype, in + i * size) - mean) * rstd;
        lt_store<C>(a.dtype, a.out + (row * n + i) * size, rstd * (gw - sum - normal * product));
    });
}

template <class C> struct norm_parameters {
    lt_channel_sums<C> sums;
    lt_dtype dtype;
    char *grad_weight, *grad_bias;
};

template <class C> static __global__ void join_parameters(norm_parameters<C> a)
{
    const int64_t c = lt_thread_number();
    if (c >= a.sums.shape.channels) return;
    C sum, product;
    lt_join_parts(a.sums, c, &sum, &product);
    const int64_t at = c * lt_element_size(a.dtype);
    if (a.grad_weight != nullptr) lt_store<C>(a.dtype, a.grad_weight + at, product);
    if (a.grad_bias != nullptr) lt_store<C>(a.dtype, a.grad_bias + at, sum);
}

template <class C> static rows<C> rows_of(const lt_row_norm_args *n)
{
    const lt_norm_args &m = n->norm;
    rows<C> a = {};
    a.dtype = m.dtype, a.parameter_dtype = m.parameter_dtype;
    a.in = static_cast<const char *>(m.in), a.grad = static_cast<const char *>(m.grad);
    a.weight = static_cast<const char *>(m.weight), a.bias = static_cast<const char *>(m.bias);
    a.mean = static_cast<C *>(m.mean), a.rstd = static_cast<C *>(m.rstd);
    a.length = n->length, a.groups = n->groups, a.run = n->run;
    a.wide = n->length >= int64_t{1} << 31;
    if (!a.wide) a.by_run.set(static_cast<uint32_t>(n->run));
    a.eps = static_cast<C>(m.eps);
    return a;
}

template <class C> static void launch_forward(const lt_row_norm_args *n, cudaStream_t stream)
{
    rows<C> a = rows_of<C>(n);
    a.out = static_cast<char *>(n->norm.out);
    const int threads = lt_threads_for(n->length, 2 * LT_NORM_ITEMS, LT_NORM_THREADS);
    LT_LAUNCH_MEET(forward<C>, static_cast<unsigned>(n->rows), threads, 0, stream, a);
}

template <class C> static lt_status launch_backward(const lt_row_norm_args *n, cudaStream_t stream)
{
    const lt_norm_args &m = n->norm;
    lt_cuda_scratch scratch;
    if (m.grad_in != nullptr) {
        rows<C> a = rows_of<C>(n);
        a.out = static_cast<char *>(m.grad_in);
        const int threads = lt_threads_for(n->length, 2 * LT_NORM_ITEMS, LT_NORM_THREADS);
        LT_LAUNCH_MEET(backward<C>, static_cast<unsigned>(n->rows), threads, 0, stream, a);
    }
    if (m.grad_weight == nullptr && m.grad_bias == nullptr) return LT_OK;
    norm_parameters<C> p = {};
    lt_channel_sums<C> &sums = p.sums;
    sums.entries = n->length / n->run, sums.groups = n->groups;
    sums.shape.of(n->rows / n->groups, n->groups * sums.entries, n->run);
    sums.dtype = m.dtype;
    sums.in = static_cast<const char *>(m.in), sums.grad = static_cast<const char *>(m.grad);
    sums.mean = static_cast<const C *>(m.mean), sums.rstd = static_cast<const C *>(m.rstd);
    LT_TRY(scratch.take(m.device.index, static_cast<size_t>(sums.shape.splits * 2 * sums.shape.channels) * sizeof(C)));
    sums.parts = scratch.as<C>();
    p.dtype = m.parameter_dtype;
    p.grad_weight = static_cast<char *>(m.grad_weight), p.grad_bias = static_cast<char *>(m.grad_bias);
    LT_LAUNCH_MEET(lt_sum_channels<C>, sums.shape.grid(), sums.shape.block(), 0, stream, sums);
    LT_LAUNCH(join_parameters<C>, lt_blocks(sums.shape.channels, 256), 256, stream, p);
    return LT_OK;
}

lt_status lt_cuda_row_norm(const lt_row_norm_args *n)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(n->norm.device.index, &stream));
    if (n->norm.dtype == LT_FLOAT64)
        launch_forward<double>(n, stream);
    else
        launch_forward<float>(n, stream);
    return lt_cuda_launched(n->norm.device.index, stream, "row_norm");
}

lt_status lt_cuda_row_norm_backward(const lt_row_norm_args *n)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(n->norm.device.index, &stream));
    LT_TRY(n->norm.dtype == LT_FLOAT64 ? launch_backward<double>(n, stream) : launch_backward<float>(n, stream));
    return lt_cuda_launched(n->norm.device.index, stream, "row_norm_backward");
}
