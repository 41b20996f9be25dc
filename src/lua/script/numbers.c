/* numbers.c - tensors of one element as Lua numbers: in concatenations, and as arguments of
 * string.format, tonumber and the functions of math. The conversion is item(), so that copies from
 * a GPU are reported.
 *
 * accept_tensors replaces Lua's functions, which only the program does: a library leaves the state
 * of its host as it is. The replacement runs Lua's function in its own frame, so that the messages
 * are unchanged. */
#include "numbers.h"

#include <ctype.h>
#include <string.h>

#include "binding.h"

/* Replaces the tensor at index, if it has one element, by its number; a boolean becomes 0 or 1 if
 * `number` is set. False for more elements. */
static bool replace_by_item(lua_State *L, int index, bool number)
{
    if (lt_lua_get(L, index)->numel != 1) return false;
    lua_getfield(L, index, "item");
    lua_pushvalue(L, index);
    lua_call(L, 1, 1);
    if (number && lua_isboolean(L, -1)) {
        lua_pushinteger(L, lua_toboolean(L, -1));
        lua_remove(L, -2);
    }
    lua_replace(L, index);
    return true;
}

static const char *push_shape(lua_State *L, int index)
{
    char text[256];
    const lt_tensor *t = lt_lua_get(L, index);
    return lua_pushstring(L, lt_format_sizes(text, sizeof text, t->ndim, t->sizes));
}

/* ---- concatenation --------------------------------------------------------------------------- */

static int tensor_concat(lua_State *L)
{
    lua_settop(L, 2);
    for (int i = 1; i <= 2; i++) {
        if (lt_lua_get(L, i) != NULL) {
            if (!replace_by_item(L, i, false))
                return lt_lua_error(L,
                                    "attempt to concatenate a Tensor with shape %s; only a tensor "
                                    "of one element has a number: write tostring(x)",
                                    push_shape(L, i));
            luaL_tolstring(L, i, NULL);
            lua_replace(L, i);
        } else if (!lua_isstring(L, i)) {
            return lt_lua_error(L, "attempt to concatenate a %s value", lt_lua_type_name(L, i));
        }
    }
    lua_concat(L, 2);
    return 1;
}

/* ---- functions of Lua's libraries ------------------------------------------------------------ */

/* Upvalues of a replacement: Lua's function, which has none itself, and its name. */
#define ORIGINAL lua_tocfunction(L, lua_upvalueindex(1))
#define NAME     lua_tostring(L, lua_upvalueindex(2))

static void require_item(lua_State *L, int arg, const char *use)
{
    if (replace_by_item(L, arg, true)) return;
    lt_lua_error(L, "%s(): argument %d must be a number, not a Tensor with shape %s; %s", NAME, arg,
                 push_shape(L, arg), use);
}

static int call_with_numbers(lua_State *L)
{
    const int n = lua_gettop(L);
    for (int i = 1; i <= n; i++)
        if (lua_type(L, i) == LUA_TUSERDATA && lt_lua_get(L, i) != NULL)
            require_item(L, i,
                         "a tensor of one element is converted, x[i]:item() reads an element");
    return ORIGINAL(L);
}

/* tonumber: other tensors have no number, and the result is nil. */
static int number_of_value(lua_State *L)
{
    if (lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TUSERDATA && lt_lua_get(L, 1) != NULL)
        replace_by_item(L, 1, true);
    return ORIGINAL(L);
}

/* string.format: %s shows a tensor, the conversions of numbers read its element. */
static int format_with_numbers(lua_State *L)
{
    const int n = lua_gettop(L);
    const char *at = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : "";
    for (int i = 2; i <= n && (at = strchr(at, '%')) != NULL; at++) {
        at++;
        at += strspn(at, "-+ #0123456789.");
        if (*at == '\0') break;
        if (*at == '%') continue;
        if (strchr("sqp", *at) == NULL && lua_type(L, i) == LUA_TUSERDATA &&
            lt_lua_get(L, i) != NULL)
            require_item(L, i, "%s shows all elements");
        i++;
    }
    return ORIGINAL(L);
}

/* Replaces a C function without upvalues: Lua's, and not a replacement. */
static void replace(lua_State *L, int library, const char *name, lua_CFunction f)
{
    lua_getfield(L, library, name);
    if (!lua_iscfunction(L, -1) || lua_getupvalue(L, -1, 1) != NULL) {
        lua_settop(L, library);
        return;
    }
    lua_pushstring(L, name);
    lua_pushcclosure(L, f, 2);
    lua_setfield(L, library, name);
}

/* accept_tensors() */
static int accept_tensors(lua_State *L)
{
    /* without math.random, which has a state of its own, and those that test a value of any type */
    static const char *const functions[] = {"abs", "acos",  "asin", "atan", "ceil", "cos", "deg",
                                            "exp", "floor", "fmod", "log",  "max",  "min", "modf",
                                            "rad", "sin",   "sqrt", "tan",  "ult"};
    lua_settop(L, 0);
    lua_getglobal(L, "math");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        replace(L, 1, functions[i], call_with_numbers);
    lua_getglobal(L, "string");
    replace(L, 2, "format", format_with_numbers);
    lua_pushglobaltable(L);
    replace(L, 3, "tonumber", number_of_value);
    return 0;
}

void lt_lua_open_numbers(lua_State *L)
{
    luaL_getmetatable(L, LT_TENSOR_META_NAME);
    lua_pushcfunction(L, tensor_concat);
    lua_setfield(L, -2, "__concat");
    lua_pop(L, 1);
    lua_pushcfunction(L, accept_tensors);
    lua_setfield(L, 2, "accept_tensors");
}
