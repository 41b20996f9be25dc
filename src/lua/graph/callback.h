/* callback.h - calls of Lua closures by core: hooks, custom Functions. Core identifies a closure by
 * a number; tokens (binding.h) refer to the closure, so that cycles through it are collected. */
#ifndef LT_LUA_CALLBACK_H
#define LT_LUA_CALLBACK_H

#include "binding.h"

typedef struct lt_callback {
    lt_lua_state *state; /* counted */
    int64_t id;
} lt_callback;

/* One call; the caller of lt_callback_run fills it in. */
typedef struct lt_callback_call {
    int64_t id;
    int mode; /* first argument of the closure: see lib/autograd.lua */
    int n_arguments, n_results;
    lt_tensor *const *arguments;
    const bool *needs;
    lt_tensor **results; /* new references */
} lt_callback_call;

/* Owns a reference to the state. */
lt_status lt_callback_new(lt_lua_state *s, int64_t id, lt_callback **out);
void lt_callback_release(void *ctx);

/* Calls the closure protected. An error value that it raises is raised by lt_callback_raise. */
lt_status lt_callback_run(lt_callback *c, lt_callback_call *call);

/* Functions for an lt_hook with an lt_callback as ctx. The hook of a node receives its values and
 * the read-only `seen` ones, and returns the values. */
lt_status lt_callback_run_hook(void *ctx, lt_tensor *grad, lt_tensor **replacement);
lt_status lt_callback_run_node_hook(void *ctx, lt_tensor **values, int n, lt_tensor *const *seen,
                                    int m);

/* The field of the registry with a function that receives the error of a failed callback; nil: no
 * program reports frames. */
#define LT_LUA_CALLBACK_FAILED "ltensor.callback_failed"

/* Calls f with the argument as a light userdata, protected; needs 4 slots of the stack. Returns
 * Lua's status, with the error on top of the stack. */
int lt_lua_call_protected(lua_State *L, lua_CFunction f, void *argument);

/* Values of scripts that the graph holds by their numbers in the registry (luaL_ref). Call the first
 * before luaL_ref; the second, from any thread, when a number is no longer needed. */
lt_status lt_lua_number_values(lt_lua_state *s);
void lt_lua_give_up(lt_lua_state *s, int number);

/* As lt_lua_call_back on this thread of the interpreter. keep: stores the error value for
 * lt_callback_raise. */
lt_status lt_lua_call_back_on(lua_State *L, lua_CFunction f, void *argument, bool keep);

/* Raises the error value of a callback, else core's message. */
int lt_callback_raise(lua_State *L);

#endif
