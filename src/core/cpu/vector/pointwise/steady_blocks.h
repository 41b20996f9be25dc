/* steady_blocks.h - operands LT_LANES elements at a time, for loops in which the last few elements go
 * through the same vector functions as the others (steady.h, by_lanes.h). */
#ifndef LT_CPU_STEADY_BLOCKS_H
#define LT_CPU_STEADY_BLOCKS_H

#include <stdint.h>
#include <string.h>

#include "cpu/common/fetch.h"

/* Elements i to i + LT_LANES of n: where they are, when they are dense, or copied to the buffer, where
 * the last stands in for those that are missing. A number for all (stride 0) is copied once. */
static inline const void *steady_in(void *buffer, const char *from, int64_t stride, size_t size,
                                    int64_t i, int64_t n)
{
    if (stride == (int64_t)size && i + LT_LANES <= n) return from + i * stride;
    if (stride == 0 && i > 0) return buffer;
    for (int64_t j = 0; j < LT_LANES; j++)
        memcpy((char *)buffer + (size_t)j * size, from + (i + j < n ? i + j : n - 1) * stride,
               size);
    return buffer;
}

static inline void *steady_out(void *buffer, char *to, int64_t stride, size_t size, int64_t i,
                               int64_t n)
{
    return stride == (int64_t)size && i + LT_LANES <= n ? to + i * stride : buffer;
}

/* Asks for the elements that come a page after LT_LANES of so many bytes. */
static inline __attribute__((always_inline)) void steady_fetch(const void *elements, size_t bytes)
{
    lt_fetch((const char *)elements + LT_FETCHED_PAGE, (int64_t)bytes);
}

/* How many dense elements from i on are done at once: whole vectors, at most so many elements. */
static inline int64_t steady_run(int64_t i, int64_t n, int64_t most)
{
    return (n - i < most ? n - i : most) / LT_LANES * LT_LANES;
}

static inline void steady_store(char *to, int64_t stride, const void *buffer, size_t size,
                                int64_t i, int64_t n)
{
    for (int64_t j = 0; j < LT_LANES && i + j < n; j++)
        memcpy(to + (i + j) * stride, (const char *)buffer + (size_t)j * size, size);
}

#endif
