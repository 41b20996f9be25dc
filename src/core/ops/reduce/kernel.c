/* kernel.c - a reduction by the backend's kernel (kernel.h), of values in memory or computed as they are
 * read. */
#include "kernel.h"

#include "compile/window.h"
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

/* What reductions are called where somebody asks what a compiled function did. */
static const char *const names[] = {"sum", "mean", "prod",     "max",    "min",
                                    "any", "all",  "norm",     "nansum", "count_nonzero",
                                    "var", "std",  "logsumexp"};

/* A call of a backend's kernel. */
typedef struct kernel {
    const lt_backend *backend;
    lt_reduction op;
    lt_iter it;
    int reduced_dims;
    double parameter;
} kernel;

static lt_status take(const void *context, const lt_fed *fed)
{
    const kernel *k = context;
    if (fed != NULL)
        return k->backend->reduce_chain(fed, k->op, &k->it, k->reduced_dims, k->parameter);
    return k->backend->reduce(k->op, &k->it, k->reduced_dims, k->parameter);
}

/* Whether `in` is pending and the kernel takes its elements as they are computed; else it has its
 * memory now. */
static lt_status is_fed(kernel *k, lt_tensor *in, uint32_t mask, lt_tensor *out, bool *fed)
{
    static lt_storage nowhere;
    *fed = false;
    if (!in->storage->hollow) return LT_OK;
    if (lt_window_feeds(in)) {
        lt_tensor promised = *in;
        promised.storage = &nowhere;
        LT_TRY(lt_iter_reduce(&k->it, out, &promised, mask, &k->reduced_dims));
        *fed = k->backend->reduces_chain(k->op, &k->it, k->reduced_dims);
    }
    return *fed ? LT_OK : lt_refuse_hollow(names[k->op], in);
}

lt_status lt_reduce_real(lt_reduction op, lt_tensor *in, uint32_t mask, bool keepdim,
                         lt_dtype dtype, double parameter, lt_tensor **out)
{
    int64_t sizes[LT_MAX_DIMS];
    int ndim = lt_reduced_shape(in, mask, keepdim, sizes);
    kernel k = {.backend = lt_backend_of(in), .op = op, .parameter = parameter};
    lt_tensor *work = NULL;
    bool fed = false;
    LT_TRY(lt_begin_output(out, dtype, in->device, ndim, sizes, &work));
    lt_status status = is_fed(&k, in, mask, work, &fed);
    if (status == LT_OK && !fed) status = lt_iter_reduce(&k.it, work, in, mask, &k.reduced_dims);
    if (status == LT_OK)
        status = fed ? lt_window_feed(names[op], in, false, take, &k) : take(&k, NULL);
    if (status != LT_OK) {
        lt_tensor_release(work);
        return status;
    }
    return lt_finish_output(out, work);
}
