/* sparse.h - tensors of which only some elements are stored (docs/design/sparse.md).
 *
 * A sparse tensor is an lt_tensor with LT_FLAG_SPARSE: sizes, dtype and device are its own, its
 * storage has no elements but a pattern (where values stand) and the values, which are ordinary
 * tensors on the same device. The elements that it has not are 0.
 *
 *   COO       indices [sparse_dim, nnz], values [nnz, dense sizes...]; the values of equal
 *             indices are added
 *   CSR, CSC  compressed [n + 1], plain [nnz], values [nnz]; row (column) i has the entries from
 *             compressed[i] to compressed[i + 1] - 1
 *
 * Components are never written: what changes a sparse tensor gives it others. They have no history:
 * a sparse tensor is a variable of its own, and the ops _sparse_values and _sparse_like lead from
 * it to its values and back. Indices count from 0. */
#ifndef LT_SPARSE_H
#define LT_SPARSE_H

#include "tensor.h"

typedef struct lt_sparse {
    lt_layout layout;
    bool coalesced; /* COO: the places are in order and each occurs once. Of CSR and CSC always */
    lt_tensor *indices;            /* COO, else NULL */
    lt_tensor *compressed, *plain; /* CSR and CSC, else NULL */
    lt_tensor *values;
} lt_sparse;

/* The components of a sparse tensor, borrowed. */
static inline const lt_sparse *lt_sparse_of(const lt_tensor *t)
{
    return (const lt_sparse *)t->storage->ctx;
}

/* "torch.sparse_coo" */
const char *lt_layout_name(lt_layout layout);
/* The layout of a name, with "torch." before it or without; LT_ERR_TYPE when there is none. */
lt_status lt_layout_from_name(const char *name, lt_layout *out);

/* Whether any entry is sparse; entries may be NULL. */
bool lt_any_sparse(const lt_tensor_list *list);

/* New reference: a sparse tensor of these components, which are retained, on the values' device.
 * Nothing is checked. */
lt_status lt_sparse_new(const lt_sparse *parts, int ndim, const int64_t *sizes, lt_tensor **out);

/* t, which is sparse, gets the components of src, which is sparse too; version and flags stay t's
 * own. */
void lt_sparse_replace(lt_tensor *t, lt_tensor *src);

/* "add() has no form for sparse tensors": LT_ERR_RUNTIME. */
lt_status lt_refuse_sparse(const char *op);
/* The same when t is sparse, else LT_OK: for functions that look at a tensor's elements and are no
 * ops. */
static inline lt_status lt_require_strided(const char *function, const lt_tensor *t)
{
    return lt_is_sparse(t) ? lt_refuse_sparse(function) : LT_OK;
}

/* -- for generated wrappers -------------------------------------------------------------------- */

/* New references: self with each place once, and its values, which are differentiable. */
lt_status lt_sparse_open(lt_tensor *self, lt_tensor **pattern, lt_tensor **values);
/* *out becomes pattern with result as values, unless status is an error. Takes over the
 * references. */
lt_status lt_sparse_close(lt_status status, lt_tensor *pattern, lt_tensor *values,
                          lt_tensor *result, lt_tensor **out);
/* Writes the result of a sparse form to `written`, in place or for out=. Takes over the reference.
 * LT_ERR_RUNTIME when autograd would have to know, or when one is sparse and the other is not. */
lt_status lt_sparse_store_steal(const char *op, lt_tensor *written, lt_tensor *result);

#endif
