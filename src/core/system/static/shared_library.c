/* shared_library.c - see system/shared_library.h, for static programs: the only libraries that open are those inside of the
 * program (system/linked_library.h). */
#include "system/shared_library.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/linked_library.h"

static lt_linked_library *linked;
static _Thread_local char failure[400];

void lt_shared_link(lt_linked_library *library)
{
    library->next = linked;
    linked = library;
}

void *lt_shared_open(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (lt_linked_library *library = linked; library != NULL; library = library->next)
        if (strcmp(library->name, name) == 0) return library;
    snprintf(failure, sizeof failure, "%.300s: a static program cannot open shared libraries",
             path);
    return NULL;
}

void *lt_shared_open_bound(const char *path) { return lt_shared_open(path); }

void *lt_shared_open_global(const char *path) { return lt_shared_open(path); }

void lt_shared_close(void *library) { (void)library; }

void *lt_shared_symbol(void *library, const char *name)
{
    const lt_linked_symbol *symbol = ((const lt_linked_library *)library)->symbols;
    while (symbol->name != NULL && strcmp(symbol->name, name) != 0) symbol++;
    return symbol->address;
}

const char *lt_shared_error(void) { return failure[0] != '\0' ? failure : "not found"; }

bool lt_shared_own_path(char *path, size_t n)
{
    char *real = realpath("/proc/self/exe", NULL);
    const bool fits = real != NULL && (size_t)snprintf(path, n, "%s", real) < n;
    free(real);
    return fits;
}

bool lt_shared_object_of(const void *address, lt_shared_object *object)
{
    (void)address, (void)object;
    return false;
}

void lt_shared_keep_own(void) {}
