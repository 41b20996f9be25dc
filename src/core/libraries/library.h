/* library.h - shared objects that are opened when they are first needed. */
#ifndef LT_LIBRARY_H
#define LT_LIBRARY_H

#include "context/context.h"

typedef struct lt_library {
    const char *name; /* "libpng16.so.16": what an authorizer is asked for */
    void (*load)(const struct lt_library *self);
    _Atomic bool tried;
} lt_library;

#define LT_LIBRARY(name, load)                                                                     \
    {                                                                                              \
        (name), (load), false                                                                      \
    }

/* Has load() run, once in the process; it needs no other library. LT_ERR_PERMISSION: the context
 * does not want it opened; another one may. */
lt_status lt_library_need(lt_library *library);

/* Opens a library that comes with this one, by dlopen: one in $LTENSOR_LIB_DIR, beside the file
 * this code is in, or in lib/ltensor of the prefix it was installed into, as program, library or
 * Lua module. NULL: dlerror() says why, or it is in none of them. */
void *lt_library_open_ours(const char *name);

#endif
