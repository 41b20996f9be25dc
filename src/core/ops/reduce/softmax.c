/* softmax.c - softmax, log_softmax and their derivatives: kernels for forward and backward, and
 * formulas for second derivatives. */
#include "compile/trace.h"
#include "ops/compose.h"
#include "ops/pointwise.h"
#include "op/_log_softmax_backward.h"
#include "op/_log_softmax_double_backward.h"
#include "op/_log_softmax_transposed.h"
#include "op/_softmax_backward.h"
#include "op/_softmax_double_backward.h"
#include "op/log_softmax.h"
#include "op/softmax.h"

/* ---- calls of kernels ------------------------------------------------------------------------ */

typedef struct softmax_kernel {
    const lt_backend *backend;
    bool log;
    int dim;
    lt_array out, in; /* in: the gradient in backward */
    lt_array result;  /* forward's result; data NULL: this is forward */
} softmax_kernel;

static lt_status softmax_producer(const void *context, const lt_fused_producer *producer)
{
    const softmax_kernel *k = context;
    lt_array in = k->in;
    in.producer = producer;
    if (k->result.data == NULL) return k->backend->softmax(k->log, &k->out, &in, k->dim);
    return k->backend->softmax_backward(k->log, &k->out, &in, &k->result, k->dim);
}

/* Fills out; result: forward's, or NULL. */
static lt_status run_softmax_kernel(bool log, lt_tensor *out, lt_tensor *in, lt_tensor *result,
                                    int d)
{
    static const char *const names[2][2] = {{"softmax", "log_softmax"},
                                            {"softmax_backward", "log_softmax_backward"}};
    const char *const name = names[result != NULL][log];
    if (out->numel == 0) return LT_OK;
    const bool fused = d == in->ndim - 1 && lt_trace_fuses_rows(in, in->sizes[d]);
    if (!fused) LT_TRY(lt_materialize(name, in));
    softmax_kernel k = {.backend = lt_backend_of(out),
                        .log = log,
                        .dim = d,
                        .out = lt_slice_array_of(out),
                        .in = lt_slice_array_of(in)};
    if (result != NULL) k.result = lt_slice_array_of(result);
    return fused ? lt_trace_consume(name, in, false, softmax_producer, &k)
                 : softmax_producer(&k, NULL);
}

/* ---- forward --------------------------------------------------------------------------------- */

static lt_status normalize(bool log, lt_tensor *self, int64_t dim, lt_dtype dtype, lt_tensor **out)
{
    int d;
    lt_dtype read = dtype != LT_DTYPE_NONE ? dtype : (lt_dtype)self->dtype;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (!lt_dtype_is_float(read))
        return lt_error(LT_ERR_RUNTIME,
                        "\"%ssoftmax_lastdim_kernel_impl\" not implemented for '%s'",
                        log ? "log_" : "", lt_dtype_scalar_name(read));
    lt_tensor *in = NULL, *work = NULL;
    lt_status status;
    LT_CHECK(lt_cast(self, read, &in));
    LT_CHECK(lt_begin_output(out, read, self->device, self->ndim, self->sizes, &work));
    LT_CHECK(run_softmax_kernel(log, work, in, NULL, d));
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(in);
    lt_tensor_release(work);
    return status;
}

lt_status lt_softmax_impl(lt_tensor *self, int64_t dim, lt_dtype dtype, lt_tensor **out)
{
    return normalize(false, self, dim, dtype, out);
}

lt_status lt_log_softmax_impl(lt_tensor *self, int64_t dim, lt_dtype dtype, lt_tensor **out)
{
    return normalize(true, self, dim, dtype, out);
}

/* ---- backward -------------------------------------------------------------------------------- */

static lt_status do_softmax_backward(bool log, lt_tensor *grad_output, lt_tensor *output,
                                     int64_t dim, lt_tensor **out)
{
    int d;
    lt_device device;
    LT_TRY(lt_check_same_device("softmax_backward", (lt_tensor *[]){grad_output, output}, 2, false,
                                &device));
    LT_TRY(lt_wrap_dim(dim, output->ndim, &d));
    lt_tensor *grad = NULL, *work = NULL;
    lt_status status;
    LT_CHECK(lt_cast(grad_output, (lt_dtype)output->dtype, &grad));
    LT_CHECK(
        lt_begin_output(out, (lt_dtype)output->dtype, device, output->ndim, output->sizes, &work));
    LT_CHECK(run_softmax_kernel(log, work, grad, output, d));
    status = lt_finish_output(out, work);
    work = NULL;
done:
    lt_tensor_release(grad);
    lt_tensor_release(work);
    return status;
}

lt_status lt__softmax_backward_impl(lt_tensor *grad_output, lt_tensor *output, int64_t dim,
                                    lt_tensor **out)
{
    return do_softmax_backward(false, grad_output, output, dim, out);
}

lt_status lt__log_softmax_backward_impl(lt_tensor *grad_output, lt_tensor *output, int64_t dim,
                                        lt_tensor **out)
{
    return do_softmax_backward(true, grad_output, output, dim, out);
}

/* ---- derivatives of backward ----------------------------------------------------------------- */

lt_status lt__softmax_double_backward_impl(lt_tensor *grad, lt_tensor *grad_output,
                                           lt_tensor *output, int64_t dim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_softmax_double_backward));
    lt_tensor *inner =
        do_sub(&s, grad_output, do_sum_dim(&s, do_mul(&s, grad_output, output), dim, true));
    lt_tensor *outer = do_mul(&s, grad_output, do_sum_dim(&s, do_mul(&s, grad, output), dim, true));
    return lt_scope_return(&s, do_sub(&s, do_mul(&s, grad, inner), outer), out);
}

lt_status lt__log_softmax_transposed_impl(lt_tensor *grad, lt_tensor *output, int64_t dim,
                                          lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_log_softmax_transposed));
    lt_tensor *sum = do_sum_dim(&s, do_mul(&s, grad, do_exp(&s, output)), dim, true);
    return lt_scope_return(&s, do_sub(&s, grad, sum), out);
}

lt_status lt__log_softmax_double_backward_impl(lt_tensor *grad, lt_tensor *grad_output,
                                               lt_tensor *output, int64_t dim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_log_softmax_double_backward));
    lt_tensor *sum = do_sum_dim(&s, grad_output, dim, true);
    return lt_scope_return(&s, do_neg(&s, do_mul(&s, do_mul(&s, grad, do_exp(&s, output)), sum)),
                           out);
}
