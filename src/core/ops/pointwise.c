/* pointwise.c - see pointwise.h. */
#include "pointwise.h"

#include <string.h>

#include "compile/trace.h"
#include "devices/backend.h"
#include "dtypes/dtype.h"
#include "dtypes/fits.h"
#include "dtypes/promotion.h"
#include "error.h"
#include "iter.h"
#include "ops/check_values.h"
#include "ops/common.h"
#include "pointwise_ops.h"

#define MAX_INPUTS 4

/* Adjusts the tensors' dtype to a scalar argument: add's alpha must fit, for other ops a fraction
 * promotes integers (clamp(int, min = 0.5)) and an integer bound promotes bools. */
static lt_status with_number(const lt_pointwise_facts *facts, lt_scalar number, lt_dtype *dtype)
{
    if (number.kind == LT_SCALAR_COMPLEX && !lt_dtype_is_complex(*dtype)) {
        if (facts->numbers == LT_NUMBERS_FIT)
            return lt_error(
                LT_ERR_RUNTIME,
                "For non-complex input tensors, argument alpha must not be a complex number.");
        *dtype = lt_complex_of(lt_dtype_is_float(*dtype) ? *dtype : lt_get_default_dtype());
    } else if (number.kind == LT_SCALAR_FLOAT && !lt_dtype_is_inexact(*dtype)) {
        if (facts->numbers == LT_NUMBERS_FIT)
            return lt_error(
                LT_ERR_RUNTIME,
                "For integral input tensors, argument alpha must not be a floating point number.");
        if (facts->numbers != LT_NUMBERS_TRUNCATE) *dtype = lt_get_default_dtype();
    } else if (facts->numbers == LT_NUMBERS_PROMOTE && *dtype == LT_BOOL &&
               number.kind == LT_SCALAR_INT) {
        *dtype = LT_INT64;
    }
    return LT_OK;
}

static lt_status compute_dtype(const lt_pointwise_facts *facts, lt_tensor *const *inputs, int n,
                               const lt_scalar *params, int n_params, lt_dtype *out)
{
    int first = facts->rule == LT_RULE_SELECT ? 1 : 0;
    lt_dtype dtype = lt_result_type(inputs + first, n - first);
    if (dtype == LT_DTYPE_NONE) return LT_ERR_RUNTIME; /* lt_promote has set the message */
    for (int i = first; i < n && facts->refuses_a_bool != NULL && dtype != LT_BOOL; i++)
        if (inputs[i]->dtype == LT_BOOL)
            return lt_error(LT_ERR_RUNTIME, "%s", facts->refuses_a_bool);
    for (int i = 0; i < n_params; i++) LT_TRY(with_number(facts, params[i], &dtype));
    if (facts->rule == LT_RULE_FLOAT && !lt_dtype_is_inexact(dtype)) dtype = lt_get_default_dtype();
    if (facts->rule == LT_RULE_INTEGRAL && lt_dtype_is_inexact(dtype))
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", facts->name,
                        lt_dtype_scalar_name(dtype));
    if (facts->rule == LT_RULE_SELECT && inputs[0]->dtype != LT_BOOL)
        return lt_error(
            LT_ERR_RUNTIME,
            "%s expected condition to be a boolean tensor, but got a tensor with dtype %s",
            facts->name, lt_dtype_scalar_name((lt_dtype)inputs[0]->dtype));
    if (dtype == LT_BOOL) {
        if (facts->refuses_bool != NULL) return lt_error(LT_ERR_RUNTIME, "%s", facts->refuses_bool);
        dtype = facts->bool_as;
    }
    if (dtype == LT_UINT64 && !facts->same_bits && !facts->by_order)
        return lt_error(LT_ERR_RUNTIME, "\"%s\" not implemented for '%s'", facts->name,
                        lt_dtype_scalar_name(dtype));
    if (lt_dtype_is_complex(dtype) && facts->refuses_complex != NULL)
        return lt_error(LT_ERR_RUNTIME, "%s", facts->refuses_complex);
    if (facts->check != NULL) LT_TRY(facts->check(inputs, dtype));
    for (int i = 0; i < n_params && facts->numbers != LT_NUMBERS_ANY; i++)
        if (!lt_fits_anywhere(params[i])) LT_TRY(lt_check_fits(params[i], dtype));
    *out = dtype;
    return LT_OK;
}

/* Sizes of the result: the sizes of the inputs if they are equal, else `room` is filled. */
static lt_status result_shape(lt_tensor *const *inputs, int n, int *ndim, int64_t *room,
                              const int64_t **sizes)
{
    bool same = true;
    for (int i = 1; i < n && same; i++) same = lt_same_sizes(inputs[0], inputs[i]);
    *ndim = inputs[0]->ndim;
    *sizes = same ? inputs[0]->sizes : room;
    return same ? LT_OK : lt_broadcast_shape(inputs, n, ndim, room);
}

/* Whether writing out would change elements of input that are still to be read. */
static bool overlaps(const lt_tensor *out, const lt_tensor *input)
{
    return out->storage == input->storage && !lt_same_elements(out, input);
}

/* ---- unsigned integers, one-byte floats ------------------------------------------------------ */

/* New reference: t converted to dtype; for an unsigned one, its bits as integers of the same size.
 */
static lt_status without_unsigned(lt_tensor *t, lt_dtype dtype, lt_tensor **out)
{
    lt_tensor *cast = NULL;
    LT_TRY(lt_cast(t, dtype, lt_same_bits(dtype) != dtype ? &cast : out));
    if (cast == NULL) return LT_OK;
    const lt_status status = lt_tensor_alias(cast, out);
    lt_tensor_release(cast);
    if (status == LT_OK) (*out)->dtype = (int8_t)lt_same_bits(dtype);
    return status;
}

/* New reference: uint64 as int64 and back, with 0 as the least value. */
static lt_status turned(lt_tensor *t, lt_dtype dtype, lt_tensor **out)
{
    lt_tensor *bits = NULL, *least = NULL, *moved = NULL;
    lt_status status;
    LT_CHECK(lt_cast(t, LT_INT64, &bits));
    LT_CHECK(lt_tensor_from_scalar(lt_scalar_from_int(INT64_MIN), &least));
    LT_CHECK(lt_pointwise_run(LT_PW_BITWISE_XOR, (lt_tensor *[]){bits, least}, 2, NULL, 0, &moved));
    status = lt_cast(moved, dtype, out);
done:
    lt_tensor_release(bits);
    lt_tensor_release(least);
    lt_tensor_release(moved);
    return status;
}

/* Kernels support no unsigned dtype but uint8: the others are computed as integers of the same size
 * if the result has the same bits, else they are converted. One-byte floats are selected by their
 * bits and compared as float32. compute: the dtype in which the op would be computed. */
static lt_status run_unsigned(int op, lt_tensor *const *inputs, int n, const lt_scalar *params,
                              int n_params, lt_dtype compute, lt_tensor **out)
{
    LT_EAGERLY();
    const lt_pointwise_facts *facts = &lt_pointwise_table[op];
    const bool by_bits = lt_dtype_is_float8(compute)
                             ? facts->rule == LT_RULE_SELECT
                             : facts->same_bits && lt_dtype_is_unsigned(compute),
               by_order = compute == LT_UINT64 && !by_bits;
    const int first = facts->rule == LT_RULE_SELECT ? 1 : 0;
    lt_tensor *known[MAX_INPUTS] = {NULL}, *result = NULL, *work = NULL;
    lt_status status = LT_OK;
    for (int i = 0; i < n; i++) {
        const lt_dtype own = (lt_dtype)inputs[i]->dtype;
        const bool kept = i < first || !(by_bits || lt_same_bits(own) != own);
        const lt_dtype as = lt_dtype_is_float8(compute) && !by_bits     ? LT_FLOAT32
                            : by_bits || !lt_dtype_is_unsigned(compute) ? compute
                                                                        : LT_INT64;
        if (kept && !by_order)
            known[i] = lt_tensor_retain(inputs[i]);
        else if (by_order)
            LT_CHECK(turned(inputs[i], LT_INT64, &known[i]));
        else
            LT_CHECK(without_unsigned(inputs[i], as, &known[i]));
    }
    LT_CHECK(lt_pointwise_run(op, known, n, params, n_params, &result));
    lt_dtype dtype = facts->rule == LT_RULE_COMPARE ? LT_BOOL
                     : facts->gives_real            ? lt_real_of(compute)
                                                    : compute;
    if (by_bits && dtype == compute) result->dtype = (int8_t)compute;
    if (by_order && dtype == compute) {
        lt_tensor *found = result;
        result = NULL;
        status = turned(found, compute, &result);
        lt_tensor_release(found);
        if (status != LT_OK) goto done;
    }
    if (*out == NULL) {
        status = lt_cast(result, dtype, out);
        goto done;
    }
    work = *out;
    LT_CHECK(lt_output(&work, dtype, result->device, result->ndim, result->sizes));
    lt_iter it;
    LT_CHECK(lt_iter_elementwise(&it, (lt_tensor *[]){work, result}, 2));
    if (it.numel > 0) LT_CHECK(lt_backend_of(work)->copy(&it));
done:
    for (int i = 0; i < n; i++) lt_tensor_release(known[i]);
    lt_tensor_release(result);
    return status;
}

/* Also true for one-byte floats. */
static bool any_unsigned(lt_tensor *const *inputs, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++)
        any = any || lt_same_bits((lt_dtype)inputs[i]->dtype) != (lt_dtype)inputs[i]->dtype;
    return any;
}

/* The donated input that can hold the result: of its dtype, with the result's strides; NULL: there
 * is none. */
static lt_tensor *donated_input(lt_tensor *const *inputs, int n, lt_dtype dtype)
{
    lt_tensor *donated = NULL;
    for (int i = 0; i < n; i++)
        if (inputs[i]->role & LT_ROLE_DONATED) donated = inputs[i];
    if (donated == NULL || donated->dtype != (int8_t)dtype || donated->storage->deferred ||
        atomic_load_explicit(&donated->storage->readers, memory_order_relaxed) != 0)
        return NULL;
    for (int i = 0; i < n; i++) {
        const lt_tensor *t = inputs[i];
        if (!lt_same_geometry(t, donated) && (t->numel != 1 || t->ndim > donated->ndim))
            return NULL;
    }
    return donated;
}

static bool has_elements(int ndim, const int64_t *sizes)
{
    for (int i = 0; i < ndim; i++)
        if (sizes[i] == 0) return false;
    return true;
}

/* ---- the computation ------------------------------------------------------------------------- */

/* An op with checked arguments. */
typedef struct checked_op {
    int op;
    lt_tensor *const *inputs;
    int n;
    const lt_scalar *params;
    lt_dtype compute, result; /* dtype of the computation, of the result */
    lt_device device;
    int ndim; /* of the result */
    const int64_t *sizes;
} checked_op;

/* Kernels convert as they read and write: `given` is written directly unless it overlaps an input.
 * given NULL: *out is new. */
static lt_status compute_elements(const checked_op *c, lt_tensor *given, lt_tensor **out)
{
    const lt_backend *backend = lt_backends[c->device.type];
    lt_tensor *operands[1 + MAX_INPUTS], *reused = NULL, *result = NULL;
    lt_iter it;
    lt_status status = LT_OK;
    bool direct = given != NULL &&
                  (lt_dtype_is_complex((lt_dtype)given->dtype) == lt_dtype_is_complex(c->result));
    for (int i = 0; i < c->n && direct; i++) direct = !overlaps(given, c->inputs[i]);
    if (direct)
        reused = given;
    else if (given == NULL)
        reused = donated_input(c->inputs, c->n, c->result);
    if (reused != NULL)
        result = lt_tensor_retain(reused);
    else
        LT_TRY(lt_tensor_result(c->inputs, c->n, c->result, c->device, c->ndim, c->sizes, &result));
    operands[0] = result;
    for (int i = 0; i < c->n; i++) operands[1 + i] = c->inputs[i];
    LT_CHECK(lt_iter_elementwise(&it, operands, 1 + c->n));
    if (it.numel > 0) LT_CHECK(backend->pointwise(c->op, &it, c->compute, c->params));
    if (given != NULL && !direct) {
        lt_tensor *copy[] = {given, result};
        LT_CHECK(lt_iter_elementwise(&it, copy, 2));
        if (it.numel > 0) LT_CHECK(backend->copy(&it));
    }
    if (given == NULL) {
        *out = result;
        return LT_OK;
    }
done:
    lt_tensor_release(result);
    return status;
}

lt_status lt_pointwise_run(int op, lt_tensor *const *inputs, int n, const lt_scalar *params,
                           int n_params, lt_tensor **out)
{
    const lt_pointwise_facts *facts = &lt_pointwise_table[op];
    lt_tensor *given = *out;
    lt_dtype compute;
    lt_device device;
    int ndim;
    int64_t room[LT_MAX_DIMS];
    const int64_t *sizes;
    LT_TRY(lt_check_same_device(facts->name, inputs, n, true, &device));
    LT_TRY(compute_dtype(facts, inputs, n, params, n_params, &compute));
    const bool converts = __builtin_expect(any_unsigned(inputs, n), 0);
    LT_TRY(result_shape(inputs, n, &ndim, room, &sizes));
    if (facts->divides && !converts && device.type != LT_CPU && lt_dtype_is_int(compute) &&
        has_elements(ndim, sizes))
        LT_TRY(lt_check_values(inputs[1],
                               (lt_value_check){.nonzero = true, .text = "ZeroDivisionError"}));
    const lt_dtype result = facts->rule == LT_RULE_COMPARE ? LT_BOOL
                            : facts->gives_real            ? lt_real_of(compute)
                                                           : compute;
    if (given == NULL && !converts && lt_any_trace()) {
        LT_TRY(lt_trace_record(
            &(lt_traced_op){op, compute, result, inputs, n, params, n_params, ndim, sizes, NULL},
            out));
        if (*out != NULL) return LT_OK;
    }
    if (lt_any_deferred()) LT_TRY(lt_materialize_all(facts->name, n, inputs));
    if (converts) return run_unsigned(op, inputs, n, params, n_params, compute, out);
    if (given != NULL) {
        LT_TRY(lt_output(&given, result, device, ndim, sizes));
        if (given == inputs[0] && facts->gives_real && result != compute)
            return lt_error(LT_ERR_RUNTIME, "In-place %s is not supported for complex tensors.",
                            facts->name);
    }
    const checked_op c = {op, inputs, n, params, compute, result, device, ndim, sizes};
    return compute_elements(&c, given, out);
}
