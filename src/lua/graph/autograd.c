/* autograd.c - backward, grad, hooks, custom Functions and the nodes of the graph, for Lua.
 *
 * Core calls hooks and Functions through a C callback that knows the closure by a number: the
 * closure itself hangs from tokens (binding.h), so that cycles through it are collected. A callback
 * runs in a protected call; an error value that is raised in it comes out of backward() as it is.
 * lib/autograd.lua builds the public forms on torch._C's functions here. */
#include "autograd/autograd.h"

#include <stdio.h>
#include <string.h>

#include "binding.h"
#include "call.h"
#include "memory/alloc.h"

#define NODE_META "ltensor.Node"

static const char pending_error_key = 0;

/* ---- calling Lua from core ------------------------------------------------------------------- */

typedef struct lt_callback {
    lt_lua_state *state; /* counted */
    int64_t id;
} lt_callback;

static lt_status callback_new(lt_lua_state *s, int64_t id, lt_callback **out)
{
    lt_callback *c = lt_mem_alloc(sizeof *c);
    if (c == NULL) return LT_ERR_MEMORY;
    c->state = lt_lua_state_retain(s);
    c->id = id;
    *out = c;
    return LT_OK;
}

static void callback_release(void *ctx)
{
    lt_callback *c = ctx;
    lt_lua_state_release(c->state);
    lt_mem_free(c);
}

/* One call: its parts are filled in by run_callback's caller. */
typedef struct lt_callback_call {
    int64_t id;
    int mode; /* what the closure is called with first: see lib/autograd.lua */
    int n_arguments, n_results;
    lt_tensor *const *arguments;
    const bool *needs;
    lt_tensor **results; /* new references */
} lt_callback_call;

/* In a protected call: may raise. Results are retained only at the very end. */
static int call_closure(lua_State *L)
{
    lt_callback_call *call = lua_touserdata(L, 1);
    if (!lt_lua_push_anchored(L, call->id))
        return lt_lua_error(
            L, "a function of the graph was collected: no tensor of its graph is held any more");
    luaL_checkstack(L, call->n_arguments + call->n_results + 8, NULL);
    int base = lua_gettop(L);
    if (call->needs != NULL) {
        lua_createtable(L, call->n_results, 0);
        for (int i = 0; i < call->n_results; i++) {
            lua_pushboolean(L, call->needs[i]);
            lua_rawseti(L, -2, i + 1);
        }
    }
    for (int i = 0; i < call->n_arguments; i++) {
        if (call->arguments[i] == NULL)
            lua_pushnil(L);
        else
            lt_lua_push(L, call->arguments[i]);
    }
    lua_call(L, lua_gettop(L) - base, call->n_results);
    for (int i = 0; i < call->n_results; i++) {
        int at = base + i;
        if (!lua_isnil(L, at) && lt_lua_tensor(L, at) == NULL)
            return lt_lua_error(L, "expected a Tensor or nil as gradient, got a %s (result %d)",
                                lt_lua_type_name(L, at), i + 1);
    }
    for (int i = 0; i < call->n_results; i++) {
        lt_tensor *t = lt_lua_tensor(L, base + i);
        if (t != NULL) call->results[i] = lt_tensor_retain(t);
    }
    return 0;
}

lt_status lt_lua_call_back(const lt_lua_state *state, lua_CFunction f, void *argument)
{
    lua_State *L = state->running;
    if (L == NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "a hook written in Lua was reached from outside of its interpreter");
    if (!lua_checkstack(L, 4)) return lt_error(LT_ERR_MEMORY, "Lua stack overflow in a hook");
    lua_pushcfunction(L, f);
    lua_pushlightuserdata(L, argument);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) return LT_OK;
    lt_status status =
        lt_error(LT_ERR_RUNTIME, "%s",
                 lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "error in a hook");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &pending_error_key);
    return status;
}

static lt_status run_callback(lt_callback *c, lt_callback_call *call)
{
    call->id = c->id;
    return lt_lua_call_back(c->state, call_closure, call);
}

static lt_status run_hook(void *ctx, lt_tensor *grad, lt_tensor **replacement)
{
    lt_callback_call call = {
        .n_arguments = 1, .n_results = 1, .arguments = &grad, .results = replacement};
    return run_callback(ctx, &call);
}

/* The closure is called with the values and those that it only sees, and gives the values. */
static lt_status run_node_hook(void *ctx, lt_tensor **values, int n, lt_tensor *const *seen, int m)
{
    lt_tensor **list = lt_mem_zarray(2 * n + m + 1, sizeof *list), **given = list + n + m;
    if (list == NULL) return LT_ERR_MEMORY;
    for (int i = 0; i < n; i++) list[i] = values[i];
    for (int i = 0; i < m; i++) list[n + i] = seen[i];
    lt_callback_call call = {
        .n_arguments = n + m, .n_results = n, .arguments = list, .results = given};
    lt_status status = run_callback(ctx, &call);
    for (int i = 0; i < n && status == LT_OK; i++)
        if (values[i] != NULL && given[i] != NULL && !lt_same_sizes(values[i], given[i]))
            status = lt_error(LT_ERR_RUNTIME, "hook has changed the size of value");
    for (int i = 0; i < n; i++) {
        lt_tensor *old = given[i];
        if (status == LT_OK) old = values[i], values[i] = given[i];
        lt_tensor_release(old);
    }
    lt_mem_free(list);
    return status;
}

/* Raises what a callback raised, else core's message. */
static int raise_failure(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &pending_error_key) == LUA_TNIL) return lt_lua_raise(L);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &pending_error_key);
    return lua_error(L);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Hooks may take tensors out of the tables and collect them while core works on them. */
static void retain_list(lt_tensor **list, int n)
{
    for (int i = 0; i < n; i++)
        if (list[i] != NULL) lt_tensor_retain(list[i]);
}

static void release_list(lt_tensor **list, int n)
{
    for (int i = 0; i < n; i++) lt_tensor_release(list[i]);
}

/* Reads a list of boxes (entries may be false: absent) into an array that Lua frees. */
static lt_tensor **read_list(lua_State *L, int index, int n, const char *what)
{
    lt_tensor **list = lua_newuserdatauv(L, (size_t)(n > 0 ? n : 1) * sizeof *list, 0);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, index, i + 1);
        list[i] = lt_lua_get(L, -1);
        if (list[i] == NULL && lua_toboolean(L, -1))
            lt_lua_error(L, "%s: entry %d must be a Tensor, not %s", what, i + 1,
                         lt_lua_type_name(L, -1));
        lua_pop(L, 1);
    }
    return list;
}

/* _C.backward(roots, grads, retain_graph, create_graph, inputs or nil, accumulate, allow_unused,
 * within): lists of tensors; grads and results may hold false. Returns the list of gradients unless
 * accumulate. within: as lt_grad_within, whose options the other ones must be. */
static int backward(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    lua_settop(L, 8);
    bool retain = lua_toboolean(L, 3), create = lua_toboolean(L, 4);
    bool accumulate = lua_toboolean(L, 6), allow_unused = lua_toboolean(L, 7);
    int n = (int)lua_rawlen(L, 1), n_inputs = lua_istable(L, 5) ? (int)lua_rawlen(L, 5) : 0;
    lt_tensor **roots = read_list(L, 1, n, "backward(): tensors");
    lt_tensor **grads = read_list(L, 2, n, "backward(): grad_tensors");
    lt_tensor **inputs = n_inputs > 0 ? read_list(L, 5, n_inputs, "inputs") : NULL;
    for (int i = 0; i < n; i++)
        if (roots[i] == NULL)
            return lt_lua_error(L, "backward(): entry %d of tensors is missing", i + 1);
    for (int i = 0; i < n_inputs; i++)
        if (inputs[i] == NULL) return lt_lua_error(L, "inputs: entry %d is missing", i + 1);
    lt_tensor **results = NULL;
    int boxes = 0;
    luaL_checkstack(L, n_inputs + 8, "too many inputs");
    if (n_inputs > 0 && !accumulate) {
        results = lua_newuserdatauv(L, (size_t)n_inputs * sizeof *results, 0);
        memset(results, 0, (size_t)n_inputs * sizeof *results);
        lua_createtable(L, n_inputs, 0);
        boxes = lua_gettop(L) + 1;
        for (int i = 0; i < n_inputs; i++) lt_lua_new(L);
    }
    lt_lua_state *s = lt_lua_state_here(L);
    lua_State *outer = s->running;
    s->running = L;
    retain_list(roots, n);
    retain_list(grads, n);
    retain_list(inputs, n_inputs);
    lt_entry entry = lt_enter(L);
    lt_status status = lua_toboolean(L, 8)
                           ? lt_grad_within(roots, grads, n, inputs, n_inputs, results)
                           : lt_run_backward(roots, grads, n, retain, create, inputs, n_inputs,
                                             allow_unused, results);
    lt_leave(entry);
    release_list(roots, n);
    release_list(grads, n);
    release_list(inputs, n_inputs);
    s->running = outer;
    lt_lua_forget_saved(L, s);
    if (status != LT_OK) return raise_failure(L);
    if (results == NULL) return 0;
    for (int i = 0; i < n_inputs; i++)
        if (results[i] != NULL) ((lt_box *)lua_touserdata(L, boxes + i))->tensor = results[i];
    for (int i = n_inputs - 1; i >= 0; i--) {
        if (results[i] == NULL) {
            lua_pop(L, 1);
            lua_pushboolean(L, false);
        } else if (create && lt_requires_grad(results[i])) {
            static const int args[] = {1}; /* the gradients' graph contains that of the roots */
            lt_lua_link(L, lua_gettop(L), args, 1);
        }
        lua_rawseti(L, boxes - 1, i + 1);
    }
    return 1;
}

/* _C.graph_leaves(list of tensors) -> the leaves that their gradients flow to */
static int graph_leaves(lua_State *L)
{
    lt_lua_check_type(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    int n = (int)lua_rawlen(L, 1);
    lt_tensor **roots = read_list(L, 1, n, "graph_leaves()");
    lt_tensor_list *leaves = lt_call_new_list(L);
    return lt_call_list(L, lt_graph_leaves(roots, n, leaves), leaves, NULL, 0);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

typedef lt_status (*register_in_core)(lt_tensor *t, lt_hook hook, int64_t *id);

/* (tensor, function) -> id of the hook, id of its closure */
static int register_with(lua_State *L, register_in_core add)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    lt_lua_check_type(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lt_callback *callback = NULL;
    lt_lua_state *s = lt_lua_state_here(L);
    if (!lt_requires_grad(t))
        return lt_lua_error(L, "cannot register a hook on a tensor that doesn't require gradient");
    int64_t anchor = lt_lua_anchor(L, 1, s), id = 0;
    lt_lua_check(L, callback_new(s, anchor, &callback));
    lt_hook hook = {.run = run_hook, .release = callback_release, .ctx = callback};
    lt_status status = add(t, hook, &id);
    if (status != LT_OK) {
        callback_release(callback);
        return lt_lua_raise(L);
    }
    lua_pushinteger(L, id);
    lua_pushinteger(L, anchor);
    return 2;
}

/* _C.register_hook, _C.register_post_hook */
static int register_hook(lua_State *L) { return register_with(L, lt_register_hook); }
static int register_post_hook(lua_State *L) { return register_with(L, lt_register_post_hook); }

/* _C.remove_hook(tensor, id, closure's id) */
static int remove_hook(lua_State *L)
{
    lt_remove_hook(lt_lua_check_tensor(L, 1), lt_lua_check_integer(L, 2));
    const int64_t closure = lt_lua_check_integer(L, 3);
    /* a backward that runs may still call it */
    if (LT_INSIDE(L, lt_backward_number()) == 0) lt_lua_drop_anchor(L, 1, closure);
    return 0;
}

static int retain_grad(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    lt_lua_do(L, lt_retain_grad(t));
    return 0;
}

static int requires_grad_(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    bool on = lua_isnoneornil(L, 2) ? true : lua_toboolean(L, 2);
    lt_lua_do(L, lt_set_requires_grad(t, on));
    lua_settop(L, 1);
    return 1;
}

static int detach_(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    lt_lua_do(L, lt_detach_inplace(t));
    lua_settop(L, 1);
    lua_pushnil(L); /* the graph's closures are no longer its own */
    lua_setiuservalue(L, 1, 1);
    return 1;
}

/* ---- custom Functions ------------------------------------------------------------------------ */

static lt_status function_apply(void *ctx, lt_tensor *const *grads, lt_tensor **results,
                                const bool *needs);

/* What a Function's node carries beside the closure: how many gradients come and go. */
typedef struct lt_lua_function {
    lt_callback *callback;
    int n_outputs, n_inputs;
} lt_lua_function;

static lt_status function_apply(void *ctx, lt_tensor *const *grads, lt_tensor **results,
                                const bool *needs)
{
    lt_lua_function *f = ctx;
    lt_callback_call call = {.n_arguments = f->n_outputs,
                             .n_results = f->n_inputs,
                             .arguments = grads,
                             .needs = needs,
                             .results = results};
    return run_callback(f->callback, &call);
}

static void function_release(void *ctx)
{
    lt_lua_function *f = ctx;
    callback_release(f->callback);
    lt_mem_free(f);
}

/* An output that is an input was modified in place: when it is a view, its base's history changes
 * with it. */
static lt_status attach_output(lt_node *node, int slot, lt_tensor *t, lt_tensor **inputs,
                               int n_inputs)
{
    bool modified = false;
    for (int i = 0; i < n_inputs; i++) modified = modified || inputs[i] == t;
    if (!modified || t->view_base == NULL) return lt_node_attach(node, slot, t);
    if (inputs[0] == t && node->inputs == 1) return lt_node_attach_inplace(node, t);
    return lt_error(
        LT_ERR_RUNTIME,
        "a Function that modifies a view inplace must have it as its first input and its "
        "only output");
}

static lt_status function_new(lt_lua_state *s, int64_t anchor, const char *name, lt_tensor **inputs,
                              int n_inputs, lt_tensor **outputs, int n_outputs)
{
    lt_node *node = NULL;
    lt_status status = LT_OK;
    lt_lua_function *f = lt_mem_zalloc(sizeof *f);
    if (f == NULL) return LT_ERR_MEMORY;
    f->n_inputs = n_inputs;
    f->n_outputs = n_outputs;
    LT_CHECK(callback_new(s, anchor, &f->callback));
    LT_CHECK(lt_node_new(&lt_function_class, n_outputs, n_inputs, &node));
    lt_function_node *function = (lt_function_node *)node;
    function->apply = function_apply;
    function->release = function_release;
    function->ctx = f;
    f = NULL;
    LT_CHECK(lt_save_string(&function->name, name));
    for (int i = 0; i < n_inputs; i++)
        if (inputs[i] != NULL) LT_CHECK(lt_node_connect(node, i, inputs[i]));
    for (int i = 0; i < n_outputs; i++)
        if (outputs[i] != NULL) LT_CHECK(attach_output(node, i, outputs[i], inputs, n_inputs));
done:
    if (f != NULL) {
        if (f->callback != NULL) callback_release(f->callback);
        lt_mem_free(f);
    }
    lt_node_release(node);
    return status;
}

/* _C.function(name, closure, inputs, outputs): the outputs (fresh tensors; false: not
 * differentiable) become results of a node; closure(needs, grads...) gives a gradient per input. */
static int function(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1);
    lt_lua_check_type(L, 2, LUA_TFUNCTION);
    lt_lua_check_type(L, 3, LUA_TTABLE);
    lt_lua_check_type(L, 4, LUA_TTABLE);
    lua_settop(L, 4);
    int n_inputs = (int)lua_rawlen(L, 3), n_outputs = (int)lua_rawlen(L, 4);
    lt_lua_state *s = lt_lua_state_here(L);
    lt_tensor **inputs = read_list(L, 3, n_inputs, "inputs");
    lt_tensor **outputs = read_list(L, 4, n_outputs, "outputs");
    int64_t anchor = 0;
    for (int i = 1; i <= n_outputs; i++) {
        static const int args[] = {3};
        if (lua_rawgeti(L, 4, i) == LUA_TUSERDATA) {
            int box = lua_gettop(L);
            lt_lua_link(L, box, args, 1);
            if (anchor == 0) {
                lua_pushvalue(L, 2);
                anchor = lt_lua_anchor(L, box, s);
            } else {
                lt_lua_push_anchors(L, box);
                lua_pushvalue(L, 2);
                lua_rawseti(L, -2, anchor);
                lua_pop(L, 1);
            }
        }
        lua_pop(L, 1);
    }
    lt_entry entry = lt_enter(L);
    lt_status status = function_new(s, anchor, name, inputs, n_inputs, outputs, n_outputs);
    lt_leave(entry);
    lt_lua_check(L, status);
    return 0;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Pushes a Node yet without its node. It shares the token of the tensor or node at `box`, so that
 * closures in the graph stay. */
static lt_node **new_node(lua_State *L, int box)
{
    lt_node **holder = lua_newuserdatauv(L, sizeof *holder, 1);
    *holder = NULL;
    luaL_setmetatable(L, NODE_META);
    lua_getiuservalue(L, box, 1);
    lua_setiuservalue(L, -2, 1);
    return holder;
}

void lt_lua_push_node(lua_State *L, lt_node *node, int box)
{
    if (node == NULL) {
        lua_pushnil(L);
        return;
    }
    lt_node **holder = new_node(L, box);
    *holder = lt_node_retain(node);
}

static lt_node *check_node(lua_State *L)
{
    lt_node **holder = lt_lua_check_udata(L, 1, NODE_META);
    if (*holder == NULL) lt_lua_error(L, "the node of the graph was released");
    return *holder;
}

static int node_name(lua_State *L)
{
    lua_pushstring(L, lt_node_name(check_node(L)));
    return 1;
}

static int node_tostring(lua_State *L)
{
    const lt_node *node = check_node(L);
    lua_pushfstring(L, "<%s object at %p>", lt_node_name(node), (const void *)node);
    return 1;
}

/* A list of {node, which of its outputs, from 1}. */
static int push_next_functions(lua_State *L, const lt_node *node)
{
    lua_createtable(L, node->outputs, 0);
    for (int i = 0; i < node->outputs; i++) {
        lua_createtable(L, 2, 0);
        lt_lua_push_node(L, node->edges[i].node, 1);
        lua_rawseti(L, -2, 1);
        lua_pushinteger(L, node->edges[i].slot + 1);
        lua_rawseti(L, -2, 2);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* Upvalue 1 is the table of a node's methods. */
static int node_index(lua_State *L)
{
    const lt_node *node = check_node(L);
    const char *key = lua_tostring(L, 2);
    if (key != NULL && strcmp(key, "next_functions") == 0) return push_next_functions(L, node);
    lua_settop(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    return 1;
}

/* _C.register_node_hook(node, function, before) -> how many gradients the node takes and gives */
static int register_node_hook(lua_State *L)
{
    lt_node *node = check_node(L);
    lt_lua_check_type(L, 2, LUA_TFUNCTION);
    const bool before = lua_toboolean(L, 3);
    lua_settop(L, 2);
    lt_callback *callback = NULL;
    lt_lua_state *s = lt_lua_state_here(L);
    lt_lua_check(L, callback_new(s, lt_lua_anchor(L, 1, s), &callback));
    lt_hook hook = {.run_node = run_node_hook, .release = callback_release, .ctx = callback};
    if (lt_node_register_hook(node, before, hook) != LT_OK) {
        callback_release(callback);
        return lt_lua_raise(L);
    }
    lua_pushinteger(L, node->inputs);
    lua_pushinteger(L, node->outputs);
    return 2;
}

/* _C.gradient_edge(tensor) -> the node that its gradient comes to, which of the node's results it
 * is */
static int gradient_edge(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1);
    int slot;
    if (!lt_requires_grad(t))
        return lt_lua_error(L, "It is not possible to get the gradient edge for a Tensor that does "
                               "not require gradients");
    lt_node **holder = new_node(L, 1);
    lt_lua_do(L, lt_edge_of(t, holder, &slot));
    lua_pushinteger(L, slot + 1);
    return 2;
}

/* _C.edge_tensor(node, which of its results) -> what stands for it */
static int edge_tensor(lua_State *L)
{
    lt_node *node = check_node(L);
    const lua_Integer at = lt_lua_check_integer(L, 2);
    if (at < 1 || at > node->inputs)
        return lt_lua_error(L, "GradientEdge: %s has %d results, there is no number %I",
                            lt_node_name(node), node->inputs, (LUAI_UACINT)at);
    lt_tensor **box = lt_lua_new(L);
    lt_lua_do(L, lt_gradient_edge(node, (int)at - 1, box));
    lua_getiuservalue(L, 1, 1);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

/* _C.backward_number() -> of the backward that runs, 0 where none does; _C.backward_reaches(tensor)
 * -> whether it computes its gradient */
static int backward_number(lua_State *L)
{
    lua_pushinteger(L, LT_INSIDE(L, lt_backward_number()));
    return 1;
}

static int backward_reaches(lua_State *L)
{
    bool reaches;
    lt_lua_do(L, lt_backward_reaches(lt_lua_check_tensor(L, 1), &reaches));
    lua_pushboolean(L, reaches);
    return 1;
}

/* _C.check_saved(tensor): an error where it cannot be saved for backward */
static int check_saved(lua_State *L)
{
    lt_lua_do(L, lt_refuse_saving_inference(lt_lua_check_tensor(L, 1)));
    return 0;
}

/* _C.version_of(tensor) -> how often it was written in place; of inference tensors, too */
static int version_of(lua_State *L)
{
    lua_pushinteger(L, atomic_load_explicit(&lt_lua_check_tensor(L, 1)->storage->version,
                                            memory_order_relaxed));
    return 1;
}

static int increment_version(lua_State *L)
{
    lt_bump_version(lt_lua_check_tensor(L, 1));
    return 0;
}

static int node_eq(lua_State *L)
{
    lt_node **a = luaL_testudata(L, 1, NODE_META), **b = luaL_testudata(L, 2, NODE_META);
    lua_pushboolean(L, a != NULL && b != NULL && *a == *b);
    return 1;
}

static int node_gc(lua_State *L)
{
    lt_node **holder = lt_lua_check_udata(L, 1, NODE_META);
    lt_node *node = *holder;
    *holder = NULL;
    lt_node_release(node);
    return 0;
}

/* ---- modes ----------------------------------------------------------------------------------- */

static int set_grad_enabled(lua_State *L)
{
    const bool on = lua_toboolean(L, 1);
    lua_pushboolean(L, LT_INSIDE(L, lt_set_grad_enabled(on)));
    return 1;
}

static int set_inference_mode(lua_State *L)
{
    const bool on = lua_toboolean(L, 1);
    lua_pushboolean(L, LT_INSIDE(L, lt_set_inference_mode(on)));
    return 1;
}

static int is_inference_mode_enabled(lua_State *L)
{
    lua_pushboolean(L, LT_INSIDE(L, lt_here.inference));
    return 1;
}

static int is_inference(lua_State *L)
{
    lua_pushboolean(L, lt_lua_check_tensor(L, 1)->flags & LT_FLAG_INFERENCE);
    return 1;
}

/* _C.last_node() -> the number of the node that was made last; _C.name_nodes(name, number,
 * tensor...) names those of the tensors' nodes that were made after it. */
static int last_node(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)lt_here.last_node);
    return 1;
}

static int name_nodes(lua_State *L)
{
    const char *name = lt_node_name_kept(lt_lua_check_string(L, 1));
    const uint64_t before = (uint64_t)lt_lua_check_integer(L, 2);
    for (int i = 3; name != NULL && i <= lua_gettop(L); i++)
        lt_name_node(lt_lua_get(L, i), before, name);
    return 0;
}

static int is_grad_enabled(lua_State *L)
{
    lua_pushboolean(L, LT_INSIDE(L, lt_grad_mode_on()));
    return 1;
}

static int set_anomaly(lua_State *L)
{
    const bool on = lua_toboolean(L, 1);
    const lt_entry entry = lt_enter(L);
    bool previous = lt_anomaly();
    lt_set_anomaly(on);
    lt_leave(entry);
    lua_pushboolean(L, previous);
    return 1;
}

void lt_lua_open_autograd(lua_State *L)
{
    static const luaL_Reg internal[] = {
        {"backward", backward},
        {"register_hook", register_hook},
        {"remove_hook", remove_hook},
        {"function", function},
        {"register_post_hook", register_post_hook},
        {"graph_leaves", graph_leaves},
        {"register_node_hook", register_node_hook},
        {"gradient_edge", gradient_edge},
        {"edge_tensor", edge_tensor},
        {"backward_number", backward_number},
        {"backward_reaches", backward_reaches},
        {"increment_version", increment_version},
        {"version_of", version_of},
        {"check_saved", check_saved},
        {"set_inference_mode", set_inference_mode},
        {"last_node", last_node},
        {"name_nodes", name_nodes},
        {"set_anomaly", set_anomaly},
        {"set_grad_enabled", set_grad_enabled},
        {NULL, NULL},
    };
    static const luaL_Reg methods[] = {{"retain_grad", retain_grad},
                                       {"requires_grad_", requires_grad_},
                                       {"detach_", detach_},
                                       {"is_inference", is_inference},
                                       {NULL, NULL}};
    static const luaL_Reg node_meta[] = {
        {"__tostring", node_tostring}, {"__eq", node_eq}, {"__gc", node_gc}, {NULL, NULL}};
    luaL_newmetatable(L, NODE_META);
    luaL_setfuncs(L, node_meta, 0);
    lua_newtable(L);
    lua_pushcfunction(L, node_name);
    lua_setfield(L, -2, "name");
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, "node_methods");
    lua_pushcclosure(L, node_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "Node");
    lua_setfield(L, -2, "__name");
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pushvalue(L, 3);
    lt_lua_setfuncs(L, methods);
    lua_settop(L, 3);
    lt_lua_pushfunction(L, is_grad_enabled);
    lua_setfield(L, 1, "is_grad_enabled");
    lt_lua_pushfunction(L, is_inference_mode_enabled);
    lua_setfield(L, 1, "is_inference_mode_enabled");
    lt_lua_pushfunction(L, is_inference);
    lua_setfield(L, 1, "is_inference");
}
