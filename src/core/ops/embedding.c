/* embedding.c - looking up rows of a matrix. The ids are positions from 0 here. */
#include "compose.h"

lt_status lt_embedding_impl(lt_tensor *weight, lt_tensor *indices, lt_tensor **out)
{
    if (weight->ndim != 2) return lt_error(LT_ERR_RUNTIME, "'weight' must be 2-D");
    if ((lt_dtype)indices->dtype != LT_INT64 && (lt_dtype)indices->dtype != LT_INT32)
        return lt_error(LT_ERR_RUNTIME,
                        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
                        "Int; but got %s instead (while checking arguments for embedding)",
                        lt_dtype_scalar_name((lt_dtype)indices->dtype));
    if (indices->ndim == LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "a tensor has at most %d dimensions, got %d", LT_MAX_DIMS, LT_MAX_DIMS + 1);
    lt_scope s;
    lt_dims sizes = lt_dims_of(indices);
    sizes.v[sizes.n++] = weight->sizes[1];
    lt_scope_open(&s, false);
    lt_tensor *line = do_reshape(&s, indices, &(lt_dims){1, {indices->numel}}), *rows = NULL;
    if (line == NULL) return lt_scope_close(&s);
    lt_status status = lt_index_select_impl(weight, 0, line, &rows);
    return lt_scope_give(&s, do_reshape(&s, lt_scope_hold(&s, status, rows), &sizes), out);
}

lt_status lt__embedding_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, lt_tensor *indices,
                                      lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *line = do_reshape(&s, indices, &(lt_dims){1, {indices->numel}}), *result = NULL;
    lt_tensor *rows = do_reshape(&s, grad_output, &(lt_dims){2, {indices->numel, sizes->v[1]}});
    lt_tensor *zeros = do_zeros(&s, grad_output, sizes);
    if (zeros == NULL) return lt_scope_close(&s);
    lt_status status = lt_index_add(zeros, 0, line, rows, lt_int(1), &result);
    return lt_scope_give(&s, lt_scope_hold(&s, status, result), out);
}
