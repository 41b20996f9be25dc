/* deferred.h - storages without memory. Two kinds:
 *
 * - freed: parameters that are gathered before use and freed afterwards (FSDP), by exchange with a
 *   tensor that has memory (lt_storage_exchange). Reading one is an error.
 * - deferred values of a trace (trace.h). Reading one evaluates it.
 *
 * lt_materialize has to be called before memory is read or written: by the wrapper of every op with
 * a kernel (scripts/gen/autograd.lua), by the iterator, and by all other code that accesses memory.
 * lt_any_deferred is the fast path: one load if the process has no such storage. */
#ifndef LT_DEFERRED_H
#define LT_DEFERRED_H

#include "tensor.h"

/* The parameter that begins at byte `from` of a storage. */
typedef struct lt_freed_part {
    int64_t from;
    const char *name;
} lt_freed_part;

/* New tensor with as many bytes as t's storage that uses no memory. Its version is above any that
 * writes reach, so that derivatives reject tensors saved before. parts: n of them, in order of
 * `from`; reason: the reason and the remedy, for the message of an op that reads it. Both are
 * copied. */
lt_status lt_storage_freed(const lt_tensor *t, const lt_freed_part *parts, int n,
                           const char *reason, lt_tensor **out);

/* The number of storages without memory in the process. */
extern _Atomic int32_t lt_deferred_storages;

static inline bool lt_any_deferred(void)
{
    return __builtin_expect(atomic_load_explicit(&lt_deferred_storages, memory_order_relaxed) != 0,
                            0);
}

/* The first member of the ctx of a storage without memory. materialize is called before op reads or
 * writes t. LT_OK: t has memory now. For a freed storage: LT_ERR_RUNTIME with the parameter, the
 * reason and the remedy. */
typedef struct lt_deferral {
    lt_status (*materialize)(const char *op, const lt_tensor *t);
} lt_deferral;

/* Makes sure that t has memory before op reads or writes it. Returns the error of materialize. */
static inline lt_status lt_materialize(const char *op, const lt_tensor *t)
{
    return __builtin_expect(t->storage->deferred, 0)
               ? ((const lt_deferral *)t->storage->ctx)->materialize(op, t)
               : LT_OK;
}
/* Materializes n tensors; NULL entries are allowed. */
lt_status lt_materialize_all(const char *op, int64_t n, lt_tensor *const *v);

#endif
