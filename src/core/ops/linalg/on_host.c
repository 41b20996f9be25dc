/* on_host.c - factorizations of complex matrices for which a device has no library: their arrays
 * are copied to the host, factored by LAPACK and copied back. The copies are in the ledger. */
#include "linalg.h"

#include "saturating.h"
#include "devices/backend.h"
#include "devices/copies.h"
#include "devices/device.h"
#include "dtypes/dtype.h"
#include "memory/alloc.h"

#define ARRAYS 7

/* An array of a factorization: the location of its pointer, and whether its contents are read. All
 * are written. */
typedef struct array {
    void **at;
    int64_t bytes;
    bool in;
    void *there, *here; /* on the device, on the host */
} array;

static lt_status carry(const lt_factor *f, const char *op, const array *a, bool back)
{
    double waited = 0;
    const lt_transfer t = {.dst = back ? a->there : a->here,
                           .dst_device = back ? f->device : lt_host,
                           .src = back ? a->here : a->there,
                           .src_device = back ? lt_host : f->device,
                           .nbytes = (size_t)a->bytes,
                           .mode = LT_COPY_BLOCKING};
    LT_TRY(lt_backends[f->device.type]->transfer(&t, &waited));
    const lt_copy_cause outer = lt_copies_set_cause((lt_copy_cause){op, true});
    if (outer.name != NULL) lt_copies_set_cause(outer);
    lt_copies_record(t.src_device, t.dst_device, a->bytes, waited);
    lt_copies_set_cause(outer);
    return LT_OK;
}

/* Bytes of a batch of arrays, with `elements` each. */
static int64_t factor_bytes(const lt_factor *f, int64_t elements, lt_dtype dtype)
{
    return lt_mul_sat(lt_mul_sat(f->batch, elements), (int64_t)lt_dtype_size(dtype));
}

static int arrays_of(lt_factor *f, array *arrays)
{
    const int64_t m = f->m, n = f->n, k = m < n ? m : n;
    const bool solves = f->kind == LT_FACTOR_SOLVE || f->kind == LT_FACTOR_TRIANGULAR;
    const bool vectors = f->kind == LT_FACTOR_QR || f->kind == LT_FACTOR_Q;
    const lt_dtype dtype = f->dtype;
    const int64_t values = f->kind == LT_FACTOR_Q ? f->k : f->kind == LT_FACTOR_EIGH ? n : k;
    int count = 0;
    arrays[count++] = (array){&f->a, factor_bytes(f, f->stride_a, dtype), true, NULL, NULL};
    arrays[count++] = (array){&f->b, factor_bytes(f, n * (solves ? (int64_t)f->columns : n), dtype),
                              true, NULL, NULL};
    arrays[count++] =
        (array){&f->u, factor_bytes(f, m * (f->full ? m : k), dtype), false, NULL, NULL};
    arrays[count++] =
        (array){&f->v, factor_bytes(f, (f->full ? n : k) * n, dtype), false, NULL, NULL};
    arrays[count++] =
        (array){&f->values, factor_bytes(f, values, vectors ? dtype : lt_real_of(dtype)),
                f->kind == LT_FACTOR_Q, NULL, NULL};
    arrays[count++] = (array){(void **)&f->pivots, factor_bytes(f, n, LT_INT32),
                              f->kind != LT_FACTOR_LU, NULL, NULL};
    arrays[count++] = (array){(void **)&f->infos, factor_bytes(f, 1, LT_INT32), false, NULL, NULL};
    return count;
}

lt_status lt_linalg_factor_on_host(lt_factor *f, const char *op)
{
    array arrays[ARRAYS];
    const lt_device device = f->device;
    const int n = arrays_of(f, arrays);
    lt_status status = lt_copies_check_sync(op);
    for (int i = 0; i < n && status == LT_OK; i++) {
        array *a = &arrays[i];
        a->there = *a->at;
        if (a->there == NULL) continue;
        a->here = lt_mem_zarray(a->bytes, 1);
        if (a->here == NULL) status = LT_ERR_MEMORY;
        if (status == LT_OK && a->in) status = carry(f, op, a, false);
    }
    for (int i = 0; i < n; i++)
        if (arrays[i].here != NULL) *arrays[i].at = arrays[i].here;
    f->device = lt_host;
    if (status == LT_OK) status = lt_backends[LT_CPU]->factor(f);
    f->device = device;
    for (int i = 0; i < n; i++) {
        if (arrays[i].here == NULL) continue;
        *arrays[i].at = arrays[i].there;
        if (status == LT_OK) status = carry(f, op, &arrays[i], true);
        lt_mem_free(arrays[i].here);
    }
    return status;
}
