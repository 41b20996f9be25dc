/* promotion.c - result dtypes for Lua: _C.promote_types(a, b), _C.can_cast(from, to),
 * _C.result_type(a, b) of tensors and numbers. lib/support/functions.lua checks the arguments of
 * the public functions. */
#include "binding.h"
#include "dtypes/dtype.h"
#include "dtypes/promotion.h"

static int promote_types(lua_State *L)
{
    const lt_dtype both = lt_promote(lt_lua_to_dtype(L, 1), lt_lua_to_dtype(L, 2));
    if (both == LT_DTYPE_NONE) return lt_lua_raise(L);
    lt_lua_push_dtype(L, both);
    return 1;
}

static int can_cast(lua_State *L)
{
    lua_pushboolean(L, lt_can_cast(lt_lua_to_dtype(L, 1), lt_lua_to_dtype(L, 2)));
    return 1;
}

/* The tensor at index; a number there is replaced by the box of a tensor. */
static lt_tensor *operand(lua_State *L, int index)
{
    lt_scalar s;
    lt_tensor *t = lt_lua_get(L, index);
    if (t != NULL) return t;
    if (lua_isboolean(L, index))
        s = lt_scalar_from_bool(lua_toboolean(L, index));
    else if (lua_isinteger(L, index))
        s = lt_scalar_from_int(lua_tointeger(L, index));
    else if (!lt_lua_to_complex(L, index, &s))
        s = lt_scalar_from_float(luaL_checknumber(L, index));
    lt_tensor **slot = lt_lua_new(L);
    lt_lua_do(L, lt_tensor_from_scalar(s, slot));
    lua_replace(L, index);
    return lt_lua_get(L, index);
}

static int result_type(lua_State *L)
{
    lt_tensor *tensors[] = {operand(L, 1), operand(L, 2)};
    const lt_dtype dtype =
        LT_INSIDE(L, lt_result_type(tensors, 2)); /* by the context's default dtype */
    if (dtype == LT_DTYPE_NONE) return lt_lua_raise(L);
    lt_lua_push_dtype(L, dtype);
    return 1;
}

void lt_lua_open_promotion(lua_State *L)
{
    static const luaL_Reg internal[] = {{"promote_types", promote_types},
                                        {"can_cast", can_cast},
                                        {"result_type", result_type},
                                        {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, internal);
    lua_pop(L, 1);
}
