/* formula.c - torch._C's functions for torch.kernel.elementwise (lib/compile/kernel.lua), over
 * ltensor_kernel.h. */
#include <dlfcn.h>
#include <string.h>

#include "ltensor_kernel.h"

#include "autograd/autograd.h"
#include "binding.h"
#include "call.h"
#include "expression/expression.h"

#define FORMULA_META "ltensor.formula"

static lt_formula *check_formula(lua_State *L, int arg)
{
    return *(lt_formula **)lt_lua_check_udata(L, arg, FORMULA_META);
}

static int formula_gc(lua_State *L)
{
    lt_formula **box = lua_touserdata(L, 1);
    lt_formula_release(*box);
    *box = NULL;
    return 0;
}

/* The strings of the list at index, which stays on the stack; its length in *n. */
static const char **read_names(lua_State *L, int index, int *n)
{
    *n = lua_istable(L, index) ? (int)lua_rawlen(L, index) : 0;
    const char **names = lua_newuserdatauv(L, (size_t)(*n + 1) * sizeof *names, 0);
    for (int i = 0; i < *n; i++) {
        lua_rawgeti(L, index, i + 1);
        if (lua_type(L, -1) != LUA_TSTRING) {
            lt_lua_error(L, "elementwise(): a name must be a string, not %s",
                         lt_lua_type_name(L, -1));
        }
        names[i] = lua_tostring(L, -1); /* the list keeps it */
        lua_pop(L, 1);
    }
    return names;
}

/* formula(text, name or nil, inputs or nil, outputs or nil, dtype or nil) -> a formula, the list of
 * its inputs' names */
static int formula_new(lua_State *L)
{
    lt_kernel_options options = lt_kernel_options_new();
    size_t n;
    const char *text = lt_lua_check_lstring(L, 1, &n);
    lua_settop(L, 5);
    if (strlen(text) != n) return lt_lua_error(L, "elementwise(): the text contains a zero byte");
    options.name = lt_lua_opt_string(L, 2, NULL);
    options.inputs = read_names(L, 3, &options.n_inputs);
    options.outputs = read_names(L, 4, &options.n_outputs);
    if (!lua_isnil(L, 5)) options.dtype = lt_lua_to_dtype(L, 5);
    lt_formula **box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = NULL;
    luaL_getmetatable(L, FORMULA_META);
    lua_setmetatable(L, -2);
    lt_lua_do(L, lt_kernel_elementwise(text, &options, box));
    const int inputs = lt_formula_inputs(*box);
    lua_createtable(L, inputs, 0);
    for (int i = 0; i < inputs; i++) {
        lua_pushstring(L, lt_formula_input(*box, i));
        lua_rawseti(L, -2, i + 1);
    }
    return 2;
}

static bool read_argument(lua_State *L, int index, lt_value *out)
{
    lt_tensor *t = lt_lua_get(L, index);
    if (t != NULL)
        *out = lt_value_tensor(t);
    else if (lua_isinteger(L, index))
        *out = lt_value_int(lua_tointeger(L, index));
    else if (lua_type(L, index) == LUA_TNUMBER)
        *out = lt_value_double(lua_tonumber(L, index));
    else if (lua_isboolean(L, index))
        *out = lt_value_bool(lua_toboolean(L, index));
    else
        return false;
    return true;
}

/* The arguments from index `first`. Returns their number, which may be another one than that of the
 * inputs. */
static int read_arguments(lua_State *L, const lt_formula *f, int first, lt_value *args)
{
    const int n = lua_gettop(L) - first + 1;
    for (int i = 0; i < n && i < lt_formula_inputs(f); i++) {
        if (read_argument(L, first + i, &args[i])) continue;
        lt_lua_error(L, "%s(): argument '%s' must be Tensor or number, not %s", f->name,
                     lt_formula_input(f, i), lt_lua_type_name(L, first + i));
    }
    return n;
}

/* formula_call(formula, arguments...) -> the results */
static int formula_call(lua_State *L)
{
    lt_formula *f = check_formula(L, 1);
    lt_value args[LT_FORMULA_INPUTS];
    const int n = read_arguments(L, f, 2, args), outputs = lt_formula_outputs(f);
    lt_tensor *results[LT_FORMULA_OUTPUTS], **slots[LT_FORMULA_OUTPUTS];
    int at[LT_FORMULA_INPUTS];
    luaL_checkstack(L, outputs + 8, "too many results");
    for (int i = 0; i < n && i < LT_FORMULA_INPUTS; i++) at[i] = i + 2;
    for (int k = 0; k < outputs; k++) slots[k] = lt_lua_new(L);
    const lt_entry entry = lt_enter_op(L, f->name);
    const lt_status status = lt_formula_call(f, args, n, results);
    lt_leave(entry);
    lt_lua_check(L, status);
    for (int k = 0; k < outputs; k++) *slots[k] = results[k];
    for (int k = 0; k < outputs; k++)
        if (lt_call_has_history(results[k])) lt_lua_link(L, n + 2 + k, at, n);
    return outputs;
}

/* formula_source(formula, arguments...) -> the C source of a loop for these arguments; false: there
 * is none; nil: nothing is left to do */
static int formula_source(lua_State *L)
{
    lt_formula *f = check_formula(L, 1);
    lt_value args[LT_FORMULA_INPUTS];
    const int n = read_arguments(L, f, 2, args);
    if (n != lt_formula_inputs(f) || !lt_formula_wants_loop(f, args)) return 0;
    char **source = lt_lua_new_text(L);
    const lt_entry entry = lt_enter_op(L, f->name);
    const lt_status status = lt_formula_c_source(f, args, n, source);
    lt_leave(entry);
    lt_lua_check(L, status);
    if (*source != NULL)
        lua_pushstring(L, *source);
    else
        lua_pushboolean(L, false);
    return 1;
}

/* formula_set_loop(formula, path of a library with lt_loop or nil, arguments...) */
static int formula_set_loop(lua_State *L)
{
    lt_formula *f = check_formula(L, 1);
    const char *path = lua_isnil(L, 2) ? NULL : lt_lua_check_path(L, 2);
    lt_value args[LT_FORMULA_INPUTS];
    const int n = read_arguments(L, f, 3, args);
    lt_formula_loop loop = NULL;
    if (path != NULL) {
        lt_lua_do(L, lt_authorize(LT_ACCESS_LIBRARY, path));
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* stays loaded */
        if (library == NULL) return lt_lua_error(L, "%s", dlerror());
        *(void **)&loop = dlsym(library, "lt_loop");
    }
    lt_lua_do(L, lt_formula_set_loop(f, args, n, loop));
    return 0;
}

/* formula_steps(formula) -> a list with a table for each value: {input =}, {number =} or {call =,
 * numbers of earlier values...}; the list of the results' values; a dtype or nil. Positions count
 * from 1. */
static int formula_steps(lua_State *L)
{
    const lt_formula *f = check_formula(L, 1);
    lua_createtable(L, f->n_values, 0);
    for (int i = 0; i < f->n_values; i++) {
        const lt_formula_value *v = &f->values[i];
        lua_createtable(L, v->n, 1);
        if (v->kind == LT_FORMULA_INPUT) {
            lua_pushinteger(L, v->input + 1);
            lua_setfield(L, -2, "input");
        } else if (v->kind == LT_FORMULA_NUMBER) {
            lt_lua_push_scalar(L, lt_formula_scalar(&v->number));
            lua_setfield(L, -2, "number");
        } else {
            lua_pushstring(L, v->function->call);
            lua_setfield(L, -2, "call");
        }
        for (int k = 0; k < v->n; k++) {
            lua_pushinteger(L, v->in[k] + 1);
            lua_rawseti(L, -2, k + 1);
        }
        lua_rawseti(L, -2, i + 1);
    }
    lua_createtable(L, f->n_outputs, 0);
    for (int k = 0; k < f->n_outputs; k++) {
        lua_pushinteger(L, f->outputs[k] + 1);
        lua_rawseti(L, -2, k + 1);
    }
    if (f->dtype == LT_DTYPE_NONE)
        lua_pushnil(L);
    else
        lt_lua_push_dtype(L, f->dtype);
    return 3;
}

void lt_lua_open_formulas(lua_State *L)
{
    static const luaL_Reg internal[] = {
        {"formula", formula_new},           {"formula_call", formula_call},
        {"formula_source", formula_source}, {"formula_set_loop", formula_set_loop},
        {"formula_steps", formula_steps},   {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 1);
    luaL_newmetatable(L, FORMULA_META);
    lt_lua_pushfunction(L, formula_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}
