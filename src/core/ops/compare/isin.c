/* isin.c - which elements are among others. */
#include "dtypes/promotion.h"
#include "ops/steps.h"
#include "op/any.h"
#include "op/clamp.h"
#include "op/isin.h"
#include "op/searchsorted.h"
#include "op/sort.h"
#include "step/take.h"

/* For as many comparisons, or more, the values are sorted first. */
#define COMPARISONS 4096

static lt_status refuse_dtype(const lt_tensor *t)
{
    const lt_dtype dtype = (lt_dtype)t->dtype;
    if (dtype != LT_BOOL && !lt_dtype_is_complex(dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "Unsupported input type encountered for isin(): %s",
                    lt_dtype_scalar_name(dtype));
}

static bool is_number(const lt_tensor *t) { return (t->flags & LT_FLAG_WRAPPED_NUMBER) != 0; }

/* Compares each element with each value. Numbers stay as they are, on no device. */
static lt_tensor *do_compare_all(lt_scope *s, lt_tensor *elements, lt_tensor *values)
{
    lt_tensor *each = is_number(elements) ? elements : do_unsqueeze(s, elements, -1);
    lt_tensor *found = NULL, *equal = do_eq(s, each, values);
    if (s->status != LT_OK) return NULL;
    const lt_status status = lt_any_dim(equal, &(lt_dims){1, {-1}}, false, &found);
    return lt_scope_hold(s, status, found);
}

/* Compares each element with the value at its place in the sorted values. */
static lt_tensor *do_search(lt_scope *s, lt_tensor *elements, lt_tensor *values)
{
    lt_tensor *sorted = NULL, *order = NULL, *places = NULL, *within = NULL;
    const lt_dtype dtype = lt_result_type((lt_tensor *[]){elements, values}, 2);
    lt_tensor *all = do_cast(s, values, dtype),
              *own = do_contiguous(s, do_cast(s, elements, dtype));
    lt_status status =
        s->status == LT_OK ? lt_sort(all, 0, false, false, &sorted, &order) : s->status;
    sorted = lt_scope_hold(s, status, sorted);
    lt_scope_hold(s, status, order);
    if (s->status != LT_OK) return NULL;
    status = lt_searchsorted(sorted, own, false, false, "left", NULL, &places);
    places = lt_scope_hold(s, status, places);
    if (s->status != LT_OK) return NULL;
    const lt_scalar last = lt_scalar_from_int(values->numel - 1);
    status = lt_clamp(places, NULL, &last, &within);
    within = lt_scope_hold(s, status, within);
    return do_eq(s, do_take(s, sorted, within), own);
}

lt_status lt_isin_impl(lt_tensor *elements, lt_tensor *test_elements, bool assume_unique,
                       bool invert, lt_tensor **out)
{
    (void)assume_unique;
    LT_TRY(refuse_dtype(elements));
    LT_TRY(refuse_dtype(test_elements));
    const lt_dims sizes = lt_dims_of(elements);
    lt_tensor *found;
    lt_scope s;
    lt_scope_open(&s, false);
    const bool numbers = is_number(elements) || is_number(test_elements);
    lt_tensor *values = is_number(test_elements) ? test_elements : do_flatten(&s, test_elements);
    if (values == NULL) return lt_scope_close(&s);
    if (values->numel == 0)
        found = do_cast(&s, do_zeros(&s, numbers ? values : elements, &sizes), LT_BOOL);
    else if (numbers || values->numel * elements->numel < COMPARISONS)
        found = do_compare_all(&s, elements, values);
    else
        found = do_search(&s, elements, values);
    return lt_scope_return(&s, invert ? do_logical_not(&s, found) : found, out);
}
