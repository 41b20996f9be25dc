/* page.c - the prompt in a web page, for WebAssembly: an interpreter that runs one cell per call.
 *
 * The output goes to stdout and stderr, which JavaScript receives (page.js). Includes the Lua API
 * and this folder's headers. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ltensor_lua.h"
#include "modules.h"

static lua_State *state;

/* (function, first, second) -> the result of this function of repl.web.page. */
static int call_page(lua_State *L)
{
    modules_push_function(L, "repl.web.page", lua_tostring(L, 1));
    lua_replace(L, 1);
    lua_call(L, 2, 1);
    return 1;
}

/* Opens the libraries and the session. */
static int open_session(lua_State *L)
{
    luaL_openlibs(L);
    modules_preload(L);
    luaL_requiref(L, "torch", luaopen_torch, 1);
    lua_settop(L, 0);
    lua_pushliteral(L, "open");
    lua_settop(L, 3);
    return call_page(L);
}

/* Calls the function under its strings; false: it has failed, or its result is false. */
static bool call(int strings)
{
    bool ok = lua_pcall(state, strings, 1, 0) == LUA_OK;
    if (!ok) fprintf(stderr, "%s\n", luaL_tolstring(state, -1, NULL));
    ok = ok && lua_toboolean(state, -1);
    lua_settop(state, 0);
    fflush(stdout);
    fflush(stderr);
    return ok;
}

/* Opens the interpreter, once, with a number of simulated GPUs. */
bool lt_page_open(int gpus)
{
    char text[12];
    snprintf(text, sizeof text, "%d", gpus);
    setenv("LTENSOR_SIM_GPUS", text, 1);
    state = luaL_newstate();
    if (state == NULL) return false;
    lua_pushcfunction(state, open_session);
    return call(0);
}

static bool call_with(const char *function, const char *first, const char *second)
{
    if (state == NULL) return false;
    lua_pushcfunction(state, call_page);
    lua_pushstring(state, function);
    lua_pushstring(state, first);
    lua_pushstring(state, second);
    return call(3);
}

/* Runs a cell as at the prompt. False: it has failed; the message is in the output. */
bool lt_page_run(const char *source) { return call_with("run", source, NULL); }

/* Runs all cells of a notebook in Markdown and compares their outputs with the stored ones. Prints
 * the differences and the counts. */
bool lt_page_check(const char *name, const char *text) { return call_with("check", name, text); }
