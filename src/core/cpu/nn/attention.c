/* attention.c - attention on the CPU, a block of queries against a block of keys at a time, so that
 * the scores of a pair of blocks stay in L1 or L2: M. Milakov, N. Gimelshein: Online normalizer
 * calculation for softmax, 2018; T. Dao and others: FlashAttention, 2022. The forward pass is
 * partitioned by blocks of queries, the backward pass by heads, since it adds to the gradients of
 * all keys. lt_cpu_gemm multiplies blocks. */
#include <math.h>
#include <string.h>

#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "cpu/common/scratch.h"
#include "cpu/common/threads.h"

/* Keys of a block of scores: the depth that a product sums before it stores. */
#define KEYS    LT_PRODUCT_DEPTH
#define QUERIES (KEYS / 2)

typedef struct attention_job {
    const lt_attention *a;
    const lt_attention_loops *loops;
    int64_t size;   /* bytes of an element */
    int64_t blocks; /* of queries */
    int threads;
    char *scratch;
    int64_t scratch_bytes; /* per thread */
} attention_job;

/* A block: queries [q, q + rows) of a head against keys [k, k + columns). */
typedef struct score_block {
    int64_t n, h, q, rows, k, columns;
} score_block;

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }

static char *attention_row(const lt_array *t, int64_t size, int64_t n, int64_t h, int64_t i)
{
    return (char *)t->data + (n * t->strides[0] + h * t->strides[1] + i * t->strides[2]) * size;
}

/* The row of key or value: `shared_by` heads of the query share one of their heads. */
static char *shared_row_of(const lt_attention *a, const lt_array *t, int64_t size, int64_t n,
                           int64_t h, int64_t i)
{
    return attention_row(t, size, n, h / a->shared_by, i);
}

static int64_t stride_of(const lt_array *t)
{
    return t->strides[2] > 0 ? t->strides[2] : t->sizes[3];
}

/* C = alpha A B + beta C in the dtype of the job; g: the other members, without a batch. */
static void multiply_matrices(const attention_job *j, lt_gemm g)
{
    g.dtype = j->a->dtype;
    g.batch = 1;
    (void)lt_cpu_gemm(&g);
}

static void put_element(void *p, int64_t i, lt_dtype dtype, double x)
{
    if (dtype == LT_FLOAT64)
        ((double *)p)[i] = x;
    else
        ((float *)p)[i] = (float)x;
}

static double get(const void *p, int64_t i, lt_dtype dtype)
{
    return dtype == LT_FLOAT64 ? ((const double *)p)[i] : ((const float *)p)[i];
}

/* Applies the mask to row r of a block of scores. */
static void mask_row(const attention_job *j, const score_block *b, int64_t r, char *scores)
{
    const lt_attention *a = j->a;
    const int64_t *steps = a->mask.strides;
    const int64_t at = b->n * steps[0] + b->h * steps[1] + (b->q + r) * steps[2] + b->k * steps[3];
    if (a->mask.dtype == LT_BOOL) {
        const bool *takes = (const bool *)a->mask.data + at;
        for (int64_t c = 0; c < b->columns; c++)
            if (!takes[c * steps[3]]) put_element(scores, c, a->dtype, -INFINITY);
    } else {
        for (int64_t c = 0; c < b->columns; c++)
            put_element(scores, c, a->dtype,
                        get(scores, c, a->dtype) + get(a->mask.data, at + c * steps[3], a->dtype));
    }
}

/* The number of columns of row r that the causal mask allows. The others become 0 without an
 * exponential, which would be slow for such numbers. */
static int64_t taken(const attention_job *j, const score_block *b, int64_t r, char *row)
{
    if (!j->a->causal) return b->columns;
    const int64_t seen = b->q + r - b->k + 1, n = seen < 0 ? 0 : min_i64(b->columns, seen);
    memset(row + n * j->size, 0, (size_t)((b->columns - n) * j->size));
    return n;
}

/* The scores of a block: rows of KEYS elements. */
static void score(const attention_job *j, const score_block *b, char *scores)
{
    const lt_attention *a = j->a;
    multiply_matrices(j, (lt_gemm){.m = b->rows,
                                   .n = b->columns,
                                   .k = a->width,
                                   .trans_b = true,
                                   .alpha = a->scale,
                                   .a = attention_row(&a->query, j->size, b->n, b->h, b->q),
                                   .b = shared_row_of(a, &a->key, j->size, b->n, b->h, b->k),
                                   .c = scores,
                                   .lda = stride_of(&a->query),
                                   .ldb = stride_of(&a->key),
                                   .ldc = KEYS});
    for (int64_t r = 0; r < b->rows && a->mask.data != NULL; r++)
        mask_row(j, b, r, scores + r * KEYS * j->size);
}

/* The number of keys that queries up to `last` may attend to. */
static int64_t keys_until(const lt_attention *a, int64_t last)
{
    return a->causal ? min_i64(a->keys, last + 1) : a->keys;
}

static void *logsumexp_of(const attention_job *j, const score_block *b, int64_t r)
{
    return (char *)j->a->logsumexp +
           ((b->n * j->a->heads + b->h) * j->a->queries + b->q + r) * j->size;
}

/* A block of queries against all keys. */
static void run_queries(const attention_job *j, score_block b, char *scores)
{
    const lt_attention *a = j->a;
    double most[QUERIES], sum[QUERIES];
    const int64_t end = keys_until(a, b.q + b.rows - 1), ldo = stride_of(&a->out);
    char *out = attention_row(&a->out, j->size, b.n, b.h, b.q);
    for (int64_t r = 0; r < b.rows; r++) {
        most[r] = -INFINITY;
        sum[r] = 0;
        if (end == 0) memset(out + r * ldo * j->size, 0, (size_t)(a->value_width * j->size));
    }
    for (b.k = 0; b.k < end; b.k += KEYS) {
        b.columns = min_i64(KEYS, end - b.k);
        score(j, &b, scores);
        for (int64_t r = 0; r < b.rows; r++) {
            char *row = scores + r * KEYS * j->size;
            const double factor = j->loops->step(row, taken(j, &b, r, row), &most[r], &sum[r]);
            if (factor != 1 && b.k > 0)
                j->loops->multiply(out + r * ldo * j->size, a->value_width, factor);
        }
        multiply_matrices(j, (lt_gemm){.m = b.rows,
                                       .n = a->value_width,
                                       .k = b.columns,
                                       .alpha = 1,
                                       .beta = b.k > 0,
                                       .a = scores,
                                       .b = shared_row_of(a, &a->value, j->size, b.n, b.h, b.k),
                                       .c = out,
                                       .lda = KEYS,
                                       .ldb = stride_of(&a->value),
                                       .ldc = ldo});
    }
    for (int64_t r = 0; r < b.rows; r++) {
        j->loops->multiply(out + r * ldo * j->size, a->value_width,
                           sum[r] > 0 || sum[r] != sum[r] ? 1 / sum[r] : 0);
        put_element(logsumexp_of(j, &b, r), 0, a->dtype,
                    sum[r] == 0 ? INFINITY : most[r] + log(sum[r]));
    }
}

static void attention_forward(const void *context, int64_t t)
{
    const attention_job *j = context;
    const lt_attention *a = j->a;
    const int64_t total = a->batch * a->heads * j->blocks;
    /* A strided partition: causal blocks differ in length. */
    for (int64_t i = t; i < total && !lt_interrupted(); i += j->threads) {
        score_block b = {.n = i / j->blocks / a->heads,
                         .h = i / j->blocks % a->heads,
                         .q = i % j->blocks * QUERIES};
        b.rows = min_i64(QUERIES, a->queries - b.q);
        run_queries(j, b, j->scratch + t * j->scratch_bytes);
    }
}

/* ---- backward -------------------------------------------------------------------------------- */

/* shared: the number of heads with a common gradient. */
static char *grad_of(void *grad, const attention_job *j, const score_block *b, int64_t shared,
                     int64_t length, int64_t i, int64_t width)
{
    return (char *)grad + (((b->n * j->a->heads + b->h) / shared * length + i) * width) * j->size;
}

/* One block of queries against one of keys: scratch holds the probabilities and the gradients of
 * the scores. */
static void run_pair(const attention_job *j, const score_block *b, const double *deltas,
                     char *scratch)
{
    const lt_attention *a = j->a;
    char *p = scratch, *slopes = scratch + QUERIES * KEYS * j->size;
    const char *grad = attention_row(&a->grad, j->size, b->n, b->h, b->q),
               *query = attention_row(&a->query, j->size, b->n, b->h, b->q);
    const int64_t ldg = stride_of(&a->grad);
    score(j, b, p);
    for (int64_t r = 0; r < b->rows; r++) {
        char *row = p + r * KEYS * j->size;
        j->loops->weights(row, taken(j, b, r, row), get(logsumexp_of(j, b, r), 0, a->dtype));
    }
    if (a->grad_value != NULL)
        multiply_matrices(j, (lt_gemm){.m = b->columns,
                                       .n = a->value_width,
                                       .k = b->rows,
                                       .trans_a = true,
                                       .alpha = 1,
                                       .beta = 1,
                                       .a = p,
                                       .b = grad,
                                       .c = grad_of(a->grad_value, j, b, a->shared_by, a->keys,
                                                    b->k, a->value_width),
                                       .lda = KEYS,
                                       .ldb = ldg,
                                       .ldc = a->value_width});
    if (a->grad_query == NULL && a->grad_key == NULL) return;
    multiply_matrices(j, (lt_gemm){.m = b->rows,
                                   .n = b->columns,
                                   .k = a->value_width,
                                   .trans_b = true,
                                   .alpha = 1,
                                   .a = grad,
                                   .b = shared_row_of(a, &a->value, j->size, b->n, b->h, b->k),
                                   .c = slopes,
                                   .lda = ldg,
                                   .ldb = stride_of(&a->value),
                                   .ldc = KEYS});
    for (int64_t r = 0; r < b->rows; r++)
        j->loops->slopes(slopes + r * KEYS * j->size, p + r * KEYS * j->size, b->columns,
                         deltas[b->q + r], a->scale);
    if (a->grad_key != NULL)
        multiply_matrices(
            j, (lt_gemm){.m = b->columns,
                         .n = a->width,
                         .k = b->rows,
                         .trans_a = true,
                         .alpha = 1,
                         .beta = 1,
                         .a = slopes,
                         .b = query,
                         .c = grad_of(a->grad_key, j, b, a->shared_by, a->keys, b->k, a->width),
                         .lda = KEYS,
                         .ldb = stride_of(&a->query),
                         .ldc = a->width});
    if (a->grad_query != NULL)
        multiply_matrices(
            j, (lt_gemm){.m = b->rows,
                         .n = a->width,
                         .k = b->columns,
                         .alpha = 1,
                         .beta = 1,
                         .a = slopes,
                         .b = shared_row_of(a, &a->key, j->size, b->n, b->h, b->k),
                         .c = grad_of(a->grad_query, j, b, 1, a->queries, b->q, a->width),
                         .lda = KEYS,
                         .ldb = stride_of(&a->key),
                         .ldc = a->width});
}

static void run_head(const attention_job *j, score_block b, double *deltas)
{
    const lt_attention *a = j->a;
    char *scratch = (char *)(deltas + a->queries);
    for (int64_t q = 0; q < a->queries; q++)
        deltas[q] = j->loops->dot(attention_row(&a->grad, j->size, b.n, b.h, q),
                                  attention_row(&a->out, j->size, b.n, b.h, q), a->value_width);
    for (b.q = 0; b.q < a->queries && !lt_interrupted(); b.q += QUERIES) {
        b.rows = min_i64(QUERIES, a->queries - b.q);
        const int64_t end = keys_until(a, b.q + b.rows - 1);
        for (b.k = 0; b.k < end; b.k += KEYS) {
            b.columns = min_i64(KEYS, end - b.k);
            run_pair(j, &b, deltas, scratch);
        }
    }
}

/* One thread processes all heads that add to the same gradients. */
static void run_backward(const void *context, int64_t t)
{
    const attention_job *j = context;
    const lt_attention *a = j->a;
    for (int64_t i = t; i < a->batch * a->heads / a->shared_by; i += j->threads)
        for (int64_t h = i * a->shared_by; h < (i + 1) * a->shared_by; h++)
            run_head(j, (score_block){.n = h / a->heads, .h = h % a->heads},
                     (double *)(j->scratch + t * j->scratch_bytes));
}

/* ---- both ------------------------------------------------------------------------------------ */

static lt_status run_attention(const lt_attention *a, lt_job run_share, int64_t shares,
                               int64_t scratch_elements, int64_t deltas, int64_t times)
{
    attention_job j = {.a = a,
                       .loops = &lt_loops.attention[a->dtype == LT_FLOAT64],
                       .size = (int64_t)lt_dtype_size(a->dtype)};
    j.blocks = (a->queries + QUERIES - 1) / QUERIES;
    j.threads = lt_cpu_threads_for(a->batch * a->heads * a->queries * a->keys *
                                   (a->width + a->value_width) * times / 8);
    if (j.threads > shares) j.threads = shares > 0 ? (int)shares : 1;
    j.scratch_bytes = (scratch_elements * j.size + deltas * (int64_t)sizeof(double) + 63) / 64 * 64;
    lt_scratch scratch;
    j.scratch = lt_scratch_alloc(&scratch, j.threads, (size_t)j.scratch_bytes);
    if (j.scratch == NULL) return LT_ERR_MEMORY;
    lt_status status = lt_parallel_for(j.threads, j.threads, run_share, &j);
    lt_scratch_free(&scratch, j.scratch);
    return status;
}

lt_status lt_cpu_attention(const lt_attention *a)
{
    const int64_t blocks = (a->queries + QUERIES - 1) / QUERIES;
    return run_attention(a, attention_forward, a->batch * a->heads * blocks, QUERIES * KEYS, 0, 1);
}

lt_status lt_cpu_attention_backward(const lt_attention *a)
{
    const size_t size = lt_dtype_size(a->dtype);
    const int64_t heads = a->batch * a->heads / a->shared_by;
    if (a->grad_query != NULL)
        memset(a->grad_query, 0, (size_t)(heads * a->shared_by * a->queries * a->width) * size);
    if (a->grad_key != NULL) memset(a->grad_key, 0, (size_t)(heads * a->keys * a->width) * size);
    if (a->grad_value != NULL)
        memset(a->grad_value, 0, (size_t)(heads * a->keys * a->value_width) * size);
    return run_attention(a, run_backward, heads, 2 * QUERIES * KEYS, a->queries, 3);
}
