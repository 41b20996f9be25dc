/* library.c - see library.h. */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assertion.h"
#include "context/fork.h"
#include "error.h"
#include "lock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a library is loaded */

LT_HOLD_ACROSS_FORK(lock)

lt_status lt_library_need(lt_library *library)
{
    LT_ASSERT(library->name != NULL && library->load != NULL);
    if (atomic_load_explicit(&library->tried, memory_order_acquire)) return LT_OK;
    LT_TRY(lt_authorize(LT_ACCESS_LIBRARY, library->name));
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&library->tried, memory_order_relaxed)) library->load(library);
    atomic_store_explicit(&library->tried, true, memory_order_release);
    lt_unlock(&lock);
    return LT_OK;
}

/* The folder of the program or library that contains this function, without the final slash. */
static void own_directory(char *buffer, size_t n)
{
    Dl_info info;
    buffer[0] = '\0';
    if (dladdr((void *)&own_directory, &info) == 0 || info.dli_fname == NULL) return;
    char *path = realpath(info.dli_fname, NULL);
    if (path == NULL) path = realpath("/proc/self/exe", NULL);
    if (path == NULL) return;
    char *slash = strrchr(path, '/');
    if (slash != NULL) *slash = '\0';
    snprintf(buffer, n, "%s", path);
    free(path);
}

/* Stores the path of the library of this project; false: it does not exist, and the path is the
 * first of the searched ones. */
static bool find_ours(const char *name, char *path, size_t n)
{
    char own[3072];
    const char *dir = getenv("LTENSOR_LIB_DIR");
    own_directory(own, sizeof own);
    const char *const patterns[] = {"%s/%s", "%s/ltensor/%s", "%s/../lib/ltensor/%s",
                                    "%s/../../ltensor/%s"};
    if (dir != NULL) {
        snprintf(path, n, "%.3000s/%s", dir, name);
        return access(path, F_OK) == 0;
    }
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, n, patterns[i], own, name);
#pragma GCC diagnostic pop
        if (access(path, F_OK) == 0) return true;
    }
    snprintf(path, n, "%s/%s", own, name);
    return false;
}

bool lt_library_has_ours(const char *name)
{
    char path[4096];
    return find_ours(name, path, sizeof path);
}

void *lt_library_open_ours(const char *name)
{
    char path[4096];
    (void)dlerror();                    /* clears the error of an earlier failure */
    find_ours(name, path, sizeof path); /* if it does not exist, dlopen() reports the path */
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
