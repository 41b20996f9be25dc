/* pool.c - the loops of pooling: one element of every window of a row at a time, so that neighbouring windows are
 * the lanes of vector registers. */
#include "cpu/common/is_nan.h"
#include "cpu/common/loops.h"

#define T       float
#define SUM     float
#define S(name) name##_f32
#include "pool.inc"
#undef T
#undef SUM
#undef S
#define T       double
#define SUM     double
#define S(name) name##_f64
#include "pool.inc"
#undef T
#undef SUM
#undef S
#define T       int64_t
#define SUM     uint64_t
#define S(name) name##_i64
#include "pool.inc"
#undef T
#undef SUM
#undef S

const lt_pool_loops LT_LOOP(pool)[3] = {
    {extremes_f32, sums_f32, line_f32}, {extremes_f64, sums_f64, line_f64}, {extremes_i64, sums_i64, line_i64}};
