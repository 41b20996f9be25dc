/* check_values.c - searches for an element that an op does not accept: a probability above 1, a
 * divisor of 0. */
#include "cpu/cpu.h"
#include "error.h"

#define FIRST_BAD(T, IS_BAD)                                                                       \
    static int64_t first_bad_##T(const lt_value_check *c)                                          \
    {                                                                                              \
        const T *const v = c->data;                                                                \
        const T low = (T)c->low, high = (T)c->high;                                                \
        int bad = 0;                                                                               \
        (void)low;                                                                                 \
        (void)high;                                                                                \
        for (int64_t i = 0; i < c->n; i++) bad |= IS_BAD;                                          \
        if (!bad) return -1;                                                                       \
        for (int64_t i = 0; i < c->n; i++)                                                         \
            if (IS_BAD) return i;                                                                  \
        return -1;                                                                                 \
    }
FIRST_BAD(float, !(v[i] >= low && v[i] <= high))
FIRST_BAD(double, !(v[i] >= low && v[i] <= high))
FIRST_BAD(int64_t, v[i] == 0)
#undef FIRST_BAD

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
    int64_t i = c->dtype == LT_FLOAT32   ? first_bad_float(c)
                : c->dtype == LT_FLOAT64 ? first_bad_double(c)
                                         : first_bad_int64_t(c);
    if (i >= 0 && c->nan) i = next_number(c, i);
    if (i < 0) return LT_OK;
    if (!c->shown) return lt_error(LT_ERR_RUNTIME, "%s", c->text);
    const double v =
        c->dtype == LT_FLOAT32 ? ((const float *)c->data)[i] : ((const double *)c->data)[i];
    return lt_error(LT_ERR_RUNTIME, "%s%g", c->text, v);
}
