/* rows.c - the accumulating loops of reductions, down columns and along lines (loops.h says what each does).
 *
 * A line is cut into rows of WIDTH lanes, accumulators that stay in vector registers. At most FLUSH rows are added
 * before accumulators move to totals, which are double (or int64) and bound the rounding error. Sums of bytes are
 * of bools: FLUSH of them fit into a byte.
 *
 * A nan must win over every number, which costs three instructions a comparison. So extremes of floats are taken by
 * one that ignores nan, beside a sum, which is nan when an element was (or when there were both infinities); only
 * then the careful comparison goes over the same elements once more. */
#include "cpu/common/loops.h"
#include "exponential.h"
#include "vector_math.h"

#define WIDTH 64
#define FLUSH LT_ROWS_FLUSH
#define PARTS 8  /* lanes that are left of WIDTH before they become totals, and width of what remains of a line */
#define SHORT 24 /* elements of a line of which GROUP are taken at once, one in each lane */
#define GROUP 16
#define FEW 8 /* elements that one accumulator takes */

/* Steps: accumulator, element, parameter. */
#define SUM(a, x, p) ((a) + (x))
#define PROD(a, x, p) ((a) * (x))
#define SUM_ABS(a, x, p) ((a) + M(fabs)(x))
#define SUM_SQUARE(a, x, p) ((a) + (x) * (x))
#define SUM_SQUARE_OFF(a, x, p) ((a) + ((x) - (p)) * ((x) - (p)))
#define SUM_POWER(a, x, p) ((a) + M(pow)(M(fabs)(x), p))
#define SUM_EXP(a, x, p) ((a) + EXP((x) - (p)))
#define SUM_NUMBERS(a, x, p) ((a) + ((x) == (x) ? (x) : 0))
#define COUNT(a, x, p) ((a) + ((x) != 0))
#define MAX(a, x, p) ((x) > (a) || (x) != (x) ? (x) : (a))
#define MIN(a, x, p) ((x) < (a) || (x) != (x) ? (x) : (a))
#define MAX_ABS(a, x, p) MAX(a, M(fabs)(x), p)
#define MIN_ABS(a, x, p) MIN(a, M(fabs)(x), p)
/* An accumulator that is nan stays nan; an element that is nan is ignored. */
#define QUICK_MAX(a, x, p) ((x) > (a) ? (x) : (a))
#define QUICK_MIN(a, x, p) ((x) < (a) ? (x) : (a))

#define IGNORE(sum, x) (void)(sum);
#define WATCH(sum, x) (sum) += (x);

#define SIMD _Pragma("omp simd")

/* STEP: of elements, with LOOK at each; CAREFUL: repeated where LOOK found a nan. JOIN: of accumulators; QUICK: of
 * those that STEP made, without branches. */
#define REDUCTION(name, s, IDENTITY, STEP, LOOK, CAREFUL, JOIN, QUICK)                              \
    static void rows_##name##_##s(void *accumulators, bool begin, const char *rows, int64_t row_stride, \
                                  int64_t nrows, int64_t ncols, const void *parameters)            \
    {                                                                                              \
        T *acc = accumulators;                                                                     \
        const T *p = parameters;                                                                   \
        T watched = 0;                                                                             \
        int64_t i = 0;                                                                             \
        (void)p;                                                                                   \
        if (begin) SIMD for (int64_t j = 0; j < ncols; j++) acc[j] = IDENTITY;                     \
        for (; i + 4 <= nrows; i += 4) {                                                           \
            const T *a = (const T *)(rows + i * row_stride), *b = (const T *)((const char *)a + row_stride), \
                    *c = (const T *)((const char *)b + row_stride), *d = (const T *)((const char *)c + row_stride); \
            _Pragma("omp simd reduction(+ : watched)") for (int64_t j = 0; j < ncols; j++)         \
            {                                                                                      \
                T t = STEP(acc[j], a[j], p[j]);                                                    \
                t = STEP(t, b[j], p[j]);                                                           \
                t = STEP(t, c[j], p[j]);                                                           \
                t = STEP(t, d[j], p[j]);                                                           \
                acc[j] = t;                                                                        \
                LOOK(watched, (a[j] + b[j]) + (c[j] + d[j]))                                       \
            }                                                                                      \
        }                                                                                          \
        for (; i < nrows; i++) {                                                                   \
            const T *a = (const T *)(rows + i * row_stride);                                       \
            _Pragma("omp simd reduction(+ : watched)") for (int64_t j = 0; j < ncols; j++)         \
            {                                                                                      \
                acc[j] = STEP(acc[j], a[j], p[j]);                                                 \
                LOOK(watched, a[j])                                                                \
            }                                                                                      \
        }                                                                                          \
        if (watched == watched) return;                                                            \
        for (i = 0; i < nrows; i++) {                                                              \
            const T *a = (const T *)(rows + i * row_stride);                                       \
            SIMD for (int64_t j = 0; j < ncols; j++) acc[j] = CAREFUL(acc[j], a[j], p[j]);         \
        }                                                                                          \
    }                                                                                              \
    static void join_##name##_##s(lt_total *totals, const void *accumulators, int64_t n)           \
    {                                                                                              \
        const T *acc = accumulators;                                                               \
        SIMD for (int64_t j = 0; j < n; j++) totals[j].FIELD = JOIN(totals[j].FIELD, (A)acc[j], 0); \
    }                                                                                              \
    static void merge_##name##_##s(lt_total *totals, const lt_total *others, int64_t n)            \
    {                                                                                              \
        SIMD for (int64_t j = 0; j < n; j++) totals[j].FIELD = JOIN(totals[j].FIELD, others[j].FIELD, 0); \
    }                                                                                              \
    /* nrows rows of WIDTH elements, joined into the parts. Returns what LOOK has summed. */       \
    static inline A batch_##name##_##s(A *parts, const T *x, int64_t nrows, const T p)             \
    {                                                                                              \
        T lane[WIDTH], seen[WIDTH], sum = 0;                                                       \
        FOLDED fold[WIDTH];                                                                        \
        (void)p;                                                                                   \
        for (int j = 0; j < WIDTH; j++) lane[j] = IDENTITY, seen[j] = 0;                           \
        for (int64_t i = 0; i < nrows; i++)                                                        \
            SIMD for (int j = 0; j < WIDTH; j++)                                                   \
            {                                                                                      \
                lane[j] = STEP(lane[j], x[i * WIDTH + j], p);                                      \
                LOOK(seen[j], x[i * WIDTH + j])                                                    \
            }                                                                                      \
        _Pragma("omp simd reduction(+ : sum)") for (int j = 0; j < WIDTH; j++) LOOK(sum, seen[j])  \
        for (int j = 0; j < WIDTH; j++) fold[j] = lane[j];                                         \
        for (int half = WIDTH / 2; half >= PARTS; half /= 2)                                       \
            SIMD for (int j = 0; j < half; j++) fold[j] = QUICK(fold[j], fold[half + j], 0);       \
        for (int j = 0; j < PARTS; j++) parts[j] = QUICK(parts[j], (A)fold[j], 0);                 \
        return (A)sum;                                                                             \
    }                                                                                              \
    /* GROUP lines at once, one in each lane. */                                                   \
    static inline void group_##name##_##s(lt_total *totals, const char *lines, int64_t stride, int64_t n, const T p) \
    {                                                                                              \
        FOLDED lane[GROUP];                                                                        \
        (void)p;                                                                                   \
        for (int l = 0; l < GROUP; l++) lane[l] = IDENTITY;                                        \
        for (int64_t i = 0; i < n; i++)                                                            \
            SIMD for (int l = 0; l < GROUP; l++)                                                   \
            {                                                                                      \
                const T x = *(const T *)(lines + l * stride + i * (int64_t)sizeof(T));             \
                lane[l] = CAREFUL(lane[l], x, p);                                                  \
            }                                                                                      \
        for (int l = 0; l < GROUP; l++) totals[l].FIELD = JOIN(totals[l].FIELD, (A)lane[l], 0);    \
    }                                                                                              \
    static void line_##name##_##s(lt_total *totals, const char *lines, int64_t stride, int64_t count, int64_t n, \
                                  double parameter)                                                \
    {                                                                                              \
        const T p = (T)parameter;                                                                  \
        int64_t l = 0;                                                                             \
        (void)p;                                                                                   \
        for (; n <= SHORT && l + GROUP <= count; l += GROUP) group_##name##_##s(totals + l, lines + l * stride, stride, n, p); \
        for (; l < count; l++) {                                                                   \
            const T *x = (const T *)(lines + l * stride);                                          \
            if (n <= FEW) {                                                                        \
                FOLDED all = IDENTITY;                                                             \
                for (int64_t i = 0; i < n; i++) all = CAREFUL(all, x[i], p);                       \
                totals[l].FIELD = JOIN(totals[l].FIELD, (A)all, 0);                                \
                continue;                                                                          \
            }                                                                                      \
            A parts[PARTS], sum = 0;                                                               \
            FOLDED rest[PARTS];                                                                    \
            int64_t i = 0;                                                                         \
            for (int j = 0; j < PARTS; j++) parts[j] = IDENTITY, rest[j] = IDENTITY;               \
            while (n - i >= WIDTH) {                                                               \
                const int64_t rows = n - i < FLUSH * WIDTH ? (n - i) / WIDTH : FLUSH;              \
                sum += batch_##name##_##s(parts, x + i, rows, p);                                  \
                i += rows * WIDTH;                                                                 \
            }                                                                                      \
            T seen[PARTS] = {0};                                                                   \
            for (; i + PARTS <= n; i += PARTS)                                                     \
                SIMD for (int j = 0; j < PARTS; j++)                                               \
                {                                                                                  \
                    rest[j] = STEP(rest[j], x[i + j], p);                                          \
                    LOOK(seen[j], x[i + j])                                                        \
                }                                                                                  \
            for (int j = 0; i + j < n; j++) {                                                      \
                rest[j] = STEP(rest[j], x[i + j], p);                                              \
                LOOK(seen[j], x[i + j])                                                            \
            }                                                                                      \
            for (int j = 0; j < PARTS; j++) parts[j] = QUICK(parts[j], (A)rest[j], 0);             \
            for (int j = 0; j < PARTS; j++) LOOK(sum, seen[j])                                     \
            for (int half = PARTS / 2; half > 0; half /= 2)                                        \
                for (int j = 0; j < half; j++) parts[j] = QUICK(parts[j], parts[half + j], 0);     \
            if (sum != sum) {                                                                      \
                FOLDED all = IDENTITY;                                                             \
                for (i = 0; i < n && all == all; i++) all = CAREFUL(all, x[i], p);                 \
                parts[0] = (A)all;                                                                 \
            }                                                                                      \
            totals[l].FIELD = JOIN(totals[l].FIELD, parts[0], 0);                                  \
        }                                                                                          \
    }

#define PLAIN(name, s, IDENTITY, STEP, JOIN) REDUCTION(name, s, IDENTITY, STEP, IGNORE, STEP, JOIN, JOIN)
#define FLOAT_ROWS(s)                                                                              \
    PLAIN(sum, s, 0, SUM, SUM)                                                                     \
    PLAIN(prod, s, 1, PROD, PROD)                                                                  \
    REDUCTION(max, s, (T)-INFINITY, QUICK_MAX, WATCH, MAX, MAX, QUICK_MAX)                         \
    REDUCTION(min, s, (T)INFINITY, QUICK_MIN, WATCH, MIN, MIN, QUICK_MIN)                          \
    PLAIN(sum_abs, s, 0, SUM_ABS, SUM)                                                             \
    PLAIN(sum_square, s, 0, SUM_SQUARE, SUM)                                                       \
    PLAIN(sum_square_off, s, 0, SUM_SQUARE_OFF, SUM)                                               \
    PLAIN(sum_power, s, 0, SUM_POWER, SUM)                                                         \
    PLAIN(sum_exp, s, 0, SUM_EXP, SUM)                                                             \
    PLAIN(sum_numbers, s, 0, SUM_NUMBERS, SUM)                                                     \
    PLAIN(max_abs, s, 0, MAX_ABS, MAX)                                                             \
    PLAIN(min_abs, s, (T)INFINITY, MIN_ABS, MIN)                                                   \
    PLAIN(count, s, 0, COUNT, SUM)

#define A      double
#define FIELD  d
#define FOLDED T
#define T      float
#define M(g)   g##f
#define EXP    inline_expf
FLOAT_ROWS(f32)
#undef T
#undef M
#undef EXP
#define T    double
#define M(g) g
#define EXP  exp
FLOAT_ROWS(f64)
#undef T
#undef M
#undef EXP
#undef A
#undef FIELD

/* Sums of integers wrap. */
#define A     uint64_t
#define FIELD u
#define T     uint64_t
PLAIN(sum, i64, 0, SUM, SUM)
PLAIN(prod, i64, 1, PROD, PROD)
#undef T
#undef A
#undef FIELD
#define A     int64_t
#define FIELD i
#define T     int64_t
PLAIN(max, i64, INT64_MIN, QUICK_MAX, QUICK_MAX)
PLAIN(min, i64, INT64_MAX, QUICK_MIN, QUICK_MIN)
PLAIN(count, i64, 0, COUNT, SUM)
#undef T
#undef FOLDED

#define T      uint8_t
#define FOLDED int64_t
PLAIN(sum, u8, 0, SUM, SUM)
PLAIN(max, u8, 0, QUICK_MAX, QUICK_MAX)
PLAIN(min, u8, 1, QUICK_MIN, QUICK_MIN)
#undef T
#undef FOLDED
#undef A
#undef FIELD

#define ROW(field, identity, name, s)                                                              \
    {                                                                                              \
        {.field = identity}, line_##name##_##s, rows_##name##_##s, join_##name##_##s, merge_##name##_##s \
    }
#define FLOATS(identity, name) [LT_ROWS_F32] = ROW(d, identity, name, f32), [LT_ROWS_F64] = ROW(d, identity, name, f64)

const lt_reduce_loops LT_LOOP(rows)[LT_ROWS_OPS][LT_ROWS_TYPES] = {
    [LT_ROWS_SUM] = {FLOATS(0, sum), [LT_ROWS_I64] = ROW(i, 0, sum, i64), [LT_ROWS_U8] = ROW(i, 0, sum, u8)},
    [LT_ROWS_PROD] = {FLOATS(1, prod), [LT_ROWS_I64] = ROW(i, 1, prod, i64)},
    [LT_ROWS_MAX] = {FLOATS(-(double)INFINITY, max), [LT_ROWS_I64] = ROW(i, INT64_MIN, max, i64),
                     [LT_ROWS_U8] = ROW(i, 0, max, u8)},
    [LT_ROWS_MIN] = {FLOATS((double)INFINITY, min), [LT_ROWS_I64] = ROW(i, INT64_MAX, min, i64),
                     [LT_ROWS_U8] = ROW(i, 1, min, u8)},
    [LT_ROWS_SUM_ABS] = {FLOATS(0, sum_abs)},
    [LT_ROWS_SUM_SQUARE] = {FLOATS(0, sum_square)},
    [LT_ROWS_SUM_SQUARE_OFF] = {FLOATS(0, sum_square_off)},
    [LT_ROWS_SUM_POWER] = {FLOATS(0, sum_power)},
    [LT_ROWS_SUM_EXP] = {FLOATS(0, sum_exp)},
    [LT_ROWS_SUM_NUMBERS] = {FLOATS(0, sum_numbers)},
    [LT_ROWS_MAX_ABS] = {FLOATS(0, max_abs)},
    [LT_ROWS_MIN_ABS] = {FLOATS((double)INFINITY, min_abs)},
    [LT_ROWS_COUNT] = {FLOATS(0, count), [LT_ROWS_I64] = ROW(i, 0, count, i64)},
};
