/* embedded.h - the Lua modules inside the program, as scripts/embed.lua writes them. */
#ifndef REPL_EMBEDDED_H
#define REPL_EMBEDDED_H

#include "../src/lua/embedded.h"

extern const struct lt_embedded repl_modules[];

#endif
