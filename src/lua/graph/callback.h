/* callback.h - calls of Lua closures by core: hooks, custom Functions. Core knows a closure by a
 * number; the closure hangs from tokens (binding.h), so that cycles through it are collected. */
#ifndef LT_LUA_CALLBACK_H
#define LT_LUA_CALLBACK_H

#include "binding.h"

typedef struct lt_callback {
    lt_lua_state *state; /* counted */
    int64_t id;
} lt_callback;

/* One call: its parts are filled in by the caller of lt_callback_run. */
typedef struct lt_callback_call {
    int64_t id;
    int mode; /* what the closure is called with first: see lib/autograd.lua */
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

/* As functions of an lt_hook, whose ctx is an lt_callback. A hook of a node is called with the
 * values and those that it only sees, and gives the values. */
lt_status lt_callback_run_hook(void *ctx, lt_tensor *grad, lt_tensor **replacement);
lt_status lt_callback_run_node_hook(void *ctx, lt_tensor **values, int n, lt_tensor *const *seen,
                                    int m);

/* Raises the error value of a callback, else core's message. */
int lt_callback_raise(lua_State *L);

#endif
