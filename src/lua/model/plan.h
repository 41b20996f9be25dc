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

/* The n outputs of a model, and the caller's tensors for them (lt_model_run). */
typedef struct lt_plan_outputs {
    const lt_model_value *values;
    lt_tensor **tensors;
    int n;
} lt_plan_outputs;

/* Sets the outputs: a new reference to each result, or a copy into the caller's tensor. After an
 * error no tensor is new. */
lt_status lt_plan_set_outputs(const lt_plan_outputs *outputs, lt_tensor *const *results);

/* Runs the plan and sets the outputs. Any thread. */
lt_status lt_plan_run(lt_plan *plan, lt_tensor *const *inputs, const lt_plan_outputs *outputs);

#endif
