/* emulated.h - for tests on an emulated processor (make test-arm64): the limits of the emulator, and
 * how a program starts itself again. */
#ifndef LT_TEST_EMULATED_H
#define LT_TEST_EMULATED_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline const char *emulator(void) { return getenv("LTENSOR_TEST_EMULATOR"); }

/* Ends a test that the emulator cannot pass; the caller states the reason. */
static inline void skip_if_emulated(void)
{
    if (emulator() != NULL) skip();
}

/* The shell command that starts this program again. */
static inline void write_own_command(char *command, size_t size)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    snprintf(command, size, "%s '%s'", emulator() != NULL ? emulator() : "", path);
}

#endif
