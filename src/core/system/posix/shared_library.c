/* shared_library.c - see system/shared_library.h. */
#include "system/shared_library.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <link.h>
#endif

/* Clears the error of an earlier failure. */
static void *open_library(const char *path, int flags)
{
    (void)dlerror();
    return dlopen(path, flags);
}

void *lt_shared_open(const char *path) { return open_library(path, RTLD_LAZY | RTLD_LOCAL); }

void *lt_shared_open_bound(const char *path) { return open_library(path, RTLD_NOW | RTLD_LOCAL); }

void *lt_shared_open_global(const char *path)
{
    return open_library(path, RTLD_LAZY | RTLD_GLOBAL);
}

void lt_shared_close(void *library) { dlclose(library); }

void *lt_shared_symbol(void *library, const char *name) { return dlsym(library, name); }

const char *lt_shared_error(void)
{
    const char *reason = dlerror();
    return reason != NULL ? reason : "not found";
}

/* The name by which the system's loader opened this code; NULL: unknown. */
static const char *own_name(void)
{
    Dl_info here;
    return dladdr((void *)(uintptr_t)&own_name, &here) != 0 ? here.dli_fname : NULL;
}

bool lt_shared_own_path(char *path, size_t n)
{
    const char *name = own_name();
    if (name == NULL) return false;
    char *real = realpath(name, NULL);
    if (real == NULL) real = realpath("/proc/self/exe", NULL);
    if (real == NULL) return false;
    const bool fits = (size_t)snprintf(path, n, "%s", real) < n;
    free(real);
    return fits;
}

bool lt_shared_object_of(const void *address, lt_shared_object *object)
{
#ifdef __GLIBC__
    Dl_info info;
    struct link_map *map = NULL;
    if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL) return false;
    object->base = info.dli_fbase;
    object->is_program = map->l_name[0] == '\0';
    object->path = object->is_program ? info.dli_fname : map->l_name;
    return true;
#else
    (void)address, (void)object;
    return false;
#endif
}

void lt_shared_keep_own(void)
{
    const char *name = own_name();
    if (name != NULL) dlopen(name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
