/* nodes.c - nodes of the autograd graph as userdata, gradient edges and versions
 * (lib/autograd/graph.lua). */
#include "nodes.h"

#include <string.h>

#include "autograd/autograd.h"
#include "binding.h"
#include "callback.h"

#define NODE_META "ltensor.Node"

/* Pushes a Node userdata without its node. It shares the token of the tensor or node at `box`,
 * which keeps closures of the graph alive. */
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

/* A list of {node, output number from 1}. */
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

/* _C.register_node_hook(node, function, before) -> the numbers of the node's gradients in and out
 */
static int register_node_hook(lua_State *L)
{
    lt_node *node = check_node(L);
    lt_lua_check_type(L, 2, LUA_TFUNCTION);
    const bool before = lua_toboolean(L, 3);
    lua_settop(L, 2);
    lt_callback *callback = NULL;
    lt_lua_state *s = lt_lua_state_current(L);
    lt_lua_check(L, lt_callback_new(s, lt_lua_anchor(L, 1, s), &callback));
    lt_hook hook = {
        .run_node = lt_callback_run_node_hook, .release = lt_callback_release, .ctx = callback};
    if (lt_node_register_hook(node, before, hook) != LT_OK) {
        lt_callback_release(callback);
        return lt_lua_raise(L);
    }
    lua_pushinteger(L, node->inputs);
    lua_pushinteger(L, node->outputs);
    return 2;
}

/* _C.gradient_edge(tensor) -> the node that receives its gradient, the number of the node's result
 */
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

/* _C.edge_tensor(node, result number) -> a tensor that stands for this output of the node */
static int edge_tensor(lua_State *L)
{
    lt_node *node = check_node(L);
    const lua_Integer at = lt_lua_check_integer(L, 2);
    if (at < 1 || at > node->inputs)
        return lt_lua_error(L, "GradientEdge: %s has %d results, but got result %I",
                            lt_node_name(node), node->inputs, (LUAI_UACINT)at);
    lt_tensor **box = lt_lua_new(L);
    lt_lua_do(L, lt_gradient_edge(node, (int)at - 1, box));
    lua_getiuservalue(L, 1, 1);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

/* _C.backward_number() -> the number of the running backward, 0 if there is none;
 * _C.backward_reaches(tensor) -> whether that computes the tensor's gradient */
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

/* _C.check_saved(tensor): raises an error if it cannot be saved for backward */
static int check_saved(lua_State *L)
{
    lt_lua_do(L, lt_refuse_saving_inference(lt_lua_check_tensor(L, 1)));
    return 0;
}

/* _C.version_of(tensor) -> the number of in-place writes to it; also for inference tensors */
static int push_version(lua_State *L)
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

void lt_lua_open_nodes(lua_State *L)
{
    static const luaL_Reg internal[] = {
        {"register_node_hook", register_node_hook},
        {"gradient_edge", gradient_edge},
        {"edge_tensor", edge_tensor},
        {"backward_number", backward_number},
        {"backward_reaches", backward_reaches},
        {"increment_version", increment_version},
        {"version_of", push_version},
        {"check_saved", check_saved},
        {NULL, NULL},
    };
    static const luaL_Reg node_meta[] = {
        {"__tostring", node_tostring}, {"__eq", node_eq}, {"__gc", node_gc}, {NULL, NULL}};
    luaL_newmetatable(L, NODE_META);
    luaL_setfuncs(L, node_meta, 0);
    lua_newtable(L);
    lua_pushcfunction(L, node_name);
    lua_setfield(L, -2, "name");
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, "node_methods");
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_pushcclosure(L, node_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "Node");
    lua_setfield(L, -2, "__name");
    lt_lua_set_field_names(L, (const char *const[]){"next_functions", NULL});
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 2);
}
