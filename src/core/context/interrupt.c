/* interrupt.c - see interrupt.h. */
#include "interrupt.h"

#include "assertion.h"
#include "error.h"
#include "watch.h"

_Atomic int lt_interrupt_flag;

void lt_interrupt(void) { atomic_store(&lt_interrupt_flag, 1); }
void lt_interrupt_clear(void) { atomic_store(&lt_interrupt_flag, 0); }

static bool has_stop_flag(const lt_context *c)
{
    const uint32_t flags = atomic_load_explicit(&c->flags, memory_order_relaxed);
    return flags & (LT_CONTEXT_INTERRUPTED | LT_CONTEXT_LATE);
}

bool lt_is_stopped(void)
{
    lt_watch_poll_deadline(lt_tls.context);
    return has_stop_flag(lt_tls.context);
}

bool lt_must_stop(void)
{
    lt_context *c = lt_tls.context;
    if (lt_interrupt_flag || has_stop_flag(c)) return true;
    /* Only one polling thread runs the callback; helpers leave it to the thread they help. */
    if (lt_tls.helper ||
        !(atomic_fetch_and(&c->flags, ~(uint32_t)LT_CONTEXT_PROGRESS) & LT_CONTEXT_PROGRESS))
        return false;
    if (!lt_watch_poll(c)) return has_stop_flag(c);
    LT_ASSERT(c->progress != NULL);
    if (c->progress(c->user)) return false;
    atomic_fetch_or(&c->flags, LT_CONTEXT_INTERRUPTED);
    return true;
}

lt_status lt_stopped(void)
{
    const lt_context *c = lt_tls.context;
    const uint32_t stop = atomic_load_explicit(&c->flags, memory_order_relaxed);
    if (lt_interrupt_flag || !(stop & LT_CONTEXT_LATE))
        return lt_error(LT_ERR_INTERRUPTED, "interrupted");
    return lt_error(LT_ERR_DEADLINE, "the deadline of %g seconds has passed", c->seconds);
}
