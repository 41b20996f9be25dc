/* pool.c - extremes and averages of windows on the CPU: planes are shared out among the threads, and a plane is
 * written by one thread alone, also backward. Half types are computed in
 * float, integers are int64. */
#include <math.h>
#include <string.h>

#include "cpu.h"
#include "cpu/common/threads.h"
#include "cpu/common/widened.h"

#define ROW 1024 /* windows side by side whose places are held at a time */

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Elements [from, to) of one dimension, step apart; size counts those in the padding. */
typedef struct span {
    int64_t from, to, step, size;
} span;

static span span_of(const lt_pooling *p, int d, int64_t at)
{
    span s = {.step = 1};
    if (p->adaptive) {
        s.from = at * p->in[d] / p->out[d];
        s.to = ((at + 1) * p->in[d] + p->out[d] - 1) / p->out[d];
        s.size = s.to - s.from;
        return s;
    }
    s.step = p->dilation[d];
    s.from = at * p->stride[d] - p->padding[d];
    s.to = s.from + (p->kernel[d] - 1) * s.step + 1;
    if (s.to > p->in[d] + p->padding[d]) s.to = p->in[d] + p->padding[d];
    s.size = s.to - s.from;
    if (s.from < 0) s.from += (-s.from + s.step - 1) / s.step * s.step;
    if (s.to > p->in[d]) s.to = p->in[d];
    return s;
}

static bool empty(span s) { return s.from >= s.to; }

static int64_t divisor_of(const lt_pooling *p, span z, span y, span x)
{
    if (p->divisor != 0) return p->divisor;
    if (p->count_padding && !p->adaptive) return z.size * y.size * x.size;
    return (z.to - z.from) * (y.to - y.from) * (x.to - x.from);
}

static int64_t volume(const int64_t *v) { return v[0] * v[1] * v[2]; }

/* ---- planes ------------------------------------------------------------------------------------------------------- */

typedef struct job {
    const lt_pooling *pool;
    char *out;
    int64_t *indices; /* forward, may be NULL */
    const char *in;
    const int64_t *places; /* backward of extremes */
} job;

#define FOR_WINDOWS(p, z, y, x)                                                                    \
    for (int64_t oz = 0; oz < (p)->out[0]; oz++)                                                   \
        for (int64_t oy = 0; oy < (p)->out[1]; oy++) {                                             \
            const span z = span_of(p, 0, oz), y = span_of(p, 1, oy);                               \
            for (int64_t ox = 0; ox < (p)->out[2]; ox++, at++) {                                   \
                const span x = span_of(p, 2, ox);
#define END_WINDOWS                                                                                \
    }                                                                                              \
    }

/* Windows of two by two elements side by side, the commonest of all. */
static bool quarters(const lt_pooling *p)
{
    if (p->adaptive || p->divisor != 0 || p->in[0] != 1 || p->kernel[0] != 1 || p->out[0] != 1 || p->padding[0] != 0) return false;
    for (int d = 1; d < 3; d++)
        if (p->kernel[d] != 2 || p->stride[d] != 2 || p->padding[d] != 0 || p->dilation[d] != 1 || p->in[d] < 2 * p->out[d]) return false;
    return true;
}

/* Windows [*first, *last) of a row whose element k lies within the input. */
static void within(const lt_pooling *p, int64_t k, int64_t *first, int64_t *last)
{
    const int64_t shift = k * p->dilation[2] - p->padding[2], stride = p->stride[2];
    const int64_t low = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const int64_t high = p->in[2] - shift <= 0 ? 0 : (p->in[2] - shift + stride - 1) / stride;
    *last = high < p->out[2] ? high : p->out[2];
    *first = low < *last ? low : *last;
}

/* Whether the loops of rows of windows can take this plane. */
static bool by_rows(const lt_pooling *p)
{
    return !p->adaptive && p->out[2] >= 4 && p->out[2] <= ROW && volume(p->in) < INT32_MAX;
}

static float mean_f32(float sum, int64_t n) { return sum / (float)n; }
static double mean_f64(double sum, int64_t n) { return sum / (double)n; }
/* Towards zero; -2^63 / -1 has no trap. */
static int64_t mean_i64(uint64_t sum, int64_t n) { return n == -1 ? (int64_t)-sum : (int64_t)sum / n; }

/* S: what sums are held in, modulo 2^64 of integers. lowest: what every element is at least. */
#define FORWARD(s, T, S, kind, lowest)                                                             \
    static void extremes_##s(const lt_pooling *p, T *out, int64_t *indices, const T *in)           \
    {                                                                                              \
        int64_t at = 0;                                                                            \
        FOR_WINDOWS(p, z, y, x)                                                                    \
        T most = lowest;                                                                           \
        int64_t place = (z.from * p->in[1] + y.from) * p->in[2] + x.from;                          \
        for (int64_t iz = z.from; iz < z.to; iz += z.step)                                         \
            for (int64_t iy = y.from; iy < y.to; iy += y.step)                                     \
                for (int64_t ix = x.from; ix < x.to; ix += x.step) {                               \
                    const int64_t i = (iz * p->in[1] + iy) * p->in[2] + ix;                        \
                    const T v = in[i];                                                             \
                    if (v > most || v != v) most = v, place = i;                                   \
                }                                                                                  \
        out[at] = most;                                                                            \
        if (indices != NULL) indices[at] = place;                                                  \
        END_WINDOWS                                                                                \
    }                                                                                              \
    /* The row of windows whose first elements are at z, y. */                                     \
    static void row_of_extremes_##s(const lt_pooling *p, span z, span y, T *out, int64_t *indices, const T *in) \
    {                                                                                              \
        int32_t places[ROW];                                                                       \
        for (int64_t i = 0; i < p->out[2]; i++) {                                                  \
            out[i] = lowest;                                                                       \
            places[i] = (int32_t)((z.from * p->in[1] + y.from) * p->in[2] + span_of(p, 2, i).from); \
        }                                                                                          \
        for (int64_t iz = z.from; iz < z.to; iz += z.step)                                         \
            for (int64_t iy = y.from; iy < y.to; iy += y.step)                                     \
                for (int64_t k = 0; k < p->kernel[2]; k++) {                                       \
                    int64_t first, last;                                                           \
                    within(p, k, &first, &last);                                                   \
                    const int64_t i = (iz * p->in[1] + iy) * p->in[2] + first * p->stride[2] +     \
                                      k * p->dilation[2] - p->padding[2];                          \
                    if (first < last)                                                              \
                        lt_loops.pool[kind].extremes(out + first, indices != NULL ? places + first : NULL, in + i, \
                                                     p->stride[2], last - first, (int32_t)i);      \
                }                                                                                  \
        for (int64_t i = 0; indices != NULL && i < p->out[2]; i++) indices[i] = places[i];         \
    }                                                                                              \
    static void run_extremes_##s(const void *context, int64_t plane)                               \
    {                                                                                              \
        const job *j = context;                                                                    \
        const lt_pooling *p = j->pool;                                                             \
        const int64_t to = volume(p->out);                                                         \
        T *out = (T *)j->out + plane * to;                                                         \
        int64_t *indices = j->indices != NULL ? j->indices + plane * to : NULL;                    \
        const T *in = (const T *)j->in + plane * volume(p->in);                                    \
        if (!by_rows(p)) {                                                                         \
            extremes_##s(p, out, indices, in);                                                     \
            return;                                                                                \
        }                                                                                          \
        for (int64_t oz = 0; oz < p->out[0]; oz++)                                                 \
            for (int64_t oy = 0; oy < p->out[1]; oy++) {                                           \
                row_of_extremes_##s(p, span_of(p, 0, oz), span_of(p, 1, oy), out, indices, in);    \
                out += p->out[2];                                                                  \
                if (indices != NULL) indices += p->out[2];                                         \
            }                                                                                      \
    }                                                                                              \
    static void quarter_means_##s(const lt_pooling *p, T *out, const T *in)                           \
    {                                                                                              \
        for (int64_t y = 0; y < p->out[1]; y++, out += p->out[2]) {                                \
            const T *up = in + 2 * y * p->in[2], *down = up + p->in[2];                            \
            for (int64_t x = 0; x < p->out[2]; x++)                                                \
                out[x] = mean_##s((S)up[2 * x] + (S)up[2 * x + 1] + (S)down[2 * x] + (S)down[2 * x + 1], 4); \
        }                                                                                          \
    }                                                                                              \
    static void row_of_means_##s(const lt_pooling *p, span z, span y, T *out, const T *in)         \
    {                                                                                              \
        memset(out, 0, (size_t)p->out[2] * sizeof *out);                                           \
        for (int64_t iz = z.from; iz < z.to; iz++)                                                 \
            for (int64_t iy = y.from; iy < y.to; iy++)                                             \
                for (int64_t k = 0; k < p->kernel[2]; k++) {                                       \
                    int64_t first, last;                                                           \
                    within(p, k, &first, &last);                                                   \
                    const int64_t i = first * p->stride[2] + k - p->padding[2];                    \
                    if (first < last)                                                              \
                        lt_loops.pool[kind].sums(out + first, in + (iz * p->in[1] + iy) * p->in[2] + i, p->stride[2], \
                                                 last - first);                                    \
                }                                                                                  \
        for (int64_t i = 0; i < p->out[2]; i++) {                                                  \
            const span x = span_of(p, 2, i);                                                       \
            out[i] = empty(z) || empty(y) || empty(x) ? 0 : mean_##s((S)out[i], divisor_of(p, z, y, x)); \
        }                                                                                          \
    }                                                                                              \
    static void run_means_##s(const void *context, int64_t plane)                                  \
    {                                                                                              \
        const job *j = context;                                                                    \
        const lt_pooling *p = j->pool;                                                                \
        T *out = (T *)j->out + plane * volume(p->out);                                             \
        const T *in = (const T *)j->in + plane * volume(p->in);                                    \
        int64_t at = 0;                                                                            \
        if (quarters(p)) {                                                                         \
            quarter_means_##s(p, out, in);                                                         \
            return;                                                                                \
        }                                                                                          \
        if (p->adaptive && volume(p->out) == 1) {                                                  \
            S sum = 0;                                                                             \
            lt_loops.pool[kind].line(&sum, in, volume(p->in));                                     \
            out[0] = mean_##s(sum, volume(p->in));                                                 \
            return;                                                                                \
        }                                                                                          \
        if (by_rows(p)) {                                                                          \
            for (int64_t oz = 0; oz < p->out[0]; oz++)                                             \
                for (int64_t oy = 0; oy < p->out[1]; oy++, out += p->out[2])                       \
                    row_of_means_##s(p, span_of(p, 0, oz), span_of(p, 1, oy), out, in);            \
            return;                                                                                \
        }                                                                                          \
        FOR_WINDOWS(p, z, y, x)                                                                    \
        S sum = 0;                                                                                 \
        const int64_t width = x.to - x.from;                                                       \
        for (int64_t iz = z.from; iz < z.to; iz++)                                                 \
            if (width == p->in[2] && y.from < y.to)                                                \
                lt_loops.pool[kind].line(&sum, in + (iz * p->in[1] + y.from) * width, (y.to - y.from) * width); \
            else                                                                                   \
                for (int64_t iy = y.from; iy < y.to; iy++)                                         \
                    for (int64_t ix = x.from; ix < x.to; ix++) sum += (S)in[(iz * p->in[1] + iy) * p->in[2] + ix]; \
        out[at] = empty(z) || empty(y) || empty(x) ? 0 : mean_##s(sum, divisor_of(p, z, y, x));    \
        END_WINDOWS                                                                                \
    }

#define BACKWARD(s, T)                                                                             \
    static void run_extremes_back_##s(const void *context, int64_t plane)                          \
    {                                                                                              \
        const job *j = context;                                                                    \
        const int64_t n = volume(j->pool->in), windows = volume(j->pool->out);                     \
        T *to = (T *)j->out + plane * n;                                                           \
        const T *grad = (const T *)j->in + plane * windows;                                        \
        const int64_t *places = j->places + plane * windows;                                       \
        memset(to, 0, (size_t)n * sizeof *to);                                                     \
        for (int64_t i = 0; i < windows; i++)                                                      \
            if (places[i] >= 0 && places[i] < n) to[places[i]] += grad[i];                         \
    }                                                                                              \
    static void quarter_means_back_##s(const lt_pooling *p, T *to, const T *grad)                     \
    {                                                                                              \
        const int64_t width = p->in[2];                                                            \
        for (int64_t y = 0; y < p->out[1]; y++, grad += p->out[2]) {                               \
            T *up = to + 2 * y * width, *down = up + width;                                        \
            for (int64_t x = 0; x < p->out[2]; x++) {                                              \
                const T v = grad[x] / 4;                                                           \
                up[2 * x] = v, up[2 * x + 1] = v, down[2 * x] = v, down[2 * x + 1] = v;            \
            }                                                                                      \
            for (int64_t x = 2 * p->out[2]; x < width; x++) up[x] = down[x] = 0;                   \
        }                                                                                          \
        for (int64_t y = 2 * p->out[1]; y < p->in[1]; y++) memset(to + y * width, 0, (size_t)width * sizeof *to); \
    }                                                                                              \
    static void run_means_back_##s(const void *context, int64_t plane)                             \
    {                                                                                              \
        const job *j = context;                                                                    \
        const lt_pooling *p = j->pool;                                                                \
        T *to = (T *)j->out + plane * volume(p->in);                                               \
        const T *grad = (const T *)j->in + plane * volume(p->out);                                 \
        int64_t at = 0;                                                                            \
        if (quarters(p)) {                                                                         \
            quarter_means_back_##s(p, to, grad);                                                   \
            return;                                                                                \
        }                                                                                          \
        memset(to, 0, (size_t)volume(p->in) * sizeof *to);                                         \
        FOR_WINDOWS(p, z, y, x)                                                                    \
        if (empty(z) || empty(y) || empty(x)) continue;                                            \
        const T v = grad[at] / (T)divisor_of(p, z, y, x);                                          \
        for (int64_t iz = z.from; iz < z.to; iz++)                                                 \
            for (int64_t iy = y.from; iy < y.to; iy++)                                             \
                for (int64_t ix = x.from; ix < x.to; ix++) to[(iz * p->in[1] + iy) * p->in[2] + ix] += v; \
        END_WINDOWS                                                                                \
    }
FORWARD(f32, float, float, 0, -INFINITY)
FORWARD(f64, double, double, 1, -INFINITY)
FORWARD(i64, int64_t, uint64_t, 2, INT64_MIN)
BACKWARD(f32, float)
BACKWARD(f64, double)
#undef FORWARD
#undef BACKWARD

/* ---- the entries ---------------------------------------------------------------------------------------------------- */

static lt_status share(const lt_pooling *p, const job *j, lt_job plane)
{
    const int64_t work = p->planes * (volume(p->in) + volume(p->out) * (p->adaptive ? 1 : volume(p->kernel)));
    int threads = lt_cpu_threads_for(work);
    if (threads > p->planes) threads = (int)p->planes;
    return lt_cpu_share(p->planes, threads, plane, j);
}

/* Half types: `in` (n_in elements) in float, the result back to out. */
static lt_status share_wide(const lt_pooling *p, const job *j, int64_t n_in, int64_t n_out, lt_job of_float, lt_job of_double)
{
    if (!lt_is_half(p->dtype)) return share(p, j, p->dtype == LT_FLOAT32 ? of_float : of_double);
    lt_widened in = {NULL, 0}, out = {NULL, 0};
    lt_pooling f = *p;
    job wide = *j;
    f.dtype = LT_FLOAT32;
    lt_status status = lt_widen(&in, p->dtype, j->in, n_in);
    if (status == LT_OK) status = lt_widen(&out, p->dtype, NULL, n_out);
    wide.pool = &f;
    wide.in = (const char *)in.data;
    wide.out = (char *)out.data;
    if (status == LT_OK) status = share(&f, &wide, of_float);
    if (status == LT_OK) lt_convert_dense(p->dtype, j->out, LT_FLOAT32, out.data, n_out);
    lt_widened_free(&in);
    lt_widened_free(&out);
    return status;
}

lt_status lt_cpu_max_pool(const lt_pooling *p, void *out, int64_t *indices, const void *in)
{
    const job j = {.pool = p, .out = out, .indices = indices, .in = in};
    if (p->dtype == LT_INT64) return share(p, &j, run_extremes_i64);
    return share_wide(p, &j, p->planes * volume(p->in), p->planes * volume(p->out), run_extremes_f32, run_extremes_f64);
}

lt_status lt_cpu_max_pool_backward(const lt_pooling *p, void *grad_in, const void *grad, const int64_t *indices)
{
    const job j = {.pool = p, .out = grad_in, .in = grad, .places = indices};
    return share_wide(p, &j, p->planes * volume(p->out), p->planes * volume(p->in), run_extremes_back_f32, run_extremes_back_f64);
}

lt_status lt_cpu_avg_pool(const lt_pooling *p, void *out, const void *in)
{
    const job j = {.pool = p, .out = out, .in = in};
    if (p->dtype == LT_INT64) return share(p, &j, run_means_i64);
    return share_wide(p, &j, p->planes * volume(p->in), p->planes * volume(p->out), run_means_f32, run_means_f64);
}

lt_status lt_cpu_avg_pool_backward(const lt_pooling *p, void *grad_in, const void *grad)
{
    const job j = {.pool = p, .out = grad_in, .in = grad};
    return share_wide(p, &j, p->planes * volume(p->out), p->planes * volume(p->in), run_means_back_f32, run_means_back_f64);
}
