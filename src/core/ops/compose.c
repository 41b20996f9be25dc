/* compose.c - see compose.h. */
#include "compose.h"
#include "op/abs.h"
#include "op/add.h"
#include "op/bmm.h"
#include "op/clone.h"
#include "op/conj.h"
#include "op/contiguous.h"
#include "op/cos.h"
#include "op/div.h"
#include "op/eq.h"
#include "op/erf.h"
#include "op/exp.h"
#include "op/expand.h"
#include "op/floor_divide.h"
#include "op/ge.h"
#include "op/gt.h"
#include "op/isinf.h"
#include "op/isnan.h"
#include "op/le.h"
#include "op/log.h"
#include "op/log1p.h"
#include "op/logical_and.h"
#include "op/logical_not.h"
#include "op/logical_or.h"
#include "op/lt.h"
#include "op/matmul.h"
#include "op/maximum.h"
#include "op/minimum.h"
#include "op/mm.h"
#include "op/mul.h"
#include "op/ne.h"
#include "op/neg.h"
#include "op/pow.h"
#include "op/reshape.h"
#include "op/rsqrt.h"
#include "op/sigmoid.h"
#include "op/sign.h"
#include "op/sin.h"
#include "op/sqrt.h"
#include "op/square.h"
#include "op/squeeze.h"
#include "op/sub.h"
#include "op/sum.h"
#include "op/t.h"
#include "op/tanh.h"
#include "op/to.h"
#include "op/transpose.h"
#include "op/unsqueeze.h"
#include "op/where.h"

void lt_scope_open(lt_scope *s, bool records)
{
    s->status = LT_OK;
    s->n = 0;
    s->records = records;
    s->recorded_before = records ? true : lt_set_grad_enabled(false);
}

lt_status lt_scope_close(lt_scope *s)
{
    if (!s->records) lt_set_grad_enabled(s->recorded_before);
    while (s->n > 0) lt_tensor_release(s->held[--s->n]);
    return s->status;
}

lt_status lt_scope_give(lt_scope *s, lt_tensor *result, lt_tensor **out)
{
    if (s->status == LT_OK) lt_tensor_retain(result);
    lt_status status = lt_scope_close(s);
    if (status == LT_OK) *out = result;
    return status;
}

lt_status lt_scope_store(lt_scope *s, lt_tensor *result, lt_tensor **out)
{
    if (*out == NULL) return lt_scope_give(s, result, out);
    lt_tensor *given = *out;
    if (s->status == LT_OK)
        s->status = lt_output(&given, (lt_dtype)result->dtype, result->device, result->ndim, result->sizes);
    if (s->status == LT_OK) s->status = lt_copy_elements(given, result);
    return lt_scope_close(s);
}

lt_tensor *lt_scope_hold(lt_scope *s, lt_status status, lt_tensor *t)
{
    if (s->status == LT_OK) s->status = status; /* the first failure stays */
    if (s->status == LT_OK && s->n == LT_SCOPE_TENSORS)
        s->status = lt_error(LT_ERR_RUNTIME, "a formula holds at most %d temporaries", LT_SCOPE_TENSORS);
    if (s->status == LT_OK) return s->held[s->n++] = t;
    lt_tensor_release(t);
    return NULL;
}

/* ---- leaves ---------------------------------------------------------------------------------------------- */

lt_tensor *do_scalar(lt_scope *s, lt_scalar value)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_from_scalar(value, &out);
    return lt_scope_hold(s, status, out);
}

lt_tensor *do_number(lt_scope *s, double value) { return do_scalar(s, lt_float(value)); }

lt_tensor *do_zeros(lt_scope *s, const lt_tensor *like, const lt_dims *sizes)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_new((lt_dtype)like->dtype, like->device, sizes->n, sizes->v, &out);
    out = lt_scope_hold(s, status, out);
    if (out != NULL) s->status = lt_fill_value(out, lt_int(0));
    return s->status == LT_OK ? out : NULL;
}

lt_dims lt_dims_of(const lt_tensor *t)
{
    lt_dims dims = {.n = t->ndim};
    for (int d = 0; d < t->ndim; d++) dims.v[d] = t->sizes[d];
    return dims;
}

/* ---- steps ------------------------------------------------------------------------------------------------- */

#define STEP(call)                                                                                 \
    lt_tensor *out = NULL;                                                                         \
    if (s->status != LT_OK) return NULL;                                                           \
    lt_status status = call;                                                                       \
    return lt_scope_hold(s, status, out);

#define DEFINE_STEP(name)                                                                          \
    lt_tensor *do_##name(lt_scope *s, lt_tensor *a) { STEP(lt_##name(a, &out)) }
LT_UNARY_STEPS(DEFINE_STEP)
#undef DEFINE_STEP
#define DEFINE_STEP(name)                                                                          \
    lt_tensor *do_##name(lt_scope *s, lt_tensor *a, lt_tensor *b) { STEP(lt_##name(a, b, &out)) }
LT_BINARY_STEPS(DEFINE_STEP)
#undef DEFINE_STEP

lt_tensor *do_add(lt_scope *s, lt_tensor *a, lt_tensor *b) { STEP(lt_add(a, b, lt_int(1), &out)) }
lt_tensor *do_sub(lt_scope *s, lt_tensor *a, lt_tensor *b) { STEP(lt_sub(a, b, lt_int(1), &out)) }
lt_tensor *do_where(lt_scope *s, lt_tensor *condition, lt_tensor *a, lt_tensor *b)
{
    STEP(lt_where(condition, a, b, &out))
}
lt_tensor *do_sum(lt_scope *s, lt_tensor *a) { STEP(lt_sum(a, LT_DTYPE_NONE, &out)) }
lt_tensor *do_sum_dims(lt_scope *s, lt_tensor *a, const lt_dims *dims, bool keepdim)
{
    STEP(lt_sum_dim(a, dims, keepdim, LT_DTYPE_NONE, &out))
}
lt_tensor *do_sum_dim(lt_scope *s, lt_tensor *a, int64_t dim, bool keepdim)
{
    lt_dims dims = {.n = 1, .v = {dim}};
    return do_sum_dims(s, a, &dims, keepdim);
}
lt_tensor *do_unsqueeze(lt_scope *s, lt_tensor *a, int64_t dim) { STEP(lt_unsqueeze(a, dim, &out)) }
lt_tensor *do_squeeze(lt_scope *s, lt_tensor *a, int64_t dim) { STEP(lt_squeeze_dim(a, dim, &out)) }
lt_tensor *do_expand(lt_scope *s, lt_tensor *a, const lt_dims *sizes) { STEP(lt_expand(a, sizes, &out)) }
lt_tensor *do_reshape(lt_scope *s, lt_tensor *a, const lt_dims *sizes) { STEP(lt_reshape(a, sizes, &out)) }
lt_tensor *do_transpose(lt_scope *s, lt_tensor *a, int64_t dim0, int64_t dim1)
{
    STEP(lt_transpose(a, dim0, dim1, &out))
}
lt_tensor *do_cast(lt_scope *s, lt_tensor *a, lt_dtype dtype) { STEP(lt_to_dtype(a, dtype, false, false, &out)) }
#undef STEP

lt_tensor *do_widen(lt_scope *s, lt_tensor *a)
{
    if (s->status != LT_OK) return NULL;
    lt_dtype dtype = (lt_dtype)a->dtype;
    return dtype == LT_FLOAT16 || dtype == LT_BFLOAT16 ? do_cast(s, a, LT_FLOAT32) : a;
}

lt_tensor *do_narrow_to(lt_scope *s, lt_tensor *a, const lt_tensor *like)
{
    return s->status == LT_OK && a->dtype != like->dtype ? do_cast(s, a, (lt_dtype)like->dtype) : a;
}

lt_tensor *do_sum_to(lt_scope *s, lt_tensor *a, const lt_dims *sizes)
{
    lt_dims over = {.n = 0};
    if (s->status != LT_OK) return NULL;
    for (int d = a->ndim - 1, own = sizes->n - 1; d >= 0; d--, own--)
        if (own < 0 || (sizes->v[own] == 1 && a->sizes[d] != 1)) over.v[over.n++] = d;
    lt_tensor *sum = over.n > 0 ? do_sum_dims(s, a, &over, true) : a;
    return over.n > 0 || a->ndim != sizes->n ? do_reshape(s, sum, sizes) : a;
}

lt_tensor *do_restore_dims(lt_scope *s, lt_tensor *a, int ndim, const lt_dims *dims, bool keepdim)
{
    uint32_t mask;
    if (s->status != LT_OK) return NULL;
    if (keepdim) return a;
    s->status = lt_dims_mask(dims, ndim, &mask);
    lt_dims sizes = {.n = ndim};
    for (int d = 0, from = 0; d < ndim; d++) sizes.v[d] = mask >> d & 1 ? 1 : a->sizes[from++];
    return s->status == LT_OK ? do_reshape(s, a, &sizes) : NULL;
}
