/* linalg.c - see linalg.h. On a GPU all data stays there except one number per matrix, the status
 * of its factorization: to raise an error the host waits for it, as in PyTorch, and the ledger
 * records it. */
#include "linalg.h"

#include <stdio.h>
#include <string.h>

#include "iter.h"
#include "user_index.h"
#include "devices/copies.h"
#include "devices/transfer.h"
#include "memory/alloc.h"

/* ---- checks ---------------------------------------------------------------------------------- */

lt_status lt_linalg_check_matrix(const char *op, const lt_tensor *a)
{
    if (a->ndim < 2)
        return lt_error(LT_ERR_RUNTIME, "%s: The input tensor A must have at least 2 dimensions.",
                        op);
    /* LAPACK uses int */
    if (lt_rows(a) <= INT32_MAX && lt_columns(a) <= INT32_MAX) return LT_OK;
    return lt_error(LT_ERR_RUNTIME, "%s: matrices have at most %d rows and columns", op, INT32_MAX);
}

lt_status lt_linalg_check_square(const char *op, const lt_tensor *a)
{
    LT_TRY(lt_linalg_check_matrix(op, a));
    if (lt_rows(a) == lt_columns(a)) return LT_OK;
    return lt_error(LT_ERR_RUNTIME,
                    "%s: A must be batches of square matrices, but they are %lld by %lld matrices",
                    op, (long long)lt_rows(a), (long long)lt_columns(a));
}

lt_status lt_linalg_check_kind(const char *op, const lt_tensor *a)
{
    lt_dtype dtype = (lt_dtype)a->dtype;
    if (!lt_dtype_is_inexact(dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "%s: Expected a floating point or complex tensor as input. Got %s", op,
                        lt_dtype_scalar_name(dtype));
    if (dtype != LT_FLOAT32 && dtype != LT_FLOAT64 && dtype != LT_COMPLEX64 &&
        dtype != LT_COMPLEX128)
        return lt_error(LT_ERR_RUNTIME, "%s: Low precision dtypes not supported. Got %s", op,
                        lt_dtype_scalar_name(dtype));
    return LT_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

static int64_t batch_count(const lt_tensor *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->ndim - 2; d++) n *= a->sizes[d];
    return n;
}

lt_tensor *do_dense_copy(lt_scope *s, lt_tensor *a)
{
    lt_tensor *copy = NULL;
    if (s->status != LT_OK) return NULL;
    s->status = lt_tensor_shaped(a, (lt_dtype)a->dtype, &copy);
    if (s->status == LT_OK && lt_scope_hold(s, LT_OK, copy) != NULL)
        s->status = lt_copy_elements(copy, a);
    return s->status == LT_OK ? copy : NULL;
}

lt_tensor *do_new_of(lt_scope *s, lt_dtype dtype, lt_device device, const lt_dims *sizes)
{
    lt_tensor *t = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status = lt_tensor_new(dtype, device, sizes->n, sizes->v, &t);
    return lt_scope_hold(s, status, t);
}

lt_tensor *do_new_like(lt_scope *s, const lt_tensor *like, const lt_dims *sizes)
{
    return do_new_of(s, (lt_dtype)like->dtype, like->device, sizes);
}

lt_tensor *do_new_real(lt_scope *s, const lt_tensor *like, const lt_dims *sizes)
{
    lt_tensor *t = do_new_of(s, lt_real_of((lt_dtype)like->dtype), like->device, sizes);
    if (t != NULL) s->status = lt_fill_value(t, lt_scalar_from_int(0));
    return s->status == LT_OK ? t : NULL;
}

lt_tensor *do_new_integers(lt_scope *s, const lt_tensor *like, const lt_dims *sizes)
{
    lt_tensor *t = do_new_of(s, LT_INT32, like->device, sizes);
    if (t != NULL) s->status = lt_fill_value(t, lt_scalar_from_int(0));
    return s->status == LT_OK ? t : NULL;
}

lt_dims lt_linalg_batch_of(const lt_tensor *a, int64_t rows, int64_t columns)
{
    lt_dims sizes = lt_dims_of(a);
    sizes.n = a->ndim - 2;
    if (rows >= 0) sizes.v[sizes.n++] = rows;
    if (columns >= 0) sizes.v[sizes.n++] = columns;
    return sizes;
}

lt_status lt_linalg_broadcast_batches(const lt_tensor *a, const lt_tensor *b, lt_dims *out)
{
    const lt_dims batch_a = lt_linalg_batch_of(a, 1, 1), batch_b = lt_linalg_batch_of(b, 1, 1);
    lt_tensor like_a = {.ndim = (uint8_t)batch_a.n}, like_b = {.ndim = (uint8_t)batch_b.n};
    memcpy(like_a.sizes, batch_a.v, sizeof like_a.sizes);
    memcpy(like_b.sizes, batch_b.v, sizeof like_b.sizes);
    *out = (lt_dims){.n = 0};
    return lt_broadcast_shape((lt_tensor *[]){&like_a, &like_b}, 2, &out->n, out->v);
}

/* ---- factorizations of a batch --------------------------------------------------------------- */

lt_factor lt_linalg_factor_of(lt_factor_kind kind, const lt_tensor *a)
{
    return (lt_factor){.kind = kind,
                       .dtype = (lt_dtype)a->dtype,
                       .device = a->device,
                       .batch = batch_count(a),
                       .stride_a = lt_rows(a) * lt_columns(a),
                       .m = (int)lt_columns(a),
                       .n = (int)lt_rows(a),
                       .a = lt_data((lt_tensor *)a)};
}

/* The elements of an int32 tensor, on the host: its own, or copied to a new array, *copy. */
static lt_status numbers_on_host(const char *op, lt_tensor *t, const int32_t **numbers,
                                 int32_t **copy)
{
    *copy = NULL;
    *numbers = lt_linalg_integers(t);
    if (t->device.type == LT_CPU) return LT_OK;
    const size_t bytes = (size_t)t->numel * sizeof **copy;
    double waited = 0;
    LT_TRY(lt_copies_check_sync(op));
    *copy = lt_mem_array(t->numel, sizeof **copy);
    if (*copy == NULL) return LT_ERR_MEMORY;
    LT_TRY(lt_read_device(t, *copy, bytes, &waited));
    lt_copy_cause outer = lt_copies_set_cause((lt_copy_cause){op, true});
    if (outer.name != NULL) lt_copies_set_cause(outer);
    lt_copies_record(t->device, lt_host, (int64_t)bytes, waited);
    lt_copies_set_cause(outer);
    *numbers = *copy;
    return LT_OK;
}

lt_status lt_linalg_refused(const lt_linalg_refusal *r, const lt_tensor *a, lt_tensor *infos,
                            bool *any)
{
    char batch[48] = "", reason[256];
    const int32_t *info;
    int32_t *copy;
    lt_status status = numbers_on_host(r->op, infos, &info, &copy);
    for (int64_t i = 0; status == LT_OK && i < infos->numel; i++) {
        if (info[i] == 0) continue;
        if (any != NULL) {
            *any = true;
            break;
        }
        if (a->ndim > 2) snprintf(batch, sizeof batch, "(Batch element %lld): ", lt_user_index(i));
        const int number = r->element ? (int)lt_user_index(info[i] - 1) : info[i];
        snprintf(reason, sizeof reason, r->format, number, number);
        status = lt_error(LT_ERR_RUNTIME, "%s: %s%s", r->op, batch, reason);
    }
    lt_mem_free(copy);
    return status;
}

bool do_factor(lt_scope *s, lt_factor *f, const lt_tensor *a, const lt_linalg_refusal *r)
{
    lt_tensor *infos = NULL;
    bool any = false;
    if (s->status != LT_OK || f->batch == 0) return true;
    const bool refuses = r != NULL && r->format != NULL;
    if (refuses) {
        infos = do_new_of(s, LT_INT32, f->device, &(lt_dims){1, {f->batch}});
        if (infos == NULL) return true;
        f->infos = lt_linalg_integers(infos);
    }
    const bool at_home = f->device.type == LT_CPU || !lt_dtype_is_complex(f->dtype);
    s->status = at_home ? lt_backends[f->device.type]->factor(f)
                        : lt_linalg_factor_on_host(f, r != NULL ? r->op : "linalg");
    if (s->status == LT_OK && refuses)
        s->status = lt_linalg_refused(r, a, infos, f->has_robust ? &any : NULL);
    return !any;
}

lt_tensor *do_lu(lt_scope *s, lt_tensor *work, const lt_linalg_refusal *r, lt_tensor *info)
{
    if (s->status != LT_OK) return NULL;
    lt_dims sizes = lt_linalg_batch_of(work, lt_rows(work), -1);
    lt_tensor *pivots = do_new_of(s, LT_INT32, work->device, &sizes);
    if (pivots == NULL) return NULL;
    lt_factor f = lt_linalg_factor_of(LT_FACTOR_LU, work);
    f.pivots = lt_linalg_integers(pivots);
    f.infos = info != NULL ? lt_linalg_integers(info) : NULL;
    if (f.n > 0) do_factor(s, &f, work, r);
    return s->status == LT_OK ? pivots : NULL;
}
