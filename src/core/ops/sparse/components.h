/* components.h - sparse tensors as steps of formulas (compose.h): the indices of their values ("places")
 * as coordinates and as linear indices ("keys"), and back. */
#ifndef LT_OPS_SPARSE_PARTS_H
#define LT_OPS_SPARSE_PARTS_H

#include "ops/steps.h"
#include "sparse.h"
#include "step/_sparse_like.h"
#include "step/_sparse_values.h"
#include "step/coalesce.h"

/* The number of sparse dimensions. */
static inline int lt_sparse_dims_of(const lt_tensor *t)
{
    const lt_sparse *p = lt_sparse_of(t);
    return p->indices != NULL ? (int)p->indices->sizes[0] : 2;
}
/* The number of stored values. */
static inline int64_t lt_sparse_count(const lt_tensor *t)
{
    return lt_sparse_of(t)->values->sizes[0];
}

/* Whether two sparse tensors are known to have the same pattern, without comparing indices. */
bool lt_sparse_same_indices(const lt_tensor *a, const lt_tensor *b);

/* Error unless t is sparse; what: the function that was called. */
lt_status lt_require_sparse(const char *what, const lt_tensor *t);

/* The indices of t's values as coordinates [sparse dims, nnz], in the values' order. */
lt_tensor *do_coordinates(lt_scope *s, lt_tensor *t);
/* One row of coordinates [dims, nnz]. */
lt_tensor *do_coordinate(lt_scope *s, lt_tensor *coordinates, int64_t dim);
/* Converts coordinates to linear indices, row-major over the first dimensions of sizes; and back.
 */
lt_tensor *do_keys(lt_scope *s, lt_tensor *coordinates, const int64_t *sizes);
lt_tensor *do_unravel(lt_scope *s, lt_tensor *keys, int dims, const int64_t *sizes);
/* The linear indices of t's values. */
lt_tensor *do_places(lt_scope *s, lt_tensor *t);
/* A dense tensor with t's sparse dimensions merged. */
lt_tensor *do_flat(lt_scope *s, lt_tensor *dense, int sparse_dims);

/* A sparse tensor in COO, of coordinates that are known to be in range. */
lt_tensor *do_coo(lt_scope *s, lt_tensor *coordinates, lt_tensor *values, const lt_dims *sizes,
                  bool coalesced);
/* t in COO; t itself if it already is. */
lt_tensor *do_as_coo(lt_scope *s, lt_tensor *t);
/* t, coalesced or in COO, converted to a layout. */
lt_tensor *do_as_layout(lt_scope *s, lt_tensor *t, lt_layout layout);
lt_tensor *do_to_dense(lt_scope *s, lt_tensor *t);
/* The indices at which flags [nnz] are set: of columns of coordinates and rows of values. */
lt_tensor *do_chosen(lt_scope *s, lt_tensor *flags);
/* For each of values, the number of entries of `sorted` that are less (right: less or equal). */
lt_tensor *do_search(lt_scope *s, lt_tensor *sorted, lt_tensor *values, bool right);
/* The row of each value of a matrix in CSR (the column of one in CSC), of its compressed and plain
 * indices. */
lt_tensor *do_lines_of(lt_scope *s, lt_tensor *compressed, lt_tensor *plain);
/* The concatenated ranges starts[i] .. starts[i] + counts[i] - 1; *which: the i of each entry. */
lt_tensor *do_ranges(lt_scope *s, lt_tensor *starts, lt_tensor *counts, lt_tensor **which);
/* zeros [n, ...] with rows added at the indices in index. */
lt_tensor *do_added_rows(lt_scope *s, int64_t n, lt_tensor *index, lt_tensor *rows);

#endif
