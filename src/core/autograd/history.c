/* history.c - a tensor's grad_fn, and whether the tensor may be written in place.
 *
 * A write to a base changes its storage's version. A view with an older stored version has a stale
 * history: it gets a new grad_fn, as_strided of the base, when that is next read. */
#include "assertion.h"
#include "autograd/internal.h"
#include "dims.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "op/as_strided.h"
#include "op/view_as_complex.h"
#include "op/view_as_real.h"

static lt_status no_grad_view(const char *event)
{
    return lt_error(LT_ERR_RUNTIME,
                    "A view was created in no_grad mode and %s modified inplace with grad mode "
                    "enabled. Given that this use case is ambiguous and error-prone, it is "
                    "forbidden. You can clarify your code by moving both the view and the inplace "
                    "either both inside the no_grad block (if you don't want the inplace to be "
                    "tracked) or both outside (if you want the inplace to be tracked).",
                    event);
}

/* A view created in no-grad mode counts as a leaf as long as its base's history does not change. */
static lt_status check_no_grad_view(const lt_tensor *t, const lt_tensor *base, uint32_t version)
{
    bool base_is_leaf = base->autograd == NULL || base->autograd->grad_fn == NULL;
    bool as_then = t->autograd != NULL && t->autograd->view_version == version;
    if (base_is_leaf || as_then) return LT_OK;
    return no_grad_view("its base or another view of its base has been");
}

static lt_dims sizes_of(const lt_geometry *geometry)
{
    lt_dims dims = {.n = geometry->ndim};
    for (int d = 0; d < geometry->ndim; d++) dims.v[d] = geometry->sizes[d];
    return dims;
}

static lt_dims strides_of(const lt_geometry *geometry)
{
    lt_dims dims = {.n = geometry->ndim};
    for (int d = 0; d < geometry->ndim; d++) dims.v[d] = geometry->strides[d];
    return dims;
}

lt_status lt_strided_view(lt_tensor *memory, lt_dtype dtype, const lt_geometry *geometry,
                          int64_t from, int64_t to, lt_tensor **out)
{
    const lt_dims sizes = sizes_of(geometry), strides = strides_of(geometry);
    int64_t offset = geometry->offset;
    const bool parts = lt_dtype_is_complex((lt_dtype)memory->dtype) && !lt_dtype_is_complex(dtype);
    const bool pairs = !lt_dtype_is_complex((lt_dtype)memory->dtype) && lt_dtype_is_complex(dtype);
    lt_tensor *other = NULL;
    lt_status status;
    if (parts) {
        offset += 2 * (to - from);
        LT_TRY(lt_view_as_real(memory, &other));
        status = lt_as_strided(other, &sizes, &strides, &offset, out);
    } else if (pairs) {
        lt_dims pair_sizes = sizes, pair_strides = strides;
        for (int d = 0; d < strides.n; d++) pair_strides.v[d] *= 2;
        LT_TRY(lt_dims_insert(&pair_sizes, pair_sizes.n, 2));
        LT_TRY(lt_dims_insert(&pair_strides, pair_strides.n, 1));
        offset = 2 * offset + to - from;
        LT_TRY(lt_as_strided(memory, &pair_sizes, &pair_strides, &offset, &other));
        status = lt_view_as_complex(other, out);
    } else {
        offset += to - from;
        return lt_as_strided(memory, &sizes, &strides, &offset, out);
    }
    lt_tensor_release(other);
    return status;
}

/* Makes t the output of a new node, as_strided of its base. */
static lt_status regenerate(lt_tensor *t, lt_tensor *base)
{
    lt_geometry geometry;
    lt_geometry_of(&geometry, t);
    lt_tensor *again = NULL;
    bool grad_mode = lt_set_grad_enabled(true);
    lt_status status = lt_strided_view(base, (lt_dtype)t->dtype, &geometry, 0, 0, &again);
    lt_set_grad_enabled(grad_mode);
    LT_ASSERT(status != LT_OK || again->autograd != NULL);
    if (status == LT_OK) status = lt_node_attach(again->autograd->grad_fn, 0, t);
    lt_tensor_release(again);
    return status;
}

lt_status lt_grad_fn(lt_tensor *t, lt_node **out)
{
    if (lt_is_batched(t)) return lt_grad_fn(t->view_base, out);
    lt_autograd *autograd = t->autograd;
    lt_tensor *base = lt_base_of(t);
    if (base != NULL && base->flags & LT_FLAG_REQUIRES_GRAD) {
        uint32_t version = atomic_load_explicit(&t->storage->version, memory_order_relaxed);
        bool current =
            autograd != NULL && autograd->grad_fn != NULL && autograd->view_version == version;
        if (t->flags & LT_FLAG_NO_GRAD_VIEW) {
            LT_TRY(check_no_grad_view(t, base, version));
        } else if (!current) {
            LT_TRY(regenerate(t, base));
            autograd = t->autograd;
        }
    }
    *out = autograd != NULL ? autograd->grad_fn : NULL;
    return LT_OK;
}

lt_status lt_grad_slot(lt_tensor *t, lt_node **fn, int *slot)
{
    lt_autograd *autograd;
    *slot = 0;
    LT_TRY(lt_grad_fn(t, fn));
    if (*fn == NULL) return LT_OK;
    LT_TRY(lt_autograd_of(t, &autograd));
    LT_ASSERT(autograd->slot >= 0 && autograd->slot < (*fn)->inputs, "%s: slot %d of %d",
              (*fn)->class->name, autograd->slot, (*fn)->inputs);
    *slot = autograd->slot;
    return LT_OK;
}

lt_status lt_check_inplace(lt_tensor *t)
{
    lt_tensor *base = lt_base_of(t);
    if (base != NULL && t->flags & LT_FLAG_NO_GRAD_VIEW) return no_grad_view("is being");
    if (!lt_requires_grad(t)) return LT_OK;
    if (base != NULL && lt_is_leaf(base))
        return lt_error(
            LT_ERR_RUNTIME,
            "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    if (lt_is_leaf(t))
        return lt_error(
            LT_ERR_RUNTIME,
            "a leaf Variable that requires grad is being used in an in-place operation.");
    return LT_OK;
}
