/* scan.c - loops along or across lines: position of an extreme, running extremes, running totals
 * (prefix sums and products).
 *
 * Totals are double (int64). Along a line, a vector of WIDE elements is scanned in three steps of
 * doubling distance (Hillis and Steele), so that only one addition per WIDE elements depends on the
 * one before. Across lines, neighbouring lines are processed in vector lanes. A nan counts as
 * extreme. The code shared by all types is in scan_extremes.inc and scan_totals.inc. */
#include "cpu/common/is_nan.h"
#include "cpu/common/loops.h"

#define WIDE 8 /* fixed: elements of a vector of prefix sums, three steps */

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

/* v with each element combined with the one 1, 2 or 4 before it; `none` (identities) precedes the
 * first. */
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
