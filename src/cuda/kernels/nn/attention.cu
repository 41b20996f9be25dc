/* attention.cu - attention on a GPU: the scores of as many queries as fit into a buffer of fixed size, which are
 * done with before the next ones come, so that no memory grows with queries x keys. Products are lt_cuda_gemm's;
 * the kernels here turn rows of scores into probabilities, and into slopes in backward. Scores are float (of half
 * types, too), or double. */
#include "cuda.h"
#include "formulas/formulas.h"
#include "kernels/block.cuh"
#include "kernels/element.cuh"

enum { THREADS = 256, ITEMS = 4 };

static const int64_t BUFFER = int64_t{32} << 20; /* bytes of scores: what a large GPU's L2 cache holds */

/* Rows first .. first + rows - 1 of each of some heads, beginning at head. */
template <class C> struct chunk {
    lt_dtype dtype;
    int64_t head, heads, first, rows, queries, keys, value_width;
    bool causal;
    C scale;
    const char *mask; /* null: none */
    lt_dtype mask_dtype;
    int64_t mask_heads, mask_strides[4]; /* elements */
    C *scores, *slopes;                  /* [heads here, rows, keys] */
    char *p, *ds;                        /* the same in dtype; where that is C they are scores and slopes */
    C *logsumexp;                        /* of all heads */
    const char *grad, *out;
};

/* Score c of a row, with what the mask makes of it. */
template <class C>
static __device__ __forceinline__ C masked(const chunk<C> &a, int64_t head, int64_t query, int64_t c, C x)
{
    if (a.causal && c > query) return static_cast<C>(-INFINITY);
    if (a.mask == nullptr) return x;
    const int64_t at = head / a.mask_heads * a.mask_strides[0] + head % a.mask_heads * a.mask_strides[1] +
                       query * a.mask_strides[2] + c * a.mask_strides[3];
    if (a.mask_dtype == LT_BOOL) return a.mask[at] != 0 ? x : static_cast<C>(-INFINITY);
    return x + lt_load<C>(a.mask_dtype, a.mask + at * lt_element_size(a.mask_dtype));
}

template <class C> static __global__ void __launch_bounds__(THREADS) probabilities(chunk<C> a)
{
    __shared__ C shared[lt_shared_for(THREADS)];
    const int64_t row = blockIdx.x, head = a.head + row / a.rows, query = a.first + row % a.rows;
    C *scores = a.scores + row * a.keys;
    C most = static_cast<C>(-INFINITY), sum = 0;
    for (int64_t c = threadIdx.x; c < a.keys; c += blockDim.x) {
        const C x = masked(a, head, query, c, scores[c]);
        scores[c] = x;
        most = x > most ? x : most;
    }
    most = lt_block_join(most, shared, [](C x, C y) { return x > y ? x : y; });
    const C shift = most == static_cast<C>(-INFINITY) ? 0 : most;
    for (int64_t c = threadIdx.x; c < a.keys; c += blockDim.x) {
        const C e = lt_exp(scores[c] - shift);
        scores[c] = e;
        sum += e;
    }
    sum = lt_block_join(sum, shared, [](C x, C y) { return x + y; });
    const C factor = sum == 0 ? 0 : 1 / sum;
    char *p = a.p + row * a.keys * lt_element_size(a.dtype);
    for (int64_t c = threadIdx.x; c < a.keys; c += blockDim.x)
        lt_store<C>(a.dtype, p + c * lt_element_size(a.dtype), scores[c] * factor);
    if (threadIdx.x == 0)
        a.logsumexp[head * a.queries + query] = sum == 0 ? static_cast<C>(INFINITY) : shift + lt_log(sum);
}

template <class C> static __global__ void __launch_bounds__(THREADS) slopes(chunk<C> a)
{
    __shared__ C shared[lt_shared_for(THREADS)];
    const int64_t row = blockIdx.x, head = a.head + row / a.rows, query = a.first + row % a.rows;
    const int64_t size = lt_element_size(a.dtype), line = (head * a.queries + query) * a.value_width;
    C delta = 0;
    for (int64_t i = threadIdx.x; i < a.value_width; i += blockDim.x)
        delta += lt_load<C>(a.dtype, a.grad + (line + i) * size) * lt_load<C>(a.dtype, a.out + (line + i) * size);
    delta = lt_block_join(delta, shared, [](C x, C y) { return x + y; });
    const C shift = a.logsumexp[head * a.queries + query];
    for (int64_t c = threadIdx.x; c < a.keys; c += blockDim.x) {
        const int64_t at = row * a.keys + c;
        const C p = lt_exp(masked(a, head, query, c, a.scores[at]) - shift), d = (a.slopes[at] - delta) * p * a.scale;
        lt_store<C>(a.dtype, a.p + at * size, p);
        lt_store<C>(a.dtype, a.ds + at * size, d);
    }
}

/* How the work is cut: heads and rows at a time. */
struct cut {
    int64_t heads, rows;

    cut(const lt_attention *a, int64_t bytes)
    {
        const int64_t all = a->batch * a->heads, fit = BUFFER / (bytes * a->keys),
                      want = a->queries < 64 ? a->queries : 64;
        heads = fit / want < 1 ? 1 : fit / want < all ? fit / want : all;
        rows = fit / heads < want ? want : fit / heads < a->queries ? fit / heads : a->queries;
    }
};

template <class C> static chunk<C> chunk_of(const lt_attention *a)
{
    chunk<C> c = {};
    c.dtype = a->dtype;
    c.queries = a->queries, c.keys = a->keys, c.value_width = a->value_width;
    c.causal = a->causal;
    c.scale = static_cast<C>(a->scale);
    c.logsumexp = static_cast<C *>(a->logsumexp);
    c.grad = static_cast<const char *>(a->grad.data), c.out = static_cast<const char *>(a->out.data);
    c.mask_heads = a->heads;
    if (a->mask.data != nullptr) {
        c.mask = static_cast<const char *>(a->mask.data);
        c.mask_dtype = a->mask.dtype;
        for (int d = 0; d < 4; d++) c.mask_strides[d] = a->mask.strides[d];
    }
    return c;
}

/* Row `first` of a head in a dense array of `length` rows. */
static const void *rows_at(const void *data, lt_dtype dtype, int64_t head, int64_t length, int64_t first, int64_t width)
{
    return static_cast<const char *>(data) + (head * length + first) * width * lt_element_size(dtype);
}

/* C[i] = alpha A[i] B[i] + beta C[i] for some heads: A is m x k, B k x n. */
struct product {
    lt_gemm g = {};

    product(const lt_attention *a, int64_t heads, int64_t m, int64_t n, int64_t k, bool wide)
    {
        g.dtype = a->dtype, g.device = a->device, g.batch = heads;
        g.m = m, g.n = n, g.k = k, g.alpha = 1;
        g.wide_result = wide && (a->dtype == LT_FLOAT16 || a->dtype == LT_BFLOAT16);
    }
    product &left(const void *p, int64_t batch, bool transposed)
    {
        g.a = p, g.batch_a = batch, g.trans_a = transposed, g.lda = transposed ? g.m : g.k;
        return *this;
    }
    product &right(const void *p, int64_t batch, bool transposed)
    {
        g.b = p, g.batch_b = batch, g.trans_b = transposed, g.ldb = transposed ? g.k : g.n;
        return *this;
    }
    lt_status into(const void *p, int64_t batch, double beta = 0)
    {
        g.c = const_cast<void *>(p), g.batch_c = batch, g.ldc = g.n, g.beta = beta;
        return lt_cuda_gemm(&g);
    }
};

template <class C> static lt_status score(const lt_attention *a, const chunk<C> &c)
{
    product p(a, c.heads, c.rows, a->keys, a->width, true);
    p.g.alpha = a->scale;
    return p.left(rows_at(a->query.data, a->dtype, c.head, a->queries, c.first, a->width), a->queries * a->width, false)
        .right(rows_at(a->key.data, a->dtype, c.head, a->keys, 0, a->width), a->keys * a->width, true)
        .into(c.scores, c.rows * a->keys);
}

template <class C> static lt_status forward(const lt_attention *a, cudaStream_t stream)
{
    const bool half = lt_element_size(a->dtype) == 2;
    const cut size(a, half ? 6 : lt_element_size(a->dtype));
    const int64_t all = a->batch * a->heads, elements = size.heads * size.rows * a->keys;
    lt_cuda_scratch scratch;
    LT_TRY(scratch.take(a->device.index, static_cast<size_t>(elements * (half ? 6 : lt_element_size(a->dtype)))));
    chunk<C> c = chunk_of<C>(a);
    c.scores = scratch.as<C>();
    c.p = half ? reinterpret_cast<char *>(c.scores + elements) : reinterpret_cast<char *>(c.scores);
    for (c.head = 0; c.head < all; c.head += size.heads)
        for (c.first = 0; c.first < a->queries; c.first += size.rows) {
            c.heads = all - c.head < size.heads ? all - c.head : size.heads;
            c.rows = a->queries - c.first < size.rows ? a->queries - c.first : size.rows;
            LT_TRY(score(a, c));
            const int threads = lt_threads_for(a->keys, ITEMS, THREADS);
            LT_LAUNCH_MEET(probabilities<C>, static_cast<unsigned>(c.heads * c.rows), threads, 0, stream, c);
            LT_TRY(product(a, c.heads, c.rows, a->value_width, a->keys, false)
                       .left(c.p, c.rows * a->keys, false)
                       .right(rows_at(a->value.data, a->dtype, c.head, a->keys, 0, a->value_width),
                              a->keys * a->value_width, false)
                       .into(rows_at(a->out.data, a->dtype, c.head, a->queries, c.first, a->value_width),
                             a->queries * a->value_width));
        }
    return LT_OK;
}

/* The gradients of some heads' rows; those of keys and values are added to. */
template <class C> static lt_status add_gradients(const lt_attention *a, const chunk<C> &c)
{
    const lt_dtype wide = sizeof(C) == 8 ? LT_FLOAT64 : LT_FLOAT32;
    const double beta = c.first == 0 ? 0 : 1;
    const void *grad = rows_at(a->grad.data, a->dtype, c.head, a->queries, c.first, a->value_width);
    if (a->grad_value != nullptr)
        LT_TRY(product(a, c.heads, a->keys, a->value_width, c.rows, true)
                   .left(c.p, c.rows * a->keys, true)
                   .right(grad, a->queries * a->value_width, false)
                   .into(rows_at(a->grad_value, wide, c.head, a->keys, 0, a->value_width), a->keys * a->value_width,
                         beta));
    if (a->grad_key != nullptr)
        LT_TRY(product(a, c.heads, a->keys, a->width, c.rows, true)
                   .left(c.ds, c.rows * a->keys, true)
                   .right(rows_at(a->query.data, a->dtype, c.head, a->queries, c.first, a->width),
                          a->queries * a->width, false)
                   .into(rows_at(a->grad_key, wide, c.head, a->keys, 0, a->width), a->keys * a->width, beta));
    if (a->grad_query != nullptr)
        LT_TRY(product(a, c.heads, c.rows, a->width, a->keys, true)
                   .left(c.ds, c.rows * a->keys, false)
                   .right(rows_at(a->key.data, a->dtype, c.head, a->keys, 0, a->width), a->keys * a->width, false)
                   .into(rows_at(a->grad_query, wide, c.head, a->queries, c.first, a->width), a->queries * a->width));
    return LT_OK;
}

template <class C> static lt_status backward(const lt_attention *a, cudaStream_t stream)
{
    const bool half = lt_element_size(a->dtype) == 2;
    const int64_t bytes = half ? 12 : 2 * lt_element_size(a->dtype);
    const cut size(a, bytes);
    const int64_t all = a->batch * a->heads, elements = size.heads * size.rows * a->keys;
    lt_cuda_scratch scratch;
    LT_TRY(scratch.take(a->device.index, static_cast<size_t>(elements * bytes)));
    chunk<C> c = chunk_of<C>(a);
    c.scores = scratch.as<C>();
    c.slopes = c.scores + elements;
    c.p = reinterpret_cast<char *>(half ? c.slopes + elements : c.scores);
    c.ds = half ? c.p + elements * 2 : reinterpret_cast<char *>(c.slopes);
    for (c.head = 0; c.head < all; c.head += size.heads)
        for (c.first = 0; c.first < a->queries; c.first += size.rows) {
            c.heads = all - c.head < size.heads ? all - c.head : size.heads;
            c.rows = a->queries - c.first < size.rows ? a->queries - c.first : size.rows;
            LT_TRY(score(a, c));
            LT_TRY(product(a, c.heads, c.rows, a->keys, a->value_width, true)
                       .left(rows_at(a->grad.data, a->dtype, c.head, a->queries, c.first, a->value_width),
                             a->queries * a->value_width, false)
                       .right(rows_at(a->value.data, a->dtype, c.head, a->keys, 0, a->value_width),
                              a->keys * a->value_width, true)
                       .into(c.slopes, c.rows * a->keys));
            const int threads = lt_threads_for(a->keys, ITEMS, THREADS);
            LT_LAUNCH_MEET(slopes<C>, static_cast<unsigned>(c.heads * c.rows), threads, 0, stream, c);
            LT_TRY(add_gradients(a, c));
        }
    return LT_OK;
}

lt_status lt_cuda_attention(const lt_attention *a)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(a->device.index, &stream));
    LT_TRY(a->dtype == LT_FLOAT64 ? forward<double>(a, stream) : forward<float>(a, stream));
    return lt_cuda_launched(a->device.index, stream, "attention");
}

lt_status lt_cuda_attention_backward(const lt_attention *a)
{
    cudaStream_t stream;
    LT_TRY(lt_cuda_enter(a->device.index, &stream));
    LT_TRY(a->dtype == LT_FLOAT64 ? backward<double>(a, stream) : backward<float>(a, stream));
    return lt_cuda_launched(a->device.index, stream, "attention_backward");
}
