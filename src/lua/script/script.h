/* script.h - shared by the files of lt_script. */
#ifndef LT_LUA_SCRIPT_H
#define LT_LUA_SCRIPT_H

#include "ltensor_script.h"

#include "binding.h"

struct lt_script {
    lua_State *L;
    lt_context *context;
    double seconds;
    int entered; /* nesting depth of the host's calls: a callback may call the script again */
    /* a request of Lua exceeded the limit since the last full collection for this reason */
    bool refused;
    /* bytes of the largest block that Lua has requested: bounds the work of one instruction */
    size_t largest;
    bool trusted;
    void *user;
    void (*print)(void *user, const char *line, size_t bytes);
    bool (*authorize)(void *user, int access, const char *name);
    void (*log)(void *user, int level, const char *text);
    void (*release)(void *user);
};

/* values.c: both may raise. lt_script_push pushes a value; lt_script_take makes one from the value
 * at index. `taken`: the index of a table, empty at first; values converted with the same table
 * share the tables that they have in common. */
void lt_script_push(lua_State *L, const lt_value *value);
void lt_script_take(lua_State *L, int index, int taken, lt_value *out);
/* Releases the references of `taken`, without waiting for a collection. */
void lt_script_end_taking(lua_State *L, int taken);

/* sandbox.c: opens the script's libraries and pushes the table of its globals. May raise. */
void lt_script_open(lua_State *L, lt_script *script);

#endif
