/* embedded.h - Lua modules inside a binary, as scripts/embed.lua writes them. */
#ifndef LT_LUA_EMBEDDED_H
#define LT_LUA_EMBEDDED_H

#include <stddef.h>

struct lt_embedded {
    const char *name; /* of the module; NULL ends the list */
    const unsigned char *data;
    size_t size;
};

extern const struct lt_embedded lib_modules[];

#endif
