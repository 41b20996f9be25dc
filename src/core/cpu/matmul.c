/* matmul.c - matrix products on the CPU: OpenBLAS for float and double, the loops of vector/matmul.c for
 * small matrices (whose product takes less time than the library's preparations) and for integers. Half
 * types are multiplied in float. A batch of small products is shared out among the threads; a large
 * product uses all of them itself. */
#include <cblas.h>
#include <omp.h>
#include <limits.h>

#include "cpu.h"
#include "dtype.h"
#include "error.h"
#include "interrupt.h"
#include "loops.h"
#include "mem.h"
#include "threads.h"

#define SMALL (12 * 12 * 12)        /* multiplications below which our own loop is faster */
#define ALONE ((int64_t)1 << 22)    /* multiplications below which a product stays on one thread */
#define PACKED 4096                 /* elements of B that are transposed on the stack */
#define UNSTOPPED ((int64_t)1 << 30) /* multiplications that an interrupt may have to wait for */

static const void *at(const void *base, int64_t elements, int64_t size)
{
    return (const char *)base + elements * size;
}

/* to[p][j] = from[j][p]: k x n from n x k with rows ld apart. */
static void transpose(void *to, const void *from, int64_t n, int64_t k, int64_t ld, lt_dtype dtype)
{
    const int64_t size = (int64_t)lt_dtype_size(dtype);
    for (int64_t j = 0; j < n; j++)
        lt_loops.cast[dtype][dtype]((char *[]){(char *)to + j * size, (char *)at(from, j * ld, size)},
                                    (int64_t[]){n * size, size}, k, NULL);
}

/* One product by our own loops; *packed has room for k * n elements when B is transposed. */
static void multiply_here(const lt_gemm *g, const void *a, const void *b, void *c, void *packed)
{
    lt_small_gemm s = {.m = g->m, .n = g->n, .k = g->k, .ldb = g->ldb, .ldc = g->ldc};
    s.a_row = g->trans_a ? 1 : g->lda;
    s.a_column = g->trans_a ? g->lda : 1;
    s.alpha = g->alpha;
    s.beta = g->beta;
    s.a = a;
    s.b = b;
    s.c = c;
    if (g->trans_b) {
        transpose(packed, b, g->n, g->k, g->ldb, g->dtype);
        s.b = packed;
        s.ldb = g->n;
    }
    lt_loops.multiply[g->dtype](&s);
}

/* y = alpha M x + beta y. OpenBLAS multiplies y by beta even when that is 0, which keeps a nan: clear y. */
#define MATRIX_VECTOR(name, T, gemv)                                                               \
    static void name(const lt_gemm *g, const T *m, const T *x, T *y, bool trans, int64_t rows, int64_t cols, \
                     int64_t ld, int64_t step_x, int64_t step_y)                                   \
    {                                                                                              \
        const int64_t length = trans ? cols : rows;                                                \
        for (int64_t i = 0; g->beta == 0 && i < length; i++) y[i * step_y] = 0;                    \
        gemv(CblasRowMajor, trans ? CblasTrans : CblasNoTrans, (int)rows, (int)cols, (T)g->alpha, m, (int)ld, x, \
             (int)step_x, g->beta == 0 ? 1 : (T)g->beta, y, (int)step_y);                          \
    }
MATRIX_VECTOR(matrix_vector_f32, float, cblas_sgemv)
MATRIX_VECTOR(matrix_vector_f64, double, cblas_dgemv)
#undef MATRIX_VECTOR

/* C has one column: A times a vector. */
static void multiply_column(const lt_gemm *g, const void *a, const void *b, void *c)
{
    int64_t rows = g->trans_a ? g->k : g->m, cols = g->trans_a ? g->m : g->k;
    int64_t step = g->trans_b ? 1 : g->ldb;
    if (g->dtype == LT_FLOAT32)
        matrix_vector_f32(g, a, b, c, g->trans_a, rows, cols, g->lda, step, g->ldc);
    else
        matrix_vector_f64(g, a, b, c, g->trans_a, rows, cols, g->lda, step, g->ldc);
}

/* C has one row: the transpose of B times a vector. */
static void multiply_row(const lt_gemm *g, const void *a, const void *b, void *c)
{
    int64_t rows = g->trans_b ? g->n : g->k, cols = g->trans_b ? g->k : g->n;
    int64_t step = g->trans_a ? g->lda : 1;
    if (g->dtype == LT_FLOAT32)
        matrix_vector_f32(g, b, a, c, !g->trans_b, rows, cols, g->ldb, step, 1);
    else
        matrix_vector_f64(g, b, a, c, !g->trans_b, rows, cols, g->ldb, step, 1);
}

/* m rows of C. */
static void multiply_rows(const lt_gemm *g, int64_t m, const void *a, const void *b, void *c)
{
    CBLAS_TRANSPOSE ta = g->trans_a ? CblasTrans : CblasNoTrans, tb = g->trans_b ? CblasTrans : CblasNoTrans;
    if (g->dtype == LT_FLOAT32)
        cblas_sgemm(CblasRowMajor, ta, tb, (int)m, (int)g->n, (int)g->k, (float)g->alpha, a, (int)g->lda, b,
                    (int)g->ldb, (float)g->beta, c, (int)g->ldc);
    else
        cblas_dgemm(CblasRowMajor, ta, tb, (int)m, (int)g->n, (int)g->k, g->alpha, a, (int)g->lda, b,
                    (int)g->ldb, g->beta, c, (int)g->ldc);
}

/* OpenBLAS shares even small products between threads, whose meeting costs more than it saves. */
static void multiply_alone(const lt_gemm *g, const void *a, const void *b, void *c)
{
    const int threads = lt_get_num_threads();
    if (threads > 1) openblas_set_num_threads(1);
    multiply_rows(g, g->m, a, b, c);
    if (threads > 1) openblas_set_num_threads(threads);
}

/* A product that takes long is made in pieces of many rows, with a look at interrupts between them. */
static void multiply_library(const lt_gemm *g, const void *a, const void *b, void *c)
{
    if (g->m * g->n * g->k < ALONE && !omp_in_parallel()) {
        multiply_alone(g, a, b, c);
        return;
    }
    if (g->n == 1) {
        multiply_column(g, a, b, c);
        return;
    }
    if (g->m == 1) {
        multiply_row(g, a, b, c);
        return;
    }
    const int64_t size = (int64_t)lt_dtype_size(g->dtype), piece = UNSTOPPED / (g->n * g->k) / 64 * 64 + 64;
    for (int64_t row = 0; row < g->m && !lt_interrupted(); row += piece)
        multiply_rows(g, row + piece < g->m ? piece : g->m - row, at(a, row * (g->trans_a ? 1 : g->lda), size), b,
                      (char *)c + row * g->ldc * size);
}

/* C = beta C. */
static void scale(const lt_gemm *g, char *c)
{
    const int64_t size = (int64_t)lt_dtype_size(g->dtype);
    for (int64_t i = 0; i < g->m; i++) {
        char *row = c + i * g->ldc * size;
        if (g->beta == 0) {
            memset(row, 0, (size_t)(g->n * size));
            continue;
        }
        for (int64_t j = 0; j < g->n; j++) {
            lt_scalar x = lt_load_scalar(row + j * size, g->dtype);
            x = x.kind == LT_SCALAR_FLOAT ? lt_float(g->beta * x.v.d) : lt_int((int64_t)g->beta * x.v.i);
            lt_store_scalar(row + j * size, g->dtype, x);
        }
    }
}

static void multiply_one(const lt_gemm *g, int64_t index, bool here, void *packed)
{
    const int64_t size = (int64_t)lt_dtype_size(g->dtype);
    const void *a = at(g->a, index * g->batch_a, size), *b = at(g->b, index * g->batch_b, size);
    void *c = (char *)g->c + index * g->batch_c * size;
    if (g->k == 0)
        scale(g, c);
    else if (here)
        multiply_here(g, a, b, c, packed);
    else
        multiply_library(g, a, b, c);
}

typedef struct batch_job {
    const lt_gemm *gemm;
    bool here;
} batch_job;

static void run_batch(const void *context, int64_t index)
{
    const batch_job *j = context;
    double packed[PACKED];
    multiply_one(j->gemm, index, j->here, packed);
}

/* Float and double. */
static lt_status multiply_floats(const lt_gemm *g)
{
    const int64_t work = g->m * g->n * g->k;
    const bool here = work <= SMALL && g->k * g->n <= PACKED;
    int threads = g->batch > 1 && work < ALONE ? lt_cpu_threads_for(g->batch * work) : 1;
    if (threads > g->batch) threads = (int)g->batch;
    const batch_job job = {g, here};
    return lt_cpu_share(g->batch, threads, run_batch, &job);
}

/* One row of a product of integers; `context` is the product of one row. */
static void run_row(const void *context, int64_t row)
{
    const lt_gemm *one = context;
    const int64_t size = (int64_t)lt_dtype_size(one->dtype);
    char *c = (char *)one->c + row * one->ldc * size;
    if (one->k == 0)
        scale(one, c);
    else
        multiply_here(one, at(one->a, row * (one->trans_a ? 1 : one->lda), size), one->b, c, NULL);
}

/* Integers: B is transposed once where needed, then the rows of C are shared out. */
static lt_status multiply_integers(const lt_gemm *g)
{
    const int64_t size = (int64_t)lt_dtype_size(g->dtype);
    void *packed = g->trans_b ? lt_mem_alloc((size_t)(g->k * g->n * size + 1)) : NULL;
    if (g->trans_b && packed == NULL) return LT_ERR_MEMORY;
    const int threads = lt_cpu_threads_for(g->m * g->n * g->k);
    lt_status status = LT_OK;
    for (int64_t i = 0; i < g->batch && status == LT_OK; i++) {
        lt_gemm one = *g;
        one.a = at(g->a, i * g->batch_a, size);
        one.b = at(g->b, i * g->batch_b, size);
        one.c = (char *)g->c + i * g->batch_c * size;
        if (g->trans_b && (i == 0 || g->batch_b != 0)) transpose(packed, one.b, g->n, g->k, g->ldb, g->dtype);
        if (g->trans_b) {
            one.b = packed;
            one.ldb = g->n;
            one.trans_b = false;
        }
        one.m = 1;
        status = lt_cpu_share(g->m, threads, run_row, &one);
    }
    lt_mem_free(packed);
    return status;
}

/* rows x columns elements between dense rows (of floats) and rows ld apart (of the half type). */
static void convert_matrix(lt_dtype to_dtype, char *to, int64_t to_ld, lt_dtype from_dtype, const char *from,
                           int64_t from_ld, int64_t rows, int64_t columns)
{
    const int64_t to_size = (int64_t)lt_dtype_size(to_dtype), from_size = (int64_t)lt_dtype_size(from_dtype);
    for (int64_t i = 0; i < rows; i++)
        lt_loops.cast[to_dtype][from_dtype](
            (char *[]){to + i * to_ld * to_size, (char *)from + i * from_ld * from_size},
            (int64_t[]){to_size, from_size}, columns, NULL);
}

/* Half types: one matrix of the batch at a time, in float. */
static lt_status multiply_halves(const lt_gemm *g)
{
    const int64_t rows_a = g->trans_a ? g->k : g->m, cols_a = g->trans_a ? g->m : g->k;
    const int64_t rows_b = g->trans_b ? g->n : g->k, cols_b = g->trans_b ? g->k : g->n;
    lt_status status = LT_ERR_MEMORY;
    size_t capacity;
    int64_t total = rows_a * cols_a + rows_b * cols_b + g->m * g->n;
    float *a = lt_block_alloc((size_t)total * sizeof *a, &capacity);
    if (a == NULL) return status;
    float *b = a + rows_a * cols_a, *c = b + rows_b * cols_b;
    lt_gemm f = *g;
    f.dtype = LT_FLOAT32;
    f.batch = 1;
    f.a = a;
    f.b = b;
    f.c = c;
    f.lda = cols_a > 0 ? cols_a : 1;
    f.ldb = cols_b > 0 ? cols_b : 1;
    f.ldc = g->n;
    for (int64_t i = 0; i < g->batch; i++) {
        char *out = (char *)g->c + i * g->batch_c * 2;
        if (i == 0 || g->batch_a != 0)
            convert_matrix(LT_FLOAT32, (char *)a, cols_a, g->dtype, at(g->a, i * g->batch_a, 2), g->lda, rows_a,
                           cols_a);
        if (i == 0 || g->batch_b != 0)
            convert_matrix(LT_FLOAT32, (char *)b, cols_b, g->dtype, at(g->b, i * g->batch_b, 2), g->ldb, rows_b,
                           cols_b);
        if (g->beta != 0) convert_matrix(LT_FLOAT32, (char *)c, g->n, g->dtype, out, g->ldc, g->m, g->n);
        status = multiply_floats(&f);
        if (status != LT_OK) break;
        convert_matrix(g->dtype, out, g->ldc, LT_FLOAT32, (const char *)c, g->n, g->m, g->n);
    }
    lt_block_free(a, capacity);
    return status;
}

lt_status lt_cpu_gemm(const lt_gemm *g)
{
    if (g->m == 0 || g->n == 0 || g->batch == 0) return LT_OK;
    if (g->dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "\"addmm_impl_cpu_\" not implemented for 'Bool'");
    if (lt_dtype_is_int(g->dtype)) return multiply_integers(g);
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX || g->lda > INT_MAX || g->ldb > INT_MAX ||
        g->ldc > INT_MAX)
        return lt_error(LT_ERR_RUNTIME, "a matrix product on the CPU takes at most %d rows or columns", INT_MAX);
    if (g->dtype == LT_FLOAT32 || g->dtype == LT_FLOAT64) return multiply_floats(g);
    return multiply_halves(g);
}
