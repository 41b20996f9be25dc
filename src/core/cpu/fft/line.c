/* line.c - see line.h. */
#include "line.h"

#include <string.h>

#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "error.h"
#include "mem.h"

#define TRY_NEW(p)                                                                                 \
    if ((p) == NULL) return LT_ERR_MEMORY

static lt_fft_loop loop_of(const lt_fft_plan *p) { return lt_loops.fft[p->is_double]; }

/* ---- blocks of lines ------------------------------------------------------------------------------------------- */

/* Lines of one kind: block k begins `in_block` and `out_block` complex numbers after block k - 1. */
typedef struct blocks {
    lt_fft_block first;
    const lt_fft_plan *plan;
    int64_t lines, in_block, out_block, factor_block,
        in_size; /* in_size: bytes of an input number */
    _Atomic bool no_memory;
} blocks;

static void run_block(const void *context, int64_t k)
{
    blocks *all = (blocks *)context;
    const int lanes = lt_fft_lanes(all->plan);
    const int64_t left = all->lines - k * lanes;
    lt_fft_block b = all->first;
    void *memory = lt_mem_array(2 * b.radices->n * lanes + 8, (size_t)lt_fft_size(all->plan));
    if (memory == NULL) {
        all->no_memory = true;
        return;
    }
    b.work = (void *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    b.count = left < lanes ? (int)left : lanes;
    b.in = (const char *)b.in + k * all->in_block * all->in_size;
    b.out = (char *)b.out + k * all->out_block * lt_fft_size(all->plan);
    if (b.factors != NULL)
        b.factors = (const char *)b.factors + k * all->factor_block * lt_fft_size(all->plan);
    loop_of(all->plan)(&b);
    lt_mem_free(memory);
}

static lt_status run_blocks(blocks *all)
{
    const int lanes = lt_fft_lanes(all->plan);
    const int64_t work = all->lines * all->first.radices->n * 8;
    LT_TRY(
        lt_cpu_share((all->lines + lanes - 1) / lanes, lt_cpu_threads_for(work), run_block, all));
    return all->no_memory ? LT_ERR_MEMORY : LT_OK;
}

/* Short lines, one after the other in memory; real: of real numbers. */
lt_status lt_fft_side_by_side(const lt_fft_plan *p, const void *in, void *out, int64_t lines,
                              bool real, bool inverse, double scale)
{
    const int64_t lanes = lt_fft_lanes(p);
    blocks all = {.plan = p,
                  .lines = lines,
                  .in_block = lanes * p->n,
                  .out_block = lanes * p->n,
                  .in_size = real ? lt_fft_size(p) / 2 : lt_fft_size(p),
                  .first = {.radices = &p->whole,
                            .in = in,
                            .out = out,
                            .in_row = 1,
                            .in_lane = p->n,
                            .out_row = 1,
                            .out_lane = p->n,
                            .inverse = inverse,
                            .real = real,
                            .scale = scale}};
    return run_blocks(&all);
}

/* A long line as a matrix: element j of it is in row j / columns; element k of the result in column k % rows. */
static lt_status by_matrix(const lt_fft_plan *p, const void *in, void *out, bool inverse,
                           double scale)
{
    const int64_t rows = p->columns.n, columns = p->rows.n, lanes = lt_fft_lanes(p);
    void *between = lt_mem_array(p->n, (size_t)lt_fft_size(p));
    TRY_NEW(between);
    blocks down = {.plan = p,
                   .lines = columns,
                   .in_block = lanes,
                   .out_block = lanes,
                   .factor_block = lanes,
                   .in_size = lt_fft_size(p),
                   .first = {.radices = &p->columns,
                             .in = in,
                             .out = between,
                             .in_row = columns,
                             .in_lane = 1,
                             .out_row = columns,
                             .out_lane = 1,
                             .inverse = inverse,
                             .factors = p->factors,
                             .factor_row = columns,
                             .scale = 1}};
    blocks across = {.plan = p,
                     .lines = rows,
                     .in_block = lanes * columns,
                     .out_block = lanes,
                     .in_size = lt_fft_size(p),
                     .first = {.radices = &p->rows,
                               .in = between,
                               .out = out,
                               .in_row = 1,
                               .in_lane = columns,
                               .out_row = rows,
                               .out_lane = 1,
                               .inverse = inverse,
                               .scale = scale}};
    lt_status status = run_blocks(&down);
    if (status == LT_OK) status = run_blocks(&across);
    lt_mem_free(between);
    return status;
}

/* ---- lengths with large prime factors -------------------------------------------------------------------------------- */

/* to[k] = a[k] b[k], the conjugate of a where that is asked for, times scale. */
#define TIMES(name, T)                                                                             \
    static void name(T *to, const T *a, const T *b, int64_t n, bool conjugated, T scale)           \
    {                                                                                              \
        const T sign = conjugated ? -scale : scale;                                                \
        for (int64_t k = 0; k < n; k++) {                                                          \
            const T re = a[2 * k] * scale, im = a[2 * k + 1] * sign, c = b[2 * k],                 \
                    d = b[2 * k + 1];                                                              \
            to[2 * k] = re * c - im * d;                                                           \
            to[2 * k + 1] = re * d + im * c;                                                       \
        }                                                                                          \
    }
TIMES(times_float, float)
TIMES(times_double, double)
#undef TIMES

static void times(const lt_fft_plan *p, void *to, const void *a, const void *b, int64_t n,
                  bool conjugated, double scale)
{
    if (p->is_double)
        times_double(to, a, b, n, conjugated, scale);
    else
        times_float(to, a, b, n, conjugated, (float)scale);
}

/* The inverse is the conjugate of the transform of the conjugate. */
static lt_status by_convolution(const lt_fft_plan *p, const void *in, void *out, bool inverse,
                                double scale)
{
    const int64_t n = p->n, m = p->convolution->n, size = lt_fft_size(p);
    char *line = lt_mem_array(2 * m, (size_t)size), *other = line + m * size;
    TRY_NEW(line);
    times(p, line, in, p->chirp, n, inverse, 1);
    memset(line + n * size, 0, (size_t)((m - n) * size));
    lt_status status = lt_fft_line(p->convolution, line, other, false, 1);
    if (status == LT_OK) {
        times(p, other, other, p->filter, m, false, 1);
        status = lt_fft_line(p->convolution, other, line, true, 1);
    }
    if (status == LT_OK) {
        times(p, out, line, p->chirp, n, false, scale);
        for (int64_t k = 0; k < n && inverse; k++) {
            if (p->is_double)
                ((double *)out)[2 * k + 1] *= -1;
            else
                ((float *)out)[2 * k + 1] *= -1;
        }
    }
    lt_mem_free(line);
    return status;
}

lt_status lt_fft_line(const lt_fft_plan *p, const void *in, void *out, bool inverse, double scale)
{
    if (p->convolution != NULL) return by_convolution(p, in, out, inverse, scale);
    if (p->columns.n > 0) return by_matrix(p, in, out, inverse, scale);
    return lt_fft_side_by_side(p, in, out, 1, false, inverse, scale);
}
