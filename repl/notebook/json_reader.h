/* json_reader.h - reading JSON into Lua tables, for notebooks. */
#ifndef REPL_NOTEBOOK_JSON_READER_H
#define REPL_NOTEBOOK_JSON_READER_H

#include <lua.h>

/* The Lua module repl.notebook.json_reader; its function is described where it is defined. */
int luaopen_repl_json_reader(lua_State *L);

#endif
