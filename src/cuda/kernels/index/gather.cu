/* gather.cu - gather and scatter along a dimension, implemented as indexing with one index tensor
 * (index.cu). */
#include "index.cuh"
#include "kernels/element.cuh"

/* Builds an iterator over index's shape. Operand 0: the result or the values (null: one scalar), 1:
 * the indexed tensor with stride 0 along dim, 2: the indices. */
static void iterate(lt_iter *it, lt_index_args *args, const lt_array *dense,
                    const lt_array *indexed, int dim, const lt_array *index)
{
    const int64_t size = lt_element_size(indexed->dtype);
    *it = {};
    it->ndim = index->ndim;
    it->operands = 3;
    it->numel = 1;
    it->device = index->device;
    it->data[0] = dense != nullptr ? static_cast<char *>(dense->data) : nullptr;
    it->data[1] = static_cast<char *>(indexed->data);
    it->data[2] = static_cast<char *>(index->data);
    it->dtype[0] = it->dtype[1] = indexed->dtype;
    it->dtype[2] = LT_INT64;
    for (int e = 0; e < index->ndim; e++) {
        const int d = index->ndim - 1 - e;
        it->sizes[e] = index->sizes[d];
        it->numel *= index->sizes[d];
        it->strides[0][e] = dense != nullptr ? dense->strides[d] * size : 0;
        it->strides[1][e] = d == dim || indexed->ndim == 0 ? 0 : indexed->strides[d] * size;
        it->strides[2][e] = index->strides[d] * static_cast<int64_t>(sizeof(int64_t));
    }
    *args = {};
    args->count = 1;
    args->sizes[0] = indexed->ndim > 0 ? indexed->sizes[dim] : 1;
    args->strides[0] = indexed->ndim > 0 ? indexed->strides[dim] * size : 0;
    args->dims[0] = dim;
    args->base[0] = index->base;
}

lt_status lt_cuda_gather(const lt_array *out, const lt_array *in, int dim, const lt_array *index)
{
    lt_iter it;
    lt_index_args args;
    iterate(&it, &args, out, in, dim, index);
    return lt_cuda_index_get(&it, &args);
}

lt_status lt_cuda_scatter(lt_scatter_mode mode, const lt_array *out, int dim, const lt_array *index,
                          const lt_array *src, lt_scalar value, bool fresh)
{
    lt_iter it;
    lt_index_args args;
    char element[8];
    (void)fresh; /* unused: the kernels skip and report out-of-range indices */
    iterate(&it, &args, src, out, dim, index);
    if (value.kind == LT_SCALAR_FLOAT)
        lt_store<double>(out->dtype, element, value.v.d);
    else
        lt_store<int64_t>(out->dtype, element, value.v.i);
    return lt_cuda_index_combine(&it, &args, mode, src == nullptr ? element : nullptr);
}
