/* kernel.c - a reduction by the backend's kernel (kernel.h), of values in memory or from a fused
 * producer. */
#include "kernel.h"

#include "compile/trace.h"
#include "iter.h"

int lt_reduced_shape(const lt_tensor *in, uint32_t mask, bool keepdim, int64_t *sizes)
{
    int ndim = 0;
    for (int d = 0; d < in->ndim; d++) {
        bool reduced = mask >> d & 1;
        if (!reduced || keepdim) sizes[ndim++] = reduced ? 1 : in->sizes[d];
    }
    return ndim;
}

/* Names of reductions in reports on compiled functions. */
static const char *const names[] = {"sum", "mean", "prod",     "max",    "min",
                                    "any", "all",  "norm",     "nansum", "count_nonzero",
                                    "var", "std",  "logsumexp"};

/* A call of a backend's kernel. */
typedef struct reduce_kernel {
    const lt_backend *backend;
    lt_reduction op;
    lt_iter it;
    int reduced_dims;
    double parameter;
} reduce_kernel;

static lt_status reduce_producer(const void *context, const lt_fused_producer *producer)
{
    const reduce_kernel *k = context;
    if (producer != NULL)
        return k->backend->reduce_fusion(producer, k->op, &k->it, k->reduced_dims, k->parameter);
    return k->backend->reduce(k->op, &k->it, k->reduced_dims, k->parameter);
}

/* *f: whether `in` is deferred and can be fused with the kernel; else materializes it. */
static lt_status is_fused(reduce_kernel *k, lt_tensor *in, uint32_t mask, lt_tensor *out,
                          bool *fused)
{
    static lt_storage nowhere;
    *fused = false;
    if (!in->storage->deferred) return LT_OK;
    if (lt_trace_fuses(in)) {
        lt_tensor promised = *in;
        promised.storage = &nowhere;
        LT_TRY(lt_iter_reduce(&k->it, out, &promised, mask, &k->reduced_dims));
        *fused = k->backend->reduces_fusion(k->op, &k->it, k->reduced_dims);
    }
    return *fused ? LT_OK : lt_materialize(names[k->op], in);
}

lt_status lt_reduce_real(lt_reduction op, lt_tensor *in, uint32_t mask, bool keepdim,
                         lt_dtype dtype, double parameter, lt_tensor **out)
{
    int64_t sizes[LT_MAX_DIMS];
    int ndim = lt_reduced_shape(in, mask, keepdim, sizes);
    reduce_kernel k; /* its iterator is too large to be cleared first */
    lt_tensor *work = NULL;
    bool fused = false;
    k.backend = lt_backend_of(in);
    k.op = op;
    k.parameter = parameter;
    LT_TRY(lt_begin_output(out, dtype, in->device, ndim, sizes, &work));
    lt_status status = is_fused(&k, in, mask, work, &fused);
    if (status == LT_OK && !fused) status = lt_iter_reduce(&k.it, work, in, mask, &k.reduced_dims);
    if (status == LT_OK)
        status = fused ? lt_trace_consume(names[op], in, false, reduce_producer, &k)
                       : reduce_producer(&k, NULL);
    if (status != LT_OK) {
        lt_tensor_release(work);
        return status;
    }
    return lt_finish_output(out, work);
}
