/* hash.c - hash_tensor: the exclusive or of the bits of elements. */
#include "ops/steps.h"
#include "user_index.h"
#include "op/hash_tensor.h"
#include "op/squeeze.h"
#include "step/bitwise_xor.h"
#include "step/detach.h"
#include "step/view_dtype.h"

/* The bits of float64 or int64 elements as unsigned 64-bit integers. */
static lt_tensor *do_words(lt_scope *s, lt_tensor *a)
{
    if (s->status != LT_OK || a->dtype == LT_UINT64) return a;
    const lt_dtype dtype = lt_dtype_is_inexact((lt_dtype)a->dtype) ? LT_FLOAT64 : LT_INT64;
    return do_view_dtype(s, do_contiguous(s, do_cast(s, a, dtype)), LT_UINT64);
}

/* Combines the halves of a dimension, which becomes half as long, rounded up. Steals x. */
static lt_status fold_dim(lt_tensor *x, int dim, lt_tensor **out)
{
    const int64_t n = x->sizes[dim], half = n / 2;
    lt_scope s;
    lt_scope_open(&s, false);
    lt_scope_hold(&s, LT_OK, x);
    lt_tensor *joined =
        do_bitwise_xor(&s, do_part(&s, x, dim, 0, half), do_part(&s, x, dim, half, 2 * half));
    if (n % 2 == 1)
        joined = do_cat(&s, (lt_tensor *[]){joined, do_part(&s, x, dim, 2 * half, n)}, 2, dim);
    return lt_scope_return(&s, joined, out);
}

/* The hash along the dimensions of the mask, which are kept with size 1. */
static lt_status hash_dims(lt_tensor *self, uint32_t mask, lt_tensor **out)
{
    bool folds = false;
    for (int dim = 0; dim < self->ndim; dim++) folds |= mask >> dim & 1 && self->sizes[dim] > 1;
    lt_tensor *x = NULL;
    lt_scope s;
    lt_scope_open(&s, false);
    lt_tensor *bits = do_words(&s, do_detach(&s, self));
    LT_TRY(lt_scope_return(&s, folds ? bits : do_clone(&s, bits), &x));
    for (int dim = 0; dim < self->ndim; dim++)
        while (mask >> dim & 1 && x->sizes[dim] > 1) {
            lt_tensor *previous = x;
            LT_TRY(fold_dim(previous, dim, &x));
        }
    *out = x;
    return LT_OK;
}

lt_status lt_hash_tensor_impl(lt_tensor *self, const lt_dims *dim, bool keepdim, int64_t mode,
                              lt_tensor **out)
{
    uint32_t mask;
    if (mode != 0)
        return lt_error(LT_ERR_RUNTIME, "Unknown hash_tensor mode: %lld", (long long)mode);
    if (lt_dtype_is_complex((lt_dtype)self->dtype))
        return lt_error(LT_ERR_RUNTIME, "hash_tensor: complex numbers have no 64 bits");
    const bool all = dim == NULL || dim->n == 0;
    if (all && self->numel == 0)
        return lt_error(LT_ERR_RUNTIME,
                        "hash_tensor: Expected reduction dim to be specified for input.numel() == "
                        "0. Specify the reduction dim with the 'dim' argument.");
    LT_TRY(lt_dims_mask(all ? NULL : dim, self->ndim, &mask));
    lt_dims over = {.n = 0};
    for (int d = 0; d < self->ndim; d++) {
        if (!(mask >> d & 1)) continue;
        if (self->sizes[d] == 0)
            return lt_error(LT_ERR_RUNTIME,
                            "hash_tensor: Expected reduction dim %lld to have non-zero size.",
                            lt_user_index(d));
        over.v[over.n++] = d;
    }
    lt_tensor *kept = NULL;
    LT_TRY(hash_dims(self, mask, &kept));
    if (keepdim || over.n == 0) {
        *out = kept;
        return LT_OK;
    }
    const lt_status status = lt_squeeze_dims(kept, &over, out);
    lt_tensor_release(kept);
    return status;
}
