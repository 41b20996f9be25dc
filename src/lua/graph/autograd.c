/* autograd.c - backward, grad, hooks, custom Functions and modes, for Lua.
 *
 * Core calls hooks and Functions through callbacks (callback.h); nodes.c has the nodes.
 * lib/autograd.lua builds the public API on these functions of torch._C. */
#include "autograd/autograd.h"

#include <stdio.h>
#include <string.h>

#include "binding.h"
#include "call.h"
#include "callback.h"
#include "nodes.h"
#include "memory/alloc.h"

/* ---- backward -------------------------------------------------------------------------------- */

/* Hooks may remove tensors from the tables and collect them while core uses them. */
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
 * accumulate. within: calls lt_grad_within; the other options must match it. */
static int autograd_backward(lua_State *L)
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
    lt_lua_state *s = lt_lua_state_current(L);
    lua_State *outer = s->running;
    s->running = L;
    retain_list(roots, n);
    retain_list(grads, n);
    retain_list(inputs, n_inputs);
    const lt_backward_args args = {.roots = roots,
                                   .grads = grads,
                                   .n = n,
                                   .retain_graph = retain,
                                   .create_graph = create,
                                   .inputs = inputs,
                                   .n_inputs = n_inputs,
                                   .allow_unused = allow_unused,
                                   .results = results};
    lt_entry entry = lt_enter(L);
    lt_status status = lua_toboolean(L, 8)
                           ? lt_grad_within(roots, grads, n, inputs, n_inputs, results)
                           : lt_run_backward(&args);
    lt_leave(entry);
    release_list(roots, n);
    release_list(grads, n);
    release_list(inputs, n_inputs);
    s->running = outer;
    lt_lua_forget_saved(L, s);
    if (status != LT_OK) return lt_callback_raise(L);
    if (results == NULL) return 0;
    for (int i = 0; i < n_inputs; i++)
        if (results[i] != NULL) ((lt_box *)lua_touserdata(L, boxes + i))->tensor = results[i];
    for (int i = n_inputs - 1; i >= 0; i--) {
        if (results[i] == NULL) {
            lua_pop(L, 1);
            lua_pushboolean(L, false);
        } else if (create && lt_requires_grad(results[i])) {
            /* the gradients' graph contains the graph of the roots */
            static const int args[] = {1};
            lt_lua_link(L, lua_gettop(L), args, 1);
        }
        lua_rawseti(L, boxes - 1, i + 1);
    }
    return 1;
}

/* _C.graph_leaves(list of tensors) -> the leaves that receive their gradients */
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
    lt_lua_state *s = lt_lua_state_current(L);
    if (!lt_requires_grad(t))
        return lt_lua_error(L, "cannot register a hook on a tensor that doesn't require gradient");
    int64_t anchor = lt_lua_anchor(L, 1, s), id = 0;
    lt_lua_check(L, lt_callback_new(s, anchor, &callback));
    lt_hook hook = {.run = lt_callback_run_hook, .release = lt_callback_release, .ctx = callback};
    lt_status status = add(t, hook, &id);
    if (status != LT_OK) {
        lt_callback_release(callback);
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
    lua_pushnil(L); /* it no longer refers to the graph's closures */
    lua_setiuservalue(L, 1, 1);
    return 1;
}

/* ---- custom Functions ------------------------------------------------------------------------ */

static lt_status function_apply(void *ctx, lt_tensor *const *grads, lt_tensor **results,
                                const bool *needs);

/* The ctx of a Function's node: the closure and the numbers of gradients in and out. */
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
    return lt_callback_run(f->callback, &call);
}

static void function_release(void *ctx)
{
    lt_lua_function *f = ctx;
    lt_callback_release(f->callback);
    lt_mem_free(f);
}

/* An output that is also an input was modified in place: if it is a view, the history of its base
 * changes, too. */
static lt_status attach_output(lt_node *node, int slot, lt_tensor *t, lt_tensor **inputs,
                               int n_inputs)
{
    bool modified = false;
    for (int i = 0; i < n_inputs; i++) modified = modified || inputs[i] == t;
    if (!modified || t->view_base == NULL) return lt_node_attach(node, slot, t);
    if (inputs[0] == t && node->inputs == 1) return lt_node_attach_inplace(node, t);
    return lt_error(LT_ERR_RUNTIME, "a Function that modifies a view inplace must have it as its "
                                    "first input and its only output");
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
    LT_CHECK(lt_callback_new(s, anchor, &f->callback));
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
        if (f->callback != NULL) lt_callback_release(f->callback);
        lt_mem_free(f);
    }
    lt_node_release(node);
    return status;
}

/* _C.function(name, closure, inputs, outputs): the outputs (new tensors; false: not differentiable)
 * become results of a node; closure(needs, grads...) returns a gradient per input. */
static int function(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1);
    lt_lua_check_type(L, 2, LUA_TFUNCTION);
    lt_lua_check_type(L, 3, LUA_TTABLE);
    lt_lua_check_type(L, 4, LUA_TTABLE);
    lua_settop(L, 4);
    int n_inputs = (int)lua_rawlen(L, 3), n_outputs = (int)lua_rawlen(L, 4);
    lt_lua_state *s = lt_lua_state_current(L);
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
    lua_pushboolean(L, LT_INSIDE(L, lt_tls.inference));
    return 1;
}

static int is_inference(lua_State *L)
{
    lua_pushboolean(L, lt_lua_check_tensor(L, 1)->flags & LT_FLAG_INFERENCE);
    return 1;
}

/* _C.last_node() -> the number of the newest node; _C.name_nodes(name, number, tensor...) names the
 * nodes of these tensors that are newer than the number. */
static int last_node(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)lt_tls.last_node);
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
        {"backward", autograd_backward},
        {"register_hook", register_hook},
        {"remove_hook", remove_hook},
        {"function", function},
        {"register_post_hook", register_post_hook},
        {"graph_leaves", graph_leaves},
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
    lt_lua_open_nodes(L);
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
