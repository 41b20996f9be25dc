/* slice.c - views of parts: select, slices, diagonals, windows, and lists of such parts. */
#include "saturating.h"
#include "context/interrupt.h"
#include "dims.h"
#include "user_index.h"
#include "ops/steps.h"
#include "op/_slice.h"
#include "op/as_strided.h"
#include "op/chunk.h"
#include "op/diagonal.h"
#include "op/narrow.h"
#include "op/select.h"
#include "op/split.h"
#include "op/tensor_split.h"
#include "op/unbind.h"
#include "op/unfold.h"

lt_status lt_select_impl(lt_tensor *self, int64_t dim, int64_t index, lt_tensor **out)
{
    if (self->ndim == 0)
        return lt_error(LT_ERR_INDEX, "select() cannot be applied to a 0-dim tensor.");
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    int64_t size = self->sizes[d];
    if (index < -size || index >= size) {
        char text[256];
        return lt_error(LT_ERR_INDEX,
                        "select(): index %lld out of range for tensor of size %s at dimension %lld",
                        lt_user_index(index),
                        lt_format_sizes(text, sizeof text, self->ndim, self->sizes),
                        lt_user_index(d));
    }
    if (index < 0) index += size;
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    for (int from = 0, to = 0; from < self->ndim; from++) {
        if (from == d) continue;
        sizes[to] = self->sizes[from];
        strides[to++] = self->strides[from];
    }
    /* an empty tensor may have any strides */
    const int64_t offset = self->numel > 0 ? index * self->strides[d] : 0;
    return lt_tensor_view(self, self->ndim - 1, sizes, strides, self->offset + offset, out);
}

lt_status lt__slice_impl(lt_tensor *self, int64_t dim, int64_t start, int64_t stop, int64_t step,
                         lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    if (step <= 0) return lt_error(LT_ERR_RUNTIME, "slice step must be positive");
    int64_t size = self->sizes[d];
    if (start < 0) start = start + size > 0 ? start + size : 0;
    if (stop < 0) stop += size;
    if (start > size) start = size;
    if (stop > size) stop = size;
    if (stop < start) stop = start;
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    for (int i = 0; i < self->ndim; i++) sizes[i] = self->sizes[i], strides[i] = self->strides[i];
    sizes[d] = lt_parts(stop - start, step);
    strides[d] = lt_mul_within(strides[d], step); /* out of range only if it is not used */
    const int64_t offset = self->numel > 0 && sizes[d] > 0 ? start * self->strides[d] : 0;
    return lt_tensor_view(self, self->ndim, sizes, strides, self->offset + offset, out);
}

lt_status lt_narrow_impl(lt_tensor *self, int64_t dim, int64_t start, int64_t length,
                         lt_tensor **out)
{
    if (self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "narrow() cannot be applied to a 0-dim tensor.");
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    int64_t size = self->sizes[d];
    if (length < 0) return lt_error(LT_ERR_RUNTIME, "narrow(): length must be non-negative.");
    int64_t first = start < 0 ? start + size : start;
    if (first < 0 || first > size)
        return lt_error(
            LT_ERR_INDEX,
            "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
            (long long)-size, lt_user_index(size), lt_user_index(start));
    if (length > size - first)
        return lt_error(LT_ERR_RUNTIME,
                        "start (%lld) + length (%lld) exceeds dimension size (%lld).",
                        lt_user_index(first), (long long)length, (long long)size);
    return lt__slice(self, d, first, first + length, 1, out);
}

lt_status lt_diagonal_impl(lt_tensor *self, int64_t offset, int64_t dim1, int64_t dim2,
                           lt_tensor **out)
{
    int a, b;
    LT_TRY(lt_wrap_dim(dim1, self->ndim, &a));
    LT_TRY(lt_wrap_dim(dim2, self->ndim, &b));
    if (a == b)
        return lt_error(LT_ERR_RUNTIME, "diagonal dimensions cannot be identical %lld, %lld",
                        lt_user_index(a), lt_user_index(b));
    int64_t rows = self->sizes[a], columns = self->sizes[b], length;
    if (offset < -rows) offset = -rows; /* diagonals further out are empty */
    if (offset > columns) offset = columns;
    length = offset >= 0 ? (rows < columns - offset ? rows : columns - offset)
                         : (rows + offset < columns ? rows + offset : columns);
    if (length < 0) length = 0;
    int64_t start = length == 0 || self->numel == 0 ? 0
                    : offset >= 0                   ? offset * self->strides[b]
                                                    : -offset * self->strides[a];
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < self->ndim; d++) {
        if (d == a || d == b) continue;
        sizes[n] = self->sizes[d];
        strides[n++] = self->strides[d];
    }
    sizes[n] = length;
    strides[n] = lt_add_within(self->strides[a], self->strides[b]);
    return lt_tensor_view(self, n + 1, sizes, strides, self->offset + start, out);
}

lt_status lt_unfold_impl(lt_tensor *self, int64_t dimension, int64_t size, int64_t step,
                         lt_tensor **out)
{
    int d;
    LT_TRY(lt_wrap_dim(dimension, self->ndim, &d));
    int64_t available = self->ndim > 0 ? self->sizes[d] : 1;
    if (size < 0 || size > available)
        return lt_error(LT_ERR_RUNTIME,
                        "maximum size for tensor at dimension %lld is %lld but size is %lld",
                        lt_user_index(d), (long long)available, (long long)size);
    if (step <= 0) return lt_error(LT_ERR_RUNTIME, "step is %lld but must be > 0", (long long)step);
    lt_dims sizes = {.n = self->ndim}, strides = {.n = self->ndim};
    for (int i = 0; i < self->ndim; i++)
        sizes.v[i] = self->sizes[i], strides.v[i] = self->strides[i];
    if (self->ndim > 0) {
        sizes.v[d] = (available - size) / step + 1;
        strides.v[d] = lt_mul_within(strides.v[d], step);
    }
    LT_TRY(lt_dims_insert(&sizes, sizes.n, size));
    LT_TRY(lt_dims_insert(&strides, strides.n, self->ndim > 0 ? self->strides[d] : 1));
    return lt_as_strided(self, &sizes, &strides, &self->offset, out);
}

/* ---- lists of parts -------------------------------------------------------------------------- */

/* Records the outcome of making the next part; releases the list after a failure. */
static lt_status add_part(lt_tensor_list *list, lt_status status)
{
    if (status == LT_OK) list->n++;
    if (status == LT_OK && lt_interrupted()) status = lt_stopped();
    if (status != LT_OK) lt_list_release(list);
    return status;
}

lt_status lt_unbind_impl(lt_tensor *self, int64_t dim, lt_tensor_list *out)
{
    if (self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "unbind(): a 0-dim tensor has no dimension to unbind");
    int d;
    lt_tensor_list list;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    LT_TRY(lt_list_new(self->sizes[d], &list));
    for (int64_t i = 0; i < self->sizes[d]; i++)
        LT_TRY(add_part(&list, lt_select(self, d, i, &list.v[i])));
    *out = list;
    return LT_OK;
}

/* n parts of dimension d: the first `longer` have each + 1 entries, the others `each`, the last one
 * the rest. */
static lt_status split_parts(lt_tensor *self, int d, int64_t n, int64_t longer, int64_t each,
                             lt_tensor_list *out)
{
    lt_tensor_list list;
    LT_TRY(lt_list_new(n, &list));
    for (int64_t i = 0, start = 0; i < n; i++) {
        const int64_t left = self->sizes[d] - start, wanted = i < longer ? each + 1 : each;
        const int64_t length = wanted < left ? wanted : left;
        LT_TRY(add_part(&list, lt_narrow(self, d, start, length, &list.v[i])));
        start += length;
    }
    *out = list;
    return LT_OK;
}

lt_status lt_split_impl(lt_tensor *self, int64_t split_size, int64_t dim, lt_tensor_list *out)
{
    if (self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "split expects at least a 1-dimensional tensor");
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    int64_t size = self->sizes[d];
    if (split_size < 0)
        return lt_error(LT_ERR_RUNTIME,
                        "split expects split_size be non-negative, but got split_size=%lld",
                        (long long)split_size);
    if (split_size == 0 && size != 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "split_size can only be 0 if dimension size is 0, but got dimension size of %lld",
            (long long)size);
    int64_t n = split_size == 0 ? 1 : lt_parts(size, split_size);
    return split_parts(self, d, n > 0 ? n : 1, 0, split_size, out);
}

lt_status lt_split_sizes_impl(lt_tensor *self, const lt_dims *split_sizes, int64_t dim,
                              lt_tensor_list *out)
{
    if (self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "split expects at least a 1-dimensional tensor");
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    int64_t sum = 0;
    for (int i = 0; i < split_sizes->n; i++) {
        if (split_sizes->v[i] < 0)
            return lt_error(LT_ERR_RUNTIME,
                            "split_with_sizes expects split_sizes have only non-negative entries");
        sum = lt_add_sat(sum, split_sizes->v[i]);
    }
    if (sum != self->sizes[d]) {
        char text[256];
        return lt_error(
            LT_ERR_RUNTIME,
            "split_with_sizes expects split_sizes to sum exactly to %lld (input tensor's size at "
            "dimension %lld), but got split_sizes=%s, which sum to %lld",
            (long long)self->sizes[d], lt_user_index(d),
            lt_format_sizes(text, sizeof text, split_sizes->n, split_sizes->v), (long long)sum);
    }
    lt_tensor_list list;
    LT_TRY(lt_list_new(split_sizes->n, &list));
    for (int64_t i = 0, start = 0; i < split_sizes->n; start += split_sizes->v[i++])
        LT_TRY(add_part(&list, lt_narrow(self, d, start, split_sizes->v[i], &list.v[i])));
    *out = list;
    return LT_OK;
}

lt_status lt_chunk_impl(lt_tensor *self, int64_t chunks, int64_t dim, lt_tensor_list *out)
{
    if (self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "chunk expects at least a 1-dimensional tensor");
    if (chunks <= 0)
        return lt_error(LT_ERR_RUNTIME, "chunk expects `chunks` to be greater than 0, got: %lld",
                        (long long)chunks);
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    int64_t each = lt_parts(self->sizes[d], chunks);
    return split_parts(self, d, each > 0 ? lt_parts(self->sizes[d], each) : chunks, 0, each, out);
}

/* Parts of nearly equal size: the first numel % sections have one more. */
lt_status lt_tensor_split_impl(lt_tensor *self, int64_t sections, int64_t dim, lt_tensor_list *out)
{
    if (self->ndim == 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
    if (sections <= 0)
        return lt_error(LT_ERR_RUNTIME, "number of sections must be larger than 0, got %lld",
                        (long long)sections);
    int d;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    int64_t size = self->sizes[d];
    return split_parts(self, d, sections, size % sections, size / sections, out);
}

/* Splits before each of the given indices, which may be out of range or unordered. */
lt_status lt_tensor_split_indices_impl(lt_tensor *self, const lt_dims *indices, int64_t dim,
                                       lt_tensor_list *out)
{
    if (self->ndim == 0)
        return lt_error(
            LT_ERR_RUNTIME,
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
    int d;
    lt_tensor_list list;
    LT_TRY(lt_wrap_dim(dim, self->ndim, &d));
    LT_TRY(lt_list_new(indices->n + 1, &list));
    int64_t start = 0;
    for (int i = 0; i <= indices->n; i++) {
        int64_t stop = i < indices->n ? indices->v[i] : self->sizes[d];
        LT_TRY(add_part(&list, lt__slice(self, d, start, stop, 1, &list.v[i])));
        start = stop;
    }
    *out = list;
    return LT_OK;
}
