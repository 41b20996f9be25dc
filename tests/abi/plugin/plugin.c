/* plugin.c - a plugin of every version of the plugin interface: compiled with the headers that a
 * version had (tests/abi/plugin/<version>), loaded by the library of today. It calls each function
 * of the table. If defined, ABI and MORE are the version and the bytes beyond the table that it
 * claims to need, and NAMESPACE is the namespace of its operations. C99.
 *
 * tests/abi/plugin/<version>/plugin.so is this file, compiled for x86-64 when the version was
 * current. Do not compile it again:
 *
 *   cc -std=c99 -Os -s -shared -fPIC -Itests/abi/plugin/1 tests/abi/plugin/plugin.c \
 *      -o tests/abi/plugin/1/plugin.so */
#include "ltensor_plugin.h"

#include <string.h>

#ifndef NAMESPACE
#define NAMESPACE "frozen"
#endif

static const lt_plugin_api *lt;

static lt_status scaled(const lt_tensor *x, double factor, lt_tensor **out)
{
    const int64_t n = lt->tensor_numel(x);
    const double *from;
    double *to;
    int64_t i;
    lt_status status;
    if (lt->tensor_dtype(x) != LT_FLOAT64 || !lt->tensor_is_contiguous(x) ||
        lt->tensor_layout(x) != LT_STRIDED || lt->tensor_device(x).type != LT_CPU)
        return lt->op_error(LT_ERR_RUNTIME, NAMESPACE "::scale: expected contiguous float64 on the CPU");
    status = lt->tensor_new(LT_FLOAT64, lt->tensor_device(x), lt->tensor_ndim(x), lt->tensor_sizes(x), out);
    if (status != LT_OK) return status;
    from = (const double *)lt->tensor_data(x);
    to = (double *)lt->tensor_data(*out);
    for (i = 0; i < n; i++) to[i] = from[i] * factor;
    return LT_OK;
}

static lt_status scale(void *user, const lt_value *args, int nargs, lt_value *results, int nresults)
{
    (void)user, (void)nargs, (void)nresults;
    results[0] = lt_value_tensor(NULL);
    return scaled(args[0].v.tensor, args[1].v.d, &results[0].v.tensor);
}

/* By lt_call, so that it is differentiable. */
static lt_status scale_derivative(void *user, const lt_op_gradient *g)
{
    lt_value args[2], result = lt_value_none();
    int n = 1;
    lt_status status;
    (void)user;
    if (!g->needs[0]) return LT_OK;
    args[0] = lt_value_tensor(g->grads[0]), args[1] = g->args[1];
    status = lt->call(NAMESPACE "::scale", args, 2, NULL, 0, &result, &n);
    if (status == LT_OK) g->input_grads[0] = lt->tensor_retain(result.v.tensor);
    lt->value_release(&result);
    return status;
}

/* The bytes of an element, and whether everything else in the table does what its name says. */
static lt_status facts(void *user, const lt_value *args, int nargs, lt_value *results, int nresults)
{
    const int64_t size = 2, stride = 1;
    double numbers[2] = {1, 2}, copy[2] = {0, 0};
    lt_device host = {LT_CPU, 0};
    lt_tensor *t = NULL, *f = NULL;
    lt_scalar item;
    bool before, right;
    (void)user, (void)nargs, (void)nresults;
    right = lt->tensor_wrap_strided(numbers, LT_FLOAT64, host, 1, &size, &stride, NULL, NULL, &t) == LT_OK;
    right = right && lt->tensor_strides(t)[0] == 1 && !lt->tensor_requires_grad(t);
    right = right && lt->tensor_copy_to(t, copy, sizeof copy) == LT_OK && copy[1] == 2;
    right = right && lt->tensor_copy_from(t, copy, sizeof copy) == LT_OK;
    right = right && lt->tensor_item(t, &item) != LT_OK && strlen(lt->error_message()) > 0;
    right = right && lt->tensor_to(t, LT_FLOAT32, NULL, &f) == LT_OK && lt->tensor_dtype(f) == LT_FLOAT32;
    right = right && lt->device_synchronize(host) == LT_OK && strcmp(lt->dtype_name(LT_FLOAT32), "float32") == 0;
    before = lt->set_grad_enabled(false);
    lt->set_grad_enabled(before);
    lt->tensor_release(t);
    lt->tensor_release(f);
    results[0] = lt_value_int((int64_t)lt->dtype_size(lt->tensor_dtype(args[0].v.tensor)));
    results[1] = lt_value_bool(right);
    results[2] = lt_value_tensors(1, lt->op_allocate(1));
    if (results[2].v.tensors.v == NULL) return LT_ERR_MEMORY;
    return scaled(args[0].v.tensor, 1, &results[2].v.tensors.v[0]);
}

LT_PLUGIN lt_status lt_plugin_open(const lt_plugin_api *api)
{
    lt_op_definition d;
    lt = api;
    if (api->size < sizeof *api || api->abi < LT_PLUGIN_ABI || api->version == NULL) return LT_ERR_RUNTIME;
    d = lt_op_definition_of(NAMESPACE "::scale(Tensor x, float factor=2) -> Tensor", scale);
    d.derivative = scale_derivative;
    d.saves = "";
    if (api->op_register(&d) != LT_OK) return LT_ERR_RUNTIME;
    d = lt_op_definition_of(NAMESPACE "::facts(Tensor x) -> (int, bool, Tensor[])", facts);
    return api->op_register(&d);
}

#ifndef ABI
#define ABI LT_PLUGIN_ABI
#endif
#ifndef MORE
#define MORE 0
#endif
LT_API const lt_plugin_info lt_plugin_declared = {ABI, (uint32_t)sizeof(lt_plugin_api) + MORE};
