/* idle.c - see idle.h. */
#include "idle.h"

#include <stdatomic.h>
#include <stddef.h>

#include "assertion.h"

enum { CACHES = 4 }; /* fixed: at least the number of calls of lt_idle_register */

static _Atomic(lt_idle_release *) caches[CACHES];
static atomic_int registered;

void lt_idle_register(lt_idle_release *release)
{
    const int at = atomic_fetch_add(&registered, 1);
    LT_ASSERT(at < CACHES, "%d caches", at + 1);
    if (at < CACHES) atomic_store(&caches[at], release);
}

void lt_idle_release_all(double seconds)
{
    for (int i = 0; i < CACHES; i++) {
        lt_idle_release *const release = atomic_load(&caches[i]);
        if (release != NULL) release(seconds);
    }
}
