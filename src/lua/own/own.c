/* own.c - torch._C's functions for own operations: definitions of scripts, the Lua function of an
 * operation, plugins (lib/library/library.lua). */
#include "own.h"

#include <string.h>

#include "args.h"
#include "call.h"
#include "compiler.h"
#include "graph/callback.h"
#include "memory/alloc.h"

#define OWN_META "ltensor.own"

/* The operation of a Lua function; freed with it. */
typedef struct own_handle {
    lt_own_op *op; /* a reference */
    lt_signature signature;
    lt_arg_spec args[LT_MAX_ARGS];
} own_handle;

/* The purpose of a Lua function of an operation. */
enum { OWN_RUN, OWN_INFER, OWN_BIND };

/* ---- calling --------------------------------------------------------------------------------- */

/* Returns the arguments in the order of the declaration; tensors as they were passed. */
static int bind_arguments(lua_State *L, const own_handle *h, const lt_args *a,
                          const lt_own_values *values)
{
    luaL_checkstack(L, h->signature.n + 4, NULL);
    for (int i = 0; i < h->signature.n; i++) {
        const lt_kind kind = h->op->args[i].info.kind;
        const bool given = a->at[i] != 0 && (kind == LT_KIND_TENSOR || kind == LT_KIND_TENSORS ||
                                             kind == LT_KIND_GENERATOR);
        if (given)
            lua_pushvalue(L, a->at[i]);
        else
            lt_lua_push_own_value(L, h->op, i, &values->args[i], 0, NULL);
    }
    return h->signature.n;
}

static int return_bound(lua_State *L, const own_handle *h, lt_args *a, const lt_call_frame *frame)
{
    lt_own_values values;
    lt_status status = lt_own_values_of(h->op, frame, &values);
    if (status == LT_OK) lt_own_values_free(&values); /* the list is not needed */
    if (status != LT_OK) lt_args_release(a);
    lt_lua_check(L, status);
    /* Converted temporaries are not pushed, except numbers as tensors, which are retained. */
    const int n = bind_arguments(L, h, a, &values);
    lt_args_release(a);
    return n;
}

/* Pushes empty boxes and lists for the results; returns the stack index of the first. */
static int push_boxes(lua_State *L, const lt_own_op *op)
{
    const int n = op->callable.info.n_results;
    luaL_checkstack(L, n + 8, NULL);
    for (int i = 0; i < n; i++) {
        if (op->results[i].kind == LT_KIND_TENSOR)
            (void)lt_lua_new(L);
        else if (op->results[i].kind == LT_KIND_TENSORS)
            (void)lt_call_new_list(L);
        else
            lua_pushnil(L);
    }
    return lua_gettop(L) - n + 1;
}

/* Moves the results into the boxes. Does not raise. */
static lt_status fill_boxes(lua_State *L, const lt_own_op *op, int first, lt_value *made)
{
    lt_status status = LT_OK;
    for (int i = 0; i < op->callable.info.n_results; i++) {
        if (made[i].kind == LT_KIND_TENSOR) {
            lt_tensor **slot = &((lt_box *)lua_touserdata(L, first + i))->tensor;
            *slot = made[i].v.tensor;
            if (strcmp(op->results[i].type, "IndexTensor") == 0 && status == LT_OK)
                status = lt_call_positions_from(slot);
        } else if (made[i].kind == LT_KIND_TENSORS) {
            *(lt_tensor_list *)lua_touserdata(L, first + i) = made[i].v.tensors;
        }
    }
    return status;
}

/* Converts the filled boxes to the values that the function returns. */
static int return_results(lua_State *L, const lt_own_op *op, int first, const lt_value *made,
                          const lt_args *a, int n_args)
{
    const int n = op->callable.info.n_results;
    for (int i = 0; i < n; i++) {
        const int at = first + i;
        switch ((lt_kind)made[i].kind) {
        case LT_KIND_TENSOR:
            if (lt_call_has_history(lt_lua_get(L, at))) lt_lua_link(L, at, a->at, n_args);
            continue;
        case LT_KIND_TENSORS:
            (void)lt_call_list(L, LT_OK, lua_touserdata(L, at), a->at, n_args);
            break;
        case LT_KIND_BOOL: lua_pushboolean(L, made[i].v.b); break;
        case LT_KIND_INT: lua_pushinteger(L, made[i].v.i); break;
        default: lua_pushnumber(L, made[i].v.d);
        }
        lua_replace(L, at);
    }
    return n;
}

/* The function of an operation: upvalues behind the common ones: the handle, the purpose. */
static int call_own(lua_State *L)
{
    const own_handle *h = lua_touserdata(L, lua_upvalueindex(LT_UPVALUES + 1));
    const int purpose = (int)lua_tointeger(L, lua_upvalueindex(LT_UPVALUES + 2));
    lt_args a;
    lt_call_frame frame;
    lt_value made[LT_CALL_MAX_RESULTS];
    lt_args_match(L, &h->signature, 1, &a);
    const int first = purpose == OWN_BIND ? 0 : push_boxes(L, h->op);
    lt_entry entry = lt_enter_op(L, h->op->name);
    lt_status status = lt_args_convert(L, &h->signature, &a);
    if (status == LT_OK) {
        _Static_assert(sizeof(lt_arg_value) == sizeof(lt_call_slot), "the same members");
        memcpy(frame.v, a.value, sizeof frame.v);
        memcpy(frame.present, a.present, sizeof frame.present);
    }
    if (status == LT_OK && purpose != OWN_BIND) {
        status = (purpose == OWN_RUN ? lt_own_run : lt_own_infer)(h->op, &frame, made);
        if (status == LT_OK) status = fill_boxes(L, h->op, first, made);
        lt_args_release(&a);
    }
    lt_leave(entry);
    if (status != LT_OK) return lt_callback_raise(L);
    if (purpose == OWN_BIND) return return_bound(L, h, &a, &frame);
    lt_lua_forget_saved(L, lt_lua_state_current(L));
    return return_results(L, h->op, first, made, &a, h->signature.n);
}

static int handle_gc(lua_State *L)
{
    own_handle *h = lua_touserdata(L, 1);
    lt_own_release(h->op);
    h->op = NULL;
    return 0;
}

/* The reader's specification of an argument, from that of lt_call. */
static lt_arg_spec spec_of(const lt_own_op *op, int i)
{
    const lt_call_arg *arg = &op->args[i];
    const bool positions = arg->type == LT_ARG_DIM || arg->type == LT_ARG_INDEX;
    lt_arg_spec spec = {.name = arg->info.name,
                        .type = (uint8_t)arg->type,
                        .optional = arg->info.optional,
                        .has_default = arg->info.default_text != NULL,
                        .keyword_only = arg->info.named_only,
                        .row = arg->info.kind == LT_KIND_DIMS,
                        .fallback = arg->fallback,
                        .fallback_text = arg->fallback_text};
    if (positions && spec.has_default) spec.fallback.v.i = op->first_default[i];
    return spec;
}

/* Several numbers are a Size or Dims only if no positional argument follows. */
static void find_row(own_handle *h)
{
    for (int i = 0; i + 1 < h->signature.n; i++)
        h->args[i].row = h->args[i].row && h->args[i + 1].keyword_only;
}

/* own_function(name, purpose) -> the function of the operation that this interpreter finds; purpose:
 * nil, 'infer' (results with unspecified elements) or 'bind' (the arguments in order). nil: none. */
static int own_function(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1);
    const char *purpose = luaL_optstring(L, 2, "run");
    own_handle *h = lua_newuserdatauv(L, sizeof *h, 0);
    memset(h, 0, sizeof *h);
    luaL_setmetatable(L, OWN_META);
    h->op = LT_INSIDE(L, lt_own_find(name, lt_lua_state_current(L)));
    if (h->op == NULL) return 0;
    const int n = h->op->callable.info.n_args;
    for (int i = 0; i < n; i++) h->args[i] = spec_of(h->op, i);
    h->signature = (lt_signature){h->op->name, h->op->lua_text, h->args, n};
    find_row(h);
    const int handle = lua_gettop(L);
    lt_lua_pushvalues(L);
    lua_pushvalue(L, handle);
    lua_pushinteger(L, strcmp(purpose, "infer") == 0  ? OWN_INFER
                       : strcmp(purpose, "bind") == 0 ? OWN_BIND
                                                      : OWN_RUN);
    lua_pushcclosure(L, call_own, LT_UPVALUES + 2);
    return 1;
}

/* ---- defining -------------------------------------------------------------------------------- */

static lt_status define(lt_lua_state *s, const char *declaration, const char *doc, int functions)
{
    lt_own_op *op = NULL;
    lt_lua_own *own = lt_mem_zalloc(sizeof *own);
    if (own == NULL) return LT_ERR_MEMORY;
    own->functions = functions;
    own->thread = pthread_self();
    lt_op_definition definition = lt_op_definition_of(declaration, lt_lua_own_run);
    definition.doc = doc;
    definition.user = own;
    definition.release = lt_lua_own_free;
    own->state = lt_lua_state_retain(s);
    lt_status status = lt_own_register(&definition, s, &op);
    if (status != LT_OK) {
        lt_lua_state_release(s);
        lt_mem_free(own);
        return status;
    }
    own->op = op;
    lt_own_release(op); /* the registry owns it */
    return LT_OK;
}

/* own_define(declaration, table of functions, doc or nil) registers an operation of this
 * interpreter. */
static int own_define(lua_State *L)
{
    lt_lua_state *s = lt_lua_state_current(L);
    const char *declaration = lt_lua_check_string(L, 1);
    lt_lua_check_type(L, 2, LUA_TTABLE);
    const char *doc = luaL_optstring(L, 3, NULL);
    lt_lua_check(L, lt_lua_number_values(s));
    lua_pushvalue(L, 2);
    const int functions = luaL_ref(L, LUA_REGISTRYINDEX);
    const lt_status status = LT_INSIDE(L, define(s, declaration, doc, functions));
    if (status == LT_OK) return 0;
    luaL_unref(L, LUA_REGISTRYINDEX, functions);
    return lt_lua_raise(L);
}

/* own_set(name, 'backward' or 'fake'): the operation of this interpreter has that function now. */
static int own_set(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1), *what = lt_lua_check_string(L, 2);
    lt_own_op *op = LT_INSIDE(L, lt_own_find(name, lt_lua_state_current(L)));
    if (op == NULL || op->owner == NULL) {
        lt_own_release(op);
        return lt_lua_error(L, "%s is not an operation that this program defined in Lua", name);
    }
    const bool writes = op->writes;
    if (strcmp(what, "fake") == 0) {
        op->definition.meta = lt_lua_own_fake;
    } else if (!writes) {
        op->keep = lt_lua_own_keep, op->drop = lt_lua_own_drop;
        op->definition.derivative = lt_lua_own_derivative;
    }
    lt_own_release(op);
    if (writes && strcmp(what, "fake") != 0)
        return lt_lua_error(L,
                            "Cannot register autograd formula for non-functional operator %s: it "
                            "writes to an argument; return a new tensor instead",
                            name);
    return 0;
}

/* own_remove(name) -> whether an operation of this interpreter was unregistered */
static int own_remove(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1);
    lua_pushboolean(L, LT_INSIDE(L, lt_own_remove(name, lt_lua_state_current(L))));
    return 1;
}

/* own_list() -> { name = { signature =, doc =, is_lua = } } of all operations that are found */
static int own_list(lua_State *L)
{
    lua_newtable(L);
    const int n = LT_INSIDE(L, lt_op_registered_count());
    for (int i = 0; i < n; i++) {
        const lt_op_info *info = LT_INSIDE(L, lt_op_registered_at(i));
        const lt_own_op *op = (const lt_own_op *)info;
        if (info == NULL || (op->owner != NULL && op->owner != lt_lua_state_current(L))) continue;
        lua_createtable(L, 0, 3);
        lua_pushstring(L, info->signature);
        lua_setfield(L, -2, "signature");
        lua_pushstring(L, info->doc);
        lua_setfield(L, -2, "doc");
        lua_pushboolean(L, op->owner != NULL);
        lua_setfield(L, -2, "is_lua");
        lua_setfield(L, -2, info->name);
    }
    return 1;
}

/* own_arguments(name) -> list of { name =, kind =, writes =, named_only = }, with the types of
 * the results in `results` */
static int own_arguments(lua_State *L)
{
    const char *name = lt_lua_check_string(L, 1);
    lt_own_op *op = LT_INSIDE(L, lt_own_find(name, lt_lua_state_current(L)));
    if (op == NULL) return 0;
    const int n = op->callable.info.n_args;
    const lt_call_arg *args = op->args;
    lua_createtable(L, n, 1);
    for (int i = 0; i < n; i++) {
        lua_createtable(L, 0, 3);
        lua_pushstring(L, args[i].info.name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, args[i].info.type);
        lua_setfield(L, -2, "kind");
        lua_pushboolean(L, op->written[i]);
        lua_setfield(L, -2, "writes");
        lua_pushboolean(L, args[i].info.named_only);
        lua_setfield(L, -2, "named_only");
        lua_rawseti(L, -2, i + 1);
    }
    lua_createtable(L, op->callable.info.n_results, 0);
    for (int i = 0; i < op->callable.info.n_results; i++) {
        lua_pushstring(L, op->results[i].type);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "results");
    lt_own_release(op);
    return 1;
}

/* own_generation() -> a number that changes with the list of operations */
static int own_generation(lua_State *L)
{
    lua_pushinteger(L, lt_own_generation());
    return 1;
}

static int load_plugin(lua_State *L)
{
    lt_lua_do(L, lt_plugin_load(lt_lua_check_path(L, 1)));
    return 0;
}

/* The state is closing: its operations end. */
static int owner_gc(lua_State *L)
{
    (void)LT_INSIDE(L, lt_own_remove(NULL, lt_lua_state_current(L)));
    return 0;
}

void lt_lua_open_own(lua_State *L)
{
    static const char owner_key = 0;
    static const luaL_Reg internal[] = {{"own_function", own_function},
                                        {"own_define", own_define},
                                        {"own_set", own_set},
                                        {"own_remove", own_remove},
                                        {"own_list", own_list},
                                        {"own_generation", own_generation},
                                        {"own_arguments", own_arguments},
                                        {"load_plugin", load_plugin},
                                        {NULL, NULL}};
    luaL_newmetatable(L, OWN_META);
    lua_pushcfunction(L, handle_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_newuserdatauv(L, 0, 0);
    lua_createtable(L, 0, 1);
    lt_lua_pushfunction(L, owner_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &owner_key);
    lt_lua_open_compiler(L);
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 1);
}
