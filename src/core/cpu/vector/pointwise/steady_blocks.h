/* steady_blocks.h - access to operands LT_LANES elements at a time, for loops that process the last
 * elements with the same vector functions as the others (steady.h, by_lanes.h). */
#ifndef LT_CPU_STEADY_BLOCKS_H
#define LT_CPU_STEADY_BLOCKS_H

#include <stdint.h>
#include <string.h>

#include "cpu/common/fetch.h"

/* Elements i to i + LT_LANES of n: their address if they are contiguous, otherwise a copy in the
 * buffer, where the last element fills up missing ones. One number for all (stride 0) is copied
 * once. */
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

/* Prefetches the elements a page ahead of LT_LANES elements. */
static inline __attribute__((always_inline)) void steady_fetch(const void *elements, size_t bytes)
{
    lt_fetch((const char *)elements + LT_FETCHED_PAGE, (int64_t)bytes);
}

/* The number of contiguous elements to process from i on: whole vectors, at most `most` elements.
 */
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
