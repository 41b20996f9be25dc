/* pad.c - padding at both ends of the last dimensions, with a constant or with the tensor's own
 * elements: row by row in the backend, or by copying the tensor into the middle, from where the
 * ends of each dimension are filled. */
#include <string.h>

#include "context/interrupt.h"
#include "devices/copies.h"
#include "user_index.h"
#include "devices/padding.h"
#include "memory/alloc.h"
#include "saturating.h"
#include "ops/steps.h"
#include "op/_constant_pad_backward.h"
#include "op/_pad_by_lookup.h"
#include "op/_pad_by_lookup_backward.h"
#include "op/clone.h"
#include "op/constant_pad_nd.h"
#include "op/index_add.h"
#include "op/pad.h"

static lt_status check_pad(const lt_tensor *self, const lt_dims *pad)
{
    if (pad->n % 2 != 0)
        return lt_error(LT_ERR_RUNTIME, "Length of pad must be even but instead it equals %d",
                        pad->n);
    if (pad->n > 2 * self->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "Length of pad should be no more than twice the number of dimensions of "
                        "the input. Pad length is %d while the input has %d dimensions.",
                        pad->n, self->ndim);
    return LT_OK;
}

/* The padded size of a dimension; negative if more is cut off than there is. */
static int64_t padded_size(int64_t size, int64_t low, int64_t high)
{
    return low < 0 ? lt_add_within(lt_add_within(size, low), high)
                   : lt_add_within(lt_add_within(size, high), low);
}

/* The first two entries of pad belong to the last dimension, the next two to the one before it. */
static int64_t before(const lt_dims *pad, int ndim, int d)
{
    int at = 2 * (ndim - 1 - d);
    return at < pad->n ? pad->v[at] : 0;
}

static int64_t after(const lt_dims *pad, int ndim, int d)
{
    int at = 2 * (ndim - 1 - d) + 1;
    return at < pad->n ? pad->v[at] : 0;
}

lt_status lt_constant_pad_nd_impl(lt_tensor *self, const lt_dims *pad, lt_scalar value,
                                  lt_tensor **out)
{
    LT_TRY(check_pad(self, pad));
    lt_dims sizes = {.n = self->ndim};
    for (int d = 0; d < self->ndim; d++) {
        sizes.v[d] =
            padded_size(self->sizes[d], before(pad, self->ndim, d), after(pad, self->ndim, d));
        if (sizes.v[d] < 0)
            return lt_error(
                LT_ERR_RUNTIME,
                "The input size %lld, plus negative padding %lld and %lld resulted in a negative "
                "output size, which is invalid. Check dimension %lld of your input.",
                (long long)self->sizes[d], (long long)before(pad, self->ndim, d),
                (long long)after(pad, self->ndim, d), lt_user_index(d));
    }
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(constant_pad_nd));
    lt_tensor *result = do_zeros(&s, self, &sizes), *to = result, *from = self;
    if (result != NULL && !lt_scalar_equals(value, 0)) s.status = lt_fill_value(result, value);
    /* both narrowed to their common part */
    for (int d = 0; d < self->ndim && s.status == LT_OK; d++) {
        int64_t low = before(pad, self->ndim, d), high = after(pad, self->ndim, d),
                n = self->sizes[d];
        if (low == 0 && high == 0) continue;
        to = do_part(&s, to, d, low > 0 ? low : 0, sizes.v[d] - (high > 0 ? high : 0));
        from = do_part(&s, from, d, low < 0 ? lt_sub_within(0, low) : 0,
                       high >= 0   ? n
                       : high < -n ? 0
                                   : n + high);
        if (from != NULL && from->sizes[d] != to->sizes[d]) /* nothing remains of it */
            from = do_part(&s, from, d, 0, to->sizes[d]);
    }
    if (s.status == LT_OK && from->numel > 0) s.status = lt_copy_elements(to, from);
    return lt_scope_store(&s, result, out);
}

lt_status lt__constant_pad_backward_impl(lt_tensor *grad_output, const lt_dims *pad,
                                         lt_tensor **out)
{
    lt_dims back = *pad;
    for (int i = 0; i < back.n; i++) back.v[i] = lt_sub_within(0, back.v[i]);
    return lt_constant_pad_nd(grad_output, &back, lt_scalar_from_int(0), out);
}

/* The number of elements of dimension d that remain after negative padding. */
static int64_t kept_length(const lt_dims *pad, const lt_tensor *self, int d)
{
    int64_t low = before(pad, self->ndim, d), high = after(pad, self->ndim, d);
    return padded_size(self->sizes[d], low < 0 ? low : 0, high < 0 ? high : 0);
}

/* The part of t, which is already padded along dimensions after d, without the padding of
 * dimensions before d. */
static lt_tensor *do_inner_part(lt_scope *s, lt_tensor *t, const lt_dims *pad, int d)
{
    for (int e = 0; e < d && s->status == LT_OK; e++) {
        const int64_t low = before(pad, t->ndim, e), high = after(pad, t->ndim, e);
        if (low != 0 || high != 0) t = do_part(s, t, e, low, t->sizes[e] - high);
    }
    return t;
}

/* One end of dimension d of a part of the padded tensor: n elements from `from` on, copied from
 * elements in [low, low + size). */
typedef struct padded_end {
    lt_tensor *part;
    int d;
    int64_t from, n, low, size;
    lt_pad_mode mode;
} padded_end;

/* The source of element i: an index of the part, like low and size. */
static int64_t source_of(const padded_end *e, int64_t i)
{
    return e->low + lt_pad_source(e->mode, e->from + i - e->low, e->size);
}

typedef void (*end_fn)(lt_scope *s, const padded_end *e);

static void at_both_ends(lt_scope *s, lt_tensor *padded, const lt_dims *pad, int d,
                         lt_pad_mode mode, end_fn end)
{
    if (s->status != LT_OK) return;
    const int64_t low = before(pad, padded->ndim, d), high = after(pad, padded->ndim, d),
                  size = padded->sizes[d] - low - high;
    lt_tensor *part = do_inner_part(s, padded, pad, d);
    if (s->status == LT_OK && low > 0) end(s, &(padded_end){part, d, 0, low, low, size, mode});
    if (s->status == LT_OK && high > 0)
        end(s, &(padded_end){part, d, low + size, high, low, size, mode});
}

/* The sources of an end are consecutive, forwards or backwards, or all equal. */
static void fill_end(lt_scope *s, const padded_end *e)
{
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
    lt_tensor *const part = e->part, *from = NULL;
    for (int d = 0; d < part->ndim; d++) {
        sizes[d] = part->sizes[d];
        strides[d] = part->strides[d];
    }
    sizes[e->d] = e->n;
    strides[e->d] *= e->n > 1 ? source_of(e, 1) - source_of(e, 0) : 1;
    lt_tensor *to = do_part(s, part, e->d, e->from, e->from + e->n);
    if (s->status != LT_OK) return;
    const lt_status seen =
        lt_tensor_view(part, part->ndim, sizes, strides,
                       part->offset + source_of(e, 0) * part->strides[e->d], &from);
    from = lt_scope_hold(s, seen, from);
    if (from != NULL) s->status = lt_copy_elements(to, from);
}

static void add_end(lt_scope *s, const padded_end *e)
{
    int64_t *values = lt_mem_array(e->n, sizeof *values);
    for (int64_t i = 0; values != NULL && i < e->n; i++) values[i] = source_of(e, i);
    const lt_copy_cause previous = lt_copies_imply("pad");
    lt_tensor *index = do_positions(s, values, &(lt_dims){1, {e->n}}, e->part->device);
    lt_copies_set_cause(previous);
    lt_tensor *grad = do_clone(s, do_part(s, e->part, e->d, e->from, e->from + e->n));
    if (s->status == LT_OK)
        s->status = lt_index_add_(e->part, e->d, index, grad, lt_scalar_from_int(1));
}

static void pad_ends(lt_scope *s, lt_tensor *self, const lt_dims *pad, lt_pad_mode mode,
                     lt_tensor *result)
{
    lt_tensor *inner = do_inner_part(s, result, pad, self->ndim);
    if (s->status == LT_OK) s->status = lt_copy_elements(inner, self);
    for (int d = self->ndim - 1; d >= self->ndim - pad->n / 2; d--)
        at_both_ends(s, result, pad, d, mode, fill_end);
}

/* Whether the backend pads row by row. The copies of pad_ends partition longer rows over the
 * threads. */
static bool padded_by_rows(const lt_tensor *self, const lt_dims *pad)
{
    enum { LONG = 65536 };
    const int padded = pad->n / 2;
    return lt_backend_of(self)->pad != NULL && self->numel > 0 && padded > 0 && padded <= 3 &&
           self->sizes[self->ndim - 1] <= LONG && before(pad, self->ndim, self->ndim - 1) <= LONG &&
           after(pad, self->ndim, self->ndim - 1) <= LONG && lt_is_contiguous(self);
}

static lt_status pad_rows(const lt_tensor *self, const lt_dims *pad, lt_pad_mode mode,
                          lt_tensor *result)
{
    const int first = self->ndim - pad->n / 2;
    lt_padding p = {.mode = mode,
                    .size = (int64_t)lt_dtype_size((lt_dtype)self->dtype),
                    .outer = 1,
                    .in = {1, 1, 1},
                    .out = {1, 1, 1}};
    for (int d = 0; d < self->ndim; d++) {
        const int at = 3 - self->ndim + d;
        if (d < first) {
            p.outer *= self->sizes[d];
            continue;
        }
        p.in[at] = self->sizes[d];
        p.before[at] = before(pad, self->ndim, d);
        p.out[at] = result->sizes[d];
    }
    return lt_backend_of(self)->pad(&p, lt_data(result), lt_data(self));
}

/* Precondition: no amount of padding is negative. */
lt_status lt__pad_by_lookup_impl(lt_tensor *self, const lt_dims *pad, int64_t mode, lt_tensor **out)
{
    lt_scope s;
    int64_t numel;
    lt_dims sizes = lt_dims_of(self);
    for (int d = 0; d < self->ndim; d++)
        sizes.v[d] = padded_size(sizes.v[d], before(pad, self->ndim, d), after(pad, self->ndim, d));
    LT_TRY(lt_check_sizes(sizes.n, sizes.v, &numel));
    lt_scope_open(&s, false);
    lt_tensor *result = NULL;
    const lt_status made =
        lt_tensor_new((lt_dtype)self->dtype, self->device, sizes.n, sizes.v, &result);
    result = lt_scope_hold(&s, made, result);
    if (s.status == LT_OK && padded_by_rows(self, pad))
        s.status = pad_rows(self, pad, (lt_pad_mode)mode, result);
    else if (s.status == LT_OK)
        pad_ends(&s, self, pad, (lt_pad_mode)mode, result);
    return lt_scope_return(&s, result, out);
}

lt_status lt__pad_by_lookup_backward_impl(lt_tensor *grad_output, const lt_dims *pad, int64_t mode,
                                          lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *sums = do_clone(&s, grad_output);
    for (int d = grad_output->ndim - pad->n / 2; d < grad_output->ndim; d++)
        at_both_ends(&s, sums, pad, d, (lt_pad_mode)mode, add_end);
    lt_tensor *inner = s.status == LT_OK ? do_inner_part(&s, sums, pad, grad_output->ndim) : NULL;
    return lt_scope_return(&s, s.status == LT_OK ? do_contiguous(&s, inner) : NULL, out);
}

/* If negative padding cuts off elements from which others are copied: gathers every element,
 * dimension by dimension. */
static lt_status cut_by_lookup(lt_tensor *self, const lt_dims *pad, lt_pad_mode mode,
                               lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, true);
    lt_tensor *result = self;
    for (int d = self->ndim - 1; d >= self->ndim - pad->n / 2 && result != NULL; d--) {
        int64_t low = before(pad, self->ndim, d), size = self->sizes[d];
        int64_t n = padded_size(size, low, after(pad, self->ndim, d)), numel;
        if (n == size && low == 0) continue;
        int64_t first = 0;
        if (mode == LT_PAD_CIRCULAR) { /* negative amounts are applied first */
            first = low < 0 ? -low : 0;
            size = kept_length(pad, self, d);
        }
        lt_dims sizes = lt_dims_of(result);
        sizes.v[d] = n;
        if ((s.status = lt_check_sizes(sizes.n, sizes.v, &numel)) != LT_OK) break;
        int64_t *values = lt_mem_array(n, sizeof *values);
        for (int64_t i = 0; values != NULL && i < n; i++) {
            values[i] = first + lt_pad_source(mode, i - low - first, size);
            if (i % LT_INTERRUPT_STEP == 0 && lt_interrupted()) break;
        }
        if (lt_interrupted()) s.status = lt_stopped();
        const lt_copy_cause previous = lt_copies_imply("pad");
        lt_tensor *index = do_positions(&s, values, &(lt_dims){1, {n}}, self->device);
        lt_copies_set_cause(previous);
        result = do_index_select(&s, result, d, index);
    }
    if (result == self) {
        lt_status status = lt_clone(self, &result);
        result = lt_scope_hold(&s, status, result);
    }
    return lt_scope_return(&s, result, out);
}

static bool cuts(const lt_dims *pad)
{
    for (int i = 0; i < pad->n; i++)
        if (pad->v[i] < 0) return true;
    return false;
}

lt_status lt_pad_impl(lt_tensor *self, const lt_dims *pad, const char *mode, const lt_scalar *value,
                      lt_tensor **out)
{
    LT_TRY(check_pad(self, pad));
    if (strcmp(mode, "constant") == 0)
        return lt_constant_pad_nd(self, pad, value != NULL ? *value : lt_scalar_from_int(0), out);
    if (value != NULL && !lt_scalar_equals(*value, 0))
        return lt_error(LT_ERR_RUNTIME, "Padding mode \"%s\" doesn't take in value argument", mode);
    lt_pad_mode how;
    if (strcmp(mode, "reflect") == 0)
        how = LT_PAD_REFLECT;
    else if (strcmp(mode, "replicate") == 0)
        how = LT_PAD_REPLICATE;
    else if (strcmp(mode, "circular") == 0)
        how = LT_PAD_CIRCULAR;
    else
        return lt_error(LT_ERR_RUNTIME, "Unrecognised padding mode %s", mode);
    int padded = pad->n / 2;
    if (padded == 0 || padded > 3 || (self->ndim != padded + 1 && self->ndim != padded + 2))
        return lt_error(
            LT_ERR_RUNTIME,
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
    for (int d = self->ndim - padded; d < self->ndim; d++) {
        int64_t low = before(pad, self->ndim, d), high = after(pad, self->ndim, d),
                size = self->sizes[d];
        char text[256];
        if (how == LT_PAD_REFLECT && (low >= size || high >= size))
            return lt_error(LT_ERR_RUNTIME,
                            "Padding size should be less than the corresponding input dimension, "
                            "but got: padding (%lld, %lld) at dimension %lld of input %s",
                            (long long)low, (long long)high, lt_user_index(d),
                            lt_format_sizes(text, sizeof text, self->ndim, self->sizes));
        if (how == LT_PAD_CIRCULAR &&
            (low > kept_length(pad, self, d) || high > kept_length(pad, self, d)))
            return lt_error(LT_ERR_RUNTIME, "Padding value causes wrapping around more than once.");
        const int64_t padded_to = padded_size(size, low, high);
        if (padded_to < 0 || (how == LT_PAD_CIRCULAR && padded_to == 0))
            return lt_error(LT_ERR_RUNTIME,
                            "Negative padding value is resulting in an empty dimension.");
        if (size == 0)
            return lt_error(LT_ERR_RUNTIME, "Expected a non-empty dimension %lld of input %s",
                            lt_user_index(d),
                            lt_format_sizes(text, sizeof text, self->ndim, self->sizes));
    }
    if (cuts(pad)) return cut_by_lookup(self, pad, how, out);
    return lt__pad_by_lookup(self, pad, how, out);
}
