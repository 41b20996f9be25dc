/* embedded.h - Lua modules inside a binary, as scripts/embed.lua writes them. */
#ifndef LT_LUA_EMBEDDED_H
#define LT_LUA_EMBEDDED_H

#include <lua.h>
#include <stddef.h>

struct lt_embedded {
    const char *name;          /* of the module; NULL ends the list */
    const unsigned char *data; /* its text */
    size_t size;               /* of data */
    size_t unpacked; /* bytes of the text, when data is gzipped; 0 when data is the text */
    const unsigned char
        *code; /* what Lua compiled of the text; NULL where that is left to who loads it */
    size_t code_size;
};

extern const struct lt_embedded lib_modules[];

/* Pushes the text of a module. Raises on a damaged one. */
void lt_embedded_push_text(lua_State *L, const struct lt_embedded *module);

/* Pushes the function of a module, whose chunk is named "=[ltensor module.name]"; LUA_OK, or pushes
 * a message. */
int lt_embedded_load(lua_State *L, const struct lt_embedded *module);

#endif
