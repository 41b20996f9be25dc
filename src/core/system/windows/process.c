/* process.c - see system/process.h: no fork(), no limits. */
#include "system/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

void lt_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before, (void)in_parent, (void)in_child;
}

/* ExitProcess ends the other threads before the destructors of libraries run. */
void lt_exit_status_record(void) {}

bool lt_exit_status(int *status)
{
    *status = 0;
    return false;
}

void lt_exit_now(int status)
{
    TerminateProcess(GetCurrentProcess(), (UINT)status);
    abort();
}

/* An empty value removes a variable of the C library's environment. */
void lt_variable_set(const char *name, const char *value)
{
    _putenv_s(name, value != NULL ? value : "");
}

uint64_t lt_address_space_limit(void) { return UINT64_MAX; }
