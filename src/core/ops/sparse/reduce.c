/* reduce.c - the sparse forms of sums. */
#include "components.h"

#include "op/sum.h"

lt_status lt_sum_sparse(lt_tensor *self, lt_dtype dtype, lt_tensor **out)
{
    lt_scope s;
    lt_tensor *sum = NULL;
    lt_scope_open(&s, true);
    lt_tensor *values = do__sparse_values(&s, self);
    if (s.status == LT_OK) s.status = lt_sum(values, dtype, &sum);
    return lt_scope_return(&s, lt_scope_hold(&s, s.status, sum), out);
}

/* Values are summed along dense dimensions; sparse dimensions are dropped, so that indices may
 * coincide. */
lt_status lt_sum_dim_sparse(lt_tensor *self, const lt_dims *dim, bool keepdim, lt_dtype dtype,
                            lt_tensor **out)
{
    lt_scope s;
    uint32_t mask;
    const int places = lt_sparse_dims_of(self);
    lt_dims inside = {0, {0}}, sizes = {0, {0}};
    lt_tensor *rows[LT_MAX_DIMS];
    int kept = 0;
    LT_TRY(lt_dims_mask(dim, self->ndim, &mask));
    lt_scope_open(&s, true);
    lt_tensor *values = do__sparse_values(&s, self), *coordinates = do_coordinates(&s, self),
              *sum = NULL;
    for (int d = places; d < self->ndim; d++)
        if (mask >> d & 1) inside.v[inside.n++] = d - places + 1;
    if (s.status == LT_OK && inside.n > 0) {
        s.status = lt_sum_dim(values, &inside, keepdim, dtype, &sum);
        values = lt_scope_hold(&s, s.status, sum);
    } else if (s.status == LT_OK && dtype != LT_DTYPE_NONE) {
        values = do_cast(&s, values, dtype);
    }
    for (int d = 0; d < places; d++) {
        const bool gone = mask >> d & 1;
        if (gone && !keepdim) continue;
        lt_tensor *line = do_coordinate(&s, coordinates, d);
        rows[kept++] = gone && line != NULL ? do_mul_scalar(&s, line, lt_scalar_from_int(0)) : line;
        sizes.v[sizes.n++] = gone ? 1 : self->sizes[d];
    }
    if (kept == 0) return lt_scope_return(&s, do_sum_dim(&s, values, 0, false), out);
    if (s.status != LT_OK) return lt_scope_close(&s);
    for (int d = 1; d < values->ndim; d++) sizes.v[sizes.n++] = values->sizes[d];
    const bool unchanged = (mask & ((1u << places) - 1)) == 0;
    sum = do_coo(&s, do_stack(&s, rows, kept, 0), values, &sizes,
                 unchanged && lt_sparse_of(self)->coalesced);
    sum = unchanged ? sum : do_coalesce(&s, sum);
    if (s.status == LT_OK && kept == 2 && places == 2)
        sum = do_as_layout(&s, sum, lt_tensor_layout(self));
    return lt_scope_return(&s, sum, out);
}
