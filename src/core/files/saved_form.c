/* saved_form.c - see saved_form.h. */
#include "saved_form.h"

#include "autograd/autograd.h"
#include "devices/copies.h"
#include "error.h"
#include "sparse.h"
#include "compile/deferred.h"
#include "tensor.h"
#include "op/_to_copy.h"
#include "op/contiguous.h"

lt_status lt_saved_form(lt_tensor *t, lt_tensor **out)
{
    lt_status status = LT_OK;
    lt_tensor *host = NULL;
    LT_TRY(lt_require_strided("save", t));
    LT_TRY(lt_materialize("save", t));
    lt_copy_cause previous = lt_copies_set_cause((lt_copy_cause){"save", false});
    bool grad = lt_set_grad_enabled(false);
    if (t->device.type == LT_CPU)
        host = lt_tensor_retain(t);
    else
        LT_CHECK(lt__to_copy(t, LT_DTYPE_NONE, &lt_host, false, &host));
    *out = NULL;
    LT_CHECK(lt_contiguous(host, out));
done:
    lt_tensor_release(host);
    lt_set_grad_enabled(grad);
    lt_copies_set_cause(previous);
    return status;
}
