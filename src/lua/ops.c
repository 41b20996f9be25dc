/* ops.c - registers the generated functions, and implements the rarely used parts of their calls.
 *
 * Names, kinds and operators come from the tables of build/gen/bind_<group>.c. */
#include "bind_ops.h"
#include "call.h"
#include "devices/transfer.h"
#include "refuse.h"
#include "memory/alloc.h"
#include "system/lua_versions.h"

#define LIST_META "ltensor.list"

const int lt_call_positions[LT_MAX_ARGS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* ---- results --------------------------------------------------------------------------------- */

int lt_call_tensors(lua_State *L, lt_status status, int results, const int *at, int n)
{
    lt_lua_check(L, status);
    int first = lua_gettop(L) - results + 1;
    for (int i = first + results - 1; i >= first; i--) { /* results that were not requested */
        if (lt_lua_get(L, i) != NULL) continue;
        lua_remove(L, i);
        results--;
    }
    for (int i = first; n > 0 && i < first + results; i++)
        if (lt_call_has_history(lt_lua_get(L, i))) lt_lua_link(L, i, at, n);
    lt_lua_mark_results(L, results);
    return results;
}

int lt_call_outs(lua_State *L, lt_status status, int at)
{
    lt_lua_check(L, status);
    if (lua_type(L, at) != LUA_TTABLE) {
        lua_pushvalue(L, at);
        return 1;
    }
    int n = (int)lua_rawlen(L, at);
    luaL_checkstack(L, n, NULL);
    for (int i = 1; i <= n; i++) lua_rawgeti(L, at, i);
    lt_lua_mark_results(L, n);
    return n;
}

static int list_gc(lua_State *L)
{
    lt_tensor_list *list = lua_touserdata(L, 1);
    for (int64_t i = 0; i < list->n; i++) lt_tensor_release(list->v[i]);
    lt_mem_free(list->v);
    *list = (lt_tensor_list){0, NULL};
    return 0;
}

lt_tensor_list *lt_call_new_list(lua_State *L)
{
    lt_tensor_list *list = lua_newuserdatauv(L, sizeof *list, 0);
    *list = (lt_tensor_list){0, NULL};
    luaL_setmetatable(L, LIST_META);
    return list;
}

int lt_call_list(lua_State *L, lt_status status, lt_tensor_list *list, const int *at, int n)
{
    lt_lua_check(L, status);
    lua_createtable(L, list->n < INT32_MAX ? (int)list->n : 0, 0);
    int table = lua_gettop(L);
    for (int64_t i = 0; i < list->n; i++) {
        lt_tensor **slot = lt_lua_new(L);
        *slot = list->v[i];
        list->v[i] = NULL;
        if (lt_call_has_history(*slot)) lt_lua_link(L, table + 1, at, n);
        lua_rawseti(L, table, i + 1);
    }
    lt_mem_free(list->v);
    *list = (lt_tensor_list){0, NULL};
    return 1;
}

lt_status lt_call_finish_factory(lt_tensor **slot, bool requires_grad, bool pin_memory)
{
    if (pin_memory) {
        lt_tensor *pinned = NULL;
        LT_TRY(lt_tensor_pin(*slot, &pinned));
        lt_tensor_release(*slot);
        *slot = pinned;
    }
    return requires_grad ? lt_set_requires_grad(*slot, true) : LT_OK;
}

/* store_outs(name, table of tensors, results...): lt_store_outs for functions in Lua
 * (lib/support/outs.lua). */
static int store_outs(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    const int n = lua_gettop(L) - 2, given = (int)lua_rawlen(L, 2);
    lt_tensor **outs = lua_newuserdatauv(L, (size_t)(given + n + 1) * sizeof *outs, 0),
              **results = outs + given;
    for (int i = 0; i < given; i++) {
        lua_rawgeti(L, 2, i + 1);
        outs[i] = lt_lua_get(L, -1);
        if (outs[i] == NULL)
            return lt_lua_error(
                L, "%s(): argument 'out' must be a table of Tensors, but entry %d is %s", name,
                i + 1, lt_lua_type_name(L, -1));
        lua_pop(L, 1);
    }
    for (int i = 0; i < n; i++) results[i] = lt_lua_check_tensor(L, i + 3);
    lt_entry entry = lt_enter_op(L, name);
    const lt_status status = lt_store_outs(name, n, results, &(lt_tensor_list){given, outs});
    lt_leave(entry);
    lt_lua_check(L, status);
    return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const lt_bound *const bound_groups[] = {LT_BOUND_GROUPS};

/* op_name(f) -> the name of a generated function, and whether only torch.nn.functional has it;
 * nothing for any other value */
static int op_name(lua_State *L)
{
    lua_CFunction f = lua_tocfunction(L, 1);
    for (size_t g = 0; f != NULL && g < sizeof bound_groups / sizeof *bound_groups; g++)
        for (const lt_bound *b = bound_groups[g]; b->f != NULL; b++) {
            if (b->f != f) continue;
            lua_pushstring(L, b->name);
            lua_pushboolean(L, (b->kinds & LT_BOUND_NN) != 0);
            return 2;
        }
    return 0;
}

/* ---- registration ---------------------------------------------------------------------------- */

void lt_lua_open_ops(lua_State *L)
{
    luaL_newmetatable(L, LIST_META);
    lua_pushcfunction(L, list_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    luaL_getmetatable(L, LT_TENSOR_META_NAME);
    int metatable = lua_gettop(L);
    lua_newtable(L); /* torch._C.nn: functions that only torch.nn.functional has */
    int nn = lua_gettop(L);
    lua_pushvalue(L, nn);
    lua_setfield(L, 2, "nn");
    lt_lua_pushfunction(L, op_name);
    lua_setfield(L, 2, "op_name");
    lt_lua_pushfunction(L, store_outs);
    lua_setfield(L, 2, "store_outs");
    for (size_t g = 0; g < sizeof bound_groups / sizeof *bound_groups; g++)
        for (const lt_bound *b = bound_groups[g]; b->f != NULL; b++) {
            lt_lua_pushfunction(L, b->f);
            if (b->kinds & LT_BOUND_FUNCTION) {
                lua_pushvalue(L, -1);
                lua_setfield(L, 1, b->name);
            }
            if (b->kinds & LT_BOUND_METHOD) {
                lua_pushvalue(L, -1);
                lua_setfield(L, 3, b->name);
            }
            if (b->kinds & LT_BOUND_LIBRARY) {
                lua_pushvalue(L, -1);
                lua_setfield(L, 2, b->name);
            }
            if (b->kinds & LT_BOUND_NN) {
                lua_pushvalue(L, -1);
                lua_setfield(L, nn, b->name);
            }
            if (b->operator!= NULL) {
                lua_pushvalue(L, -1);
                lua_setfield(L, metatable, b->operator);
            }
            lua_pop(L, 1);
        }
    lua_pop(L, 2);
}
