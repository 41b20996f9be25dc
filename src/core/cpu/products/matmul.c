/* matmul.c - matrix products (GEMM) on the CPU by the loops of vector/products/product.c (float and
 * double) and vector/products/matmul.c (integers), partitioned over threads. Half types are
 * multiplied in float; bfloat16 uses AMX where available (tiles.h). */

#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "cpu/common/scratch.h"
#include "memory/alloc.h"
#include "memory/block.h"
#include "saturating.h"
#include "cpu/common/threads.h"
#include "tiles.h"
#include "cpu_info.h"

#define COLUMNS (2 * LT_LANES) /* per step of the loops */
/* tuning: rows or columns of the result; so few use dot products of rows of A and columns of B;
 * linear of 6 rows, 512 to 512, takes 1.86 times as long with 4 (Zen 5, 2026-11-28) */
#define FEW 8

static const void *at(const void *base, int64_t elements, int64_t size)
{
    return (const char *)base + elements * size;
}

/* Transposes an n x k matrix with rows ld apart to a contiguous k x n one. */
static void transpose(void *to, const void *from, int64_t n, int64_t k, int64_t ld, lt_dtype dtype)
{
    const int64_t size = (int64_t)lt_dtype_size(dtype);
    for (int64_t j = 0; j < n; j++)
        lt_loops.cast[dtype][dtype](
            (char *[]){(char *)to + j * size, (char *)at(from, j * ld, size)},
            (int64_t[]){n * size, size}, k, NULL);
}

/* ---- float and double ------------------------------------------------------------------------ */

typedef struct floats {
    lt_product whole; /* of the first matrix of the batch */
    lt_product_loop loop;
    int64_t size, batch_a, batch_b, batch_c, batch_bias; /* bytes */
    int64_t rows, columns, row_pieces, col_pieces;       /* size of a chunk; number of chunks */
    int threads;
    char *room; /* per thread, room_bytes apart; NULL: A is not packed */
    size_t room_bytes;
} floats;

/* Transposes the product: exchanges the operands. */
static void turn(floats *f)
{
    const lt_product p = f->whole;
    const int64_t batch_a = f->batch_a;
    f->whole.m = p.n, f->whole.n = p.m;
    f->whole.a = p.b, f->whole.a_row = p.b_column, f->whole.a_column = p.b_row;
    f->whole.b = p.a, f->whole.b_row = p.a_column, f->whole.b_column = p.a_row;
    f->whole.c_row = p.c_column, f->whole.c_column = p.c_row;
    f->batch_a = f->batch_b;
    f->batch_b = batch_a;
}

/* Estimated time of the loops, in quarters of a cycle of AVX-512: the sums; packing B, which is
 * rare if its rows are contiguous; storing rows of C that are columns in memory. */
static int64_t duration(int64_t m, int64_t n, int64_t k, bool rows_of_b, bool columns_of_c)
{
    return k * (4 * m * ((n + 15) / 16) + (rows_of_b ? n / 8 : n)) + (columns_of_c ? 6 * m * n : 0);
}

static int64_t up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

/* The size of one of `parts` nearly equal parts of n, a multiple of `unit`. */
static int64_t part_length(int64_t n, int64_t parts, int64_t unit)
{
    return up((n + parts - 1) / parts, unit);
}

/* Whether the loops pack A, which they read again for each COLUMNS columns. */
static bool gathers(const lt_product *p)
{
    return p->m >= 2 * LT_PRODUCT_ROWS && p->n > 4 * COLUMNS;
}

/* Estimated time of the thread with most chunks, in the unit of `duration`. Each chunk packs its
 * columns of B and its rows of A; elements that are not contiguous at one k are transposed, rows of A
 * in blocks of LT_PRODUCT_ROWS, which takes twice the time of columns of B. */
static int64_t busiest(const floats *f, int64_t pieces, int threads)
{
    const lt_product *p = &f->whole;
    const int64_t sums = 4 * f->rows * ((f->columns + 15) / 16),
                  of_b = p->b_column == 1 ? f->columns / 8 : 2 * f->columns,
                  of_a = !gathers(p)     ? 0
                         : p->a_row == 1 ? f->rows / 8
                                         : 4 * f->rows;
    return (pieces + threads - 1) / threads * p->k * (sums + of_b + of_a);
}

static void set_parts(floats *f, int64_t row_parts, int64_t col_parts)
{
    const lt_product *p = &f->whole;
    f->rows = part_length(p->m, row_parts, 4);
    f->columns = part_length(p->n, col_parts, COLUMNS);
    f->row_pieces = (p->m + f->rows - 1) / f->rows;
    f->col_pieces = (p->n + f->columns - 1) / f->columns;
}

/* Splits the product into chunks with at most `most` rows, so that the threads have equally long
 * work. */
static void balance(floats *f, int64_t batch, int threads, int64_t most)
{
    const int64_t least = (f->whole.m + most - 1) / most;
    int64_t best = INT64_MAX, row_parts = least, col_parts = 1;
    for (int64_t parts = threads; parts <= 4 * threads; parts *= 2)
        for (int64_t rows = 1; rows <= parts; rows++) {
            if (parts % rows != 0) continue;
            set_parts(f, least * rows, parts / rows);
            const int64_t time = busiest(f, batch * f->row_pieces * f->col_pieces, threads);
            if (time >= best) continue;
            best = time;
            row_parts = least * rows, col_parts = parts / rows;
        }
    set_parts(f, row_parts, col_parts);
}

/* Chooses the chunks: rows of A fit into the packing memory, a chunk is short enough for
 * interrupts, and there are enough chunks for the threads. */
static void cut(floats *f, int64_t batch, int threads)
{
    const int64_t most =
        lt_processor.l2 / 8 * 5 / f->size / LT_PRODUCT_DEPTH / LT_PRODUCT_ROWS * LT_PRODUCT_ROWS;
    if (threads > 1 && batch < 4 * threads)
        balance(f, batch, threads, most);
    else
        set_parts(f, (f->whole.m + most - 1) / most, 1);
    while (f->rows * f->columns > LT_INTERRUPT_WORK / (f->whole.k + 1)) {
        const bool by_columns =
            f->columns > COLUMNS && (f->columns > f->rows || f->rows <= LT_PRODUCT_ROWS);
        if (!by_columns && f->rows <= LT_PRODUCT_ROWS) return;
        set_parts(f, f->row_pieces * (by_columns ? 1 : 2), f->col_pieces * (by_columns ? 2 : 1));
    }
}

/* Chunks of the same rows follow each other, so that a thread reads few rows of A. */
static void run_matmul_piece(const void *context, int64_t index)
{
    const floats *f = context;
    const int64_t column = index % f->col_pieces * f->columns, rest = index / f->col_pieces;
    const int64_t row = rest % f->row_pieces * f->rows, n = rest / f->row_pieces;
    lt_product p = f->whole;
    p.a = (const char *)p.a + n * f->batch_a + row * p.a_row * f->size;
    p.b = (const char *)p.b + n * f->batch_b + column * p.b_column * f->size;
    p.c = (char *)p.c + n * f->batch_c + (row * p.c_row + column * p.c_column) * f->size;
    if (p.row_bias != NULL)
        p.row_bias = (const char *)p.row_bias + n * f->batch_bias + row * f->size;
    p.m = p.m - row < f->rows ? p.m - row : f->rows;
    p.n = p.n - column < f->columns ? p.n - column : f->columns;
    if (f->room != NULL)
        p.room = f->room + (size_t)(f->threads > 1 ? lt_pool_index() : 0) * f->room_bytes;
    f->loop(&p);
}

/* Initializes the rows of the result with their bias; the product is then added to it. */
static void put_row_bias(const lt_gemm *g)
{
    const int64_t size = (int64_t)lt_dtype_size(g->dtype);
    for (int64_t i = 0; i < g->batch; i++)
        for (int64_t r = 0; r < g->m; r++)
            lt_loops.cast[g->dtype][g->dtype](
                (char *[]){(char *)g->c + (i * g->batch_c + r * g->ldc) * size,
                           (char *)at(g->row_bias, i * g->m + r, size)},
                (int64_t[]){size, 0}, g->n, NULL);
}

static lt_status multiply_floats(const lt_gemm *g)
{
    const int64_t size = (int64_t)lt_dtype_size(g->dtype);
    floats f = {.whole = {.m = g->m,
                          .n = g->n,
                          .k = g->k,
                          .alpha = g->k > 0 ? g->alpha : 0,
                          .beta = g->beta,
                          .a = g->a,
                          .b = g->b,
                          .c = g->c,
                          .a_row = g->trans_a ? 1 : g->lda,
                          .a_column = g->trans_a ? g->lda : 1,
                          .b_row = g->trans_b ? 1 : g->ldb,
                          .b_column = g->trans_b ? g->ldb : 1,
                          .c_row = g->ldc,
                          .c_column = 1},
                .loop = lt_loops.product[g->dtype == LT_FLOAT64],
                .size = size,
                .batch_a = g->batch_a * size,
                .batch_b = g->batch_b * size,
                .batch_c = g->batch_c * size};
    const bool vector = g->m == 1 || g->n == 1;
    f.whole.few =
        !vector && !g->trans_a && g->trans_b && (g->m <= FEW || g->n <= FEW) && g->k >= 2 * COLUMNS;
    const bool turns = vector        ? g->n != 1
                       : f.whole.few ? g->m < g->n
                                     : duration(g->n, g->m, g->k, g->trans_a, true) <
                                           duration(g->m, g->n, g->k, !g->trans_b, false);
    if (turns) turn(&f);
    if (g->row_bias != NULL && !turns && !vector && !f.whole.few) {
        f.whole.row_bias = g->row_bias;
        f.batch_bias = g->m * size;
    } else if (g->row_bias != NULL) {
        put_row_bias(g);
        f.whole.beta = 1;
    }
    f.threads =
        lt_pool_busy()
            ? 1
            : lt_cpu_threads_for(g->batch * g->m * g->n * g->k / (vector ? 1 : LT_PRODUCT_COST));
    cut(&f, g->batch, f.threads);
    lt_scratch scratch;
    if (!vector && !f.whole.few && gathers(&f.whole)) {
        const int64_t depth = g->k < LT_PRODUCT_DEPTH ? g->k : LT_PRODUCT_DEPTH;
        f.room_bytes = LT_PRODUCT_SCRATCH + (size_t)up(f.rows * depth * size, 64);
        f.room = lt_scratch_alloc(&scratch, f.threads, f.room_bytes);
        if (f.room == NULL) return LT_ERR_MEMORY;
    }
    const int64_t pieces = g->batch * f.row_pieces * f.col_pieces;
    const lt_status status = lt_parallel_for(pieces, f.threads, run_matmul_piece, &f);
    if (f.room != NULL) lt_scratch_free(&scratch, f.room);
    return status;
}

/* ---- integers, half types -------------------------------------------------------------------- */

/* One row of a product of integers; context: the product of one row. */
static void run_row(const void *context, int64_t row)
{
    const lt_gemm *one = context;
    const int64_t size = (int64_t)lt_dtype_size(one->dtype);
    char *c = (char *)one->c + row * one->ldc * size;
    const lt_product p = {.m = 1,
                          .n = one->n,
                          .k = one->k,
                          .a_column = one->trans_a ? one->lda : 1,
                          .b_row = one->ldb,
                          .alpha = one->alpha,
                          .beta = one->beta,
                          .a = at(one->a, row * (one->trans_a ? 1 : one->lda), size),
                          .b = one->b,
                          .c = c};
    const int64_t columns = LT_INTERRUPT_STEP / (one->k + 1) + 1;
    for (int64_t column = 0; column < one->n && !lt_interrupted(); column += columns) {
        lt_product part = p;
        part.n = one->n - column < columns ? one->n - column : columns;
        part.b = at(p.b, column, size);
        part.c = (char *)p.c + column * size;
        lt_loops.multiply[one->dtype](&part);
    }
}

/* Integers: transposes B once if needed, and partitions the rows of C. */
static lt_status multiply_integers(const lt_gemm *g)
{
    const int64_t size = (int64_t)lt_dtype_size(g->dtype);
    void *packed = g->trans_b ? lt_mem_array(lt_mul_sat(g->k, g->n), (size_t)size) : NULL;
    if (g->trans_b && packed == NULL) return LT_ERR_MEMORY;
    const int threads = lt_cpu_threads_for(g->m * g->n * g->k);
    lt_status status = LT_OK;
    for (int64_t i = 0; i < g->batch && status == LT_OK; i++) {
        lt_gemm one = *g;
        one.a = at(g->a, i * g->batch_a, size);
        one.b = at(g->b, i * g->batch_b, size);
        one.c = (char *)g->c + i * g->batch_c * size;
        if (g->trans_b && (i == 0 || g->batch_b != 0))
            transpose(packed, one.b, g->n, g->k, g->ldb, g->dtype);
        if (g->trans_b) {
            one.b = packed;
            one.ldb = g->n;
            one.trans_b = false;
        }
        one.m = 1;
        status = lt_parallel_for(g->m, threads, run_row, &one);
    }
    lt_mem_free(packed);
    return status;
}

/* A matrix whose rows are contiguous. */
typedef struct typed_matrix {
    lt_dtype dtype;
    void *data;
    int64_t ld; /* elements from a row to the next */
} typed_matrix;

/* Converts rows x columns elements of `from` to the dtype of `to`. */
static void convert_matrix(typed_matrix to, typed_matrix from, int64_t rows, int64_t columns)
{
    const int64_t to_size = (int64_t)lt_dtype_size(to.dtype),
                  from_size = (int64_t)lt_dtype_size(from.dtype);
    for (int64_t i = 0; i < rows; i++)
        lt_loops.cast[to.dtype][from.dtype]((char *[]){(char *)to.data + i * to.ld * to_size,
                                                       (char *)from.data + i * from.ld * from_size},
                                            (int64_t[]){to_size, from_size}, columns, NULL);
}

/* ---- few rows of halves ---------------------------------------------------------------------- */

typedef struct half_job {
    const lt_half_product *h;
    lt_half_loop loop;
    int64_t rows, piece;
} half_job;

static void multiply_half_rows(const void *context, int64_t i)
{
    const half_job *j = context;
    const int64_t from = i * j->piece, to = from + j->piece;
    j->loop(j->h, from, to < j->rows ? to : j->rows);
}

/* A has few rows and B few or more that are contiguous, or the other way round. */
static bool has_few_inputs(const lt_gemm *g)
{
    const bool rows_of_a = g->m <= FEW && g->trans_b, rows_of_b = g->n <= FEW && !g->trans_a;
    return g->row_bias == NULL && g->k > 0 && (rows_of_a || rows_of_b);
}

static lt_status multiply_few_halves(const lt_gemm *g)
{
    const bool of_a = g->m <= FEW && g->trans_b; /* the inputs are the rows of A */
    const int64_t inputs = of_a ? g->m : g->n, rows = of_a ? g->n : g->m;
    /* steps of the inputs in elements: from one to the next, and within one */
    const int64_t ld = of_a ? g->lda : g->ldb;
    const bool contiguous = of_a ? !g->trans_a : g->trans_b;
    const int64_t next = contiguous ? ld : 1, step = contiguous ? 1 : ld;
    const int threads = lt_cpu_threads_for(rows * g->k * (1 + inputs) / 4);
    const int64_t piece = (rows + 4 * threads - 1) / (4 * threads);
    lt_scratch scratch;
    lt_status status = LT_OK;
    float *in = lt_scratch_alloc(&scratch, lt_mul_sat(inputs, g->k), sizeof *in);
    if (in == NULL) return LT_ERR_MEMORY;
    lt_half_product h = {inputs,
                         g->k,
                         of_a ? g->ldb : g->lda,
                         of_a ? 1 : g->ldc,
                         of_a ? g->ldc : 1,
                         (float)g->alpha,
                         (float)g->beta,
                         NULL,
                         in,
                         NULL};
    const half_job job = {&h, lt_loops.half_rows[g->dtype == LT_BFLOAT16], rows, piece};
    for (int64_t b = 0; b < g->batch && status == LT_OK; b++) {
        const char *from = of_a ? at(g->a, b * g->batch_a, 2) : at(g->b, b * g->batch_b, 2);
        for (int64_t j = 0; j < inputs; j++)
            lt_loops.cast[LT_FLOAT32][g->dtype](
                (char *[]){(char *)(in + j * g->k), (char *)from + j * next * 2},
                (int64_t[]){sizeof *in, step * 2}, g->k, NULL);
        h.rows = of_a ? at(g->b, b * g->batch_b, 2) : at(g->a, b * g->batch_a, 2);
        h.out = (char *)g->c + b * g->batch_c * 2;
        status = lt_parallel_for((rows + piece - 1) / piece, threads, multiply_half_rows, &job);
    }
    lt_scratch_free(&scratch, in);
    return status;
}

/* ---- halves ---------------------------------------------------------------------------------- */

/* One matrix of the batch at a time, in float. */
static lt_status multiply_halves(const lt_gemm *g)
{
    const int64_t rows_a = g->trans_a ? g->k : g->m, cols_a = g->trans_a ? g->m : g->k;
    const int64_t rows_b = g->trans_b ? g->n : g->k, cols_b = g->trans_b ? g->k : g->n;
    lt_status status = LT_ERR_MEMORY;
    size_t capacity;
    int64_t total = lt_add_sat(lt_add_sat(lt_mul_sat(rows_a, cols_a), lt_mul_sat(rows_b, cols_b)),
                               lt_mul_sat(g->m, g->n));
    float *a = lt_block_array(total, sizeof *a, &capacity);
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
    const typed_matrix float_c = {LT_FLOAT32, c, g->n};
    for (int64_t i = 0; i < g->batch; i++) {
        const typed_matrix half_a = {g->dtype, (void *)at(g->a, i * g->batch_a, 2), g->lda},
                           half_b = {g->dtype, (void *)at(g->b, i * g->batch_b, 2), g->ldb},
                           half_c = {g->dtype, (char *)g->c + i * g->batch_c * 2, g->ldc};
        if (i == 0 || g->batch_a != 0)
            convert_matrix((typed_matrix){LT_FLOAT32, a, cols_a}, half_a, rows_a, cols_a);
        if (i == 0 || g->batch_b != 0)
            convert_matrix((typed_matrix){LT_FLOAT32, b, cols_b}, half_b, rows_b, cols_b);
        if (g->beta != 0) convert_matrix(float_c, half_c, g->m, g->n);
        status = multiply_floats(&f);
        if (status != LT_OK) break;
        convert_matrix(half_c, float_c, g->m, g->n);
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
    if (g->dtype == LT_FLOAT32 || g->dtype == LT_FLOAT64) return multiply_floats(g);
    if (has_few_inputs(g)) return multiply_few_halves(g);
    return lt_cpu_tiles_accept(g) ? lt_cpu_tiles_gemm(g) : multiply_halves(g);
}
