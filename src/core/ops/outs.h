/* outs.h - out= of ops that cannot write to the given tensors, and in-place forms of composite ops:
 * the finished results are copied. */
#ifndef LT_OPS_OUTS_H
#define LT_OPS_OUTS_H

#include "error.h"
#include "tensor.h"

/* Copies n results (NULL: one that was not made) to as many tensors. Each is resized if its shape
 * differs, with a warning if it had elements; arguments of the op that share its memory have been
 * read before. If one of them cannot be written, none is: LT_ERR_TYPE if there are not n of them,
 * LT_ERR_RUNTIME if a result or an output requires grad, is dual or batched, an output has a dtype
 * to which the result cannot be cast, is on another device, or shares memory with itself or
 * another. */
lt_status lt_store_outs(const char *op, int n, lt_tensor *const *results,
                        const lt_tensor_list *outs);

/* The same for an op with positions among its results: LT_ERR_RUNTIME also if an output has another
 * dtype than its result. */
lt_status lt_store_exact_outs(const char *op, int n, lt_tensor *const *results,
                              const lt_tensor_list *outs);

/* LT_ERR_TYPE unless there are n tensors. */
lt_status lt_check_out_count(const char *op, int n, const lt_tensor_list *outs);

/* The number of in-place writes to t's storage. */
static inline uint32_t lt_version_of(const lt_tensor *t)
{
    return atomic_load_explicit(&t->storage->version, memory_order_relaxed);
}

/* Whether an argument, which may be NULL, uses the memory of a given tensor. */
static inline bool lt_shares_storage(const lt_tensor *out, const lt_tensor *read)
{
    return read != NULL && read->storage == out->storage;
}
static inline bool lt_shares_storage_with_any(const lt_tensor *out, const lt_tensor_list *read)
{
    for (int64_t i = 0; i < read->n; i++)
        if (lt_shares_storage(out, read->v[i])) return true;
    return false;
}

/* The in-place form `op`: copies the result, which it steals, to self; autograd records the copy.
 * LT_ERR_RUNTIME if the result cannot be cast to the dtype of self, or, with keeps_dtype, has
 * another one. */
lt_status lt_store_in_place(const char *op, lt_tensor *result, bool keeps_dtype, lt_tensor *self);

#endif
