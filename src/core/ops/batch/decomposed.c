/* decomposed.c - batching rules that decompose an op into others, each with a rule of its own. */
#include <string.h>

#include "batch.h"
#include "dims.h"
#include "ops/compose.h"
#include "dtypes/dtype.h"
#include "op/add.h"
#include "op/copy_.h"
#include "op/index_fill.h"
#include "op/matmul.h"
#include "op/mul.h"
#include "op/reshape.h"
#include "op/searchsorted.h"
#include "op/sum.h"
#include "op/to.h"
#include "op/unsqueeze.h"
#include "op/where.h"
#include "op/zeros_like.h"

/* ---- products -------------------------------------------------------------------------------- */

/* beta * self + alpha * product, with beta and alpha the arguments 3 and 4. For beta 0, self is not
 * read. */
static lt_status scaled_sum(lt_batch_call *c, lt_tensor *product)
{
    lt_tensor *beta = NULL, *alpha = NULL, *scaled = NULL;
    lt_status status;
    if (lt_scalar_equals(c->v[3].scalar, 0)) {
        LT_CHECK(lt_tensor_from_scalar(c->v[4].scalar, &alpha));
        LT_CHECK(lt_mul(product, alpha, &c->r[0].tensor));
    } else {
        LT_CHECK(lt_tensor_from_scalar(c->v[3].scalar, &beta));
        LT_CHECK(lt_mul(c->v[0].tensor, beta, &scaled));
        LT_CHECK(lt_add(scaled, product, c->v[4].scalar, &c->r[0].tensor));
    }
done:
    lt_tensor_release(beta);
    lt_tensor_release(alpha);
    lt_tensor_release(scaled);
    return status;
}

/* addmm, addmv, baddbmm */
lt_status lt_batch_addmm(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *product = NULL;
    (void)level, (void)size;
    LT_TRY(lt_matmul(c->v[1].tensor, c->v[2].tensor, &product));
    lt_status status = scaled_sum(c, product);
    lt_tensor_release(product);
    return status;
}

lt_status lt_batch_addbmm(lt_batch_call *c, int level, int64_t size)
{
    const lt_dims first = {.n = 1, .v = {0}};
    lt_tensor *products = NULL, *sum = NULL;
    lt_status status;
    if (c->v[1].tensor->ndim != 3 || c->v[2].tensor->ndim != 3)
        return lt_batch_loop(c, level, size);
    LT_CHECK(lt_matmul(c->v[1].tensor, c->v[2].tensor, &products));
    LT_CHECK(lt_sum_dim(products, &first, false, LT_DTYPE_NONE, &sum));
    LT_CHECK(scaled_sum(c, sum));
done:
    lt_tensor_release(products);
    lt_tensor_release(sum);
    return status;
}

lt_status lt_batch_addr(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *column = NULL, *product = NULL;
    lt_status status;
    if (c->v[1].tensor->ndim != 1 || c->v[2].tensor->ndim != 1)
        return lt_batch_loop(c, level, size);
    LT_CHECK(lt_unsqueeze(c->v[1].tensor, 1, &column));
    LT_CHECK(lt_mul(column, c->v[2].tensor, &product));
    LT_CHECK(scaled_sum(c, product));
done:
    lt_tensor_release(column);
    lt_tensor_release(product);
    return status;
}

/* ---- assigning values ------------------------------------------------------------------------ */

/* New reference: value in self's dtype. */
static lt_status fill_value_of(lt_tensor *value, const lt_tensor *self, lt_tensor **out)
{
    if (!lt_can_cast((lt_dtype)value->dtype, (lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME, "value cannot be converted to type %s without overflow",
                        lt_dtype_scalar_name((lt_dtype)self->dtype));
    return lt_to_dtype(value, (lt_dtype)self->dtype, false, false, out);
}

/* fill_ by a tensor */
lt_status lt_batch_filled(lt_batch_call *c, int level, int64_t size)
{
    if (c->v[1].tensor->ndim != 0) return lt_batch_loop(c, level, size);
    return lt_copy_(c->v[0].tensor, c->v[1].tensor, false);
}

/* masked_fill by a tensor */
lt_status lt_batch_masked_fill(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *value = NULL;
    if (c->v[1].tensor->dtype != LT_BOOL || c->v[2].tensor->ndim != 0)
        return lt_batch_loop(c, level, size);
    LT_TRY(fill_value_of(c->v[2].tensor, c->v[0].tensor, &value));
    lt_status status = lt_where(c->v[1].tensor, value, c->v[0].tensor, &c->r[0].tensor);
    lt_tensor_release(value);
    return status;
}

/* index_fill by a tensor: marks the positions and assigns it there. */
lt_status lt_batch_index_fill(lt_batch_call *c, int level, int64_t size)
{
    lt_tensor *value = NULL, *none = NULL, *marked = NULL;
    lt_status status;
    if (c->v[3].tensor->ndim != 0) return lt_batch_loop(c, level, size);
    LT_CHECK(fill_value_of(c->v[3].tensor, c->v[0].tensor, &value));
    LT_CHECK(lt_zeros_like(c->v[0].tensor, LT_BOOL, NULL, &none));
    LT_CHECK(lt_index_fill(none, c->v[1].i, c->v[2].tensor, lt_scalar_from_int(1), &marked));
    LT_CHECK(lt_where(marked, value, c->v[0].tensor, &c->r[0].tensor));
done:
    lt_tensor_release(value);
    lt_tensor_release(none);
    lt_tensor_release(marked);
    return status;
}

/* ---- positions in sorted sequences ----------------------------------------------------------- */

/* New reference: t with the level shown; `flat`: each sample as one row. */
static lt_status lines_of(lt_tensor *t, int level, int64_t size, bool flat, lt_tensor **out)
{
    lt_tensor *shown = NULL;
    LT_TRY(lt_batch_show(t, level, &shown));
    lt_status status = LT_OK;
    if (flat)
        status = lt_reshape(shown, &(lt_dims){.n = 2, .v = {size, t->numel}}, out);
    else
        *out = lt_tensor_retain(shown);
    lt_tensor_release(shown);
    return status;
}

/* Searches a row of each sample for its values. Values for a 1-D row may have any sizes. */
lt_status lt_batch_searched(lt_batch_call *c, int level, int64_t size)
{
    const bool bucketize = strcmp(c->op->name, "bucketize") == 0;
    lt_tensor *row = c->v[bucketize ? 1 : 0].tensor, *input = c->v[bucketize ? 0 : 1].tensor,
              *sorter = bucketize ? NULL : c->v[5].tensor;
    const bool flat = row->ndim == 1;
    lt_tensor *rows = NULL, *values = NULL, *sorters = NULL, *found = NULL, *whole = NULL;
    lt_status status;
    if (size == 0 || row->ndim == 0) return lt_batch_loop(c, level, size);
    LT_CHECK(lines_of(row, level, size, false, &rows));
    LT_CHECK(lines_of(input, level, size, flat, &values));
    if (sorter != NULL) LT_CHECK(lines_of(sorter, level, size, false, &sorters));
    LT_CHECK(lt_searchsorted(rows, values, c->v[2].b, c->v[3].b, bucketize ? NULL : c->v[4].s,
                             sorters, &found));
    if (flat) {
        lt_dims sizes = lt_dims_of(input);
        LT_CHECK(lt_dims_insert(&sizes, 0, size));
        LT_CHECK(lt_reshape(found, &sizes, &whole));
    }
    LT_CHECK(lt_batch_hide(flat ? whole : found, level, &c->r[0].tensor));
done:
    lt_tensor_release(rows);
    lt_tensor_release(values);
    lt_tensor_release(sorters);
    lt_tensor_release(found);
    lt_tensor_release(whole);
    return status;
}
