/* plan.h - the operations of one run of a model, for inputs of the same shapes, dtypes and devices,
 * as a list that C executes.
 *
 * A plan is immutable, so threads share it; each run has a workspace of its own: the frames of the
 * calls with their constant arguments, slots for the tensors of the run, and the pool of their
 * memory (memory/block.h). A slot is emptied after its last use, so the next result uses its memory.
 * Workspaces are kept for the next runs, which therefore allocate nothing. */
#ifndef LT_LUA_MODEL_PLAN_H
#define LT_LUA_MODEL_PLAN_H

#include "binding.h"
#include "ltensor_model.h"

typedef struct lt_plan lt_plan;

/* Builds the plan of a recording (lib/model/record.lua) at the stack index, for these inputs.
 * Raises errors of Lua; a plan in *out is then incomplete, and freed by lt_plan_free as well. */
void lt_plan_build(lua_State *L, int index, lt_plan **out);
void lt_plan_free(lt_plan *plan);

/* Sets the signature of the runs to which the plan applies. */
lt_status lt_plan_sign(lt_plan *plan, lt_tensor *const *inputs, int n);
/* Whether the plan applies to a run with these inputs. */
bool lt_plan_fits(const lt_plan *plan, lt_tensor *const *inputs, int n);
/* Whether no parameter or buffer was changed since the recording. */
bool lt_plan_is_current(const lt_plan *plan);

/* A call of lt_model_run. */
typedef struct lt_plan_call {
    lt_tensor *const *inputs;
    int n_inputs;
    lt_tensor **outputs; /* of the caller; NULL: receives a new tensor */
    int n_outputs;
    const lt_model_value *values; /* of the outputs */
    lt_tensor *const *tensors;    /* parameters and buffers */
    int n_tensors;
} lt_plan_call;

/* Sets the outputs: a new reference to each result, or a copy into the caller's tensor. A new output
 * does not share the memory of an input, a parameter or a buffer: such results, references of the
 * caller, are replaced by copies. After an error no output is new. */
lt_status lt_plan_set_outputs(const lt_plan_call *call, lt_tensor **results);

/* Runs the plan and sets the outputs. *applies is false and the outputs are unchanged if a number
 * that the program reads from its tensors, such as the condition of a branch, is another one than in
 * the recording. Any thread. */
lt_status lt_plan_run(lt_plan *plan, const lt_plan_call *call, bool *applies);

#endif
