/* fusion.h - a fusion group: elementwise ops that a backend executes together, for a few elements at
 * a time, so that intermediate values are not written to memory (backend.h's run_fusion). A list of
 * steps in SSA form: each step defines one value. Plain data, without ownership. */
#ifndef LT_FUSION_H
#define LT_FUSION_H

#include "ltensor.h"

enum {
    LT_FUSED_INPUTS = 4,
    LT_FUSED_PARAMS = 4,
    LT_FUSED_STEPS = 48,  /* at most, of a group */
    LT_FUSED_VALUES = 96, /* at most: inputs of a group and results of its steps */
    LT_FUSED_COPY = -1    /* the op of a step that converts its input to the dtype of its result */
};

/* A function on the host that reads an input in another order: it stores n elements, from index
 * `from` on in the order of the group, one after the other at `to`. data: the input's first element.
 * Compared by memcmp. */
typedef struct lt_fused_gather {
    void (*read)(const struct lt_fused_gather *g, const char *data, char *to, int64_t from,
                 int64_t n);
    int64_t numbers[8]; /* parameters of read */
} lt_fused_gather;

/* A value: numel elements in the order of the group. */
typedef struct lt_fused_value {
    lt_dtype dtype;
    bool number; /* one element, repeated */
    bool host;   /* a number in host memory */
    char *data;  /* the first element; NULL: an intermediate value without memory */
    /* of strided inputs: operand 1, beside a dense operand 0; else NULL */
    const struct lt_iter *walk;
    const lt_fused_gather *gather; /* of inputs read by a function; else NULL */
} lt_fused_value;

/* Whether its elements have to be gathered before a step reads them. */
static inline bool lt_is_gathered(const lt_fused_value *v)
{
    return v->walk != NULL || v->gather != NULL;
}

typedef struct lt_fused_step {
    int op; /* of pointwise_ops.h, or LT_FUSED_COPY */
    lt_dtype compute;
    int n, n_params;
    int in[LT_FUSED_INPUTS], out; /* values; in: inputs, or results of earlier steps */
    lt_scalar params[LT_FUSED_PARAMS];
} lt_fused_step;

typedef struct lt_fusion {
    lt_device device;
    int64_t numel;
    int n_steps, n_values;
    lt_fused_step steps[LT_FUSED_STEPS];
    lt_fused_value values[LT_FUSED_VALUES];
} lt_fusion;

/* The input of a kernel that a fusion group computes: a value of the group, dense, in its order. */
typedef struct lt_fused_producer {
    const lt_fusion *fusion;
    int value;
    /* true; the kernel sets false if it cannot run. Then it is called again with a group without
     * steps, whose value is in memory. */
    bool *done;
} lt_fused_producer;

enum { LT_FUSED_MAX_ROW = 65536 }; /* elements of the longest row that host kernels take so */

#endif
