/* library.h - shared libraries that are opened on first use. */
#ifndef LT_LIBRARY_H
#define LT_LIBRARY_H

#include "context/context.h"

typedef struct lt_library {
    const char *name; /* LT_SHARED_NAME("png16", "16"): the name passed to the authorizer */
    void (*load)(const struct lt_library *self);
    _Atomic bool tried;
} lt_library;

#define LT_LIBRARY(name, load)                                                                     \
    {                                                                                              \
        (name), (load), false                                                                      \
    }

/* Calls load() once per process; load() must not need another library. LT_ERR_PERMISSION: this
 * context forbids it; another one may permit it. */
lt_status lt_library_need(lt_library *library);

/* Opens a library of this project with its functions resolved: in $LTENSOR_LIB_DIR if that is set; else in the folder
 * of the file that contains this code, or in lib/ltensor of its installation prefix. NULL:
 * lt_shared_error() has the reason with the path. */
void *lt_library_open_ours(const char *name);

/* Whether lt_library_open_ours finds the file. */
bool lt_library_has_ours(const char *name);

#endif
