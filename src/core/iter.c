/* iter.c - see iter.h: broadcasting, sorting and merging of dimensions. */
#include "iter.h"

#include <string.h>

#include "assertion.h"
#include "saturating.h"
#include "user_index.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "compile/deferred.h"
#include "tensor.h"

lt_status lt_broadcast_shape(lt_tensor *const *tensors, int n, int *ndim, int64_t *sizes)
{
    int rank = 0;
    for (int i = 0; i < n; i++)
        if (tensors[i]->ndim > rank) rank = tensors[i]->ndim;
    for (int d = 0; d < rank; d++) sizes[d] = 1;
    for (int i = 0; i < n; i++) {
        const lt_tensor *t = tensors[i];
        for (int d = 0; d < t->ndim; d++) {
            int64_t *size = &sizes[rank - t->ndim + d];
            if (t->sizes[d] == *size || t->sizes[d] == 1) continue;
            if (*size != 1)
                return lt_error(
                    LT_ERR_RUNTIME,
                    "The size of tensor a (%lld) must match the size of tensor b (%lld) at "
                    "non-singleton dimension %lld",
                    (long long)*size, (long long)t->sizes[d], lt_user_index(rank - t->ndim + d));
            *size = t->sizes[d];
        }
    }
    *ndim = rank;
    return LT_OK;
}

/* Allocates and computes deferred operands. */
static inline lt_status materialize(lt_tensor *const *operands, int n)
{
    return lt_any_deferred() ? lt_materialize_all("an op", n, operands) : LT_OK;
}

static void set_operands(lt_iter *it, lt_tensor *const *operands, int n)
{
    LT_ASSERT(n >= 1 && n <= LT_ITER_OPERANDS, "operands %d", n);
    it->operands = n;
    it->device = operands[0]->device;
    for (int k = 0; k < n; k++) {
        it->data[k] = lt_data(operands[k]);
        LT_ASSERT(!lt_is_sparse(operands[k]), "operand %d", k);
        it->dtype[k] = (lt_dtype)operands[k]->dtype;
        it->host_scalar[k] = operands[k]->ndim == 0 && operands[k]->device.type != it->device.type;
    }
}

/* Negative: dimension a goes inside b; positive: outside; 0: undecided. The first operand with
 * different nonzero strides decides; at equal strides, a goes inside if it is shorter. */
static int compare_dims(const lt_iter *it, int a, int b)
{
    for (int k = 0; k < it->operands; k++) {
        int64_t sa = it->strides[k][a], sb = it->strides[k][b];
        if (sa < 0) sa = -sa;
        if (sb < 0) sb = -sb;
        if (sa == 0 || sb == 0) continue;
        if (sa != sb) return sa < sb ? -1 : 1;
        if (it->sizes[a] < it->sizes[b]) return -1;
    }
    return 0;
}

/* Sorts the dimensions from .. to - 1 into iteration order, innermost first: PyTorch's insertion
 * sort, which skips undecided neighbors. The strides of results depend on this algorithm. */
static void order_dims(const lt_iter *it, int from, int to, int *order)
{
    for (int i = from; i < to; i++) {
        order[i] = i;
        for (int at = i, j = i - 1; j >= from; j--) {
            int c = compare_dims(it, order[at], order[j]);
            if (c > 0) break;
            if (c == 0) continue;
            int moved = order[at];
            order[at] = order[j];
            order[j] = moved;
            at = j;
        }
    }
}

static void permute(int64_t *row, int from, int to, const int *order)
{
    int64_t old[LT_MAX_DIMS];
    for (int d = from; d < to; d++) old[d] = row[d];
    for (int d = from; d < to; d++) row[d] = old[order[d]];
}

static void sort_dims(lt_iter *it, int from, int to)
{
    int order[LT_MAX_DIMS];
    bool sorted = true;
    order_dims(it, from, to, order);
    for (int d = from; d < to; d++) sorted = sorted && order[d] == d;
    if (sorted) return;
    permute(it->sizes, from, to, order);
    for (int k = 0; k < it->operands; k++) permute(it->strides[k], from, to, order);
}

static bool can_merge(const lt_iter *it, int inner, int outer)
{
    for (int k = 0; k < it->operands; k++)
        if (it->strides[k][outer] != lt_mul_within(it->strides[k][inner], it->sizes[inner]))
            return false;
    return true;
}

/* Drops dimensions of size 1 and merges within [from, to); returns the new end. Dimensions after
 * `to` are not moved. */
static int merge_dims(lt_iter *it, int from, int to)
{
    int kept = from;
    for (int d = from; d < to; d++) {
        if (it->sizes[d] == 1) continue;
        if (kept > from && can_merge(it, kept - 1, d)) {
            it->sizes[kept - 1] = lt_mul_sat(it->sizes[kept - 1], it->sizes[d]);
            continue;
        }
        if (kept != d) {
            it->sizes[kept] = it->sizes[d];
            for (int k = 0; k < it->operands; k++) it->strides[k][kept] = it->strides[k][d];
        }
        kept++;
    }
    return kept;
}

/* Whether no dimension has size 1 and the sizes multiply to numel. */
static bool is_merged(const lt_iter *it)
{
    int64_t n = 1;
    for (int d = 0; d < it->ndim; d++) {
        if (it->sizes[d] == 1) return false;
        n = lt_mul_sat(n, it->sizes[d]);
    }
    return it->ndim <= LT_MAX_DIMS && n == it->numel;
}

static void finish_iter(lt_iter *it)
{
    LT_ASSERT(is_merged(it), "ndim %d, numel %lld", it->ndim, (long long)it->numel);
    it->contiguous = it->ndim <= 1;
    for (int k = 0; k < it->operands && it->contiguous && it->ndim == 1; k++) {
        int64_t stride = it->strides[k][0];
        it->contiguous = stride == lt_element_size(it->dtype[k]) || (stride == 0 && k > 0);
    }
}

/* Byte strides of an operand in out's shape of rank ndim, innermost first; 0 where broadcast. */
static lt_status broadcast_strides(const lt_iter_array *a, int ndim, const int64_t *sizes,
                                   int64_t *strides)
{
    int64_t element = lt_element_size(a->dtype);
    bool fits = a->ndim <= ndim;
    for (int d = 0; d < ndim && fits; d++) {
        int own = a->ndim - 1 - d;
        int64_t want = sizes[ndim - 1 - d];
        if (own < 0 || (a->sizes[own] == 1 && want != 1))
            strides[d] = 0;
        else if (a->sizes[own] == want)
            strides[d] = lt_mul_within(a->strides[own], element);
        else if (want != 1)
            return lt_error(LT_ERR_RUNTIME,
                            "The size of tensor a (%lld) must match the size of tensor b (%lld) at "
                            "non-singleton "
                            "dimension %lld",
                            (long long)want, (long long)a->sizes[own], lt_user_index(ndim - d - 1));
        else
            fits = false;
    }
    if (fits) return LT_OK;
    char want[256], own[256];
    return lt_error(LT_ERR_RUNTIME, "output with shape %s doesn't match the broadcast shape %s",
                    lt_format_sizes(want, sizeof want, ndim, sizes),
                    lt_format_sizes(own, sizeof own, a->ndim, a->sizes));
}

static lt_iter_array array_of(const lt_tensor *t)
{
    return (lt_iter_array){.dtype = (lt_dtype)t->dtype,
                           .device = t->device,
                           .ndim = t->ndim,
                           .sizes = t->sizes,
                           .strides = t->strides,
                           .data = lt_data(t)};
}

lt_status lt_result_strides(lt_tensor *const *inputs, int n, int ndim, const int64_t *sizes,
                            int64_t *strides)
{
    bool alike = lt_is_dense(inputs[0]);
    for (int k = 1; k < n && alike; k++) alike = lt_same_geometry(inputs[0], inputs[k]);
    if (alike) {
        memcpy(strides, inputs[0]->strides, (size_t)ndim * sizeof *strides);
        return LT_OK;
    }
    lt_iter it = {.ndim = ndim, .operands = n};
    int order[LT_MAX_DIMS];
    for (int d = 0; d < ndim; d++) it.sizes[d] = sizes[ndim - 1 - d];
    for (int k = 0; k < n; k++) {
        const lt_iter_array a = array_of(inputs[k]);
        LT_TRY(broadcast_strides(&a, ndim, sizes, it.strides[k]));
    }
    order_dims(&it, 0, ndim, order);
    int64_t step = 1;
    for (int d = 0; d < ndim; d++) {
        int own = ndim - 1 - order[d];
        strides[own] = step;
        if (sizes[own] > 1) step *= sizes[own];
    }
    return LT_OK;
}

/* Fast path: all operands are contiguous and of one shape, or single elements. One dimension, no
 * sorting. */
static bool flat_case(lt_iter *it, lt_tensor *const *operands, int n)
{
    const lt_tensor *out = operands[0];
    if (!lt_is_contiguous(out)) return false;
    for (int k = 1; k < n; k++) {
        const lt_tensor *t = operands[k];
        if (t->numel == 1 && t->ndim <= out->ndim) continue;
        if (!lt_is_contiguous(t) || !lt_same_sizes(t, out)) return false;
    }
    it->ndim = out->numel == 1 ? 0 : 1;
    it->sizes[0] = out->numel;
    for (int k = 0; k < n; k++)
        it->strides[k][0] =
            k > 0 && operands[k]->numel == 1 && out->numel != 1 ? 0 : lt_element_size(it->dtype[k]);
    it->contiguous = true;
    return true;
}

lt_status lt_iter_elementwise(lt_iter *it, lt_tensor *const *operands, int n)
{
    const lt_tensor *out = operands[0];
    LT_TRY(materialize(operands, n));
    set_operands(it, operands, n);
    it->numel = out->numel;
    if (flat_case(it, operands, n)) return LT_OK;
    lt_iter_array arrays[LT_ITER_OPERANDS];
    for (int k = 0; k < n; k++) arrays[k] = array_of(operands[k]);
    return lt_iter_arrays(it, arrays, n);
}

lt_status lt_iter_arrays(lt_iter *it, const lt_iter_array *operands, int n)
{
    const lt_iter_array *out = &operands[0];
    it->operands = n;
    it->device = out->device;
    it->ndim = out->ndim;
    it->numel = 1;
    for (int d = 0; d < out->ndim; d++) {
        it->sizes[d] = out->sizes[out->ndim - 1 - d];
        it->numel *= it->sizes[d];
    }
    for (int k = 0; k < n; k++) {
        const lt_iter_array *a = &operands[k];
        it->data[k] = a->data;
        it->dtype[k] = a->dtype;
        it->host_scalar[k] = a->ndim == 0 && a->device.type != it->device.type;
        LT_TRY(broadcast_strides(a, out->ndim, out->sizes, it->strides[k]));
    }
    sort_dims(it, 0, it->ndim);
    it->ndim = merge_dims(it, 0, it->ndim);
    finish_iter(it);
    return LT_OK;
}

/* Fast path: all elements of a contiguous tensor. One dimension, no sorting. */
static bool reduces_all(lt_iter *it, const lt_tensor *out, const lt_tensor *in)
{
    if (out->numel != 1 || in->numel < 2 || !lt_is_contiguous(in)) return false;
    it->ndim = 1;
    it->sizes[0] = in->numel;
    it->strides[0][0] = 0;
    it->strides[1][0] = lt_element_size(it->dtype[1]);
    return true;
}

lt_status lt_iter_reduce(lt_iter *it, lt_tensor *out, lt_tensor *in, uint32_t mask,
                         int *reduced_dims)
{
    lt_tensor *operands[] = {out, in};
    LT_TRY(materialize(operands, 2));
    set_operands(it, operands, 2);
    it->numel = in->numel;
    it->contiguous = false;
    if (reduces_all(it, out, in)) {
        *reduced_dims = 1;
        return LT_OK;
    }
    it->ndim = in->ndim;
    bool keepdim = out->ndim == in->ndim;
    int64_t out_size = lt_element_size(it->dtype[0]), in_size = lt_element_size(it->dtype[1]);
    int position = 0;
    /* Reduced dimensions first, each group from the innermost one outwards. */
    for (int group = 0; group < 2; group++) {
        int own = out->ndim - 1;
        for (int d = in->ndim - 1; d >= 0; d--) {
            bool reduced = mask >> d & 1;
            if (reduced == (group == 0)) {
                it->sizes[position] = in->sizes[d];
                /* an empty input is not read: any stride will do */
                it->strides[1][position] =
                    in->numel > 0 ? lt_mul_within(in->strides[d], in_size) : 0;
                it->strides[0][position] = reduced ? 0 : lt_mul_within(out->strides[own], out_size);
                position++;
            }
            if (!reduced || keepdim) own--;
        }
        if (group == 0) *reduced_dims = position;
    }
    LT_ASSERT(position == in->ndim, "dimensions %d of %d", position, in->ndim);
    sort_dims(it, 0, *reduced_dims);
    sort_dims(it, *reduced_dims, it->ndim);
    int kept_reduced = merge_dims(it, 0, *reduced_dims);
    int end = merge_dims(it, *reduced_dims, it->ndim);
    for (int d = *reduced_dims; d < end && kept_reduced != *reduced_dims; d++) {
        int to = d - *reduced_dims + kept_reduced;
        it->sizes[to] = it->sizes[d];
        it->strides[0][to] = it->strides[0][d];
        it->strides[1][to] = it->strides[1][d];
    }
    it->ndim = end - (*reduced_dims - kept_reduced);
    *reduced_dims = kept_reduced;
    LT_ASSERT(is_merged(it), "ndim %d, numel %lld", it->ndim, (long long)it->numel);
    LT_ASSERT(kept_reduced <= it->ndim, "reduced %d of %d", kept_reduced, it->ndim);
    return LT_OK;
}

void lt_iter_strided(lt_iter *it, lt_tensor *const *operands, int n, int ndim, const int64_t *sizes,
                     const int64_t *const *strides)
{
    LT_ASSERT((unsigned)ndim <= LT_MAX_DIMS, "ndim %d", ndim);
    set_operands(it, operands, n);
    it->ndim = ndim;
    it->numel = 1;
    for (int d = 0; d < ndim; d++) {
        it->sizes[d] = sizes[ndim - 1 - d];
        it->numel *= it->sizes[d];
        for (int k = 0; k < n; k++)
            it->strides[k][d] =
                lt_mul_within(strides[k][ndim - 1 - d], lt_element_size(it->dtype[k]));
    }
    sort_dims(it, 0, it->ndim);
    it->ndim = merge_dims(it, 0, it->ndim);
    finish_iter(it);
}

static lt_status part_lanes(lt_iter *it)
{
    if (it->ndim == LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME,
                        "complex numbers in %d dimensions that cannot be merged are not supported",
                        LT_MAX_DIMS);
    for (int d = it->ndim; d > 0; d--) {
        it->sizes[d] = it->sizes[d - 1];
        for (int k = 0; k < it->operands; k++) it->strides[k][d] = it->strides[k][d - 1];
    }
    it->sizes[0] = 2;
    for (int k = 0; k < it->operands; k++) {
        const bool pair = lt_dtype_is_complex(it->dtype[k]);
        it->dtype[k] = lt_real_of(it->dtype[k]);
        it->strides[k][0] = pair ? lt_element_size(it->dtype[k]) : 0;
    }
    it->ndim = merge_dims(it, 0, it->ndim + 1);
    it->numel *= 2;
    finish_iter(it);
    return LT_OK;
}

lt_status lt_iter_for_moving(lt_iter *it)
{
    bool pairs = false;
    for (int k = 0; k < it->operands; k++) {
        pairs = pairs || lt_dtype_is_complex(it->dtype[k]);
        it->dtype[k] = lt_same_bits(it->dtype[k]);
    }
    return pairs ? part_lanes(it) : LT_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Gives a new tensor the strides of a result of these inputs, or releases it. */
static __attribute__((noinline)) lt_status set_result_strides(lt_tensor *const *inputs, int n,
                                                              lt_tensor **out)
{
    int64_t strides[LT_MAX_DIMS];
    lt_status status = lt_result_strides(inputs, n, (*out)->ndim, (*out)->sizes, strides);
    if (status == LT_OK) {
        lt_set_strides(*out, strides);
    } else {
        lt_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

lt_status lt_tensor_result(lt_tensor *const *inputs, int n, lt_dtype dtype, lt_device device,
                           int ndim, const int64_t *sizes, lt_tensor **out)
{
    bool contiguous = true;
    for (int i = 0; i < n && contiguous; i++) contiguous = lt_is_contiguous(inputs[i]);
    if (contiguous && sizes == inputs[0]->sizes && lt_device_equal(device, inputs[0]->device))
        return lt_tensor_shaped(inputs[0], dtype, out);
    LT_TRY(lt_tensor_new(dtype, device, ndim, sizes, out));
    return contiguous ? LT_OK : set_result_strides(inputs, n, out);
}

lt_status lt_tensor_like(lt_tensor *t, lt_dtype dtype, lt_device device, lt_tensor **out)
{
    LT_TRY(lt_tensor_result(&t, 1, dtype, device, t->ndim, t->sizes, out));
    /* the strides of dimensions of size 1 are arbitrary: copy t's */
    if (lt_is_contiguous(t)) lt_set_strides(*out, t->strides);
    return LT_OK;
}
