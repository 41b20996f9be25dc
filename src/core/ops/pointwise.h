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
    LT_RULE_SELECT    /* the first input is a bool condition and takes no part in promotion */
} lt_rule;

/* What the numbers among the arguments do to the dtype; but for the last kind they must be numbers
 * that it can hold. */
typedef enum lt_numbers {
    LT_NUMBERS_LIFT,     /* a fraction makes integers the default dtype */
    LT_NUMBERS_PROMOTE,  /* they take part in promotion */
    LT_NUMBERS_FIT,      /* a fraction for integers is refused */
    LT_NUMBERS_TRUNCATE, /* of a number for integers the fraction is dropped */
    LT_NUMBERS_ANY       /* nothing: the kernel takes what the dtype cannot hold, too */
} lt_numbers;

/* What the declaration of an op says of its kernel (src/ops/README.md). */
typedef struct lt_pointwise_facts {
    const char *name; /* "add" */
    lt_rule rule;
    lt_numbers numbers;
    lt_dtype bool_as;           /* what bools are computed and returned in */
    const char *refuses_bool;   /* why there is no such op for bool; NULL: there is */
    const char *refuses_a_bool; /* why there is none for a bool beside another dtype */
    /* the same for complex numbers, where there is more to say than that there is no kernel */
    const char *refuses_complex;
    bool divides;    /* integers may not be divided by 0 */
    bool gives_real; /* of complex numbers: the real dtype of their parts */
    bool same_bits;  /* the integers of its size compute what an unsigned dtype does */
    /* only which is larger matters: uint64 is computed as int64 that begin with the least */
    bool by_order;
    /* of half types, a number as the second input is not rounded to them first */
    bool exact_number;
    lt_status (*check)(lt_tensor *const *inputs, lt_dtype dtype); /* NULL: none */
} lt_pointwise_facts;

extern const lt_pointwise_facts lt_pointwise_table[]; /* by number; generated */

/* op: LT_PW_ADD ... of pointwise_ops.h, which is generated. inputs: n of them, all on one device
 * (0-dim CPU tensors excepted). *out as lt_output takes it. */
lt_status lt_pointwise_run(int op, lt_tensor *const *inputs, int n, const lt_scalar *params,
                           int n_params, lt_tensor **out);

#endif
