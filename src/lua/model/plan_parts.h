/* plan_parts.h - the structs of plans, for plan.c, which builds them, and run.c, which runs them. */
#ifndef LT_LUA_MODEL_PLAN_PARTS_H
#define LT_LUA_MODEL_PLAN_PARTS_H

#include <stdatomic.h>

#include "api/call_match.h"
#include "memory/block.h"
#include "plan.h"

enum { MAX_WORKSPACES = 16 }; /* kept for the next runs; more threads allocate theirs in each run */

/* A tensor argument that is set in each run. entry: its index in a list; -1: no list. */
typedef struct plan_patch {
    int arg, entry, slot;
} plan_patch;

/* A range of an array of the plan. */
typedef struct plan_range {
    int first, n;
} plan_range;

typedef struct plan_step {
    const lt_callable *callable;       /* NULL: reads a number from the slot of the only patch */
    int64_t expected;                  /* the number; a boolean is 0 or 1 */
    plan_range patches, results, ends; /* in patches, slots and slots */
    int list_arg, list_first;          /* a list argument in lists; -1: none */
} plan_step;

typedef struct plan_workspace {
    lt_call_frame *frames;
    lt_tensor **slots, **lists, **results;
    lt_block_pool pool;
} plan_workspace;

typedef struct plan_input {
    int dtype, ndim;
    lt_device device;
    bool requires_grad;
    int64_t sizes[LT_MAX_DIMS];
} plan_input;

/* An array that grows. */
typedef struct plan_list {
    void *items;
    int n, room;
} plan_list;

struct lt_plan {
    plan_list steps;     /* plan_step */
    plan_list frames;    /* lt_call_frame, one for each step */
    plan_list patches;   /* plan_patch */
    plan_list slots;     /* int: slots of results, and of values that end */
    plan_list lists;     /* lt_tensor *: entries of list arguments; NULL: patched */
    plan_list owned;     /* lt_tensor *: constants */
    plan_list texts;     /* char *: string arguments */
    plan_list inputs;    /* int: slots */
    plan_list outputs;   /* int: slots */
    plan_list depends;   /* lt_tensor *: parameters and buffers */
    plan_list versions;  /* uint32_t, of depends */
    plan_list signature; /* plan_input */
    bool grad;           /* grad mode of the recording */
    int n_slots;
    _Atomic(plan_workspace *) free[MAX_WORKSPACES];
};

/* Frees a workspace that no thread uses. */
void lt_plan_free_workspace(plan_workspace *w);

#endif
