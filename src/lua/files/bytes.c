/* bytes.c - functions of torch._C that convert between tensors and strings of their elements'
 * bytes, to pass tensors between processes. */
#include <lauxlib.h>
#include <string.h>

#include "binding.h"
#include "error.h"
#include "compile/deferred.h"
#include "op/contiguous.h"

/* tensor_bytes(tensor on the host) -> its elements in row-major order, as a string of their bytes
 */
static int bytes_of_tensor(lua_State *L)
{
    lt_tensor *t = lt_lua_check_tensor(L, 1), *dense;
    if (lt_tensor_device(t).type != LT_CPU) lt_lua_refuse(L, 1, "a Tensor on the CPU");
    lt_lua_do(L, lt_materialize("tensor_bytes", t));
    lt_lua_do(L, lt_contiguous(t, &dense));
    *lt_lua_new(L) = dense;
    lua_pushlstring(L, lt_tensor_data(dense),
                    (size_t)lt_tensor_numel(dense) * lt_dtype_size(lt_tensor_dtype(dense)));
    return 1;
}

/* tensor_of_bytes(bytes, dtype, sizes [, first byte [, Fortran's order]]) -> tensor */
static int tensor_of_bytes(lua_State *L)
{
    size_t length;
    const char *bytes = lt_lua_check_lstring(L, 1, &length);
    lt_dtype dtype = lt_lua_to_dtype(L, 2);
    if (dtype == LT_DTYPE_NONE) lt_lua_refuse(L, 2, "a dtype");
    lt_lua_check_type(L, 3, LUA_TTABLE);
    lua_Integer first = lt_lua_opt_integer(L, 4, 1);
    int64_t sizes[LT_MAX_DIMS], numel = 1, wanted;
    lua_Integer n = (lua_Integer)lua_rawlen(L, 3);
    if (n > LT_MAX_DIMS)
        lt_lua_error(L, "a tensor has at most %d dimensions, not %I", LT_MAX_DIMS, (LUAI_UACINT)n);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, 3, i + 1);
        sizes[i] = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : -1;
        lua_pop(L, 1);
        if (sizes[i] < 0 || __builtin_mul_overflow(numel, sizes[i], &numel))
            return lt_lua_error(L, "the sizes are too large");
    }
    if (__builtin_mul_overflow(numel, (int64_t)lt_dtype_size(dtype), &wanted) || first < 1 ||
        (uint64_t)first - 1 > length || (uint64_t)wanted > length - ((size_t)first - 1))
        return lt_lua_error(L, "the data end early");
    lt_tensor **out = lt_lua_new(L);
    lt_lua_do(L, lt_tensor_new(dtype, (lt_device){LT_CPU, 0}, (int)n, sizes, out));
    char *to = lt_tensor_data(*out);
    if (wanted) memcpy(to, bytes + first - 1, (size_t)wanted);
    if (dtype == LT_BOOL) /* any other byte is not a valid bool in C */
        for (int64_t i = 0; i < wanted; i++) to[i] = to[i] != 0;
    return 1;
}

void lt_lua_open_bytes(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"tensor_bytes", bytes_of_tensor}, {"tensor_of_bytes", tensor_of_bytes}, {NULL, NULL}};
    lua_pushvalue(L, 2);
    lt_lua_setfuncs(L, functions);
    lua_pop(L, 1);
}
