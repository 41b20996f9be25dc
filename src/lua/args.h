/* args.h - the arguments of a declared op: positional values, a final table of named values,
 * defaults, overloads.
 *
 * A generated function has an array of lt_signature (its overloads). lt_args_match selects the
 * first that fits without converting anything (it may raise: no resource is held yet);
 * lt_args_convert then fills in the values without raising, and lt_args_release frees temporaries
 * of the conversion (numbers as tensors, shifted index tensors). Only these functions convert
 * positions (from 1) to indices (from 0); tensors of positions may be left to the kernel
 * (LT_FLAG_POSITIONS). */
#ifndef LT_LUA_ARGS_H
#define LT_LUA_ARGS_H

#include "api/arg_type.h"
#include "binding.h"

typedef struct lt_arg_spec {
    const char *name;
    uint8_t type;     /* lt_arg_type */
    bool optional;    /* nil is a value: absent */
    bool has_default; /* fallback holds it, unless optional */
    bool keyword_only;
    bool row;                  /* Size, Dims: several positional numbers may replace the table */
    lt_scalar fallback;        /* int, float, bool, Scalar, Dim, Index (1-based, as in Lua) */
    const char *fallback_text; /* string */
} lt_arg_spec;

typedef struct lt_signature {
    const char *op;   /* for messages */
    const char *text; /* "sum(Tensor self, Dims? dim, ...)" for messages */
    const lt_arg_spec *args;
    int n;
} lt_signature;

typedef union lt_arg_value {
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
} lt_arg_value;

typedef struct lt_args {
    int overload;
    int given;           /* stack values before the call */
    int at[LT_MAX_ARGS]; /* stack index of each argument, 0: absent */
    /* Size, Dims: count of positional numbers, 0 for a table; Tensor[]: stack index of the array */
    int rows[LT_MAX_ARGS];
    bool present[LT_MAX_ARGS];
    lt_arg_value value[LT_MAX_ARGS];
    lt_tensor *owned[LT_MAX_ARGS + LT_MAX_DIMS]; /* IndexTensor[] needs one per dimension */
    int n_owned;
} lt_args;

/* Selects the overload. If none fits, raises an error that states the problem and the expected
 * arguments. Leaves the values of named arguments on the stack. */
void lt_args_match(lua_State *L, const lt_signature *overloads, int n, lt_args *a);
/* Fills value[] and present[]. On failure all temporaries are released. */
lt_status lt_args_convert(lua_State *L, const lt_signature *s, lt_args *a);
void lt_args_release(lt_args *a);

/* New reference: int64 positions with unchanged values, marked as counting from 1. */
lt_status lt_lua_positions(lt_tensor *positions, lt_tensor **out);

#endif
