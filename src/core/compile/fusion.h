/* fusion.h - a fusion group: elementwise ops that a backend executes together, block by block, so
 * that intermediate values are not written to memory (backend.h's run_fusion). It is a list of
 * steps in SSA form: each step defines one value. Plain data without ownership. */
#ifndef LT_FUSION_H
#define LT_FUSION_H

#include "ltensor.h"

enum {
    LT_FUSED_INPUTS = 4,
    LT_FUSED_PARAMS = 4,
    LT_FUSED_STEPS = 48,  /* per group */
    LT_FUSED_VALUES = 96, /* per group: inputs and results of steps */
    LT_FUSED_COPY = -1    /* op of a step that converts its input to the result's dtype */
};

/* A host function that reads an input in another order: it stores elements [from, from + n), in the
 * order of the group, contiguously at `to`. data: the input's first element. Compared by memcmp, so
 * unused bytes have to be zero. */
typedef struct lt_fused_gather {
    void (*read)(const struct lt_fused_gather *g, const char *data, char *to, int64_t from,
                 int64_t n);
    int64_t numbers[8]; /* parameters of read */
} lt_fused_gather;

/* A value: numel elements in the order of the group. */
typedef struct lt_fused_value {
    lt_dtype dtype;
    bool number; /* one element, broadcast */
    bool host;   /* a number in host memory */
    char *data;  /* the first element; NULL: an intermediate value without memory */
    /* strided inputs: operand 1 (operand 0: dense, in the order of the group); else NULL */
    const struct lt_iter *walk;
    const lt_fused_gather *gather; /* inputs read by a function; else NULL */
} lt_fused_value;

/* Whether the elements have to be gathered to a buffer before a step reads them. */
static inline bool lt_is_gathered(const lt_fused_value *v)
{
    return v->walk != NULL || v->gather != NULL;
}

typedef struct lt_fused_step {
    int op; /* number in pointwise_ops.h, or LT_FUSED_COPY */
    lt_dtype compute;
    int n, n_params;
    int in[LT_FUSED_INPUTS], out; /* indices of values; in: inputs, or results of earlier steps */
    lt_scalar params[LT_FUSED_PARAMS];
} lt_fused_step;

/* All steps of a group for elements [from, to). data: the addresses of its values. */
typedef void (*lt_fused_loop)(char *const *data, int64_t from, int64_t to);

typedef struct lt_fusion {
    lt_device device;
    int64_t numel;
    lt_fused_loop loop; /* compiled from lt_fusion_c_source; NULL: the steps are interpreted */
    int n_steps, n_values;
    lt_fused_step steps[LT_FUSED_STEPS];
    lt_fused_value values[LT_FUSED_VALUES];
} lt_fusion;

/* A kernel input that a fusion group computes: a value of the group, dense, in the order of the
 * group. */
typedef struct lt_fused_producer {
    const lt_fusion *fusion;
    int value;
    /* Initially true. The kernel sets it to false if it cannot consume the value; it is then called
     * again with the value in memory, in a group without steps. */
    bool *done;
} lt_fused_producer;

enum { LT_FUSED_MAX_ROW = 65536 }; /* elements of the longest row that host kernels consume */

#endif
