/* leaks.h - before and after a test of cmocka: it fails that leaves memory of the library
 * behind. */
#ifndef LT_TEST_LEAKS_H
#define LT_TEST_LEAKS_H

#include "memory/limit.h"

static int64_t live_before;

static inline int note_memory(void **state)
{
    (void)state;
    live_before = lt_mem_live();
    return 0;
}

static inline int check_memory(void **state)
{
    (void)state;
    return lt_mem_live() == live_before ? 0 : -1;
}

#endif
