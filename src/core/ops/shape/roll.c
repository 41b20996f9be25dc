/* roll.c - cyclic shifts along some dimensions. On the host it is a copy of a gathered input
 * (lt_fused_gather), which a trace fuses with the ops that read it; elsewhere each dimension is cut
 * in two, and each part is copied to its place. */
#include <string.h>

#include "saturating.h"
#include "compile/trace.h"
#include "user_index.h"
#include "devices/backend.h"
#include "memory_format.h"
#include "ops/common.h"
#include "op/_roll.h"
#include "op/_roll_backward.h"
#include "op/reshape.h"
#include "op/reshape_as.h"
#include "op/roll.h"

/* by[d]: the shift of dimension d, from 0 to its size. */
static lt_status add_up(const lt_tensor *self, const lt_dims *shifts, const lt_dims *dims,
                        int64_t *by)
{
    for (int d = 0; d < self->ndim; d++) by[d] = 0;
    for (int i = 0; i < dims->n; i++) {
        int d;
        LT_TRY(lt_wrap_dim(dims->v[i], self->ndim, &d));
        const int64_t size = self->sizes[d];
        if (size > 0) by[d] = ((by[d] + shifts->v[i] % size) % size + size) % size;
    }
    return LT_OK;
}

/* Copies one part: of each rolled dimension the entries that are shifted within it, or, if its bit
 * in `wrapped` is set, the entries that wrap around. */
static lt_status move_part(lt_tensor *result, lt_tensor *self, const int64_t *by, uint64_t wrapped)
{
    lt_tensor *to = NULL, *from = NULL;
    int64_t sizes[LT_MAX_DIMS], to_offset = result->offset, from_offset = self->offset;
    for (int d = 0; d < self->ndim; d++) {
        const bool back = wrapped >> d & 1;
        sizes[d] = back ? by[d] : self->sizes[d] - by[d];
        to_offset += back ? 0 : by[d] * result->strides[d];
        from_offset += back ? (self->sizes[d] - by[d]) * self->strides[d] : 0;
    }
    lt_status status = LT_OK;
    LT_CHECK(lt_tensor_view(result, self->ndim, sizes, result->strides, to_offset, &to));
    LT_CHECK(lt_tensor_view(self, self->ndim, sizes, self->strides, from_offset, &from));
    LT_CHECK(lt_copy_elements(to, from));
done:
    lt_tensor_release(to);
    lt_tensor_release(from);
    return status;
}

static lt_status move_all(lt_tensor *self, const int64_t *by, lt_tensor **out)
{
    lt_tensor *result = NULL;
    uint64_t rolled = 0, part = 0;
    for (int d = 0; d < self->ndim; d++) rolled |= (uint64_t)(by[d] > 0) << d;
    LT_TRY(lt_tensor_new_ordered((lt_dtype)self->dtype, self->device, self->ndim, self->sizes,
                                 self->ndim > 1 && lt_suggests_channels_last(self), &result));
    lt_status status = LT_OK;
    do { /* each subset of the rolled dimensions */
        if (status == LT_OK && self->numel > 0) status = move_part(result, self, by, part);
        part = (part - rolled) & rolled;
    } while (part != 0);
    if (status == LT_OK)
        *out = result;
    else
        lt_tensor_release(result);
    return status;
}

/* ---- as a gathered input --------------------------------------------------------------------- */

enum { MAX_ROLLED = 2 }; /* maximum number of rolled dimensions for a gather */

/* The numbers of its lt_fused_gather: entry i of a dimension is read from i - by or, if that is
 * negative, from i - by + size; step: elements from one entry to the next. Dimensions innermost
 * first. */
typedef struct rolled {
    int64_t n, element; /* element: its bytes */
    int64_t size[MAX_ROLLED], step[MAX_ROLLED], by[MAX_ROLLED];
} rolled;
_Static_assert(sizeof(rolled) <= sizeof((lt_fused_gather *)NULL)->numbers,
               "a gather has room for it");

/* Reads elements [at, at + n), shifted along the first dimension only, so that all its entries are
 * one block: alternating two runs of elements, its last entries first. */
static void read_first(const rolled *r, const char *data, char *to, int64_t at, int64_t n)
{
    const int64_t block = r->size[0] * r->step[0], back = r->by[0] * r->step[0];
    int64_t place = at % block;
    for (int64_t m; n > 0; at += m, n -= m, to += m * r->element) {
        const bool wrapped = place < back;
        m = (wrapped ? back : block) - place;
        if (m > n) m = n;
        memcpy(to, data + (at + (wrapped ? block : 0) - back) * r->element,
               (size_t)(m * r->element));
        place = place + m < block ? place + m : 0;
    }
}

/* The offset by which rolling the second dimension moves the source of element `at`; *run: the
 * number of elements with this offset from there on. */
static int64_t source_index(const rolled *r, int64_t at, int64_t *run)
{
    *run = INT64_MAX;
    if (r->n == 1) return 0;
    const int64_t entries = at / r->step[1], i = entries % r->size[1],
                  end = i < r->by[1] ? r->by[1] : r->size[1];
    *run = (end - i) * r->step[1] - (at - entries * r->step[1]);
    return ((i < r->by[1] ? r->size[1] : 0) - r->by[1]) * r->step[1];
}

static void read_rolled(const lt_fused_gather *g, const char *data, char *to, int64_t from,
                        int64_t n)
{
    rolled r;
    memcpy(&r, g->numbers, sizeof r);
    for (int64_t run; n > 0; from += run, n -= run, to += run * r.element) {
        const int64_t further = source_index(&r, from, &run);
        if (run > n) run = n;
        read_first(&r, data + further * r.element, to, from, run);
    }
}

/* Whether self can be gathered: contiguous, on the host, rolled along at most MAX_ROLLED
 * dimensions. */
static bool find_gather(const lt_tensor *self, const int64_t *by, lt_fused_gather *gather)
{
    rolled r = {.element = (int64_t)lt_dtype_size((lt_dtype)self->dtype)};
    if (self->device.type != LT_CPU || !lt_is_contiguous(self)) return false;
    for (int d = self->ndim - 1; d >= 0; d--) {
        if (by[d] == 0) continue;
        if (r.n == MAX_ROLLED) return false;
        r.size[r.n] = self->sizes[d];
        r.step[r.n] = self->strides[d];
        r.by[r.n++] = by[d];
    }
    if (r.n == 0) return false;
    *gather = (lt_fused_gather){.read = read_rolled};
    memcpy(gather->numbers, &r, sizeof r);
    return true;
}

static lt_status gather_now(lt_tensor *self, const lt_fused_gather *gather, lt_tensor **out)
{
    const lt_dtype dtype = (lt_dtype)self->dtype;
    lt_fusion c; /* not zeroed as a whole */
    bool done = true;
    LT_TRY(lt_tensor_like(self, dtype, self->device, out));
    c.device = self->device;
    c.numel = self->numel;
    c.loop = NULL;
    c.n_steps = 1;
    c.n_values = 2;
    c.steps[0] =
        (lt_fused_step){.op = LT_FUSED_COPY, .compute = dtype, .n = 1, .in = {0}, .out = 1};
    c.values[0] = (lt_fused_value){.dtype = dtype, .data = lt_data(self), .gather = gather};
    c.values[1] = (lt_fused_value){.dtype = dtype, .data = lt_data(*out)};
    const lt_status status = lt_backend_of(self)->run_fusion(&c, &done);
    if (status != LT_OK) {
        lt_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

lt_status lt__roll_impl(lt_tensor *self, const lt_dims *shifts, const lt_dims *dims,
                        lt_tensor **out)
{
    const lt_dtype dtype = (lt_dtype)self->dtype;
    int64_t by[LT_MAX_DIMS];
    lt_fused_gather gather;
    LT_TRY(add_up(self, shifts, dims, by));
    const bool gathers = find_gather(self, by, &gather);
    if (gathers && lt_any_trace()) {
        LT_TRY(lt_trace_record(&(lt_traced_op){LT_FUSED_COPY, dtype, dtype, &self, 1, NULL, 0,
                                               self->ndim, self->sizes, &gather},
                               out));
        if (*out != NULL) return LT_OK;
    }
    LT_EAGERLY();
    if (lt_any_deferred()) LT_TRY(lt_materialize("roll", self));
    return gathers ? gather_now(self, &gather, out) : move_all(self, by, out);
}

lt_status lt__roll_backward_impl(lt_tensor *grad_output, const lt_dims *shifts, const lt_dims *dims,
                                 lt_tensor **out)
{
    lt_dims back = *shifts;
    for (int i = 0; i < back.n; i++) back.v[i] = lt_sub_within(0, back.v[i]);
    return lt__roll(grad_output, &back, dims, out);
}

static lt_status roll_along(lt_tensor *self, const lt_dims *shifts, const lt_dims *dims,
                            lt_tensor **out)
{
    lt_dims from_last = *dims;
    if (dims->n != shifts->n)
        return lt_error(LT_ERR_RUNTIME, "shifts and dimensions must align. shifts: %d, dims:%d",
                        shifts->n, dims->n);
    if (self->ndim == 0)
        return lt_error(LT_ERR_RUNTIME, "Dimension specified as %lld but tensor has no dimensions",
                        lt_user_index(dims->v[0]));
    for (int i = 0; i < dims->n; i++) {
        int d;
        LT_TRY(lt_wrap_dim(dims->v[i], self->ndim, &d));
        from_last.v[i] = d - self->ndim;
    }
    return lt__roll(self, shifts, &from_last, out);
}

lt_status lt_roll_impl(lt_tensor *self, const lt_dims *shifts, const lt_dims *dims, lt_tensor **out)
{
    if (dims != NULL && dims->n > 0) return roll_along(self, shifts, dims, out);
    if (shifts->n != 1)
        return lt_error(LT_ERR_RUNTIME, "shifts and dimensions must align. shifts: %d, dims:0",
                        shifts->n);
    lt_tensor *flat = NULL, *rolled = NULL;
    lt_status status = LT_OK;
    LT_CHECK(lt_reshape(self, &(lt_dims){1, {-1}}, &flat));
    LT_CHECK(lt__roll(flat, shifts, &(lt_dims){1, {-1}}, &rolled));
    LT_CHECK(lt_reshape_as(rolled, self, out));
done:
    lt_tensor_release(flat);
    lt_tensor_release(rolled);
    return status;
}
