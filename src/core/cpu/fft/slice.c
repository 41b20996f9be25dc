/* slice.c - see slice.h. */
#include "slice.h"

#include <string.h>

#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "error.h"
#include "memory/block.h"

static const lt_fft_loops *loops_of(const lt_fft_plan *p) { return &lt_loops.fft[p->is_double]; }

/* ---- blocks of lines ------------------------------------------------------------------------- */

/* Lines of one kind, `lanes` per block; in_block and others: bytes between blocks. */
typedef struct blocks {
    lt_fft_block first;
    lt_fft_loop loop;
    int64_t lines, lanes, in_block, out_block, fine_block, coarse_block;
    size_t work_bytes;
    int64_t count, shares;
    _Atomic bool no_memory;
} blocks;

static const void *advance(const void *p, int64_t bytes)
{
    return p == NULL ? NULL : (const char *)p + bytes;
}

/* A chunk of the blocks, with its own work memory. */
static void transform_share(const void *context, int64_t share)
{
    blocks *all = (blocks *)context;
    size_t capacity;
    void *work = lt_block_alloc(all->work_bytes, &capacity);
    if (work == NULL) {
        all->no_memory = true;
        return;
    }
    const int64_t first = all->count * share / all->shares,
                  end = all->count * (share + 1) / all->shares;
    for (int64_t k = first; k < end && !lt_interrupted(); k++) {
        const int64_t left = all->lines - k * all->lanes;
        lt_fft_block b = all->first;
        b.work = work;
        b.count = (int)(left < all->lanes ? left : all->lanes);
        b.in = advance(b.in, k * all->in_block);
        b.out = (char *)b.out + k * all->out_block;
        b.fine = advance(b.fine, k * all->fine_block);
        b.coarse = advance(b.coarse, k * all->coarse_block);
        all->loop(&b);
    }
    lt_block_free(work, capacity);
}

static lt_status run_blocks(const lt_fft_plan *p, blocks *all)
{
    const int threads = lt_cpu_threads_for(all->lines * all->first.n * 8);
    all->work_bytes = 2 * (size_t)(all->first.room * lt_fft_lanes(p) * lt_fft_size(p));
    all->count = (all->lines + all->lanes - 1) / all->lanes;
    all->shares = threads <= 1 ? 1 : all->count < 4 * threads ? all->count : 4 * threads;
    LT_TRY(lt_parallel_for(all->shares, threads, transform_share, all));
    return all->no_memory ? LT_ERR_MEMORY : LT_OK;
}

static const lt_fft_plan *convolution_of(const lt_fft_plan *p)
{
    return p->chirp != NULL ? p->inner : NULL;
}

bool lt_fft_is_short(const lt_fft_plan *p)
{
    return (convolution_of(p) != NULL ? p->inner : p)->whole.n > 0;
}

lt_status lt_fft_side_by_side(const lt_fft_plan *p, const lt_fft_short_lines *l)
{
    const bool twos = l->kind == LT_FFT_TWOS_TO_COMPLEX || l->kind == LT_FFT_TWOS_TO_REAL;
    const int64_t lanes = lt_fft_lanes(p) * (twos ? 2 : 1), number = lt_fft_size(p) / 2;
    const lt_fft_radices *radices = &(convolution_of(p) != NULL ? p->inner : p)->whole;
    blocks all = {.loop = loops_of(p)->lines,
                  .lines = l->count,
                  .lanes = lanes,
                  .in_block = lanes * l->in_step * number,
                  .out_block = lanes * l->out_step * number,
                  .first = {.kind = l->kind,
                            .n = p->n,
                            .radices = radices,
                            .in = l->in,
                            .out = l->out,
                            .in_step = l->in_step,
                            .out_step = l->out_step,
                            .inverse = l->inverse,
                            .scale = l->scale,
                            .chirp = p->chirp,
                            .filter = p->filter,
                            .roots = l->roots,
                            .room = radices->n > p->n ? radices->n : p->n + 1}};
    return run_blocks(p, &all);
}

static int64_t filled(int64_t n, int64_t lanes) { return (n + lanes - 1) / lanes * lanes; }

/* A long line as a matrix: element j of the line is in row j / columns; element k of the result is
 * in column k % rows. */
static lt_status by_matrix(const lt_fft_plan *p, const void *in, void *out, bool inverse,
                           double scale)
{
    const int64_t rows = p->columns.n, columns = p->rows.n, lanes = lt_fft_lanes(p),
                  size = lt_fft_size(p);
    const int64_t all_rows = filled(rows, lanes), all_columns = filled(columns, lanes);
    size_t capacity;
    void *between = lt_block_array(all_rows * all_columns, (size_t)size, &capacity);
    if (between == NULL) return LT_ERR_MEMORY;
    blocks down = {.loop = loops_of(p)->down,
                   .lines = columns,
                   .lanes = lanes,
                   .in_block = lanes * size,
                   .out_block = all_rows * lanes * size,
                   .fine_block = lt_fft_fine_rows(rows) * lanes * size,
                   .coarse_block = lt_fft_coarse_rows(rows) * lanes * size,
                   .first = {.n = rows,
                             .radices = &p->columns,
                             .in = in,
                             .out = between,
                             .in_step = 2 * columns,
                             .inverse = inverse,
                             .fine = p->fine,
                             .coarse = p->coarse,
                             .room = rows}};
    blocks across = {.loop = loops_of(p)->across,
                     .lines = rows,
                     .lanes = lanes,
                     .in_block = lanes * lanes * size,
                     .out_block = lanes * size,
                     .first = {.n = columns,
                               .radices = &p->rows,
                               .in = between,
                               .out = out,
                               .in_step = 2 * all_rows * lanes,
                               .out_step = 2 * rows,
                               .inverse = inverse,
                               .scale = scale,
                               .room = all_columns}};
    lt_status status = run_blocks(p, &down);
    if (status == LT_OK) status = run_blocks(p, &across);
    lt_block_free(between, capacity);
    return status;
}

/* ---- lengths with large prime factors -------------------------------------------------------- */

#define LOOPS "cpu/fft/multiply_rows.inc"
#include "cpu/common/both_floats.h"

static void multiply_rows(const lt_fft_plan *p, void *to, const void *a, const void *b, int64_t n,
                          bool conjugated, double scale)
{
    if (p->is_double)
        multiply_rows_f64(to, a, b, n, conjugated, scale);
    else
        multiply_rows_f32(to, a, b, n, conjugated, (float)scale);
}

/* Bluestein's algorithm. An inverse transform is the conjugate of the transform of the conjugate.
 */
static lt_status by_convolution(const lt_fft_plan *p, const void *in, void *out, bool inverse,
                                double scale)
{
    const int64_t n = p->n, m = p->inner->n, size = lt_fft_size(p);
    size_t capacity;
    char *line = lt_block_array(m, (size_t)size, &capacity);
    if (line == NULL) return LT_ERR_MEMORY;
    multiply_rows(p, line, in, p->chirp, n, inverse, 1);
    memset(line + n * size, 0, (size_t)((m - n) * size));
    lt_status status = lt_fft_line(p->inner, line, line, false, 1);
    if (status == LT_OK) {
        multiply_rows(p, line, line, p->filter, m, false, 1);
        status = lt_fft_line(p->inner, line, line, true, 1);
    }
    if (status == LT_OK) {
        multiply_rows(p, out, line, p->chirp, n, false, scale);
        for (int64_t k = 0; k < n && inverse; k++) {
            if (p->is_double)
                ((double *)out)[2 * k + 1] *= -1;
            else
                ((float *)out)[2 * k + 1] *= -1;
        }
    }
    lt_block_free(line, capacity);
    return status;
}

lt_status lt_fft_line(const lt_fft_plan *p, const void *in, void *out, bool inverse, double scale)
{
    if (convolution_of(p) != NULL) return by_convolution(p, in, out, inverse, scale);
    if (p->columns.n > 0) return by_matrix(p, in, out, inverse, scale);
    const lt_fft_short_lines one = {.kind = LT_FFT_SLICES,
                                    .count = 1,
                                    .in = in,
                                    .out = out,
                                    .in_step = 2 * p->n,
                                    .out_step = 2 * p->n,
                                    .inverse = inverse,
                                    .scale = scale};
    return lt_fft_side_by_side(p, &one);
}
