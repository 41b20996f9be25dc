/* clock.h - the monotonic clock for all measurements and deadlines. */
#ifndef LT_CLOCK_H
#define LT_CLOCK_H

#include <time.h>

/* Seconds; never decreases. */
static inline double lt_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
