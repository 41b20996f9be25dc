/* scan.c - loops that go along or across lines: where an extreme lies, extremes so far, running totals.
 *
 * Running totals are kept in double (int64). Along a line WIDE elements are summed in three steps of doubling
 * distance, so that only one addition in WIDE waits for the one before. Across lines, neighbouring ones run side by
 * side in vectors. A nan counts as extreme. */
#include "cpu/common/loops.h"

#define WIDE 8
#define SPAN 16 /* elements of a line in which a new extreme is looked for at once */

#define SIMD _Pragma("omp simd")

/* ---- extremes --------------------------------------------------------------------------------------------------- */

/* Whether a takes the place of b: the first of equals stays, or the last one comes. */
#define OVER(a, b) (((a) > (b)) | (((a) != (a)) & ((b) == (b))))
#define UNDER(a, b) (((a) < (b)) | (((a) != (a)) & ((b) == (b))))
#define OVER_OR_SAME(a, b) (((a) >= (b)) | ((a) != (a)))
#define UNDER_OR_SAME(a, b) (((a) <= (b)) | ((a) != (a)))

/* Rows one after the other, in each column. */
#define ACROSS(name, s, T, I, WINS)                                                                \
    static void name##_##s(T *best, I *place, const char *rows, int64_t row_stride, int64_t nrows, int64_t ncols, \
                           I first)                                                                \
    {                                                                                              \
        for (int64_t i = 0; i < nrows; i++) {                                                      \
            const T *x = (const T *)(rows + i * row_stride);                                       \
            const I here = first + (I)i;                                                           \
            SIMD for (int64_t j = 0; j < ncols; j++)                                               \
            {                                                                                      \
                const T b = best[j], v = x[j];                                                     \
                const bool wins = WINS(v, b);                                                      \
                best[j] = wins ? v : b;                                                            \
                place[j] = wins ? here : place[j];                                                 \
            }                                                                                      \
        }                                                                                          \
    }

/* Extremes up to each element of a line. Where a span holds no new one it is filled with what there is. */
#define FOLLOW(name, s, T, WINS)                                                                   \
    static void name##_##s(T *best, int64_t *place, T *out, int64_t *places, const T *x, int64_t from, int64_t n) \
    {                                                                                              \
        T value = *best;                                                                           \
        int64_t at = *place, i = 0;                                                                \
        while (i < n) {                                                                            \
            const int64_t end = i + SPAN <= n ? i + SPAN : n;                                      \
            if (end - i == SPAN && value == value) {                                               \
                int found = 0;                                                                     \
                _Pragma("omp simd reduction(| : found)") for (int j = 0; j < SPAN; j++) found |=   \
                    WINS(x[i + j], value);                                                         \
                if (!found) {                                                                      \
                    SIMD for (int j = 0; j < SPAN; j++) out[i + j] = value;                        \
                    SIMD for (int j = 0; j < SPAN; j++) places[i + j] = at;                        \
                    i = end;                                                                       \
                    continue;                                                                      \
                }                                                                                  \
            }                                                                                      \
            for (; i < end; i++) {                                                                 \
                if (WINS(x[i], value)) {                                                           \
                    value = x[i];                                                                  \
                    at = from + i;                                                                 \
                }                                                                                  \
                out[i] = value;                                                                    \
                places[i] = at;                                                                    \
            }                                                                                      \
        }                                                                                          \
        *best = value;                                                                             \
        *place = at;                                                                               \
    }

#define EXTREMES(s, T, I, FIELD)                                                                   \
    ACROSS(highest, s, T, I, OVER)                                                                 \
    ACROSS(lowest, s, T, I, UNDER)                                                                 \
    ACROSS(last_highest, s, T, I, OVER_OR_SAME)                                                    \
    ACROSS(last_lowest, s, T, I, UNDER_OR_SAME)                                                    \
    FOLLOW(climb, s, T, OVER_OR_SAME)                                                              \
    FOLLOW(descend, s, T, UNDER_OR_SAME)                                                           \
    static int64_t find_##s(const void *line, int64_t n, lt_total value)                           \
    {                                                                                              \
        const T *x = line, wanted = (T)value.FIELD;                                                \
        int64_t i = 0;                                                                             \
        for (; i + SPAN <= n; i += SPAN) {                                                         \
            int found = 0;                                                                         \
            _Pragma("omp simd reduction(| : found)") for (int j = 0; j < SPAN; j++) found |=       \
                (x[i + j] == wanted) | (x[i + j] != x[i + j]);                                     \
            if (found) break;                                                                      \
        }                                                                                          \
        while (i + 1 < n && x[i] != wanted && x[i] == x[i]) i++;                                   \
        return i;                                                                                  \
    }                                                                                              \
    static void across_##s(bool maximum, bool last, void *best, void *place, const char *rows, int64_t row_stride, \
                           int64_t nrows, int64_t ncols, int64_t first)                            \
    {                                                                                              \
        if (last)                                                                                  \
            (maximum ? last_highest_##s : last_lowest_##s)(best, place, rows, row_stride, nrows, ncols, (I)first); \
        else                                                                                       \
            (maximum ? highest_##s : lowest_##s)(best, place, rows, row_stride, nrows, ncols, (I)first); \
    }                                                                                              \
    static void follow_##s(bool maximum, void *best, int64_t *place, void *out, int64_t *places, const void *in, \
                           int64_t from, int64_t n)                                                \
    {                                                                                              \
        (maximum ? climb_##s : descend_##s)(best, place, out, places, in, from, n);                \
    }
EXTREMES(f32, float, int32_t, d)
EXTREMES(f64, double, int64_t, d)
EXTREMES(i64, int64_t, int64_t, i)

/* ---- running totals --------------------------------------------------------------------------------------------- */

/* v with each element joined to the one `distance` before it; NONE stands before the first. */
#define JOINED_1(OP, v, none) OP(v, __builtin_shufflevector(none, v, 0, 8, 9, 10, 11, 12, 13, 14))
#define JOINED_2(OP, v, none) OP(v, __builtin_shufflevector(none, v, 0, 1, 8, 9, 10, 11, 12, 13))
#define JOINED_4(OP, v, none) OP(v, __builtin_shufflevector(none, v, 0, 1, 2, 3, 8, 9, 10, 11))
#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))

#define TOTALS(name, s, T, A, FIELD, IDENTITY, OP)                                                 \
    static void name##_line_##s(T *out, const T *in, int64_t n, lt_total *so_far)                  \
    {                                                                                              \
        typedef T elements __attribute__((vector_size(WIDE * sizeof(T))));                         \
        typedef A totals __attribute__((vector_size(WIDE * sizeof(A))));                           \
        const totals none = (totals){0} + (A)IDENTITY;                                             \
        A total = so_far->FIELD;                                                                   \
        int64_t i = 0;                                                                             \
        for (; i + WIDE <= n; i += WIDE) {                                                         \
            elements x;                                                                            \
            memcpy(&x, in + i, sizeof x);                                                          \
            totals t = __builtin_convertvector(x, totals);                                         \
            t = JOINED_1(OP, t, none);                                                             \
            t = JOINED_2(OP, t, none);                                                             \
            t = JOINED_4(OP, t, none);                                                             \
            const A sum = t[WIDE - 1];                                                             \
            t = OP(t, total);                                                                      \
            total = OP(total, sum);                                                                \
            x = __builtin_convertvector(t, elements);                                              \
            memcpy(out + i, &x, sizeof x);                                                         \
        }                                                                                          \
        for (; i < n; i++) out[i] = (T)(total = OP(total, (A)in[i]));                              \
        so_far->FIELD = total;                                                                     \
    }                                                                                              \
    static void name##_across_##s(char *to, int64_t out_step, const char *from, int64_t in_step, int64_t length, \
                                  int64_t n, lt_total *so_far)                                     \
    {                                                                                              \
        for (int64_t i = 0; i < length; i++) {                                                     \
            T *out = (T *)(to + i * out_step);                                                     \
            const T *in = (const T *)(from + i * in_step);                                         \
            SIMD for (int64_t j = 0; j < n; j++)                                                   \
            {                                                                                      \
                const A t = OP(so_far[j].FIELD, (A)in[j]);                                         \
                so_far[j].FIELD = t;                                                               \
                out[j] = (T)t;                                                                     \
            }                                                                                      \
        }                                                                                          \
    }
#define RUNNING(s, T, A, FIELD)                                                                    \
    TOTALS(sum, s, T, A, FIELD, 0, ADD)                                                            \
    TOTALS(prod, s, T, A, FIELD, 1, MULTIPLY)                                                      \
    static void line_##s(lt_scan op, void *out, const void *in, int64_t n, lt_total *so_far)       \
    {                                                                                              \
        (op == LT_SCAN_SUM ? sum_line_##s : prod_line_##s)(out, in, n, so_far);                    \
    }                                                                                              \
    static void side_by_side_##s(lt_scan op, char *out, int64_t out_step, const char *in, int64_t in_step, \
                                 int64_t length, int64_t n, lt_total *so_far)                      \
    {                                                                                              \
        (op == LT_SCAN_SUM ? sum_across_##s : prod_across_##s)(out, out_step, in, in_step, length, n, so_far); \
    }
RUNNING(f32, float, double, d)
RUNNING(f64, double, double, d)
RUNNING(i64, uint64_t, uint64_t, u)

#define ROW(s) {find_##s, across_##s, follow_##s, line_##s, side_by_side_##s}
const lt_scan_loops LT_LOOP(scan)[LT_ROWS_I64 + 1] = {[LT_ROWS_F32] = ROW(f32), [LT_ROWS_F64] = ROW(f64),
                                                      [LT_ROWS_I64] = ROW(i64)};
