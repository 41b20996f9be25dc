/* exit_status.cpp - see exit_status.h, for C libraries that do not report the status. */
#include "../exit_status.h"

#include <stdlib.h>

namespace lt_sim {

namespace {

void (*called)(int status);

} // namespace

void at_exit(void (*function)(int status))
{
    called = function;
    atexit([] { called(0); });
}

} // namespace lt_sim
