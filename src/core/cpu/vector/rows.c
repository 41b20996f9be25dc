/* rows.c - the accumulating loops of reductions: acc[j] = step(acc[j], row[j]), a row at a time. A sum
 * over a contiguous line is the same with the line cut into rows of a fixed width (LT_ROWS_WIDTH), so
 * that the accumulators are lanes of vector registers. The driver (../reduce.c) bounds how many rows are
 * added before it moves float accumulators into double, which bounds the rounding error. */
#include "../loops.h"
#include "vector_math.h"

#define SUM(a, x) ((a) + (x))
#define PROD(a, x) ((a) * (x))
#define SUM_ABS(a, x) ((a) + M(fabs)(x))
#define SUM_SQUARE(a, x) ((a) + (x) * (x))
#define SUM_POWER(a, x) ((a) + M(pow)(M(fabs)(x), (T)parameter))
#define COUNT(a, x) ((a) + ((x) != 0))
#define MAX(a, x) ((x) > (a) || (x) != (x) ? (x) : (a))
#define MIN(a, x) ((x) < (a) || (x) != (x) ? (x) : (a))
#define MAX_ABS(a, x) MAX(a, M(fabs)(x))
#define MIN_ABS(a, x) MIN(a, M(fabs)(x))

/* The fixed width gets a loop of its own, whose accumulators the compiler can hold in registers. */
#define ROWS(name, s, STEP)                                                                        \
    static void name##_##s(void *accumulators, const char *rows, int64_t row_stride, int64_t nrows, \
                           int64_t ncols, double parameter)                                        \
    {                                                                                              \
        (void)parameter;                                                                           \
        T *acc = accumulators;                                                                     \
        if (ncols == LT_ROWS_WIDTH) {                                                              \
            T lane[LT_ROWS_WIDTH];                                                                 \
            memcpy(lane, acc, sizeof lane);                                                        \
            for (int64_t i = 0; i < nrows; i++) {                                                  \
                const T *row = (const T *)(rows + i * row_stride);                                 \
                _Pragma("omp simd") for (int j = 0; j < LT_ROWS_WIDTH; j++) lane[j] =              \
                    STEP(lane[j], row[j]);                                                         \
            }                                                                                      \
            memcpy(acc, lane, sizeof lane);                                                        \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < nrows; i++) {                                                      \
            const T *row = (const T *)(rows + i * row_stride);                                     \
            _Pragma("omp simd") for (int64_t j = 0; j < ncols; j++) acc[j] = STEP(acc[j], row[j]); \
        }                                                                                          \
    }

#define FLOAT_ROWS(s)                                                                              \
    ROWS(sum, s, SUM)                                                                              \
    ROWS(prod, s, PROD)                                                                            \
    ROWS(max, s, MAX)                                                                              \
    ROWS(min, s, MIN)                                                                              \
    ROWS(sum_abs, s, SUM_ABS)                                                                      \
    ROWS(sum_square, s, SUM_SQUARE)                                                                \
    ROWS(sum_power, s, SUM_POWER)                                                                  \
    ROWS(max_abs, s, MAX_ABS)                                                                      \
    ROWS(min_abs, s, MIN_ABS)                                                                      \
    ROWS(count, s, COUNT)

#define T float
#define M(g) g##f
FLOAT_ROWS(f32)
#undef T
#undef M
#define T double
#define M(g) g
FLOAT_ROWS(f64)
#undef T
#undef M

/* Sums of integers wrap. */
#define T uint64_t
ROWS(sum, i64, SUM)
ROWS(prod, i64, PROD)
#undef T
#define T int64_t
ROWS(max, i64, MAX)
ROWS(min, i64, MIN)
ROWS(count, i64, COUNT)
#undef T

#define T uint8_t
ROWS(max, u8, MAX)
ROWS(min, u8, MIN)
#undef T

const lt_rows_loop LT_LOOP(rows)[LT_ROWS_OPS][LT_ROWS_TYPES] = {
    [LT_ROWS_SUM] = {sum_f32, sum_f64, sum_i64, NULL},
    [LT_ROWS_PROD] = {prod_f32, prod_f64, prod_i64, NULL},
    [LT_ROWS_MAX] = {max_f32, max_f64, max_i64, max_u8},
    [LT_ROWS_MIN] = {min_f32, min_f64, min_i64, min_u8},
    [LT_ROWS_SUM_ABS] = {sum_abs_f32, sum_abs_f64, NULL, NULL},
    [LT_ROWS_SUM_SQUARE] = {sum_square_f32, sum_square_f64, NULL, NULL},
    [LT_ROWS_SUM_POWER] = {sum_power_f32, sum_power_f64, NULL, NULL},
    [LT_ROWS_MAX_ABS] = {max_abs_f32, max_abs_f64, NULL, NULL},
    [LT_ROWS_MIN_ABS] = {min_abs_f32, min_abs_f64, NULL, NULL},
    [LT_ROWS_COUNT] = {count_f32, count_f64, count_i64, NULL},
};
