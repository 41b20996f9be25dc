/* dims.c - see dims.h. */
#include "dims.h"

#include <string.h>

#include "assertion.h"
#include "error.h"
#include "tensor.h"

lt_status lt_dims_insert(lt_dims *dims, int at, int64_t size)
{
    LT_ASSERT(dims->n >= 0 && dims->n <= LT_MAX_DIMS, "%d dimensions", dims->n);
    LT_ASSERT(at >= 0 && at <= dims->n, "index %d of %d", at, dims->n);
    if (dims->n >= LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "a tensor has at most %d dimensions, got %d", LT_MAX_DIMS,
                        dims->n + 1);
    memmove(dims->v + at + 1, dims->v + at, (size_t)(dims->n - at) * sizeof *dims->v);
    dims->v[at] = size;
    dims->n++;
    return LT_OK;
}

lt_dims lt_dims_of(const lt_tensor *t)
{
    lt_dims dims = {.n = t->ndim};
    for (int d = 0; d < t->ndim; d++) dims.v[d] = t->sizes[d];
    return dims;
}
