/* interrupt.h - what long operations look at between chunks: whether their context was told to
 * stop. Threads that help with an operation look at the context of the one that began it
 * (cpu/common/threads.c puts them there). */
#ifndef LT_INTERRUPT_H
#define LT_INTERRUPT_H

#include "context.h"

/* Simple steps between two looks, at most: a few milliseconds on a slow machine. */
#define LT_INTERRUPT_STEP ((int64_t)1 << 20)
/* The same of multiplications in products, which take a fraction of a cycle each. */
#define LT_INTERRUPT_WORK (1024 * LT_INTERRUPT_STEP)

extern _Atomic int lt_interrupt_flag; /* lt_interrupt(): every context */

/* The rest of the look, when something is up: whether it is a reason to stop. */
bool lt_must_stop(void) __attribute__((cold));

/* Whether something is up: for this context, or for every one. */
static inline bool lt_something_up(const lt_context *context)
{
    const uint32_t flags = atomic_load_explicit(&context->flags, memory_order_relaxed);
    const int all = atomic_load_explicit(&lt_interrupt_flag, memory_order_relaxed);
    return __builtin_expect(((uint32_t)all | (flags & LT_CONTEXT_UP)) != 0, 0);
}

static inline bool lt_interrupted(void)
{
    return lt_something_up(lt_tls.context) && lt_must_stop();
}

/* The error of what has stopped: `return lt_stopped();` LT_ERR_INTERRUPTED or LT_ERR_DEADLINE,
 * never LT_OK. */
lt_status lt_stopped(void) __attribute__((cold));

#endif
