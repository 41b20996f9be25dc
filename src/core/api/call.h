/* call.h - the tables that scripts/gen/calls.lua makes of the declarations: for lt_call, which
 * reads them (call.c), and for the enumeration of ltensor.h (catalog.c). Indices in them count from
 * 0. */
#ifndef LT_CALL_H
#define LT_CALL_H

#include "api/arg_type.h"
#include "ltensor.h"

#define LT_CALL_MAX_RESULTS 8

typedef struct lt_call_arg {
    lt_arg_info info;
    lt_arg_type type;
    lt_scalar fallback;        /* the default of numbers, and of sizes: that number once */
    const char *fallback_text; /* of strings */
} lt_call_arg;

/* An argument as C gets it. */
typedef union lt_call_slot {
    lt_tensor *tensor;
    lt_tensor_list list;
    lt_scalar scalar;
    int64_t i;
    double d;
    bool b;
    const char *s;
    lt_dims dims;
    lt_dtype dtype;
    lt_device device;
    lt_generator *generator;
} lt_call_slot;

typedef struct lt_call_frame {
    lt_call_slot v[LT_MAX_ARGS];
    bool present[LT_MAX_ARGS];
} lt_call_frame;

/* An overload. run does it: results are filled in by kind; in place, and where `out` is present and
 * not `copied`, nothing is. */
typedef struct lt_callable {
    lt_op_info info; /* first */
    const lt_call_arg *args;
    const lt_arg_info *results;
    int out;     /* number of the argument that is filled instead; -1: there is none */
    bool copied; /* the results are made, then copied to it, */
    bool exact;  /* which has their dtypes */
    lt_status (*run)(const lt_call_frame *a, lt_value *results);
} lt_callable;

/* In the order of their names. */
extern const lt_callable *const lt_callables[];
extern const int lt_callables_n;

/* A name, other names among them: n overloads from `first` on. In the order of strcmp. */
typedef struct lt_call_name {
    const char *name;
    int first, n;
} lt_call_name;
extern const lt_call_name lt_call_names[];
extern const int lt_call_names_n;

#endif
