/* library.c - see library.h. */
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertion.h"
#include "context/fork.h"
#include "error.h"
#include "lock.h"
#include "system/files.h"
#include "system/shared_library.h"

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
    if (!lt_shared_own_path(buffer, n)) buffer[0] = '\0';
    char *slash = strrchr(buffer, '/');
    if (slash != NULL) *slash = '\0';
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
        return lt_path_exists(path);
    }
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, n, patterns[i], own, name);
#pragma GCC diagnostic pop
        if (lt_path_exists(path)) return true;
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
    find_ours(name, path,
              sizeof path); /* if it does not exist, lt_shared_error() reports the path */
    return lt_shared_open_bound(path);
}
