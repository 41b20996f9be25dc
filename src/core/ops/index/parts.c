/* parts.c - copies of a tensor in which a part is another tensor: select_scatter and others. Each
 * writes to a view of the copy. */
#include "ops/common.h"
#include "op/_slice.h"
#include "op/as_strided.h"
#include "op/as_strided_scatter.h"
#include "op/clone.h"
#include "op/copy_.h"
#include "op/diagonal.h"
#include "op/diagonal_scatter.h"
#include "op/select.h"
#include "op/select_scatter.h"
#include "op/slice_scatter.h"

/* Writes src to part, a view of copy that an operation with this status has created. Steals both;
 * *out is copy. */
static lt_status store_part(lt_status status, lt_tensor *copy, lt_tensor *part, lt_tensor *src,
                            lt_tensor **out)
{
    if (status == LT_OK && !lt_same_sizes(part, src)) {
        char given[256], expected[256];
        status = lt_error(LT_ERR_RUNTIME,
                          "expected src to have a size equal to the slice of self. src size = "
                          "torch.Size(%s), slice size = torch.Size(%s)",
                          lt_format_sizes(given, sizeof given, src->ndim, src->sizes),
                          lt_format_sizes(expected, sizeof expected, part->ndim, part->sizes));
    }
    if (status == LT_OK) status = lt_copy_(part, src, false);
    lt_tensor_release(part);
    if (status == LT_OK)
        *out = copy;
    else
        lt_tensor_release(copy);
    return status;
}

lt_status lt_select_scatter_impl(lt_tensor *self, lt_tensor *src, int64_t dim, int64_t index,
                                 lt_tensor **out)
{
    lt_tensor *copy = NULL, *part = NULL;
    LT_TRY(lt_clone_format(self, "contiguous_format", &copy));
    const lt_status status = lt_select(copy, dim, index, &part);
    return store_part(status, copy, part, src, out);
}

/* end: of the last entry, which is replaced, too. */
lt_status lt_slice_scatter_impl(lt_tensor *self, lt_tensor *src, int64_t dim, const int64_t *start,
                                const int64_t *end, int64_t step, lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    const int64_t last = end != NULL ? *end : -1,
                  stop = last < 0 ? last + self->sizes[d] + 1 : last + 1;
    lt_tensor *copy = NULL, *part = NULL;
    LT_TRY(lt_clone_format(self, "contiguous_format", &copy));
    const lt_status status =
        lt__slice(copy, d, start != NULL ? *start : 0, stop > 0 ? stop : 0, step, &part);
    return store_part(status, copy, part, src, out);
}

lt_status lt_diagonal_scatter_impl(lt_tensor *self, lt_tensor *src, int64_t offset, int64_t dim1,
                                   int64_t dim2, lt_tensor **out)
{
    lt_tensor *copy = NULL, *part = NULL;
    LT_TRY(lt_clone_format(self, "contiguous_format", &copy));
    const lt_status status = lt_diagonal(copy, offset, dim1, dim2, &part);
    return store_part(status, copy, part, src, out);
}

lt_status lt_as_strided_scatter_impl(lt_tensor *self, lt_tensor *src, const lt_dims *size,
                                     const lt_dims *stride, const int64_t *storage_offset,
                                     lt_tensor **out)
{
    lt_tensor *copy = NULL, *part = NULL;
    LT_TRY(lt_clone_format(self, "contiguous_format", &copy));
    const lt_status status = lt_as_strided(copy, size, stride, storage_offset, &part);
    return store_part(status, copy, part, src, out);
}
