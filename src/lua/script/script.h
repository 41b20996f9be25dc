/* script.h - what the files of lt_script share. */
#ifndef LT_LUA_SCRIPT_H
#define LT_LUA_SCRIPT_H

#include "ltensor_script.h"

#include "binding.h"

struct lt_script {
    lua_State *L;
    lt_context *context;
    double seconds;
    bool trusted;
    void *user;
    void (*print)(void *user, const char *line, size_t bytes);
    bool (*authorize)(void *user, int access, const char *name);
    void (*log)(void *user, int level, const char *text);
    void (*release)(void *user);
};

/* values.c: both may raise. Pushes a value; the value at an index, new. */
void lt_script_push(lua_State *L, const lt_value *value);
void lt_script_take(lua_State *L, int index, lt_value *out);

/* sandbox.c: opens what the script has and pushes the table of its globals. May raise. */
void lt_script_open(lua_State *L, lt_script *script);

#endif
