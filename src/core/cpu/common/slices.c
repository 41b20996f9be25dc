/* slices.c - see slices.h. */
#include "slices.h"

#include "saturating.h"
#include "dtypes/dtype.h"
#include "loops.h"

void lt_slices_of(lt_slices *lines, const lt_array *const *views, int n, int dim)
{
    const lt_array *shape = views[0];
    lines->ndim = 0;
    lines->count = 1;
    lines->length = shape->ndim > 0 ? shape->sizes[dim] : 1;
    for (int v = 0; v < n; v++) {
        if (views[v] == NULL) continue;
        lines->base[v] = views[v]->data;
        lines->dtype[v] = views[v]->dtype;
        lines->step[v] = shape->ndim > 0 ? lt_mul_within(views[v]->strides[dim],
                                                         (int64_t)lt_dtype_size(views[v]->dtype))
                                         : 0;
    }
    for (int d = shape->ndim - 1; d >= 0; d--) {
        if (d == dim) continue;
        for (int v = 0; v < n; v++)
            if (views[v] != NULL)
                lines->strides[v][lines->ndim] =
                    lt_mul_within(views[v]->strides[d], (int64_t)lt_dtype_size(views[v]->dtype));
        lines->sizes[lines->ndim++] = shape->sizes[d];
        lines->count *= shape->sizes[d];
    }
}

bool lt_slices_are_interleaved(const lt_slices *lines, int n)
{
    if (lines->ndim == 0 || lines->sizes[0] < 4) return false;
    for (int v = 0; v < n; v++) {
        const int64_t size = (int64_t)lt_dtype_size(lines->dtype[v]);
        if (lines->strides[v][0] != size || lines->step[v] == size) return false;
    }
    return true;
}

bool lt_slices_are_dense(const lt_slices *lines, int n)
{
    for (int v = 0; v < n; v++)
        if (lines->length > 1 && lines->step[v] != (int64_t)lt_dtype_size(lines->dtype[v]))
            return false;
    return true;
}

int lt_slices_type(lt_dtype dtype, lt_dtype *read)
{
    *read = dtype == LT_FLOAT64 ? LT_FLOAT64 : lt_dtype_is_float(dtype) ? LT_FLOAT32 : LT_INT64;
    return *read == LT_FLOAT64 ? LT_ROWS_F64 : *read == LT_FLOAT32 ? LT_ROWS_F32 : LT_ROWS_I64;
}

int64_t lt_slices_in_row(const lt_slices *lines, int64_t first, int64_t last)
{
    if (lines->ndim == 0) return 1;
    const int64_t end = first + lines->sizes[0] - first % lines->sizes[0];
    return (end < last ? end : last) - first;
}

char *lt_slice_at(const lt_slices *lines, int v, int64_t index)
{
    char *p = lines->base[v];
    for (int d = 0; d < lines->ndim; d++) {
        p += (d + 1 < lines->ndim ? index % lines->sizes[d] : index) * lines->strides[v][d];
        if (d + 1 < lines->ndim) index /= lines->sizes[d];
    }
    return p;
}

void lt_slice_load(const lt_slices *lines, int v, const char *line, int64_t from, int64_t n,
                   void *dense, lt_dtype to)
{
    lt_loops.cast[to][lines->dtype[v]]((char *[]){dense, (char *)line + from * lines->step[v]},
                                       (int64_t[]){(int64_t)lt_dtype_size(to), lines->step[v]}, n,
                                       NULL);
}

void lt_slice_store(const lt_slices *lines, int v, char *line, int64_t from, int64_t n,
                    const void *dense, lt_dtype of)
{
    lt_loops.cast[lines->dtype[v]][of]((char *[]){line + from * lines->step[v], (char *)dense},
                                       (int64_t[]){lines->step[v], (int64_t)lt_dtype_size(of)}, n,
                                       NULL);
}
