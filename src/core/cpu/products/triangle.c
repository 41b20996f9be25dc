/* triangle.c - see triangle.h. Blocked algorithms with LT_PRODUCT_ROWS rows at a time: the products
 * of earlier rows are subtracted (vector/products/product.c), then the block is solved or
 * factorized in registers (vector/products/triangle.c). */
#include "triangle.h"

#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "memory/block.h"

#define COLUMNS (2 * LT_LANES) /* per step of the loops */
#define ROWS    LT_PRODUCT_ROWS
/* Rows of a strip, from which threads subtract the products of all rows above in one product. */
#define STRIP (8 * LT_PRODUCT_ROWS)

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- triangular systems ---------------------------------------------------------------------- */

typedef struct system {
    const lt_triangle_loops *loops;
    lt_product_loop product;
    lt_turn_loop turn;
    lt_triangle whole; /* element (i, p) of the matrix is a[i * a_row + p * a_column] */
    int64_t size, columns;
    char *b;
    char *room; /* per job, room_bytes apart: its right-hand sides, row after row */
    int64_t room_bytes;
} system_of;

static const char *matrix_element(const system_of *s, int64_t i, int64_t p)
{
    return (const char *)s->whole.a + (i * s->whole.a_row + p * s->whole.a_column) * s->size;
}

/* Subtracts the products of rows [from, from + k) of the solution from rows [to, to + m). */
static void take_off(const system_of *s, char *x, int64_t width, int64_t to, int64_t m,
                     int64_t from, int64_t k)
{
    const lt_product p = {.m = m,
                          .n = width,
                          .k = k,
                          .a_row = s->whole.a_row,
                          .a_column = s->whole.a_column,
                          .b_row = width,
                          .b_column = 1,
                          .c_row = width,
                          .c_column = 1,
                          .alpha = -1,
                          .beta = 1,
                          .a = matrix_element(s, to, from),
                          .b = x + from * width * s->size,
                          .c = x + to * width * s->size};
    if (m > 0 && k > 0) s->product(&p);
}

/* Replaces x, of `width` columns, by the solution. One column with a matrix of contiguous columns
 * is solved right-looking: each block is subtracted from all remaining rows. */
static void solve(const system_of *s, char *x, int64_t width)
{
    const int64_t n = s->whole.rows;
    const bool ahead = width == 1 && s->whole.a_column != 1;
    for (int64_t done = 0; done < n && !lt_interrupted();) {
        lt_triangle t = s->whole;
        t.rows = smaller(ROWS, n - done);
        const int64_t first = t.backward ? n - done - t.rows : done;
        if (!ahead) take_off(s, x, width, first, t.rows, t.backward ? n - done : 0, done);
        t.a = matrix_element(s, first, first);
        s->loops->solve(&t, x + first * width * s->size, width, width);
        done += t.rows;
        if (ahead) take_off(s, x, width, t.backward ? 0 : done, n - done, first, t.rows);
    }
}

static void solve_columns(const void *context, int64_t job)
{
    const system_of *s = context;
    const int64_t n = s->whole.rows, first = job * COLUMNS,
                  width = smaller(COLUMNS, s->columns - first);
    char *b = s->b + first * n * s->size, *x = s->room + job * s->room_bytes;
    s->turn(x, width, b, n, width, n);
    solve(s, x, width);
    s->turn(b, n, x, width, n, width);
}

lt_status lt_cpu_triangular(const lt_factor *f, const void *a, void *b)
{
    const bool wide = f->dtype == LT_FLOAT64;
    const int64_t n = f->n;
    system_of s = {.loops = &lt_loops.triangle[wide],
                   .product = lt_loops.product[wide],
                   .turn = lt_loops.turn[wide],
                   .whole = {.a = a,
                             .rows = n,
                             .a_row = f->transposed ? n : 1,
                             .a_column = f->transposed ? 1 : n,
                             .backward = f->upper != f->transposed,
                             .unit = f->unit},
                   .size = (int64_t)lt_dtype_size(f->dtype),
                   .columns = f->columns,
                   .b = b};
    if (s.columns == 1) {
        solve(&s, b, 1);
        return lt_interrupted() ? lt_stopped() : LT_OK;
    }
    const int64_t jobs = (s.columns + COLUMNS - 1) / COLUMNS;
    size_t capacity;
    s.room_bytes = n * COLUMNS * s.size;
    s.room = lt_block_array(jobs, (size_t)s.room_bytes, &capacity);
    if (s.room == NULL) return LT_ERR_MEMORY;
    const lt_status status = lt_parallel_for(
        jobs, lt_cpu_threads_for(n * n / 2 * s.columns / LT_PRODUCT_COST), solve_columns, &s);
    lt_block_free(s.room, capacity);
    return status;
}

/* ---- Cholesky -------------------------------------------------------------------------------- */

/* Factorizes rows [first, end), from which the products of the rows above `first` were subtracted.
 */
static int factorize_rows(lt_dtype dtype, char *a, int64_t n, int64_t first, int64_t end)
{
    const bool wide = dtype == LT_FLOAT64;
    const int64_t size = (int64_t)lt_dtype_size(dtype);
    for (int64_t i = first; i < end; i += ROWS) {
        const int64_t rows = smaller(ROWS, end - i);
        char *above = a + (first * n + i) * size, *here = a + i * (n + 1) * size;
        const lt_product p = {.m = rows,
                              .n = n - i,
                              .k = i - first,
                              .a_row = 1,
                              .a_column = n,
                              .b_row = n,
                              .b_column = 1,
                              .c_row = n,
                              .c_column = 1,
                              .alpha = -1,
                              .beta = 1,
                              .a = above,
                              .b = above,
                              .c = here};
        if (p.k > 0) lt_loops.product[wide](&p);
        const int info = lt_loops.triangle[wide].cholesky(here, n, rows, n - i);
        if (info != 0) return (int)i + info;
    }
    return 0;
}

lt_status lt_cpu_cholesky(const lt_factor *f, void *a, int *info)
{
    const lt_triangle_loops *loops = &lt_loops.triangle[f->dtype == LT_FLOAT64];
    const int64_t n = f->n, size = (int64_t)lt_dtype_size(f->dtype);
    const bool lower_rows = f->upper; /* row-major here; LAPACK's columns */
    *info = 0;
    if (lower_rows) loops->mirror(a, n, true);
    for (int64_t i = 0; i < n && *info == 0; i += STRIP) {
        const int64_t rows = smaller(STRIP, n - i);
        const char *above = (const char *)a + i * size;
        const lt_gemm g = {.dtype = f->dtype,
                           .m = rows,
                           .n = n - i,
                           .k = i,
                           .batch = 1,
                           .trans_a = true,
                           .alpha = -1,
                           .beta = 1,
                           .a = above,
                           .b = above,
                           .c = (char *)a + i * (n + 1) * size,
                           .lda = n,
                           .ldb = n,
                           .ldc = n};
        if (i > 0) LT_TRY(lt_cpu_gemm(&g));
        if (lt_interrupted()) return lt_stopped();
        *info = factorize_rows(f->dtype, a, n, i, i + rows);
    }
    if (lower_rows) loops->mirror(a, n, false);
    return LT_OK;
}
