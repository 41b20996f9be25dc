/* plan.h - what transforms of one length need, made once and kept for the next call (plan.c). */
#ifndef LT_CPU_FFT_PLAN_H
#define LT_CPU_FFT_PLAN_H

#include "lanes.h"
#include "ltensor.h"

/* Borrowed until lt_fft_plan_give. */
lt_status lt_fft_plan_take(int64_t n, bool is_double, lt_fft_plan **out);
void lt_fft_plan_give(lt_fft_plan *p);

/* exp(-2 pi i k / n), k < n, to the last bit or two. */
void lt_fft_root(int64_t k, int64_t n, double *re, double *im);

#endif
