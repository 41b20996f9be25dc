/* resample.c - resampling of a dimension: each position is a weighted sum of others
 * (lt_resampling), vectorized over the dimensions after it. The loops are in resample.inc. */
#include <string.h>

#include "cpu/common/loops.h"
#include "cpu/vector/look_up.h"

#define SIMD _Pragma("omp simd")

#define LOOPS "cpu/vector/nn/resample.inc"
#include "cpu/common/both_floats.h"

const lt_resample_loops LT_LOOP(resample)[2] = {{rows_f32, line_of_places_f32},
                                                {rows_f64, line_of_places_f64}};
