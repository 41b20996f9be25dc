/* call_errors.c - the messages of calls that match no overload. */
#include <stdarg.h>
#include <stdio.h>

#include "api/call_match.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "tensor.h"

static const char *const expected[] = {
    [LT_ARG_TENSOR] = "Tensor",
    [LT_ARG_TENSOR_OR_SCALAR] = "Tensor or number",
    [LT_ARG_INDEX_TENSOR] = "Tensor of indices",
    [LT_ARG_POSITIONS] = "Tensor of indices",
    [LT_ARG_TENSORS] = "list of Tensors",
    [LT_ARG_INDEX_TENSORS] = "list of Tensors",
    [LT_ARG_NUMBERS] = "Tensor of numbers",
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
static const char *unknown_name(const lt_callable *const *f, int n, const lt_named_call *c)
{
    for (int k = 0; k < c->nnamed; k++) {
        bool known = false;
        for (int i = 0; i < n; i++)
            known = known ||
                    lt_callable_find_arg(f[i], lt_call_named_at(c, k)->name) < f[i]->info.n_args;
        if (!known) return lt_call_named_at(c, k)->name;
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
                told = told || lt_callable_find_arg(f[earlier], known) < f[earlier]->info.n_args;
            if (!told) append(&t, "%s%s", t.n > 0 ? ", " : "", known);
        }
    }
    return lt_error(LT_ERR_TYPE, "%s(): unknown argument '%.100s' (known: %s)", op, name,
                    t.n > 0 ? t.buffer : "none");
}

/* The error of a call that does not match the only overload. */
static lt_status refuse_problem(const lt_callable *f, const char *op, const lt_named_call *c,
                                const lt_call_problem *p)
{
    char where[32] = "";
    const char *name = p->arg != NULL ? p->arg->info.name : "";
    if (p->place >= 0) snprintf(where, sizeof where, " (argument %d)", p->place);
    switch (p->kind) {
    case LT_CALL_WRONG_KIND:
        return lt_error(LT_ERR_TYPE, "%s(): '%s'%s must be %s, not %s", op, name, where,
                        expected[p->arg->type], kind_name(p->value));
    case LT_CALL_WRONG_ENTRY:
        return lt_error(LT_ERR_TYPE, "%s(): '%s'%s must be list of Tensors, but entry %lld is NULL",
                        op, name, where, (long long)p->entry);
    case LT_CALL_NOT_INDICES:
        return lt_error(LT_ERR_TYPE,
                        "%s(): '%s'%s must be Tensor of indices, of an integer dtype, not %s", op,
                        name, where, lt_dtype_name((lt_dtype)p->value->v.tensor->dtype));
    case LT_CALL_TOO_LONG:
        return lt_error(LT_ERR_TYPE, "%s(): '%s'%s has %lld entries, at most %d are possible", op,
                        name, where, (long long)p->entry, LT_MAX_DIMS);
    case LT_CALL_TOO_MANY:
        return lt_error(LT_ERR_TYPE, "%s() takes %d positional argument%s but %d were given: %s",
                        op, lt_callable_positional_args(f),
                        lt_callable_positional_args(f) == 1 ? "" : "s", c->nargs,
                        f->info.signature);
    case LT_CALL_MISSING:
        return lt_error(LT_ERR_TYPE, "%s() misses the argument '%s': %s", op, name,
                        f->info.signature);
    case LT_CALL_TWICE:
        return lt_error(LT_ERR_TYPE, "%s() got two values for the argument '%.100s'", op, p->named);
    case LT_CALL_UNKNOWN: break;
    }
    return refuse_name(&f, 1, op, p->named);
}

/* The error if several overloads exist: "got (Tensor, string, dim=int), but expected one of: ..."
 */
static lt_status refuse_combination(const lt_callable *const *f, int n, const char *op,
                                    const lt_named_call *c)
{
    call_text t = {.n = 0};
    for (int i = 0; i < c->nargs; i++)
        append(&t, "%s%s", i > 0 ? ", " : "", kind_name(lt_call_arg_at(c, i)));
    for (int i = 0; i < c->nnamed; i++)
        append(&t, "%s%.40s=%s", c->nargs + i > 0 ? ", " : "", lt_call_named_at(c, i)->name,
               kind_name(&lt_call_named_at(c, i)->value));
    append(&t, "), but expected one of:");
    for (int i = 0; i < n; i++) append(&t, "\n * %s", f[i]->info.signature);
    return lt_error(LT_ERR_TYPE, "%s() received an invalid combination of arguments - got (%s", op,
                    t.buffer);
}

lt_status lt_call_mismatch(const char *name, const lt_callable *const *f, int n,
                           const lt_named_call *c, const lt_call_problem *p)
{
    const char *unknown = unknown_name(f, n, c);
    if (unknown != NULL) return refuse_name(f, n, name, unknown);
    return n == 1 ? refuse_problem(f[0], name, c, p) : refuse_combination(f, n, name, c);
}
