/* host.c - ltensor inside a C program: opens the interpreter, hands it a buffer as a tensor without
 * copying, calls a Lua function, reads the result back, survives a script's error, and runs a
 * second state.
 *
 *   cc host.c $(pkg-config --cflags --libs ltensor_lua lua5.4) -o host
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

#include "ltensor_lua.h"

static const char script[] = "local torch = require 'torch'\n"
                             "function standardize(x)\n"
                             "  x:add_(1)\n"
                             "  return (x - x:mean()) / 2\n"
                             "end\n"
                             "function broken(x) return x:mm(x) end\n";

static lua_State *open_interpreter(void)
{
    lua_State *L = luaL_newstate();
    if (L == NULL) return NULL;
    luaL_openlibs(L);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    lua_pop(L, 1);
    if (luaL_dostring(L, script) != LUA_OK) {
        fprintf(stderr, "script: %s\n", lua_tostring(L, -1));
        lua_close(L);
        return NULL;
    }
    return L;
}

/* Calls a global function with the tensor; leaves its result on the stack. */
static int call(lua_State *L, const char *function, lt_tensor *argument)
{
    lua_getglobal(L, function);
    lt_lua_push(L, argument);
    return lua_pcall(L, 1, 1, 0);
}

static void count_release(void *ctx) { ++*(int *)ctx; }

int main(void)
{
    float samples[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int released = 0;
    const int64_t sizes[] = {2, 3};
    lt_tensor *x = NULL;
    if (lt_tensor_wrap(samples, LT_FLOAT32, 2, sizes, count_release, &released, &x) != LT_OK) {
        fprintf(stderr, "%s\n", lt_error_message());
        return 1;
    }

    lua_State *first = open_interpreter(), *second = open_interpreter();
    if (first == NULL || second == NULL) return 1;

    if (call(first, "standardize", x) != LUA_OK) {
        fprintf(stderr, "%s\n", lua_tostring(first, -1));
        return 1;
    }
    lt_tensor *y = lt_lua_tensor(first, -1);
    const float *values = lt_tensor_data(y);
    printf("the script added 1 to our own buffer: %g\n", samples[0][0]);
    printf("result: %g ... %g\n", values[0], values[lt_tensor_numel(y) - 1]);
    lua_pop(first, 1);

    if (call(first, "broken", x) == LUA_OK) return 1;
    printf("a script's error: %s\n", lua_tostring(first, -1));
    lua_pop(first, 1);

    lua_close(first);
    if (call(second, "standardize", x) != LUA_OK) return 1;
    printf("the second state goes on: %g\n", samples[0][0]);
    lua_close(second);

    lt_tensor *sum = NULL;
    if (lt_sum(x, LT_DTYPE_NONE, &sum) != LT_OK) return 1;
    printf("an op without Lua: sum %g\n", *(const float *)lt_tensor_data(sum));
    lt_tensor_release(sum);
    lt_tensor_release(x);
    printf("buffer given back %d time\n", released);
    return released == 1 ? 0 : 1;
}
