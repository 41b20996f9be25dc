/* softmax.c - softmax and log_softmax of contiguous rows or of neighbouring columns, forward and
 * backward, in float and double. The maximum is subtracted first, so that no exponential overflows;
 * sums of blocks are added in double. A row that contains nan or infinity, or only -infinity,
 * becomes nan. The loops are in softmax.inc. */
#include <string.h>

#include "cpu/common/fetch.h"
#include "cpu/common/loops.h"
#include "context/interrupt.h"
#include "cpu/vector/fold.h"
#include "cpu/vector/vector_math.h"

#define SIMD _Pragma("omp simd")

#define T       float
#define S(name) name##_f32
#define EXP     expf
#include "softmax.inc"
#undef T
#undef S
#undef EXP
#define T       double
#define S(name) name##_f64
#define EXP     exp
#include "softmax.inc"
#include "cpu/common/sizes.h"
#undef T
#undef S
#undef EXP

const lt_softmax_loops LT_LOOP(softmax)[2] = {
    {forward_f32, backward_f32, columns_f32, columns_backward_f32},
    {forward_f64, backward_f64, columns_f64, columns_backward_f64}};
