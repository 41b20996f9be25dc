/* backward.c - derivatives of views, joins and powers.
 *
 * The derivative of a view of a part is zeros with the gradient in that part: a separate op, and
 * its derivative is the view again. All others are composed of differentiable ops, so that second
 * derivatives need no code. */
#include "backward.h"

#include <math.h>

#include "ops/compose.h"
#include "op/_as_strided_at.h"
#include "op/_as_strided_backward.h"
#include "op/_diagonal_backward.h"
#include "op/_permute_backward.h"
#include "op/_select_backward.h"
#include "op/_slice.h"
#include "op/_slice_backward.h"
#include "op/arange.h"
#include "op/as_strided.h"
#include "op/diagonal.h"
#include "op/index_add.h"
#include "op/index_select.h"
#include "op/ones_like.h"
#include "op/permute.h"
#include "op/select.h"
#include "op/sum.h"
#include "op/_sum_like.h"
#include "op/sum_to_size.h"
#include "op/zeros.h"

/* ---- parts ----------------------------------------------------------------------------------- */

/* Zeros of grad's dtype and device, to write grad into a view of them. */
static lt_status zeros(const lt_tensor *grad, const lt_dims *sizes, lt_tensor **out)
{
    lt_tensor *t = NULL;
    LT_TRY(lt_tensor_new((lt_dtype)grad->dtype, grad->device, sizes->n, sizes->v, &t));
    lt_status status = lt_fill_value(t, lt_scalar_from_int(0));
    if (status == LT_OK)
        *out = t;
    else
        lt_tensor_release(t);
    return status;
}

/* The last step of the three ops below: copies grad into part, a view of t, and returns t. Steals
 * both references. */
static lt_status store_part(lt_status status, lt_tensor *t, lt_tensor *part, lt_tensor *grad,
                            lt_tensor **out)
{
    if (status == LT_OK) status = lt_copy_elements(part, grad);
    lt_tensor_release(part);
    if (status == LT_OK)
        *out = t;
    else
        lt_tensor_release(t);
    return status;
}

lt_status lt__select_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, int64_t dim,
                                   int64_t index, lt_tensor **out)
{
    lt_tensor *t = NULL, *part = NULL;
    LT_TRY(zeros(grad_output, sizes, &t));
    lt_status status = lt_select_impl(t, dim, index, &part);
    return store_part(status, t, part, grad_output, out);
}

lt_status lt__slice_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, int64_t dim,
                                  int64_t start, int64_t stop, int64_t step, lt_tensor **out)
{
    lt_tensor *t = NULL, *part = NULL;
    LT_TRY(zeros(grad_output, sizes, &t));
    lt_status status = lt__slice_impl(t, dim, start, stop, step, &part);
    return store_part(status, t, part, grad_output, out);
}

lt_status lt__diagonal_backward_impl(lt_tensor *grad_output, const lt_dims *sizes, int64_t offset,
                                     int64_t dim1, int64_t dim2, lt_tensor **out)
{
    lt_tensor *t = NULL, *part = NULL;
    LT_TRY(zeros(grad_output, sizes, &t));
    lt_status status = lt_diagonal_impl(t, offset, dim1, dim2, &part);
    return store_part(status, t, part, grad_output, out);
}

lt_status lt__permute_backward_impl(lt_tensor *grad_output, const lt_dims *dims, lt_tensor **out)
{
    lt_dims back = {.n = dims->n};
    for (int i = 0; i < dims->n; i++) {
        int from;
        LT_TRY(lt_wrap_dim(dims->v[i], dims->n, &from));
        back.v[from] = i;
    }
    return lt_permute(grad_output, &back, out);
}

lt_status lt_sum_to_size_impl(lt_tensor *self, const lt_dims *size, lt_tensor **out)
{
    char a[256], b[256];
    bool fits = size->n <= self->ndim;
    for (int d = 0; fits && d < size->n; d++) {
        int64_t have = self->sizes[self->ndim - size->n + d];
        fits = size->v[d] == have || size->v[d] == 1;
    }
    if (!fits)
        return lt_error(LT_ERR_RUNTIME, "size {%s} is not expandable to size {%s}.",
                        lt_format_sizes(a, sizeof a, size->n, size->v),
                        lt_format_sizes(b, sizeof b, self->ndim, self->sizes));
    /* also for a bool, which is otherwise left unchanged */
    if (size->n == 0) return lt_sum(self, LT_DTYPE_NONE, out);
    return lt_sum_to(self, size->n, size->v, out);
}

lt_status lt__sum_like_impl(lt_tensor *self, lt_tensor *like, lt_tensor **out)
{
    return lt_sum_to(self, like->ndim, like->sizes, out);
}

/* ---- any strides ----------------------------------------------------------------------------- */

/* Offset of the last element of sizes and strides from the first; -1 if there is none. */
static int64_t last_offset(const lt_dims *sizes, const lt_dims *strides)
{
    int64_t last = 0;
    for (int d = 0; d < sizes->n; d++) {
        if (sizes->v[d] == 0) return -1;
        last += (sizes->v[d] - 1) * strides->v[d];
    }
    return last;
}

/* The indices, in a buffer of `length` elements, of the elements of a view: a vector. */
static lt_tensor *positions(lt_scope *s, const lt_tensor *like, int64_t length,
                            const lt_dims *sizes, const lt_dims *strides, int64_t offset)
{
    lt_tensor *line = NULL, *view = NULL;
    lt_scalar end = lt_scalar_from_int(length);
    lt_dims flat = {.n = 1, .v = {-1}};
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_arange(lt_scalar_from_int(0), &end, lt_scalar_from_int(1), LT_INT64,
                                 &like->device, &line);
    line = lt_scope_hold(s, status, line);
    if (line == NULL) return NULL;
    status = lt_as_strided(line, sizes, strides, &offset, &view);
    return do_reshape(s, lt_scope_hold(s, status, view), &flat);
}

/* Zeros with grad's dtype and device in a buffer of `length`, with values added at index. */
static lt_tensor *add_along(lt_scope *s, const lt_tensor *grad, int64_t length, lt_tensor *index,
                            lt_tensor *values)
{
    lt_dims size = {.n = 1, .v = {length}};
    lt_tensor *line = do_zeros(s, grad, &size), *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_index_add(line, 0, index, values, lt_scalar_from_int(1), &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *read_along(lt_scope *s, lt_tensor *line, lt_tensor *index)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_index_select(line, 0, index, &out);
    return lt_scope_hold(s, status, out);
}

/* For each element of a view, the number of its elements at the same address: add_along, then
 * read_along, of ones. */
static lt_tensor *sharers(lt_scope *s, const lt_tensor *grad, int64_t length, lt_tensor *index)
{
    lt_tensor *ones = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_ones_like(index, (lt_dtype)grad->dtype, NULL, &ones);
    return read_along(s, add_along(s, grad, length, index, lt_scope_hold(s, status, ones)), index);
}

static bool strides_are_dense(const lt_dims *sizes, const lt_dims *strides)
{
    int64_t expected[LT_MAX_DIMS];
    lt_contiguous_strides(sizes->n, sizes->v, expected);
    for (int d = 0; d < sizes->n; d++)
        if (sizes->v[d] != 1 && strides->v[d] != expected[d]) return false;
    return true;
}

/* Both views refer to one flat buffer: the gradient is accumulated in it with the geometry of the
 * result, then read with the geometry of self. Elements of self at the same address (an expanded
 * tensor) divide its gradient equally. */
lt_status lt__as_strided_at_impl(lt_tensor *self, const lt_dims *size, const lt_dims *stride,
                                 const int64_t *storage_offset, int64_t offset, lt_tensor **out)
{
    const int64_t from_own =
        storage_offset != NULL ? *storage_offset - offset + self->offset : self->offset;
    return lt_as_strided(self, size, stride, &from_own, out);
}

lt_status lt__as_strided_backward_impl(lt_tensor *grad_output, const lt_dims *sizes,
                                       const lt_dims *strides, int64_t offset, const lt_dims *size,
                                       const lt_dims *stride, const int64_t *storage_offset,
                                       lt_tensor **out)
{
    int64_t view_offset = storage_offset != NULL ? *storage_offset : offset;
    int64_t own_reach = last_offset(sizes, strides), view_reach = last_offset(size, stride);
    lt_dims flat = {.n = 1, .v = {-1}};
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(_as_strided_backward));
    if (own_reach < 0 || view_reach < 0)
        return lt_scope_return(&s, do_zeros(&s, grad_output, sizes), out);
    int64_t first = offset < view_offset ? offset : view_offset;
    int64_t own_last = offset + own_reach, view_last = view_offset + view_reach;
    int64_t length = (own_last > view_last ? own_last : view_last) - first + 1;
    lt_tensor *seen = positions(&s, grad_output, length, size, stride, view_offset - first);
    lt_tensor *own = positions(&s, grad_output, length, sizes, strides, offset - first);
    lt_tensor *sums = add_along(&s, grad_output, length, seen, do_reshape(&s, grad_output, &flat));
    lt_tensor *part = read_along(&s, sums, own);
    if (!strides_are_dense(sizes, strides))
        part = do_div(&s, part, sharers(&s, grad_output, length, own));
    return lt_scope_return(&s, do_reshape(&s, part, sizes), out);
}

/* ---- joins ----------------------------------------------------------------------------------- */

lt_status lt_cat_backward(lt_tensor *grad, int64_t n, const lt_like *likes, int64_t dim,
                          lt_tensor **results, const bool *needs)
{
    int d;
    int64_t at = 0;
    LT_TRY(lt_wrap_dim(dim, grad->ndim, &d));
    for (int64_t i = 0; i < n; i++) {
        /* cat accepts an empty vector among tensors of any shape: it has no part of grad. */
        bool has_part = likes[i].ndim == grad->ndim;
        int64_t length = has_part ? likes[i].sizes[d] : 0;
        if (needs[i]) {
            lt_dims none = {.n = 1, .v = {0}};
            LT_TRY(has_part ? lt__slice(grad, d, at, at + length, 1, &results[i])
                            : lt_zeros(&none, (lt_dtype)grad->dtype, &grad->device, &results[i]));
        }
        at += length;
    }
    return LT_OK;
}

lt_status lt_stack_backward(lt_tensor *grad, int64_t n, const lt_like *likes, int64_t dim,
                            lt_tensor **results, const bool *needs)
{
    (void)likes;
    for (int64_t i = 0; i < n; i++)
        if (needs[i]) LT_TRY(lt_select(grad, dim, i, &results[i]));
    return LT_OK;
}

/* ---- functions for the wrappers -------------------------------------------------------------- */

lt_status lt_refuse_out(const char *op)
{
    return lt_error(LT_ERR_RUNTIME,
                    "%s(): functions with out=... arguments don't support automatic "
                    "differentiation, but one of the arguments requires grad.",
                    op);
}

void lt_release_nothing(lt_node *node) { (void)node; }
