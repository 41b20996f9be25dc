/* outs.c - see outs.h. */
#include "ops/outs.h"

#include "autograd/autograd.h"
#include "autograd/dual.h"
#include "autograd/forward.h"
#include "devices/device.h"
#include "dtypes/dtype.h"
#include "op/clone.h"
#include "op/copy_.h"
#include "ops/shape/backward.h"
#include "overlap.h"

/* All checks that are possible before anything is written. */
static lt_status check_out(const char *op, const lt_tensor *result, const lt_tensor *out)
{
    if (lt_is_batched(result) || lt_is_batched(out))
        return lt_error(LT_ERR_RUNTIME,
                        "vmap: %s() with out= is not possible for batched tensors: use its result",
                        op);
    if (lt_tls.duals != 0 && (lt_is_dual(result) || lt_is_dual(out))) return lt_refuse_dual_out(op);
    if (lt_grad_mode_on() && (lt_requires_grad(result) || lt_requires_grad(out)))
        return lt_refuse_out(op);
    LT_TRY(lt_check_output(out, (lt_dtype)result->dtype, result->device));
    LT_TRY(lt_prepare_write(out));
    return lt_is_sparse(out) ? LT_OK : lt_refuse_overlap(out);
}

/* A result may be a view of the argument that is also out. */
static lt_status store_out(lt_tensor *result, lt_tensor *out)
{
    const uint8_t role = out->role;
    lt_tensor *aside = NULL;
    lt_status status = LT_OK;
    if (result == out) return LT_OK;
    out->role |= LT_ROLE_RESIZABLE;
    if (!lt_is_sparse(out) && result->storage == out->storage) {
        LT_CHECK(lt_clone(result, &aside));
        result = aside;
    }
    if (!lt_is_sparse(out))
        LT_CHECK(
            lt_output(&out, (lt_dtype)result->dtype, result->device, result->ndim, result->sizes));
    LT_CHECK(lt_copy_(out, result, false));
done:
    out->role = role;
    lt_tensor_release(aside);
    return status;
}

lt_status lt_check_out_count(const char *op, int n, const lt_tensor_list *outs)
{
    if (outs->n == n) return LT_OK;
    return lt_error(LT_ERR_TYPE,
                    "%s(): expected %d tensor%s in out=, one for each result, but got %lld", op, n,
                    n == 1 ? "" : "s", (long long)outs->n);
}

static lt_status store_all(const char *op, bool exact, int n, lt_tensor *const *results,
                           const lt_tensor_list *outs)
{
    LT_TRY(lt_check_out_count(op, n, outs));
    for (int i = 0; i < n; i++) {
        if (results[i] == NULL) continue;
        if (exact) LT_TRY(lt_check_exact((lt_dtype)results[i]->dtype, outs->v[i]));
        LT_TRY(check_out(op, results[i], outs->v[i]));
        for (int earlier = 0; earlier < i; earlier++)
            LT_TRY(lt_refuse_sharing(outs->v[i], outs->v[earlier]));
    }
    for (int i = 0; i < n; i++)
        if (results[i] != NULL) LT_TRY(store_out(results[i], outs->v[i]));
    return LT_OK;
}

lt_status lt_store_outs(const char *op, int n, lt_tensor *const *results,
                        const lt_tensor_list *outs)
{
    return store_all(op, false, n, results, outs);
}

lt_status lt_store_exact_outs(const char *op, int n, lt_tensor *const *results,
                              const lt_tensor_list *outs)
{
    return store_all(op, true, n, results, outs);
}

lt_status lt_store_in_place(const char *op, lt_tensor *result, bool keeps_dtype, lt_tensor *self)
{
    lt_status status = lt_check_output(self, (lt_dtype)result->dtype, self->device);
    if (status == LT_OK && keeps_dtype && result->dtype != self->dtype)
        status = lt_error(LT_ERR_RUNTIME,
                          "the base given to %s has dtype torch.%s but the operation's result "
                          "requires dtype torch.%s",
                          op, lt_dtype_name((lt_dtype)self->dtype),
                          lt_dtype_name((lt_dtype)result->dtype));
    if (status == LT_OK && result != self) status = lt_copy_(self, result, false);
    lt_tensor_release(result);
    return status;
}
