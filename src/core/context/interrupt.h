/* interrupt.h - the interrupt flag that long operations poll between chunks: whether their context
 * must stop. Helper threads poll the context of the thread that started the operation
 * (cpu/common/threads.c sets it). */
#ifndef LT_INTERRUPT_H
#define LT_INTERRUPT_H

#include "context.h"

/* Maximum number of simple steps between two polls: a few milliseconds on a slow machine. */
#define LT_INTERRUPT_STEP ((int64_t)1 << 20)
/* The same limit for multiplications in products, which take a fraction of a cycle each. */
#define LT_INTERRUPT_WORK (1024 * LT_INTERRUPT_STEP)

extern _Atomic int lt_interrupt_flag; /* set by lt_interrupt(); for all contexts */

/* Slow path of lt_interrupted: runs a due progress callback; true if the operation must stop. */
bool lt_must_stop(void) __attribute__((cold));

/* The same without the progress callback and without the flag for all contexts: for functions that
 * do not poll for long, such as the one that creates tensors. */
bool lt_is_stopped(void) __attribute__((cold));

/* Whether a flag of this context, or the one for all contexts, is set. */
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

/* The error of a stopped operation: `return lt_stopped();` LT_ERR_INTERRUPTED or LT_ERR_DEADLINE,
 * never LT_OK. */
lt_status lt_stopped(void) __attribute__((cold));

#endif
