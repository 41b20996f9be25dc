/* rows.c - the accumulating loops of reductions, down columns and along lines (declared in
 * loops.h).
 *
 * A line is processed as rows of WIDTH elements, one accumulator each, in vector registers. After
 * at most FLUSH rows the accumulators are added to totals of double (or int64), which bounds the
 * rounding error. Sums of bytes are sums of bools: LT_COLUMNS_FLUSH of them fit into a byte.
 *
 * A nan must win over every number, which costs three instructions per comparison. So extremes of
 * floats use a comparison that ignores nan, and also a sum, which is nan if an element is (or if
 * both infinities occur); only then the elements are compared again with nan in mind. The loops are
 * in reduction.inc. */
#include <string.h>

#include "cpu/common/is_nan.h"
#include "cpu/common/loops.h"
#include "cpu/vector/turn.h"
#include "cpu/vector/vector_math.h"

#define WIDTH LT_ACCUMULATORS
#define FLUSH LT_ROWS_FLUSH
/* fixed: accumulators that remain of WIDTH before they become totals; HALVINGS ends there */
#define PARTS 8
#define BLOCK LT_SLICE_BLOCK /* elements per block of mapped.inc */

/* Steps (accumulator, element, parameter), and the addends of steps that add. */
#define SELF(x, p)               (x)
#define OFF(x, p)                ((x) - (p))
#define SQUARE(x, p)             ((x) * (x))
#define SQUARE_OFF(x, p)         (((x) - (p)) * ((x) - (p)))
#define SUM(a, x, p)             ((a) + (x))
#define PROD(a, x, p)            ((a) * (x))
#define PROD_OF_FOUR(a, b, c, d) (((a) * (b)) * ((c) * (d)))
#define SUM_OFF(a, x, p)         ((a) + OFF(x, p))
#define SUM_SQUARE(a, x, p)      ((a) + SQUARE(x, p))
#define SUM_SQUARE_OFF(a, x, p)  ((a) + SQUARE_OFF(x, p))
#define MAX(a, x, p)             ((x) > (a) || (x) != (x) ? (x) : (a))
#define MIN(a, x, p)             ((x) < (a) || (x) != (x) ? (x) : (a))
/* An accumulator that is nan stays nan; an element that is nan is ignored. */
#define QUICK_MAX(a, x, p) ((x) > (a) ? (x) : (a))
#define QUICK_MIN(a, x, p) ((x) < (a) ? (x) : (a))

/* The maps of mapped.inc. */
#define ABS(x, p)         (M(fabs)(x))
#define POWER(x, p)       (M(pow)(M(fabs)(x), p))
#define SHIFTED_EXP(x, p) (EXP((x) - (p)))
#define NUMBER(x, p)      ((x) == (x) ? (x) : 0)
#define IS_SET(x, p)      ((x) != 0)

#define IGNORE(sum, x) (void)(sum);
#define WATCH(sum, x)  (sum) += (x);

#define SIMD _Pragma("omp simd")

/* The vector length in bytes of accumulators, for loops with accumulators wider than the elements:
 * with a vector of elements the compiler would have to split it. */
#ifdef __AVX512F__
#define VECTOR 64 /* fixed: bytes of a register */
#else
#define VECTOR 32 /* fixed: bytes of a register */
#endif

/* Reduces WIDTH accumulators to PARTS by adding the upper half to the lower one. The lengths are
 * constant, so that the values stay in registers. */
#define HALVINGS(halve, lanes) halve(lanes, 32) halve(lanes, 16) halve(lanes, 8)
#define QUICK_HALF(lanes, n)                                                                       \
    SIMD for (int j = 0; j < (n); j++) lanes[j] = QUICK(lanes[j], lanes[(n) + j], 0);
#define LOOK_HALF(lanes, n) SIMD for (int j = 0; j < (n); j++) LOOK(lanes[j], lanes[(n) + j])
_Static_assert(WIDTH == 64 && PARTS == 8, "the lengths of HALVINGS");

/* Transposes LT_LANES lines: turned[i * LT_LANES + l] is element i of line l. Elements of 4 and 8
 * bytes are transposed in blocks. */
#define TURN_AS(s, E, turned, lines, stride, n)                                                    \
    turn_all_##s((E *)(turned), LT_LANES, (const E *)(const void *)(lines),                        \
                 (stride) / (int64_t)sizeof(E), LT_LANES, n);
#define TURN_BYTES(turned, lines, stride, n)                                                       \
    for (int64_t l = 0; l < LT_LANES; l++)                                                         \
        for (int64_t i = 0; i < (n); i++)                                                          \
            (turned)[i * LT_LANES + l] = ((const T *)(lines + l * (stride)))[i];

#define A         double
#define FIELD     d
#define FOLDED    T
#define TURN(...) TURN_AS(f32, float, __VA_ARGS__)
#define T         float
#define M(g)      g##f
#define EXP       expf
#define S(name)   name##_f32
#include "rows_float.inc"
#undef TURN
#undef T
#undef M
#undef EXP
#undef S
#define TURN(...) TURN_AS(f64, double, __VA_ARGS__)
#define T         double
#define M(g)      g
#define EXP       exp
#define S(name)   name##_f64
#include "rows_float.inc"
#undef T
#undef M
#undef EXP
#undef S
#undef A
#undef FIELD

/* Sums of integers wrap. */
#define S(name)  name##_i64
#define A        uint64_t
#define FIELD    u
#define T        uint64_t
#define R(name)  S(name##_sum)
#define IDENTITY 0
#define STEP     SUM
#define JOIN     SUM
#include "reduction.inc"
#define R(name)  S(name##_prod)
#define IDENTITY 1
#define STEP     PROD
#define JOIN     PROD
#include "reduction.inc"
#define R(name) S(name##_count)
#define MAP     IS_SET
#define OF      sum
#include "mapped.inc"
#undef T
#undef A
#undef FIELD
#define A        int64_t
#define FIELD    i
#define T        int64_t
#define R(name)  S(name##_max)
#define IDENTITY INT64_MIN
#define STEP     QUICK_MAX
#define JOIN     QUICK_MAX
#include "reduction.inc"
#define R(name)  S(name##_min)
#define IDENTITY INT64_MAX
#define STEP     QUICK_MIN
#define JOIN     QUICK_MIN
#include "reduction.inc"
#undef T
#undef FOLDED
#undef S

#undef TURN
#define TURN     TURN_BYTES
#define S(name)  name##_u8
#define T        uint8_t
#define FOLDED   int64_t
#define R(name)  S(name##_sum)
#define IDENTITY 0
#define STEP     SUM
#define JOIN     SUM
#include "reduction.inc"
#define R(name)  S(name##_max)
#define IDENTITY 0
#define STEP     QUICK_MAX
#define JOIN     QUICK_MAX
#include "reduction.inc"
#define R(name)  S(name##_min)
#define IDENTITY 1
#define STEP     QUICK_MIN
#define JOIN     QUICK_MIN
#include "reduction.inc"
#undef T
#undef FOLDED
#undef A
#undef FIELD
#undef S

/* A reduction over mapped values uses the join and merge of the reduction `of`. */
#define OF_ROW(field_, identity_, name, of, s, each)                                               \
    {                                                                                              \
        .identity = {.field_ = identity_}, .line = line_##name##_##s, .lines = each,               \
        .rows = rows_##name##_##s, .join = join_##of##_##s, .merge = merge_##of##_##s,             \
        .lane = lane_##of##_##s                                                                    \
    }
#define ROW(field_, identity_, name, s, ...)                                                       \
    {                                                                                              \
        .identity = {.field_ = identity_}, .line = line_##name##_##s, .piece = piece_##name##_##s, \
        .rows = rows_##name##_##s, .join = join_##name##_##s, .merge = merge_##name##_##s,         \
        .lane = lane_##name##_##s, __VA_ARGS__                                                     \
    }
#define FLOATS(identity, name)                                                                     \
    [LT_ROWS_F32] = ROW(d, identity, name, f32), [LT_ROWS_F64] = ROW(d, identity, name, f64)
#define EACH_FLOATS(identity, name)                                                                \
    [LT_ROWS_F32] = ROW(d, identity, name, f32, .lines = lines_##name##_f32),                      \
    [LT_ROWS_F64] = ROW(d, identity, name, f64, .lines = lines_##name##_f64)
#define OF_FLOATS(identity, name, of)                                                              \
    [LT_ROWS_F32] = OF_ROW(d, identity, name, of, f32, NULL), [LT_ROWS_F64] =                      \
                                                                  OF_ROW(d, identity, name, of,    \
                                                                         f64, NULL)

const lt_reduce_loops LT_LOOP(rows)[LT_ROWS_OPS][LT_ROWS_TYPES] = {
    [LT_ROWS_SUM] =
        {FLOATS(0, sum), [LT_ROWS_I64] = ROW(i, 0, sum, i64), [LT_ROWS_U8] = ROW(i, 0, sum, u8)},
    [LT_ROWS_PROD] = {FLOATS(1, prod), [LT_ROWS_I64] = ROW(i, 1, prod, i64)},
    [LT_ROWS_MAX] = {FLOATS(-(double)INFINITY, max), [LT_ROWS_I64] = ROW(i, INT64_MIN, max, i64),
                     [LT_ROWS_U8] = ROW(i, 0, max, u8)},
    [LT_ROWS_MIN] = {FLOATS((double)INFINITY, min), [LT_ROWS_I64] = ROW(i, INT64_MAX, min, i64),
                     [LT_ROWS_U8] = ROW(i, 1, min, u8)},
    [LT_ROWS_SUM_ABS] = {OF_FLOATS(0, sum_abs, sum)},
    [LT_ROWS_SUM_SQUARE] = {FLOATS(0, sum_square)},
    [LT_ROWS_SUM_OFF] = {EACH_FLOATS(0, sum_off)},
    [LT_ROWS_SUM_SQUARE_OFF] = {EACH_FLOATS(0, sum_square_off)},
    [LT_ROWS_SUM_POWER] = {OF_FLOATS(0, sum_power, sum)},
    [LT_ROWS_SUM_EXP] = {[LT_ROWS_F32] = OF_ROW(d, 0, sum_exp, sum, f32, lines_sum_exp_f32),
                         [LT_ROWS_F64] = OF_ROW(d, 0, sum_exp, sum, f64, lines_sum_exp_f64)},
    [LT_ROWS_SUM_NUMBERS] = {OF_FLOATS(0, sum_numbers, sum)},
    [LT_ROWS_MAX_ABS] = {OF_FLOATS(0, max_abs, max)},
    [LT_ROWS_MIN_ABS] = {OF_FLOATS((double)INFINITY, min_abs, min)},
    [LT_ROWS_COUNT] = {OF_FLOATS(0, count, sum), [LT_ROWS_I64] = OF_ROW(i, 0, count, sum, i64,
                                                                        NULL)},
};
