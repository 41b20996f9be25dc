/* script.h - what the files of lt_script share. */
#ifndef LT_LUA_SCRIPT_H
#define LT_LUA_SCRIPT_H

#include "ltensor_script.h"

#include "binding.h"

struct lt_script {
    lua_State *L;
    lt_context *context;
    double seconds;
    int entered; /* calls of the host that are going on: a callback may call the script again */
    /* Lua has requested memory beyond the limit since the last full collection for that */
    bool refused;
    /* bytes of the largest block that Lua has requested: what one instruction may go through */
    size_t largest;
    bool trusted;
    void *user;
    void (*print)(void *user, const char *line, size_t bytes);
    bool (*authorize)(void *user, int access, const char *name);
    void (*log)(void *user, int level, const char *text);
    void (*release)(void *user);
};

/* values.c: both may raise. Pushes a value; the value at an index, new. `taken`: the index of a
 * table, empty at first, through which what is taken one after the other shares the tables that it
 * has in common. */
void lt_script_push(lua_State *L, const lt_value *value);
void lt_script_take(lua_State *L, int index, int taken, lt_value *out);
/* Gives back what `taken` holds, before a collection does it. */
void lt_script_end_taking(lua_State *L, int taken);

/* sandbox.c: opens what the script has and pushes the table of its globals. May raise. */
void lt_script_open(lua_State *L, lt_script *script);

#endif
