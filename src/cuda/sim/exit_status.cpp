/* exit_status.cpp - see exit_status.h, by glibc. */
#include "exit_status.h"

#include <stdlib.h>

namespace lt_sim {

void at_exit(void (*function)(int status))
{
    on_exit([](int status, void *called) { reinterpret_cast<void (*)(int)>(called)(status); },
            reinterpret_cast<void *>(function));
}

} // namespace lt_sim
