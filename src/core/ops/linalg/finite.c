/* finite.c - rejects matrices with nan or infinities, on every device: each library's algorithms
 * would process them in a different way. */
#include "linalg.h"

#include "devices/copies.h"
#include "op/argmax.h"
#include "step/isfinite.h"
#include "step/isnan.h"

/* Closes the scope. Fails with message if a flag is set. */
static lt_status refuse_any(lt_scope *s, const char *op, lt_tensor *flags, const char *message)
{
    bool found = false;
    const lt_copy_cause previous = lt_copies_imply(op);
    s->status = lt_any_set(s, flags, &found);
    lt_copies_set_cause(previous);
    LT_TRY(lt_scope_close(s));
    return found ? lt_error(LT_ERR_RUNTIME, "%s", message) : LT_OK;
}

lt_status lt_linalg_refuse_nan(const char *op, lt_tensor *a, const char *message)
{
    lt_scope s;
    if (a->numel == 0) return LT_OK;
    lt_scope_open(&s, false);
    return refuse_any(&s, op, do_isnan(&s, a), message);
}

lt_status lt_linalg_refuse_infinite(const char *op, lt_tensor *a, const char *message)
{
    lt_scope s;
    if (a->numel == 0) return LT_OK;
    lt_scope_open(&s, false);
    return refuse_any(&s, op, do_logical_not(&s, do_isfinite(&s, a)), message);
}

lt_tensor *do_first_nan(lt_scope *s, lt_tensor *factors)
{
    const int64_t last = -1;
    lt_tensor *first = NULL,
              *bad = do_cast(s, do_isnan(s, do_diagonal(s, factors, 0, -2, -1)), LT_INT32);
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_argmax(bad, &last, false, &first);
    first = lt_scope_hold(s, status, first);
    lt_tensor *order = do_add(s, do_cast(s, first, LT_INT32), do_scalar(s, lt_scalar_from_int(1)));
    return do_cast(s, do_mul(s, order, do_select(s, do_largest(s, bad), -1, 0)), LT_INT32);
}
