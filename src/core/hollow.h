/* hollow.h - tensors without memory. Two kinds: those to exchange with a tensor whose memory is not
 * needed for a while (lt_storage_exchange), parameters that are gathered before they are used and
 * freed after; and those whose values are computed when they are first looked at
 * (compile/window.h).
 *
 * A storage is hollow then, and nothing may read or write it before it was met: the first kind is
 * refused, the second gets its memory. The wrapper of every op whose kernel would
 * (scripts/gen/autograd.lua), the iterator, and whatever else looks at memory, asks: ops ask
 * lt_any_hollow first, so that it costs them one load where there is none. */
#ifndef LT_HOLLOW_H
#define LT_HOLLOW_H

#include "tensor.h"

/* What lies in a storage from some byte on: the name of a parameter. */
typedef struct lt_hollow_part {
    int64_t from;
    const char *name;
} lt_hollow_part;

/* A tensor of as many bytes as t's storage that uses no memory. Its version is none that a tensor
 * comes to, so that derivatives refuse what they have saved. parts: n of them, in order of `from`;
 * reason: why there is no memory, and what to do about it, for the message of who would read it.
 * Both are copied. */
lt_status lt_storage_hollow(const lt_tensor *t, const lt_hollow_part *parts, int n,
                            const char *reason, lt_tensor **out);

/* How many hollow storages the process has. */
extern _Atomic int32_t lt_hollow_storages;

static inline bool lt_any_hollow(void)
{
    return __builtin_expect(atomic_load_explicit(&lt_hollow_storages, memory_order_relaxed) != 0,
                            0);
}

/* What the ctx of a hollow storage begins with: what is done when op is about to read or write t.
 * LT_OK: t has memory now. Of lt_storage_hollow's, LT_ERR_RUNTIME that names the parameter, why it
 * has no memory and what to do. */
typedef struct lt_absence {
    lt_status (*meet)(const char *op, const lt_tensor *t);
} lt_absence;

/* The error where t is hollow and stays so. op: who would read or write it. */
static inline lt_status lt_refuse_hollow(const char *op, const lt_tensor *t)
{
    return __builtin_expect(t->storage->hollow, 0)
               ? ((const lt_absence *)t->storage->ctx)->meet(op, t)
               : LT_OK;
}
/* Of n tensors; NULL is allowed. */
lt_status lt_refuse_hollow_all(const char *op, int64_t n, lt_tensor *const *v);

#endif
