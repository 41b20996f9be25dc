/* copy.c - copies with conversion between any two layouts and dtypes, and filling. A transposing
 * copy goes by square tiles, so that both sides are accessed by whole cache lines. */
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "cpu/common/for_each.h"
#include "context/interrupt.h"
#include "cpu/common/sizes.h"
#include "cpu/common/threads.h"

#define TILE (2 * LT_LANES) /* rows and columns of a square that is transposed at once */

/* The input's contiguous dimension if the output's is dimension 0; 0 if tiles do not help. */
static int transposed_dim(const lt_iter *it)
{
    int64_t size = (int64_t)lt_dtype_size(it->dtype[0]);
    if (it->ndim < 2 || it->dtype[0] != it->dtype[1] || it->numel < TILE * TILE) return 0;
    if (it->strides[0][0] != size || it->strides[1][0] == size || it->strides[1][0] == 0) return 0;
    for (int d = 1; d < it->ndim; d++)
        if (it->strides[1][d] == size && it->sizes[d] >= 4 && it->sizes[0] >= 4) return d;
    return 0;
}

/* out[j * out_step + i] = in[i * in_step + j] for i < m, j < n; steps in bytes. */
#define TRANSPOSE(bits)                                                                            \
    static void transpose_##bits(char *out, int64_t out_step, const char *in, int64_t in_step,     \
                                 int64_t m, int64_t n)                                             \
    {                                                                                              \
        for (int64_t j = 0; j < n; j++) {                                                          \
            uint##bits##_t *row = (uint##bits##_t *)(out + j * out_step);                          \
            for (int64_t i = 0; i < m; i++)                                                        \
                row[i] = *(const uint##bits##_t *)(in + i * in_step + j * (bits / 8));             \
        }                                                                                          \
    }
TRANSPOSE(8)
TRANSPOSE(16)
typedef struct {
    uint64_t parts[2];
} uint128_t; /* with the alignment of a double complex */
TRANSPOSE(128)
#undef TRANSPOSE

static void transpose_32(char *out, int64_t out_step, const char *in, int64_t in_step, int64_t m,
                         int64_t n)
{
    lt_loops.turn[0](out, out_step / 4, in, in_step / 4, m, n);
}

static void transpose_64(char *out, int64_t out_step, const char *in, int64_t in_step, int64_t m,
                         int64_t n)
{
    lt_loops.turn[1](out, out_step / 8, in, in_step / 8, m, n);
}

typedef void (*transpose_fn)(char *, int64_t, const char *, int64_t, int64_t, int64_t);

static transpose_fn transpose_for(size_t size)
{
    switch (size) {
    case 1: return transpose_8;
    case 2: return transpose_16;
    case 4: return transpose_32;
    case 16: return transpose_128;
    default: return transpose_64;
    }
}

/* One band of TILE rows of the input's dense dimension d, over all of dimension 0. */
static void transpose_band(const lt_iter *it, int d, int64_t band, transpose_fn transpose)
{
    char *out = it->data[0];
    const char *in = it->data[1];
    int64_t bands = (it->sizes[d] + TILE - 1) / TILE, rest = band / bands, j = band % bands * TILE;
    for (int e = 1; e < it->ndim; e++) {
        if (e == d) continue;
        out += rest % it->sizes[e] * it->strides[0][e];
        in += rest % it->sizes[e] * it->strides[1][e];
        rest /= it->sizes[e];
    }
    out += j * it->strides[0][d];
    in += j * it->strides[1][d];
    int64_t n = it->sizes[d] - j < TILE ? it->sizes[d] - j : TILE;
    for (int64_t i = 0; i < it->sizes[0]; i += TILE) {
        int64_t m = it->sizes[0] - i < TILE ? it->sizes[0] - i : TILE;
        transpose(out + i * it->strides[0][0], it->strides[0][d], in + i * it->strides[1][0],
                  it->strides[1][0], m, n);
    }
}

typedef struct transposition {
    const lt_iter *it;
    int d;
    transpose_fn transpose;
} transposition;

static void run_band(const void *context, int64_t band)
{
    const transposition *t = context;
    transpose_band(t->it, t->d, band, t->transpose);
}

static lt_status copy_transposed(const lt_iter *it, int d)
{
    const transposition job = {it, d, transpose_for(lt_dtype_size(it->dtype[0]))};
    int64_t bands = (it->sizes[d] + TILE - 1) / TILE;
    for (int e = 1; e < it->ndim; e++)
        if (e != d) bands *= it->sizes[e];
    return lt_parallel_for(bands, lt_cpu_threads_for(LT_CPU_MOVED * it->numel), run_band, &job);
}

static void reverse_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    (void)context;
    lt_loops.reverse[strides[0] == 8](ptrs[0], 0, ptrs[1], 0, 1, n);
}

/* Rows of one plane, some per job. */
typedef struct reversal {
    const lt_iter *it;
    int64_t lines;
} reversal;

static void reverse_lines(const void *context, int64_t job)
{
    const reversal *r = context;
    const lt_iter *it = r->it;
    const int64_t first = job * r->lines, left = it->sizes[1] - first, out_step = it->strides[0][1],
                  in_step = it->strides[1][1];
    lt_loops.reverse[it->strides[0][0] == 8](it->data[0] + first * out_step, out_step,
                                             it->data[1] + first * in_step, in_step,
                                             left < r->lines ? left : r->lines, it->sizes[0]);
}

static lt_status copy_reversed(const lt_iter *it)
{
    if (it->ndim != 2 || it->sizes[0] > LT_CPU_GRAIN / LT_CPU_MOVED)
        return lt_cpu_for_each(it, reverse_run, NULL);
    const int threads = lt_cpu_threads_for(LT_CPU_MOVED * it->numel);
    const reversal job = {it, LT_CPU_GRAIN / LT_CPU_MOVED / it->sizes[0]};
    return lt_parallel_for((it->sizes[1] + job.lines - 1) / job.lines, threads, reverse_lines,
                           &job);
}

/* Whether the iterator's runs are rows that are read backwards. */
static bool runs_backwards(const lt_iter *it)
{
    const int64_t size = (int64_t)lt_dtype_size(it->dtype[0]);
    return it->ndim > 0 && it->sizes[0] >= TILE && it->dtype[0] == it->dtype[1] &&
           (size == 4 || size == 8) && it->strides[0][0] == size && it->strides[1][0] == -size;
}

lt_status lt_cpu_copy(const lt_iter *it)
{
    if (it->numel == 0) return LT_OK;
    int d = transposed_dim(it);
    if (d > 0) return copy_transposed(it, d);
    if (runs_backwards(it)) return copy_reversed(it);
    return lt_cpu_for_each(it, lt_loops.cast[it->dtype[0]][it->dtype[1]], NULL);
}

typedef struct filling {
    lt_loop copy;
    _Alignas(16) char element[16];
} filling;

static void fill_run(char *const *ptrs, const int64_t *strides, int64_t n, const void *context)
{
    const filling *f = context;
    f->copy((char *[]){ptrs[0], (char *)f->element}, (int64_t[]){strides[0], 0}, n, NULL);
}

lt_status lt_cpu_fill(const lt_iter *it, lt_scalar value)
{
    filling f = {.copy = lt_loops.cast[it->dtype[0]][it->dtype[0]]};
    lt_store_scalar(f.element, it->dtype[0], value);
    return lt_cpu_for_each(it, fill_run, &f);
}
