/* pointwise.c - see pointwise.h. */
#include "pointwise.h"

#include <string.h>

#include "backend.h"
#include "dtype.h"
#include "error.h"
#include "fits.h"
#include "iter.h"

#define MAX_INPUTS 4

static const char *const names[LT_PW_COUNT] = {
#define NAME(ENUM, name) [LT_PW_##ENUM] = #name,
    LT_POINTWISE_LIST(NAME)
#undef NAME
};

const char *lt_pointwise_name(lt_pointwise op) { return names[op]; }

lt_status lt_cast(lt_tensor *t, lt_dtype dtype, lt_tensor **out)
{
    if ((lt_dtype)t->dtype == dtype) {
        *out = lt_tensor_retain(t);
        return LT_OK;
    }
    lt_tensor *cast = NULL;
    LT_TRY(lt_tensor_like(t, dtype, t->device, &cast));
    lt_tensor *operands[] = {cast, t};
    lt_iter it;
    lt_status status = lt_iter_elementwise(&it, operands, 2);
    if (status == LT_OK && it.numel > 0) status = lt_backend_of(cast)->copy(&it);
    if (status != LT_OK) {
        lt_tensor_release(cast);
        return status;
    }
    *out = cast;
    return LT_OK;
}

/* Integers have no negative powers; those of a tensor's exponents are left to the kernel. */
static lt_status check_exponent(lt_tensor *exponent, lt_dtype dtype)
{
    if (lt_dtype_is_float(dtype) || !(exponent->flags & LT_FLAG_WRAPPED_NUMBER)) return LT_OK;
    lt_scalar value;
    LT_TRY(lt_tensor_item(exponent, &value));
    if (lt_scalar_double(value) >= 0) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "Integers to negative integer powers are not allowed.");
}

/* lerp takes tensors of one dtype, floating; the weight may be a number. */
static lt_status check_lerp(lt_tensor *const *inputs)
{
    static const char *const arguments[] = {NULL, "end", "weight"};
    for (int i = 1; i < 3; i++)
        if (inputs[i]->dtype != inputs[0]->dtype && !(inputs[i]->flags & LT_FLAG_WRAPPED_NUMBER))
            return lt_error(LT_ERR_RUNTIME, "lerp: expected dtype %s for `%s` but got dtype %s",
                            lt_dtype_name((lt_dtype)inputs[0]->dtype), arguments[i],
                            lt_dtype_name((lt_dtype)inputs[i]->dtype));
    if (lt_dtype_is_float((lt_dtype)inputs[0]->dtype)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "\"lerp\" not implemented for '%s'", lt_dtype_scalar_name((lt_dtype)inputs[0]->dtype));
}

static lt_status compute_dtype(lt_pointwise op, lt_rule rule, lt_tensor *const *inputs, int n,
                               const lt_scalar *params, int n_params, lt_dtype *out)
{
    int first = rule == LT_RULE_SELECT ? 1 : 0;
    lt_dtype dtype = lt_result_type(inputs + first, n - first);
    for (int i = 0; i < n_params; i++) {
        /* A fractional parameter lifts integers (clamp(int, min = 0.5)), an integer bound lifts bools; add's
         * alpha must fit as it is. */
        if (params[i].kind == LT_SCALAR_FLOAT && !lt_dtype_is_float(dtype)) {
            if (op == LT_PW_ADD || op == LT_PW_SUB)
                return lt_error(LT_ERR_RUNTIME,
                                "For integral input tensors, argument alpha must not be a floating point number.");
            dtype = lt_default_dtype();
        }
        bool bound = op == LT_PW_CLAMP_MIN || op == LT_PW_CLAMP_MAX || op == LT_PW_CLAMP_BOTH;
        if (bound && dtype == LT_BOOL && params[i].kind == LT_SCALAR_INT) dtype = LT_INT64;
    }
    if (rule == LT_RULE_FLOAT && !lt_dtype_is_float(dtype)) dtype = lt_default_dtype();
    if (rule == LT_RULE_INTEGRAL && lt_dtype_is_float(dtype))
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", names[op],
                        lt_dtype_scalar_name(dtype));
    if (op == LT_PW_NEG && dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME,
                        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
                        "mask, use the `~` or `logical_not()` operator instead.");
    if (op == LT_PW_RELU && dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "Boolean inputs not supported for relu");
    if (op == LT_PW_SUB && dtype == LT_BOOL)
        return lt_error(LT_ERR_RUNTIME,
                        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `~` "
                        "or `logical_xor()` operator instead.");
    if (rule == LT_RULE_SELECT && inputs[0]->dtype != LT_BOOL)
        return lt_error(LT_ERR_RUNTIME, "%s expected condition to be a boolean tensor, but got a tensor with dtype %s", names[op],
                        lt_dtype_scalar_name((lt_dtype)inputs[0]->dtype));
    if (op == LT_PW_LERP) LT_TRY(check_lerp(inputs));
    if (op == LT_PW_ADDCDIV && !lt_dtype_is_float((lt_dtype)inputs[1]->dtype) &&
        !lt_dtype_is_float((lt_dtype)inputs[2]->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "Integer division with addcdiv is no longer supported: convert a tensor to a floating point "
                        "dtype, or truncate with torch.div(tensor1, tensor2, {rounding_mode = 'trunc'}).");
    if (op == LT_PW_SQUARE && dtype == LT_BOOL) dtype = LT_INT64;
    if (op == LT_PW_HEAVISIDE && inputs[0]->dtype != inputs[1]->dtype)
        return lt_error(LT_ERR_RUNTIME, "heaviside is not yet implemented for tensors with different dtypes.");
    if (op == LT_PW_POW) LT_TRY(check_exponent(inputs[1], dtype));
    for (int i = 0; i < n_params && op != LT_PW_NAN_TO_NUM; i++) LT_TRY(lt_check_fits(params[i], dtype));
    for (int i = 1; i < n && (op == LT_PW_POW || op == LT_PW_WHERE) && !lt_is_half(dtype); i++) LT_TRY(lt_check_number_fits(inputs[i], dtype));
    *out = dtype;
    return LT_OK;
}

/* Sizes of the result; a short cut when all inputs have the same ones. */
static lt_status result_shape(lt_tensor *const *inputs, int n, int *ndim, int64_t *sizes)
{
    const lt_tensor *a = inputs[0];
    bool same = true;
    for (int i = 1; i < n && same; i++)
        same = inputs[i]->ndim == a->ndim &&
               memcmp(inputs[i]->sizes, a->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0;
    if (!same) return lt_broadcast_shape(inputs, n, ndim, sizes);
    *ndim = a->ndim;
    for (int d = 0; d < a->ndim; d++) sizes[d] = a->sizes[d];
    return LT_OK;
}

/* Whether writing out while reading input would change what is still to be read. */
static bool overlaps(const lt_tensor *out, const lt_tensor *input)
{
    if (out->storage != input->storage || out == input) return false;
    bool same = out->offset == input->offset && out->ndim == input->ndim;
    for (int d = 0; same && d < out->ndim; d++)
        same = out->sizes[d] == input->sizes[d] && out->strides[d] == input->strides[d];
    return !same;
}

lt_status lt_pointwise_run(lt_pointwise op, lt_rule rule, lt_tensor *const *inputs, int n,
                           const lt_scalar *params, int n_params, lt_tensor **out)
{
    lt_status status = LT_OK;
    lt_tensor *operands[1 + MAX_INPUTS] = {NULL};
    lt_tensor *converted[MAX_INPUTS] = {NULL};
    lt_tensor *given = *out, *result = NULL;
    lt_dtype compute = LT_DTYPE_NONE;
    lt_device device;
    int ndim;
    int64_t sizes[LT_MAX_DIMS];
    lt_iter it;

    LT_TRY(lt_check_same_device(names[op], inputs, n, true, &device));
    LT_TRY(compute_dtype(op, rule, inputs, n, params, n_params, &compute));
    LT_TRY(result_shape(inputs, n, &ndim, sizes));
    const lt_backend *backend = lt_backends[device.type];
    lt_dtype result_dtype = rule == LT_RULE_COMPARE ? LT_BOOL : compute;
    if (given != NULL) LT_TRY(lt_output(&given, result_dtype, device, ndim, sizes));

    /* Kernels that cannot convert as they read or write get operands of their own dtype. */
    bool direct = given != NULL && (backend->fused_casts || (lt_dtype)given->dtype == result_dtype);
    for (int i = 0; i < n && direct; i++) direct = !overlaps(given, inputs[i]);
    if (direct)
        result = lt_tensor_retain(given);
    else
        LT_CHECK(lt_tensor_result(inputs, n, result_dtype, device, ndim, sizes, &result));
    operands[0] = result;
    for (int i = 0; i < n; i++) {
        lt_dtype want = rule == LT_RULE_SELECT && i == 0 ? LT_BOOL : compute;
        operands[1 + i] = inputs[i];
        if (backend->fused_casts || (lt_dtype)inputs[i]->dtype == want) continue;
        LT_CHECK(lt_cast(inputs[i], want, &converted[i]));
        operands[1 + i] = converted[i];
    }
    LT_CHECK(lt_iter_elementwise(&it, operands, 1 + n));
    if (it.numel > 0) LT_CHECK(backend->pointwise(op, &it, compute, params));
    if (given != NULL && !direct) {
        lt_tensor *copy[] = {given, result};
        LT_CHECK(lt_iter_elementwise(&it, copy, 2));
        if (it.numel > 0) LT_CHECK(backend->copy(&it));
    }
    if (given == NULL) {
        *out = result;
        result = NULL;
    }
done:
    for (int i = 0; i < n; i++) lt_tensor_release(converted[i]);
    lt_tensor_release(result);
    return status;
}
