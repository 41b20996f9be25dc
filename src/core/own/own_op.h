/* own_op.h - operations that hosts, plugins and scripts register at run time (ltensor_register.h).
 *
 * - declaration.c parses a declaration into the tables of api/callables.h; registry.c finds an
 *   operation by its name; run_own.c executes a call; own_node.c is its node in the graph;
 *   plugin.c loads shared objects.
 * - An operation is reference counted: the registry, a running call, each node of a graph and the
 *   Lua function of an operation own references. */
#ifndef LT_OWN_OP_H
#define LT_OWN_OP_H

#include "api/callables.h"
#include "context/context.h"
#include "ops/batch/batch.h"

#define LT_OWN_TEXT 256 /* bytes of a qualified name in messages */

/* The tensors of a call that a derivative of a script needs, and the script's own object. */
typedef struct lt_own_saved {
    bool *inputs, *outputs; /* by number, as in lt_op_gradient; false on entry */
    int64_t n_inputs, n_outputs;
    void *state; /* passed to the derivative */
} lt_own_saved;

typedef struct lt_own_op {
    lt_callable callable; /* first: catalog.c compares its address; run is NULL */
    _Atomic int32_t refs;
    lt_op_definition definition; /* declaration and saves are in `text` */
    lt_call_arg args[LT_MAX_ARGS];
    int64_t first_default[LT_MAX_ARGS]; /* defaults of a Dim or Index as declared: from 1 */
    bool written[LT_MAX_ARGS];          /* Tensor(a!) */
    bool writes;
    bool keeps[LT_MAX_ARGS], keeps_result[LT_CALL_MAX_RESULTS]; /* by definition.saves */
    lt_arg_info results[LT_CALL_MAX_RESULTS];
    const char *name;      /* "myops::axpy"; never freed */
    const char *node_name; /* of its nodes; never freed */
    const char *lua_text;  /* the signature without results */
    lt_batch_arg batch_args[LT_MAX_ARGS];
    lt_batch_op batch; /* run_own.c sets run */
    char *text;        /* owns the strings above */

    /* Of scripts. owner: the interpreter, which alone finds the operation by `owner`; NULL: C.
     * keep: called after the implementation instead of `saves`; its state is dropped once, by any
     * thread. */
    const void *owner;
    lt_status (*keep)(void *user, const lt_value *args, const lt_value *results,
                      lt_own_saved *saved);
    void (*drop)(void *user, void *state);
} lt_own_op;

/* ---- declaration.c --------------------------------------------------------------------------- */

/* Fills in the tables of a new operation. LT_ERR_TYPE with the position of the problem. */
lt_status lt_own_parse(lt_own_op *op, const char *declaration, const char *doc);

/* ---- registry.c ------------------------------------------------------------------------------ */

/* As lt_op_register, for a script. *out: a new reference. */
lt_status lt_own_register(const lt_op_definition *definition, const void *owner, lt_own_op **out);
/* New reference; NULL: none. owner NULL: of any owner. */
lt_own_op *lt_own_find(const char *name, const void *owner);
/* A number that changes with each registration and removal: for caches of lt_own_find. */
int64_t lt_own_generation(void);
/* Unregisters the operation `name` of this owner in the current context; NULL: all of the owner, in
 * every context. */
bool lt_own_remove(const char *name, const void *owner);
lt_own_op *lt_own_retain(lt_own_op *op);
void lt_own_release(lt_own_op *op);
/* The operation with this description in the current context, borrowed; NULL: none. */
const lt_own_op *lt_own_of_info(const lt_op_info *info);

/* ---- run_own.c ------------------------------------------------------------------------------- */

/* Executes a call. made: n_results values, new on success, none otherwise. */
lt_status lt_own_run(lt_own_op *op, const lt_call_frame *frame, lt_value *made);
/* Calls the meta function, or the implementation without recording. */
lt_status lt_own_infer(lt_own_op *op, const lt_call_frame *frame, lt_value *made);

/* ---- own_node.c ------------------------------------------------------------------------------ */

/* The arguments of a call as values, and all tensors in them by number. */
typedef struct lt_own_values {
    lt_value args[LT_MAX_ARGS];
    lt_tensor **tensors; /* borrowed; NULL: absent */
    int64_t n;
} lt_own_values;
lt_status lt_own_values_of(const lt_own_op *op, const lt_call_frame *frame, lt_own_values *out);
void lt_own_values_free(lt_own_values *values);
/* Appends the tensors of n values to `list`, unless it is NULL; returns their number. */
int64_t lt_own_tensors(const lt_value *values, int n, lt_tensor **list);
void lt_own_release_values(lt_value *values, int n);

/* Records a call: its inexact results become outputs of a new node. */
lt_status lt_own_record(lt_own_op *op, const lt_own_values *given, const lt_value *results);

/* Calls the derivative. state: that of `keep`, or NULL. */
lt_status lt_own_differentiate(const lt_own_op *op, const lt_op_gradient *call);

#endif
