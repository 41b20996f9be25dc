/* limit.c - see limit.h. */
#include "limit.h"

#include <stdatomic.h>
#include <stdio.h>

#include "budget.h"
#include "error.h"
#include "pressure.h"
#include "system.h"

bool lt_mem_reclaim(void)
{
    static _Thread_local bool running;
    const lt_host_binding host = lt_tls.binding;
    if (running || host.class == NULL || host.class->reclaim == NULL) return false;
    running = true;
    host.class->reclaim(host.ctx);
    running = false;
    return true;
}

static inline void update_peak(lt_use *use, int64_t live)
{
    int64_t peak = atomic_load_explicit(&use->peak, memory_order_relaxed);
    while (live > peak &&
           !atomic_compare_exchange_weak_explicit(&use->peak, &peak, live, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

static inline bool count(lt_use *use, int64_t bytes)
{
    const int64_t before = atomic_fetch_add_explicit(&use->live, bytes, memory_order_relaxed);
    if (bytes <= 0) return true;
    if (before <= atomic_load_explicit(&use->limit, memory_order_relaxed) - bytes) {
        update_peak(use, before + bytes);
        return true;
    }
    atomic_fetch_sub_explicit(&use->live, bytes, memory_order_relaxed);
    return false;
}

static inline bool count_in_budget(int use, int64_t bytes)
{
    if (use != LT_USE_HOST || __builtin_expect(lt_tls.budget == NULL, 1)) return true;
    return lt_budget_count(bytes) == NULL;
}

bool lt_mem_charge(int use, int64_t bytes)
{
    lt_context *c = lt_tls.context;
    if (!count_in_budget(use, bytes)) return false;
    if (!count(&c->use[use], bytes)) {
        count_in_budget(use, -bytes);
        return false;
    }
    if (bytes > 0)
        atomic_fetch_add_explicit(
            &c->allocated[use == LT_USE_HOST ? LT_PACE_HOST : LT_PACE_DEVICES],
            (uint64_t)lt_mem_gc_scale(use, bytes), memory_order_relaxed);
    return true;
}

void lt_mem_uncharge(lt_context *c, int use, int64_t bytes)
{
    count_in_budget(use, -bytes);
    atomic_fetch_sub_explicit(&c->use[use].live, bytes, memory_order_relaxed);
    lt_context_drop(c);
}

lt_status lt_mem_limit_error(int use, int64_t bytes)
{
    if (use == LT_USE_HOST) LT_TRY(lt_budget_error(bytes));
    const lt_use *u = &lt_tls.context->use[use];
    char place[32] = "host memory";
    if (use != LT_USE_HOST)
        snprintf(place, sizeof place, "memory of GPU %d", use - LT_USE_DEVICE(0));
    return lt_error(LT_ERR_MEMORY,
                    "out of memory: you tried to allocate %lld bytes; the limit is %lld bytes of "
                    "%s, of which %lld are in use",
                    (long long)bytes, (long long)atomic_load(&u->limit), place,
                    (long long)atomic_load(&u->live));
}

bool lt_mem_reserve(size_t n)
{
    const int64_t bytes = n < INT64_MAX / 2 ? (int64_t)n : INT64_MAX / 2;
    if (lt_mem_charge(LT_USE_HOST, bytes) ||
        (lt_mem_reclaim() && lt_mem_charge(LT_USE_HOST, bytes)))
        return true;
    lt_mem_limit_error(LT_USE_HOST, bytes);
    return false;
}

bool lt_mem_count_host(lt_context *c, int64_t bytes) { return count(&c->use[LT_USE_HOST], bytes); }

void *lt_mem_realloc_charged(lt_context *c, void *old, size_t old_bytes, size_t bytes)
{
    lt_use *use = &c->use[LT_USE_HOST];
    const int64_t growth = (int64_t)bytes - (int64_t)old_bytes;
    if (!count(use, growth)) return NULL;
    if (bytes == 0) {
        lt_system_free(old);
        return NULL;
    }
    void *p = lt_mem_is_fault() ? NULL : lt_system_realloc(old, bytes);
    if (p == NULL && growth <= 0) p = old; /* Lua requires that shrinking succeeds */
    if (p == NULL) count(use, -growth);
    return p;
}

int64_t lt_mem_live(void)
{
    int64_t live = 0;
    for (int i = 0; i < LT_USES; i++)
        live += atomic_load_explicit(&lt_tls.context->use[i].live, memory_order_relaxed);
    return live;
}

int64_t lt_mem_reset_peak(void)
{
    lt_use *use = &lt_tls.context->use[LT_USE_HOST];
    return atomic_exchange_explicit(
        &use->peak, atomic_load_explicit(&use->live, memory_order_relaxed), memory_order_relaxed);
}
