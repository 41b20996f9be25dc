/* posix.h - functions of POSIX and C11 that C tests call and MinGW-w64 lacks; the compiler includes it before a test. */
#ifndef TESTS_WINDOWS_POSIX_H
#define TESTS_WINDOWS_POSIX_H

#include <direct.h>
#include <io.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Blocks of the tests are aligned, since Windows frees these by another function. */
enum { TEST_ALIGNMENT = 64 };
#define malloc(n)            _aligned_malloc(n, TEST_ALIGNMENT)
#define calloc(n, size)      _aligned_recalloc(NULL, n, size, TEST_ALIGNMENT)
#define realloc(p, n)        _aligned_realloc(p, n, TEST_ALIGNMENT)
#define aligned_alloc(to, n) _aligned_malloc(n, to)
#define free                 _aligned_free
#define strdup(text)         strndup(text, strlen(text))

static inline char *strndup(const char *text, size_t n)
{
    n = strnlen(text, n);
    char *copy = malloc(n + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

static inline int setenv(const char *name, const char *value, int replaces)
{
    return !replaces && getenv(name) != NULL ? 0 : _putenv_s(name, value);
}

static inline int unsetenv(const char *name) { return _putenv_s(name, ""); }

static inline ssize_t readlink(const char *path, char *to, size_t n)
{
    (void)path, (void)to, (void)n;
    return -1;
}

static inline char *mkdtemp(char *path)
{
    return _mktemp(path) != NULL && _mkdir(path) == 0 ? path : NULL;
}

#endif
