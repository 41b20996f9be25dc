/* fetch.c - see fetch.h. */
#include "fetch.h"

#ifdef __x86_64__
#include <cpuid.h>

/* Bytes of the third cache by a list that AMD's processors have of their caches; 0: others, or
 * none. */
static int64_t third_cache(void)
{
    unsigned a, b, c, d;
    for (unsigned i = 0; __get_cpuid_count(0x8000001D, i, &a, &b, &c, &d) && (a & 31) != 0; i++) {
        const int64_t line = (b & 4095) + 1, parts = (b >> 12 & 1023) + 1, ways = (b >> 22) + 1;
        if ((a >> 5 & 7) == 3) return line * parts * ways * ((int64_t)c + 1);
    }
    return 0;
}

int64_t lt_fetch_beyond(void)
{
    static _Atomic int64_t known = -1;
    int64_t bytes = known;
    if (bytes < 0) known = bytes = third_cache() / 2 * 3;
    return bytes;
}
#else
int64_t lt_fetch_beyond(void) { return 0; }
#endif
