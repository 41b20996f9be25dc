/* gather.c - gather and scatter along a dimension, as indexing with one index tensor (index.c). */
#include "cpu/cpu.h"
#include "saturating.h"
#include "dtypes/dtype.h"
#include "index.h"
#include "cpu/common/loops.h"

/* Iterator over index's shape: operand 0 is dense (the result or the values; NULL: one number, set
 * by the caller), 1 the indexed view with stride 0 along dim, 2 the indices. */
static void iterate(lt_iter *it, lt_index_args *args, const lt_array *dense,
                    const lt_array *indexed, int dim, const lt_array *index)
{
    const int64_t size = (int64_t)lt_dtype_size(indexed->dtype);
    *it = (lt_iter){.ndim = index->ndim, .operands = 3, .numel = 1, .device = index->device};
    it->data[0] = dense != NULL ? dense->data : NULL;
    it->data[1] = indexed->data;
    it->data[2] = index->data;
    it->dtype[0] = it->dtype[1] = indexed->dtype;
    it->dtype[2] = LT_INT64;
    for (int e = 0; e < index->ndim; e++) {
        int d = index->ndim - 1 - e;
        it->sizes[e] = index->sizes[d];
        it->numel *= index->sizes[d];
        it->strides[0][e] = dense != NULL ? lt_mul_within(dense->strides[d], size) : 0;
        it->strides[1][e] =
            d == dim || indexed->ndim == 0 ? 0 : lt_mul_within(indexed->strides[d], size);
        it->strides[2][e] = lt_mul_within(index->strides[d], (int64_t)sizeof(int64_t));
    }
    *args = (lt_index_args){.count = 1};
    args->sizes[0] = indexed->ndim > 0 ? indexed->sizes[dim] : 1;
    args->strides[0] = indexed->ndim > 0 ? lt_mul_within(indexed->strides[dim], size) : 0;
    args->dims[0] = dim;
    args->base[0] = index->base;
}

lt_status lt_cpu_gather(const lt_array *out, const lt_array *in, int dim, const lt_array *index)
{
    lt_iter it;
    lt_index_args args;
    iterate(&it, &args, out, in, dim, index);
    return lt_cpu_index_get(&it, &args);
}

lt_status lt_cpu_scatter(lt_scatter_mode mode, const lt_array *out, int dim, const lt_array *index,
                         const lt_array *src, lt_scalar value, bool fresh)
{
    lt_iter it;
    lt_index_args args;
    char element[16]; /* complex128 */
    iterate(&it, &args, src, out, dim, index);
    args.fresh = fresh;
    if (src == NULL) {
        lt_store_scalar(element, out->dtype, value);
        it.data[0] = element;
    }
    return lt_cpu_index_combine(&it, &args, mode);
}
