/* line.h - transforms of lines of complex numbers, by a plan: short ones side by side, long ones as matrices, lengths with large prime
 * factors by convolutions. */
#ifndef LT_CPU_FFT_LINE_H
#define LT_CPU_FFT_LINE_H

#include "lanes.h"
#include "ltensor.h"

enum { LT_FFT_WHOLE = 4096 /* the longest line that is transformed beside others */ };

static inline int lt_fft_lanes(const lt_fft_plan *p)
{
    return p->is_double ? LT_FFT_DOUBLES : LT_FFT_FLOATS;
}
static inline int64_t lt_fft_size(const lt_fft_plan *p)
{
    return p->is_double ? 16 : 8;
} /* bytes of a complex number */

/* One line of p->n complex numbers from `in` to `out`, which are apart. */
lt_status lt_fft_line(const lt_fft_plan *p, const void *in, void *out, bool inverse, double scale);

/* Short lines (p->whole is there), one after the other. */
lt_status lt_fft_side_by_side(const lt_fft_plan *p, const void *in, void *out, int64_t lines,
                              bool real, bool inverse, double scale);

#endif
