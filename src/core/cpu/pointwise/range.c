/* range.c - tensors made of nothing: ranges. */
#include "cpu/cpu.h"
#include "dtypes/dtype.h"
#include "cpu/common/loops.h"

#define BLOCK 1024

/* Values are computed in int64 when start and step are integers, in double otherwise, so that no error
 * accumulates, and converted block by block. */
lt_status lt_cpu_range(const lt_array *out, lt_scalar start, lt_scalar step)
{
    int64_t n = 1, size = (int64_t)lt_dtype_size(out->dtype);
    for (int d = 0; d < out->ndim; d++) n *= out->sizes[d];
    bool integers = start.kind != LT_SCALAR_FLOAT && step.kind != LT_SCALAR_FLOAT;
    lt_loop convert = lt_loops.cast[out->dtype][integers ? LT_INT64 : LT_FLOAT64];
    union {
        int64_t i[BLOCK];
        double d[BLOCK];
    } block;
    for (int64_t from = 0; from < n; from += BLOCK) {
        int64_t m = n - from < BLOCK ? n - from : BLOCK;
        for (int64_t j = 0; j < m; j++)
            if (integers)
                block.i[j] = (int64_t)((uint64_t)start.v.i + (uint64_t)(from + j) * (uint64_t)step.v.i);
            else
                block.d[j] = lt_scalar_double(start) + (double)(from + j) * lt_scalar_double(step);
        convert((char *[]){(char *)out->data + from * size, (char *)&block}, (int64_t[]){size, 8}, m, NULL);
    }
    return LT_OK;
}
