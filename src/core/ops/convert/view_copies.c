/* view_copies.c - views as contiguous copies: permute_copy and others, each composed of the view
 * and clone. */
#include "ops/common.h"
#include "ops/steps.h"
#include "op/alias_copy.h"
#include "op/as_strided.h"
#include "op/as_strided_copy.h"
#include "op/clone.h"
#include "op/detach.h"
#include "op/detach_copy.h"
#include "op/diagonal.h"
#include "op/diagonal_copy.h"
#include "op/expand.h"
#include "op/expand_copy.h"
#include "op/narrow.h"
#include "op/narrow_copy.h"
#include "op/permute.h"
#include "op/permute_copy.h"
#include "op/select.h"
#include "op/select_copy.h"
#include "op/split.h"
#include "op/split_copy.h"
#include "op/split_with_sizes_copy.h"
#include "op/squeeze.h"
#include "op/squeeze_copy.h"
#include "op/t.h"
#include "op/t_copy.h"
#include "op/transpose.h"
#include "op/transpose_copy.h"
#include "op/unbind.h"
#include "op/unbind_copy.h"
#include "op/unfold.h"
#include "op/unfold_copy.h"
#include "op/unsqueeze.h"
#include "op/unsqueeze_copy.h"
#include "op/view.h"
#include "op/view_copy.h"

/* Releases the view that an operation with this status has created, and copies it. */
static lt_status copy_view(lt_status status, lt_tensor *view, lt_tensor **out)
{
    if (status != LT_OK) return status;
    status = lt_clone_format(view, "contiguous_format", out);
    lt_tensor_release(view);
    return status;
}

lt_status lt_alias_copy_impl(lt_tensor *self, lt_tensor **out)
{
    return lt_clone_format(self, "contiguous_format", out);
}

lt_status lt_as_strided_copy_impl(lt_tensor *self, const lt_dims *size, const lt_dims *stride,
                                  const int64_t *storage_offset, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_as_strided(self, size, stride, storage_offset, &view);
    return copy_view(status, view, out);
}

lt_status lt_diagonal_copy_impl(lt_tensor *self, int64_t offset, int64_t dim1, int64_t dim2,
                                lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_diagonal(self, offset, dim1, dim2, &view);
    return copy_view(status, view, out);
}

lt_status lt_expand_copy_impl(lt_tensor *self, const lt_dims *size, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_expand(self, size, &view);
    return copy_view(status, view, out);
}

lt_status lt_narrow_copy_impl(lt_tensor *self, int64_t dim, int64_t start, int64_t length,
                              lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_narrow(self, dim, start, length, &view);
    return copy_view(status, view, out);
}

lt_status lt_permute_copy_impl(lt_tensor *self, const lt_dims *dims, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_permute(self, dims, &view);
    return copy_view(status, view, out);
}

lt_status lt_select_copy_impl(lt_tensor *self, int64_t dim, int64_t index, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_select(self, dim, index, &view);
    return copy_view(status, view, out);
}

lt_status lt_squeeze_copy_impl(lt_tensor *self, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_squeeze(self, &view);
    return copy_view(status, view, out);
}

lt_status lt_squeeze_copy_dims_impl(lt_tensor *self, const lt_dims *dim, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_squeeze_dims(self, dim, &view);
    return copy_view(status, view, out);
}

lt_status lt_t_copy_impl(lt_tensor *self, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_t(self, &view);
    return copy_view(status, view, out);
}

lt_status lt_transpose_copy_impl(lt_tensor *self, int64_t dim0, int64_t dim1, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_transpose(self, dim0, dim1, &view);
    return copy_view(status, view, out);
}

lt_status lt_unfold_copy_impl(lt_tensor *self, int64_t dimension, int64_t size, int64_t step,
                              lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_unfold(self, dimension, size, step, &view);
    return copy_view(status, view, out);
}

lt_status lt_unsqueeze_copy_impl(lt_tensor *self, int64_t dim, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_unsqueeze(self, dim, &view);
    return copy_view(status, view, out);
}

lt_status lt_view_copy_impl(lt_tensor *self, const lt_dims *size, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_view(self, size, &view);
    return copy_view(status, view, out);
}

lt_status lt_view_copy_dtype_impl(lt_tensor *self, lt_dtype dtype, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_view_dtype(self, dtype, &view);
    return copy_view(status, view, out);
}

lt_status lt_detach_copy_impl(lt_tensor *self, lt_tensor **out)
{
    lt_tensor *view = NULL;
    const lt_status status = lt_detach(self, &view);
    return copy_view(status, view, out);
}

/* Copies views, which an operation with this status has created; releases them. */
static lt_status copy_views(lt_status status, lt_tensor_list *views, lt_tensor_list *out)
{
    lt_tensor_list list = {0, NULL};
    LT_TRY(status);
    status = lt_list_new(views->n, &list);
    while (status == LT_OK && list.n < views->n) {
        lt_tensor *copy = NULL;
        status = lt_clone_format(views->v[list.n], "contiguous_format", &copy);
        if (status == LT_OK) list.v[list.n++] = copy;
    }
    lt_list_release(views);
    if (status == LT_OK)
        *out = list;
    else
        lt_list_release(&list);
    return status;
}

lt_status lt_split_copy_impl(lt_tensor *self, int64_t split_size, int64_t dim, lt_tensor_list *out)
{
    lt_tensor_list views;
    const lt_status status = lt_split(self, split_size, dim, &views);
    return copy_views(status, &views, out);
}

lt_status lt_split_with_sizes_copy_impl(lt_tensor *self, const lt_dims *split_sizes, int64_t dim,
                                        lt_tensor_list *out)
{
    lt_tensor_list views;
    const lt_status status = lt_split_sizes(self, split_sizes, dim, &views);
    return copy_views(status, &views, out);
}

lt_status lt_unbind_copy_impl(lt_tensor *self, int64_t dim, lt_tensor_list *out)
{
    lt_tensor_list views;
    const lt_status status = lt_unbind(self, dim, &views);
    return copy_views(status, &views, out);
}
