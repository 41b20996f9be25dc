/* norm.c - normalization of rows (layer_norm, group_norm) and channels (batch_norm), forward and
 * backward, in float and double. The loops are in norm.inc. */
#include <string.h>

#include "cpu/common/is_nan.h"
#include "cpu/common/loops.h"
#include "cpu/vector/turn.h"
#include "cpu/vector/vector_math.h"

#define SIMD _Pragma("omp simd")

#define turn_rows_f32 turn_all_f32
#define turn_rows_f64 turn_all_f64

#define LOOPS "cpu/vector/nn/norm.inc"
#include "cpu/common/both_floats.h"

const lt_norm_loops LT_LOOP(norm)[2] = {
    {rows_f32, rows_backward_f32, channels_f32, channels_backward_f32},
    {rows_f64, rows_backward_f64, channels_f64, channels_backward_f64},
};
