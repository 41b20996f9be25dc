/* process.c - see system/process.h. */
#include "system/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

void lt_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    pthread_atfork(before, in_parent, in_child);
}

#ifdef __GLIBC__

static int exit_status;

static void note_status(int status, void *unused)
{
    (void)unused;
    exit_status = status;
}

void lt_exit_status_record(void) { on_exit(note_status, NULL); }

bool lt_exit_status(int *status)
{
    *status = exit_status;
    return true;
}

#else

void lt_exit_status_record(void) {}

bool lt_exit_status(int *status)
{
    *status = 0;
    return false;
}

#endif

void lt_exit_now(int status) { _exit(status); }

void lt_variable_set(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

uint64_t lt_address_space_limit(void)
{
    struct rlimit limit;
    const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}
