/* check_values.c - searches for an element that an op does not accept: a probability above 1, a
 * divisor of 0. */
#include "cpu/cpu.h"
#include "error.h"

#define LOOPS "cpu/pointwise/first_outside.inc"
#include "cpu/common/both_floats.h"

/* The index of the first 0; -1: there is none. */
static int64_t first_zero(const lt_value_check *c)
{
    const int64_t *const v = c->data;
    int bad = 0;
    for (int64_t i = 0; i < c->n; i++) bad |= v[i] == 0;
    if (!bad) return -1;
    for (int64_t i = 0; i < c->n; i++)
        if (v[i] == 0) return i;
    return -1;
}

/* The next element that is bad if nan is allowed. */
static int64_t next_number(const lt_value_check *c, int64_t i)
{
    for (; i < c->n; i++) {
        const double v =
            c->dtype == LT_FLOAT32 ? ((const float *)c->data)[i] : ((const double *)c->data)[i];
        if (v < c->low || v > c->high) return i;
    }
    return -1;
}

lt_status lt_cpu_check_values(const lt_value_check *c)
{
    int64_t i = c->dtype == LT_FLOAT32   ? first_outside_f32(c)
                : c->dtype == LT_FLOAT64 ? first_outside_f64(c)
                                         : first_zero(c);
    if (i >= 0 && c->nan) i = next_number(c, i);
    if (i < 0) return LT_OK;
    if (!c->shown) return lt_error(LT_ERR_RUNTIME, "%s", c->text);
    const double v =
        c->dtype == LT_FLOAT32 ? ((const float *)c->data)[i] : ((const double *)c->data)[i];
    return lt_error(LT_ERR_RUNTIME, "%s%g", c->text, v);
}
