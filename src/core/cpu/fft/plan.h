/* plan.h - what transforms of one length need, made once and kept for the next call (plan.c). */
#ifndef LT_CPU_FFT_PLAN_H
#define LT_CPU_FFT_PLAN_H

#include "lanes.h"
#include "ltensor.h"

/* Borrowed until lt_fft_plan_release. real: of real lines, n even. */
lt_status lt_fft_plan_acquire(int64_t n, bool is_double, bool real, lt_fft_plan **out);
void lt_fft_plan_release(lt_fft_plan *p);

#endif
