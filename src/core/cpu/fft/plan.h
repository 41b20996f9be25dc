/* plan.h - factors and tables of transforms of a length, cached for later calls (plan.c). */
#ifndef LT_CPU_FFT_PLAN_H
#define LT_CPU_FFT_PLAN_H

#include "lanes.h"
#include "ltensor.h"

/* Finds or creates a plan and retains it until lt_fft_plan_release. real: for real lines, n even. */
lt_status lt_fft_plan_acquire(int64_t n, bool is_double, bool real, lt_fft_plan **out);
void lt_fft_plan_release(lt_fft_plan *p);

#endif
