/* chain.h - elementwise ops that are done one after the other on a few elements at a time, so that
 * what lies between them is never written to memory. Plain data, no ownership; a backend is given
 * one (backend.h's `chain`). */
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

/* An input of which a function on the host brings elements together: n of them, from number `from`
 * on in the order of the chain, one after the other at `to`. data: the input's first element. Two
 * are the same where their bytes are. */
typedef struct lt_fused_gather {
    void (*read)(const struct lt_fused_gather *g, const char *data, char *to, int64_t from,
                 int64_t n);
    int64_t numbers[8]; /* the function's own */
} lt_fused_gather;

/* An operand of steps: numel elements in the order of the chain. */
typedef struct lt_chain_value {
    lt_dtype dtype;
    bool number; /* one element for all */
    bool host;   /* which lies in the host's memory, wherever the others do */
    char *data;  /* the first; NULL: results that nobody sees */
    /* elements elsewhere than one after the other: operand 1 beside a dense operand 0; else NULL */
    const struct lt_iter *walk;
    const lt_fused_gather *gather; /* the same by a function; else NULL */
} lt_chain_value;

/* Whether its elements are brought together before a step reads them. */
static inline bool lt_is_gathered(const lt_chain_value *v)
{
    return v->walk != NULL || v->gather != NULL;
}

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

/* A dense tensor that is not in memory when a kernel is to read it: value number `value` of the
 * chain, in order. */
typedef struct lt_fed {
    const lt_chain *chain;
    int value;
    /* true; to become false where the kernel cannot be had after all. Then nothing was written that
     * is not written again, and it is given a chain of no steps whose value is in memory. */
    bool *done;
} lt_fed;

enum { LT_FED_LINE = 65536 }; /* elements of the longest line that kernels of lines take so */

#endif
