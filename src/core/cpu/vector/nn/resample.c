/* resample.c - positions of a dimension as weighted sums of others (lt_resampling), for neighbours along the dimensions after it. The loops
 * stand in resample.inc. */
#include <string.h>

#include "cpu/common/loops.h"

#define SIMD _Pragma("omp simd")

#define T       float
#define S(name) name##_f32
#include "resample.inc"
#undef T
#undef S
#define T       double
#define S(name) name##_f64
#include "resample.inc"
#undef T
#undef S

const lt_resample_loop LT_LOOP(resample)[2] = {rows_f32, rows_f64};
