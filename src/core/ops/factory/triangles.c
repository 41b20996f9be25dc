/* triangles.c - the positions of the elements in a triangle of a matrix. */
#include "saturating.h"
#include "context/interrupt.h"
#include "ops/steps.h"
#include "op/to.h"
#include "op/tril_indices.h"
#include "op/triu_indices.h"

/* Columns [from, to) of row i: left of the cut (tril) or from it on. */
static void row_range(bool lower, int64_t i, int64_t columns, int64_t offset, int64_t *from,
                      int64_t *to)
{
    int64_t cut = lt_add_within(i, offset);
    if (lower) cut = lt_add_within(cut, 1);
    cut = cut < 0 ? 0 : cut > columns ? columns : cut;
    *from = lower ? 0 : cut;
    *to = lower ? cut : columns;
}

/* The number of elements left of the cut in the first `rows` rows. The cut is at column `cut` in
 * the first row and moves right by one per row. */
static int64_t left_of_cut(int64_t rows, int64_t columns, int64_t cut)
{
    const int64_t none = cut < 0 ? lt_sub_within(0, cut) : 0; /* rows without elements */
    if (none >= rows) return 0;
    const int64_t first = cut < 0         ? 0
                          : cut < columns ? cut
                                          : columns,
                  growing = columns - first, left = rows - none;
    /* rows of first, first + 1 ... elements */
    const int64_t partly = growing < left ? growing : left;
    const int64_t sum =
        partly % 2 == 0 ? lt_mul_sat(partly / 2, lt_add_sat(first, lt_add_sat(first, partly - 1)))
                        : lt_mul_sat(partly, lt_add_sat(first, (partly - 1) / 2));
    return lt_add_sat(partly > 0 ? sum : 0, lt_mul_sat(left - partly, columns));
}

static int64_t count_positions(bool lower, int64_t rows, int64_t columns, int64_t offset)
{
    if (lower) return left_of_cut(rows, columns, lt_add_within(offset, 1));
    const int64_t last = lt_sub_within(columns, offset); /* rows from here on have no elements */
    if (last < rows) rows = last > 0 ? last : 0;
    const int64_t all = lt_mul_sat(rows, columns);
    return all == LT_TOO_MUCH ? all : all - left_of_cut(rows, columns, offset);
}

static lt_status triangle_positions(bool lower, int64_t rows, int64_t columns, int64_t offset,
                                    lt_dtype dtype, const lt_device *device, lt_tensor **out)
{
    if (rows < 0)
        return lt_error(LT_ERR_RUNTIME, "row must be non-negative, got %lld", (long long)rows);
    if (columns < 0)
        return lt_error(LT_ERR_RUNTIME, "col must be non-negative, got %lld", (long long)columns);
    const int64_t n = count_positions(lower, rows, columns, offset);
    int64_t numel, from, to, at = 0;
    LT_TRY(lt_check_sizes(2, (int64_t[]){2, n}, &numel));
    lt_tensor *host = NULL;
    lt_scope s;
    lt_scope_open(&s, false);
    const lt_status made = lt_tensor_new(LT_INT64, lt_host, 2, (int64_t[]){2, n}, &host);
    host = lt_scope_hold(&s, made, host);
    int64_t *const values = s.status == LT_OK ? (int64_t *)lt_data(host) : NULL;
    /* from the first row with elements; the last ones may have none */
    const int64_t first = lower && offset < 0 ? lt_sub_within(0, lt_add_within(offset, 1)) : 0;
    for (int64_t i = first; s.status == LT_OK && at < n; i++) {
        row_range(lower, i, columns, offset, &from, &to);
        while (from < to && s.status == LT_OK) {
            const int64_t some = to - from < LT_INTERRUPT_STEP ? to - from : LT_INTERRUPT_STEP;
            int64_t *const row = values + at, *const column = row + n;
            _Pragma("omp simd") for (int64_t j = 0; j < some; j++) row[j] = i;
            _Pragma("omp simd") for (int64_t j = 0; j < some; j++) column[j] = from + j;
            at += some;
            from += some;
            if (lt_interrupted()) s.status = lt_stopped();
        }
    }
    if (s.status != LT_OK) return lt_scope_return(&s, NULL, out);
    lt_tensor *result = NULL;
    const lt_status sent = lt_to(host, device != NULL ? device : &lt_host,
                                 dtype != LT_DTYPE_NONE ? dtype : LT_INT64, false, false, &result);
    return lt_scope_return(&s, lt_scope_hold(&s, sent, result), out);
}

lt_status lt_tril_indices_impl(int64_t row, int64_t col, int64_t offset, lt_dtype dtype,
                               const lt_device *device, lt_tensor **out)
{
    return triangle_positions(true, row, col, offset, dtype, device, out);
}

lt_status lt_triu_indices_impl(int64_t row, int64_t col, int64_t offset, lt_dtype dtype,
                               const lt_device *device, lt_tensor **out)
{
    return triangle_positions(false, row, col, offset, dtype, device, out);
}
