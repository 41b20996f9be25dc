/* docs/guide/extending.md: Register it in a host */
#include <stdio.h>

#include "ltensor.h"

static lt_status price(void *model, const lt_value *args, int nargs, lt_value *results,
                       int nresults)
{
    lt_tensor *rate = NULL;
    (void)nargs, (void)nresults;
    results[0] = lt_value_tensor(NULL);
    lt_status status = lt_tensor_from_scalar(lt_scalar_from_float(*(double *)model), &rate);
    if (status == LT_OK) status = lt_mul(args[0].v.tensor, rate, &results[0].v.tensor);
    lt_tensor_release(rate);
    return status;
}

static lt_status price_derivative(void *model, const lt_op_gradient *call)
{
    lt_tensor *rate = NULL;
    lt_status status = lt_tensor_from_scalar(lt_scalar_from_float(*(double *)model), &rate);
    if (status == LT_OK) status = lt_mul(call->grads[0], rate, &call->input_grads[0]);
    lt_tensor_release(rate);
    return status;
}

int main(void)
{
    double model = 3;
    lt_scalar slope = {0};
#include "block.inc"
    lt_tensor *x = NULL;
    lt_value arg, result = lt_value_none();
    int n = 1;
    lt_full(&(lt_dims){0}, lt_scalar_from_float(2), LT_FLOAT64, NULL, &x);
    lt_tensor_set_requires_grad(x, true);
    arg = lt_value_tensor(x);
    lt_call("host::price", &arg, 1, NULL, 0, &result, &n);
    lt_backward(result.v.tensor, NULL, false, false);
    lt_tensor_item(lt_tensor_grad(x), &slope);
    lt_value_release(&result);
    lt_tensor_release(x);
    lt_op_unregister("host::price");
    return slope.v.d == 3 ? 0 : 1;
}
