/* mean.h - the mean from a sum, for pooling. Included by src/core/cpu only. */
#ifndef LT_CPU_MEAN_H
#define LT_CPU_MEAN_H

#include <stdint.h>

static inline float lt_mean_f32(float sum, int64_t n) { return sum / (float)n; }
static inline double lt_mean_f64(double sum, int64_t n) { return sum / (double)n; }
/* Rounds towards zero; -2^63 / -1 wraps instead of trapping. */
static inline int64_t lt_mean_i64(uint64_t sum, int64_t n)
{
    return n == -1 ? (int64_t)-sum : (int64_t)sum / n;
}

#endif
