/* int8.c - convolutions of 8-bit integers with 32-bit sums: by the backend, channels-last, or else
 * in double, where such sums are exact. */
#include "dtypes/dtype.h"
#include "error.h"
#include "ops/steps.h"
#include "ops/windows.h"
#include "op/_int8_convolution.h"
#include "op/convolution.h"
#include "op/movedim.h"

static lt_tensor *do_move(lt_scope *s, lt_tensor *t, int64_t from, int64_t to)
{
    lt_tensor *moved = NULL;
    if (t == NULL) return NULL;
    lt_status status = lt_movedim(t, &(lt_dims){1, {from}}, &(lt_dims){1, {to}}, &moved);
    return lt_scope_hold(s, status, moved);
}

/* NULL: the backend does not support it, or the scope has failed. */
static lt_tensor *by_backend(lt_scope *s, const lt_conv *c, lt_tensor *input, lt_tensor *weight)
{
    const lt_backend *backend = lt_backend_of(input);
    const int spatial = weight->ndim - 2;
    if (backend->int8_convolution == NULL || input->numel == 0 || weight->numel == 0) return NULL;
    lt_dims sizes = {.n = spatial + 2, .v = {c->batch}};
    for (int d = 0; d < spatial; d++) sizes.v[d + 1] = c->out[LT_SPATIAL - spatial + d];
    sizes.v[spatial + 1] = c->out_channels;
    lt_tensor *x = do_contiguous(s, do_move(s, input, 1, -1)), *w = do_contiguous(s, weight),
              *y = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_new(LT_INT32, c->device, sizes.n, sizes.v, &y);
    y = lt_scope_hold(s, status, y);
    if (y == NULL || y->numel == 0) return NULL;
    bool done = false;
    s->status = backend->int8_convolution(c, lt_data(x), lt_data(w), lt_data(y), &done);
    return s->status == LT_OK && done ? do_move(s, y, -1, 1) : NULL;
}

lt_status lt__int8_convolution_impl(lt_tensor *input, lt_tensor *weight, const lt_dims *stride,
                                    const lt_dims *dilation, int64_t groups, lt_tensor **out)
{
    lt_conv c;
    lt_scope s;
    lt_dims none = {.n = stride->n};
    if ((input->dtype != LT_UINT8 && input->dtype != LT_INT8) || weight->dtype != LT_INT8)
        return lt_error(LT_ERR_RUNTIME,
                        "_int8_convolution: expected an input of uint8 or int8 and a weight of "
                        "int8, got %s and %s",
                        lt_dtype_name((lt_dtype)input->dtype),
                        lt_dtype_name((lt_dtype)weight->dtype));
    const lt_conv_numbers numbers = {stride, &none, dilation, &none, groups, false, NULL};
    LT_TRY(lt_convolution_fit(input, weight, NULL, &numbers, &c));
    lt_scope_open(&s, LT_COMPOSITE(_int8_convolution));
    lt_tensor *y = by_backend(&s, &c, input, weight);
    if (y == NULL && s.status == LT_OK) {
        lt_tensor *sums = NULL, *x = do_cast(&s, input, LT_FLOAT64),
                  *w = do_cast(&s, weight, LT_FLOAT64);
        lt_status status = s.status == LT_OK ? lt_convolution(x, w, NULL, stride, &none, dilation,
                                                              false, &none, groups, &sums)
                                             : s.status;
        y = do_cast(&s, lt_scope_hold(&s, status, sums), LT_INT32);
    }
    return lt_scope_return(&s, y, out);
}
