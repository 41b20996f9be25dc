/* attention_buffered.cu - attention for calls that the fused kernels do not support (attention.cu).
 * The scores of a chunk of queries are stored in a buffer of fixed size, so that memory does not
 * grow with queries x keys. Matrix products are lt_cuda_gemm's; the kernels here turn rows of
 * scores into probabilities, and into gradients of scores in backward. Scores are float (for half
 * types too) or double. A chunk has heads of one batch entry, which are a constant stride apart; a
 * single head if heads share keys. */
#include "attention.cuh"
#include "formulas/formulas.h"
#include "kernels/block.cuh"
#include "kernels/element.cuh"
#include "kernels/offsets.cuh"

namespace {

enum { THREADS = 256, ITEMS = 4 };

constexpr int64_t BUFFER = int64_t{32}
                           << 20; /* bytes of scores: fits into the L2 cache of a large GPU */

/* A chunk: rows first .. first + rows - 1 of `heads` heads from `head` on (index in the whole
 * batch). */
template <class C> struct chunk {
    lt_attention_job job;
    lt_dtype dtype, mask_dtype;
    int64_t head, heads, first, rows;
    C *scores, *slopes; /* [heads of the chunk, rows, keys] */
    char *p, *ds;       /* the same in dtype; if that is C, the same memory */
};

/* Score c of a row after masking. */
template <class C>
__device__ __forceinline__ C masked(const chunk<C> &a, int64_t head, int64_t query, int64_t c, C x)
{
    const lt_attention_job &j = a.job;
    if (j.causal && c > query) return static_cast<C>(-INFINITY);
    if (j.mask == nullptr) return x;
    const int64_t at = head / j.heads * j.mask_strides[0] + head % j.heads * j.mask_strides[1] +
                       query * j.mask_strides[2] + c * j.mask_strides[3];
    if (!j.mask_adds) return j.mask[at] != 0 ? x : static_cast<C>(-INFINITY);
    return x + lt_load<C>(a.dtype, j.mask + at * lt_element_size(a.dtype));
}

/* The factor that dropout applies to a probability. */
template <class C>
__device__ __forceinline__ C kept(const chunk<C> &a, int64_t head, int64_t query, int64_t c)
{
    if (a.job.seed == nullptr) return 1;
    const lt_attention_dropout dropout(a.job, head);
    const int i = static_cast<int>(query), j = static_cast<int>(c);
    return dropout.keeps(dropout.words(i, j), i, j) ? static_cast<C>(a.job.kept) : C{0};
}

template <class C> __global__ void __launch_bounds__(THREADS) probabilities(chunk<C> a)
{
    __shared__ C shared[lt_shared_for(THREADS)];
    const int64_t row = blockIdx.x, head = a.head + row / a.rows, query = a.first + row % a.rows,
                  keys = a.job.keys;
    C *scores = a.scores + row * keys;
    C most = static_cast<C>(-INFINITY), sum = 0;
    for (int64_t c = threadIdx.x; c < keys; c += blockDim.x) {
        const C x = masked(a, head, query, c, scores[c]);
        scores[c] = x;
        most = x > most ? x : most;
    }
    most = lt_block_join(most, shared, [](C x, C y) { return x > y ? x : y; });
    const C shift = most == static_cast<C>(-INFINITY) ? 0 : most;
    for (int64_t c = threadIdx.x; c < keys; c += blockDim.x) {
        const C e = lt_exp(scores[c] - shift);
        scores[c] = e;
        sum += e;
    }
    sum = lt_block_join(sum, shared, [](C x, C y) { return x + y; });
    const C factor = sum == 0 ? 0 : 1 / sum;
    char *p = a.p + row * keys * lt_element_size(a.dtype);
    for (int64_t c = threadIdx.x; c < keys; c += blockDim.x)
        lt_store<C>(a.dtype, p + c * lt_element_size(a.dtype),
                    scores[c] * factor * kept(a, head, query, c));
    if (threadIdx.x == 0)
        static_cast<C *>(a.job.logsumexp)[head * a.job.queries + query] =
            sum == 0 ? static_cast<C>(INFINITY) : shift + lt_log(sum);
}

__device__ __forceinline__ const char *line_of(const lt_attention_rows &r, int64_t head, int heads,
                                               int64_t i, int64_t size)
{
    return static_cast<const char *>(r.data) +
           (head / heads * r.batch + head % heads * r.head + i * r.row) * size;
}

template <class C> __global__ void __launch_bounds__(THREADS) slopes(chunk<C> a)
{
    __shared__ C shared[lt_shared_for(THREADS)];
    const lt_attention_job &j = a.job;
    const int64_t row = blockIdx.x, head = a.head + row / a.rows, query = a.first + row % a.rows;
    const int64_t size = lt_element_size(a.dtype);
    const char *grad = line_of(j.grad, head, j.heads, query, size),
               *out = line_of(j.out, head, j.heads, query, size);
    C delta = 0;
    for (int64_t i = threadIdx.x; i < j.value_width; i += blockDim.x)
        delta += lt_load<C>(a.dtype, grad + i * size) * lt_load<C>(a.dtype, out + i * size);
    delta = lt_block_join(delta, shared, [](C x, C y) { return x + y; });
    const C shift = static_cast<const C *>(j.logsumexp)[head * j.queries + query],
            scale = static_cast<C>(j.scale);
    for (int64_t c = threadIdx.x; c < j.keys; c += blockDim.x) {
        const int64_t at = row * j.keys + c;
        const C p = lt_exp(masked(a, head, query, c, a.scores[at]) - shift),
                factor = kept(a, head, query, c);
        lt_store<C>(a.dtype, a.ds + at * size, (a.slopes[at] * factor - delta) * p * scale);
        lt_store<C>(a.dtype, a.p + at * size, p * factor);
    }
}

__global__ void __launch_bounds__(THREADS)
    narrow(lt_dtype dtype, char *to, const float *from, int64_t n)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (i < n) lt_store<float>(dtype, to + i * lt_element_size(dtype), from[i]);
}

/* Chunk size: heads and rows that fit into the buffer. */
struct cut {
    int64_t heads, rows;

    cut(const lt_attention_job &a, int64_t bytes)
    {
        const int64_t fit = BUFFER / (bytes * a.keys), want = a.queries < 64 ? a.queries : 64,
                      most = a.shared_by > 1 ? 1 : a.heads;
        heads = fit / want < 1 ? 1 : fit / want < most ? fit / want : most;
        rows = fit / heads < want ? want : fit / heads < a.queries ? fit / heads : a.queries;
    }
};

/* C[i] = alpha A[i] B[i] + beta C[i], batched over the chunk's heads: A is m x k, B is k x n;
 * arrays are [heads, rows, columns]. */
struct score_product {
    lt_gemm g = {};

    template <class C>
    score_product(const lt_attention *a, const chunk<C> &c, int64_t m, int64_t n, int64_t k,
                  bool wide)
    {
        g.dtype = a->dtype, g.device = a->device, g.batch = c.heads;
        g.m = m, g.n = n, g.k = k, g.alpha = 1;
        g.wide_result = wide && lt_element_size(a->dtype) == 2;
    }
    score_product &left(const void *p, int64_t batch, int64_t row, bool transposed = false)
    {
        g.a = p, g.batch_a = batch, g.trans_a = transposed, g.lda = row;
        return *this;
    }
    score_product &right(const void *p, int64_t batch, int64_t row, bool transposed = false)
    {
        g.b = p, g.batch_b = batch, g.trans_b = transposed, g.ldb = row;
        return *this;
    }
    score_product &left(const lt_attention_rows &r, const void *p, bool transposed = false)
    {
        return left(p, r.head, r.row, transposed);
    }
    score_product &right(const lt_attention_rows &r, const void *p, bool transposed = false)
    {
        return right(p, r.head, r.row, transposed);
    }
    lt_status into(void *p, int64_t batch, int64_t row, double beta = 0)
    {
        g.c = p, g.batch_c = batch, g.ldc = row, g.beta = beta;
        return lt_cuda_gemm(&g);
    }
};

/* Address of row i of the chunk's first head. */
template <class C>
char *row_of(const chunk<C> &c, const lt_attention_rows &r, int64_t i, bool shared = false)
{
    const int heads = c.job.heads;
    const int64_t head = c.head % heads / (shared ? c.job.shared_by : 1);
    const char *data = static_cast<const char *>(r.data);
    return const_cast<char *>(data) +
           (c.head / heads * r.batch + head * r.head + i * r.row) * lt_element_size(c.dtype);
}

template <class C> lt_status score(const lt_attention *a, const chunk<C> &c)
{
    const lt_attention_job &j = c.job;
    score_product p(a, c, c.rows, j.keys, j.width, true);
    p.g.alpha = j.scale;
    return p.left(j.query, row_of(c, j.query, c.first))
        .right(j.key, row_of(c, j.key, 0, true), true)
        .into(c.scores, c.rows * j.keys, j.keys);
}

/* Calls step() for each chunk c. */
template <class C, class Step>
lt_status each_chunk(chunk<C> &c, const cut &size, int64_t all, Step step)
{
    const int64_t heads = c.job.heads;
    for (c.head = 0; c.head < all; c.head += c.heads) {
        const int64_t left = heads - c.head % heads;
        c.heads = left < size.heads ? left : size.heads;
        for (c.first = 0; c.first < c.job.queries; c.first += c.rows) {
            c.rows = c.job.queries - c.first < size.rows ? c.job.queries - c.first : size.rows;
            LT_TRY(step());
        }
    }
    return LT_OK;
}

template <class C> chunk<C> chunk_of(const lt_attention *a, const lt_attention_job &job)
{
    chunk<C> c = {};
    c.job = job;
    c.dtype = a->dtype;
    return c;
}

template <class C>
lt_status forward(const lt_attention *a, const lt_attention_job &j, cudaStream_t stream)
{
    const bool half = lt_element_size(a->dtype) == 2;
    const int64_t bytes = half ? 6 : lt_element_size(a->dtype);
    const cut size(j, bytes);
    const int64_t elements = size.heads * size.rows * j.keys;
    lt_cuda_scratch scratch;
    LT_TRY(scratch.take(a->device.index, static_cast<size_t>(elements * bytes)));
    chunk<C> c = chunk_of<C>(a, j);
    c.scores = scratch.as<C>();
    c.p = half ? reinterpret_cast<char *>(c.scores + elements) : reinterpret_cast<char *>(c.scores);
    return each_chunk(c, size, j.all, [&] {
        LT_TRY(score(a, c));
        const int threads = lt_threads_for(j.keys, ITEMS, THREADS);
        LT_LAUNCH_BARRIER(probabilities<C>, static_cast<unsigned>(c.heads * c.rows), threads, 0,
                          stream, c);
        return score_product(a, c, c.rows, j.value_width, j.keys, false)
            .left(c.p, c.rows * j.keys, j.keys)
            .right(j.value, row_of(c, j.value, 0, true))
            .into(row_of(c, j.out, c.first), j.out.head, j.out.row);
    });
}

/* A gradient of key or value that chunks accumulate. Half types are summed in float (`sum`) and
 * rounded at the end. */
template <class C> struct sum_of_chunks {
    char *result;
    C *sum;
    int64_t keys, width; /* of one head */

    C *at(const chunk<C> &c) const
    {
        return result == nullptr ? nullptr
               : sum != nullptr
                   ? sum
                   : reinterpret_cast<C *>(result) + c.head / c.job.shared_by * keys * width;
    }
    /* Called after the last chunk that adds to these heads. */
    void end(const chunk<C> &c, cudaStream_t stream) const
    {
        if (result == nullptr || sum == nullptr) return;
        const int64_t n = c.heads * keys * width;
        if constexpr (sizeof(C) == 4)
            LT_LAUNCH(narrow, lt_blocks(n, THREADS), THREADS, stream, c.dtype,
                      result + c.head / c.job.shared_by * keys * width * 2, sum, n);
    }
};

/* Adds part^T (part: score gradients or probabilities) times rows to a gradient. */
template <class C>
lt_status add(const lt_attention *a, const chunk<C> &c, const sum_of_chunks<C> &to,
              const char *part, const lt_attention_rows &rows)
{
    if (to.result == nullptr) return LT_OK;
    const bool begins = c.first == 0 && c.head % c.job.heads % c.job.shared_by == 0;
    return score_product(a, c, to.keys, to.width, c.rows, true)
        .left(part, c.rows * c.job.keys, c.job.keys, true)
        .right(rows, row_of(c, rows, c.first))
        .into(to.at(c), to.keys * to.width, to.width, begins ? 0 : 1);
}

template <class C>
lt_status backward(const lt_attention *a, const lt_attention_job &j, cudaStream_t stream)
{
    const bool half = lt_element_size(a->dtype) == 2;
    const int64_t bytes = half ? 12 : 2 * lt_element_size(a->dtype);
    const cut size(j, bytes);
    const int64_t elements = size.heads * size.rows * j.keys;
    const int64_t sums = half ? size.heads * j.keys * (j.width + j.value_width) : 0;
    lt_cuda_scratch scratch;
    LT_TRY(scratch.take(a->device.index, static_cast<size_t>(elements * bytes) +
                                             static_cast<size_t>(sums) * sizeof(C)));
    chunk<C> c = chunk_of<C>(a, j);
    c.scores = scratch.as<C>();
    c.slopes = c.scores + elements;
    C *const sum = c.slopes + elements;
    c.p = reinterpret_cast<char *>(half ? sum + sums : c.scores);
    c.ds = half ? c.p + elements * 2 : reinterpret_cast<char *>(c.slopes);
    const sum_of_chunks<C> of_key = {static_cast<char *>(j.grad_key), half ? sum : nullptr, j.keys,
                                     j.width},
                           of_value = {static_cast<char *>(j.grad_value),
                                       half ? sum + size.heads * j.keys * j.width : nullptr, j.keys,
                                       j.value_width};
    return each_chunk(c, size, j.all, [&] {
        LT_TRY(score(a, c));
        LT_TRY(score_product(a, c, c.rows, j.keys, j.value_width, true)
                   .left(j.grad, row_of(c, j.grad, c.first))
                   .right(j.value, row_of(c, j.value, 0, true), true)
                   .into(c.slopes, c.rows * j.keys, j.keys));
        const int threads = lt_threads_for(j.keys, ITEMS, THREADS);
        LT_LAUNCH_BARRIER(slopes<C>, static_cast<unsigned>(c.heads * c.rows), threads, 0, stream,
                          c);
        LT_TRY(add(a, c, of_value, c.p, j.grad));
        LT_TRY(add(a, c, of_key, c.ds, j.query));
        if (j.grad_query != nullptr)
            LT_TRY(
                score_product(a, c, c.rows, j.width, j.keys, false)
                    .left(c.ds, c.rows * j.keys, j.keys)
                    .right(j.key, row_of(c, j.key, 0, true))
                    .into(static_cast<char *>(j.grad_query) +
                              (c.head * j.queries + c.first) * j.width * lt_element_size(a->dtype),
                          static_cast<int64_t>(j.queries) * j.width, j.width));
        if (c.first + c.rows == j.queries && (c.head + c.heads) % j.heads % j.shared_by == 0) {
            of_key.end(c, stream);
            of_value.end(c, stream);
        }
        return LT_OK;
    });
}

} // namespace

lt_status lt_attention_buffered(const lt_attention *a, const lt_attention_job &job,
                                cudaStream_t stream)
{
    return a->dtype == LT_FLOAT64 ? forward<double>(a, job, stream)
                                  : forward<float>(a, job, stream);
}

lt_status lt_attention_buffered_backward(const lt_attention *a, const lt_attention_job &job,
                                         cudaStream_t stream)
{
    return a->dtype == LT_FLOAT64 ? backward<double>(a, job, stream)
                                  : backward<float>(a, job, stream);
}
