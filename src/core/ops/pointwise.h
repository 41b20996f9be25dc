/* pointwise.h - runs an elementwise op: type promotion, broadcasting, the output, the kernel call.
 * Generated lt_<op>_impl functions call this and nothing else. */
#ifndef LT_POINTWISE_H
#define LT_POINTWISE_H

#include "tensor.h"

typedef enum lt_rule {
    LT_RULE_PROMOTE,  /* computed in and returned as the promoted dtype */
    LT_RULE_FLOAT,    /* integers become the default dtype */
    LT_RULE_COMPARE,  /* computed in the promoted dtype, returned as bool */
    LT_RULE_INTEGRAL, /* promoted; floating dtypes are refused */
    LT_RULE_SELECT    /* the first input is a bool condition and is not promoted */
} lt_rule;

/* The effect of scalar arguments on the dtype. It must be able to hold them, except for the last
 * kind. */
typedef enum lt_numbers {
    LT_NUMBERS_LIFT,     /* a fraction makes integers the default dtype */
    LT_NUMBERS_PROMOTE,  /* they take part in promotion */
    LT_NUMBERS_FIT,      /* a fraction for integers is refused */
    LT_NUMBERS_TRUNCATE, /* a number for integers is truncated */
    LT_NUMBERS_ANY       /* none: the kernel accepts values out of range */
} lt_numbers;

/* Properties of an op's kernel, from its declaration (src/ops/README.md). */
typedef struct lt_pointwise_facts {
    const char *name; /* "add" */
    lt_rule rule;
    lt_numbers numbers;
    lt_dtype bool_as;           /* dtype in which bools are computed and returned */
    const char *refuses_bool;   /* reason why bool is not supported; NULL: it is */
    const char *refuses_a_bool; /* reason why a bool with another dtype is not supported */
    /* the same for complex numbers, if there is a more specific reason than a missing kernel */
    const char *refuses_complex;
    bool divides;    /* integers must not be divided by 0 */
    bool gives_real; /* complex numbers have a result of their parts' real dtype */
    bool same_bits;  /* unsigned dtypes can be computed as signed integers of the same size */
    /* only the order of values matters: uint64 is computed as int64, shifted so that 0 is the least
     * value */
    bool by_order;
    /* with half types, a scalar as second input is not rounded to them first */
    bool exact_number;
    lt_status (*check)(lt_tensor *const *inputs, lt_dtype dtype); /* NULL: none */
} lt_pointwise_facts;

extern const lt_pointwise_facts lt_pointwise_table[]; /* by number; generated */

/* op: LT_PW_ADD ... of pointwise_ops.h, which is generated. inputs: n of them, all on one device
 * (except 0-dim CPU tensors). *out as in lt_output. */
lt_status lt_pointwise_run(int op, lt_tensor *const *inputs, int n, const lt_scalar *params,
                           int n_params, lt_tensor **out);

#endif
