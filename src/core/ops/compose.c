/* compose.c - see compose.h. */
#include "compose.h"
#include "batch/batch.h"
#include "op/sum.h"
#include "op/to.h"
#include "compile/trace.h"
#include "cpu_info.h"

void lt_scope_open(lt_scope *s, bool records)
{
    s->status = LT_OK;
    s->n = 0;
    s->made = 0;
    s->records = records;
    s->together = false;
    s->recorded_before = records ? true : lt_set_grad_enabled(false);
}

void lt_scope_open_together(lt_scope *s, bool records, const lt_tensor *like)
{
    /* elements with which the operands no longer stay in L2 from one step to the next */
    const int64_t least = lt_processor.l2 / 16;
    lt_scope_open(s, records);
    if (like->device.type != LT_CPU || like->numel < least || lt_tls.open_trace != NULL) return;
    s->status = lt_trace_open_within(least);
    s->together = s->status == LT_OK;
}

static int32_t refs_of(const lt_tensor *t)
{
    return atomic_load_explicit(&t->refs, memory_order_relaxed);
}

/* Without its base, a result that is a view of a temporary is as the results of kernels: autograd
 * permits to change it in place. */
static void drop_base(lt_tensor *t)
{
    if (t->view_base == NULL || lt_is_batched(t) || refs_of(t->view_base) != 1) return;
    lt_tensor_release(t->view_base);
    t->view_base = NULL;
    t->flags &= ~LT_FLAG_NO_GRAD_VIEW;
}

lt_status lt_scope_close(lt_scope *s)
{
    if (!s->records) lt_set_grad_enabled(s->recorded_before);
    int views = 0; /* results that are views */
    for (int i = 0; i < s->n; i++) {
        lt_tensor *t = s->held[i];
        if (s->made >> i & 1 && t->flags & LT_FLAG_NO_GRAD_VIEW && refs_of(t) > 1)
            s->held[views++] = t;
        else
            lt_tensor_release(t);
    }
    for (s->n = 0; views > 0; views--) {
        drop_base(s->held[views - 1]);
        lt_tensor_release(s->held[views - 1]);
    }
    if (s->together) {
        const lt_status status = lt_trace_close();
        if (s->status == LT_OK) s->status = status;
    }
    return s->status;
}

lt_status lt_scope_return(lt_scope *s, lt_tensor *result, lt_tensor **out)
{
    const bool made = s->status == LT_OK;
    if (made) lt_tensor_retain(result);
    lt_status status = lt_scope_close(s);
    if (status == LT_OK)
        *out = result;
    else if (made)
        lt_tensor_release(result);
    return status;
}

lt_status lt_scope_store(lt_scope *s, lt_tensor *result, lt_tensor **out)
{
    if (*out == NULL) return lt_scope_return(s, result, out);
    lt_scope_put(s, result, out);
    return lt_scope_close(s);
}

void lt_scope_put(lt_scope *s, lt_tensor *result, lt_tensor **out)
{
    lt_tensor *given = *out;
    if (s->status != LT_OK) return;
    if (given == NULL) {
        *out = lt_tensor_retain(result);
        return;
    }
    if (given->storage == result->storage && given->offset == result->offset &&
        lt_same_geometry(given, result))
        return;
    s->status =
        lt_output(&given, (lt_dtype)result->dtype, result->device, result->ndim, result->sizes);
    if (s->status == LT_OK) s->status = lt_copy_elements(given, result);
}

lt_tensor *lt_scope_target(lt_scope *s, lt_tensor *const *out, lt_dtype dtype, lt_device device,
                           const lt_dims *sizes, const lt_dims *view)
{
    lt_tensor *given = *out, *target = NULL;
    int64_t strides[LT_MAX_DIMS];
    if (given == NULL || s->status != LT_OK) return NULL;
    s->status = lt_output(&given, dtype, device, sizes->n, sizes->v);
    if (s->status != LT_OK || (lt_dtype)given->dtype != dtype || !lt_is_contiguous(given))
        return NULL;
    if (view == NULL) return given;
    lt_contiguous_strides(view->n, view->v, strides);
    const lt_status status =
        lt_tensor_view(given, view->n, view->v, strides, given->offset, &target);
    return lt_scope_hold(s, status, target);
}

lt_tensor *lt_scope_hold(lt_scope *s, lt_status status, lt_tensor *t)
{
    if (s->status == LT_OK) s->status = status; /* keep the first failure */
    if (s->status == LT_OK && s->n == LT_SCOPE_TENSORS)
        s->status =
            lt_error(LT_ERR_RUNTIME, "a formula holds at most %d temporaries", LT_SCOPE_TENSORS);
    if (s->status == LT_OK) {
        if (t != NULL && refs_of(t) == 1) s->made |= UINT64_C(1) << s->n;
        return s->held[s->n++] = t;
    }
    lt_tensor_release(t);
    return NULL;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

lt_tensor *do_scalar(lt_scope *s, lt_scalar value)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_from_scalar(value, &out);
    return lt_scope_hold(s, status, out);
}

lt_tensor *do_number(lt_scope *s, double value)
{
    return do_scalar(s, lt_scalar_from_float(value));
}

lt_tensor *do_zeros(lt_scope *s, const lt_tensor *like, const lt_dims *sizes)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    if (lt_is_batched(like)) {
        const lt_status made = lt_batch_zeros(like, sizes, &out);
        return lt_scope_hold(s, made, out);
    }
    lt_status status = lt_tensor_new((lt_dtype)like->dtype, like->device, sizes->n, sizes->v, &out);
    out = lt_scope_hold(s, status, out);
    if (out != NULL) s->status = lt_fill_value(out, lt_scalar_from_int(0));
    return s->status == LT_OK ? out : NULL;
}

/* ---- steps ----------------------------------------------------------------------------------- */

#define STEP(call)                                                                                 \
    lt_tensor *out = NULL;                                                                         \
    if (s->status != LT_OK) return NULL;                                                           \
    lt_status status = call;                                                                       \
    return lt_scope_hold(s, status, out);

lt_tensor *do_sum_dims(lt_scope *s, lt_tensor *a, const lt_dims *dims, bool keepdim){
    STEP(lt_sum_dim(a, dims, keepdim, LT_DTYPE_NONE, &out))} lt_tensor *do_sum_dim(lt_scope *s,
                                                                                   lt_tensor *a,
                                                                                   int64_t dim,
                                                                                   bool keepdim)
{
    lt_dims dims = {.n = 1, .v = {dim}};
    return do_sum_dims(s, a, &dims, keepdim);
}
lt_tensor *do_cast(lt_scope *s, lt_tensor *a,
                   lt_dtype dtype){STEP(lt_to_dtype(a, dtype, false, false, &out))}
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
