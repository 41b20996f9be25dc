/* call_match.c - matches the values of a call to the arguments of an overload. It has no side
 * effects: the first mismatch is recorded for the error message. The rules are the same as in the
 * Lua binding (src/lua/args.c), except that indices count from 0 and values carry a kind. */
#include "api/call_match.h"

#include <string.h>

#include "autograd/autograd.h"
#include "autograd/dual.h"
#include "dtypes/dtype.h"
#include "tensor.h"

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

/* Whether v is a 0-dim tensor that can be converted to a number. */
static bool is_number_tensor(const lt_value *v, bool integer)
{
    if (v->kind != LT_KIND_TENSOR || v->v.tensor == NULL) return false;
    const lt_tensor *t = v->v.tensor;
    return t->ndim == 0 && !lt_requires_grad(t) && !(lt_tls.duals != 0 && lt_is_dual(t)) &&
           (!integer || lt_dtype_is_int((lt_dtype)t->dtype));
}

static bool list_fits(const lt_call_arg *arg, const lt_value *v, lt_call_problem *p)
{
    const lt_tensor_list *list = &v->v.tensors;
    if (v->kind != LT_KIND_TENSORS || list->n < 0 || (list->n > 0 && list->v == NULL)) return false;
    if (arg->type == LT_ARG_INDEX_TENSORS && list->n > LT_MAX_DIMS) {
        p->kind = LT_CALL_TOO_LONG;
        p->entry = list->n;
        return false;
    }
    for (int64_t i = 0; i < list->n; i++) {
        if (list->v[i] != NULL) continue;
        p->kind = LT_CALL_WRONG_ENTRY;
        p->entry = i;
        return false;
    }
    return true;
}

static bool dims_fit(const lt_value *v, lt_call_problem *p)
{
    if (v->kind != LT_KIND_DIMS || v->v.dims.n < 0 || (v->v.dims.n > 0 && v->v.dims.v == NULL))
        return is_whole(v);
    if (v->v.dims.n <= LT_MAX_DIMS) return true;
    p->kind = LT_CALL_TOO_LONG;
    p->entry = v->v.dims.n;
    return false;
}

static bool accept(const lt_call_arg *arg, const lt_value *v, bool loose, lt_call_problem *p)
{
    bool is_tensor = v->kind == LT_KIND_TENSOR && v->v.tensor != NULL;
    switch (arg->type) {
    case LT_ARG_NUMBERS:
    case LT_ARG_TENSOR: return is_tensor;
    case LT_ARG_TENSOR_OR_SCALAR: return is_tensor || is_number_value(v);
    case LT_ARG_POSITIONS:
    case LT_ARG_INDEX_TENSOR:
        if (is_tensor && !lt_dtype_is_int((lt_dtype)v->v.tensor->dtype)) {
            p->kind = LT_CALL_NOT_INDICES;
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

int lt_callable_find_arg(const lt_callable *f, const char *name)
{
    int i = 0;
    while (i < f->info.n_args && !has_name(&f->args[i], name)) i++;
    return i;
}

int lt_callable_positional_args(const lt_callable *f)
{
    int n = 0;
    while (n < f->info.n_args && !f->args[n].info.named_only) n++;
    return n;
}

bool lt_callable_fits(const lt_callable *f, const lt_named_call *c, lt_call_match *m,
                      lt_call_problem *p)
{
    const int positional = lt_callable_positional_args(f);
    memset(m->given, 0, sizeof m->given);
    *p = (lt_call_problem){.kind = LT_CALL_TOO_MANY, .place = -1};
    if (c->nargs > positional) return false;
    for (int i = 0; i < c->nargs; i++) m->given[i] = lt_call_arg_at(c, i);
    for (int k = 0; k < c->nnamed; k++) {
        const lt_named_value *named = lt_call_named_at(c, k);
        int i = lt_callable_find_arg(f, named->name);
        p->named = named->name;
        p->kind = i == f->info.n_args ? LT_CALL_UNKNOWN : LT_CALL_TWICE;
        if (i == f->info.n_args || m->given[i] != NULL) return false;
        m->given[i] = &named->value;
    }
    for (int i = 0; i < f->info.n_args; i++) {
        const lt_call_arg *arg = &f->args[i];
        const lt_value *v = m->given[i];
        bool may_be_absent = arg->info.optional || arg->info.default_text != NULL;
        *p = (lt_call_problem){
            .kind = LT_CALL_WRONG_KIND, .arg = arg, .value = v, .place = i < c->nargs ? i : -1};
        if (v != NULL && v->kind == LT_KIND_NONE && may_be_absent) v = m->given[i] = NULL;
        /* An optional argument without a default must be passed, possibly as none. */
        if (v == NULL && arg->info.default_text == NULL && p->value == NULL) {
            p->kind = LT_CALL_MISSING;
            return false;
        }
        if (v != NULL && !accept(arg, v, c->loose, p)) return false;
    }
    return true;
}

bool lt_call_has_number_tensor(const lt_named_call *c)
{
    for (int i = 0; i < c->nargs; i++)
        if (is_number_tensor(lt_call_arg_at(c, i), false)) return true;
    for (int i = 0; i < c->nnamed; i++)
        if (is_number_tensor(&lt_call_named_at(c, i)->value, false)) return true;
    return false;
}
