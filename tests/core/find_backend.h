/* find_backend.h - for C tests that use a GPU: where the backends lie. */
#ifndef FIND_BACKEND_H
#define FIND_BACKEND_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The backend lies in the folder above the test's. */
static void find_backend(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0) return;
    path[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (slash != NULL) *slash = '\0';
    }
    setenv("LTENSOR_LIB_DIR", path, 0);
}

#endif
