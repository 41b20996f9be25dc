/* own.h - own operations (own/own_op.h) in Lua: shared by own.c, the functions of torch._C, and
 * implementation.c, the implementations that are written in Lua. */
#ifndef LT_LUA_OWN_H
#define LT_LUA_OWN_H

#include "binding.h"
#include "own/own_op.h"

/* The `user` of an operation of a script. functions: registry number of its table of functions
 * (lib/library/definition.lua): run, fake, setup, backward. */
typedef struct lt_lua_own {
    lt_lua_state *state; /* counted */
    lt_own_op *op;       /* borrowed: it owns this struct */
    int functions;
    pthread_t thread; /* the one that defined it: its calls from C reach the interpreter */
} lt_lua_own;

/* Pushes the value of argument i of the operation: positions count from 1. flat: NULL, or the stack
 * index of a list of the boxes of all tensors, of which *at is the next to use. May raise. */
void lt_lua_push_own_value(lua_State *L, const lt_own_op *op, int i, const lt_value *v, int flat,
                           int *at);

lt_status lt_lua_own_run(void *user, const lt_value *args, int nargs, lt_value *results,
                         int nresults);
lt_status lt_lua_own_fake(void *user, const lt_value *args, int nargs, lt_value *results,
                          int nresults);
lt_status lt_lua_own_keep(void *user, const lt_value *args, const lt_value *results,
                          lt_own_saved *saved);
void lt_lua_own_drop(void *user, void *state);
lt_status lt_lua_own_derivative(void *user, const lt_op_gradient *call);
void lt_lua_own_free(void *user);

#endif
