/* call.c - lt_call: calls an operation by name with tagged values as arguments.
 *
 * Overload resolution has no side effects: each overload is tried in turn and the first mismatch is
 * recorded for the error message. The values of the chosen overload are then converted. Objects
 * created by a conversion (numbers as tensors, indices as int64) are owned by the call and released
 * at its end. The rules are the same as in the Lua binding (src/lua/args.c), except that indices
 * count from 0 and values carry a kind. */
#include "autograd/dual.h"
#include "api/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/autograd.h"
#include "devices/copies.h"
#include "devices/device.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "tensor.h"
#include "values.h"
#include "op/to.h"
#include "ops/outs.h"

typedef enum problem_kind {
    WRONG_KIND,
    WRONG_ENTRY,
    NOT_INDICES,
    TOO_LONG,
    TOO_MANY,
    MISSING,
    TWICE,
    UNKNOWN
} problem_kind;

/* The reason why an overload does not match. */
typedef struct problem {
    problem_kind kind;
    const lt_call_arg *arg;
    const lt_value *value;
    int place;         /* index of a positional argument; -1: named */
    int64_t entry;     /* index in a list */
    const char *named; /* TWICE, UNKNOWN */
} problem;

/* The arguments of the caller. */
typedef struct named_call {
    const lt_value *args;
    const lt_named_value *named;
    int nargs, nnamed;
    bool loose; /* 0-dim tensors are accepted as numbers */
} named_call;

/* The arguments of one overload (NULL where absent), their converted values, and the objects that
 * the conversion created. */
typedef struct match {
    const lt_value *given[LT_MAX_ARGS];
    lt_call_frame frame;
    lt_tensor *entries[LT_MAX_DIMS]; /* the entries of an IndexTensor[] */
    lt_tensor *owned[LT_MAX_ARGS + LT_MAX_DIMS];
    int n_owned;
} match;

/* ---- the caller's arrays --------------------------------------------------------------------- */

static const lt_value *arg_at(const named_call *c, int i) { return lt_value_at(c->args, i); }

static const lt_named_value *named_at(const named_call *c, int i)
{
    size_t step = offsetof(lt_named_value, value) + c->named->value.size;
    return (const lt_named_value *)((const char *)c->named + (size_t)i * step);
}

static lt_status check_call(const char *op, const named_call *c)
{
    if (c->nargs < 0 || c->nnamed < 0)
        return lt_error(LT_ERR_TYPE, "%s(): a negative number of arguments", op);
    if (c->nargs > 0 && c->args == NULL) return lt_null_argument("lt_call", "args");
    if (c->nnamed > 0 && c->named == NULL) return lt_null_argument("lt_call", "named");
    for (int i = 0; i < c->nargs; i++)
        LT_TRY(lt_value_check(op, "argument", i, arg_at(c, i), c->args->size));
    for (int i = 0; i < c->nnamed; i++) {
        LT_TRY(
            lt_value_check(op, "named argument", i, &named_at(c, i)->value, c->named->value.size));
        if (named_at(c, i)->name == NULL)
            return lt_error(LT_ERR_TYPE, "%s(): named argument %d has no name", op, i);
    }
    return LT_OK;
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool is_number_value(const lt_value *v)
{
    return v->kind == LT_KIND_INT || v->kind == LT_KIND_DOUBLE || v->kind == LT_KIND_BOOL;
}

/* Integers, also stored as a double, since some callers have no integer type. */
static bool is_whole(const lt_value *v)
{
    if (v->kind == LT_KIND_INT) return true;
    return v->kind == LT_KIND_DOUBLE && v->v.d >= -0x1p63 && v->v.d < 0x1p63 &&
           v->v.d == (double)(int64_t)v->v.d;
}

static int64_t int64_of(const lt_value *v)
{
    return v->kind == LT_KIND_INT ? v->v.i : (int64_t)v->v.d;
}

/* Whether v is a 0-dim tensor that can be converted to a number. */
static bool is_number_tensor(const lt_value *v, bool integer)
{
    if (v->kind != LT_KIND_TENSOR || v->v.tensor == NULL) return false;
    const lt_tensor *t = v->v.tensor;
    return t->ndim == 0 && !lt_requires_grad(t) && !(lt_tls.duals != 0 && lt_is_dual(t)) &&
           (!integer || lt_dtype_is_int((lt_dtype)t->dtype));
}

static bool list_fits(const lt_call_arg *arg, const lt_value *v, problem *p)
{
    const lt_tensor_list *list = &v->v.tensors;
    if (v->kind != LT_KIND_TENSORS || list->n < 0 || (list->n > 0 && list->v == NULL)) return false;
    if (arg->type == LT_ARG_INDEX_TENSORS && list->n > LT_MAX_DIMS) {
        p->kind = TOO_LONG;
        p->entry = list->n;
        return false;
    }
    for (int64_t i = 0; i < list->n; i++) {
        if (list->v[i] != NULL) continue;
        p->kind = WRONG_ENTRY;
        p->entry = i;
        return false;
    }
    return true;
}

static bool dims_fit(const lt_value *v, problem *p)
{
    if (v->kind != LT_KIND_DIMS || v->v.dims.n < 0 || (v->v.dims.n > 0 && v->v.dims.v == NULL))
        return is_whole(v);
    if (v->v.dims.n <= LT_MAX_DIMS) return true;
    p->kind = TOO_LONG;
    p->entry = v->v.dims.n;
    return false;
}

static bool accept(const lt_call_arg *arg, const lt_value *v, bool loose, problem *p)
{
    bool is_tensor = v->kind == LT_KIND_TENSOR && v->v.tensor != NULL;
    switch (arg->type) {
    case LT_ARG_TENSOR: return is_tensor;
    case LT_ARG_TENSOR_OR_SCALAR: return is_tensor || is_number_value(v);
    case LT_ARG_POSITIONS:
    case LT_ARG_INDEX_TENSOR:
        if (is_tensor && !lt_dtype_is_int((lt_dtype)v->v.tensor->dtype)) {
            p->kind = NOT_INDICES;
            return false;
        }
        return is_tensor;
    case LT_ARG_TENSORS:
    case LT_ARG_INDEX_TENSORS: return list_fits(arg, v, p);
    case LT_ARG_SCALAR: return is_number_value(v) || (loose && is_number_tensor(v, false));
    case LT_ARG_FLOAT:
        return v->kind == LT_KIND_INT || v->kind == LT_KIND_DOUBLE ||
               (loose && is_number_tensor(v, false));
    case LT_ARG_INT:
    case LT_ARG_DIM:
    case LT_ARG_INDEX: return is_whole(v) || (loose && is_number_tensor(v, true));
    case LT_ARG_BOOL: return v->kind == LT_KIND_BOOL;
    case LT_ARG_STRING: return v->kind == LT_KIND_STRING && v->v.s != NULL;
    case LT_ARG_DIMS:
    case LT_ARG_SIZE: return dims_fit(v, p) || (loose && is_number_tensor(v, true));
    case LT_ARG_DTYPE:
        if (v->kind == LT_KIND_STRING)
            return v->v.s != NULL && lt_dtype_from_name(v->v.s) != LT_DTYPE_NONE;
        return v->kind == LT_KIND_DTYPE && (unsigned)v->v.dtype < LT_DTYPE_COUNT;
    case LT_ARG_DEVICE:
        if (v->kind == LT_KIND_STRING)
            return v->v.s != NULL && lt_dtype_from_name(v->v.s) == LT_DTYPE_NONE;
        return v->kind == LT_KIND_DEVICE;
    case LT_ARG_GENERATOR: return v->kind == LT_KIND_GENERATOR && v->v.generator != NULL;
    }
    return false;
}

/* PyTorch's functions name the argument `self` "input". */
static bool has_name(const lt_call_arg *arg, const char *name)
{
    return strcmp(arg->info.name, name) == 0 ||
           (strcmp(name, "input") == 0 && strcmp(arg->info.name, "self") == 0);
}

static int find_arg(const lt_callable *f, const char *name)
{
    int i = 0;
    while (i < f->info.n_args && !has_name(&f->args[i], name)) i++;
    return i;
}

static int positional_args(const lt_callable *f)
{
    int n = 0;
    while (n < f->info.n_args && !f->args[n].info.named_only) n++;
    return n;
}

/* Matches the arguments of one overload to the values of the call. */
static bool callable_fits(const lt_callable *f, const named_call *c, match *m, problem *p)
{
    const int positional = positional_args(f);
    memset(m->given, 0, sizeof m->given);
    *p = (problem){.kind = TOO_MANY, .place = -1};
    if (c->nargs > positional) return false;
    for (int i = 0; i < c->nargs; i++) m->given[i] = arg_at(c, i);
    for (int k = 0; k < c->nnamed; k++) {
        const lt_named_value *named = named_at(c, k);
        int i = find_arg(f, named->name);
        p->named = named->name;
        p->kind = i == f->info.n_args ? UNKNOWN : TWICE;
        if (i == f->info.n_args || m->given[i] != NULL) return false;
        m->given[i] = &named->value;
    }
    for (int i = 0; i < f->info.n_args; i++) {
        const lt_call_arg *arg = &f->args[i];
        const lt_value *v = m->given[i];
        bool may_be_absent = arg->info.optional || arg->info.default_text != NULL;
        *p = (problem){.kind = WRONG_KIND, .arg = arg, .value = v, .place = i < c->nargs ? i : -1};
        if (v != NULL && v->kind == LT_KIND_NONE && may_be_absent) v = m->given[i] = NULL;
        /* An optional argument without a default must be passed, possibly as none. */
        if (v == NULL && arg->info.default_text == NULL && p->value == NULL) {
            p->kind = MISSING;
            return false;
        }
        if (v != NULL && !accept(arg, v, c->loose, p)) return false;
    }
    return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

static const char *const expected[] = {
    [LT_ARG_TENSOR] = "Tensor",
    [LT_ARG_TENSOR_OR_SCALAR] = "Tensor or number",
    [LT_ARG_INDEX_TENSOR] = "Tensor of indices",
    [LT_ARG_POSITIONS] = "Tensor of indices",
    [LT_ARG_TENSORS] = "list of Tensors",
    [LT_ARG_INDEX_TENSORS] = "list of Tensors",
    [LT_ARG_SCALAR] = "number",
    [LT_ARG_INT] = "int",
    [LT_ARG_FLOAT] = "number",
    [LT_ARG_BOOL] = "bool",
    [LT_ARG_STRING] = "string",
    [LT_ARG_DIM] = "int",
    [LT_ARG_DIMS] = "dims or int",
    [LT_ARG_INDEX] = "int",
    [LT_ARG_SIZE] = "dims",
    [LT_ARG_DTYPE] = "dtype",
    [LT_ARG_DEVICE] = "device",
    [LT_ARG_GENERATOR] = "generator",
};

static const char *kind_name(const lt_value *v)
{
    static const char *const names[] = {"none",   "bool",   "int",       "double",
                                        "string", "Tensor", "dims",      "list of Tensors",
                                        "dtype",  "device", "generator", "table"};
    bool null = (v->kind == LT_KIND_TENSOR && v->v.tensor == NULL) ||
                (v->kind == LT_KIND_STRING && v->v.s == NULL) ||
                (v->kind == LT_KIND_GENERATOR && v->v.generator == NULL);
    return null ? "NULL" : names[v->kind];
}

/* A message under construction, truncated to the buffer. */
typedef struct call_text {
    char buffer[900];
    size_t n;
} call_text;

__attribute__((format(printf, 2, 3))) static void append(call_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->buffer + t->n, sizeof t->buffer - t->n, format, args);
    va_end(args);
    t->n += n > 0 ? (size_t)n : 0;
    if (t->n >= sizeof t->buffer) t->n = sizeof t->buffer - 1;
}

/* A name that no overload has, or NULL. */
static const char *unknown_name(const lt_callable *const *f, int n, const named_call *c)
{
    for (int k = 0; k < c->nnamed; k++) {
        bool known = false;
        for (int i = 0; i < n; i++)
            known = known || find_arg(f[i], named_at(c, k)->name) < f[i]->info.n_args;
        if (!known) return named_at(c, k)->name;
    }
    return NULL;
}

static lt_status refuse_name(const lt_callable *const *f, int n, const char *op, const char *name)
{
    call_text t = {.n = 0};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < f[i]->info.n_args; j++) {
            const char *known = f[i]->args[j].info.name;
            bool told = false;
            for (int earlier = 0; earlier < i; earlier++)
                told = told || find_arg(f[earlier], known) < f[earlier]->info.n_args;
            if (!told) append(&t, "%s%s", t.n > 0 ? ", " : "", known);
        }
    }
    return lt_error(LT_ERR_TYPE, "%s(): unknown argument '%.100s' (known: %s)", op, name,
                    t.n > 0 ? t.buffer : "none");
}

/* The error of a call that does not match the only overload. */
static lt_status call_error(const lt_callable *f, const char *op, const named_call *c,
                            const problem *p)
{
    char where[32] = "";
    const char *name = p->arg != NULL ? p->arg->info.name : "";
    if (p->place >= 0) snprintf(where, sizeof where, " (argument %d)", p->place);
    switch (p->kind) {
    case WRONG_KIND:
        return lt_error(LT_ERR_TYPE, "%s(): '%s'%s must be %s, not %s", op, name, where,
                        expected[p->arg->type], kind_name(p->value));
    case WRONG_ENTRY:
        return lt_error(LT_ERR_TYPE, "%s(): '%s'%s must be list of Tensors, but entry %lld is NULL",
                        op, name, where, (long long)p->entry);
    case NOT_INDICES:
        return lt_error(LT_ERR_TYPE,
                        "%s(): '%s'%s must be Tensor of indices, of an integer dtype, not %s", op,
                        name, where, lt_dtype_name((lt_dtype)p->value->v.tensor->dtype));
    case TOO_LONG:
        return lt_error(LT_ERR_TYPE, "%s(): '%s'%s has %lld entries, at most %d are possible", op,
                        name, where, (long long)p->entry, LT_MAX_DIMS);
    case TOO_MANY:
        return lt_error(LT_ERR_TYPE, "%s() takes %d argument%s in a row, but %d were given: %s", op,
                        positional_args(f), positional_args(f) == 1 ? "" : "s", c->nargs,
                        f->info.signature);
    case MISSING:
        return lt_error(LT_ERR_TYPE, "%s() misses the argument '%s': %s", op, name,
                        f->info.signature);
    case TWICE:
        return lt_error(LT_ERR_TYPE, "%s() got two values for the argument '%.100s'", op, p->named);
    case UNKNOWN: break;
    }
    return refuse_name(&f, 1, op, p->named);
}

/* The error if several overloads exist: "got (Tensor, string, dim=int), but expected one of: ..."
 */
static lt_status refuse_combination(const lt_callable *const *f, int n, const char *op,
                                    const named_call *c)
{
    call_text t = {.n = 0};
    for (int i = 0; i < c->nargs; i++)
        append(&t, "%s%s", i > 0 ? ", " : "", kind_name(arg_at(c, i)));
    for (int i = 0; i < c->nnamed; i++)
        append(&t, "%s%.40s=%s", c->nargs + i > 0 ? ", " : "", named_at(c, i)->name,
               kind_name(&named_at(c, i)->value));
    append(&t, "), but expected one of:");
    for (int i = 0; i < n; i++) append(&t, "\n * %s", f[i]->info.signature);
    return lt_error(LT_ERR_TYPE, "%s() received an invalid combination of arguments - got (%s", op,
                    t.buffer);
}

/* ---- choosing -------------------------------------------------------------------------------- */

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const lt_call_name *)entry)->name);
}

static bool any_number_tensor(const named_call *c)
{
    for (int i = 0; i < c->nargs; i++)
        if (is_number_tensor(arg_at(c, i), false)) return true;
    for (int i = 0; i < c->nnamed; i++)
        if (is_number_tensor(&named_at(c, i)->value, false)) return true;
    return false;
}

/* Selects the first matching overload; in a second round, 0-dim tensors are accepted as numbers. */
static lt_status choose_callable(const lt_call_name *name, named_call *c, match *m,
                                 const lt_callable **chosen)
{
    const lt_callable *const *f = &lt_callables[name->first];
    problem p, ignored;
    for (int i = 0; i < name->n; i++) {
        if (!callable_fits(f[i], c, m, &p)) continue;
        *chosen = f[i];
        return LT_OK;
    }
    c->loose = any_number_tensor(c);
    for (int i = 0; c->loose && i < name->n; i++) {
        if (!callable_fits(f[i], c, m, &ignored)) continue;
        *chosen = f[i];
        return LT_OK;
    }
    const char *unknown = unknown_name(f, name->n, c);
    if (unknown != NULL) return refuse_name(f, name->n, name->name, unknown);
    return name->n == 1 ? call_error(f[0], name->name, c, &p)
                        : refuse_combination(f, name->n, name->name, c);
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
        *out = int64_of(v);
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

static lt_status wrap_number(lt_scalar number, match *m, lt_tensor **out)
{
    LT_TRY(lt_tensor_from_scalar(number, out));
    m->owned[m->n_owned++] = *out;
    return LT_OK;
}

/* Converts indices to int64; bool masks, which an index list may contain, stay. */
static lt_status indices_of(lt_tensor *t, match *m, lt_tensor **out)
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

static lt_status index_list_of(const lt_tensor_list *list, match *m, lt_tensor_list *out)
{
    *out = (lt_tensor_list){list->n, m->entries};
    for (int64_t i = 0; i < list->n; i++) LT_TRY(indices_of(list->v[i], m, &m->entries[i]));
    return LT_OK;
}

static lt_status convert(const lt_call_arg *arg, const lt_value *v, match *m, lt_call_slot *slot)
{
    lt_scalar number;
    switch (arg->type) {
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
static lt_status fall_back(const lt_call_arg *arg, match *m, lt_call_slot *slot)
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

static lt_status convert_all(const lt_callable *f, match *m)
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
    if (results == NULL) return LT_OK;
    if (nresults == NULL) return lt_null_argument("lt_call", "nresults");
    if (*nresults < f->info.n_results)
        return lt_error(LT_ERR_TYPE, "%s() gives %d result%s, and there is room for %d",
                        f->info.name, f->info.n_results, f->info.n_results == 1 ? "" : "s",
                        *nresults);
    return lt_value_check(f->info.name, "result", 0, results, results->size);
}

/* Copies the results to the tensors of out= and returns these instead; releases the originals. */
static lt_status store_results(const lt_callable *f, lt_call_slot *out, lt_value *made)
{
    const int n = f->info.n_results;
    const lt_tensor_list outs =
        f->args[f->out].type == LT_ARG_TENSORS ? out->list : (lt_tensor_list){1, &out->tensor};
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
static lt_status run_callable(const lt_callable *f, match *m, lt_value *made)
{
    bool reads = made[0].kind == LT_KIND_BOOL || made[0].kind == LT_KIND_INT;
    lt_copy_cause previous = {NULL, false};
    if (reads) previous = lt_copies_set_cause((lt_copy_cause){f->info.name, true});
    lt_status status = f->run(&m->frame, made);
    if (reads) lt_copies_set_cause(previous);
    if (status != LT_OK) return status;
    bool fills = f->out >= 0 && m->frame.present[f->out];
    if (fills && f->copied) return store_results(f, &m->frame.v[f->out], made);
    if (fills || f->info.in_place)
        made[0].v.tensor = lt_tensor_retain(m->frame.v[fills ? f->out : 0].tensor);
    return LT_OK;
}

lt_status lt_call(const char *name, const lt_value *args, int nargs, const lt_named_value *named,
                  int nnamed, lt_value *results, int *nresults)
{
    LT_REQUIRE(name);
    const lt_call_name *entry =
        bsearch(name, lt_call_names, (size_t)lt_call_names_n, sizeof *lt_call_names, compare_name);
    if (entry == NULL)
        return lt_error(LT_ERR_TYPE, "lt_call(): there is no operation '%.100s'", name);
    named_call c = {.args = args, .named = named, .nargs = nargs, .nnamed = nnamed};
    match m;
    const lt_callable *f = NULL;
    lt_value made[LT_CALL_MAX_RESULTS];
    m.n_owned = 0;
    LT_TRY(check_call(name, &c));
    LT_TRY(choose_callable(entry, &c, &m, &f));
    LT_TRY(check_room(f, results, nresults));
    for (int i = 0; i < f->info.n_results; i++) made[i] = lt_value_of(f->results[i].kind);
    lt_status status = convert_all(f, &m);
    if (status == LT_OK) status = run_callable(f, &m, made);
    for (int i = 0; i < m.n_owned; i++) lt_tensor_release(m.owned[i]);
    if (status != LT_OK) return status;
    if (results == NULL)
        for (int i = 0; i < f->info.n_results; i++) lt_value_release(&made[i]);
    else
        lt_value_hand_over(made, f->info.n_results, results);
    if (nresults != NULL) *nresults = f->info.n_results;
    return LT_OK;
}
