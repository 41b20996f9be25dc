/* promotion.c - see promotion.h. */
#include "promotion.h"

#include "dtype.h"
#include "tensor.h"

/* Ranks: a tensor with dims outranks a 0-dim one, which outranks a number, unless the lower rank is
 * of a higher category (bool < integer < float < complex). */
typedef struct ranks {
    lt_dtype dims, zero, wrapped; /* LT_DTYPE_NONE when there is none */
} ranks;

/* False, with lt_promote's error, if two dtypes of a rank have no common dtype. */
static bool add_rank(ranks *r, lt_dtype dtype, bool wrapped, int ndim)
{
    lt_dtype *slot = ndim > 0 ? &r->dims : wrapped ? &r->wrapped : &r->zero;
    if (wrapped && lt_dtype_is_float(dtype)) dtype = lt_get_default_dtype();
    if (wrapped && lt_dtype_is_complex(dtype)) dtype = lt_complex_of(lt_get_default_dtype());
    *slot = *slot == LT_DTYPE_NONE ? dtype : lt_promote(*slot, dtype);
    return *slot != LT_DTYPE_NONE;
}

static lt_dtype combine(lt_dtype higher, lt_dtype lower)
{
    if (higher == LT_DTYPE_NONE) return lower;
    if (lower == LT_DTYPE_NONE) return higher;
    /* the higher rank determines the width of the parts */
    if (lt_dtype_is_complex(lower) && lt_dtype_is_float(higher)) return lt_complex_of(higher);
    /* lt_promote has no result for two such dtypes */
    if (lt_dtype_is_complex(lower) && lt_dtype_is_unsigned(higher)) return lower;
    return lt_can_cast(lower, higher) ? higher : lt_promote(higher, lower);
}

lt_dtype lt_result_type(lt_tensor *const *tensors, int n)
{
    lt_dtype first = (lt_dtype)tensors[0]->dtype;
    if (n == 1) return first;
    bool plain = true;
    for (int i = 0; i < n && plain; i++)
        plain =
            (lt_dtype)tensors[i]->dtype == first && !(tensors[i]->flags & LT_FLAG_WRAPPED_NUMBER);
    if (plain) return first;
    ranks r = {LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE};
    for (int i = 0; i < n; i++)
        if (!add_rank(&r, (lt_dtype)tensors[i]->dtype, tensors[i]->flags & LT_FLAG_WRAPPED_NUMBER,
                      tensors[i]->ndim))
            return LT_DTYPE_NONE;
    return combine(r.dims, combine(r.zero, r.wrapped));
}

lt_dtype lt_result_type_scalar(const lt_tensor *t, lt_scalar s)
{
    ranks r = {LT_DTYPE_NONE, LT_DTYPE_NONE, LT_DTYPE_NONE};
    add_rank(&r, (lt_dtype)t->dtype, t->flags & LT_FLAG_WRAPPED_NUMBER, t->ndim);
    add_rank(&r, lt_scalar_dtype(s), true, 0);
    return combine(r.dims, combine(r.zero, r.wrapped));
}
