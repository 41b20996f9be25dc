/* callables.h - the tables that scripts/gen/calls.lua generates from the declarations, for lt_call
 * (call.c) and for the enumeration of ltensor.h (catalog.c). Indices in them count from 0. */
#ifndef LT_CALLABLES_H
#define LT_CALLABLES_H

#include "api/arg_type.h"
#include "ltensor.h"
#include "ltensor_binding.h"

#define LT_CALL_MAX_RESULTS 8

typedef struct lt_call_arg {
    lt_arg_info info;
    lt_arg_type type;
    lt_scalar fallback;        /* default of a number; of a size, its single entry */
    const char *fallback_text; /* default of a string */
} lt_call_arg;

/* A converted argument. */
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

/* An overload. run executes it and stores each result by its kind. It stores none for an in-place
 * op, nor if `out` is present and `copied` is false. */
typedef struct lt_callable {
    lt_op_info info; /* the first member: catalog.c compares its address */
    const lt_call_arg *args;
    const lt_arg_info *results;
    int out;     /* index of out=; -1: no out= */
    bool copied; /* results are computed in new tensors and copied to out= */
    bool exact;  /* out= must have their dtypes */
    lt_status (*run)(const lt_call_frame *a, lt_value *results);
} lt_callable;

/* Sorted by name. */
extern const lt_callable *const lt_callables[];
extern const int lt_callables_n;

/* A name or alias with its overloads: n from `first` on. Sorted by strcmp. */
struct lt_op {
    const char *name;
    int first, n; /* n 0: a registered operation, which each call finds (own/own_op.h) */
};
extern const lt_op lt_call_names[];
extern const int lt_call_names_n;

/* The built-in operation of a name, or NULL without an error. */
const lt_op *lt_op_builtin(const char *name);

#endif
