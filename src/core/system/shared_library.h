/* shared_library.h - shared libraries that are opened at run time, and their file names. Static
 * programs cannot open any: each open fails with a reason. */
#ifndef LT_SYSTEM_SHARED_LIBRARY_H
#define LT_SYSTEM_SHARED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* LT_SHARED_NAME("png16", "16"): the file name of a version of a library. LT_PLUGIN_NAME("sim"):
 * the one of a plugin of this project. Both take and give string literals. */
#if defined(_WIN32)
#define LT_SHARED_NAME(name, version) "lib" name "-" version ".dll"
#define LT_PLUGIN_NAME(name)          "libltensor_" name ".dll"
#elif defined(__APPLE__)
#define LT_SHARED_NAME(name, version) "lib" name "." version ".dylib"
#define LT_PLUGIN_NAME(name)          "libltensor_" name ".dylib"
#else
#define LT_SHARED_NAME(name, version) "lib" name ".so." version
#define LT_PLUGIN_NAME(name)          "libltensor_" name ".so"
#endif

/* Open a library by its path or by the search of the system; a second time counts a reference.
 * NULL: lt_shared_error() has the reason. _open resolves functions when they are first called,
 * _open_bound at once, _open_global like _open and for all libraries of the process that are opened
 * later. */
void *lt_shared_open(const char *path);
void *lt_shared_open_bound(const char *path);
void *lt_shared_open_global(const char *path);
void lt_shared_close(void *library);

/* The address of a function or variable; NULL: the library has none of this name. */
void *lt_shared_symbol(void *library, const char *name);

/* The reason of the calling thread's last failure, once; never NULL. */
const char *lt_shared_error(void);

/* Stores the absolute path of the program or library that contains this code; false: unknown. */
bool lt_shared_own_path(char *path, size_t n);

/* The program or library that contains an address. */
typedef struct lt_shared_object {
    const void *base; /* its address in memory */
    const char *path; /* valid while it is loaded */
    bool is_program;
} lt_shared_object;

/* False: the system does not report it. */
bool lt_shared_object_of(const void *address, lt_shared_object *object);

/* Keeps the library that contains this code loaded until the process ends: a thread runs its code.
 * */
void lt_shared_keep_own(void);

#endif
