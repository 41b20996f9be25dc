/* fetch.h - memory that is asked for before it is read. The processor itself looks ahead within a
 * page only; loops that take a few instructions an element get over that, as those that it holds
 * ready reach far enough. */
#ifndef LT_CPU_FETCH_H
#define LT_CPU_FETCH_H

#include <stdint.h>

enum {
    LT_PREFETCHED_SLICE = 64,             /* fixed: bytes of a cache line */
    LT_FETCHED_PAGE = 4096,               /* fixed: bytes of a page */
    LT_FETCHED_PART = LT_FETCHED_PAGE / 2 /* bytes of a page that are requested together */
};

/* Asks for bytes that lie in memory. It has to be inlined: of a function that does nothing else GCC
 * finds that it has no effect, and drops its calls. */
static inline __attribute__((always_inline)) void lt_fetch(const void *from, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += LT_PREFETCHED_SLICE)
        __builtin_prefetch((const char *)from + at);
}

/* From where to ask when elements from there on are read a part of a page at a time: what is asked
 * for beyond the end of a page comes late (exp of every second column of 2000x4000: 1.67 ms, and
 * 2.1 to 2.6 where blocks of the operand crossed it). */
static inline const void *lt_fetched_from(const void *from)
{
    return (const void *)((uintptr_t)from & ~(uintptr_t)(LT_FETCHED_PART - 1));
}

#endif
