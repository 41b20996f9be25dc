/* prompt_host.c - a host that starts the prompt on an interpreter of its own, and then tells what
 * is not as it was: nothing should be. For tests/lua/repl/host_spec.lua. */
#include <lauxlib.h>
#include <lualib.h>
#include <readline/readline.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "ltensor_lua.h"
#include "ltensor_prompt.h"

static void on_sigint(int signal_number) { (void)signal_number; }

static int own_getc(FILE *stream) { return getc(stream); }

static const char remember[] = "names = {'print', 'exit', 'quit', 'tostring'}; before = {} "
                               "for _, name in ipairs(names) do before[name] = _G[name] end "
                               "write, resume, wrap = io.write, coroutine.resume, coroutine.wrap";
static const char compare[] =
    "for _, name in ipairs(names) do assert(before[name] == _G[name], name) end "
    "assert(write == io.write and resume == coroutine.resume and wrap == coroutine.wrap)";

static int run(lua_State *L, const char *code)
{
    if (luaL_dostring(L, code) == LUA_OK) return 0;
    printf("failed: %s\n", lua_tostring(L, -1));
    return 1;
}

int main(void)
{
    struct sigaction action;
    int failed = 0;
    signal(SIGINT, on_sigint);
    rl_getc_function = own_getc;
    rl_readline_name = "host";
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    lua_pushinteger(L, 7);
    lua_setglobal(L, "from_host");
    failed += run(L, remember);
    for (int turn = 1; turn <= 2; turn++) {
        if (ltensor_prompt(L) != LUA_OK) {
            printf("failed: %s\n", lua_tostring(L, -1));
            failed++;
        }
        printf("prompt %d has returned\n", turn);
        failed += run(L, compare);
        sigaction(SIGINT, NULL, &action);
        if (action.sa_handler != on_sigint) failed += printf("SIGINT differs\n");
        if (rl_getc_function != own_getc) failed += printf("rl_getc_function differs\n");
        if (strcmp(rl_readline_name, "host") != 0) failed += printf("rl_readline_name differs\n");
    }
    lua_close(L);
    puts(failed ? "the host was changed" : "the host is as it was");
    return failed != 0;
}
