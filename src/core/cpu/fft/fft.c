/* fft.c - Fourier transforms on the CPU (backend.h), of many lines. Real lines of even length are complex ones of half the length. */
#include <string.h>

#include "context/interrupt.h"
#include "cpu/common/threads.h"
#include "cpu/cpu.h"
#include "error.h"
#include "line.h"
#include "mem.h"
#include "plan.h"

/* ---- lines ------------------------------------------------------------------------------------------------------------- */

typedef struct lines {
    const lt_fft_plan *plan;
    const char *in;
    char *out;
    bool inverse;
    double scale;
    _Atomic int status;
} lines;

static void run_line(const void *context, int64_t k)
{
    lines *l = (lines *)context;
    const int64_t step = k * l->plan->n * lt_fft_size(l->plan);
    lt_status status = lt_fft_line(l->plan, l->in + step, l->out + step, l->inverse, l->scale);
    if (status != LT_OK) l->status = status;
}

static lt_status complex_lines(const lt_fft_plan *p, const void *in, void *out, int64_t count,
                               bool inverse, double scale)
{
    const bool many = count >= lt_fft_lanes(p) / 2 || p->columns.n == 0;
    if (p->whole.n > 0 && many)
        return lt_fft_side_by_side(p, in, out, count, false, inverse, scale);
    lines l = {p, in, out, inverse, scale, LT_OK};
    const int threads = lt_cpu_threads_for(count * p->n * 8);
    /* Few long lines share the threads each, many have one each. */
    LT_TRY(lt_cpu_share(count, count >= threads ? threads : 1, run_line, &l));
    return (lt_status)l.status;
}

/* ---- real numbers ---------------------------------------------------------------------------------------------------- */

/* From the transform z of pairs of neighbours to that of the numbers, h = n / 2; and back, which reads only real parts of the first
 * and the last. roots: exp(-2 pi i k / n). */
#define HALVES(T, NAME)                                                                            \
    static void NAME##_unfold(const T *z, T *to, int64_t h, const T *roots, T scale)               \
    {                                                                                              \
        for (int64_t k = 0; k <= h; k++) {                                                         \
            const int64_t a = k == h ? 0 : k, b = k == 0 ? 0 : h - k;                              \
            const T er = (z[2 * a] + z[2 * b]) / 2, ei = (z[2 * a + 1] - z[2 * b + 1]) / 2;        \
            const T dr = (z[2 * a + 1] + z[2 * b + 1]) / 2, di = (z[2 * b] - z[2 * a]) / 2;        \
            const T c = roots[2 * k], s = roots[2 * k + 1];                                        \
            to[2 * k] = (er + c * dr - s * di) * scale;                                            \
            to[2 * k + 1] = k == 0 || k == h ? 0 : (ei + c * di + s * dr) * scale;                 \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_fold(const T *x, T *to, int64_t h, const T *roots)                          \
    {                                                                                              \
        for (int64_t k = 0; k < h; k++) {                                                          \
            const T ar = x[2 * k], ai = k == 0 ? 0 : x[2 * k + 1], br = x[2 * (h - k)],            \
                    bi = k == 0 ? 0 : -x[2 * (h - k) + 1];                                         \
            const T er = ar + br, ei = ai + bi, dr = ar - br, di = ai - bi;                        \
            const T c = roots[2 * k], s = -roots[2 * k + 1];                                       \
            to[2 * k] = er - (dr * s + di * c);                                                    \
            to[2 * k + 1] = ei + (dr * c - di * s);                                                \
        }                                                                                          \
    }
HALVES(float, float)
HALVES(double, double)
#undef HALVES

typedef struct halves {
    const lt_fft_plan *plan; /* of half the length */
    const char *in;
    char *out;
    const void *roots;
    double scale;
} halves;

static void unfold_line(const void *context, int64_t k)
{
    const halves *t = context;
    const int64_t h = t->plan->n, size = lt_fft_size(t->plan);
    const void *in = t->in + k * h * size;
    void *out = t->out + k * (h + 1) * size;
    if (t->plan->is_double)
        double_unfold(in, out, h, t->roots, t->scale);
    else
        float_unfold(in, out, h, t->roots, (float)t->scale);
}

static void fold_line(const void *context, int64_t k)
{
    const halves *t = context;
    const int64_t h = t->plan->n, size = lt_fft_size(t->plan);
    const void *in = t->in + k * (h + 1) * size;
    void *out = t->out + k * h * size;
    if (t->plan->is_double)
        double_fold(in, out, h, t->roots);
    else
        float_fold(in, out, h, t->roots);
}

/* exp(-2 pi i k / n), k <= n / 2. */
static void *roots_new(int64_t n, bool is_double)
{
    void *roots = lt_mem_array(n / 2 + 1, is_double ? 16 : 8);
    for (int64_t k = 0; roots != NULL && k <= n / 2; k++) {
        double re, im;
        lt_fft_root(k, n, &re, &im);
        if (is_double)
            ((double *)roots)[2 * k] = re, ((double *)roots)[2 * k + 1] = im;
        else
            ((float *)roots)[2 * k] = (float)re, ((float *)roots)[2 * k + 1] = (float)im;
    }
    return roots;
}

static lt_status even_lines(const lt_fft *f, const lt_fft_plan *half)
{
    const int64_t h = half->n;
    const int threads = lt_cpu_threads_for(f->lines * f->n);
    void *roots = roots_new(f->n, half->is_double),
         *between = lt_mem_array(f->lines * h, (size_t)lt_fft_size(half));
    halves t = {half, NULL, NULL, roots, f->scale};
    lt_status status = roots == NULL || between == NULL ? LT_ERR_MEMORY : LT_OK;
    if (status != LT_OK) goto done;
    if (f->kind == LT_FFT_TO_COMPLEX) {
        t.in = between, t.out = f->out;
        LT_CHECK(complex_lines(half, f->in, between, f->lines, false, 1));
        LT_CHECK(lt_cpu_share(f->lines, threads, unfold_line, &t));
    } else {
        t.in = f->in, t.out = between;
        LT_CHECK(lt_cpu_share(f->lines, threads, fold_line, &t));
        LT_CHECK(complex_lines(half, between, f->out, f->lines, true, f->scale));
    }
done:
    lt_mem_free(roots);
    lt_mem_free(between);
    return status;
}

/* Odd lengths, as complex lines. */
static lt_status odd_lines(const lt_fft *f, const lt_fft_plan *p)
{
    const int64_t n = f->n, half = n / 2 + 1, size = lt_fft_size(p), part = size / 2;
    char *wide = lt_mem_array(2 * f->lines * n, (size_t)size), *result = wide + f->lines * n * size;
    if (wide == NULL) return LT_ERR_MEMORY;
    lt_status status;
    for (int64_t l = 0; l < f->lines; l++) {
        char *line = wide + l * n * size;
        if (f->kind == LT_FFT_TO_COMPLEX) {
            memset(line, 0, (size_t)(n * size));
            for (int64_t k = 0; k < n; k++)
                memcpy(line + k * size, (const char *)f->in + (l * n + k) * part, (size_t)part);
            continue;
        }
        const char *from = (const char *)f->in + l * half * size;
        memcpy(line, from, (size_t)(half * size));
        memset(line + part, 0, (size_t)part);
        for (int64_t k = half; k < n; k++) {
            memcpy(line + k * size, from + (n - k) * size, (size_t)size);
            if (p->is_double)
                ((double *)(void *)line)[2 * k + 1] *= -1;
            else
                ((float *)(void *)line)[2 * k + 1] *= -1;
        }
    }
    status = complex_lines(p, wide, result, f->lines, f->kind == LT_FFT_TO_REAL, f->scale);
    for (int64_t l = 0; l < f->lines && status == LT_OK; l++) {
        const char *line = result + l * n * size;
        if (f->kind == LT_FFT_TO_COMPLEX)
            memcpy((char *)f->out + l * half * size, line, (size_t)(half * size));
        else
            for (int64_t k = 0; k < n; k++)
                memcpy((char *)f->out + (l * n + k) * part, line + k * size, (size_t)part);
    }
    lt_mem_free(wide);
    return status;
}

lt_status lt_cpu_fft(const lt_fft *f)
{
    const bool is_double = f->dtype == LT_FLOAT64, real = f->kind != LT_FFT_COMPLEX,
               even = f->n % 2 == 0;
    lt_fft_plan *p;
    LT_TRY(lt_fft_plan_take(real && even ? f->n / 2 : f->n, is_double, &p));
    lt_status status = !real  ? complex_lines(p, f->in, f->out, f->lines, f->inverse, f->scale)
                       : even ? even_lines(f, p)
                              : odd_lines(f, p);
    lt_fft_plan_give(p);
    if (status == LT_OK && lt_interrupted()) status = lt_stopped();
    return status;
}
