/* args.h - the arguments of a declared op: positions, a last table of names, defaults, overloads.
 *
 * A generated function has an array of lt_signature (its overloads). lt_args_match finds the first
 * that fits without converting anything (it may raise: nothing is held yet); lt_args_convert then
 * fills in the values without raising, and lt_args_release gives back what conversion made (numbers
 * as tensors, shifted index tensors). The shift from positions (from 1) to indices (from 0) happens
 * here and nowhere else; tensors of positions may be left to the kernel (LT_FLAG_POSITIONS). */
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
    bool row;                  /* Size, Dims: numbers in a row may stand for it */
    lt_scalar fallback;        /* int, float, bool, Scalar, Dim, Index (as Lua gives them) */
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
    /* Size, Dims: how many numbers in a row, 0 for a table; Tensor[]: index of the array */
    int rows[LT_MAX_ARGS];
    bool present[LT_MAX_ARGS];
    lt_arg_value value[LT_MAX_ARGS];
    lt_tensor *owned[LT_MAX_ARGS + LT_MAX_DIMS]; /* IndexTensor[]: one for each dimension */
    int n_owned;
} lt_args;

/* Chooses the overload; raises with what was wrong and what was expected when none fits. Leaves the
 * values of named arguments on the stack. */
void lt_args_match(lua_State *L, const lt_signature *overloads, int n, lt_args *a);
/* Fills value[] and present[]. On failure nothing is held. */
lt_status lt_args_convert(lua_State *L, const lt_signature *s, lt_args *a);
void lt_args_release(lt_args *a);

/* New reference: int64 positions, not their values changed but marked as counting from 1. */
lt_status lt_lua_positions(lt_tensor *positions, lt_tensor **out);

#endif
