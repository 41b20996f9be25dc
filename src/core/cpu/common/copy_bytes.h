/* copy_bytes.h - a copy of usually few bytes, for which a call of memcpy would cost more than the
 * copy. */
#ifndef LT_CPU_COPY_BYTES_H
#define LT_CPU_COPY_BYTES_H

#include <stdint.h>
#include <string.h>

/* The last chunk overlaps the one before it. `to` and `from` are the same or do not overlap. */
static inline void lt_copy_bytes(char *to, const char *from, size_t n)
{
    enum { WIDE = 16 }; /* fixed: bytes of a register of every x86-64 */
    if (n > 8 * WIDE) {
        memmove(to, from, n);
    } else if (n >= WIDE) {
        for (size_t i = 0; i + WIDE <= n; i += WIDE) memcpy(to + i, from + i, WIDE);
        memcpy(to + n - WIDE, from + n - WIDE, WIDE);
    } else if (n >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8), memcpy(&last, from + n - 8, 8);
        memcpy(to, &first, 8), memcpy(to + n - 8, &last, 8);
    } else if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4), memcpy(&last, from + n - 4, 4);
        memcpy(to, &first, 4), memcpy(to + n - 4, &last, 4);
    } else {
        for (size_t i = 0; i < n; i++) to[i] = from[i];
    }
}

#endif
