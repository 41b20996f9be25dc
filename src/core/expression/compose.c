/* compose.c - runs a formula as a composition of operations, by lt_call. Functions of numbers alone
 * are computed as numbers, as Lua does: 2 * 3 is 6, sqrt(2) a double. */
#include <math.h>
#include <string.h>

#include "autograd/autograd.h"
#include "compile/trace.h"
#include "error.h"
#include "expression.h"
#include "op/to.h"

lt_scalar lt_formula_scalar(const lt_value *v)
{
    return v->kind == LT_KIND_BOOL  ? lt_scalar_from_bool(v->v.b)
           : v->kind == LT_KIND_INT ? lt_scalar_from_int(v->v.i)
                                    : lt_scalar_from_float(v->v.d);
}

static lt_value value_of_scalar(lt_scalar s)
{
    return s.kind == LT_SCALAR_BOOL  ? lt_value_bool(s.v.i != 0)
           : s.kind == LT_SCALAR_INT ? lt_value_int(s.v.i)
                                     : lt_value_double(s.v.d);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_function(const lt_formula_value *v, const char *name)
{
    return strcmp(v->function->call, name) == 0;
}

/* Sums and products of integers, which wrap around. */
static bool fold_integers(const lt_formula_value *v, const lt_value *a, lt_value *out)
{
    for (int i = 0; i < v->n; i++)
        if (a[i].kind != LT_KIND_INT) return false;
    const uint64_t x = (uint64_t)a[0].v.i, y = v->n > 1 ? (uint64_t)a[1].v.i : 0;
    if (is_function(v, "add"))
        *out = lt_value_int((int64_t)(x + y));
    else if (is_function(v, "sub"))
        *out = lt_value_int((int64_t)(x - y));
    else if (is_function(v, "mul"))
        *out = lt_value_int((int64_t)(x * y));
    else if (is_function(v, "neg"))
        *out = lt_value_int((int64_t)(0 - x));
    else
        return false;
    return true;
}

/* A function of numbers: the operation on tensors of one float64. */
static lt_status fold(const lt_formula_value *v, const lt_value *a, lt_value *out)
{
    LT_EAGERLY();
    lt_value args[LT_FORMULA_ARGS], result = lt_value_none();
    lt_scalar number;
    int n = 1;
    lt_status status = LT_OK;
    if (fold_integers(v, a, out)) return LT_OK;
    const bool grad_mode = lt_set_grad_enabled(false);
    memset(args, 0, sizeof args);
    for (int i = 0; i < v->n; i++) {
        lt_tensor *wrapped = NULL, *wide = NULL;
        const bool condition = i == 0 && is_function(v, "where");
        LT_CHECK(lt_tensor_from_scalar(lt_formula_scalar(&a[i]), &wrapped));
        status = lt_to_dtype(wrapped, condition ? LT_BOOL : LT_FLOAT64, false, true, &wide);
        lt_tensor_release(wrapped);
        if (status != LT_OK) goto done;
        args[i] = lt_value_tensor(wide);
    }
    LT_CHECK(lt_call(v->function->call, args, v->n, NULL, 0, &result, &n));
    LT_CHECK(lt_tensor_item(result.v.tensor, &number));
    *out = value_of_scalar(number);
done:
    for (int i = 0; i < v->n; i++)
        if (args[i].kind == LT_KIND_TENSOR) lt_value_release(&args[i]);
    lt_value_release(&result);
    lt_set_grad_enabled(grad_mode);
    return status;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static lt_status call_function(const lt_formula_value *v, const lt_value *a, lt_value *out)
{
    lt_value args[LT_FORMULA_ARGS];
    lt_tensor *wrapped[LT_FORMULA_ARGS] = {NULL};
    int n = 1;
    lt_status status = LT_OK;
    for (int i = 0; i < v->n; i++) {
        args[i] = a[i];
        if (a[i].kind == LT_KIND_TENSOR || v->function->kinds[i] != 't') continue;
        LT_CHECK(lt_tensor_from_scalar(lt_formula_scalar(&a[i]), &wrapped[i]));
        args[i] = lt_value_tensor(wrapped[i]);
    }
    status = lt_call(v->function->call, args, v->n, NULL, 0, out, &n);
done:
    for (int i = 0; i < v->n; i++) lt_tensor_release(wrapped[i]);
    return status;
}

static lt_status compute(const lt_formula *f, const lt_value *inputs, lt_value *values, int i)
{
    const lt_formula_value *v = &f->values[i];
    lt_value a[LT_FORMULA_ARGS];
    bool numbers = true;
    if (v->kind == LT_FORMULA_NUMBER) {
        values[i] = v->number;
        return LT_OK;
    }
    if (v->kind == LT_FORMULA_INPUT) {
        values[i] = inputs[v->input];
        if (values[i].kind == LT_KIND_TENSOR) lt_tensor_retain(values[i].v.tensor);
        return LT_OK;
    }
    for (int k = 0; k < v->n; k++) {
        a[k] = values[v->in[k]];
        numbers = numbers && a[k].kind != LT_KIND_TENSOR;
    }
    LT_TRY(numbers ? fold(v, a, &values[i]) : call_function(v, a, &values[i]));
    for (int k = 0; k < v->n; k++)
        if (f->last[v->in[k]] == i) lt_value_release(&values[v->in[k]]);
    return LT_OK;
}

/* The result of a value, which is never an input itself. */
static lt_status result_of(const lt_formula *f, const lt_value *v, lt_tensor *const *inputs, int n,
                           lt_tensor **out)
{
    lt_tensor *t = NULL, *made = NULL;
    lt_status status = LT_OK;
    lt_dtype dtype = f->dtype;
    if (v->kind == LT_KIND_TENSOR) {
        t = lt_tensor_retain(v->v.tensor);
        if (dtype == LT_DTYPE_NONE) dtype = (lt_dtype)t->dtype;
    } else {
        LT_TRY(lt_tensor_from_scalar(lt_formula_scalar(v), &t));
        if (dtype == LT_DTYPE_NONE)
            dtype = v->kind == LT_KIND_DOUBLE ? lt_get_default_dtype() : (lt_dtype)t->dtype;
    }
    bool copy = v->kind != LT_KIND_TENSOR;
    for (int i = 0; i < n; i++) copy = copy || t == inputs[i];
    LT_CHECK(lt_to_dtype(t, dtype, false, copy, &made));
    *out = made;
done:
    lt_tensor_release(t);
    return status;
}

lt_status lt_formula_compose(const lt_formula *f, const lt_value *inputs, lt_tensor **results)
{
    lt_value values[LT_FORMULA_VALUES];
    lt_tensor *tensors[LT_FORMULA_INPUTS];
    int n_tensors = 0, made = 0;
    lt_status status = LT_OK;
    for (int i = 0; i < f->n_inputs; i++)
        if (inputs[i].kind == LT_KIND_TENSOR) tensors[n_tensors++] = inputs[i].v.tensor;
    for (int i = 0; i < f->n_values; i++) values[i] = lt_value_none();
    for (int i = 0; i < f->n_values; i++) LT_CHECK(compute(f, inputs, values, i));
    for (; made < f->n_outputs; made++)
        LT_CHECK(result_of(f, &values[f->outputs[made]], tensors, n_tensors, &results[made]));
done:
    for (int i = 0; i < f->n_values; i++)
        if (values[i].kind == LT_KIND_TENSOR) lt_value_release(&values[i]);
    for (int k = 0; status != LT_OK && k < made; k++) lt_tensor_release(results[k]);
    return status;
}
