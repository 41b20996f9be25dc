/* scan.c - loops that go along or across lines: where an extreme lies, extremes so far, running
 * totals.
 *
 * Running totals are kept in double (int64). Along a line WIDE elements are summed in three steps
 * of doubling distance, so that only one addition in WIDE waits for the one before. Across lines,
 * neighbouring ones run side by side in vectors. A nan counts as extreme. What is the same in all
 * types stands in scan_extremes.inc and scan_totals.inc. */
#include "cpu/common/is_nan.h"
#include "cpu/common/loops.h"

#define WIDE 8 /* fixed: lanes of a vector of prefix sums, three steps deep */

#define SIMD _Pragma("omp simd")

/* ---- extremes -------------------------------------------------------------------------------- */

#define T       float
#define INDEX   int32_t
#define FIELD   d
#define S(name) name##_f32
#include "scan_extremes.inc"
#undef T
#undef INDEX
#undef FIELD
#undef S
#define T       double
#define INDEX   int64_t
#define FIELD   d
#define S(name) name##_f64
#include "scan_extremes.inc"
#undef T
#undef INDEX
#undef FIELD
#undef S
#define T       int64_t
#define INDEX   int64_t
#define FIELD   i
#define S(name) name##_i64
#include "scan_extremes.inc"
#undef T
#undef INDEX
#undef FIELD
#undef S

/* ---- running totals -------------------------------------------------------------------------- */

/* v with each element joined to the one `distance` before it; NONE stands before the first. */
#define JOINED_1(OP, v, none) OP(v, __builtin_shufflevector(none, v, 0, 8, 9, 10, 11, 12, 13, 14))
#define JOINED_2(OP, v, none) OP(v, __builtin_shufflevector(none, v, 0, 1, 8, 9, 10, 11, 12, 13))
#define JOINED_4(OP, v, none) OP(v, __builtin_shufflevector(none, v, 0, 1, 2, 3, 8, 9, 10, 11))
#define ADD(a, b)             ((a) + (b))
#define MULTIPLY(a, b)        ((a) * (b))

#define T       float
#define TOTAL   double
#define FIELD   d
#define S(name) name##_f32
#include "scan_totals.inc"
#undef T
#undef TOTAL
#undef FIELD
#undef S
#define T       double
#define TOTAL   double
#define FIELD   d
#define S(name) name##_f64
#include "scan_totals.inc"
#undef T
#undef TOTAL
#undef FIELD
#undef S
#define T       uint64_t
#define TOTAL   uint64_t
#define FIELD   u
#define S(name) name##_i64
#include "scan_totals.inc"
#undef T
#undef TOTAL
#undef FIELD
#undef S

#define ROW(s)                                                                                     \
    {                                                                                              \
        find_##s, across_##s, follow_##s, line_##s, lines_##s, side_by_side_##s                    \
    }
const lt_scan_loops LT_LOOP(scan)[LT_ROWS_I64 + 1] = {
    [LT_ROWS_F32] = ROW(f32), [LT_ROWS_F64] = ROW(f64), [LT_ROWS_I64] = ROW(i64)};
