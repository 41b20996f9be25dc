/* gather.c - gather and scatter along a dimension, as indexing with one index tensor (index.c); and the
 * coordinates of non-zero elements. */
#include "cpu.h"
#include "dtype.h"
#include "index.h"
#include "loops.h"

#define BLOCK 1024

/* Iterator over index's shape: operand 0 is dense (the result or the values; NULL: one number, set by the
 * caller), 1 the indexed view with stride 0 along dim, 2 the indices. */
static void iterate(lt_iter *it, lt_index_args *args, const lt_array *dense, const lt_array *indexed, int dim,
                    const lt_array *index)
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
        it->strides[0][e] = dense != NULL ? dense->strides[d] * size : 0;
        it->strides[1][e] = d == dim || indexed->ndim == 0 ? 0 : indexed->strides[d] * size;
        it->strides[2][e] = index->strides[d] * (int64_t)sizeof(int64_t);
    }
    *args = (lt_index_args){.count = 1};
    args->sizes[0] = indexed->ndim > 0 ? indexed->sizes[dim] : 1;
    args->strides[0] = indexed->ndim > 0 ? indexed->strides[dim] * size : 0;
    args->dims[0] = dim;
}

lt_status lt_cpu_gather(const lt_array *out, const lt_array *in, int dim, const lt_array *index)
{
    lt_iter it;
    lt_index_args args;
    iterate(&it, &args, out, in, dim, index);
    return lt_cpu_index_get(&it, &args);
}

lt_status lt_cpu_scatter(lt_scatter_mode mode, const lt_array *out, int dim, const lt_array *index,
                         const lt_array *src, lt_scalar value)
{
    lt_iter it;
    lt_index_args args;
    char element[8];
    iterate(&it, &args, src, out, dim, index);
    if (src == NULL) {
        lt_store_scalar(element, out->dtype, value);
        it.data[0] = element;
    }
    return lt_cpu_index_combine(&it, &args, mode);
}

/* ---- non-zero elements ------------------------------------------------------------------------------- */

/* Called for each block of a view in row-major order: n flags (0 or 1), the first of row number `row` at
 * column `column`. A row lies along the last dimension. */
typedef void (*block_fn)(void *context, const uint8_t *flags, int64_t row, int64_t column, int64_t n);

static void for_each_block(const lt_array *in, block_fn f, void *context)
{
    const int64_t size = (int64_t)lt_dtype_size(in->dtype);
    const int last = in->ndim - 1;
    const int64_t length = in->ndim > 0 ? in->sizes[last] : 1, step = in->ndim > 0 ? in->strides[last] * size : 0;
    int64_t rows = 1;
    for (int d = 0; d < last; d++) rows *= in->sizes[d];
    lt_loop to_bool = lt_loops.cast[LT_BOOL][in->dtype];
    uint8_t flags[BLOCK];
    for (int64_t row = 0; row < rows; row++) {
        char *p = in->data;
        int64_t rest = row;
        for (int d = last - 1; d >= 0; d--) {
            p += rest % in->sizes[d] * in->strides[d] * size;
            rest /= in->sizes[d];
        }
        for (int64_t from = 0; from < length; from += BLOCK) {
            int64_t n = length - from < BLOCK ? length - from : BLOCK;
            to_bool((char *[]){(char *)flags, p + from * step}, (int64_t[]){1, step}, n, NULL);
            f(context, flags, row, from, n);
        }
    }
}

static void count_block(void *context, const uint8_t *flags, int64_t row, int64_t column, int64_t n)
{
    (void)row;
    (void)column;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += flags[i] != 0;
    *(int64_t *)context += count;
}

lt_status lt_cpu_nonzero_count(const lt_array *in, int64_t *count)
{
    *count = 0;
    for_each_block(in, count_block, count);
    return LT_OK;
}

typedef struct coordinates {
    const lt_array *in, *out;
    int64_t found;
} coordinates;

static void write_block(void *context, const uint8_t *flags, int64_t row, int64_t column, int64_t n)
{
    coordinates *c = context;
    const int last = c->in->ndim - 1;
    const int64_t *out_strides = c->out->strides;
    for (int64_t i = 0; i < n; i++) {
        if (!flags[i]) continue;
        int64_t *out = (int64_t *)c->out->data + c->found++ * out_strides[0];
        int64_t rest = row;
        if (last >= 0) out[last * out_strides[1]] = column + i;
        for (int d = last - 1; d >= 0; d--) {
            out[d * out_strides[1]] = rest % c->in->sizes[d];
            rest /= c->in->sizes[d];
        }
    }
}

lt_status lt_cpu_nonzero(const lt_array *in, const lt_array *out)
{
    coordinates c = {in, out, 0};
    for_each_block(in, write_block, &c);
    return LT_OK;
}
