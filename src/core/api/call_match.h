/* call_match.h - the arguments of lt_call and their match with an overload: between call.c,
 * call_match.c and call_errors.c. */
#ifndef LT_CALL_MATCH_H
#define LT_CALL_MATCH_H

#include <stddef.h>

#include "api/callables.h"
#include "api/values.h"

typedef enum lt_call_problem_kind {
    LT_CALL_WRONG_KIND,
    LT_CALL_WRONG_ENTRY,
    LT_CALL_NOT_INDICES,
    LT_CALL_TOO_LONG,
    LT_CALL_TOO_MANY,
    LT_CALL_MISSING,
    LT_CALL_TWICE,
    LT_CALL_UNKNOWN
} lt_call_problem_kind;

/* The reason why an overload does not match. */
typedef struct lt_call_problem {
    lt_call_problem_kind kind;
    const lt_call_arg *arg;
    const lt_value *value;
    int place;         /* index of a positional argument; -1: named */
    int64_t entry;     /* index in a list */
    const char *named; /* LT_CALL_TWICE, LT_CALL_UNKNOWN */
} lt_call_problem;

/* The arguments of the caller. */
typedef struct lt_named_call {
    const lt_value *args;
    const lt_named_value *named;
    int nargs, nnamed;
    bool loose; /* 0-dim tensors are accepted as numbers */
} lt_named_call;

/* The arguments of one overload (NULL where absent), their converted values, and the objects that
 * the conversion created. */
typedef struct lt_call_match {
    const lt_value *given[LT_MAX_ARGS];
    lt_call_frame frame;
    lt_tensor *entries[LT_MAX_DIMS]; /* the entries of an IndexTensor[] */
    lt_tensor *owned[LT_MAX_ARGS + LT_MAX_DIMS];
    int n_owned;
} lt_call_match;

static inline const lt_value *lt_call_arg_at(const lt_named_call *c, int i)
{
    return lt_value_at(c->args, i);
}

static inline const lt_named_value *lt_call_named_at(const lt_named_call *c, int i)
{
    size_t step = offsetof(lt_named_value, value) + c->named->value.size;
    return (const lt_named_value *)((const char *)c->named + (size_t)i * step);
}

/* The integer of a value that is one, possibly stored as a double. */
static inline int64_t lt_call_int64_of(const lt_value *v)
{
    return v->kind == LT_KIND_INT ? v->v.i : (int64_t)v->v.d;
}

/* call.c: selects the overload and converts the arguments, for calls that are repeated. m owns the
 * objects of the conversion: lt_call_unbind. Strings, lists and tensors are borrowed. */
lt_status lt_call_bind(const char *name, lt_named_call *c, lt_call_match *m, const lt_callable **f);
void lt_call_unbind(lt_call_match *m);
/* Runs an overload with converted arguments. made: n_results values, each with the kind of its
 * result; the objects in them are new. */
lt_status lt_call_run(const lt_callable *f, lt_call_frame *frame, lt_value *made);

/* Whether a value of the call is a 0-dim tensor that can be converted to a number. */
bool lt_call_has_number_tensor(const lt_named_call *c);

/* The index of the argument with this name; n_args: there is none. */
int lt_callable_find_arg(const lt_callable *f, const char *name);

/* The number of arguments that may be positional. */
int lt_callable_positional_args(const lt_callable *f);

/* Matches the arguments of one overload to the values of the call: fills m->given. If they do not
 * match, returns false and sets *p. */
bool lt_callable_fits(const lt_callable *f, const lt_named_call *c, lt_call_match *m,
                      lt_call_problem *p);

/* The error of a call that none of the n overloads matches. p: of the only overload; unused if
 * there are several. */
lt_status lt_call_mismatch(const char *name, const lt_callable *const *f, int n,
                           const lt_named_call *c, const lt_call_problem *p);

#endif
