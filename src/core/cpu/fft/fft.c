/* fft.c - Fourier transforms of many lines on the CPU (backend.h). Short lines are transformed
 * several at a time in vector lanes. Long real lines of even length become complex ones of half the
 * length; two of odd length become one complex line. */
#include <string.h>

#include "context/interrupt.h"
#include "cpu/common/loops.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "error.h"
#include "slice.h"
#include "memory/block.h"
#include "plan.h"

/* Whether to transform `count` lines side by side, not one after the other. */
static bool beside(const lt_fft_plan *p, int64_t count)
{
    return lt_fft_is_short(p) &&
           (count >= lt_fft_lanes(p) / 2 || (p->columns.n == 0 && p->chirp == NULL));
}

/* ---- lines one after the other --------------------------------------------------------------- */

typedef struct lines {
    const lt_fft *f;
    const lt_fft_plan *plan;
    lt_status (*run)(const struct lines *l, int64_t k);
    _Atomic int status;
} lines;

static void run_line(const void *context, int64_t k)
{
    lines *l = (lines *)context;
    lt_status status = l->run(l, k);
    if (status != LT_OK) l->status = status;
}

/* If there are fewer lines than threads, all threads work on each line; otherwise one thread per
 * line. */
static lt_status one_by_one(const lt_fft *f, const lt_fft_plan *p, int64_t count,
                            lt_status (*run)(const lines *l, int64_t k))
{
    lines l = {f, p, run, LT_OK};
    const int threads = lt_cpu_threads_for(count * p->n * 8);
    LT_TRY(lt_parallel_for(count, count >= threads ? threads : 1, run_line, &l));
    return (lt_status)l.status;
}

static lt_status complex_line(const lines *l, int64_t k)
{
    const lt_fft *f = l->f;
    const int64_t step = k * f->n * lt_fft_size(l->plan);
    return lt_fft_line(l->plan, (const char *)f->in + step, (char *)f->out + step, f->inverse,
                       f->scale);
}

/* ---- real lines of even length --------------------------------------------------------------- */

typedef struct halves {
    const lt_fft_plan *plan;
    const void *in;
    void *out;
    bool back;
} halves;

static void run_halves(const void *context, int64_t k)
{
    const halves *t = context;
    const int64_t h = t->plan->n / 2, end = h / 2 + 1;
    const int64_t last = (k + 1) * LT_CPU_PIECE < end ? (k + 1) * LT_CPU_PIECE : end;
    lt_loops.fft[t->plan->is_double].halves(t->in, t->out, h, t->plan->roots, k * LT_CPU_PIECE,
                                            last, t->back);
}

static lt_status all_halves(const lt_fft_plan *p, const void *in, void *out, bool back)
{
    const halves t = {p, in, out, back};
    return lt_parallel_for((p->n / 4 + LT_CPU_PIECE) / LT_CPU_PIECE, lt_cpu_threads_for(p->n),
                           run_halves, &t);
}

static lt_status even_line(const lines *l, int64_t k)
{
    const lt_fft *f = l->f;
    const lt_fft_plan *p = l->plan;
    const int64_t h = p->n / 2, size = lt_fft_size(p), real = k * h * size,
                  complex = k * (h + 1) * size;
    if (f->kind == LT_FFT_TO_COMPLEX) {
        char *out = (char *)f->out + complex;
        LT_TRY(lt_fft_line(p->inner, (const char *)f->in + real, out, false, f->scale));
        return all_halves(p, out, out, false);
    }
    char *out = (char *)f->out + real;
    LT_TRY(all_halves(p, (const char *)f->in + complex, out, true));
    return lt_fft_line(p->inner, out, out, true, f->scale);
}

static lt_status even_lines(const lt_fft *f, const lt_fft_plan *p)
{
    if (!beside(p->inner, f->lines)) return one_by_one(f, p, f->lines, even_line);
    const bool forward = f->kind == LT_FFT_TO_COMPLEX;
    const lt_fft_short_lines l = {.kind =
                                      forward ? LT_FFT_HALVES_TO_COMPLEX : LT_FFT_HALVES_TO_REAL,
                                  .count = f->lines,
                                  .in = f->in,
                                  .out = f->out,
                                  .in_step = forward ? f->n : f->n + 2,
                                  .out_step = forward ? f->n + 2 : f->n,
                                  .roots = p->roots,
                                  .scale = f->scale};
    return lt_fft_side_by_side(p->inner, &l);
}

/* ---- real lines of odd length ---------------------------------------------------------------- */

#define LOOPS "cpu/fft/two_lines.inc"
#include "cpu/common/both_floats.h"

/* Lines 2 k and, if it exists, 2 k + 1. */
static lt_status two_lines(const lines *l, int64_t k)
{
    const lt_fft *f = l->f;
    const lt_fft_plan *p = l->plan;
    const int64_t n = f->n, size = lt_fft_size(p), real = n * size / 2,
                  complex = (n / 2 + 1) * size;
    const bool forward = f->kind == LT_FFT_TO_COMPLEX, two = 2 * k + 1 < f->lines;
    const int64_t in_step = forward ? real : complex, out_step = forward ? complex : real;
    const void *a = (const char *)f->in + 2 * k * in_step,
               *b = two ? (const char *)a + in_step : NULL;
    void *c = (char *)f->out + 2 * k * out_step, *d = two ? (char *)c + out_step : NULL;
    size_t capacity;
    void *z = lt_block_array(n, (size_t)size, &capacity);
    if (z == NULL) return LT_ERR_MEMORY;
    if (p->is_double)
        (forward ? join_f64 : join_halves_f64)(z, a, b, n);
    else
        (forward ? join_f32 : join_halves_f32)(z, a, b, n);
    lt_status status = lt_fft_line(p, z, z, !forward, f->scale);
    if (p->is_double)
        (forward ? part_halves_f64 : part_f64)(z, c, d, n);
    else
        (forward ? part_halves_f32 : part_f32)(z, c, d, n);
    lt_block_free(z, capacity);
    return status;
}

static lt_status odd_lines(const lt_fft *f, const lt_fft_plan *p)
{
    if (!beside(p, f->lines / 2)) return one_by_one(f, p, (f->lines + 1) / 2, two_lines);
    const bool forward = f->kind == LT_FFT_TO_COMPLEX;
    const lt_fft_short_lines l = {.kind = forward ? LT_FFT_TWOS_TO_COMPLEX : LT_FFT_TWOS_TO_REAL,
                                  .count = f->lines,
                                  .in = f->in,
                                  .out = f->out,
                                  .in_step = forward ? f->n : f->n + 1,
                                  .out_step = forward ? f->n + 1 : f->n,
                                  .scale = f->scale};
    return lt_fft_side_by_side(p, &l);
}

/* ---- complex lines --------------------------------------------------------------------------- */

static lt_status complex_lines(const lt_fft *f, const lt_fft_plan *p)
{
    if (!beside(p, f->lines)) return one_by_one(f, p, f->lines, complex_line);
    const lt_fft_short_lines l = {.kind = LT_FFT_SLICES,
                                  .count = f->lines,
                                  .in = f->in,
                                  .out = f->out,
                                  .in_step = 2 * f->n,
                                  .out_step = 2 * f->n,
                                  .inverse = f->inverse,
                                  .scale = f->scale};
    return lt_fft_side_by_side(p, &l);
}

lt_status lt_cpu_fft(const lt_fft *f)
{
    const bool real = f->kind != LT_FFT_COMPLEX, even = f->n % 2 == 0;
    lt_fft_plan *p;
    LT_TRY(lt_fft_plan_acquire(f->n, f->dtype == LT_FLOAT64, real && even, &p));
    lt_status status = real && even ? even_lines(f, p)
                       : real       ? odd_lines(f, p)
                                    : complex_lines(f, p);
    lt_fft_plan_release(p);
    if (status == LT_OK && lt_interrupted()) status = lt_stopped();
    return status;
}
