/* expression.h - elementwise formulas from text (include/ltensor_kernel.h): between parse.c,
 * compose.c, plan.c, derive.c and expression.c.
 *
 * A formula is a list of values in the order of computation: an input, a number, or a function of
 * earlier values. There are three ways to run it:
 *
 * - compose.c calls the operations one after the other. This is the definition; the others have the
 *   same results.
 * - expression.c does so in a trace (compile/trace.h), which computes all values in few passes.
 * - plan.c runs the fusion group of an earlier trace again, for inputs of the same dtypes.
 *
 * On the CPU, a plan interprets its group, or calls a loop that the host's compiler made from the C
 * source of the group (compile/c_source.h).
 *
 * The derivative (derive.c) is that of the operations, in a trace of its own. A formula is constant
 * after parsing, except its plans. Includes core, not the binding. */
#ifndef LT_EXPRESSION_H
#define LT_EXPRESSION_H

#include <stdatomic.h>

#include "compile/fusion.h"
#include "ltensor.h"
#include "ltensor_kernel.h"
#include "system/threads.h"
#include "tensor.h"

enum {
    LT_FORMULA_INPUTS = 16,
    LT_FORMULA_OUTPUTS = 8,
    LT_FORMULA_VALUES = 256,
    LT_FORMULA_ARGS = 4,
    LT_FORMULA_PLANS = 8 /* per formula; a new one replaces the oldest */
};

/* A function that a text can call; a row of the generated table. */
typedef struct lt_formula_function {
    const char *name, *call; /* in the text; for lt_call */
    int least;               /* number of required arguments */
    const char *kinds;       /* per argument: 't', a number becomes a tensor; 'n', it does not */
} lt_formula_function;

typedef enum lt_formula_kind {
    LT_FORMULA_INPUT,
    LT_FORMULA_NUMBER,
    LT_FORMULA_CALL
} lt_formula_kind;

typedef struct lt_formula_value {
    lt_formula_kind kind;
    int input; /* INPUT: its index */
    int n, in[LT_FORMULA_ARGS];
    const lt_formula_function *function; /* CALL */
    lt_value number;
} lt_formula_value;

typedef struct lt_formula_plan lt_formula_plan; /* plan.c */

struct lt_formula {
    _Atomic int32_t refs;
    char *text, *name;
    const char *node_name; /* "MishBackward0"; never freed */
    int n_inputs, n_outputs, n_values;
    bool named;     /* the caller listed the inputs */
    lt_dtype dtype; /* of the results; LT_DTYPE_NONE: as computed */
    char *inputs[LT_FORMULA_INPUTS];
    int outputs[LT_FORMULA_OUTPUTS];
    int last[LT_FORMULA_VALUES]; /* the last value that reads each value; -1: none */
    lt_formula_value values[LT_FORMULA_VALUES];

    pthread_mutex_t lock; /* protects the plans */
    int next_plan;
    lt_formula_plan *plans[LT_FORMULA_PLANS];
};

/* parse.c: fills values, outputs and, unless named, inputs. */
lt_status lt_formula_parse(lt_formula *f, const char *const *outputs, int n_outputs);

/* compose.c: new references in results. inputs: one per input, tensors or numbers. */
lt_status lt_formula_compose(const lt_formula *f, const lt_value *inputs, lt_tensor **results);
/* The number of a value that is one. */
lt_scalar lt_formula_scalar(const lt_value *v);

/* plan.c. Identifies the inputs for which a plan is valid. */
typedef struct lt_formula_key {
    struct {
        int32_t kind, dtype; /* dtype: of a tensor */
        int64_t bits;        /* of a number */
    } input[LT_FORMULA_INPUTS];
    lt_device device;
    int32_t default_dtype;
} lt_formula_key;
/* Whether the inputs can be computed by a plan: tensors of equal sizes on one device, contiguous, of
 * two elements or more, in memory of their own; and numbers. Fills the key. *like: one tensor. */
bool lt_formula_key_of(const lt_formula *f, const lt_value *inputs, lt_formula_key *key,
                       lt_tensor **like);
/* Runs the plan of the key. *found: there is a plan, or a note that there can be none. *done: the
 * results are computed. */
lt_status lt_formula_run_plan(lt_formula *f, const lt_formula_key *key, const lt_value *inputs,
                              lt_tensor *like, lt_tensor **results, bool *found, bool *done);
/* Evaluates the deferred results in the open trace, and keeps the fusion group as the key's plan. */
lt_status lt_formula_keep_plan(lt_formula *f, const lt_formula_key *key, const lt_value *inputs,
                               lt_tensor *const *results);
void lt_formula_free_plans(lt_formula *f);
/* Whether neither a loop nor NULL was set for the plan of the key. */
bool lt_formula_lacks_loop(lt_formula *f, const lt_formula_key *key);
/* New: the C source of the key's plan; NULL: there is none. */
lt_status lt_formula_plan_source(lt_formula *f, const lt_formula_key *key, const lt_value *inputs,
                                 lt_tensor *like, char **source);
void lt_formula_plan_set_loop(lt_formula *f, const lt_formula_key *key, lt_formula_loop loop);

/* expression.c: whether these inputs can have a plan on the CPU, and neither a loop nor NULL was set
 * for it. */
bool lt_formula_wants_loop(lt_formula *f, const lt_value *inputs);
/* The least number of elements of operations that a trace for these inputs records. */
int64_t lt_formula_min_numel(const lt_formula *f, const lt_value *inputs);

/* derive.c: makes the results outputs of a node that computes the derivative by the inputs. */
lt_status lt_formula_record(lt_formula *f, const lt_value *inputs, lt_tensor *const *results);

#endif
