/* fetch.h - software prefetch. The hardware prefetcher stops at the end of a page. Loops of a few
 * instructions per element need no more, since out-of-order execution reaches far enough ahead. */
#ifndef LT_CPU_FETCH_H
#define LT_CPU_FETCH_H

#include <stdint.h>

enum {
    LT_PREFETCHED_SLICE = 64,             /* fixed: bytes of a cache line */
    LT_FETCHED_PAGE = 4096,               /* fixed: bytes of a page */
    LT_FETCHED_PART = LT_FETCHED_PAGE / 2 /* bytes of a page that are prefetched together */
};

/* Prefetches `bytes` bytes. It must be inlined: GCC considers a function that only prefetches to
 * have no effect, and drops its calls. */
static inline __attribute__((always_inline)) void lt_fetch(const void *from, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += LT_PREFETCHED_SLICE)
        __builtin_prefetch((const char *)from + at);
}

/* Where to begin to prefetch if elements are read a part of a page at a time: prefetches beyond the
 * end of a page come late (exp of every second column of 2000x4000: 1.67 ms; 2.1 to 2.6 ms if
 * blocks cross pages). */
static inline const void *lt_fetched_from(const void *from)
{
    return (const void *)((uintptr_t)from & ~(uintptr_t)(LT_FETCHED_PART - 1));
}

#endif
