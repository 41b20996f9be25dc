/* embedded.h - the Lua modules inside the program, as scripts/embed.lua writes them. */
#ifndef REPL_EMBEDDED_H
#define REPL_EMBEDDED_H

#include <stddef.h>

struct lt_embedded {
    const char *name; /* of the module; NULL ends the list */
    const unsigned char *data;
    size_t size;
};

extern const struct lt_embedded repl_modules[];

#endif
