/* lua_versions.h - functions of Lua 5.4's C API that 5.3 or 5.5 lack or declare in another way. Calls of
 * lua_gc give all arguments that 5.3 and 5.4 know: 5.4 and 5.5 ignore more than they need. */
#ifndef LT_LUA_VERSIONS_H
#define LT_LUA_VERSIONS_H

#include <lua.h>

#include <lauxlib.h>
#include <string.h>

#if LUA_VERSION_NUM == 503
#define LUA_GNAME "_G"
/* A userdata has one user value in 5.3. */
#define lua_newuserdatauv(L, size, n_values) lua_newuserdata(L, size)
#define lua_getiuservalue(L, index, n)       lua_getuservalue(L, index)
#define lua_setiuservalue(L, index, n)       lua_setuservalue(L, index)
/* Without variables that are closed, the collector frees the value. */
#define lua_toclose(L, index)                ((void)0)
#define lua_warning(L, message, to_continue) ((void)0) /* 5.3 has no warnings */
#define luaL_pushfail(L)                     lua_pushnil(L)
#define luaL_argexpected(L, cond, arg, type_name)                                                  \
    ((void)((cond) || luaL_argerror(L, arg,                                                        \
                                    lua_pushfstring(L, "%s expected, got %s", type_name,           \
                                                    luaL_typename(L, arg)))))
/* Each collection of 5.3 shrinks the stack, so that memory for it may be missing at any call. */
#define luaL_checkstack(L, n, message)                                                             \
    ((void)(lua_checkstack(L, n) ||                                                                \
            luaL_error(L, "stack overflow (%s)",                                                   \
                       (message) != NULL ? (const char *)(message) : "not enough memory")))
#endif

/* Pops n values, which the userdata at index token keeps: the user values from 2 on. The first one is
 * the table of its anchors. In 5.3, entry 0 of this table lists the values. */
static inline void lt_lua_set_inputs(lua_State *L, int token, int n)
{
#if LUA_VERSION_NUM == 503
    lua_createtable(L, n, 0);
    lua_insert(L, token + 1);
    for (int i = n; i > 0; i--) lua_rawseti(L, token + 1, i);
    lua_createtable(L, 0, 1);
    lua_insert(L, token + 1);
    lua_rawseti(L, token + 1, 0);
    lua_setuservalue(L, token);
#else
    for (int i = n; i > 0; i--) lua_setiuservalue(L, token, i + 1);
#endif
}

/* Lua 5.3 does not report to a debug hook how many results a function returns. A function of several
 * results marks them by this text below them on its stack; lib/onnx/export/record.lua reads it. */
static inline void lt_lua_mark_results(lua_State *L, int n)
{
#if LUA_VERSION_NUM == 503
    luaL_checkstack(L, 1, NULL);
    lua_pushliteral(L, "several results");
    lua_insert(L, -n - 1);
#else
    (void)L;
    (void)n;
#endif
}

/* A full collection outside of a protected call, where 5.3 would end the process for an error in a
 * finalizer. Later versions warn. */
#if LUA_VERSION_NUM == 503
static inline int lt_lua_call_nothing(lua_State *L)
{
    (void)L;
    return 0;
}

/* Calls a function first: 5.3 then has the memory for the call of a finalizer, which it would drop if
 * it had not. */
static inline int lt_lua_collect_all(lua_State *L)
{
    lua_pushcfunction(L, lt_lua_call_nothing);
    lua_call(L, 0, 0);
    lua_gc(L, LUA_GCCOLLECT, 0);
    return 0;
}

static inline void lt_lua_collect(lua_State *L)
{
    if (!lua_checkstack(L, 1)) return;
    lua_pushcfunction(L, lt_lua_collect_all);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) lua_pop(L, 1);
}
#else
static inline void lt_lua_collect(lua_State *L) { lua_gc(L, LUA_GCCOLLECT, 0); }
#endif

/* Selects a mode of the collector, LUA_GCGEN or LUA_GCINC. Returns the previous one. 5.3 has only the
 * incremental mode. */
#if LUA_VERSION_NUM == 503
enum { LUA_GCGEN = 10, LUA_GCINC = 11 };
static inline int lt_lua_set_gc_mode(lua_State *L, int mode)
{
    (void)L;
    (void)mode;
    return LUA_GCINC;
}
#else
static inline int lt_lua_set_gc_mode(lua_State *L, int mode) { return lua_gc(L, mode, 0, 0, 0); }
#endif

/* Resumes a coroutine with arguments on its stack. *n_results: values that it yielded or returned. */
static inline int lt_lua_resume(lua_State *co, lua_State *from, int n_args, int *n_results)
{
#if LUA_VERSION_NUM == 503
    const int status = lua_resume(co, from, n_args);
    *n_results = lua_gettop(co);
    return status;
#else
    return lua_resume(co, from, n_args, n_results);
#endif
}

/* The status of a protected call, whose error is on top of the stack. In 5.3, scopes of the library
 * raise an error again (lib/lua53/scope.lua), as an ordinary one, and buffers of the C API raise one;
 * in 5.5, lt_lua_error does. Lua's text shows that memory ended. */
static inline int lt_lua_call_status(lua_State *L, int status)
{
#if LUA_VERSION_NUM != 504
    if (status == LUA_ERRRUN && lua_type(L, -1) == LUA_TSTRING &&
        strstr(lua_tostring(L, -1), "not enough memory") != NULL)
        return LUA_ERRMEM;
#else
    (void)L;
#endif
    return status;
}

/* Closes the pending variables of a coroutine that ended by an error; 5.3 has none. Returns the
 * status of the error on its stack. */
static inline int lt_lua_close_thread(lua_State *co, lua_State *from)
{
    (void)from;
#if LUA_VERSION_NUM == 503
    return lua_status(co);
#elif LUA_VERSION_NUM == 504
    return lua_resetthread(co);
#else
    return lua_closethread(co, from);
#endif
}

static inline lua_State *lt_lua_new_state(lua_Alloc allocate, void *context)
{
#if LUA_VERSION_NUM >= 505
    return lua_newstate(allocate, context, luaL_makeseed(NULL));
#else
    return lua_newstate(allocate, context);
#endif
}

#endif
