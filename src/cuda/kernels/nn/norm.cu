/* norm.cu - normalization of rows (layer_norm, rms_norm, group_norm), forward and backward. One
 * team of threads per row (rows.cuh). The gradients of the parameters are sums over channels
 * (norm.cuh). Half types are loaded and stored as they are; everything is computed in float, or
 * double. */
#include "norm.cuh"

#include "kernels/compile/fused.cuh"

template <class C> struct rows {
    lt_dtype dtype, parameter_dtype;
    const char *in, *grad, *weight, *bias;
    char *out;
    C *mean, *rstd;                      /* mean NULL: no mean is subtracted (RMS norm) */
    int64_t count, length, run, entries; /* entries: parameters per row */
    bool wide, aligned, parameters_aligned;
    lt_divider by_run, by_groups;
    lt_wide_divider by_wide_run;
    C eps;

    /* Index of a row's first parameter. */
    __device__ __forceinline__ int64_t first_entry(int64_t row) const
    {
        const uint32_t number = static_cast<uint32_t>(row);
        return (number - by_groups.quotient(number) * by_groups.divisor) * entries;
    }
    /* Loads the parameters of N elements from i on, of which m exist. P: type of parameters in
     * memory. */
    template <class P, int N>
    __device__ __forceinline__ void load(const P *p, int64_t i, int m, C *values) const
    {
        if (run == 1) {
            lt_load_row_as<P, C, N>(p + i, values, m, parameters_aligned);
            return;
        }
        const int64_t entry =
            wide ? static_cast<int64_t>(by_wide_run.quotient(static_cast<uint64_t>(i)))
                 : by_run.quotient(static_cast<uint32_t>(i));
        int64_t left = (entry + 1) * run - i; /* remaining elements with this parameter */
        p += entry;
        C value = lt_as<C>(*p);
        LT_UNROLLED
        for (int j = 0; j < N; j++) {
            if (left == 0 && j < m) {
                value = lt_as<C>(*++p);
                left = run;
            }
            left--;
            values[j] = value;
        }
    }
    template <class S, int N>
    __device__ __forceinline__ void parameters(const char *p, int64_t first, int64_t i, int m,
                                               C other, C *values) const
    {
        LT_UNROLLED
        for (int j = 0; j < N; j++) values[j] = other;
        if (p == nullptr) return;
        if (std::is_same_v<S, C> || parameter_dtype != dtype)
            load<C, N>(reinterpret_cast<const C *>(p) + first, i, m, values);
        else
            load<S, N>(reinterpret_cast<const S *>(p) + first, i, m, values);
    }
};

template <class S, class C, bool HELD>
static __global__ void __launch_bounds__(LT_ROW_THREADS, 2) forward(rows<C> a)
{
    __shared__ C shared[lt_shared_for(LT_ROW_THREADS)];
    const int64_t number = lt_row_number(), n = a.length,
                  first = number < a.count ? a.first_entry(number) : 0;
    if (number >= a.count) return;
    const auto parameters = [&](bool bias, int64_t i, int m, C *values) {
        a.template parameters<S, lt_row<S, C>::N>(bias ? a.bias : a.weight, first, i, m,
                                                  bias ? 0 : 1, values);
    };
    lt_norm_row<HELD>(lt_row<S, C>(reinterpret_cast<const S *>(a.in) + number * n, a.aligned),
                      lt_norm_out<S, C>{reinterpret_cast<S *>(a.out) + number * n,
                                        a.mean != nullptr ? a.mean + number : nullptr,
                                        a.rstd + number, n, a.aligned, a.eps},
                      parameters, lt_row_threads(shared));
}

template <class S, class C, bool HELD>
static __global__ void __launch_bounds__(LT_ROW_THREADS) backward(rows<C> a)
{
    __shared__ C shared[lt_shared_for(LT_ROW_THREADS)];
    const lt_thread_group<C> team = lt_row_threads(shared);
    constexpr int N = lt_row<S, C>::N;
    const auto add = [](C x, C y) { return x + y; };
    const int64_t number = lt_row_number(), n = a.length,
                  first = number < a.count ? a.first_entry(number) : 0;
    if (number >= a.count) return;
    S *const out = reinterpret_cast<S *>(a.out) + number * n;
    lt_row<S, C> in(reinterpret_cast<const S *>(a.in) + number * n, a.aligned),
        grad(reinterpret_cast<const S *>(a.grad) + number * n, a.aligned);
    const C mean = a.mean != nullptr ? a.mean[number] : 0, rstd = a.rstd[number];
    C sum = 0, product = 0;
    /* Replaces x by (x - mean) * rstd and g by g * weight; held rows keep these. */
    const auto prepare = [&](int64_t i, int m, C *x, C *g) {
        C weight[N];
        a.template parameters<S, N>(a.weight, first, i, m, 1, weight);
        LT_UNROLLED
        for (int j = 0; j < N; j++) {
            x[j] = (x[j] - mean) * rstd;
            g[j] *= weight[j];
        }
    };
    lt_row_pass<HELD, true>(
        n, team.thread, team.threads,
        [&](int64_t i, int m, C *x, C *g) {
            prepare(i, m, x, g);
            LT_UNROLLED
            for (int j = 0; j < N; j++) {
                sum += g[j]; /* missing elements are 0 */
                product += g[j] * x[j];
            }
        },
        in, grad);
    sum = a.mean != nullptr ? lt_block_join(sum, shared, add) / static_cast<C>(n) : 0;
    product = lt_block_join(product, shared, add) / static_cast<C>(n);
    lt_row_pass<HELD, false>(
        n, team.thread, team.threads,
        [&](int64_t i, int m, C *x, C *g) {
            C y[N];
            if (!HELD) prepare(i, m, x, g);
            LT_UNROLLED
            for (int j = 0; j < N; j++) y[j] = rstd * (g[j] - sum - x[j] * product);
            lt_store_row_as<S, C, N>(out + i, y, m, a.aligned);
        },
        in, grad);
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

template <class C> static rows<C> norm_rows_of(const lt_row_norm_args *n)
{
    const lt_norm_args &m = n->norm;
    rows<C> a = {};
    a.dtype = m.dtype, a.parameter_dtype = m.parameter_dtype;
    a.in = static_cast<const char *>(m.in), a.grad = static_cast<const char *>(m.grad);
    a.weight = static_cast<const char *>(m.weight), a.bias = static_cast<const char *>(m.bias);
    a.mean = static_cast<C *>(m.mean), a.rstd = static_cast<C *>(m.rstd);
    a.count = n->rows, a.length = n->length, a.run = n->run, a.entries = n->length / n->run;
    a.wide = n->length >= LT_INDEX_LIMIT;
    if (a.wide)
        a.by_wide_run.set(static_cast<uint64_t>(n->run));
    else
        a.by_run.set(static_cast<uint32_t>(n->run));
    a.by_groups.set(static_cast<uint32_t>(n->groups));
    a.eps = static_cast<C>(m.eps);
    return a;
}

template <class S, class C, bool HELD>
static void launch_rows(bool back, const rows<C> &a, const lt_row_team &team, cudaStream_t stream)
{
    const unsigned blocks = lt_row_blocks(a.count, team);
    if (back)
        LT_LAUNCH_BARRIER((backward<S, C, HELD>), blocks, team.block, 0, stream, a);
    else
        LT_LAUNCH_BARRIER((forward<S, C, HELD>), blocks, team.block, 0, stream, a);
}

/* Launches the kernel for the dtype of these rows. */
template <class C> static void launch_norm(bool back, rows<C> a, cudaStream_t stream)
{
    const int64_t size = lt_element_size(a.dtype);
    const lt_row_team team = lt_row_team_of(a.length, size);
    a.aligned = lt_has_vectors(a.length, a.dtype, a.in, a.grad, a.out);
    a.parameters_aligned =
        a.length * size % 16 == 0 && lt_is_aligned(a.weight) && lt_is_aligned(a.bias);
#define RUN(S, COMPUTED)                                                                           \
    if constexpr (std::is_same_v<C, COMPUTED>) {                                                   \
        if (team.held)                                                                             \
            launch_rows<S, COMPUTED, true>(back, a, team, stream);                                 \
        else                                                                                       \
            launch_rows<S, COMPUTED, false>(back, a, team, stream);                                \
    }
    LT_ROW_DTYPES(a.dtype, RUN)
#undef RUN
}

template <class C> static void launch_forward(const lt_row_norm_args *n, cudaStream_t stream)
{
    rows<C> a = norm_rows_of<C>(n);
    a.out = static_cast<char *>(n->norm.out);
    launch_norm(false, a, stream);
}

template <class C> static lt_status launch_backward(const lt_row_norm_args *n, cudaStream_t stream)
{
    const lt_norm_args &m = n->norm;
    lt_cuda_scratch scratch;
    if (m.grad_in != nullptr) {
        rows<C> a = norm_rows_of<C>(n);
        a.out = static_cast<char *>(m.grad_in);
        launch_norm(true, a, stream);
    }
    if (m.grad_weight == nullptr && m.grad_bias == nullptr) return LT_OK;
    norm_parameters<C> p = {};
    lt_channel_sums<C> &sums = p.sums;
    const int64_t entries = n->length / n->run;
    sums.groups = n->groups;
    sums.by_entries.set(static_cast<uint32_t>(entries));
    sums.shape.of(n->rows / n->groups, n->groups * entries, n->run);
    sums.aligned = lt_has_vectors(n->run, m.dtype, m.in, m.grad, nullptr);
    sums.dtype = m.dtype;
    sums.in = static_cast<const char *>(m.in), sums.grad = static_cast<const char *>(m.grad);
    sums.mean = static_cast<const C *>(m.mean), sums.rstd = static_cast<const C *>(m.rstd);
    LT_TRY(
        scratch.take(m.device.index,
                     static_cast<size_t>(sums.shape.splits * 2 * sums.shape.channels) * sizeof(C)));
    sums.parts = scratch.as<C>();
    p.dtype = m.parameter_dtype;
    p.grad_weight = static_cast<char *>(m.grad_weight),
    p.grad_bias = static_cast<char *>(m.grad_bias);
    lt_launch_sums(sums, stream);
    LT_LAUNCH(join_parameters<C>, lt_blocks(sums.shape.channels, 256), 256, stream, p);
    return LT_OK;
}

/* Normalizes the rows of a fused expression. Supported if there is one parameter per element. */
static lt_status launch_fused_norm(const lt_row_norm_args *n, cudaStream_t stream)
{
    const lt_norm_args &m = n->norm;
    const int64_t size = lt_element_size(m.parameter_dtype);
    lt_fused_rows rows = {};
    *m.producer->done = n->run == 1 && n->groups == 1;
    if (!*m.producer->done) return LT_OK;
    rows.count = n->rows, rows.length = n->length;
    rows.out = m.out, rows.weight = m.weight, rows.bias = m.bias, rows.mean = m.mean,
    rows.rstd = m.rstd;
    if (m.dtype == LT_FLOAT64)
        rows.eps.d = m.eps;
    else
        rows.eps.f = static_cast<float>(m.eps);
    rows.aligned = lt_is_aligned(m.out);
    rows.parameters_aligned =
        n->length * size % 16 == 0 && lt_is_aligned(m.weight) && lt_is_aligned(m.bias);
    return lt_fused_take_rows(m.producer, "lt_norm_rows", m.dtype,
                              lt_fused_element(m.parameter_dtype), lt_row_team_of(n->length, size),
                              rows, stream);
}

lt_status lt_cuda_row_norm(const lt_row_norm_args *n)
{
    const lt_fused_producer *const producer = n->norm.producer;
    lt_row_norm_args written = *n;
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(n->norm.device.index, &stream));
    if (producer != nullptr && producer->fusion->n_steps > 0) return launch_fused_norm(n, stream);
    if (producer != nullptr) written.norm.in = producer->fusion->values[producer->value].data;
    if (n->norm.dtype == LT_FLOAT64)
        launch_forward<double>(&written, stream);
    else
        launch_forward<float>(&written, stream);
    return lt_cuda_launched(n->norm.device.index, stream, "row_norm");
}

lt_status lt_cuda_row_norm_backward(const lt_row_norm_args *n)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(n->norm.device.index, &stream));
    LT_TRY(n->norm.dtype == LT_FLOAT64 ? launch_backward<double>(n, stream)
                                       : launch_backward<float>(n, stream));
    return lt_cuda_launched(n->norm.device.index, stream, "row_norm_backward");
}
