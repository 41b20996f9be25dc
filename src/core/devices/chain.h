/* chain.h - elementwise ops that are done one after the other on a few elements at a time, so that what lies between them is never
 * written to memory. Plain data, no ownership; a backend is given one (backend.h's `chain`). */
#ifndef LT_CHAIN_H
#define LT_CHAIN_H

#include "ltensor.h"

enum {
    LT_CHAIN_INPUTS = 4,
    LT_CHAIN_PARAMS = 4,
    LT_CHAIN_STEPS = 48,  /* most of one chain */
    LT_CHAIN_VALUES = 96, /* its values: results of steps and what they read */
    LT_CHAIN_COPY = -1    /* the op of a step that converts its input to the dtype of its result */
};

/* An operand of steps: numel elements in the order of the chain. */
typedef struct lt_chain_value {
    lt_dtype dtype;
    bool number; /* one element for all */
    bool host;   /* which lies in the host's memory, wherever the others do */
    char *data;  /* the first; NULL: results that nobody sees */
    const struct lt_iter *
        walk; /* elements elsewhere than one after the other: operand 1 beside a dense operand 0; else NULL */
} lt_chain_value;

typedef struct lt_chain_step {
    int op; /* of pointwise_ops.h, or LT_CHAIN_COPY */
    lt_dtype compute;
    int n, n_params;
    int in[LT_CHAIN_INPUTS], out; /* values; what a step reads is given or an earlier step's out */
    lt_scalar params[LT_CHAIN_PARAMS];
} lt_chain_step;

typedef struct lt_chain {
    lt_device device; /* where its values are */
    int64_t numel;
    int n_steps, n_values;
    lt_chain_step steps[LT_CHAIN_STEPS];
    lt_chain_value values[LT_CHAIN_VALUES];
} lt_chain;

/* A dense tensor that is not in memory when a kernel is to read it: value number `value` of the chain, in order. */
typedef struct lt_fed {
    const lt_chain *chain;
    int value;
} lt_fed;

enum { LT_FED_LINE = 65536 }; /* elements of the longest line that kernels of lines take so */

#endif
