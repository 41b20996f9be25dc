/* slice.h - transforms of complex lines by a plan: short ones side by side, long ones as matrices,
 * lengths with large prime factors by convolutions. */
#ifndef LT_CPU_FFT_SLICE_H
#define LT_CPU_FFT_SLICE_H

#include "lanes.h"
#include "ltensor.h"

/* tuning: maximum of elements of a line that is transformed side by side with others; a line per
 * vector lane stays in L2; 64 transforms of 3000 take 1.28 times as long with 2048 (Zen 5,
 * 2026-11-28) */
enum { LT_FFT_WHOLE = 4096 };

static inline int lt_fft_lanes(const lt_fft_plan *p)
{
    return p->is_double ? LT_FFT_DOUBLES : LT_FFT_FLOATS;
}
static inline int64_t lt_fft_size(const lt_fft_plan *p)
{
    return p->is_double ? 16 : 8;
} /* bytes of a complex number */

/* Rows of fine and of coarse factors of a matrix. */
static inline int64_t lt_fft_fine_rows(int64_t rows)
{
    return rows < LT_FFT_FINE ? rows : LT_FFT_FINE;
}
static inline int64_t lt_fft_coarse_rows(int64_t rows)
{
    return (rows + LT_FFT_FINE - 1) / LT_FFT_FINE;
}

/* Transforms a line of p->n complex numbers; `out` may be `in`. */
lt_status lt_fft_line(const lt_fft_plan *p, const void *in, void *out, bool inverse, double scale);

/* Whether lines of the plan can be transformed side by side. */
bool lt_fft_is_short(const lt_fft_plan *p);

/* Short lines of one kind, for lt_fft_side_by_side. */
typedef struct lt_fft_short_lines {
    lt_fft_block_kind kind;
    int64_t count;
    const void *in;
    void *out;
    int64_t in_step, out_step; /* between lines, in real numbers */
    const void *roots;         /* HALVES: as in lt_fft_block */
    bool inverse;              /* LT_FFT_SLICES only */
    double scale;
} lt_fft_short_lines;

lt_status lt_fft_side_by_side(const lt_fft_plan *p, const lt_fft_short_lines *l);

#endif
