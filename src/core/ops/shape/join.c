/* join.c - ops that copy elements into a new arrangement: cat, stack, repeat, flip, tril, triu. */
#include "ops/common.h"
#include "devices/copies.h"
#include "user_index.h"
#include "context/interrupt.h"
#include "memory/alloc.h"
#include "saturating.h"
#include "memory_format.h"
#include "op/_unsafe_view.h"
#include "op/cat.h"
#include "op/clone.h"
#include "op/contiguous.h"
#include "op/dstack.h"
#include "op/expand.h"
#include "op/flip.h"
#include "op/hstack.h"
#include "op/index_select.h"
#include "op/narrow.h"
#include "op/repeat.h"
#include "op/repeat_interleave.h"
#include "op/reshape.h"
#include "op/stack.h"
#include "op/tile.h"
#include "op/to.h"
#include "op/tril.h"
#include "op/triu.h"
#include "op/unsqueeze.h"
#include "op/vstack.h"

/* cat skips tensors of shape [0], for any shape of the others, as in PyTorch. */
static bool is_legacy_empty(const lt_tensor *t) { return t->ndim == 1 && t->sizes[0] == 0; }

static lt_status check_cat(const lt_tensor_list *tensors, int64_t dim, lt_tensor **first, int *d,
                           int64_t *total)
{
    char a[256], b[256];
    if (tensors->n == 0) return lt_error(LT_ERR_RUNTIME, "expected a non-empty list of Tensors");
    *first = tensors->v[0];
    for (int64_t i = 0; i < tensors->n; i++) {
        if (tensors->v[i]->ndim == 0)
            return lt_error(LT_ERR_RUNTIME,
                            "zero-dimensional tensor (at position %lld) cannot be concatenated",
                            lt_user_index(i));
        if (is_legacy_empty(*first)) *first = tensors->v[i];
    }
    LT_TRY(lt_wrap_dim(dim, (*first)->ndim, d));
    *total = 0;
    for (int64_t i = 0; i < tensors->n; i++) {
        const lt_tensor *t = tensors->v[i];
        if (is_legacy_empty(t)) continue;
        if (t->ndim != (*first)->ndim)
            return lt_error(LT_ERR_RUNTIME,
                            "Tensors must have same number of dimensions: got %d and %d",
                            (*first)->ndim, t->ndim);
        for (int k = 0; k < t->ndim; k++)
            if (k != *d && t->sizes[k] != (*first)->sizes[k])
                return lt_error(
                    LT_ERR_RUNTIME,
                    "Sizes of tensors must match except in dimension %lld. Expected size %lld but "
                    "got size %lld for tensor number %lld in the list. (shapes %s and %s)",
                    lt_user_index(*d), (long long)(*first)->sizes[k], (long long)t->sizes[k],
                    lt_user_index(i), lt_format_sizes(a, sizeof a, (*first)->ndim, (*first)->sizes),
                    lt_format_sizes(b, sizeof b, t->ndim, t->sizes));
        *total += t->sizes[*d];
    }
    return LT_OK;
}

/* The common device of a list of any length. */
static lt_status list_device(const char *op, const lt_tensor_list *tensors, lt_device *device)
{
    *device = tensors->v[0]->device;
    for (int64_t i = 1; i < tensors->n; i++) {
        lt_tensor *pair[] = {tensors->v[0], tensors->v[i]};
        LT_TRY(lt_check_same_device(op, pair, 2, false, device));
    }
    return LT_OK;
}

/* Whether the result is channels-last: if all tensors suggest it. */
static bool joined_channels_last(const lt_tensor_list *tensors)
{
    for (int64_t i = 0; i < tensors->n; i++)
        if (!is_legacy_empty(tensors->v[i]) && !lt_suggests_channels_last(tensors->v[i]))
            return false;
    return true;
}

/* New reference: the given tensor, or a new one. */
static lt_status take_given(lt_tensor *const *out, lt_dtype dtype, lt_device device, int ndim,
                            const int64_t *sizes, lt_tensor **result)
{
    lt_tensor *given = *out;
    LT_TRY(lt_output(&given, dtype, device, ndim, sizes));
    *result = *out != NULL ? lt_tensor_retain(given) : given;
    return LT_OK;
}

/* Moves a new tensor to *out; a given one stays there. */
static void return_new(lt_tensor **result, lt_tensor **out)
{
    if (*out != NULL) return;
    *out = *result;
    *result = NULL;
}

lt_status lt_cat_impl(const lt_tensor_list *tensors, int64_t dim, lt_tensor **out)
{
    lt_tensor *first, *result = NULL, *part = NULL;
    lt_status status = LT_OK;
    lt_device device;
    int d;
    int64_t total, sizes[LT_MAX_DIMS], at = 0;
    LT_TRY(check_cat(tensors, dim, &first, &d, &total));
    LT_TRY(list_device("cat", tensors, &device));
    for (int k = 0; k < first->ndim; k++) sizes[k] = first->sizes[k];
    sizes[d] = total;
    lt_dtype dtype = (lt_dtype)tensors->v[0]->dtype;
    for (int64_t i = 1; i < tensors->n; i++)
        dtype = lt_promote(dtype, (lt_dtype)tensors->v[i]->dtype);
    if (dtype == LT_DTYPE_NONE) return LT_ERR_RUNTIME;
    if (*out != NULL)
        LT_TRY(take_given(out, dtype, device, first->ndim, sizes, &result));
    else
        LT_TRY(lt_tensor_new_ordered(dtype, device, first->ndim, sizes,
                                     first->ndim > 1 && joined_channels_last(tensors), &result));
    for (int64_t i = 0; i < tensors->n; i++) {
        lt_tensor *t = tensors->v[i];
        if (is_legacy_empty(t) || t->numel == 0) continue;
        LT_CHECK(lt_tensor_view(result, t->ndim, t->sizes, result->strides,
                                result->offset + at * result->strides[d], &part));
        LT_CHECK(lt_copy_elements(part, t));
        lt_tensor_release(part);
        part = NULL;
        at += t->sizes[d];
    }
    return_new(&result, out);
done:
    lt_tensor_release(part);
    lt_tensor_release(result);
    return status;
}

lt_status lt_stack_impl(const lt_tensor_list *tensors, int64_t dim, lt_tensor **out)
{
    lt_tensor *result = NULL, *part = NULL;
    lt_status status = LT_OK;
    lt_device device;
    char a[256], b[256];
    int d;
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    if (tensors->n == 0)
        return lt_error(LT_ERR_RUNTIME, "stack expects a non-empty list of Tensors");
    const lt_tensor *first = tensors->v[0];
    LT_TRY(list_device("stack", tensors, &device));
    LT_TRY(lt_wrap_dim(dim, first->ndim + 1, &d));
    if (first->ndim == LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "a tensor has at most %d dimensions", LT_MAX_DIMS);
    lt_dtype dtype = (lt_dtype)first->dtype;
    for (int64_t i = 1; i < tensors->n; i++) {
        const lt_tensor *t = tensors->v[i];
        bool same = t->ndim == first->ndim;
        for (int k = 0; same && k < t->ndim; k++) same = t->sizes[k] == first->sizes[k];
        if (!same)
            return lt_error(LT_ERR_RUNTIME,
                            "stack expects each tensor to be equal size, but got %s at entry %lld "
                            "and %s at entry %lld",
                            lt_format_sizes(a, sizeof a, first->ndim, first->sizes),
                            lt_user_index(0), lt_format_sizes(b, sizeof b, t->ndim, t->sizes),
                            lt_user_index(i));
        dtype = lt_promote(dtype, (lt_dtype)t->dtype);
    }
    if (dtype == LT_DTYPE_NONE) return LT_ERR_RUNTIME;
    for (int k = 0, from = 0; k <= first->ndim; k++)
        sizes[k] = k == d ? tensors->n : first->sizes[from++];
    LT_TRY(take_given(out, dtype, device, first->ndim + 1, sizes, &result));
    for (int k = 0, to = 0; k <= first->ndim; k++)
        if (k != d) strides[to++] = result->strides[k];
    for (int64_t i = 0; i < tensors->n && result->numel > 0; i++) {
        LT_CHECK(lt_tensor_view(result, first->ndim, first->sizes, strides,
                                result->offset + i * result->strides[d], &part));
        LT_CHECK(lt_copy_elements(part, tensors->v[i]));
        lt_tensor_release(part);
        part = NULL;
    }
    return_new(&result, out);
done:
    lt_tensor_release(part);
    lt_tensor_release(result);
    return status;
}

/* cat after expanding every tensor to at least `rank` dimensions, with new ones first (row vectors
 * for vstack). */
static lt_status cat_ranked(const lt_tensor_list *tensors, int rank, int64_t dim, lt_tensor **out)
{
    lt_status status = LT_OK;
    lt_tensor_list ranked = {.n = 0, .v = lt_mem_zarray(tensors->n, sizeof *ranked.v)};
    if (ranked.v == NULL) return LT_ERR_MEMORY;
    for (; ranked.n < tensors->n; ranked.n++) {
        lt_tensor *t = tensors->v[ranked.n];
        lt_dims shape = {.n = t->ndim < rank ? rank : t->ndim};
        for (int d = 0; d < shape.n; d++) {
            int own = d - (shape.n - t->ndim);
            shape.v[d] = own >= 0 ? t->sizes[own] : 1;
        }
        LT_CHECK(lt_reshape(t, &shape, &ranked.v[ranked.n]));
    }
    status = lt_cat(&ranked, dim, out);
done:
    for (int64_t i = 0; i < ranked.n; i++) lt_tensor_release(ranked.v[i]);
    lt_mem_free(ranked.v);
    return status;
}

lt_status lt_hstack_impl(const lt_tensor_list *tensors, lt_tensor **out)
{
    bool vectors = tensors->n > 0 && tensors->v[0]->ndim <= 1;
    return cat_ranked(tensors, 1, vectors ? 0 : 1, out);
}

lt_status lt_vstack_impl(const lt_tensor_list *tensors, lt_tensor **out)
{
    return cat_ranked(tensors, 2, 0, out);
}

/* A vector becomes a row, a matrix gets a third dimension. */
lt_status lt_dstack_impl(const lt_tensor_list *tensors, lt_tensor **out)
{
    lt_status status = LT_OK;
    lt_tensor_list deep = {.n = 0, .v = lt_mem_zarray(tensors->n, sizeof *deep.v)};
    if (deep.v == NULL) return LT_ERR_MEMORY;
    for (; deep.n < tensors->n; deep.n++) {
        lt_tensor *t = tensors->v[deep.n];
        lt_dims shape = {.n = t->ndim < 3 ? 3 : t->ndim, .v = {1, 1, 1}};
        for (int d = 0; d < t->ndim; d++) shape.v[t->ndim == 1 ? 1 : d] = t->sizes[d];
        LT_CHECK(lt_reshape(t, &shape, &deep.v[deep.n]));
    }
    status = lt_cat(&deep, 2, out);
done:
    for (int64_t i = 0; i < deep.n; i++) lt_tensor_release(deep.v[i]);
    lt_mem_free(deep.v);
    return status;
}

/* Expands along new dimensions next to the old ones, then merges them: one copy. */
lt_status lt_repeat_impl(lt_tensor *self, const lt_dims *repeats, lt_tensor **out)
{
    if (repeats->n < self->ndim)
        return lt_error(LT_ERR_RUNTIME, "Number of dimensions of repeat dims can not be smaller "
                                        "than number of dimensions of tensor");
    if (2 * repeats->n > LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "repeat(): at most %d dimensions can be repeated",
                        LT_MAX_DIMS / 2);
    lt_dims split = {.n = 2 * repeats->n}, wide = {.n = 2 * repeats->n}, merged = {.n = repeats->n};
    for (int d = 0; d < repeats->n; d++) {
        int own = d - (repeats->n - self->ndim);
        int64_t size = own >= 0 ? self->sizes[own] : 1;
        if (repeats->v[d] < 0)
            return lt_error(LT_ERR_RUNTIME, "Trying to create tensor with negative dimension %lld",
                            (long long)lt_mul_within(repeats->v[d], size));
        split.v[2 * d] = 1;
        split.v[2 * d + 1] = wide.v[2 * d + 1] = size;
        wide.v[2 * d] = repeats->v[d];
        merged.v[d] = lt_mul_sat(repeats->v[d], size);
    }
    lt_status status = LT_OK;
    lt_tensor *a = NULL, *b = NULL, *c = NULL;
    LT_CHECK(lt_reshape(self, &split, &a));
    LT_CHECK(lt_expand(a, &wide, &b));
    LT_CHECK(lt_clone_format(b, "contiguous_format", &c));
    status = lt__unsafe_view(c, &merged, out);
done:
    lt_tensor_release(a);
    lt_tensor_release(b);
    lt_tensor_release(c);
    return status;
}

lt_status lt_tile_impl(lt_tensor *self, const lt_dims *dims, lt_tensor **out)
{
    if (dims->n >= self->ndim) return lt_repeat(self, dims, out);
    lt_dims full = {.n = self->ndim};
    for (int d = 0; d < self->ndim; d++) {
        int given = d - (self->ndim - dims->n);
        full.v[d] = given >= 0 ? dims->v[given] : 1;
    }
    return lt_repeat(self, &full, out);
}

/* output_size, if given, must be the total number of entries. */
static lt_status check_output_size(const int64_t *output_size, int64_t total)
{
    if (output_size == NULL || *output_size == total) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "allocated size does not match required size");
}

lt_status lt_repeat_interleave_impl(lt_tensor *self, int64_t repeats, const int64_t *dim,
                                    const int64_t *output_size, lt_tensor **out)
{
    if (repeats < 0) return lt_error(LT_ERR_RUNTIME, "repeats can not be negative");
    lt_status status = LT_OK;
    lt_tensor *flat = NULL, *column = NULL, *wide = NULL, *copy = NULL;
    int d = 0;
    if (dim == NULL || self->ndim == 0) {
        LT_CHECK(lt_reshape(self, &(lt_dims){1, {-1}}, &flat));
    } else {
        LT_CHECK(lt_wrap_dim(*dim, self->ndim, &d));
        flat = lt_tensor_retain(self);
    }
    LT_CHECK(lt_unsqueeze(flat, d + 1, &column));
    lt_dims shape = {.n = column->ndim}, merged = {.n = flat->ndim};
    for (int k = 0; k < column->ndim; k++) shape.v[k] = k == d + 1 ? repeats : column->sizes[k];
    for (int k = 0; k < flat->ndim; k++)
        merged.v[k] = k == d ? lt_mul_sat(flat->sizes[k], repeats) : flat->sizes[k];
    LT_CHECK(check_output_size(output_size, merged.v[d]));
    LT_CHECK(lt_expand(column, &shape, &wide));
    LT_CHECK(lt_clone_format(wide, "contiguous_format", &copy));
    status = lt__unsafe_view(copy, &merged, out);
done:
    lt_tensor_release(flat);
    lt_tensor_release(column);
    lt_tensor_release(wide);
    lt_tensor_release(copy);
    return status;
}

/* Index i repeated repeats[i] times, on the host. */
static lt_status repeated_indices(const int64_t *repeats, int64_t n, const int64_t *output_size,
                                  lt_tensor **out)
{
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++) {
        if (repeats[i] < 0) return lt_error(LT_ERR_RUNTIME, "repeats can not be negative");
        if (__builtin_add_overflow(total, repeats[i], &total))
            return lt_error(LT_ERR_RUNTIME,
                            "repeat_interleave(): the repeats come to too many entries");
    }
    LT_TRY(check_output_size(output_size, total));
    LT_TRY(lt_tensor_new(LT_INT64, lt_host, 1, &total, out));
    int64_t *index = (int64_t *)lt_data(*out);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < repeats[i]; k++) *index++ = i;
    return LT_OK;
}

lt_status lt_repeat_interleave_repeats_impl(lt_tensor *repeats, const int64_t *output_size,
                                            lt_tensor **out)
{
    lt_tensor *host = NULL, *dense = NULL, *index = NULL;
    lt_status status = LT_OK;
    if (repeats->ndim != 1)
        return lt_error(LT_ERR_RUNTIME, "repeat_interleave only accept 1D vector as repeat");
    if (repeats->dtype != LT_INT64 && repeats->dtype != LT_INT32)
        return lt_error(LT_ERR_RUNTIME, "repeats has to be Long or Int tensor");
    lt_copy_cause previous = lt_copies_imply("repeat_interleave");
    LT_CHECK(lt_to(repeats, &lt_host, LT_INT64, false, false, &host));
    LT_CHECK(lt_contiguous(host, &dense));
    LT_CHECK(repeated_indices((const int64_t *)lt_data(dense), dense->numel, output_size, &index));
    LT_CHECK(lt_to(index, &repeats->device, (lt_dtype)repeats->dtype, false, false, out));
done:
    lt_copies_set_cause(previous);
    lt_tensor_release(host);
    lt_tensor_release(dense);
    lt_tensor_release(index);
    return status;
}

lt_status lt_repeat_interleave_tensor_impl(lt_tensor *self, lt_tensor *repeats, const int64_t *dim,
                                           const int64_t *output_size, lt_tensor **out)
{
    lt_tensor *flat = NULL, *each = NULL, *index = NULL;
    lt_status status = LT_OK;
    int d = 0;
    if (dim == NULL || self->ndim == 0) {
        LT_CHECK(lt_reshape(self, &(lt_dims){1, {-1}}, &flat));
    } else {
        LT_CHECK(lt_wrap_dim(*dim, self->ndim, &d));
        flat = lt_tensor_retain(self);
    }
    if (repeats->ndim == 0 || (repeats->ndim == 1 && repeats->sizes[0] == 1)) {
        lt_tensor *one = NULL;
        LT_CHECK(lt_reshape(repeats, &(lt_dims){1, {1}}, &one));
        status = lt_expand(one, &(lt_dims){1, {flat->sizes[d]}}, &each);
        lt_tensor_release(one);
        if (status != LT_OK) goto done;
    } else if (repeats->ndim == 1 && repeats->sizes[0] == flat->sizes[d]) {
        each = lt_tensor_retain(repeats);
    } else if (repeats->ndim == 1) {
        status = lt_error(LT_ERR_RUNTIME,
                          "repeats must have the same size as input along dim, but got "
                          "repeats.size(%lld) = %lld and input.size(%lld) = %lld",
                          lt_user_index(0), (long long)repeats->sizes[0], lt_user_index(d),
                          (long long)flat->sizes[d]);
        goto done;
    } else {
        status = lt_error(LT_ERR_RUNTIME, "repeats must be 0-dim or 1-dim tensor");
        goto done;
    }
    LT_CHECK(lt_repeat_interleave_repeats(each, output_size, &index));
    status = lt_index_select(flat, d, index, out);
done:
    lt_tensor_release(flat);
    lt_tensor_release(each);
    lt_tensor_release(index);
    return status;
}

/* Users cannot make negative strides, but the iterator supports them: it reads the source
 * backwards. */
lt_status lt_flip_impl(lt_tensor *self, const lt_dims *dims, lt_tensor **out)
{
    uint32_t mask = 0;
    if (dims->n > 0) LT_TRY(lt_dims_mask(dims, self->ndim, &mask));
    lt_tensor *result = NULL, *reversed = NULL;
    lt_status status = LT_OK;
    int64_t strides[LT_MAX_DIMS], offset = self->offset;
    for (int d = 0; d < self->ndim; d++) {
        bool reverse = mask >> d & 1 && self->numel > 0;
        strides[d] = reverse ? -self->strides[d] : self->strides[d];
        if (reverse) offset += (self->sizes[d] - 1) * self->strides[d];
    }
    LT_TRY(lt_tensor_like(self, (lt_dtype)self->dtype, self->device, &result));
    LT_CHECK(lt_tensor_view(self, self->ndim, self->sizes, strides, offset, &reversed));
    LT_CHECK(lt_copy_elements(result, reversed));
    *out = result;
    result = NULL;
done:
    lt_tensor_release(reversed);
    lt_tensor_release(result);
    return status;
}

static int64_t within(int64_t diagonal, int64_t rows, int64_t columns)
{
    return diagonal < -rows ? -rows : diagonal > columns ? columns : diagonal;
}

/* Keeps the elements on diagonals from `low` to `high`; the others become zeros. */
static lt_status band(const char *name, lt_tensor *self, int64_t low, int64_t high, lt_tensor **out)
{
    if (self->ndim < 2)
        return lt_error(LT_ERR_RUNTIME, "%s: input tensor must have at least 2 dimensions", name);
    lt_tensor *work = NULL;
    LT_TRY(
        lt_begin_output(out, (lt_dtype)self->dtype, self->device, self->ndim, self->sizes, &work));
    lt_status status = LT_OK;
    if (work->numel > 0) {
        const int64_t rows = self->sizes[self->ndim - 2], columns = self->sizes[self->ndim - 1];
        const lt_band b = {.device = self->device,
                           .size = (int64_t)lt_dtype_size((lt_dtype)self->dtype),
                           .matrices = self->numel / rows / columns,
                           .rows = rows,
                           .columns = columns,
                           .low = within(low, rows, columns),
                           .high = within(high, rows, columns)};
        const bool dense = lt_is_contiguous(self);
        if (!dense) status = lt_copy_elements(work, self);
        if (status == LT_OK)
            status =
                lt_backend_of(self)->band(&b, lt_data(work), dense ? lt_data(self) : lt_data(work));
    }
    if (status == LT_OK) return lt_finish_output(out, work);
    lt_tensor_release(work);
    return status;
}

lt_status lt_tril_impl(lt_tensor *self, int64_t diagonal, lt_tensor **out)
{
    return band("tril", self, INT64_MIN, diagonal, out);
}

lt_status lt_triu_impl(lt_tensor *self, int64_t diagonal, lt_tensor **out)
{
    return band("triu", self, diagonal, INT64_MAX, out);
}
