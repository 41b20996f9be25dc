/* forms.c - steps of generated wrappers around the sparse form of an op (sparse.h): get the values,
 * make a sparse tensor of the result, store it in a given tensor. */
#include "autograd/autograd.h"
#include "error.h"
#include "sparse.h"
#include "op/_sparse_like.h"
#include "op/_sparse_values.h"
#include "op/coalesce.h"
#include "op/copy_.h"

lt_status lt_sparse_open(lt_tensor *self, lt_tensor **pattern, lt_tensor **values)
{
    if (!lt_is_sparse(self))
        return lt_error(LT_ERR_RUNTIME,
                        "the other arguments of an operation on a sparse tensor may not be sparse");
    if (lt_sparse_of(self)->coalesced)
        *pattern = lt_tensor_retain(self);
    else
        LT_TRY(lt_coalesce(self, pattern));
    return lt__sparse_values(*pattern, values);
}

lt_status lt_sparse_close(lt_status status, lt_tensor *pattern, lt_tensor *values,
                          lt_tensor *result, lt_tensor **out)
{
    if (status == LT_OK) status = lt__sparse_like(pattern, result, out);
    lt_tensor_release(pattern);
    lt_tensor_release(values);
    lt_tensor_release(result);
    return status;
}

static lt_status store_inplace(const char *op, lt_tensor *written, lt_tensor *result)
{
    if (written == result) return LT_OK;
    if (lt_grad_mode_on() && (lt_requires_grad(written) || lt_requires_grad(result)))
        return lt_error(
            LT_ERR_RUNTIME,
            "%s_(): autograd does not support in-place operations with sparse tensors; use %s()",
            op, op);
    if (!lt_is_sparse(written) && !lt_is_sparse(result)) return lt_copy_(written, result, false);
    if (lt_tensor_layout(written) != lt_tensor_layout(result))
        return lt_error(LT_ERR_RUNTIME, "%s_(): the result has the layout %s, but self has %s", op,
                        lt_layout_name(lt_tensor_layout(result)),
                        lt_layout_name(lt_tensor_layout(written)));
    if (written->dtype != result->dtype || !lt_device_equal(written->device, result->device) ||
        !lt_same_sizes(written, result))
        return lt_error(LT_ERR_RUNTIME,
                        "%s_(): the shape, dtype or device of the result differs from self", op);
    lt_sparse_replace(written, result);
    lt_bump_version(written);
    return LT_OK;
}

lt_status lt_sparse_store_steal(const char *op, lt_tensor *written, lt_tensor *result)
{
    const lt_status status = store_inplace(op, written, result);
    lt_tensor_release(result);
    return status;
}
