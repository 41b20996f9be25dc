/* call.c - lt_call and lt_op_call: call an operation with tagged values as arguments.
 *
 * Each overload is tried in turn (call_match.c). The values of the chosen overload are then
 * converted. Objects created by a conversion (numbers as tensors, indices as int64) are owned by the
 * call and released at its end. */
#include <string.h>

#include "api/call_match.h"
#include "context/profile.h"
#include "devices/copies.h"
#include "devices/device.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "ltensor_binding.h"
#include "own/own_op.h"
#include "tensor.h"
#include "values.h"
#include "op/to.h"
#include "ops/outs.h"

static lt_status check_call(const char *op, const lt_named_call *c)
{
    if (c->nargs < 0 || c->nnamed < 0)
        return lt_error(LT_ERR_TYPE, "%s(): a negative number of arguments", op);
    if (c->nargs > 0 && c->args == NULL) return lt_null_argument("lt_call", "args");
    if (c->nnamed > 0 && c->named == NULL) return lt_null_argument("lt_call", "named");
    for (int i = 0; i < c->nargs; i++)
        LT_TRY(lt_host_value_check(op, "argument", i, lt_call_arg_at(c, i), c->args->size));
    for (int i = 0; i < c->nnamed; i++) {
        LT_TRY(lt_host_value_check(op, "named argument", i, &lt_call_named_at(c, i)->value,
                                   c->named->value.size));
        if (lt_call_named_at(c, i)->name == NULL)
            return lt_error(LT_ERR_TYPE, "%s(): named argument %d has no name", op, i);
    }
    return LT_OK;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* The overloads of a name, and the own operation (own/own_op.h) if it is one. */
typedef struct call_target {
    const char *name;
    const lt_callable *const *overloads;
    int n;
    const lt_callable *only; /* the overload of an own operation */
    lt_own_op *own;          /* a reference; NULL: built in */
} call_target;

static void builtin_target(const lt_op *op, call_target *out)
{
    *out = (call_target){.name = op->name, .overloads = &lt_callables[op->first], .n = op->n};
}

static lt_status find_target(const char *function, const char *name, call_target *out)
{
    const lt_op *op = lt_op_builtin(name);
    if (op != NULL) {
        builtin_target(op, out);
        return LT_OK;
    }
    *out = (call_target){.name = name, .n = 1, .own = lt_own_find(name, NULL)};
    if (out->own == NULL)
        return lt_error(LT_ERR_TYPE, "%s(): unknown operation '%.100s'", function, name);
    out->only = &out->own->callable;
    return LT_OK;
}

/* Selects the first matching overload; in a second round, 0-dim tensors are accepted as numbers. */
static lt_status choose_callable(const call_target *name, lt_named_call *c, lt_call_match *m,
                                 const lt_callable **chosen)
{
    const lt_callable *const *f = name->own != NULL ? &name->only : name->overloads;
    lt_call_problem p, ignored;
    for (int i = 0; i < name->n; i++) {
        if (!lt_callable_fits(f[i], c, m, &p)) continue;
        *chosen = f[i];
        return LT_OK;
    }
    c->loose = lt_call_has_number_tensor(c);
    for (int i = 0; c->loose && i < name->n; i++) {
        if (!lt_callable_fits(f[i], c, m, &ignored)) continue;
        *chosen = f[i];
        return LT_OK;
    }
    return lt_call_mismatch(name->name, f, name->n, c, &p);
}

/* ---- converting ------------------------------------------------------------------------------ */

/* The number of a value. If it is a tensor's, the read is recorded as an implicit copy. */
static lt_status number_of(const lt_value *v, lt_scalar *out)
{
    if (v->kind != LT_KIND_TENSOR) {
        *out = v->kind == LT_KIND_BOOL  ? lt_scalar_from_bool(v->v.b)
               : v->kind == LT_KIND_INT ? lt_scalar_from_int(v->v.i)
                                        : lt_scalar_from_float(v->v.d);
        return LT_OK;
    }
    lt_copy_cause previous = lt_copies_set_cause((lt_copy_cause){"item", true});
    lt_status status = lt_tensor_item(v->v.tensor, out);
    lt_copies_set_cause(previous);
    return status;
}

static lt_status integer_of(const lt_value *v, int64_t *out)
{
    lt_scalar number;
    if (v->kind != LT_KIND_TENSOR) {
        *out = lt_call_int64_of(v);
        return LT_OK;
    }
    LT_TRY(number_of(v, &number));
    *out = lt_scalar_int(number);
    return LT_OK;
}

static lt_status dims_of(const lt_value *v, lt_dims *out)
{
    if (v->kind != LT_KIND_DIMS) {
        out->n = 1;
        return integer_of(v, &out->v[0]);
    }
    out->n = (int)v->v.dims.n;
    if (out->n > 0) memcpy(out->v, v->v.dims.v, (size_t)out->n * sizeof *out->v);
    return LT_OK;
}

static lt_status wrap_number(lt_scalar number, lt_call_match *m, lt_tensor **out)
{
    LT_TRY(lt_tensor_from_scalar(number, out));
    m->owned[m->n_owned++] = *out;
    return LT_OK;
}

/* Converts indices to int64; bool masks, which an index list may contain, stay. */
static lt_status indices_of(lt_tensor *t, lt_call_match *m, lt_tensor **out)
{
    *out = t;
    if (t->dtype == LT_INT64 || t->dtype == LT_BOOL) return LT_OK;
    if (!lt_dtype_is_int((lt_dtype)t->dtype))
        return lt_error(LT_ERR_INDEX,
                        "tensors used as indices must be long, int, byte or bool tensors");
    LT_TRY(lt_to_dtype(t, LT_INT64, false, false, out));
    m->owned[m->n_owned++] = *out;
    return LT_OK;
}

static lt_status index_list_of(const lt_tensor_list *list, lt_call_match *m, lt_tensor_list *out)
{
    *out = (lt_tensor_list){list->n, m->entries};
    for (int64_t i = 0; i < list->n; i++) LT_TRY(indices_of(list->v[i], m, &m->entries[i]));
    return LT_OK;
}

static lt_status convert(const lt_call_arg *arg, const lt_value *v, lt_call_match *m,
                         lt_call_slot *slot)
{
    lt_scalar number;
    switch (arg->type) {
    case LT_ARG_NUMBERS:
    case LT_ARG_TENSOR: slot->tensor = v->v.tensor; return LT_OK;
    case LT_ARG_TENSOR_OR_SCALAR:
        slot->tensor = v->v.tensor;
        if (v->kind == LT_KIND_TENSOR) return LT_OK;
        LT_TRY(number_of(v, &number));
        return wrap_number(number, m, &slot->tensor);
    case LT_ARG_POSITIONS:
    case LT_ARG_INDEX_TENSOR: return indices_of(v->v.tensor, m, &slot->tensor);
    case LT_ARG_TENSORS: slot->list = v->v.tensors; return LT_OK;
    case LT_ARG_INDEX_TENSORS: return index_list_of(&v->v.tensors, m, &slot->list);
    case LT_ARG_SCALAR: return number_of(v, &slot->scalar);
    case LT_ARG_INT:
    case LT_ARG_DIM:
    case LT_ARG_INDEX: return integer_of(v, &slot->i);
    case LT_ARG_FLOAT:
        LT_TRY(number_of(v, &number));
        slot->d = lt_scalar_double(number);
        return LT_OK;
    case LT_ARG_BOOL: slot->b = v->v.b; return LT_OK;
    case LT_ARG_STRING: slot->s = v->v.s; return LT_OK;
    case LT_ARG_DIMS:
    case LT_ARG_SIZE: return dims_of(v, &slot->dims);
    case LT_ARG_DTYPE:
        slot->dtype = v->kind == LT_KIND_STRING ? lt_dtype_from_name(v->v.s) : (lt_dtype)v->v.dtype;
        return LT_OK;
    case LT_ARG_DEVICE:
        if (v->kind == LT_KIND_STRING) return lt_device_parse(v->v.s, &slot->device);
        slot->device = v->v.device;
        return LT_OK;
    case LT_ARG_GENERATOR: slot->generator = v->v.generator; return LT_OK;
    }
    return LT_OK;
}

/* The default of an omitted argument. */
static lt_status fall_back(const lt_call_arg *arg, lt_call_match *m, lt_call_slot *slot)
{
    memset(slot, 0, sizeof *slot);
    if (arg->type == LT_ARG_DTYPE) slot->dtype = LT_DTYPE_NONE;
    if (arg->info.optional || arg->info.default_text == NULL) return LT_OK;
    switch (arg->type) {
    case LT_ARG_TENSOR_OR_SCALAR: return wrap_number(arg->fallback, m, &slot->tensor);
    case LT_ARG_SCALAR: slot->scalar = arg->fallback; return LT_OK;
    case LT_ARG_FLOAT: slot->d = lt_scalar_double(arg->fallback); return LT_OK;
    case LT_ARG_BOOL: slot->b = arg->fallback.v.i != 0; return LT_OK;
    case LT_ARG_STRING: slot->s = arg->fallback_text; return LT_OK;
    case LT_ARG_DIMS:
    case LT_ARG_SIZE: slot->dims = (lt_dims){1, {arg->fallback.v.i}}; return LT_OK;
    default: slot->i = arg->fallback.v.i; return LT_OK;
    }
}

static lt_status convert_all(const lt_callable *f, lt_call_match *m)
{
    for (int i = 0; i < f->info.n_args; i++) {
        const lt_value *v = m->given[i];
        m->frame.present[i] = v != NULL;
        LT_TRY(v != NULL ? convert(&f->args[i], v, m, &m->frame.v[i])
                         : fall_back(&f->args[i], m, &m->frame.v[i]));
    }
    return LT_OK;
}

/* ---- doing ----------------------------------------------------------------------------------- */

/* Checks the capacity of the caller's array of results before the operation runs. */
static lt_status check_room(const lt_callable *f, const lt_value *results, const int *nresults)
{
    if (results == NULL || f->info.n_results == 0) return LT_OK;
    if (nresults == NULL) return lt_null_argument("lt_call", "nresults");
    if (*nresults < f->info.n_results)
        return lt_error(
            LT_ERR_TYPE, "%s() returns %d result%s, but nresults is %d: pass a larger array",
            f->info.name, f->info.n_results, f->info.n_results == 1 ? "" : "s", *nresults);
    return lt_host_value_check(f->info.name, "result", 0, results, results->size);
}

/* The same for a list of results. */
static lt_status store_list(const lt_callable *f, const lt_tensor_list *outs, lt_tensor_list *made)
{
    LT_TRY(lt_store_outs(f->info.name, (int)made->n, made->v, outs));
    for (int64_t i = 0; i < made->n; i++) {
        lt_tensor_release(made->v[i]);
        made->v[i] = lt_tensor_retain(outs->v[i]);
    }
    return LT_OK;
}

/* Copies the results to the tensors of out= and returns these instead; releases the originals. */
static lt_status store_results(const lt_callable *f, lt_call_slot *out, lt_value *made)
{
    const int n = f->info.n_results;
    const lt_tensor_list outs =
        f->args[f->out].type == LT_ARG_TENSORS ? out->list : (lt_tensor_list){1, &out->tensor};
    if (made[0].kind == LT_KIND_TENSORS) return store_list(f, &outs, &made[0].v.tensors);
    lt_tensor *results[LT_CALL_MAX_RESULTS];
    for (int i = 0; i < n; i++) results[i] = made[i].v.tensor;
    const lt_status status =
        (f->exact ? lt_store_exact_outs : lt_store_outs)(f->info.name, n, results, &outs);
    for (int i = 0; i < n; i++) {
        lt_tensor_release(results[i]);
        made[i].v.tensor = status == LT_OK ? lt_tensor_retain(outs.v[i]) : NULL;
    }
    return status;
}

/* If the result is a number read from a device, the read is recorded as an implicit copy. */
lt_status lt_call_run(const lt_callable *f, lt_call_frame *frame, lt_value *made)
{
    bool reads =
        f->info.n_results > 0 && (made[0].kind == LT_KIND_BOOL || made[0].kind == LT_KIND_INT);
    lt_copy_cause previous = {NULL, false};
    if (reads) previous = lt_copies_set_cause((lt_copy_cause){f->info.name, true});
    lt_status status = f->run(frame, made);
    if (reads) lt_copies_set_cause(previous);
    if (status != LT_OK) return status;
    bool fills = f->out >= 0 && frame->present[f->out];
    if (fills && f->copied) return store_results(f, &frame->v[f->out], made);
    const lt_call_slot *written = &frame->v[fills ? f->out : 0];
    if (fills && f->args[f->out].type == LT_ARG_TENSORS)
        for (int i = 0; i < f->info.n_results; i++)
            made[i].v.tensor = lt_tensor_retain(written->list.v[i]);
    else if (fills || (f->info.in_place && f->info.n_results > 0))
        made[0].v.tensor = lt_tensor_retain(written->tensor);
    return LT_OK;
}

lt_status lt_call_bind(const char *name, lt_named_call *c, lt_call_match *m, const lt_callable **f)
{
    call_target target;
    LT_TRY(find_target("lt_call", name, &target));
    if (target.own != NULL) {
        lt_own_release(target.own);
        return lt_error(LT_ERR_TYPE, "%.100s() is not a built-in operation", name);
    }
    m->n_owned = 0;
    LT_TRY(check_call(name, c));
    LT_TRY(choose_callable(&target, c, m, f));
    const lt_status status = convert_all(*f, m);
    if (status != LT_OK) lt_call_unbind(m);
    return status;
}

void lt_call_unbind(lt_call_match *m)
{
    while (m->n_owned > 0) lt_tensor_release(m->owned[--m->n_owned]);
}

/* Converts the arguments of the chosen overload, runs it (infer: only its meta function), and hands
 * the results over. */
static lt_status run_target(const call_target *target, const lt_callable *f, lt_call_match *m,
                            bool infer, lt_value *results)
{
    lt_value made[LT_CALL_MAX_RESULTS];
    for (int i = 0; i < f->info.n_results; i++) made[i] = lt_value_of(f->results[i].kind);
    const int32_t event = lt_profiling ? lt_profile_begin(f->info.name, LT_PROFILE_OP) : -1;
    lt_status status = convert_all(f, m);
    if (status == LT_OK && target->own == NULL)
        status = lt_call_run(f, &m->frame, made);
    else if (status == LT_OK)
        status = (infer ? lt_own_infer : lt_own_run)(target->own, &m->frame, made);
    lt_profile_end(event);
    if (status != LT_OK) return status;
    if (results == NULL)
        for (int i = 0; i < f->info.n_results; i++) lt_value_release(&made[i]);
    else if (f->info.n_results > 0)
        lt_value_hand_over(made, f->info.n_results, results);
    return LT_OK;
}

static lt_status call_target_with(const call_target *target, lt_named_call *c, bool infer,
                                  lt_value *results, int *nresults)
{
    const lt_callable *f = NULL;
    lt_call_match m;
    m.n_owned = 0;
    LT_TRY(check_call(target->name, c));
    LT_TRY(choose_callable(target, c, &m, &f));
    LT_TRY(check_room(f, results, nresults));
    lt_status status = run_target(target, f, &m, infer, results);
    for (int i = 0; i < m.n_owned; i++) lt_tensor_release(m.owned[i]);
    if (status == LT_OK && nresults != NULL) *nresults = f->info.n_results;
    return status;
}

lt_status lt_call(const char *name, const lt_value *args, int nargs, const lt_named_value *named,
                  int nnamed, lt_value *results, int *nresults)
{
    call_target target;
    LT_REQUIRE(name);
    lt_named_call c = {.args = args, .named = named, .nargs = nargs, .nnamed = nnamed};
    LT_TRY(find_target(__func__, name, &target));
    lt_status status = call_target_with(&target, &c, false, results, nresults);
    lt_own_release(target.own);
    return status;
}

lt_status lt_op_call(const lt_op *op, const lt_value *args, int nargs, const lt_named_value *named,
                     int nnamed, lt_value *results, int *nresults)
{
    call_target target;
    LT_REQUIRE(op);
    lt_named_call c = {.args = args, .named = named, .nargs = nargs, .nnamed = nnamed};
    if (op->n > 0)
        builtin_target(op, &target);
    else
        LT_TRY(find_target(__func__, op->name, &target));
    lt_status status = call_target_with(&target, &c, false, results, nresults);
    lt_own_release(target.own);
    return status;
}

lt_status lt_op_infer(const char *name, const lt_value *args, int nargs,
                      const lt_named_value *named, int nnamed, lt_value *results, int *nresults)
{
    call_target target;
    LT_REQUIRE(name);
    lt_named_call c = {.args = args, .named = named, .nargs = nargs, .nnamed = nnamed};
    LT_TRY(find_target(__func__, name, &target));
    lt_status status =
        target.own != NULL
            ? call_target_with(&target, &c, true, results, nresults)
            : lt_error(LT_ERR_RUNTIME, "lt_op_infer(): '%.100s' is a built-in operation", name);
    lt_own_release(target.own);
    return status;
}
