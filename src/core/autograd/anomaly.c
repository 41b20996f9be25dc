/* anomaly.c - anomaly mode: the results of each node are checked for nan. The mode belongs to the
 * context. While it is on, each new node stores the source line that created it (node.c). */
#include "autograd/internal.h"
#include "user_index.h"
#include "devices/transfer.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "sparse.h"
#include "op/any.h"
#include "op/isnan.h"

static lt_status holds_nan(lt_tensor *t, bool *out)
{
    lt_tensor *marks = NULL, *any = NULL;
    lt_scalar found;
    lt_status status;
    bool grad_mode = lt_set_grad_enabled(false);
    LT_CHECK(lt_isnan(lt_is_sparse(t) ? lt_sparse_of(t)->values : t, &marks));
    LT_CHECK(lt_any(marks, &any));
    LT_CHECK(lt_tensor_item(any, &found));
    *out = found.v.i != 0;
done:
    lt_set_grad_enabled(grad_mode);
    lt_tensor_release(marks);
    lt_tensor_release(any);
    return status;
}

/* "0th", "1st". */
static const char *ending(long long n)
{
    return n == 1 ? "st" : n == 2 ? "nd" : n == 3 ? "rd" : "th";
}

lt_status lt_check_nan(const lt_node *node, lt_tensor *const *results, int n)
{
    for (int i = 0; i < n; i++) {
        bool nan = false;
        if (results[i] == NULL || !lt_dtype_is_inexact((lt_dtype)results[i]->dtype)) continue;
        LT_TRY(holds_nan(results[i], &nan));
        if (!nan) continue;
        const char *origin = node->origin;
        return lt_error(LT_ERR_RUNTIME,
                        "Function '%s' returned nan values in its %lld%s output.%s%s%s",
                        lt_node_name(node), lt_user_index(i), ending(lt_user_index(i)),
                        origin != NULL ? " Its forward operation was called at " : "",
                        origin != NULL ? origin : "", origin != NULL ? "." : "");
    }
    return LT_OK;
}
