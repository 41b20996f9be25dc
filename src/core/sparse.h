/* sparse.h - sparse tensors, which store only some of their elements (docs/design/sparse.md).
 *
 * A sparse tensor is an lt_tensor with LT_FLAG_SPARSE and its own sizes, dtype and device. Its
 * storage has no elements but a pattern (the indices of the values) and the values, which are
 * ordinary tensors on the same device. All other elements are 0.
 *
 *   COO       indices [sparse_dim, nnz], values [nnz, dense sizes...]; the values of equal
 *             indices are added
 *   CSR, CSC  compressed [n + 1], plain [nnz], values [nnz]; row (column) i has the entries from
 *             compressed[i] to compressed[i + 1] - 1
 *
 * Invariant: components are never written; a change to a sparse tensor replaces them. They have no
 * autograd history: the sparse tensor is the variable, and the ops _sparse_values and _sparse_like
 * convert between it and its values. Indices count from 0. */
#ifndef LT_SPARSE_H
#define LT_SPARSE_H

#include "tensor.h"

typedef struct lt_sparse {
    lt_layout layout;
    bool coalesced;     /* COO: the indices are sorted and unique. Always true for CSR and CSC */
    lt_tensor *indices; /* COO, else NULL */
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
/* The layout of a name, with or without "torch."; LT_ERR_TYPE if it is unknown. */
lt_status lt_layout_from_name(const char *name, lt_layout *out);

/* Whether any entry is sparse; entries may be NULL. */
bool lt_any_sparse(const lt_tensor_list *list);

/* New reference: a sparse tensor of these components, which are retained, on the values' device.
 * Does not check them. */
lt_status lt_sparse_new(const lt_sparse *parts, int ndim, const int64_t *sizes, lt_tensor **out);

/* Replaces the components of the sparse tensor t by src's; t keeps its version and flags. */
void lt_sparse_replace(lt_tensor *t, lt_tensor *src);

/* Sets the error "add() does not support sparse tensors"; LT_ERR_RUNTIME. */
lt_status lt_refuse_sparse(const char *op);
/* The same error if t is sparse, else LT_OK: for functions other than ops that access elements. */
static inline lt_status lt_require_strided(const char *function, const lt_tensor *t)
{
    return lt_is_sparse(t) ? lt_refuse_sparse(function) : LT_OK;
}

/* -- for generated wrappers -------------------------------------------------------------------- */

/* New references: self coalesced, and its values, which are differentiable. */
lt_status lt_sparse_open(lt_tensor *self, lt_tensor **pattern, lt_tensor **values);
/* *out becomes a sparse tensor with pattern's indices and result as values, unless status is an
 * error. Consumes pattern, values and result. */
lt_status lt_sparse_close(lt_status status, lt_tensor *pattern, lt_tensor *values,
                          lt_tensor *result, lt_tensor **out);
/* Stores the result of a sparse form in `written`, in place or for out=. Consumes result.
 * LT_ERR_RUNTIME if autograd would have to record it, or if only one of the two is sparse. */
lt_status lt_sparse_store_steal(const char *op, lt_tensor *written, lt_tensor *result);

#endif
