/* pressure.c - see pressure.h. */
#include "pressure.h"

/* 1/SHARES of a device's memory counts as 96 to 192 MiB (SHARE_BYTES or more), so that the amount
 * of garbage that the collector tolerates (src/lua/state.c) fits into that fraction and leaves
 * memory for a caching allocator. */
#define SHARES      32
#define SHARE_BYTES ((int64_t)96 << 20)

_Atomic unsigned char lt_mem_halvings[LT_USES];

void lt_mem_set_device_size(int use, int64_t total)
{
    unsigned char n = 0;
    while (n < 16 && (total >> (n + 1)) / SHARES >= SHARE_BYTES) n++;
    atomic_store_explicit(&lt_mem_halvings[use], n + 1, memory_order_relaxed);
}

int64_t lt_mem_gc_pressure(void)
{
    const lt_context *c = lt_tls.context;
    int64_t pressure = 0;
    for (int i = 0; i < LT_USES; i++)
        pressure += lt_mem_gc_scale(i, atomic_load_explicit(&c->use[i].live, memory_order_relaxed));
    return pressure;
}
